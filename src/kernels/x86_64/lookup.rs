//! [`crate::kernels::lookup`] with AVX2: a register holds eight values, or the cells of 32 rows.

#![allow(clippy::wildcard_imports)] // intrinsics, each with its own name

use crate::kernels::lookup::{CELLS, CellTable, Count, LEVELS, MOST_PLANES, Searched};
use std::arch::x86_64::*;

/// Values in a register.
const LANES: usize = 8;
/// Rows that go together: a byte each.
const GROUP: usize = 32;
/// Octets that can be tallied in bytes before one of them could overflow: one adds at most 40.
const FLUSH: usize = 6;

/// Cells of 32 rows as indices into the two halves of a table: a byte of 128 or more finds zero.
#[derive(Clone, Copy)]
struct Cells {
    low: __m256i,
    high: __m256i,
}

/// See [`crate::kernels::lookup::count_rows`].
#[target_feature(enable = "avx2")]
pub fn count_rows(
    table: &CellTable,
    values: &[f32],
    counts: &mut [Count],
    skipped: &mut Vec<usize>,
) {
    let zero = _mm256_setzero_si256();
    let mut cells = vec![Cells { low: zero, high: zero }; table.features.len()];
    let per_group = GROUP * table.functions;
    let groups = values.chunks_exact(GROUP * table.columns);
    let (whole, rest) = (groups.len(), groups.remainder());
    for (group, (rows, counts)) in groups.zip(counts.chunks_exact_mut(per_group)).enumerate() {
        let nan = count_group(table, rows, &mut cells, counts);
        skip(nan, group * GROUP, skipped);
    }
    if !rest.is_empty() {
        // The last rows, with rows of zeros to make them a group.
        let mut rows = vec![0.0; GROUP * table.columns];
        rows[..rest.len()].copy_from_slice(rest);
        let mut group = vec![Count::default(); per_group];
        let nan = count_group(table, &rows, &mut cells, &mut group);
        skip(nan, whole * GROUP, skipped);
        let counts = &mut counts[whole * per_group..];
        counts.copy_from_slice(&group[..counts.len()]);
    }
}

/// Name the rows whose bits are set.
fn skip(nan: u32, first: usize, skipped: &mut Vec<usize>) {
    if nan != 0 {
        skipped.extend((0..GROUP).filter(|row| nan >> row & 1 == 1).map(|row| first + row));
    }
}

/// Count 32 rows; a bit for each row with a NaN, which is counted wrong.
#[target_feature(enable = "avx2")]
fn count_group(table: &CellTable, rows: &[f32], cells: &mut [Cells], counts: &mut [Count]) -> u32 {
    let nan = find_cells(table, rows, cells);
    count_linear(table, cells, counts);
    let per_octet = table.features.len() * table.cell_planes * CELLS;
    let mut tallies = Tallies::new(table.planes);
    for (octet, parts) in table.octets.iter().enumerate() {
        let factors = &table.factors[octet * per_octet..][..per_octet];
        let planes = match (table.cell_planes, table.planes) {
            (1, ..=5) => count_columns::<1, 5>(cells, factors),
            (1, _) => count_columns::<1, MOST_PLANES>(cells, factors),
            (2, _) => count_columns::<2, MOST_PLANES>(cells, factors),
            (_, ..=7) => count_columns::<3, 7>(cells, factors),
            _ => count_columns::<3, MOST_PLANES>(cells, factors),
        };
        for part in parts {
            tallies.add(&planes, part.mask);
            let next = table.octets.get(octet + 1).and_then(|parts| parts.first());
            if parts.len() > 1 || next.is_none_or(|next| next.function != part.function) {
                tallies.finish(part.function, table.functions, counts);
            }
        }
    }
    nan
}

/// Cells of each used feature for 32 rows, in the order of `table.features`; a bit for each row with a NaN.
#[target_feature(enable = "avx2")]
fn find_cells(table: &CellTable, rows: &[f32], cells: &mut [Cells]) -> u32 {
    let mut nan = [_mm256_setzero_ps(); GROUP / LANES];
    let mut next = 0;
    for first in (0..table.columns).step_by(LANES) {
        let mut columns = [[_mm256_setzero_ps(); LANES]; GROUP / LANES];
        for (columns, rows) in columns.iter_mut().zip(rows.chunks_exact(LANES * table.columns)) {
            *columns = transpose(rows, table.columns, first);
        }
        while let Some(feature) =
            table.features.get(next).filter(|feature| feature.column < first + LANES)
        {
            let mut found = [_mm256_setzero_si256(); GROUP / LANES];
            for ((found, columns), nan) in found.iter_mut().zip(&columns).zip(&mut nan) {
                let values = columns[feature.column - first];
                *nan = _mm256_or_ps(*nan, _mm256_cmp_ps::<_CMP_UNORD_Q>(values, values));
                *found = search(feature, values);
            }
            cells[next] = pack(found);
            next += 1;
        }
    }
    nan.iter().rev().fold(0, |bits, &nan| bits << LANES | _mm256_movemask_ps(nan) as u32)
}

