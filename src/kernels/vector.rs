//! [`lookup`](super::lookup) for the registers of a CPU, written once: what instruction sets differ in is a [`Vector`].

use super::LINE;
use super::lookup::{CELLS, CellTable, Count, MOST_PLANES, NAN, Searched, Short};

/// A register with a byte for each of the rows that go together.
///
/// Its functions may be called only where the CPU has the instructions: beneath an entry with the tier's target
/// features, into which all of this is inlined.
pub trait Vector: Copy {
    /// Cells of the rows, ready to be looked up.
    type Cells: Copy;
    /// Rows that go together.
    const ROWS: usize;

    /// The same byte everywhere.
    fn splat(byte: u8) -> Self;
    /// The same pair of bytes everywhere, as a signed number.
    fn splat_pair(pair: i16) -> Self;
    /// From at least [`Vector::ROWS`] bytes.
    fn load(bytes: &[u8]) -> Self;
    /// Into the first of [`MOST_ROWS`] bytes.
    fn store(self, bytes: &mut [u8; MOST_ROWS]);
    /// Bit by bit.
    fn and(self, other: Self) -> Self;
    /// Byte by byte; they wrap.
    fn add(self, other: Self) -> Self;
    /// Byte by byte; they wrap.
    fn sub(self, other: Self) -> Self;
    /// All bits of a pair of bytes where it is greater, as a signed number; none elsewhere.
    fn pair_gt(self, other: Self) -> Self;
    /// Leading halves of floats, as pairs of bytes, to signed numbers of the same order.
    fn pair_keys(self) -> Self;
    /// The even bytes of `self` and the odd bytes of `odd`.
    fn merge(self, odd: Self) -> Self;
    /// A byte of a table for each byte, all of them below 16.
    fn pick(self, table: &[u8; 16]) -> Self;
    /// The same with twice the table: even bytes are below 16, and odd bytes are not.
    fn pick_pair(self, table: &[u8; 32]) -> Self;
    /// From bytes below [`CELLS`].
    fn cells(self) -> Self::Cells;
    /// A byte of a table of [`CELLS`] for each row.
    fn look_up(table: &[u8], cells: Self::Cells) -> Self;
    /// Set bits of each byte.
    fn count_ones(self) -> Self;
    /// The leading halves of the first [`QUAD`] values of each row, −0.0 made 0.0: for each column those of the even
    /// rows and those of the odd rows. And whether there is a NaN.
    fn columns(values: &[f32], stride: usize) -> ([[Self; 2]; QUAD], bool);

    /// Ask for the memory at an address, which need not be valid.
    fn prefetch(address: *const f32);

    /// Sum and carry of three bits, in every place.
    fn full_add(self, b: Self, c: Self) -> (Self, Self);
}

/// Rows in the widest register.
pub const MOST_ROWS: usize = 32;
/// Columns that are read together.
pub const QUAD: usize = 4;
/// Groups of rows between the one at work and the one whose values are asked for. Reading is a third of the time without.
const AHEAD: usize = 4;
/// Octets that can be tallied in bytes before one of them could overflow: one adds at most 56.
const FLUSH: usize = 4;
/// Features whose w can be summed in bytes before one could overflow: one adds at most 7.
const LINEAR_FLUSH: usize = 36;

/// See [`lookup::count_rows`](super::lookup::count_rows).
#[inline(always)]
pub fn count_rows<V: Vector>(table: &CellTable, values: &[f32], counts: &mut [Count]) {
    match (table.cell_planes, table.planes) {
        (1, ..=5) => count::<V, 1, 5>(table, values, counts),
        (1, ..=7) => count::<V, 1, 7>(table, values, counts),
        (1, _) => count::<V, 1, MOST_PLANES>(table, values, counts),
        (2, ..=7) => count::<V, 2, 7>(table, values, counts),
        (2, _) => count::<V, 2, MOST_PLANES>(table, values, counts),
        (_, ..=7) => count::<V, 3, 7>(table, values, counts),
        _ => count::<V, 3, MOST_PLANES>(table, values, counts),
    }
}

