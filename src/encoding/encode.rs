//! Encoding: from a block of samples to the parameter rows that they activate.
//!
//! Each present feature activates `tilings` consecutive rows, so its start, the first of them, says it all. Raw features
//! also have a value, which multiplies their row; the value of all others is 1.

use super::edges::key;
use super::{Categories, CellMap, Encoder, Feature, Span};
use crate::data::{Category, Csr, Dense, Number, Table};
use crate::kernels::{self, Isa};
use alloc::vec::Vec;
use core::ops::Range;

/// The start of an absent feature.
pub const ABSENT: u32 = u32::MAX;

/// With fewer samples than this, going through a block column by column does not pay.
const MIN_BLOCK: usize = 4;

/// The starts of several samples, one after the other: those of sample i are `starts[ends[i-1]..ends[i]]`.
#[derive(Clone, Debug, Default)]
pub struct ActiveRows {
    /// The starts of all samples.
    pub starts: Vec<u32>,
    /// The end of each sample's starts.
    pub ends: Vec<u32>,
    /// The value of each start; empty where all are 1.
    pub values: Vec<f32>,
    has_values: bool,
}

impl ActiveRows {
    fn clear(&mut self, has_values: bool) {
        self.starts.clear();
        self.ends.clear();
        self.values.clear();
        self.has_values = has_values;
    }

    /// Appends a sample: the start and value of each of its features.
    #[inline(always)]
    fn push(&mut self, sample: impl Iterator<Item = (u32, f32)>) {
        let present = sample.filter(|&(start, _)| start != ABSENT);
        if self.has_values {
            for (start, value) in present {
                self.starts.push(start);
                self.values.push(value);
            }
        } else {
            self.starts.extend(present.map(|(start, _)| start));
        }
        self.ends.push(self.starts.len() as u32);
    }
}

/// Buffers that are reused from block to block.
#[derive(Debug, Default)]
pub struct EncodeScratch {
    numbers: Vec<f32>,
    keys: Vec<i32>,
    cells: Vec<u32>,
    categories: Vec<Category>,
    starts: Vec<u32>,
    values: Vec<f32>,
}

impl Encoder {
    /// Replaces `active` by the active rows of some samples of a table.
    pub fn encode(
        &self,
        isa: Isa,
        table: Table,
        samples: Range<usize>,
        scratch: &mut EncodeScratch,
        active: &mut ActiveRows,
    ) {
        active.clear(self.is_raw());
        match table {
            Table::Dense(dense) if samples.len() < MIN_BLOCK => {
                samples.for_each(|sample| self.encode_one(dense, sample, scratch, active));
            }
            Table::Dense(dense) => self.encode_block(isa, dense, samples, scratch, active),
            Table::Csr(csr) if self.zero_is_absent() => {
                for sample in samples {
                    active.push(csr.sample(sample).map(|(column, value)| {
                        let feature = self.feature_of(column);
                        feature.map_or((ABSENT, 1.0), |feature| feature.encode(value, true))
                    }));
                }
            }
            Table::Csr(csr) => self.encode_with_zeros(csr, samples, active),
        }
    }

    /// Encodes one sample of a dense table, value by value.
    fn encode_one(
        &self,
        dense: &dyn Dense,
        sample: usize,
        scratch: &mut EncodeScratch,
        active: &mut ActiveRows,
    ) {
        scratch.numbers.resize(self.columns(), 0.0);
        dense.copy_samples(sample, &mut scratch.numbers);
        active.push(self.features().iter().map(|feature| {
            let CellMap::Categories(categories) = &feature.map else {
                let number = scratch.numbers.get(feature.column).copied().unwrap_or(f32::NAN);
                return feature.encode(number, self.zero_is_absent());
            };
            let mut category = Category::Missing;
            dense.copy_categories(feature.column, sample, core::slice::from_mut(&mut category));
            (feature.span.category_start(categories, category, self.zero_is_absent()), 1.0)
        }));
    }

    /// Encodes samples of a dense table, column by column.
    fn encode_block(
        &self,
        isa: Isa,
        dense: &dyn Dense,
        samples: Range<usize>,
        scratch: &mut EncodeScratch,
        active: &mut ActiveRows,
    ) {
        let (width, count) = (self.features().len(), samples.len());
        self.block_starts(isa, dense, samples, scratch);
        if width == 0 {
            (0..count).for_each(|_| active.push(core::iter::empty()));
            return;
        }
        let mut values = scratch.values.chunks_exact(width);
        for starts in scratch.starts.chunks_exact(width) {
            match values.next() {
                Some(values) => active.push(starts.iter().copied().zip(values.iter().copied())),
                None => active.push(starts.iter().map(|&start| (start, 1.0))),
            }
        }
    }

