//! Scores of models with float weights.
//!
//! score = bias + L + β²·Q, with L = Σ x·w and Q = ½ Σ_f ( s_f² − Σ (x·v_f)² ), s_f = Σ x·v_f over the active rows.

#[cfg(feature = "std")]
use super::each_block;
use super::{Scratch, check_rows, probabilities};
use crate::encoding::Table;
use crate::kernels::{self, Isa};
use crate::model::{Model, Weights};
#[cfg(feature = "std")]
use crate::threads::{Stop, Threads};
use crate::{Error, Result};
use alloc::vec::Vec;
use core::ops::Range;

/// A model with float weights made ready to score.
#[derive(Clone, Debug)]
pub struct RealScorer {
    model: Model,
    functions: usize,
    bias: Vec<f64>,
    beta_squared: Vec<f64>,
    /// Row by row, one a function.
    w: Vec<f32>,
    /// Row by row, m for each function.
    v: Vec<f32>,
    /// Σ v² of each row and function.
    squares: Vec<f64>,
}

/// The sums of one row and one score function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RealTerms {
    /// L
    pub linear: f64,
    /// Q
    pub pairs: f64,
}

impl RealScorer {
    /// Make a model ready.
    ///
    /// # Errors
    /// If its weights are bits, or there is not enough memory.
    pub fn new(model: Model) -> Result<Self> {
        let Weights::Reals(reals) = model.weights() else {
            return Err(Error::value("method", "'bfm'", "are 'sefm', 'dfm', 'fm'"));
        };
        let v = reals.v()?;
        let squares = |row: &[f32]| kernels::sum_squares(row);
        let beta = |function| reals.beta(function);
        Ok(Self {
            functions: reals.functions(),
            bias: reals.bias().iter().map(|&bias| bias.into()).collect(),
            beta_squared: (0..reals.functions()).map(|k| beta(k) * beta(k)).collect(),
            w: reals.w().to_vec(),
            squares: v.chunks_exact(model.weights().factors()).map(squares).collect(),
            v,
            model,
        })
    }

    /// The model.
    pub fn model(&self) -> &Model {
        &self.model
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
        write: impl Fn(&[RealTerms], &mut [T]) + Sync + Send,
    ) -> Result<()> {
        let isa = Isa::detect()?;
        each_block(&self.model, table, threads, stop, out, |rows, per_row, scratch, out| {
            let terms = self.block_terms(isa, table, rows.start, rows.len(), scratch);
            let rows = terms.chunks_exact(self.functions);
            rows.zip(out.chunks_exact_mut(per_row)).for_each(|(terms, out)| write(terms, out));
        })
    }

    /// The score of a row.
    pub fn score(&self, function: usize, terms: RealTerms) -> f64 {
        self.bias[function] + terms.linear + self.beta_squared[function] * terms.pairs
    }

    /// The class of a row: the greater of two by the sign of the score, or the first with the greatest score.
    pub fn class(&self, terms: &[RealTerms]) -> usize {
        if let [terms] = terms {
            return usize::from(self.score(0, *terms) > 0.0);
        }
        let scores = terms.iter().enumerate().map(|(function, &terms)| self.score(function, terms));
        let best =
            scores.enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map_or(0, |(class, _)| class)
    }

    /// The probability of each class, if scores are log-odds.
    pub fn probabilities(&self, terms: &[RealTerms], out: &mut [f64]) {
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
    ) -> Result<&'s [RealTerms]> {
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
    ) -> &'s [RealTerms] {
        let Scratch { block, active, sums, real_terms, .. } = scratch;
        let encoder = self.model.encoder();
        encoder.activate(isa, table, first, rows, block, active);
        real_terms.clear();
        if self.squares.is_empty() {
            // However many functions and factors: without parameter rows there is nothing to add.
            real_terms.resize(rows * self.functions, RealTerms::default());
            return real_terms;
        }
        let (m, tilings) = (self.model.weights().factors(), encoder.tilings() as usize);
        sums.resize(self.functions * m, 0.0);
        let mut from = 0;
        for &end in &active.ends {
            let span = from..end as usize;
            from = end as usize;
            let values = active.values.get(span.clone()).unwrap_or(&[]);
            let starts = &active.starts[span];
            kernels::sum_reals(isa, &self.v, self.functions * m, tilings, starts, values, sums);
            for (function, sums) in sums.chunks_exact(m).enumerate() {
                real_terms.push(self.row_terms(function, starts, values, tilings, sums));
            }
        }
        real_terms
    }

    fn row_terms(
        &self,
        function: usize,
        starts: &[u32],
        values: &[f32],
        tilings: usize,
        sums: &[f32],
    ) -> RealTerms {
        let (mut linear, mut own) = (0.0, 0.0);
        for (i, &start) in starts.iter().enumerate() {
            let x = values.get(i).map_or(1.0, |&value| f64::from(value));
            for row in (start as usize..).take(tilings) {
                let at = row * self.functions + function;
                linear += x * f64::from(self.w[at]);
                own += x * x * self.squares[at];
            }
        }
        RealTerms { linear, pairs: (kernels::sum_squares(sums) - own) / 2.0 }
    }
}
