//! Dense tables of numeric features: from the values of many samples straight to their tallies.
//!
//! For each feature, the cells of several samples are found at once in a small tree of thresholds. A cell is an index
//! into tables so short that a register shuffle looks them up: the T rows that a cell activates are added up in advance,
//! as bit planes of their counts, for eight columns (an octet) at a time. This file has the definition, one sample at a
//! time; `lookup_vector` does the same with SIMD registers.

use crate::Result;
use crate::memory::filled;
use alloc::vec::Vec;

/// Entries of a table: the cells of a feature, the last of which is for NaN.
pub const CELLS: usize = 32;
/// The cell of NaN.
pub const NAN: usize = CELLS - 1;
/// Depth of a tree of thresholds: comparisons on the way to a cell.
const DEPTH: usize = 5;
/// Maximum number of bit planes for the counts of a cell: up to 31 rows per cell.
pub const MAX_CELL_PLANES: usize = 5;
/// Maximum number of bit planes for the counts of a sample: up to 4,095 active rows.
pub const MAX_PLANES: usize = 12;

/// Bits of a digit of Σ u: the digits of some features add up in a byte before it is full.
pub const DIGIT_BITS: usize = 3;

/// A feature that is looked up, or a part of one: a feature with many cells is split into parts, and a part counts
/// nothing for cells that belong to another.
#[derive(Clone, Debug)]
pub struct Searched {
    /// Column of X.
    pub column: usize,
    /// Thresholds between the cells.
    pub tree: Tree,
    /// Whether the feature activates no rows where the value is NaN; set in at most one part of a feature.
    pub absent: bool,
}

/// Thresholds as a binary tree: the root is node 1, the children of node i are 2i and 2i + 1, and keys above a threshold
/// go right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    nodes: [i32; CELLS],
    short: Option<ShortTree>,
}

/// The upper halves of the thresholds, for trees in which the upper half of a key decides every comparison. Each level
/// stores the low bytes of its thresholds, followed by their high bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShortTree {
    /// The root.
    pub one: i16,
    /// Level 1; the rest of the array is unused.
    pub two: [u8; 16],
    /// Level 2; the rest of the array is unused.
    pub four: [u8; 16],
    /// Level 3.
    pub eight: [u8; 16],
    /// Level 4, the last.
    pub sixteen: [u8; 32],
}

impl Tree {
    /// Builds the tree of fewer than [`NAN`] ascending edges. The cell of a key is the number of edges not above it.
    pub fn new(edges: &[i32]) -> Self {
        let mut sorted = [i32::MAX; CELLS - 1];
        for (threshold, &edge) in sorted.iter_mut().zip(edges) {
            *threshold = edge.saturating_sub(1);
        }
        let mut nodes = [i32::MAX; CELLS];
        for level in 0..DEPTH {
            let step = CELLS >> (level + 1);
            for i in 0..1 << level {
                nodes[(1 << level) + i] = sorted[step - 1 + 2 * step * i];
            }
        }
        let upper_decides = edges.iter().all(|edge| edge.trailing_zeros() >= u16::BITS);
        Self { nodes, short: upper_decides.then(|| ShortTree::new(&nodes)) }
    }

    /// Returns the tree of the upper halves, if they decide every comparison.
    #[cfg(feature = "std")]
    pub(super) fn short(&self) -> Option<&ShortTree> {
        self.short.as_ref()
    }

    /// Returns the cell of a value that is not NaN.
    #[inline(always)]
    pub fn cell(&self, value: f32) -> usize {
        let bits = (value + 0.0).to_bits() as i32; // −0.0 + 0.0 is 0.0
        let key = bits ^ ((bits >> 31) & i32::MAX);
        (0..DEPTH).fold(1, |node, _| 2 * node + usize::from(key > self.nodes[node])) - CELLS
    }
}

