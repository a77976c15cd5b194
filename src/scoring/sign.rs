//! Scores of models whose weights are bits: integer sums by popcount or by table lookup.

use super::lookup::cell_table;
use super::Scratch;
use crate::data::Table;
use crate::kernels::{self, CellTable, Count, Isa, SignTable, Slot, Tally};
use crate::memory::{filled, push, resize};
use crate::model::{Model, Scales, SignRows, Terms, Weights};
use crate::{Error, Result};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;

/// A model of bits prepared for scoring.
#[derive(Clone, Debug)]
pub struct SignScorer {
    model: Model,
    scales: Scales,
    m: i64,
    /// The largest w.
    max_w: i64,
    factors: SignTable,
    /// Σ u over the rows that a start activates, one per start and output, where w = 2u − `max_w`.
    linear: Vec<u16>,
    /// Tables for scoring many samples of a dense table at once, if the model allows.
    cells: Option<CellTable>,
    /// Whether every score fits 64 bits.
    fits_64_bits: bool,
    /// 2^−e
    unit: f64,
}

/// With fewer samples than this, looking them up together does not pay.
const MIN_LOOKUP: usize = 8;
/// Sparse samples are looked up as dense ones if they store at least one value in this many.
const MAX_SPARSITY: usize = 6;
/// The most values that sparse samples may have as dense ones, in a block: they should stay in a cache.
const MAX_COPIED: usize = 1 << 18;

impl SignScorer {
    /// Prepares a model.
    ///
    /// # Errors
    /// If its weights are floats, or there is not enough memory.
    pub fn new(model: Model) -> Result<Self> {
        let Weights::Signs { signs, scales } = model.weights() else {
            let got = format!("'{}'", model.weights().method().name());
            return Err(Error::value("method", "be 'bfm'", got));
        };
        let tilings = model.encoder().tilings() as usize;
        let (max_linear, max_pairs) = signs.term_bounds(model.encoder().max_active());
        Ok(Self {
            factors: sign_table(signs, tilings)?,
            linear: linear_sums(signs, tilings)?,
            cells: cell_table(model.encoder(), signs)?,
            fits_64_bits: scales.fit_64_bits(max_linear, max_pairs),
            unit: scales.unit(),
            m: signs.factors() as i64,
            max_w: signs.shape().max_w().into(),
            scales: scales.copied()?,
            model,
        })
    }

    /// Returns the model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the tables for scoring many samples of a dense table at once, if the model allows.
    pub fn cell_table(&self) -> Option<&CellTable> {
        self.cells.as_ref()
    }

    /// Returns the score of an output.
    #[inline]
    pub(super) fn score(&self, output: usize, terms: Terms) -> f64 {
        if self.fits_64_bits {
            return self.scales.short_score(output, terms) as f64 * self.unit;
        }
        self.scales.score(output, terms) as f64 * self.unit
    }

    /// Writes the scores of some samples, given the terms of all their outputs.
    #[cfg(feature = "std")]
    pub(super) fn write_scores(&self, terms: &[Terms], out: &mut [f64]) {
        let outputs = self.factors.outputs;
        for (terms, out) in terms.chunks_exact(outputs).zip(out.chunks_exact_mut(outputs)) {
            for (output, (&terms, out)) in terms.iter().zip(out).enumerate() {
                *out = self.score(output, terms);
            }
        }
    }

    pub(super) fn class(&self, terms: &[Terms]) -> usize {
        let scores =
            terms.iter().enumerate().map(|(output, &terms)| self.scales.score(output, terms));
        match *terms {
            [_] => usize::from(scores.sum::<i128>() > 0),
            _ => scores
                .enumerate()
                .max_by_key(|&(class, score)| (score, Reverse(class)))
                .map_or(0, |(class, _)| class),
        }
    }

