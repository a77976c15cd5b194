//! A block of rows of X to the rows of the parameter table that they activate.
//!
//! Each present feature activates `tilings` consecutive parameter rows; the first of them, its start, says it all.

use super::keys::key;
use super::table::Value;
use super::{Category, Csr, Dense, Encoder, Feature, Levels, Span, Table, Values};
use crate::kernels::{self, Isa};
use alloc::vec::Vec;

/// The start of a feature that is absent.
pub const ABSENT: u32 = u32::MAX;

/// Fewer rows than this are not worth going through column by column.
const FEW: usize = 4;

/// Starts of several rows, one after the other: row i's are `starts[ends[i-1]..ends[i]]`.
#[derive(Clone, Debug, Default)]
pub struct Active {
    /// The starts of all rows.
    pub starts: Vec<u32>,
    /// Where each row's starts end.
    pub ends: Vec<u32>,
    /// What multiplies the parameter rows of each start; empty where all are 1.
    pub values: Vec<f32>,
}

impl Active {
    fn clear(&mut self) {
        self.starts.clear();
        self.ends.clear();
        self.values.clear();
    }

    fn push_row(&mut self, starts: impl Iterator<Item = u32>) {
        self.starts.extend(starts.filter(|&start| start != ABSENT));
        self.ends.push(self.starts.len() as u32);
    }
}

/// Room for the work on one block, kept from block to block.
#[derive(Debug, Default)]
pub struct Block {
    pub(super) numbers: Vec<f32>,
    keys: Vec<i32>,
    cells: Vec<u32>,
    categories: Vec<Category>,
    starts: Vec<u32>,
}

impl Encoder {
    /// Replace `active` by the starts of `rows` rows of a table from row `first` on.
    pub fn activate(
        &self,
        isa: Isa,
        table: Table,
        first: usize,
        rows: usize,
        block: &mut Block,
        active: &mut Active,
    ) {
        active.clear();
        if self.raw {
            self.activate_raw(table, first, rows, block, active);
            return;
        }
        match table {
            Table::Dense(dense) if rows < FEW => {
                (first..first + rows).for_each(|row| self.activate_one(dense, row, block, active));
            }
            Table::Dense(dense) => {
                let starts = self.dense_starts(isa, dense, first, rows, block);
                if self.features.is_empty() {
                    (0..rows).for_each(|_| active.push_row(core::iter::empty()));
                    return;
                }
                let rows = starts.chunks_exact(self.features.len());
                rows.for_each(|row| active.push_row(row.iter().copied()));
            }
            Table::Csr(csr) if self.zero_is_absent => {
                for row in first..first + rows {
                    active.push_row(csr.row(row).map(|(column, value)| {
                        let feature = self.of_column(column);
                        feature.map_or(ABSENT, |feature| feature.start_of(value, true))
                    }));
                }
            }
            Table::Csr(csr) => self.activate_with_zeros(csr, first, rows, block, active),
        }
    }

    /// One row of a dense table, value by value.
    fn activate_one(&self, dense: &dyn Dense, row: usize, block: &mut Block, active: &mut Active) {
        block.numbers.resize(self.columns(), 0.0);
        dense.rows_of_numbers(row, &mut block.numbers);
        let starts = self.features.iter().map(|feature| {
            let Values::Levels(levels) = &feature.values else {
                let number = block.numbers.get(feature.column).copied().unwrap_or(f32::NAN);
                return feature.start_of(number, self.zero_is_absent);
            };
            let mut category = Category::Missing;
            dense.categories(feature.column, row, core::slice::from_mut(&mut category));
            feature.span.level_start(levels, category, self.zero_is_absent)
        });
        active.push_row(starts);
    }