impl ShortTree {
    fn new(nodes: &[i32; CELLS]) -> Self {
        // The lower half of an edge is zero, and a threshold is one less than its edge. So a key is above the threshold
        // exactly if its upper half is above the threshold's.
        let level = |bytes: &mut [u8]| {
            let count = bytes.len() / 2;
            for i in 0..count {
                let [low, high] = ((nodes[count + i] >> 16) as i16).to_le_bytes();
                (bytes[i], bytes[count + i]) = (low, high);
            }
        };
        let (mut two, mut four) = ([0; 16], [0; 16]);
        let (mut eight, mut sixteen) = ([0; 16], [0; 32]);
        level(&mut two[..4]);
        level(&mut four[..8]);
        level(&mut eight);
        level(&mut sixteen);
        Self { one: (nodes[1] >> 16) as i16, two, four, eight, sixteen }
    }
}

/// The columns of one output within one octet.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    /// Index of the output.
    pub output: usize,
    /// The bits of the output in the octet.
    pub mask: u8,
}

/// A model of numeric features with few cells, as lookup tables.
#[derive(Clone, Debug, Default)]
pub struct CellTable {
    /// Number of columns of X.
    pub columns: usize,
    /// The parts of the features in use, ordered by column.
    pub features: Vec<Searched>,
    /// Number of features in use.
    pub active: usize,
    /// Bit planes of the counts of a cell.
    pub cell_planes: usize,
    /// Bit planes of the counts of a sample.
    pub planes: usize,
    /// The outputs in each octet; all octets of an output are adjacent.
    pub octets: Vec<Vec<Part>>,
    /// `[octet][feature][plane][CELLS]`: the counts of eight columns.
    pub factors: Vec<u8>,
    /// Digits of Σ u over the rows of a cell, where u is w as it is stored; one where w is a sign.
    pub linear_digits: usize,
    /// `[output][digit][feature][CELLS]`: the digits, the lowest first.
    pub linear: Vec<u8>,
    /// Number of outputs.
    pub outputs: usize,
}

/// The counts of one sample and one output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Features that activate rows.
    pub active: u32,
    /// Σ u over the active rows: the number of those with w = +1 where w is a sign.
    pub linear: u32,
    /// Σ c over the factors, where c is the number of active rows in which the factor is +1.
    pub sum: u32,
    /// Σ c²
    pub squares: u32,
}

/// See [`count_samples`](super::count_samples).
#[inline(always)]
pub(super) fn count_samples(table: &CellTable, values: &[f32], counts: &mut [Count]) -> Result<()> {
    let mut cells = filled(table.features.len(), 0)?;
    let samples = values.chunks_exact(table.columns).zip(counts.chunks_exact_mut(table.outputs));
    for (values, counts) in samples {
        let mut active = table.active as u32;
        for (cell, feature) in cells.iter_mut().zip(&table.features) {
            let value = values[feature.column];
            *cell = if value.is_nan() { NAN } else { feature.tree.cell(value) };
            active -= u32::from(feature.absent && value.is_nan());
        }
        counts.fill(Count { active, ..Count::default() });
        count_sample(table, &cells, counts);
    }
    Ok(())
}

fn count_sample(table: &CellTable, cells: &[usize], counts: &mut [Count]) {
    let features = table.features.len();
    for (output, count) in counts.iter_mut().enumerate() {
        for digit in 0..table.linear_digits {
            let first = (output * table.linear_digits + digit) * features * CELLS;
            let lookups = cells.iter().zip(table.linear[first..].chunks_exact(CELLS));
            let sum: u32 = lookups.map(|(&cell, digits)| u32::from(digits[cell])).sum();
            count.linear += sum << (DIGIT_BITS * digit);
        }
    }
    let per_octet = features * table.cell_planes * CELLS;
    for (octet, parts) in table.octets.iter().enumerate() {
        let factors = &table.factors[octet * per_octet..][..per_octet];
        for part in parts {
            for column in (0..u8::BITS).filter(|column| part.mask >> column & 1 == 1) {
                let count = count_column(table, cells, factors, column);
                counts[part.output].sum += count;
                counts[part.output].squares += count * count;
            }
        }
    }
}

/// Sums the counts of the cells in one column of an octet.
#[inline(always)]
fn count_column(table: &CellTable, cells: &[usize], factors: &[u8], column: u32) -> u32 {
    let lookups = cells.iter().zip(factors.chunks_exact(table.cell_planes * CELLS));
    lookups
        .flat_map(|(&cell, planes)| planes.iter().skip(cell).step_by(CELLS).enumerate())
        .map(|(plane, byte)| u32::from(byte >> column & 1) << plane)
        .sum()
}
