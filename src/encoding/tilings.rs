//! Shifted grids, and why they are windows.
//!
//! Take T coarse grids over fine cells, each shifted by one cell: a value in cell c is in bin (c + t) div T of grid t.
//! A bin is then a window of T consecutive cells, and every window that touches a cell is a bin of exactly one grid.
//! So number the C + T − 1 windows from the left: cell c lies in the windows c, c + 1, …, c + T − 1, which are the T
//! rows that it activates. With T = 1 each cell has its own row: the paper's one-hot bins.
//!
//! Where cells shall share nothing (categories, few distinct values), each has T rows of its own: cell c activates
//! c·T … c·T + T − 1. Both are runs of T rows from `first + c · stride`.

/// The run of parameter rows of one feature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First row of the run.
    pub first: u32,
    /// Cells, the missing one not counted.
    pub cells: u32,
    /// Rows from one cell's first row to the next one's.
    pub stride: u32,
    /// Rows that a cell activates.
    pub tilings: u32,
    /// Whether NaN has a cell of its own, at the end.
    pub missing: bool,
}

impl Span {
    /// A run that begins at `first`, for one cell or more.
    pub fn new(first: u32, cells: u32, tilings: u32, copies: bool, missing: bool) -> Self {
        let stride = if copies { tilings } else { 1 };
        Self { first, cells, stride, tilings, missing }
    }

    /// Number of rows, or the greatest number there is if they are more.
    pub fn rows(&self) -> u32 {
        self.ordinary_rows().saturating_add(if self.missing { self.tilings } else { 0 })
    }

    /// First row that a cell activates.
    pub fn start(&self, cell: u32) -> u32 {
        self.first + cell * self.stride
    }

    /// First row of the missing cell.
    pub fn missing_start(&self) -> Option<u32> {
        self.missing.then(|| self.first + self.ordinary_rows())
    }

    fn ordinary_rows(&self) -> u32 {
        self.cells
            .checked_sub(1)
            .map_or(0, |last| last.saturating_mul(self.stride).saturating_add(self.tilings))
    }
}
