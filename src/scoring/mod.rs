//! Scores of many samples or one: in blocks, over threads.
//!
//! Without the feature `std` there are no threads, and [`Scorer::terms`] scores one sample:
//!
//! ```
//! # fn main() -> binfm::Result<()> {
//! # let bytes = include_bytes!("../../tests/core/product.binfm");
//! use binfm::data::{Matrix, Table};
//! use binfm::scoring::{Scorer, Scratch};
//!
//! let scorer = Scorer::new(binfm::Model::from_bytes(bytes)?)?;
//! let mut scratch = Scratch::default(); // reused: after the first sample nothing is allocated
//! let samples = Matrix::new(&[0.7, -0.2], 2);
//! let terms = scorer.terms(Table::Dense(&samples), 0, &mut scratch)?;
//! assert_eq!(terms.class(), 0);
//! assert!(terms.score(0) < 0.0);
//! # Ok(())
//! # }
//! ```
#![allow(clippy::indexing_slicing)] // tables are built with an entry for each row and output of the model

#[cfg(feature = "std")]
mod evaluation;
mod float;
mod lookup;
mod sign;

#[cfg(feature = "std")]
pub use evaluation::Evaluation;
pub use float::{FloatScorer, FloatTerms};
pub use sign::SignScorer;

use crate::data::Table;
use crate::encoding::{ActiveRows, EncodeScratch};
use crate::kernels::{Count, Isa, Tally};
use crate::model::{Loss, Model, Terms, Weights};
#[cfg(feature = "std")]
use crate::threads::{Stop, Threads};
use crate::{Error, Result};
use alloc::vec::Vec;
#[cfg(feature = "std")]
use core::ops::Range;
#[cfg(feature = "std")]
use std::cell::RefCell;

/// A model prepared for scoring.
#[derive(Clone, Debug)]
pub enum Scorer {
    /// Every weight is a bit.
    Sign(SignScorer),
    /// Some or all weights are floats.
    Float(FloatScorer),
}

/// The terms of all outputs of one sample.
#[derive(Clone, Copy)]
pub enum SampleTerms<'a> {
    /// Integers.
    Sign(&'a SignScorer, &'a [Terms]),
    /// Floats.
    Float(&'a FloatScorer, &'a [FloatTerms]),
}

/// Buffers for scoring a block, one per thread.
#[derive(Debug, Default)]
pub struct Scratch {
    encode: EncodeScratch,
    active: ActiveRows,
    tallies: Vec<Tally>,
    terms: Vec<Terms>,
    values: Vec<f32>,
    counts: Vec<Count>,
    sums: Vec<f32>,
    float_terms: Vec<FloatTerms>,
}

/// Samples per block; their numbers stay in the fastest cache.
#[cfg(feature = "std")]
const BLOCK: usize = 128;

#[cfg(feature = "std")]
thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
}