/// With so many planes of a cell's counts, and no more than `PLANES` of a row's.
#[inline(always)]
fn count<V: Vector, const CELL_PLANES: usize, const PLANES: usize>(
    table: &CellTable,
    values: &[f32],
    counts: &mut [Count],
) {
    let mut cells = vec![V::splat(0).cells(); table.features.len()];
    let per_group = V::ROWS * table.functions;
    let groups = values.chunks_exact(V::ROWS * table.columns);
    let (whole, rest) = (groups.len(), groups.remainder());
    for (rows, counts) in groups.zip(counts.chunks_exact_mut(per_group)) {
        count_group::<V, CELL_PLANES, PLANES>(table, rows, &mut cells, counts);
    }
    if !rest.is_empty() {
        // The last rows, with rows of zeros to make them a group.
        let mut rows = vec![0.0; V::ROWS * table.columns];
        rows[..rest.len()].copy_from_slice(rest);
        let mut group = vec![Count::default(); per_group];
        count_group::<V, CELL_PLANES, PLANES>(table, &rows, &mut cells, &mut group);
        let counts = &mut counts[whole * per_group..];
        counts.copy_from_slice(&group[..counts.len()]);
    }
}

#[inline(always)]
fn count_group<V: Vector, const CELL_PLANES: usize, const PLANES: usize>(
    table: &CellTable,
    rows: &[f32],
    cells: &mut [V::Cells],
    counts: &mut [Count],
) {
    let active = find_cells::<V>(table, rows, cells);
    count_linear::<V>(table, cells, &active, counts);
    let per_octet = cells.len() * CELL_PLANES * CELLS;
    let mut tallies = Tallies::<V, PLANES>::new();
    for (octet, parts) in table.octets.iter().enumerate() {
        let factors = &table.factors[octet * per_octet..][..per_octet];
        let planes = count_columns::<V, CELL_PLANES, PLANES>(cells, factors);
        for part in parts {
            tallies.add(&planes, part.mask);
            let next = table.octets.get(octet + 1).and_then(|parts| parts.first());
            if parts.len() > 1 || next.is_none_or(|next| next.function != part.function) {
                tallies.finish(part.function, table.functions, counts);
            }
        }
    }
}

/// Cells of each used feature, in the order of `table.features`; how many features are active in each row.
#[inline(always)]
fn find_cells<V: Vector>(
    table: &CellTable,
    rows: &[f32],
    cells: &mut [V::Cells],
) -> [u16; MOST_ROWS] {
    let mut active = [table.active as u16; MOST_ROWS];
    let mut narrow = [0.0; MOST_ROWS * QUAD];
    let (rows, stride) = widened(rows, table.columns, &mut narrow);
    let mut next = 0;
    for quad in (0..stride).step_by(QUAD) {
        // The last four columns overlap those before them.
        let first = quad.min(stride - QUAD);
        prefetch::<V>(rows, quad * V::ROWS, stride);
        let (columns, nan) = V::columns(&rows[first..], stride);
        while let Some(feature) =
            table.features.get(next).filter(|feature| feature.column < quad + QUAD)
        {
            let values = || rows[feature.column..].iter().step_by(stride).copied();
            let mut found = match feature.tree.short() {
                Some(short) => search(short, columns[feature.column - first]),
                None => search_long(feature, values()),
            };
            if nan {
                found = mark_nan(found, feature, values(), &mut active);
            }
            cells[next] = found.cells();
            next += 1;
        }
    }
    active
}

/// Ask for a quad's share of a group that comes later.
#[inline(always)]
fn prefetch<V: Vector>(rows: &[f32], at: usize, stride: usize) {
    let later = rows.as_ptr().wrapping_add(AHEAD * V::ROWS * stride + at);
    for line in 0..V::ROWS * QUAD * size_of::<f32>() / LINE {
        V::prefetch(later.wrapping_byte_add(line * LINE));
    }
}

/// Rows of at least [`QUAD`] columns: if there are fewer, a copy with columns of zeros.
#[inline(always)]
fn widened<'a>(
    rows: &'a [f32],
    columns: usize,
    room: &'a mut [f32; MOST_ROWS * QUAD],
) -> (&'a [f32], usize) {
    if columns >= QUAD {
        return (rows, columns);
    }
    for (wide, row) in room.chunks_exact_mut(QUAD).zip(rows.chunks_exact(columns)) {
        wide[..columns].copy_from_slice(row);
    }
    (room, QUAD)
}