/// Four times eight cells as 32 bytes in the order of the rows.
#[target_feature(enable = "avx2")]
fn pack(found: [__m256i; GROUP / LANES]) -> Cells {
    let [a, b, c, d] = found;
    let bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
    let cells = _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
    Cells {
        low: _mm256_add_epi8(cells, _mm256_set1_epi8(0x70)),
        high: _mm256_sub_epi8(cells, _mm256_set1_epi8(16)),
    }
}

/// Eight columns of eight rows; columns past the end are zero.
#[target_feature(enable = "avx2")]
fn transpose(rows: &[f32], columns: usize, first: usize) -> [__m256; LANES] {
    let mut r = [_mm256_setzero_ps(); LANES];
    let count = (columns - first).min(LANES);
    let starts = rows.chunks_exact(columns);
    if count == LANES {
        for (r, row) in r.iter_mut().zip(starts) {
            let eight = &row[first..first + LANES];
            // SAFETY: the slice has eight values.
            *r = unsafe { _mm256_loadu_ps(eight.as_ptr()) };
        }
    } else {
        let wanted = _mm256_cmpgt_epi32(
            _mm256_set1_epi32(count as i32),
            _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7),
        );
        for (r, row) in r.iter_mut().zip(starts) {
            let some = &row[first..first + count];
            // SAFETY: only the first `count` lanes are read, and the slice has as many values.
            *r = unsafe { _mm256_maskload_ps(some.as_ptr(), wanted) };
        }
    }
    turn(r)
}

/// Turn eight registers of eight lanes round.
#[target_feature(enable = "avx2")]
fn turn(r: [__m256; LANES]) -> [__m256; LANES] {
    let low = |a, b| _mm256_unpacklo_ps(a, b);
    let high = |a, b| _mm256_unpackhi_ps(a, b);
    let t = [
        low(r[0], r[1]),
        high(r[0], r[1]),
        low(r[2], r[3]),
        high(r[2], r[3]),
        low(r[4], r[5]),
        high(r[4], r[5]),
        low(r[6], r[7]),
        high(r[6], r[7]),
    ];
    let even = |a, b| _mm256_shuffle_ps::<0x44>(a, b);
    let odd = |a, b| _mm256_shuffle_ps::<0xee>(a, b);
    let u = [
        even(t[0], t[2]),
        odd(t[0], t[2]),
        even(t[1], t[3]),
        odd(t[1], t[3]),
        even(t[4], t[6]),
        odd(t[4], t[6]),
        even(t[5], t[7]),
        odd(t[5], t[7]),
    ];
    let left = |a, b| _mm256_permute2f128_ps::<0x20>(a, b);
    let right = |a, b| _mm256_permute2f128_ps::<0x31>(a, b);
    [
        left(u[0], u[4]),
        left(u[1], u[5]),
        left(u[2], u[6]),
        left(u[3], u[7]),
        right(u[0], u[4]),
        right(u[1], u[5]),
        right(u[2], u[6]),
        right(u[3], u[7]),
    ]
}

/// Five steps down the tree of thresholds.
#[target_feature(enable = "avx2")]
fn search(feature: &Searched, values: __m256) -> __m256i {
    let bits = _mm256_castps_si256(values);
    let key = _mm256_xor_si256(bits, _mm256_srli_epi32::<1>(_mm256_srai_epi32::<31>(bits)));
    let tree = &feature.tree;
    let root = _mm256_cmpgt_epi32(key, _mm256_set1_epi32(tree[LEVELS[0]]));
    let node = _mm256_sub_epi32(_mm256_setzero_si256(), root);
    let down = |node, threshold| {
        _mm256_sub_epi32(_mm256_add_epi32(node, node), _mm256_cmpgt_epi32(key, threshold))
    };
    let node = down(node, permute_four(four(tree, LEVELS[1]), node));
    let node = down(node, permute_four(four(tree, LEVELS[2]), node));
    let node = down(node, _mm256_permutevar8x32_epi32(eight(tree, LEVELS[3]), node));
    let low = _mm256_permutevar8x32_epi32(eight(tree, LEVELS[4]), node);
    let high = _mm256_permutevar8x32_epi32(eight(tree, LEVELS[4] + 8), node);
    down(node, choose(low, high, _mm256_slli_epi32::<28>(node)))
}

