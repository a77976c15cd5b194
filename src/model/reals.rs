//! Float weights, of the methods in which not all is bits.

use super::bits::bytes_for;
use super::bytes::{Reader, wrong};
use super::{Method, SignRows};
use crate::Result;
use crate::error::room;
use alloc::vec::Vec;

/// The weights of all score functions.
#[derive(Clone, Debug, PartialEq)]
pub struct Reals {
    pub(super) method: Method,
    /// Score of a row without active features, one a function.
    pub(super) bias: Vec<f32>,
    /// β, one a function, where factors are signs; else empty.
    pub(super) beta: Vec<f32>,
    /// Those of a row lie side by side, one a function.
    pub(super) w: Vec<f32>,
    pub(super) factors: Factors,
    /// m
    pub(super) m: usize,
}

/// Factors are not larger: times a value and summed over rows they stay far below the greatest float32.
const MOST_FACTOR: f32 = (1_u64 << 60) as f32;

/// The factors, row by row, function by function.
#[derive(Clone, Debug, PartialEq)]
pub enum Factors {
    /// m floats each.
    Floats(Vec<f32>),
    /// m bits each, and none for w.
    Signs(SignRows),
}

/// What one score function has learned.
#[derive(Clone, Debug)]
pub struct RealFunction {
    /// Score of a row without active features.
    pub bias: f64,
    /// β, where factors are signs.
    pub beta: f64,
    /// One a row.
    pub w: Vec<f32>,
    /// m a row; only their signs count where factors are signs.
    pub v: Vec<f32>,
}

impl Reals {
    /// Put score functions of m factors together.
    #[allow(clippy::indexing_slicing)] // all have as many rows, of m factors
    pub fn new(method: Method, m: usize, functions: &[RealFunction]) -> Self {
        let rows = functions.first().map_or(0, |function| function.w.len());
        let each_row = |row: usize| functions.iter().map(move |function| (function, row));
        let w = (0..rows).flat_map(each_row).map(|(function, row)| function.w[row]).collect();
        let factors = if method.has_signs() {
            let sign = |function: usize, row: usize, column: usize| {
                functions[function].v[row * m + column].is_sign_positive()
            };
            Factors::Signs(SignRows::new(rows, functions.len(), m - 1, sign))
        } else {
            let mut floats = Vec::with_capacity(rows * functions.len() * m);
            for (function, row) in (0..rows).flat_map(each_row) {
                floats.extend_from_slice(&function.v[row * m..][..m]);
            }
            Factors::Floats(floats)
        };
        let beta = |function: &RealFunction| function.beta as f32;
        let signs = method.has_signs();
        Self {
            method,
            bias: functions.iter().map(|function| function.bias as f32).collect(),
            beta: if signs { functions.iter().map(beta).collect() } else { Vec::new() },
            w,
            factors,
            m,
        }
    }

    /// Number of score functions.
    pub fn functions(&self) -> usize {
        self.bias.len()
    }

    /// Whether factors are ±1, with a scale.
    pub fn has_signs(&self) -> bool {
        self.method.has_signs()
    }

    /// Score of a row without active features, one a function.
    pub fn bias(&self) -> &[f32] {
        &self.bias
    }

    /// β of a function; 1 where factors are floats.
    pub fn beta(&self, function: usize) -> f64 {
        self.beta.get(function).map_or(1.0, |&beta| f64::from(beta))
    }

    /// Row by row, one a function.
    pub fn w(&self) -> &[f32] {
        &self.w
    }

