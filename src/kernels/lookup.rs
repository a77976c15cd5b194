//! Dense tables of numeric features: many rows at a time, from the values to the tallies without a detour.
//!
//! For each feature the cells of several rows are searched for at once in a small tree of thresholds. A cell is an index
//! into tables so short that they are looked up by shuffling registers: the T rows that the cell activates are added up
//! beforehand, as bit planes of their counts, for eight columns (an octet) at a time.

use super::portable::{Tally, add_tally};

/// Most cells of a feature: the tree of thresholds has five levels.
pub const CELLS: usize = 32;
/// Thresholds of a tree as they lie in memory: 1 and 2 with room to spare, then 4, 8 and 16.
pub const TREE: usize = 36;
/// Where each level of the tree begins.
pub const LEVELS: [usize; 5] = [0, 4, 8, 12, 20];
/// Most bit planes that the count of one cell can have: up to seven rows a cell.
pub const MOST_CELL_PLANES: usize = 3;
/// Most bit planes that the count of a row can have here: counts fit a byte.
pub const MOST_PLANES: usize = 8;

/// A feature that is looked up.
#[derive(Clone, Debug)]
pub struct Searched {
    /// Its column.
    pub column: usize,
    /// A key of at least threshold + 1 goes right.
    pub tree: [i32; TREE],
}

/// Columns of one score function within one octet.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Which score function.
    pub function: usize,
    /// Its bits in the octet.
    pub mask: u8,
}

/// A model of numeric features with few cells, ready to be looked up.
#[derive(Clone, Debug, Default)]
pub struct CellTable {
    /// Number of columns of X.
    pub columns: usize,
    /// The features in use.
    pub features: Vec<Searched>,
    /// Bit planes of a cell's counts.
    pub cell_planes: usize,
    /// Bit planes of a row's counts.
    pub planes: usize,
    /// For each octet: which functions it holds, all octets of a function side by side.
    pub octets: Vec<Vec<Part>>,
    /// `[octet][feature][plane][CELLS]`: the counts of eight columns.
    pub factors: Vec<u8>,
    /// `[function][feature][CELLS]`: how many w of a cell's rows are +1.
    pub linear: Vec<u8>,
    /// Number of score functions.
    pub functions: usize,
}

/// What is counted of one row and one function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Active w that are +1.
    pub linear: u32,
    /// Of the factors.
    pub factors: Tally,
}

/// The thresholds of a tree from ascending edges, fewer than [`CELLS`].
pub fn tree(edges: &[i32]) -> [i32; TREE] {
    let mut sorted = [i32::MAX - 1; CELLS - 1];
    for (threshold, &edge) in sorted.iter_mut().zip(edges) {
        // −0.0 has a key of −1 before it is made equal to 0.0: let it pass the edge of zero.
        *threshold = if edge == 0 { -2 } else { edge.saturating_sub(1) };
    }
    let mut tree = [i32::MAX; TREE];
    for (level, first) in LEVELS.into_iter().enumerate() {
        let step = CELLS >> (level + 1);
        for i in 0..1 << level {
            tree[first + i] = sorted[step - 1 + 2 * step * i];
        }
    }
    tree
}

/// Count rows one after the other in memory; rows with a NaN are not counted but named in `skipped`.
#[inline(always)]
pub fn count_rows(
    table: &CellTable,
    values: &[f32],
    counts: &mut [Count],
    skipped: &mut Vec<usize>,
) {
    let mut cells = vec![0; table.features.len()];
    let rows = values.chunks_exact(table.columns).zip(counts.chunks_exact_mut(table.functions));
    for (i, (row, counts)) in rows.enumerate() {
        if find_cells(table, row, &mut cells) {
            count_row(table, &cells, counts);
        } else {
            skipped.push(i);
        }
    }
}

/// The cell of each feature; false if one of them is NaN.
fn find_cells(table: &CellTable, row: &[f32], cells: &mut [usize]) -> bool {
    let mut whole = true;
    for (cell, feature) in cells.iter_mut().zip(&table.features) {
        let bits = row[feature.column].to_bits() as i32;
        let key = bits ^ ((bits >> 31) & i32::MAX);
        *cell = LEVELS
            .iter()
            .fold(0, |node, first| 2 * node + usize::from(key > feature.tree[first + node]));
        whole &= !row[feature.column].is_nan();
    }
    whole
}

fn count_row(table: &CellTable, cells: &[usize], counts: &mut [Count]) {
    counts.fill(Count::default());
    let features = table.features.len();
    for (function, count) in counts.iter_mut().enumerate() {
        let linear = table.linear[function * features * CELLS..].chunks_exact(CELLS);
        count.linear =
            cells.iter().zip(linear).map(|(&cell, linear)| u32::from(linear[cell])).sum();
    }
    let per_octet = features * table.cell_planes * CELLS;
    for (octet, parts) in table.octets.iter().enumerate() {
        let factors = &table.factors[octet * per_octet..][..per_octet];
        let mut planes = [0; MOST_PLANES];
        for (&cell, lookup) in cells.iter().zip(factors.chunks_exact(table.cell_planes * CELLS)) {
            add(&mut planes, lookup.chunks_exact(CELLS).map(|plane| plane[cell]));
        }
        for part in parts {
            let planes = planes.map(u64::from);
            add_tally(
                &planes[..table.planes],
                part.mask.into(),
                &mut counts[part.function].factors,
            );
        }
    }
}

/// Add a number of a few planes to one of many.
fn add(planes: &mut [u8; MOST_PLANES], number: impl Iterator<Item = u8>) {
    let mut carry = 0;
    let number = number.chain(std::iter::repeat(0));
    for (plane, addend) in planes.iter_mut().zip(number) {
        let sum = *plane ^ addend;
        let carried = (*plane & addend) | (sum & carry);
        *plane = sum ^ carry;
        carry = carried;
    }
}
