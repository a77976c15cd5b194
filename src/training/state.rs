//! What one output has learned so far: a plain value, which can be copied, averaged and sent to another process.

use super::Optimizer;
use crate::aligned::Aligned;
use crate::kernels::RowWeights;
use crate::memory::{copied, filled};
use crate::model::RealScale;
use crate::{Error, Result};
use std::ops::Range;

/// The scales of one output during training.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Scale {
    /// Score of a sample without active features.
    pub bias: f64,
    /// α = mean |w̃|
    pub alpha: f64,
    /// β = mean |ṽ|
    pub beta: f64,
}

impl Scale {
    /// Returns the score of a sample with these L and Q.
    #[inline]
    pub fn score(self, [linear, pairs]: [f64; 2]) -> f64 {
        self.bias + self.alpha * linear + self.beta * self.beta * pairs
    }

    /// Returns the scales as a model uses them.
    pub fn real(self) -> RealScale {
        RealScale { bias: self.bias, alpha: self.alpha, beta_squared: self.beta * self.beta }
    }
}

/// Weights, scales and the optimizer's memory of one output.
#[derive(Debug, Default, PartialEq)]
pub struct State {
    /// Float weights, and proxies of signs.
    pub weights: RowWeights,
    /// Adagrad's sums of squared gradients; empty for plain gradients.
    pub squares: RowWeights,
    /// Bias and scales.
    pub scale: Scale,
    /// Adagrad's sum of the bias.
    pub bias_squares: f64,
    /// Mean of Q over the last samples.
    pub mean_pairs: f64,
}

/// Initial value of Adagrad's sums, which keeps its first division finite.
const EPSILON: f32 = 1e-8;

impl State {
    /// Starts with some weights.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(weights: RowWeights, optimizer: Optimizer) -> Result<Self> {
        let squares = match optimizer {
            Optimizer::Adagrad => RowWeights {
                w: filled(weights.w.len(), EPSILON)?,
                v: Aligned::filled(weights.v.len(), EPSILON)?,
            },
            Optimizer::Sgd => RowWeights::default(),
        };
        let scale = Scale { bias: 0.0, alpha: 1.0, beta: 1.0 };
        Ok(Self { weights, squares, scale, bias_squares: f64::from(EPSILON), mean_pairs: 0.0 })
    }

    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> Result<Self> {
        let rows = |rows: &RowWeights| -> Result<RowWeights> {
            Ok(RowWeights { w: copied(&rows.w)?, v: Aligned::copied(&rows.v)? })
        };
        let (weights, squares) = (rows(&self.weights)?, rows(&self.squares)?);
        Ok(Self { weights, squares, ..*self })
    }

    /// Returns all numbers as bytes: bias, α, β, the sum of the bias and the mean of Q as little-endian doubles, then w, v and their
    /// sums as floats.
    pub fn to_bytes(&self) -> Vec<u8> {
        let numbers = self.numbers().into_iter().flat_map(f64::to_le_bytes);
        let lists = self.lists().into_iter().flatten().flat_map(|number| number.to_le_bytes());
        numbers.chain(lists).collect()
    }

    /// Replaces all numbers by those of a state of the same shape.
    ///
    /// # Errors
    /// If there are more or fewer bytes than this state has.
    pub fn read_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let floats: usize = self.lists().iter().map(|numbers| numbers.len()).sum();
        let needed = 8 * self.numbers().len() + 4 * floats;
        if bytes.len() != needed {
            return Err(Error::value("state", format!("have {needed} bytes"), bytes.len()));
        }
        let (doubles, floats) = bytes.split_at(8 * self.numbers().len());
        let doubles = doubles.as_chunks::<8>().0.iter();
        for (number, bytes) in self.numbers_mut().into_iter().zip(doubles) {
            *number = f64::from_le_bytes(*bytes);
        }
        let mut floats = floats.as_chunks::<4>().0.iter();
        for number in self.lists_mut().into_iter().flatten() {
            *number = floats.next().map_or(0.0, |bytes| f32::from_le_bytes(*bytes));
        }
        Ok(())
    }

    /// Returns the weights of a row and, unless there are none, their sums.
    fn row(&self, row: usize) -> [&[f32]; 4] {
        let mut places = self.places(row).into_iter();
        self.lists().map(|numbers| places.next().and_then(|place| numbers.get(place)).unwrap_or(&[]))
    }

    fn row_mut(&mut self, row: usize) -> [&mut [f32]; 4] {
        let mut places = self.places(row).into_iter();
        self.lists_mut()
            .map(|numbers| places.next().and_then(|place| numbers.get_mut(place)).unwrap_or(&mut []))
    }

    /// Returns where a row is in each of the lists.
    fn places(&self, row: usize) -> [Range<usize>; 4] {
        let m = self.weights.v.len() / self.weights.w.len();
        [1, m, 1, m].map(|width| row * width..(row + 1) * width)
    }

    fn lists(&self) -> [&[f32]; 4] {
        [&self.weights.w, &self.weights.v, &self.squares.w, &self.squares.v]
    }

    fn lists_mut(&mut self) -> [&mut [f32]; 4] {
        let Self { weights, squares, .. } = self;
        [&mut weights.w, &mut weights.v, &mut squares.w, &mut squares.v]
    }

    fn numbers(&self) -> [f64; 5] {
        let Scale { bias, alpha, beta } = self.scale;
        [bias, alpha, beta, self.bias_squares, self.mean_pairs]
    }

    fn numbers_mut(&mut self) -> [&mut f64; 5] {
        let Scale { bias, alpha, beta } = &mut self.scale;
        [bias, alpha, beta, &mut self.bias_squares, &mut self.mean_pairs]
    }
}