    /// The factors as floats, ±1 where they are signs: m each, row by row, function by function.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn v(&self) -> Result<Vec<f32>> {
        let mut all = room(self.w.len().saturating_mul(self.m))?;
        for row in 0..self.w.len().checked_div(self.functions()).unwrap_or(0) {
            (0..self.functions()).for_each(|function| all.extend(self.v_of(function, row)));
        }
        Ok(all)
    }

    /// w of a function and row.
    pub fn w_of(&self, function: usize, row: usize) -> f32 {
        self.w.get(row * self.functions() + function).copied().unwrap_or(0.0)
    }

    /// The factors of a function and row, ±1 where they are signs.
    pub fn v_of(&self, function: usize, row: usize) -> impl Iterator<Item = f32> {
        let first = (row * self.functions() + function) * self.m;
        (0..self.m).map(move |column| match &self.factors {
            Factors::Floats(numbers) => numbers.get(first + column).copied().unwrap_or(0.0),
            Factors::Signs(signs) => f32::from(signs.sign(function, row, column)),
        })
    }

    /// Bytes that they take in a file, without bias and β.
    pub fn size(&self) -> usize {
        let factors = match &self.factors {
            Factors::Floats(numbers) => 4 * numbers.len(),
            Factors::Signs(signs) => signs.bytes().len(),
        };
        4 * self.w.len() + factors
    }

    /// Whether all are numbers, and so small that every score is one.
    pub fn are_finite(&self) -> bool {
        let finite = |numbers: &[f32]| numbers.iter().all(|number| number.is_finite());
        let factors = match &self.factors {
            Factors::Floats(numbers) => numbers.iter().all(|v| v.abs() <= MOST_FACTOR),
            Factors::Signs(_) => true,
        };
        factors && finite(&self.bias) && finite(&self.beta) && finite(&self.w)
    }
}

// As they stand in a file.

impl Reals {
    /// Bias of each function, and after each its β where factors are signs.
    pub(super) fn put_scales(&self, out: &mut Vec<u8>) {
        for (function, bias) in self.bias.iter().enumerate() {
            out.extend(bias.to_le_bytes());
            out.extend(self.beta.get(function).into_iter().flat_map(|beta| beta.to_le_bytes()));
        }
    }

    /// For each row and function w and its factors; where those are signs, all w and then all bits.
    pub(super) fn put_weights(&self, out: &mut Vec<u8>) {
        match &self.factors {
            Factors::Signs(signs) => {
                out.extend(self.w.iter().flat_map(|w| w.to_le_bytes()));
                out.extend_from_slice(signs.bytes());
            }
            Factors::Floats(numbers) => {
                for (w, factors) in self.w.iter().zip(numbers.chunks_exact(self.m)) {
                    out.extend(w.to_le_bytes());
                    out.extend(factors.iter().flat_map(|v| v.to_le_bytes()));
                }
            }
        }
    }

    /// Read what [`Reals::put_scales`] writes: bias and β.
    pub(super) fn read_scales(
        method: Method,
        functions: usize,
        reader: &mut Reader,
    ) -> Result<(Vec<f32>, Vec<f32>)> {
        let each = if method.has_signs() { 2 } else { 1 };
        let numbers = reader.f32s(functions * each)?;
        let every = |from: usize| numbers.iter().skip(from).step_by(each).copied().collect();
        Ok((every(0), if each == 2 { every(1) } else { Vec::new() }))
    }

    /// Read what [`Reals::put_weights`] writes.
    pub(super) fn read(
        method: Method,
        [rows, m]: [usize; 2],
        (bias, beta): (Vec<f32>, Vec<f32>),
        reader: &mut Reader,
    ) -> Result<Self> {
        let at = reader.at();
        let functions = bias.len();
        let all = rows.saturating_mul(functions);
        let (w, factors) = if method.has_signs() {
            let w = reader.f32s(all)?;
            let size = bytes_for(rows, functions, m - 1).unwrap_or(usize::MAX);
            let taken = reader.take(size)?;
            let mut bytes = room(size)?;
            bytes.extend_from_slice(taken);
            let signs = SignRows::from_bytes(rows, functions, m - 1, bytes);
            let Some(signs) = signs else {
                return wrong(at, "a bit after the last weight is set");
            };
            (w, Factors::Signs(signs))
        } else {
            let numbers = reader.f32s(all.saturating_mul(m + 1))?;
            let rows = numbers.chunks_exact(m + 1);
            let w = rows.clone().filter_map(|row| row.first().copied()).collect();
            (w, Factors::Floats(rows.flat_map(|row| row.iter().skip(1).copied()).collect()))
        };
        let reals = Self { method, bias, beta, w, factors, m };
        if !reals.are_finite() || reals.beta.iter().any(|&beta| beta < 0.0) {
            return wrong(at, "a weight or scale is no number that can be");
        }
        Ok(reals)
    }
}