    /// Returns the terms of some samples, those of all outputs of a sample side by side.
    pub(super) fn terms<'s>(
        &self,
        isa: Isa,
        table: Table,
        samples: Range<usize>,
        scratch: &'s mut Scratch,
    ) -> Result<&'s [Terms]> {
        resize(&mut scratch.terms, samples.len() * self.factors.outputs, Terms::default())?;
        match &self.cells {
            Some(cells) if isa.has_lookup() && self.lookup_pays(cells, table, &samples) => {
                self.look_up(isa, cells, table, samples, scratch)?;
            }
            _ => self.tally(isa, table, samples, scratch)?,
        }
        Ok(&scratch.terms)
    }

    fn lookup_pays(&self, cells: &CellTable, table: Table, samples: &Range<usize>) -> bool {
        let values = samples.len().saturating_mul(cells.columns);
        let is_dense = match table {
            Table::Dense(_) => true,
            Table::Csr(csr) if self.zero_is_absent() => csr.count(samples) >= values / MAX_SPARSITY,
            Table::Csr(_) => values <= MAX_COPIED,
        };
        is_dense && samples.len() >= MIN_LOOKUP
    }

    fn zero_is_absent(&self) -> bool {
        self.model.encoder().zero_is_absent()
    }

    /// Scores many samples at once, from values to counts.
    fn look_up(
        &self,
        isa: Isa,
        cells: &CellTable,
        table: Table,
        samples: Range<usize>,
        scratch: &mut Scratch,
    ) -> Result<()> {
        let Scratch { values, counts, terms, .. } = scratch;
        let values = self.values_to_look_up(cells.columns, table, samples, values)?;
        resize(counts, terms.len(), Count::default())?;
        kernels::count_samples(isa, cells, values, counts)?;
        let tilings = self.factors.tilings as i64;
        for (terms, count) in terms.iter_mut().zip(counts) {
            let nnz = i64::from(count.active) * tilings;
            let tally = Tally { sum: count.sum.into(), squares: count.squares.into() };
            *terms = self.terms_of(count.linear.into(), tally, nnz);
        }
        Ok(())
    }

    /// Returns the values of some samples, side by side. Where a zero is absent it becomes NaN, which then is absent too.
    fn values_to_look_up<'v>(
        &self,
        columns: usize,
        table: Table<'v>,
        samples: Range<usize>,
        copied: &'v mut Vec<f32>,
    ) -> Result<&'v [f32]> {
        let zero = if self.zero_is_absent() { f32::NAN } else { 0.0 };
        if let (Table::Dense(dense), false) = (table, self.zero_is_absent())
            && let Some(all) = dense.row_major()
        {
            return Ok(&all[samples.start * columns..samples.end * columns]);
        }
        resize(copied, samples.len() * columns, 0.0)?;
        match table {
            Table::Dense(dense) => {
                dense.copy_samples(samples.start, copied);
                if self.zero_is_absent() {
                    for value in copied.iter_mut() {
                        *value = if *value == 0.0 { zero } else { *value };
                    }
                }
            }
            Table::Csr(csr) => csr.copy_samples(samples.start, zero, copied),
        }
        Ok(copied)
    }

    /// Scores any table by the rows that its samples activate.
    fn tally(&self, isa: Isa, table: Table, samples: Range<usize>, scratch: &mut Scratch) -> Result<()> {
        let Scratch { encode, active, tallies, terms, .. } = scratch;
        let outputs = self.factors.outputs;
        resize(tallies, samples.len() * outputs, Tally::default())?;
        self.model.encoder().encode(isa, table, samples, encode, active)?;
        let encoded = kernels::Samples { starts: &active.starts, ends: &active.ends };
        kernels::tally_samples(isa, &self.factors, encoded, tallies);
        let mut from = 0;
        let tallies = tallies.chunks_exact(outputs).zip(terms.chunks_exact_mut(outputs));
        for (&end, (tallies, terms)) in active.ends.iter().zip(tallies) {
            let starts = &active.starts[from..end as usize];
            from = end as usize;
            let nnz = (starts.len() * self.factors.tilings) as i64;
            for (output, (&tally, terms)) in tallies.iter().zip(terms).enumerate() {
                let u = |&start: &u32| i64::from(self.linear[start as usize * outputs + output]);
                *terms = self.terms_of(starts.iter().map(u).sum(), tally, nnz);
            }
        }
        Ok(())
    }

    /// Returns L and Q, given Σ u, Σ c and Σ c² of a sample with nnz active rows.
    ///
    /// L = 2·Σu − nnz·(largest w). Q = ½ (Σ s² − nnz·m) with s = 2c − nnz, so Σ s² = 4Σc² − 4·nnz·Σc + m·nnz².
    #[inline]
    fn terms_of(&self, linear: i64, tally: Tally, nnz: i64) -> Terms {
        let m = self.m;
        let squares = 4 * tally.squares as i64 - 4 * nnz * tally.sum as i64 + m * nnz * nnz;
        Terms { linear: 2 * linear - nnz * self.max_w, pairs: (squares - nnz * m) / 2 }
    }
}

/// Packs the factors of all outputs into words: as many whole outputs per word as fit, or several words per output.
fn sign_table(signs: &SignRows, tilings: usize) -> Result<SignTable> {
    let (m, outputs) = (signs.factors(), signs.outputs());
    if signs.rows() == 0 || m == 0 {
        // However many outputs: without rows or factors there is nothing to count.
        let (words, slots) = (Vec::new(), Vec::new());
        return Ok(SignTable { words, width: 0, tilings, slots, outputs });
    }
    let (per_word, words_each) = if m <= 64 { (64 / m, 1) } else { (1, m.div_ceil(64)) };
    let width = outputs.div_ceil(per_word) * words_each;
    let mut slots = Vec::new();
    for output in 0..outputs {
        for word in 0..words_each {
            let bits = (m - 64 * word).min(64);
            let shift = output % per_word * m * usize::from(words_each == 1);
            let mask = (u64::MAX >> (64 - bits)) << shift;
            push(&mut slots, Slot { word: output / per_word * words_each + word, output, mask })?;
        }
    }
    let mut words = filled(signs.rows().saturating_mul(width), 0_u64)?;
    for row in 0..signs.rows() {
        for slot in &slots {
            let first = if words_each == 1 { 0 } else { slot.word % words_each * 64 };
            for bit in 0..slot.mask.count_ones() as usize {
                let set = u64::from(signs.is_positive(slot.output, row, first + bit));
                words[row * width + slot.word] |=
                    set << (slot.mask.trailing_zeros() as usize + bit);
            }
        }
    }
    Ok(SignTable { words, width, tilings, slots, outputs })
}

/// Sums u over the rows from each start on: as the start advances, one row leaves the sum and another enters. A start has
/// at most 255 rows, each at most 255: 16 bits.
fn linear_sums(signs: &SignRows, tilings: usize) -> Result<Vec<u16>> {
    let (rows, outputs) = (signs.rows(), signs.outputs());
    let u = |output: usize, row: usize| u16::from(signs.stored_w(output, row));
    let mut sums = filled(rows.saturating_mul(outputs), 0)?;
    for output in 0..outputs {
        let mut sum: u16 = (0..tilings.min(rows)).map(|row| u(output, row)).sum();
        for start in 0..(rows + 1).saturating_sub(tilings) {
            sums[start * outputs + output] = sum;
            if start + tilings < rows {
                sum = sum - u(output, start) + u(output, start + tilings);
            }
        }
    }
    Ok(sums)
}