/// Even rows and odd rows down the tree.
#[inline(always)]
fn search<V: Vector>(short: &Short, [even, odd]: [V; 2]) -> V {
    let (even, odd) = (descend(short, even), descend(short, odd));
    even.merge(odd.sub(V::splat(CELLS as u8)))
}

/// A turn a level. The upper byte of a node is ahead by the size of its level: there the upper bytes of the thresholds
/// stand, and what comes out is ahead by [`CELLS`].
#[inline(always)]
fn descend<V: Vector>(short: &Short, values: V) -> V {
    let key = values.pair_keys();
    let node = V::splat_pair(0x0200).sub(key.pair_gt(V::splat_pair(short.one)));
    let node = turn(key, node, node.pick(&short.two));
    let node = turn(key, node, node.pick(&short.four));
    let node = turn(key, node, node.pick(&short.eight));
    turn(key, node, node.pick_pair(&short.sixteen))
}

/// To the left or right child.
#[inline(always)]
fn turn<V: Vector>(key: V, node: V, threshold: V) -> V {
    node.add(node).sub(key.pair_gt(threshold))
}

/// The same, a row at a time.
#[inline(always)]
fn search_long<V: Vector>(feature: &Searched, values: impl Iterator<Item = f32>) -> V {
    let mut cells = [0; MOST_ROWS];
    for (cell, value) in cells.iter_mut().zip(values).take(V::ROWS) {
        *cell = feature.tree.cell(value) as u8;
    }
    V::load(&cells)
}

/// Let NaN have its own cell, and no active rows if that has none.
#[inline(never)]
fn mark_nan<V: Vector>(
    found: V,
    feature: &Searched,
    values: impl Iterator<Item = f32>,
    active: &mut [u16; MOST_ROWS],
) -> V {
    let mut cells = [0; MOST_ROWS];
    found.store(&mut cells);
    for ((cell, active), value) in cells.iter_mut().zip(active).zip(values).take(V::ROWS) {
        if value.is_nan() {
            *cell = NAN as u8;
            *active -= u16::from(feature.absent);
        }
    }
    V::load(&cells)
}

/// How many of the active w are +1.
#[inline(always)]
fn count_linear<V: Vector>(
    table: &CellTable,
    cells: &[V::Cells],
    active: &[u16; MOST_ROWS],
    counts: &mut [Count],
) {
    for function in 0..table.functions {
        let linear = &table.linear[function * cells.len() * CELLS..][..cells.len() * CELLS];
        let mut sums = [0_u16; MOST_ROWS];
        let parts = cells.chunks(LINEAR_FLUSH).zip(linear.chunks(LINEAR_FLUSH * CELLS));
        for (cells, linear) in parts {
            let mut sum = V::splat(0);
            for (&cells, linear) in cells.iter().zip(linear.chunks_exact(CELLS)) {
                sum = sum.add(V::look_up(linear, cells));
            }
            let mut bytes = [0; MOST_ROWS];
            sum.store(&mut bytes);
            sums.iter_mut().zip(bytes).for_each(|(sum, byte)| *sum += u16::from(byte));
        }
        let rows = counts.chunks_exact_mut(table.functions).zip(sums.into_iter().zip(active));
        for (counts, (linear, &active)) in rows {
            counts[function].linear = linear.into();
            counts[function].active = active.into();
        }
    }
}