/// `high` where the top bit of `which` is set.
#[target_feature(enable = "avx2")]
fn choose(low: __m256i, high: __m256i, which: __m256i) -> __m256i {
    let (low, high) = (_mm256_castsi256_ps(low), _mm256_castsi256_ps(high));
    _mm256_castps_si256(_mm256_blendv_ps(low, high, _mm256_castsi256_ps(which)))
}

/// Look up a table of four by the low two bits.
#[target_feature(enable = "avx2")]
fn permute_four(table: __m256i, index: __m256i) -> __m256i {
    _mm256_castps_si256(_mm256_permutevar_ps(_mm256_castsi256_ps(table), index))
}

#[target_feature(enable = "avx2")]
fn four(values: &[i32], at: usize) -> __m256i {
    let four = &values[at..][..4];
    // SAFETY: the slice has four values.
    _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(four.as_ptr().cast()) })
}

#[target_feature(enable = "avx2")]
fn eight(values: &[i32], at: usize) -> __m256i {
    let eight = &values[at..][..8];
    // SAFETY: the slice has eight values.
    unsafe { _mm256_loadu_si256(eight.as_ptr().cast()) }
}

/// A byte of a table of 32 for each of 32 rows.
#[target_feature(enable = "avx2")]
fn look_up(table: &[u8], cells: &Cells) -> __m256i {
    let half = |at: usize| {
        let sixteen = &table[at..][..16];
        // SAFETY: the slice has sixteen values.
        _mm256_broadcastsi128_si256(unsafe { _mm_loadu_si128(sixteen.as_ptr().cast()) })
    };
    let low = _mm256_shuffle_epi8(half(0), cells.low);
    let high = _mm256_shuffle_epi8(half(16), cells.high);
    _mm256_or_si256(low, high)
}

/// How many of the active w are +1.
#[target_feature(enable = "avx2")]
fn count_linear(table: &CellTable, cells: &[Cells], counts: &mut [Count]) {
    for function in 0..table.functions {
        let linear = table.linear[function * cells.len() * CELLS..].chunks_exact(CELLS);
        let mut sum = _mm256_setzero_si256();
        for (cells, linear) in cells.iter().zip(linear) {
            sum = _mm256_add_epi8(sum, look_up(linear, cells));
        }
        let mut bytes = [0_u8; GROUP];
        // SAFETY: there is room for 32 bytes.
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), sum) };
        for (row, sum) in bytes.into_iter().enumerate() {
            counts[row * table.functions + function].linear = sum.into();
        }
    }
}

/// Bit planes of the counts of eight columns, for 32 rows; there are no more than `PLANES`.
#[target_feature(enable = "avx2")]
fn count_columns<const CELL_PLANES: usize, const PLANES: usize>(
    cells: &[Cells],
    factors: &[u8],
) -> [__m256i; MOST_PLANES] {
    let zero = _mm256_setzero_si256();
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
                let x = look_up(&first[a * CELLS..][..CELLS], &pair[0]);
                let y = look_up(&second[a * CELLS..][..CELLS], &pair[1]);
                (sum, carry) = full_add(*plane, x, y);
            } else {
                (sum, carry) = (*plane, zero);
            }
            (*plane, other) = full_add(sum, from_words, from_plane);
            (from_words, from_plane) = (carry, other);
        }
    }
    if let [cell] = last {
        let lookup = &factors[(cells.len() - 1) * CELL_PLANES * CELLS..];
        let mut carry = zero;
        for (a, plane) in planes.iter_mut().enumerate() {
            let x =
                if a < CELL_PLANES { look_up(&lookup[a * CELLS..][..CELLS], cell) } else { zero };
            (*plane, carry) = full_add(*plane, x, carry);
        }
    }
    let mut out = [zero; MOST_PLANES];
    out[..PLANES].copy_from_slice(&planes);
    out
}

/// Sum and carry of three bits, in each of 256 columns.
#[target_feature(enable = "avx2")]
fn full_add(a: __m256i, b: __m256i, c: __m256i) -> (__m256i, __m256i) {
    let ab = _mm256_xor_si256(a, b);
    let carry = _mm256_or_si256(_mm256_and_si256(a, b), _mm256_and_si256(ab, c));
    (_mm256_xor_si256(ab, c), carry)
}

/// Σ c and Σ c² of 32 rows: set bits by their weight, as bytes for as long as they fit, then as numbers.
struct Tallies {
    planes: usize,
    octets: usize,
    by_plane: [__m256i; MOST_PLANES],
    by_weight: [__m256i; 2 * MOST_PLANES],
    sums: [__m256i; 4],
    squares: [__m256i; 4],
}

impl Tallies {
    #[target_feature(enable = "avx2")]
    fn new(planes: usize) -> Self {
        let zero = _mm256_setzero_si256();
        Self {
            planes,
            octets: 0,
            by_plane: [zero; MOST_PLANES],
            by_weight: [zero; 2 * MOST_PLANES],
            sums: [zero; 4],
            squares: [zero; 4],
        }
    }

