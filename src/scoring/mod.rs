//! Scores of many rows or one: blocks of rows, over threads.
//!
//! Without the feature `std` there are no threads: [`Scorer::terms`] scores the rows that the caller names.
//!
//! ```
//! # fn main() -> binfm::Result<()> {
//! # let bytes = include_bytes!("../../tests/core/product.binfm");
//! use binfm::encoding::{Matrix, Table};
//! use binfm::scoring::{Scorer, Scratch};
//!
//! let scorer = Scorer::new(binfm::Model::from_bytes(bytes)?)?;
//! let mut room = Scratch::default(); // kept from row to row: after the first, nothing is allocated
//! let row = Matrix::new(&[0.7, -0.2], 2);
//! let terms = scorer.terms(Table::Dense(&row), 0..1, &mut room)?;
//! assert_eq!(scorer.class(terms), 0);
//! assert!(scorer.score(0, terms[0]) < 0.0);
//! # Ok(())
//! # }
//! ```
#![allow(clippy::indexing_slicing)] // tables have a place for each row and function of the model they are made of

mod lookup;
mod reals;

pub use reals::{RealScorer, RealTerms};

use crate::encoding::{Active, Block, Dense, Table};
use crate::error::filled;
use crate::kernels::{self, CellTable, Count, Isa, SignTable, Slot, Tally};
use crate::model::{Loss, Model, Scales, SignRows, Terms, Weights};
#[cfg(feature = "std")]
use crate::threads::{Stop, Threads};
use crate::{Error, Result};
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::ops::Range;
#[cfg(feature = "std")]
use std::cell::RefCell;

/// A model of bits made ready to score; [`RealScorer`] is for those with float weights.
#[derive(Clone, Debug)]
pub struct Scorer {
    model: Model,
    scales: Scales,
    m: i64,
    factors: SignTable,
    /// Σ w over the rows that a start activates, `functions` a start.
    linear: Vec<i16>,
    /// For dense tables, where the model allows it.
    cells: Option<CellTable>,
    /// No score needs more than 64 bits.
    short: bool,
    /// 2^−e
    unit: f64,
}

/// Rows that are encoded and scored in one go; their numbers stay in the fastest cache.
#[cfg(feature = "std")]
const BLOCK: usize = 128;

/// Fewer rows than this are not worth looking up together.
const FEW: usize = 8;

/// Room for the work on one block, one for each thread.
#[derive(Debug, Default)]
pub struct Scratch {
    block: Block,
    active: Active,
    tallies: Vec<Tally>,
    terms: Vec<Terms>,
    values: Vec<f32>,
    counts: Vec<Count>,
    sums: Vec<f32>,
    real_terms: Vec<RealTerms>,
}

