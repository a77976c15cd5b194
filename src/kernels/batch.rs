//! A batch of samples, with all weights held.
//!
//! A batch touches some cells, each visited by some of its samples. The rows that a cell activates are summed once per
//! batch, so that a sample adds one vector per active feature however many tilings there are; and the gradients of a
//! cell's visitors are added up for the cell, not for each of its rows.

use super::weights::Kind;
use crate::Result;
use crate::aligned::Aligned;
use crate::memory::resize;
use alloc::vec::Vec;
use core::ops::Range;

/// A cell that a batch touches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touched {
    /// The first of the rows that the cell activates.
    pub start: u32,
    /// The end of its visits.
    pub end: u32,
}

/// A batch of encoded samples.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The touched cells, in ascending order of their starts.
    pub touched: &'a [Touched],
    /// Sample by sample: which touched cells the sample is in.
    pub by_sample: Visits<'a>,
    /// The end of each sample's visits.
    pub ends: &'a [u32],
    /// The number of active features of each sample: more than its visits where cells are silent.
    pub active: &'a [u32],
    /// Cell by cell: which samples are in the cell.
    pub by_cell: Visits<'a>,
}

/// Visits of samples to cells.
#[derive(Clone, Copy, Debug)]
pub struct Visits<'a> {
    /// The cell or the sample.
    pub of: &'a [u32],
    /// The multiplier x: the value itself where a feature has no cells. If empty, all are 1.
    pub values: &'a [f32],
}

/// The weights of the touched cells, each summed over the rows that the cell activates.
#[derive(Debug, Default)]
pub struct CellSums {
    /// Σ w
    pub w: Vec<f32>,
    /// Σ v, m per cell.
    pub v: Aligned<f32>,
    /// Σ v, m per cell, instead of `v` where it fits: so four times as many stay in the fastest cache.
    pub signs: Aligned<i8>,
    /// Σ ‖v‖², where v are numbers; ‖Σ v‖², where the rows of a cell count as one.
    pub own: Vec<f32>,
}

/// The gradients of a batch with respect to the scores, added up for each touched cell.
#[derive(Debug, Default)]
pub struct CellGradients {
    /// Σ ℓ'·x
    pub w: Vec<f32>,
    /// Σ ℓ'·x·s, m per cell.
    pub v: Aligned<f32>,
    /// Σ ℓ'·x²
    pub own: Vec<f32>,
    /// Room for the gradients of one row.
    pub(super) row: Aligned<f32>,
}

/// What the backward pass needs of each sample.
#[derive(Debug, Default)]
pub struct SampleSums {
    /// s = Σ x·v over the active rows, m per sample.
    pub s: Aligned<f32>,
    /// L = Σ x·w and Q = ½ ( ‖s‖² − Σ x²·‖v‖² ).
    pub terms: Vec<[f64; 2]>,
}

/// The most signs whose sum fits into an `i8`.
const MAX_SIGNS: usize = i8::MAX as usize;

impl Batch<'_> {
    /// Returns the number of samples.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no samples.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Returns whether the factors of a cell are summed as whole numbers: signs that are not multiplied by values.
    #[inline(always)]
    pub(super) fn sums_signs(&self, v_kind: Kind, tilings: usize) -> bool {
        v_kind == Kind::Sign && tilings <= MAX_SIGNS && self.by_sample.values.is_empty()
    }

    /// Returns the visits of each sample.
    #[inline(always)]
    pub(super) fn samples(&self) -> impl Iterator<Item = Visits<'_>> {
        let visits = self.by_sample;
        ranges(self.ends.iter().copied()).map(move |range| visits.range(range))
    }

    /// Returns the visits of each touched cell.
    #[inline(always)]
    pub(super) fn cells(&self) -> impl Iterator<Item = Visits<'_>> {
        let visits = self.by_cell;
        ranges(self.touched.iter().map(|cell| cell.end)).map(move |range| visits.range(range))
    }
}

impl Visits<'_> {
    #[inline(always)]
    fn range(self, range: Range<usize>) -> Self {
        let values = self.values.get(range.clone()).unwrap_or(&[]);
        Self { of: &self.of[range], values }
    }
}

/// Returns the ranges that end at some places, one after the other.
#[inline(always)]
fn ranges(ends: impl Iterator<Item = u32>) -> impl Iterator<Item = Range<usize>> {
    ends.scan(0, |begin, end| Some(core::mem::replace(begin, end as usize)..end as usize))
}

impl CellSums {
    /// Makes room for the cells of a batch.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn make_room(&mut self, cells: usize, factors: usize) -> Result<()> {
        if self.w.len() < cells {
            resize(&mut self.w, cells, 0.0)?;
            resize(&mut self.own, cells, 0.0)?;
            self.v.make_room(cells * factors)?;
            self.signs.make_room(cells * factors)?;
        }
        Ok(())
    }
}

impl CellGradients {
    /// Makes room for the cells of a batch.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn make_room(&mut self, cells: usize, factors: usize) -> Result<()> {
        if self.w.len() < cells {
            resize(&mut self.w, cells, 0.0)?;
            resize(&mut self.own, cells, 0.0)?;
            self.v.make_room(cells * factors)?;
            self.row = Aligned::filled(factors, 0.0)?;
        }
        Ok(())
    }
}

impl SampleSums {
    /// Makes room for the samples of a batch.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn make_room(&mut self, samples: usize, factors: usize) -> Result<()> {
        resize(&mut self.terms, samples, [0.0; 2])?;
        self.s.make_room(samples * factors)
    }
}
