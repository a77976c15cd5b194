//! Float weights, of the methods in which not every weight is a bit.

use super::{Method, SignRows, SignShape};
use crate::Result;
use crate::memory::{collect, copied, with_capacity};
use alloc::vec::Vec;

/// The weights of all outputs.
#[derive(Clone, Debug, PartialEq)]
pub struct FloatWeights {
    method: Method,
    m: usize,
    /// Score of a sample without active features, one per output.
    bias: Vec<f32>,
    /// β, one per output, where factors are signs; else empty.
    beta: Vec<f32>,
    /// Row by row, one per output.
    w: Vec<f32>,
    factors: Factors,
}

/// Bound on float factors: multiplied by a value and summed over rows they stay far below the largest float32.
const MAX_FACTOR: f32 = (1_u64 << 60) as f32;

/// The factors, row by row and output by output.
#[derive(Clone, Debug, PartialEq)]
pub enum Factors {
    /// m floats each.
    Floats(Vec<f32>),
    /// m bits each, and none for w.
    Signs(SignRows),
}

/// What one output has learned.
#[derive(Clone, Debug)]
pub struct FloatOutput {
    /// Score of a sample without active features.
    pub bias: f64,
    /// β, where factors are signs.
    pub beta: f64,
    /// One per row.
    pub w: Vec<f32>,
    /// m per row; only the sign counts where factors are signs.
    pub v: Vec<f32>,
}

impl FloatWeights {
    /// Puts outputs of m factors together.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(method: Method, m: usize, outputs: &[FloatOutput]) -> Result<Self> {
        let rows = outputs.first().map_or(0, |output| output.w.len());
        let each_row = |row: usize| outputs.iter().map(move |output| (output, row));
        let mut w = with_capacity(rows * outputs.len())?;
        w.extend((0..rows).flat_map(each_row).filter_map(|(o, row)| o.w.get(row).copied()));
        let factors = if method.has_sign_factors() {
            let is_positive = |output: usize, row: usize, factor: usize| {
                let v = outputs.get(output).and_then(|output| output.v.get(row * m + factor));
                v.is_some_and(|v| v.is_sign_positive())
            };
            let shape = SignShape { rows, outputs: outputs.len(), w_bits: 0, factors: m };
            Factors::Signs(SignRows::new(shape, |_, _| 0, is_positive)?)
        } else {
            let mut floats = with_capacity(rows * outputs.len() * m)?;
            for (output, row) in (0..rows).flat_map(each_row) {
                floats.extend(output.v.iter().skip(row * m).take(m));
            }
            Factors::Floats(floats)
        };
        let bias = collect(outputs.iter().map(|output| output.bias as f32))?;
        let beta = match factors {
            Factors::Signs(_) => collect(outputs.iter().map(|output| output.beta as f32))?,
            Factors::Floats(_) => Vec::new(),
        };
        Ok(Self { method, m, bias, beta, w, factors })
    }

    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> Result<Self> {
        let factors = match &self.factors {
            Factors::Signs(signs) => Factors::Signs(signs.copied()?),
            Factors::Floats(floats) => Factors::Floats(copied(floats)?),
        };
        let (bias, beta, w) = (copied(&self.bias)?, copied(&self.beta)?, copied(&self.w)?);
        Ok(Self { bias, beta, w, factors, ..*self })
    }

    /// Takes the parts of a file.
    pub(crate) fn from_parts(
        method: Method,
        m: usize,
        (bias, beta): (Vec<f32>, Vec<f32>),
        w: Vec<f32>,
        factors: Factors,
    ) -> Self {
        Self { method, m, bias, beta, w, factors }
    }

    /// Returns the method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// Returns the number of factors m.
    pub fn factors(&self) -> usize {
        self.m
    }

    /// Returns the number of outputs.
    pub fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// Returns the score of a sample without active features, one per output.
    pub fn bias(&self) -> &[f32] {
        &self.bias
    }

    /// Returns β of each output where factors are signs, else nothing.
    pub fn betas(&self) -> &[f32] {
        &self.beta
    }

    /// Returns β of an output; 1 where factors are floats.
    pub fn beta(&self, output: usize) -> f64 {
        self.beta.get(output).map_or(1.0, |&beta| f64::from(beta))
    }

    /// Returns w row by row, one per output.
    pub fn w(&self) -> &[f32] {
        &self.w
    }

    /// Returns the factors as they are stored.
    pub fn stored_factors(&self) -> &Factors {
        &self.factors
    }

    /// Returns the factors as floats, ±1 where they are signs: m each, row by row and output by output.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn v(&self) -> Result<Vec<f32>> {
        let mut all = with_capacity(self.w.len().saturating_mul(self.m))?;
        for row in 0..self.w.len().checked_div(self.outputs()).unwrap_or(0) {
            (0..self.outputs()).for_each(|output| all.extend(self.v_of(output, row)));
        }
        Ok(all)
    }

    /// Returns w of an output and row.
    pub fn w_of(&self, output: usize, row: usize) -> f32 {
        self.w.get(row * self.outputs() + output).copied().unwrap_or(0.0)
    }

    /// Returns the factors of an output and row, ±1 where they are signs.
    pub fn v_of(&self, output: usize, row: usize) -> impl Iterator<Item = f32> {
        let first = (row * self.outputs() + output) * self.m;
        (0..self.m).map(move |column| match &self.factors {
            Factors::Floats(numbers) => numbers.get(first + column).copied().unwrap_or(0.0),
            Factors::Signs(signs) => f32::from(signs.sign(output, row, column)),
        })
    }

    /// Returns their bytes in a file, without bias and β.
    pub fn size(&self) -> usize {
        let factors = match &self.factors {
            Factors::Floats(numbers) => 4 * numbers.len(),
            Factors::Signs(signs) => signs.bytes().len(),
        };
        4 * self.w.len() + factors
    }

    /// Returns whether all are finite, and small enough for every score to be finite.
    pub fn are_finite(&self) -> bool {
        let finite = |numbers: &[f32]| numbers.iter().all(|number| number.is_finite());
        let factors = match &self.factors {
            Factors::Floats(numbers) => numbers.iter().all(|v| v.abs() <= MAX_FACTOR),
            Factors::Signs(_) => true,
        };
        factors && finite(&self.bias) && finite(&self.beta) && finite(&self.w)
    }
}