/// The mean of what several shards have learned from the same state.
///
/// A row counts only where a shard has touched it, so that rare categories learn as fast as frequent ones.
pub struct Merge {
    sums: State,
    /// The share of the samples in the shards that touched each row.
    touched: Vec<f64>,
}

impl Merge {
    /// Begins without any shard.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(base: &State) -> Result<Self> {
        let empty = |rows: &RowWeights| -> Result<RowWeights> {
            Ok(RowWeights { w: filled(rows.w.len(), 0.0)?, v: Aligned::filled(rows.v.len(), 0.0)? })
        };
        let (weights, squares) = (empty(&base.weights)?, empty(&base.squares)?);
        let sums = State { weights, squares, ..State::default() };
        Ok(Self { sums, touched: filled(base.weights.w.len(), 0.0)? })
    }

    /// Adds what a shard has learned, given its share of the samples.
    pub fn add(&mut self, base: &State, learned: &State, share: f64) {
        for (row, touched) in self.touched.iter_mut().enumerate() {
            if base.row(row) != learned.row(row) {
                *touched += share;
                let rows = self.sums.row_mut(row).into_iter().zip(base.row(row));
                for ((sums, base), learned) in rows.zip(learned.row(row)) {
                    for ((sum, base), learned) in sums.iter_mut().zip(base).zip(learned) {
                        *sum += share as f32 * (learned - base);
                    }
                }
            }
        }
        for (sum, number) in self.sums.numbers_mut().into_iter().zip(learned.numbers()) {
            *sum += share * number;
        }
    }

    /// Returns the mean, given the state from which all shards began.
    #[must_use]
    pub fn finish(self, mut base: State) -> State {
        for (row, &touched) in self.touched.iter().enumerate().filter(|(_, touched)| **touched > 0.0) {
            for (numbers, sums) in base.row_mut(row).into_iter().zip(self.sums.row(row)) {
                numbers.iter_mut().zip(sums).for_each(|(number, sum)| *number += sum / touched as f32);
            }
        }
        let State { scale, bias_squares, mean_pairs, .. } = self.sums;
        State { scale, bias_squares, mean_pairs, ..base }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(first: f32) -> Result<State> {
        let weights = RowWeights { w: vec![first, 2.0], v: Aligned::copied(&[3.0, -0.5, first, 0.25])? };
        let mut state = State::new(weights, Optimizer::Adagrad)?;
        state.scale.bias = f64::from(first) / 3.0;
        Ok(state)
    }

    #[test]
    fn bytes_restore_a_state() -> Result<()> {
        let (first, mut second) = (state(0.1)?, state(0.7)?);
        let bytes = first.to_bytes();
        second.read_bytes(&bytes)?;
        assert_eq!(first, second);
        assert!(second.read_bytes(&bytes[1..]).is_err());
        Ok(())
    }

    #[test]
    fn a_mean_weighs_the_shards_that_touched_a_row() -> Result<()> {
        let base = state(1.0)?;
        let (first, mut second) = (state(3.0)?, state(5.0)?);
        second.weights.v[3] = 1.25;
        let mut merge = Merge::new(&base)?;
        merge.add(&base, &first, 0.25);
        merge.add(&base, &second, 0.75);
        let mean = merge.finish(base);
        assert_eq!(mean.weights.w, [4.5, 2.0]); // 3 and 5 in the first row
        assert_eq!(*mean.weights.v, [3.0, -0.5, 4.5, 1.25 * 0.75 + 0.25 * 0.25]);
        assert!((mean.scale.bias - 1.5).abs() < 1e-12);
        Ok(())
    }

    #[test]
    fn a_row_that_one_shard_touched_is_taken_from_it() -> Result<()> {
        let base = state(1.0)?;
        let mut learned = state(1.0)?;
        learned.weights.w[1] = 4.0;
        let mut merge = Merge::new(&base)?;
        merge.add(&base, &state(1.0)?, 0.75);
        merge.add(&base, &learned, 0.25);
        assert_eq!(merge.finish(base).weights.w, [1.0, 4.0]);
        Ok(())
    }
}
