//! Encoding: from a block of samples to the parameter rows that they activate.
//!
//! Each present feature activates `tilings` consecutive rows, so its start, the first of them, says it all. Raw features
//! also have a value, which multiplies their row; the value of all others is 1.

use super::edges::key;
use super::{Categories, CellMap, Encoder, Feature, Span, stored};
use crate::Result;
use crate::memory::{collect, copied, push, reserve, resize};
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
    fn push(&mut self, sample: impl Iterator<Item = (u32, f32)>) -> Result<()> {
        reserve(&mut self.starts, sample.size_hint().0)?;
        let present = sample.filter(|&(start, _)| start != ABSENT);
        if self.has_values {
            for (start, value) in present {
                push(&mut self.starts, start)?;
                push(&mut self.values, value)?;
            }
        } else {
            for (start, _) in present {
                push(&mut self.starts, start)?;
            }
        }
        push(&mut self.ends, self.starts.len() as u32)
    }
}

/// Buffers that are reused from block to block.
#[derive(Debug, Default)]
pub struct EncodeScratch {
    pub(super) columns: Vec<u32>,
    pub(super) numbers: Vec<f32>,
    pub(super) keys: Vec<i32>,
    cells: Vec<u32>,
    categories: Vec<Category>,
    pub(super) starts: Vec<u32>,
    values: Vec<f32>,
}

impl Encoder {
    /// Replaces `active` by the active rows of some samples of a table.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn encode(
        &self,
        isa: Isa,
        table: Table,
        samples: Range<usize>,
        scratch: &mut EncodeScratch,
        active: &mut ActiveRows,
    ) -> Result<()> {
        active.clear(self.is_raw());
        match table {
            Table::Dense(dense) if samples.len() < MIN_BLOCK => {
                samples.into_iter().try_for_each(|sample| self.encode_one(dense, sample, scratch, active))
            }
            Table::Dense(dense) => self.encode_block(isa, dense, samples, scratch, active),
            Table::Csr(csr) if self.zero_is_absent() => match self.stored_features() {
                Some(features) => stored::encode(isa, features, csr, samples, scratch, active),
                None => self.encode_stored(csr, samples, active),
            },
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
    ) -> Result<()> {
        resize(&mut scratch.numbers, self.columns(), 0.0)?;
        dense.copy_samples(sample, &mut scratch.numbers);
        active.push(self.features().iter().map(|feature| {
            let CellMap::Categories(categories) = &feature.map else {
                let number = scratch.numbers.get(feature.column).copied().unwrap_or(f32::NAN);
                return feature.encode(number, self.zero_is_absent());
            };
            let mut category = Category::Missing;
            dense.copy_categories(feature.column, sample, core::slice::from_mut(&mut category));
            let cell =
                feature.span.category_cell(categories, category, self.zero_is_absent());
            (feature.span.start_or_absent(cell), 1.0)
        }))
    }

    /// Encodes samples of a dense table, column by column.
    fn encode_block(
        &self,
        isa: Isa,
        dense: &dyn Dense,
        samples: Range<usize>,
        scratch: &mut EncodeScratch,
        active: &mut ActiveRows,
    ) -> Result<()> {
        let (width, count) = (self.features().len(), samples.len());
        self.block_starts(isa, dense, samples, scratch)?;
        if width == 0 {
            return (0..count).try_for_each(|_| active.push(core::iter::empty()));
        }
        let mut values = scratch.values.chunks_exact(width);
        for starts in scratch.starts.chunks_exact(width) {
            match values.next() {
                Some(values) => active.push(starts.iter().copied().zip(values.iter().copied()))?,
                None => active.push(starts.iter().map(|&start| (start, 1.0)))?,
            }
        }
        Ok(())
    }

    /// Finds the starts of a dense block, sample by sample, one per feature: [`ABSENT`] where it activates nothing.
    fn block_starts(
        &self,
        isa: Isa,
        dense: &dyn Dense,
        samples: Range<usize>,
        scratch: &mut EncodeScratch,
    ) -> Result<()> {
        let width = self.features().len();
        scratch.starts.clear();
        resize(&mut scratch.starts, samples.len() * width, ABSENT)?;
        scratch.values.clear();
        resize(&mut scratch.values, if self.is_raw() { samples.len() * width } else { 0 }, 1.0)?;
        for (j, feature) in self.features().iter().enumerate() {
            scratch.find_cells(isa, dense, &samples, feature, self.zero_is_absent())?;
            let starts = scratch.starts.iter_mut().skip(j).step_by(width);
            starts.zip(&scratch.cells).for_each(|(start, &cell)| {
                *start = feature.span.start_or_absent(cell);
            });
            if let CellMap::Raw(standard) = &feature.map {
                let values = scratch.values.iter_mut().skip(j).step_by(width);
                values.zip(&scratch.numbers).for_each(|(value, &number)| {
                    *value = standard.value(number);
                });
            }
        }
        Ok(())
    }

    /// Encodes a sparse table for a model of sparse ones, value by value.
    fn encode_stored(&self, csr: &Csr, samples: Range<usize>, active: &mut ActiveRows) -> Result<()> {
        for sample in samples {
            active.push(csr.sample(sample).map(|(column, value)| {
                let feature = self.feature_of(column);
                feature.map_or((ABSENT, 1.0), |feature| feature.encode(value, true))
            }))?;
        }
        Ok(())
    }

    /// Encodes a sparse table for a model of dense ones: a value that is not stored is a zero like any other.
    fn encode_with_zeros(
        &self,
        csr: &Csr,
        samples: Range<usize>,
        active: &mut ActiveRows,
    ) -> Result<()> {
        let zeros = collect(self.features().iter().map(|feature| feature.encode(0.0, false)))?;
        let mut encoded = copied(&zeros)?;
        for sample in samples {
            encoded.copy_from_slice(&zeros);
            for (column, value) in csr.sample(sample) {
                let Some(index) = self.feature_index(column) else { continue };
                if let Some((place, feature)) =
                    encoded.get_mut(index).zip(self.features().get(index))
                {
                    *place = feature.encode(value, false);
                }
            }
            active.push(encoded.iter().copied())?;
        }
        Ok(())
    }
}