impl Scorer {
    /// Prepares a model.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(model: Model) -> Result<Self> {
        match model.weights() {
            Weights::Signs { .. } => SignScorer::new(model).map(Self::Sign),
            Weights::Floats(_) => FloatScorer::new(model).map(Self::Float),
        }
    }

    /// Returns the model.
    pub fn model(&self) -> &Model {
        match self {
            Self::Sign(scorer) => scorer.model(),
            Self::Float(scorer) => scorer.model(),
        }
    }

    /// Returns the terms of one sample of a table.
    ///
    /// # Errors
    /// If the table has the wrong width or does not have the sample, or there is not enough memory.
    pub fn terms<'s>(
        &'s self,
        table: Table,
        sample: usize,
        scratch: &'s mut Scratch,
    ) -> Result<SampleTerms<'s>> {
        self.model().encoder().check_width("X", table.columns())?;
        if sample >= table.samples() {
            let must = format!("be below {}, the number of samples", table.samples());
            return Err(Error::value("sample", must, sample));
        }
        let (isa, samples) = (Isa::detect()?, sample..sample + 1);
        Ok(match self {
            Self::Sign(scorer) => {
                SampleTerms::Sign(scorer, scorer.terms(isa, table, samples, scratch)?)
            }
            Self::Float(scorer) => {
                SampleTerms::Float(scorer, scorer.terms(isa, table, samples, scratch)?)
            }
        })
    }

    /// Writes the scores of all samples, those of all outputs of a sample side by side.
    ///
    /// # Errors
    /// If the table has the wrong width, there is not enough memory, or it is stopped.
    #[cfg(feature = "std")]
    pub fn scores(
        &self,
        table: Table,
        threads: &Threads,
        stop: &Stop,
        out: &mut [f64],
    ) -> Result<()> {
        self.each_block(table, threads, stop, out, |isa, samples, scratch, out| {
            match self {
            Self::Sign(scorer) => {
                scorer.write_scores(scorer.terms(isa, table, samples, scratch)?, out);
            }
            Self::Float(scorer) => {
                scorer.write_scores(scorer.terms(isa, table, samples, scratch)?, out);
            }
        }
            Ok(())
        })
    }

    /// Calls `write` with the terms of each sample and its `out.len() / table.samples()` entries of `out`.
    ///
    /// # Errors
    /// If the table has the wrong width, there is not enough memory, or it is stopped.
    #[cfg(feature = "std")]
    pub fn each_sample<T: Send>(
        &self,
        table: Table,
        threads: &Threads,
        stop: &Stop,
        out: &mut [T],
        write: impl Fn(SampleTerms, &mut [T]) + Sync + Send,
    ) -> Result<()> {
        let outputs = self.model().weights().outputs();
        self.each_block(table, threads, stop, out, |isa, samples, scratch, out| {
            let out = out.chunks_exact_mut(out.len() / samples.len());
            match self {
                Self::Sign(scorer) => {
                    let terms = scorer.terms(isa, table, samples, scratch)?.chunks_exact(outputs);
                    terms.zip(out).for_each(|(t, out)| write(SampleTerms::Sign(scorer, t), out));
                }
                Self::Float(scorer) => {
                    let terms = scorer.terms(isa, table, samples, scratch)?.chunks_exact(outputs);
                    terms.zip(out).for_each(|(t, out)| write(SampleTerms::Float(scorer, t), out));
                }
            }
            Ok(())
        })
    }

    /// Calls `write` with each block of samples and its part of `out`.
    #[cfg(feature = "std")]
    fn each_block<T: Send>(
        &self,
        table: Table,
        threads: &Threads,
        stop: &Stop,
        out: &mut [T],
        write: impl Fn(Isa, Range<usize>, &mut Scratch, &mut [T]) -> Result<()> + Sync + Send,
    ) -> Result<()> {
        self.model().encoder().check_width("X", table.columns())?;
        if table.samples() == 0 {
            return Ok(());
        }
        let isa = Isa::detect()?;
        let per_sample = out.len() / table.samples();
        let blocks = out.chunks_mut(BLOCK * per_sample).enumerate();
        let write_block = |(): &mut (), (i, out): (usize, &mut [T])| {
            stop.check()?;
            let samples = i * BLOCK..i * BLOCK + out.len() / per_sample;
            SCRATCH.with_borrow_mut(|scratch| write(isa, samples, scratch, out))
        };
        threads.map(blocks, || (), write_block)?;
        Ok(())
    }
}

impl SampleTerms<'_> {
    /// Returns the score of an output.
    pub fn score(self, output: usize) -> f64 {
        match self {
            Self::Sign(scorer, terms) => scorer.score(output, terms[output]),
            Self::Float(scorer, terms) => scorer.score(output, terms[output]),
        }
    }

    /// Returns the class: of two the second if the score is positive, else the first with the largest score.
    pub fn class(self) -> usize {
        match self {
            Self::Sign(scorer, terms) => scorer.class(terms),
            Self::Float(scorer, terms) => scorer.class(terms),
        }
    }

    /// Writes the probability of each class; meaningful if scores are log-odds.
    pub fn write_probabilities(self, out: &mut [f64]) {
        let loss = match self {
            Self::Sign(scorer, _) => scorer.model().loss(),
            Self::Float(scorer, _) => scorer.model().loss(),
        };
        probabilities(loss, |output| self.score(output), out);
    }
}

/// Turns scores that are log-odds into the probability of each class.
fn probabilities(loss: Loss, score: impl Fn(usize) -> f64, out: &mut [f64]) {
    let sigmoid = |x: f64| 1.0 / (1.0 + libm::exp(-x));
    if let [negative, positive] = out {
        (*negative, *positive) = (sigmoid(-score(0)), sigmoid(score(0)));
        return;
    }
    out.iter_mut().enumerate().for_each(|(class, out)| *out = score(class));
    if loss == Loss::Softmax {
        let max = out.iter().fold(f64::NEG_INFINITY, |max, &score| max.max(score));
        for out in &mut *out {
            *out = libm::exp((*out - max).min(0.0)); // the difference of two infinities counts as zero
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