#[cfg(feature = "std")]
thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Scorer {
    /// Make a model ready.
    ///
    /// # Errors
    /// If its weights are floats, or there is not enough memory.
    pub fn new(model: Model) -> Result<Self> {
        let method = model.weights().method().name();
        let Weights::Bits { signs, scales } = model.weights() else {
            return Err(Error::value("method", format!("'{method}'"), "is 'bfm'"));
        };
        let tilings = model.encoder().tilings() as usize;
        let active = model.encoder().most_active();
        let most_pairs = signs.factors() as u64 * active * active;
        Ok(Self {
            factors: sign_table(signs, tilings)?,
            linear: linear_sums(signs, tilings)?,
            cells: lookup::cell_table(model.encoder(), signs),
            short: scales.fit_64_bits(active, most_pairs),
            unit: scales.unit(),
            m: signs.factors() as i64,
            scales: scales.clone(),
            model,
        })
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// What dense tables are looked up in, where the model allows it.
    pub fn cell_table(&self) -> Option<&CellTable> {
        self.cells.as_ref()
    }

    /// Write `out.len() / table.rows()` values a row, made by `write` from the terms of all score functions.
    ///
    /// # Errors
    /// If the table has the wrong width, or it is stopped.
    #[cfg(feature = "std")]
    pub fn each_row<T: Send>(
        &self,
        table: Table,
        threads: &Threads,
        stop: &Stop,
        out: &mut [T],
        write: impl Fn(&[Terms], &mut [T]) + Sync + Send,
    ) -> Result<()> {
        let isa = Isa::detect()?;
        each_block(&self.model, table, threads, stop, out, |rows, per_row, scratch, out| {
            let terms = self.block_terms(isa, table, rows.start, rows.len(), scratch);
            let rows = terms.chunks_exact(self.factors.functions);
            rows.zip(out.chunks_exact_mut(per_row)).for_each(|(terms, out)| write(terms, out));
        })
    }

    /// The score of a row.
    #[inline]
    pub fn score(&self, function: usize, terms: Terms) -> f64 {
        if self.short {
            return self.scales.short_score(function, terms) as f64 * self.unit;
        }
        self.scales.score(function, terms) as f64 * self.unit
    }

    /// The class of a row: the greater of two by the sign of the score, or the one with the greatest score.
    pub fn class(&self, terms: &[Terms]) -> usize {
        let scores =
            terms.iter().enumerate().map(|(function, &terms)| self.scales.score(function, terms));
        match *terms {
            [_] => usize::from(scores.sum::<i128>() > 0),
            _ => scores
                .enumerate()
                .max_by_key(|&(class, score)| (score, Reverse(class)))
                .map_or(0, |(class, _)| class),
        }
    }

    /// The probability of each class, if scores are log-odds.
    pub fn probabilities(&self, terms: &[Terms], out: &mut [f64]) {
        probabilities(self.model.loss(), |function| self.score(function, terms[function]), out);
    }

    /// L and Q of some rows, those of all score functions a row.
    ///
    /// # Errors
    /// If the table has the wrong width or fewer rows.
    pub fn terms<'s>(
        &self,
        table: Table,
        rows: Range<usize>,
        scratch: &'s mut Scratch,
    ) -> Result<&'s [Terms]> {
        check_rows(&self.model, table, &rows)?;
        Ok(self.block_terms(Isa::detect()?, table, rows.start, rows.len(), scratch))
    }

    fn block_terms<'s>(
        &self,
        isa: Isa,
        table: Table,
        first: usize,
        rows: usize,
        scratch: &'s mut Scratch,
    ) -> &'s [Terms] {
        scratch.terms.resize(rows * self.factors.functions, Terms::default());
        match (&self.cells, table) {
            (Some(cells), Table::Dense(dense)) if rows >= FEW && isa.looks_up() => {
                self.look_up(isa, cells, dense, first, rows, scratch);
            }
            _ => self.activate(isa, table, first, rows, scratch),
        }
        &scratch.terms
    }

    /// Many rows at a time.
    fn look_up(
        &self,
        isa: Isa,
        cells: &CellTable,
        dense: &dyn Dense,
        first: usize,
        rows: usize,
        scratch: &mut Scratch,
    ) {
        let Scratch { values, counts, terms, .. } = scratch;
        let columns = cells.columns;
        let values = if let Some(all) = dense.row_major() {
            &all[first * columns..(first + rows) * columns]
        } else {
            values.resize(rows * columns, 0.0);
            dense.rows_of_numbers(first, values);
            values
        };
        counts.resize(terms.len(), Count::default());
        kernels::count_rows(isa, cells, values, counts);
        let tilings = self.factors.tilings as i64;
        for (terms, count) in terms.iter_mut().zip(counts) {
            let nnz = i64::from(count.active) * tilings;
            let tally = Tally { sum: count.sum.into(), squares: count.squares.into() };
            let linear = 2 * i64::from(count.linear) - nnz;
            *terms = Terms { linear, pairs: self.pairs(tally, nnz) };
        }
    }

    /// By the active rows, whatever the table.
    fn activate(&self, isa: Isa, table: Table, first: usize, rows: usize, scratch: &mut Scratch) {
        let Scratch { block, active, tallies, terms, .. } = scratch;
        let functions = self.factors.functions;
        self.model.encoder().activate(isa, table, first, rows, block, active);
        tallies.resize(rows * functions, Tally::default());
        kernels::tally_rows(isa, &self.factors, &active.starts, &active.ends, tallies);
        let mut from = 0;
        let tallies = tallies.chunks_exact(functions).zip(terms.chunks_exact_mut(functions));
        for (&end, (tallies, terms)) in active.ends.iter().zip(tallies) {
            let starts = &active.starts[from..end as usize];
            from = end as usize;
            let nnz = (starts.len() * self.factors.tilings) as i64;
            for (function, (&tally, terms)) in tallies.iter().zip(terms).enumerate() {
                let w =
                    |&start: &u32| i64::from(self.linear[start as usize * functions + function]);
                let linear = starts.iter().map(w).sum();
                *terms = Terms { linear, pairs: self.pairs(tally, nnz) };
            }
        }
    }

    /// Q = ½ (Σ s² − nnz·m) with s = 2c − nnz, so Σ s² = 4Σc² − 4·nnz·Σc + m·nnz².
    fn pairs(&self, tally: Tally, nnz: i64) -> i64 {
        let m = self.m;
        (4 * tally.squares as i64 - 4 * nnz * tally.sum as i64 + m * nnz * nnz - nnz * m) / 2
    }
}

