//! The starts of the stored values of sparse samples.
//!
//! A sparse sample has few values of many columns, so that most values find their column outside the fastest caches. A
//! column therefore takes 16 bytes, the edges of all columns lie side by side, and the loop has no branch that would keep
//! the CPU from reading ahead.

use crate::Result;
use crate::memory::copied;
use alloc::vec::Vec;

/// Numeric columns of a sparse table.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StoredTable {
    /// The columns.
    pub columns: Vec<StoredColumn>,
    /// The edges of all columns, with [`FEW`] more numbers after them.
    pub edges: Vec<i32>,
}

impl StoredTable {
    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> Result<Self> {
        Ok(Self { columns: copied(&self.columns)?, edges: copied(&self.edges)? })
    }
}

/// Where the values of a column start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredColumn {
    /// The start of the first cell; `u32::MAX` if the column activates nothing.
    pub start: u32,
    /// The start of missing values; `u32::MAX` if they activate nothing.
    pub missing: u32,
    /// Where its edges begin, in ascending order.
    pub first_edge: u32,
    /// The number of its edges.
    pub edges: u16,
    /// Distance between the starts of neighbouring cells.
    pub stride: u16,
}

/// Up to this many edges, all are compared at once; more are found by binary search.
pub const FEW: usize = 8;
/// The keys of the infinities; those of NaN are beyond them.
const INFINITY: i32 = 0x7F80_0000;
const NEGATIVE_INFINITY: i32 = !INFINITY;

/// See [`find_starts`](super::find_starts).
#[inline(always)]
pub fn find_starts(table: &StoredTable, columns: &[u32], keys: &[i32], starts: &mut [u32]) {
    let values = columns.iter().zip(keys).zip(starts);
    if table.edges.len() == FEW {
        for ((&column, &key), start) in values {
            *start = start_or_absent(&table.columns[column as usize], key, 0);
        }
        return;
    }
    for ((&column, &key), start) in values {
        let column = &table.columns[column as usize];
        let edges = &table.edges[column.first_edge as usize..];
        let cell = match edges.first_chunk() {
            Some(few) if usize::from(column.edges) <= FEW => count_few(few, column.edges, key),
            _ => edges[..column.edges.into()].partition_point(|&edge| edge <= key) as u32,
        };
        *start = start_or_absent(column, key, cell);
    }
}

/// Returns the start of a cell, unless the key is that of zero or of NaN.
#[inline(always)]
fn start_or_absent(column: &StoredColumn, key: i32, cell: u32) -> u32 {
    if key == 0 {
        return u32::MAX;
    }
    if !(NEGATIVE_INFINITY..=INFINITY).contains(&key) {
        return column.missing;
    }
    column.start.wrapping_add(cell * u32::from(column.stride))
}

/// Counts those of the first `count` edges that are not above a key.
#[inline(always)]
fn count_few(edges: &[i32; FEW], count: u16, key: i32) -> u32 {
    let mut not_above = 0_u32;
    for (i, edge) in edges.iter().enumerate() {
        not_above |= u32::from(*edge <= key) << i;
    }
    (not_above & ((1 << count) - 1)).count_ones()
}