    /// Returns the starts of a dense block, sample by sample, one per feature: [`ABSENT`] where it activates nothing.
    pub(super) fn block_starts<'s>(
        &self,
        isa: Isa,
        dense: &dyn Dense,
        samples: Range<usize>,
        scratch: &'s mut EncodeScratch,
    ) -> &'s [u32] {
        let (width, zero_is_absent) = (self.features().len(), self.zero_is_absent());
        scratch.starts.clear();
        scratch.starts.resize(samples.len() * width, ABSENT);
        scratch.values.clear();
        scratch.values.resize(if self.is_raw() { samples.len() * width } else { 0 }, 1.0);
        for (j, Feature { column, span, map }) in self.features().iter().enumerate() {
            match map {
                CellMap::Intervals(edges) => {
                    scratch.find_cells(isa, dense, *column, &samples, edges.keys());
                    let cells = scratch.numbers.iter().zip(&scratch.cells);
                    let starts = scratch.starts.iter_mut().skip(j).step_by(width);
                    starts.zip(cells).for_each(|(start, (&number, &cell))| {
                        *start = span.start_or_absent(number, cell, zero_is_absent);
                    });
                }
                CellMap::Raw(standard) => {
                    scratch.numbers.resize(samples.len(), 0.0);
                    dense.copy_column(*column, samples.start, &mut scratch.numbers);
                    let starts = scratch.starts.iter_mut().skip(j).step_by(width);
                    let values = scratch.values.iter_mut().skip(j).step_by(width);
                    for ((start, value), &number) in starts.zip(values).zip(&scratch.numbers) {
                        *start = span.start_or_absent(number, 0, zero_is_absent);
                        *value = standard.value(number);
                    }
                }
                CellMap::Categories(categories) => {
                    scratch.categories.resize(samples.len(), Category::Missing);
                    dense.copy_categories(*column, samples.start, &mut scratch.categories);
                    let starts = scratch.starts.iter_mut().skip(j).step_by(width);
                    starts.zip(&scratch.categories).for_each(|(start, &category)| {
                        *start = span.category_start(categories, category, zero_is_absent);
                    });
                }
            }
        }
        &scratch.starts
    }

    /// Encodes a sparse table for a model of dense ones: a value that is not stored is a zero like any other.
    fn encode_with_zeros(&self, csr: &Csr, samples: Range<usize>, active: &mut ActiveRows) {
        let zeros: Vec<_> =
            self.features().iter().map(|feature| feature.encode(0.0, false)).collect();
        let mut encoded = Vec::new();
        for sample in samples {
            encoded.clone_from(&zeros);
            for (column, value) in csr.sample(sample) {
                let Some(index) = self.feature_index(column) else { continue };
                if let Some((place, feature)) =
                    encoded.get_mut(index).zip(self.features().get(index))
                {
                    *place = feature.encode(value, false);
                }
            }
            active.push(encoded.iter().copied());
        }
    }
}

impl EncodeScratch {
    /// Reads part of a column and finds the cells of its numbers.
    fn find_cells(
        &mut self,
        isa: Isa,
        dense: &dyn Dense,
        column: usize,
        samples: &Range<usize>,
        edges: &[i32],
    ) {
        self.numbers.resize(samples.len(), 0.0);
        self.keys.resize(samples.len(), 0);
        self.cells.resize(samples.len(), 0);
        dense.copy_column(column, samples.start, &mut self.numbers);
        self.keys.iter_mut().zip(&self.numbers).for_each(|(k, &number)| *k = key(number));
        kernels::count_edges(isa, &self.keys, edges, &mut self.cells);
    }
}

impl Feature {
    /// Returns the start and the value of a single number.
    #[inline]
    fn encode(&self, number: f32, zero_is_absent: bool) -> (u32, f32) {
        match &self.map {
            CellMap::Intervals(edges) => {
                (self.span.start_or_absent(number, edges.cell(number), zero_is_absent), 1.0)
            }
            CellMap::Raw(standard) => (
                self.span.start_or_absent(number, 0, zero_is_absent),
                standard.value(number),
            ),
            CellMap::Categories(categories) => {
                let category = number.to_category();
                (self.span.category_start(categories, category, zero_is_absent), 1.0)
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

    fn category_start(
        &self,
        categories: &Categories,
        category: Category,
        zero_is_absent: bool,
    ) -> u32 {
        match category {
            Category::Id(0) if zero_is_absent => ABSENT,
            Category::Id(id) => categories.cell(id).map_or(ABSENT, |cell| self.start(cell)),
            Category::Missing => self.missing_start().unwrap_or(ABSENT),
            Category::Invalid => ABSENT,
        }
    }
}