/// Score a table block by block: `work` is given the rows of a block, the values of a row, and where those go.
#[cfg(feature = "std")]
fn each_block<T: Send>(
    model: &Model,
    table: Table,
    threads: &Threads,
    stop: &Stop,
    out: &mut [T],
    work: impl Fn(Range<usize>, usize, &mut Scratch, &mut [T]) + Sync + Send,
) -> Result<()> {
    model.encoder().check_width("X", table.columns())?;
    if table.rows() == 0 {
        return Ok(());
    }
    let per_row = out.len() / table.rows();
    let blocks = out.chunks_mut(BLOCK * per_row).enumerate();
    let block = |(): &mut (), (i, out): (usize, &mut [T])| {
        stop.check()?;
        let rows = i * BLOCK..i * BLOCK + out.len() / per_row;
        SCRATCH.with_borrow_mut(|scratch| work(rows, per_row, scratch, out));
        Ok(())
    };
    threads.map(blocks, || (), block)?;
    Ok(())
}

/// Check that a table is of the model's width and has these rows.
fn check_rows(model: &Model, table: Table, rows: &Range<usize>) -> Result<()> {
    model.encoder().check_width("X", table.columns())?;
    if rows.end > table.rows() {
        let accepted = format!("are up to {}", table.rows());
        return Err(Error::value("rows", format!("{rows:?}"), accepted));
    }
    Ok(())
}

/// The probability of each class from the score of each function, if scores are log-odds.
fn probabilities(loss: Loss, score: impl Fn(usize) -> f64, out: &mut [f64]) {
    let sigmoid = |x: f64| 1.0 / (1.0 + libm::exp(-x));
    if let [negative, positive] = out {
        (*negative, *positive) = (sigmoid(-score(0)), sigmoid(score(0)));
        return;
    }
    out.iter_mut().enumerate().for_each(|(class, out)| *out = score(class));
    if loss == Loss::Softmax {
        let most = out.iter().fold(f64::NEG_INFINITY, |most, &score| most.max(score));
        for out in &mut *out {
            *out = libm::exp((*out - most).min(0.0)); // the difference of two infinite ones counts as none
        }
    } else {
        for out in &mut *out {
            *out = sigmoid(*out);
        }
    }
    let sum: f64 = out.iter().sum();
    let even = 1.0 / out.len() as f64;
    for out in out {
        *out = if sum > 0.0 { *out / sum } else { even };
    }
}

/// The factors of all functions as bits: as many functions to a word as fit whole, or several words to a function.
fn sign_table(signs: &SignRows, tilings: usize) -> Result<SignTable> {
    let (m, functions) = (signs.factors(), signs.functions());
    let (per_word, words_each) = if m <= 64 { (64 / m, 1) } else { (1, m.div_ceil(64)) };
    let width = functions.div_ceil(per_word) * words_each;
    if signs.rows() == 0 {
        // However many functions and factors: without rows there is nothing to count.
        let (words, slots) = (Vec::new(), Vec::new());
        return Ok(SignTable { words, width: 0, tilings, slots, functions });
    }
    let mut slots = Vec::new();
    for function in 0..functions {
        for word in 0..words_each {
            let bits = (m - 64 * word).min(64);
            let shift = function % per_word * m * usize::from(words_each == 1);
            let mask = (u64::MAX >> (64 - bits)) << shift;
            slots.push(Slot { word: function / per_word * words_each + word, function, mask });
        }
    }
    let mut words = filled(signs.rows().saturating_mul(width), 0_u64)?;
    for row in 0..signs.rows() {
        for slot in &slots {
            let first = if words_each == 1 { 0 } else { slot.word % words_each * 64 };
            for bit in 0..slot.mask.count_ones() as usize {
                let set = u64::from(signs.positive(slot.function, row, 1 + first + bit));
                words[row * width + slot.word] |=
                    set << (slot.mask.trailing_zeros() as usize + bit);
            }
        }
    }
    Ok(SignTable { words, width, tilings, slots, functions })
}

/// Σ w over the rows from each start on: as a start moves on, one row leaves the sum and another enters.
fn linear_sums(signs: &SignRows, tilings: usize) -> Result<Vec<i16>> {
    let (rows, functions) = (signs.rows(), signs.functions());
    let w = |function: usize, row: usize| i16::from(signs.sign(function, row, 0));
    let mut sums = filled(rows.saturating_mul(functions), 0)?;
    for function in 0..functions {
        let mut sum = (0..tilings.min(rows)).map(|row| w(function, row)).sum();
        for start in 0..(rows + 1).saturating_sub(tilings) {
            sums[start * functions + function] = sum;
            if start + tilings < rows {
                sum += w(function, start + tilings) - w(function, start);
            }
        }
    }
    Ok(sums)
}