    /// Σ c = Σ_a 2^a |P_a| and Σ c² = Σ_{a,b} 2^{a+b} |P_a ∧ P_b|, over the columns in `mask`.
    #[target_feature(enable = "avx2")]
    fn add(&mut self, planes: &[__m256i; MOST_PLANES], mask: u8) {
        if self.octets == FLUSH {
            self.flush();
        }
        self.octets += 1;
        let mask = _mm256_set1_epi8(mask as i8);
        for a in 0..self.planes {
            let plane = _mm256_and_si256(planes[a], mask);
            let alone = popcount_bytes(plane);
            self.by_plane[a] = _mm256_add_epi8(self.by_plane[a], alone);
            self.by_weight[2 * a] = _mm256_add_epi8(self.by_weight[2 * a], alone);
            for (b, &other) in planes[..a].iter().enumerate() {
                let both = popcount_bytes(_mm256_and_si256(plane, other));
                self.by_weight[a + b + 1] = _mm256_add_epi8(self.by_weight[a + b + 1], both);
            }
        }
    }

    /// Add the bytes to the numbers.
    #[target_feature(enable = "avx2")]
    fn flush(&mut self) {
        let zero = _mm256_setzero_si256();
        weigh(&self.by_plane, self.planes, &mut self.sums);
        weigh(&self.by_weight, 2 * self.planes, &mut self.squares);
        self.by_plane = [zero; MOST_PLANES];
        self.by_weight = [zero; 2 * MOST_PLANES];
        self.octets = 0;
    }

    /// Write the tallies of a function and begin anew.
    #[target_feature(enable = "avx2")]
    fn finish(&mut self, function: usize, functions: usize, counts: &mut [Count]) {
        self.flush();
        for (register, (&sums, &squares)) in self.sums.iter().zip(&self.squares).enumerate() {
            for (lane, (sum, squares)) in lanes(sums).into_iter().zip(lanes(squares)).enumerate() {
                let row = 4 * register + lane % 4 + lane / 4 * 16;
                let tally = &mut counts[row * functions + function].factors;
                (tally.sum, tally.squares) = (sum.into(), squares.into());
            }
        }
        self.sums = [_mm256_setzero_si256(); 4];
        self.squares = [_mm256_setzero_si256(); 4];
    }
}

/// Add Σ_w 2^w · bytes[w], row by row. Rows 4r to 4r + 3 are in the lower half of register r, and those 16 further in
/// the upper half: where unpacking puts them.
#[target_feature(enable = "avx2")]
fn weigh(bytes: &[__m256i], weights: usize, numbers: &mut [__m256i; 4]) {
    let (one_two, one_four) = (_mm256_set1_epi16(0x0201), _mm256_set1_epi32(0x0004_0001));
    for (four, quarter) in bytes.chunks_exact(4).take(weights.div_ceil(4)).enumerate() {
        let two = |a, b| {
            let low = _mm256_maddubs_epi16(_mm256_unpacklo_epi8(a, b), one_two);
            (low, _mm256_maddubs_epi16(_mm256_unpackhi_epi8(a, b), one_two))
        };
        let (low_ab, high_ab) = two(quarter[0], quarter[1]);
        let (low_cd, high_cd) = two(quarter[2], quarter[3]);
        let shift = _mm_cvtsi32_si128(4 * four as i32);
        let weighed = [
            _mm256_unpacklo_epi16(low_ab, low_cd),
            _mm256_unpackhi_epi16(low_ab, low_cd),
            _mm256_unpacklo_epi16(high_ab, high_cd),
            _mm256_unpackhi_epi16(high_ab, high_cd),
        ];
        for (number, weighed) in numbers.iter_mut().zip(weighed) {
            let sum = _mm256_sll_epi32(_mm256_madd_epi16(weighed, one_four), shift);
            *number = _mm256_add_epi32(*number, sum);
        }
    }
}

#[target_feature(enable = "avx2")]
fn lanes(register: __m256i) -> [u32; LANES] {
    let mut out = [0; LANES];
    // SAFETY: there is room for eight values.
    unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), register) };
    out
}

/// Set bits of each byte.
#[target_feature(enable = "avx2")]
fn popcount_bytes(x: __m256i) -> __m256i {
    let counts = _mm256_setr_epi8(
        0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4, 0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3,
        3, 4,
    );
    let nibble = _mm256_set1_epi8(0x0f);
    let low = _mm256_shuffle_epi8(counts, _mm256_and_si256(x, nibble));
    let high = _mm256_shuffle_epi8(counts, _mm256_and_si256(_mm256_srli_epi16::<4>(x), nibble));
    _mm256_add_epi8(low, high)
}