impl EncodeScratch {
    /// Finds the cells of some samples of a feature: [`ABSENT`] where it activates nothing.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub(super) fn find_cells(
        &mut self,
        isa: Isa,
        dense: &dyn Dense,
        samples: &Range<usize>,
        feature: &Feature,
        zero_is_absent: bool,
    ) -> Result<&[u32]> {
        let Feature { column, span, map } = feature;
        resize(&mut self.cells, samples.len(), 0)?;
        if let CellMap::Categories(categories) = map {
            resize(&mut self.categories, samples.len(), Category::Missing)?;
            dense.copy_categories(*column, samples.start, &mut self.categories);
            for (cell, &category) in self.cells.iter_mut().zip(&self.categories) {
                *cell = span.category_cell(categories, category, zero_is_absent);
            }
            return Ok(&self.cells);
        }
        resize(&mut self.numbers, samples.len(), 0.0)?;
        dense.copy_column(*column, samples.start, &mut self.numbers);
        match map {
            CellMap::Intervals(edges) => self.count_edges(isa, edges.keys())?,
            _ => self.cells.fill(0),
        }
        // Counting takes many numbers at once, where a search would stop at each.
        if zero_is_absent || self.numbers.iter().filter(|number| number.is_nan()).count() > 0 {
            for (cell, &number) in self.cells.iter_mut().zip(&self.numbers) {
                *cell = span.cell_or_absent(number, *cell, zero_is_absent);
            }
        }
        Ok(&self.cells)
    }

    /// Replaces the cells by the intervals that the numbers fall into.
    fn count_edges(&mut self, isa: Isa, edges: &[i32]) -> Result<()> {
        resize(&mut self.keys, self.numbers.len(), 0)?;
        self.keys.iter_mut().zip(&self.numbers).for_each(|(k, &number)| *k = key(number));
        kernels::count_edges(isa, &self.keys, edges, &mut self.cells);
        Ok(())
    }
}

impl Feature {
    /// Returns the start and the value of a single number.
    #[inline]
    fn encode(&self, number: f32, zero_is_absent: bool) -> (u32, f32) {
        let Self { span, map, .. } = self;
        let (cell, value) = match map {
            CellMap::Intervals(edges) => {
                (span.cell_or_absent(number, edges.cell(number), zero_is_absent), 1.0)
            }
            CellMap::Raw(standard) => {
                (span.cell_or_absent(number, 0, zero_is_absent), standard.value(number))
            }
            CellMap::Categories(categories) => {
                (span.category_cell(categories, number.to_category(), zero_is_absent), 1.0)
            }
        };
        (span.start_or_absent(cell), value)
    }
}

impl Span {
    /// Returns the cell of a number, given the one that its interval has.
    #[inline(always)]
    fn cell_or_absent(&self, number: f32, cell: u32, zero_is_absent: bool) -> u32 {
        if number.is_nan() {
            self.missing_cell().unwrap_or(ABSENT)
        } else if zero_is_absent && number == 0.0 {
            ABSENT
        } else {
            cell
        }
    }

    #[inline(always)]
    fn category_cell(
        &self,
        categories: &Categories,
        category: Category,
        zero_is_absent: bool,
    ) -> u32 {
        match category {
            Category::Id(0) if zero_is_absent => ABSENT,
            Category::Id(id) => categories.cell(id).unwrap_or(ABSENT),
            Category::Missing => self.missing_cell().unwrap_or(ABSENT),
            Category::Invalid => ABSENT,
        }
    }

    /// Returns the start of a cell that may be absent.
    #[inline(always)]
    fn start_or_absent(&self, cell: u32) -> u32 {
        if cell == ABSENT { ABSENT } else { self.start(cell) }
    }
}
