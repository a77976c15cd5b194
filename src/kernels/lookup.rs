//! Dense tables of numeric features: many rows at a time, from the values to the tallies without a detour.
//!
//! For each feature the cells of several rows are searched for at once in a small tree of thresholds. A cell is an index
//! into tables so short that they are looked up by shuffling registers: the T rows that the cell activates are added up
//! beforehand, as bit planes of their counts, for eight columns (an octet) at a time. Here is the definition, a row at a
//! time; [`vector`](super::vector) has the same for the registers of a CPU.

use alloc::vec::Vec;
/// Entries of a table: cells of a feature, of which the last is for NaN.
pub const CELLS: usize = 32;
/// The cell of NaN.
pub const NAN: usize = CELLS - 1;
/// Levels of a tree of thresholds: a cell is a path of so many turns.
pub const LEVELS: usize = 5;
/// Most bit planes that the count of one cell can have: up to seven rows a cell.
pub const MOST_CELL_PLANES: usize = 3;
/// Most bit planes that the count of a row can have here: up to 4,095 active rows.
pub const MOST_PLANES: usize = 12;

/// A feature that is looked up, or a part of its cells: a feature of many has several parts, and in each of them the
/// cells of the others count for nothing.
#[derive(Clone, Debug)]
pub struct Searched {
    /// Its column.
    pub column: usize,
    /// Its thresholds.
    pub tree: Tree,
    /// Whether NaN takes its feature from the active ones; told to one part of each feature at most.
    pub absent: bool,
}

/// Thresholds as a tree: the children of node i are 2i and 2i + 1, the root is 1; greater keys go right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    nodes: [i32; CELLS],
    /// Where the leading half of a key decides.
    short: Option<Short>,
}

/// A tree of the leading halves of the thresholds, level by level: first the lower bytes, then the upper ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Short {
    /// The root.
    pub one: i16,
    /// Its children, and so on.
    pub two: [u8; 16],
    /// The next level.
    pub four: [u8; 16],
    /// The next level.
    pub eight: [u8; 16],
    /// The last level.
    pub sixteen: [u8; 32],
}

impl Tree {
    /// From ascending edges, fewer than [`NAN`]; the cell of a key is the number of edges that are not above it.
    pub fn new(edges: &[i32]) -> Self {
        let mut sorted = [i32::MAX; CELLS - 1];
        for (threshold, &edge) in sorted.iter_mut().zip(edges) {
            *threshold = edge.saturating_sub(1);
        }
        let mut nodes = [i32::MAX; CELLS];
        for level in 0..LEVELS {
            let step = CELLS >> (level + 1);
            for i in 0..1 << level {
                nodes[(1 << level) + i] = sorted[step - 1 + 2 * step * i];
            }
        }
        let halves = edges.iter().all(|edge| edge.trailing_zeros() >= u16::BITS);
        Self { nodes, short: halves.then(|| Short::new(&nodes)) }
    }

    /// The tree of the leading halves, if they decide.
    pub fn short(&self) -> Option<&Short> {
        self.short.as_ref()
    }

    /// The cell of a value that is not NaN.
    #[inline(always)]
    pub fn cell(&self, value: f32) -> usize {
        let bits = (value + 0.0).to_bits() as i32; // −0.0 + 0.0 is 0.0
        let key = bits ^ ((bits >> 31) & i32::MAX);
        (0..LEVELS).fold(1, |node, _| 2 * node + usize::from(key > self.nodes[node])) - CELLS
    }
}

impl Short {
    fn new(nodes: &[i32; CELLS]) -> Self {
        // A threshold is one below an edge, whose lower half is zero: above it is at least the edge.
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
    /// The parts of the features in use, in the order of their columns.
    pub features: Vec<Searched>,
    /// Number of features in use.
    pub active: usize,
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
    /// Features that activate rows.
    pub active: u32,
    /// Active w that are +1.
    pub linear: u32,
    /// Σ c over the factors, c being the active +1 of a factor.
    pub sum: u32,
    /// Σ c²
    pub squares: u32,
}

/// Count rows that lie one after the other in memory.
#[inline(always)]
pub fn count_rows(table: &CellTable, values: &[f32], counts: &mut [Count]) {
    let mut cells = vec![0; table.features.len()];
    let rows = values.chunks_exact(table.columns).zip(counts.chunks_exact_mut(table.functions));
    for (row, counts) in rows {
        let mut active = table.active as u32;
        for (cell, feature) in cells.iter_mut().zip(&table.features) {
            let value = row[feature.column];
            *cell = if value.is_nan() { NAN } else { feature.tree.cell(value) };
            active -= u32::from(feature.absent && value.is_nan());
        }
        counts.fill(Count { active, ..Count::default() });
        count_row(table, &cells, counts);
    }
}

fn count_row(table: &CellTable, cells: &[usize], counts: &mut [Count]) {
    let features = table.features.len();
    for (function, count) in counts.iter_mut().enumerate() {
        let linear = table.linear[function * features * CELLS..].chunks_exact(CELLS);
        count.linear =
            cells.iter().zip(linear).map(|(&cell, linear)| u32::from(linear[cell])).sum();
    }
    let per_octet = features * table.cell_planes * CELLS;
    for (octet, parts) in table.octets.iter().enumerate() {
        let factors = &table.factors[octet * per_octet..][..per_octet];
        let lookups = || cells.iter().zip(factors.chunks_exact(table.cell_planes * CELLS));
        for part in parts {
            for column in (0..u8::BITS).filter(|column| part.mask >> column & 1 == 1) {
                let bit = |(plane, byte): (usize, u8)| u32::from(byte >> column & 1) << plane;
                let count: u32 = lookups()
                    .flat_map(|(&cell, planes)| {
                        planes.iter().skip(cell).step_by(CELLS).copied().enumerate()
                    })
                    .map(bit)
                    .sum();
                counts[part.function].sum += count;
                counts[part.function].squares += count * count;
            }
        }
    }
}