/// Bit planes of the counts of eight columns; there are no more than `PLANES`.
#[inline(always)]
fn count_columns<V: Vector, const CELL_PLANES: usize, const PLANES: usize>(
    cells: &[V::Cells],
    factors: &[u8],
) -> [V; PLANES] {
    let zero = V::splat(0);
    let mut planes = [zero; PLANES];
    let pairs = cells.chunks_exact(2);
    let last = pairs.remainder();
    for (pair, lookups) in pairs.zip(factors.chunks_exact(2 * CELL_PLANES * CELLS)) {
        let (first, second) = lookups.split_at(CELL_PLANES * CELLS);
        // Carries into each weight: one from the two words, one from the plane.
        let (mut from_words, mut from_plane) = (zero, zero);
        for (a, plane) in planes.iter_mut().enumerate() {
            let (sum, carry, other);
            if a < CELL_PLANES {
                let x = V::look_up(&first[a * CELLS..][..CELLS], pair[0]);
                let y = V::look_up(&second[a * CELLS..][..CELLS], pair[1]);
                (sum, carry) = plane.full_add(x, y);
            } else {
                (sum, carry) = (*plane, zero);
            }
            (*plane, other) = sum.full_add(from_words, from_plane);
            (from_words, from_plane) = (carry, other);
        }
    }
    if let [cell] = *last {
        let lookup = &factors[(cells.len() - 1) * CELL_PLANES * CELLS..];
        let mut carry = zero;
        for (a, plane) in planes.iter_mut().enumerate() {
            let x = if a < CELL_PLANES {
                V::look_up(&lookup[a * CELLS..][..CELLS], cell)
            } else {
                zero
            };
            (*plane, carry) = plane.full_add(x, carry);
        }
    }
    planes
}

/// Σ c and Σ c² of each row: set bits by their weight, as bytes for as long as they fit, then as numbers.
struct Tallies<V, const PLANES: usize> {
    octets: usize,
    by_plane: [V; MOST_PLANES],
    by_weight: [V; 2 * MOST_PLANES],
    sums: [u32; MOST_ROWS],
    squares: [u32; MOST_ROWS],
}

impl<V: Vector, const PLANES: usize> Tallies<V, PLANES> {
    #[inline(always)]
    fn new() -> Self {
        let zero = V::splat(0);
        Self {
            octets: 0,
            by_plane: [zero; MOST_PLANES],
            by_weight: [zero; 2 * MOST_PLANES],
            sums: [0; MOST_ROWS],
            squares: [0; MOST_ROWS],
        }
    }

    /// Σ c = Σ_a 2^a |P_a| and Σ c² = Σ_{a,b} 2^{a+b} |P_a ∧ P_b|, over the columns in `mask`.
    #[inline(always)]
    fn add(&mut self, planes: &[V; PLANES], mask: u8) {
        if self.octets == FLUSH {
            self.flush();
        }
        self.octets += 1;
        let mask = V::splat(mask);
        for a in 0..PLANES {
            let plane = planes[a].and(mask);
            let alone = plane.count_ones();
            self.by_plane[a] = self.by_plane[a].add(alone);
            self.by_weight[2 * a] = self.by_weight[2 * a].add(alone);
            for (b, &other) in planes[..a].iter().enumerate() {
                let both = plane.and(other).count_ones();
                self.by_weight[a + b + 1] = self.by_weight[a + b + 1].add(both);
            }
        }
    }

    /// Add the bytes to the numbers.
    #[inline(always)]
    fn flush(&mut self) {
        weigh(&mut self.by_plane[..PLANES], &mut self.sums);
        weigh(&mut self.by_weight[..2 * PLANES], &mut self.squares);
        self.octets = 0;
    }

    /// Write the tallies of a function and begin anew.
    #[inline(always)]
    fn finish(&mut self, function: usize, functions: usize, counts: &mut [Count]) {
        self.flush();
        let tallies = self.sums.iter_mut().zip(&mut self.squares);
        for (counts, (sum, squares)) in counts.chunks_exact_mut(functions).zip(tallies) {
            counts[function].sum = std::mem::take(sum);
            counts[function].squares = std::mem::take(squares);
        }
    }
}

/// Add Σ_w 2^w · bytes[w], row by row, and make the bytes zero. Eight weights of bytes up to 224 fit 16 bits.
#[inline(always)]
fn weigh<V: Vector>(bytes: &mut [V], numbers: &mut [u32; MOST_ROWS]) {
    for (eighth, bytes) in bytes.chunks_mut(8).enumerate() {
        let mut weighed = [0_u16; MOST_ROWS];
        for (weight, bytes) in bytes.iter_mut().enumerate() {
            let mut stored = [0; MOST_ROWS];
            bytes.store(&mut stored);
            *bytes = V::splat(0);
            for (weighed, byte) in weighed.iter_mut().zip(stored) {
                *weighed += u16::from(byte) << weight;
            }
        }
        for (number, weighed) in numbers.iter_mut().zip(weighed) {
            *number += u32::from(weighed) << (8 * eighth);
        }
    }
}
