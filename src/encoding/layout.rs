//! Shifted tilings, and why they are windows.
//!
//! Lay T coarse tilings over fine cells, each shifted by one cell: a value in cell c is in bin (c + t) div T of tiling
//! t. A bin is then a window of T consecutive cells, and every window that overlaps a cell is a bin of exactly one
//! tiling. Number the C + T − 1 windows from the left: cell c lies in windows c, c + 1, …, c + T − 1, and these are the
//! T rows that it activates. With T = 1 each cell has its own row: the paper's one-hot bins.
//!
//! Where cells must not share rows (categories, few distinct values), each has T rows of its own, and cell c activates
//! c·T … c·T + T − 1. Either way a cell activates T consecutive rows from `first + c · stride` on.

/// The run of parameter rows of one feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First row of the run.
    pub first: u32,
    /// Number of cells, without the cell of missing values.
    pub cells: u32,
    /// Distance between the first rows of neighbouring cells.
    pub stride: u32,
    /// Number of rows that a cell activates.
    pub tilings: u32,
    /// Whether NaN has a cell of its own, at the end.
    pub missing: bool,
}

impl Span {
    /// Lays out one cell or more from row `first` on.
    pub fn new(first: u32, cells: u32, tilings: u32, copies: bool, missing: bool) -> Self {
        let stride = if copies { tilings } else { 1 };
        Self { first, cells, stride, tilings, missing }
    }

    /// Returns the number of rows, or `u32::MAX` if they are more.
    pub fn rows(&self) -> u32 {
        self.cell_rows().saturating_add(if self.missing { self.tilings } else { 0 })
    }

    /// Returns the first row that a cell activates.
    pub fn start(&self, cell: u32) -> u32 {
        self.first + cell * self.stride
    }

    /// Returns the cell of missing values, counted like the others: it starts where all of them end.
    pub fn missing_cell(&self) -> Option<u32> {
        self.missing.then(|| self.cell_rows() / self.stride)
    }

    /// Returns the first row of the cell of missing values.
    pub fn missing_start(&self) -> Option<u32> {
        self.missing.then(|| self.first + self.cell_rows())
    }

    /// Returns whether several rows belong to each cell alone.
    pub fn is_copied(&self) -> bool {
        self.tilings > 1 && self.stride == self.tilings
    }

    /// Returns the number of cells that share no row with another, that of missing values included; none if neighbours do.
    pub fn own_cells(&self) -> usize {
        if self.stride == self.tilings { self.cells as usize + usize::from(self.missing) } else { 0 }
    }

    fn cell_rows(&self) -> u32 {
        self.cells
            .checked_sub(1)
            .map_or(0, |last| last.saturating_mul(self.stride).saturating_add(self.tilings))
    }
}