    /// Starts of a dense block, row by row, one for each feature, [`ABSENT`] where there is none.
    pub fn dense_starts<'b>(
        &self,
        isa: Isa,
        dense: &dyn Dense,
        first: usize,
        rows: usize,
        block: &'b mut Block,
    ) -> &'b mut [u32] {
        let width = self.features.len();
        block.starts.clear();
        block.starts.resize(rows * width, ABSENT);
        for (j, feature) in self.features.iter().enumerate() {
            match &feature.values {
                Values::Numbers(edges) => {
                    block.count(isa, dense, feature.column, first, rows, edges.keys());
                    let values = block.numbers.iter().zip(&block.cells);
                    let starts = block.starts.iter_mut().skip(j).step_by(width);
                    starts.zip(values).for_each(|(start, (&number, &cell))| {
                        *start = feature.span.start_or_absent(number, cell, self.zero_is_absent);
                    });
                }
                // Numbers used as they are go another way: see `raw`.
                Values::Raw(_) => {}
                Values::Levels(levels) => {
                    block.categories.resize(rows, Category::Missing);
                    dense.categories(feature.column, first, &mut block.categories);
                    let starts = block.starts.iter_mut().skip(j).step_by(width);
                    starts.zip(&block.categories).for_each(|(start, &category)| {
                        *start = feature.span.level_start(levels, category, self.zero_is_absent);
                    });
                }
            }
        }
        &mut block.starts
    }

    /// A sparse table for a model of dense ones: what is not stored is a zero like any other.
    fn activate_with_zeros(
        &self,
        csr: &Csr,
        first: usize,
        rows: usize,
        block: &mut Block,
        active: &mut Active,
    ) {
        let zeros: Vec<u32> =
            self.features.iter().map(|feature| feature.start_of(0.0, false)).collect();
        for row in first..first + rows {
            block.starts.clone_from(&zeros);
            for (column, value) in csr.row(row) {
                let place = self.places.get(column).map_or(usize::MAX, |&place| place as usize);
                let start = block.starts.get_mut(place).zip(self.features.get(place));
                if let Some((start, feature)) = start {
                    *start = feature.start_of(value, false);
                }
            }
            active.push_row(block.starts.iter().copied());
        }
    }
}

impl Block {
    /// Read a piece of a column and find the cells of its numbers.
    fn count(
        &mut self,
        isa: Isa,
        dense: &dyn Dense,
        column: usize,
        first: usize,
        rows: usize,
        edges: &[i32],
    ) {
        self.numbers.resize(rows, 0.0);
        self.keys.resize(rows, 0);
        self.cells.resize(rows, 0);
        dense.numbers(column, first, &mut self.numbers);
        self.keys.iter_mut().zip(&self.numbers).for_each(|(k, &number)| *k = key(number));
        kernels::count_edges(isa, &self.keys, edges, &mut self.cells);
    }
}

impl Feature {
    /// Start of a single value.
    pub(super) fn start_of(&self, value: f32, zero_is_absent: bool) -> u32 {
        match &self.values {
            Values::Numbers(edges) => {
                self.span.start_or_absent(value, edges.cell(value), zero_is_absent)
            }
            Values::Raw(_) => self.span.start_or_absent(value, 0, zero_is_absent),
            Values::Levels(levels) => {
                self.span.level_start(levels, value.category(), zero_is_absent)
            }
        }
    }
}

impl Span {
    #[inline(always)]
    fn start_or_absent(&self, number: f32, cell: u32, zero_is_absent: bool) -> u32 {
        if number.is_nan() {
            self.missing_start().unwrap_or(ABSENT)
        } else if zero_is_absent && number == 0.0 {
            ABSENT
        } else {
            self.start(cell)
        }
    }

    pub(super) fn level_start(
        &self,
        levels: &Levels,
        category: Category,
        zero_is_absent: bool,
    ) -> u32 {
        match category {
            Category::Level(0) if zero_is_absent => ABSENT,
            Category::Level(level) => levels.cell(level).map_or(ABSENT, |cell| self.start(cell)),
            Category::Missing => self.missing_start().unwrap_or(ABSENT),
            Category::Fraction => ABSENT,
        }
    }
}
