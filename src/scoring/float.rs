//! Scores of models with float weights.
//!
//! score = bias + L + β²·Q, with L = Σ x·w and Q = ½ Σ_f ( s_f² − Σ (x·v_f)² ), s_f = Σ x·v_f over the active rows.

use super::Scratch;
use crate::data::Table;
use crate::kernels::{self, FloatRows, Isa, Sample};
use crate::memory::{collect, copied, reserve, resize};
use crate::model::{Model, Weights};
use crate::{Error, Result};
use alloc::vec::Vec;
use core::ops::Range;

/// A model with float weights prepared for scoring.
#[derive(Clone, Debug)]
pub struct FloatScorer {
    model: Model,
    outputs: usize,
    bias: Vec<f64>,
    beta_squared: Vec<f64>,
    /// Row by row, one per output.
    w: Vec<f32>,
    /// Row by row, m per output.
    v: Vec<f32>,
    /// Σ v² of each row and output.
    squares: Vec<f64>,
}

/// The two sums of one sample and one output.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FloatTerms {
    /// L
    pub linear: f64,
    /// Q
    pub pairs: f64,
}

impl FloatScorer {
    /// Prepares a model.
    ///
    /// # Errors
    /// If its weights are bits, or there is not enough memory.
    pub fn new(model: Model) -> Result<Self> {
        let Weights::Floats(floats) = model.weights() else {
            return Err(Error::value("method", "be 'sefm', 'dfm' or 'fm'", "'bfm'"));
        };
        let v = floats.v()?;
        let (m, squares) = (floats.factors(), |row: &[f32]| kernels::sum_squares(row));
        let beta = |output| floats.beta(output);
        Ok(Self {
            outputs: floats.outputs(),
            bias: collect(floats.bias().iter().map(|&bias| bias.into()))?,
            beta_squared: collect((0..floats.outputs()).map(|k| beta(k) * beta(k)))?,
            w: copied(floats.w())?,
            squares: collect((0..floats.w().len()).map(|row| squares(&v[row * m..][..m])))?,
            v,
            model,
        })
    }

    /// Returns the model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Returns the score of an output.
    pub(super) fn score(&self, output: usize, terms: FloatTerms) -> f64 {
        self.bias[output] + terms.linear + self.beta_squared[output] * terms.pairs
    }

    /// Writes the scores of some samples, given the terms of all their outputs.
    #[cfg(feature = "std")]
    pub(super) fn write_scores(&self, terms: &[FloatTerms], out: &mut [f64]) {
        for (terms, out) in
            terms.chunks_exact(self.outputs).zip(out.chunks_exact_mut(self.outputs))
        {
            for (output, (&terms, out)) in terms.iter().zip(out).enumerate() {
                *out = self.score(output, terms);
            }
        }
    }

    pub(super) fn class(&self, terms: &[FloatTerms]) -> usize {
        if let [terms] = terms {
            return usize::from(self.score(0, *terms) > 0.0);
        }
        let scores = terms.iter().enumerate().map(|(output, &terms)| self.score(output, terms));
        let best =
            scores.enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best });
        best.map_or(0, |(class, _)| class)
    }

    /// Returns the terms of some samples, those of all outputs of a sample side by side.
    pub(super) fn terms<'s>(
        &self,
        isa: Isa,
        table: Table,
        samples: Range<usize>,
        scratch: &'s mut Scratch,
    ) -> Result<&'s [FloatTerms]> {
        let Scratch { encode, active, sums, float_terms, .. } = scratch;
        let encoder = self.model.encoder();
        float_terms.clear();
        if self.squares.is_empty() {
            // However many outputs and factors: without parameter rows there is nothing to add.
            resize(float_terms, samples.len() * self.outputs, FloatTerms::default())?;
            return Ok(float_terms);
        }
        encoder.encode(isa, table, samples, encode, active)?;
        let (m, tilings) = (self.model.weights().factors(), encoder.tilings() as usize);
        let rows = FloatRows { numbers: &self.v, width: self.outputs * m, tilings };
        resize(sums, self.outputs * m, 0.0)?;
        reserve(float_terms, active.ends.len().saturating_mul(self.outputs))?;
        let mut from = 0;
        for &end in &active.ends {
            let range = from..end as usize;
            from = end as usize;
            let values = active.values.get(range.clone()).unwrap_or(&[]);
            let sample = Sample { starts: &active.starts[range], values };
            kernels::sum_floats(isa, rows, sample, sums);
            for output in 0..self.outputs {
                let sums = &sums[output * m..][..m];
                float_terms.push(self.sample_terms(output, sample, tilings, sums));
            }
        }
        Ok(float_terms)
    }

    fn sample_terms(
        &self,
        output: usize,
        sample: Sample,
        tilings: usize,
        sums: &[f32],
    ) -> FloatTerms {
        let (mut linear, mut own) = (0.0, 0.0);
        for (i, &start) in sample.starts.iter().enumerate() {
            let x = sample.values.get(i).map_or(1.0, |&value| f64::from(value));
            for row in (start as usize..).take(tilings) {
                let at = row * self.outputs + output;
                linear += x * f64::from(self.w[at]);
                own += x * x * self.squares[at];
            }
        }
        FloatTerms { linear, pairs: (kernels::sum_squares(sums) - own) / 2.0 }
    }
}
