//! From the values of a column to its distinct keys, by hashing if they are few and by sorting otherwise.

use super::few::Few;
use super::radix;
use crate::Result;
use crate::encoding::edges;
use crate::memory::{reserve, resize};
use crate::threads::Stop;

/// The distinct keys of a column with their weights, in memory that is reused from column to column.
#[derive(Debug, Default)]
pub struct Buffers {
    /// The distinct keys, ascending.
    pub keys: Vec<i32>,
    /// As in [`Weights`](super::weights::Weights).
    pub weights: Vec<f64>,
    spare: Vec<i32>,
    pairs: Vec<(i32, f64)>,
    spare_pairs: Vec<(i32, f64)>,
}

/// With fewer values, sorting takes no longer than looking for few distinct ones first.
const MIN_VALUES: usize = 1500;

impl Buffers {
    /// Counts values, each with all that are less than it, and returns whether NaN is among them.
    pub fn count(&mut self, values: &[f32], stop: &Stop) -> Result<bool> {
        let has_missing = values.iter().fold(false, |any, value| any | value.is_nan());
        let present = values.iter().copied().filter(|value| !value.is_nan());
        if let Some(few) = few(values, present.clone().map(|value| (value, 1.0))) {
            self.take(&few.sorted())?;
            for i in 1..self.weights.len() {
                self.weights[i] += self.weights[i - 1];
            }
            return Ok(has_missing);
        }
        self.keys.clear();
        reserve(&mut self.keys, values.len())?;
        if has_missing {
            self.keys.extend(present.map(edges::key));
        } else {
            // The same, but without a condition many values at once.
            self.keys.extend(values.iter().map(|&value| edges::key(value)));
        }
        radix::sort(&mut self.keys, &mut self.spare, |&key| key, stop)?;
        self.count_runs()?;
        Ok(has_missing)
    }

    /// Adds up the weights of equal values, and returns whether NaN is among those of positive weight.
    pub fn add_up(&mut self, values: &[f32], weights: &[f64], stop: &Stop) -> Result<bool> {
        let counted = || {
            let all = values.iter().copied().zip(weights.iter().copied());
            all.filter(|&(_, weight)| weight > 0.0)
        };
        let has_missing = counted().any(|(value, _)| value.is_nan());
        let present = counted().filter(|(value, _)| !value.is_nan());
        if let Some(few) = few(values, present.clone()) {
            self.take(&few.sorted())?;
            return Ok(has_missing);
        }
        self.pairs.clear();
        reserve(&mut self.pairs, values.len())?;
        self.pairs.extend(present.map(|(value, weight)| (edges::key(value), weight)));
        radix::sort(&mut self.pairs, &mut self.spare_pairs, |&(key, _)| key, stop)?;
        self.add_up_runs()?;
        Ok(has_missing)
    }

    fn take(&mut self, pairs: &[(i32, f64)]) -> Result<()> {
        self.keys.clear();
        self.weights.clear();
        reserve(&mut self.keys, pairs.len())?;
        reserve(&mut self.weights, pairs.len())?;
        self.keys.extend(pairs.iter().map(|&(key, _)| key));
        self.weights.extend(pairs.iter().map(|&(_, weight)| weight));
        Ok(())
    }

    /// Keeps the last of each run of equal keys, and its place. There is no branch that could be mispredicted.
    fn count_runs(&mut self) -> Result<()> {
        let Self { keys, weights, .. } = self;
        resize(weights, keys.len(), 0.0)?;
        let mut last = keys.first().copied().unwrap_or(0);
        let mut at = 0;
        for i in 0..keys.len() {
            at += usize::from(keys[i] != last);
            last = keys[i];
            keys[at] = last;
            weights[at] = (i + 1) as f64;
        }
        keys.truncate(at + 1);
        weights.truncate(at + 1);
        Ok(())
    }

    fn add_up_runs(&mut self) -> Result<()> {
        let Self { keys, weights, pairs, .. } = self;
        keys.clear();
        weights.clear();
        let runs = || pairs.chunk_by(|a, b| a.0 == b.0);
        let count = runs().count();
        reserve(keys, count)?;
        reserve(weights, count)?;
        for run in runs() {
            keys.extend(run.first().map(|&(key, _)| key));
            weights.push(run.iter().map(|&(_, weight)| weight).sum());
        }
        Ok(())
    }
}

/// Adds up the weights of a column's numbers, if it pays to try and they have few distinct values.
fn few(values: &[f32], numbers: impl Iterator<Item = (f32, f64)>) -> Option<Few> {
    if values.len() < MIN_VALUES { None } else { Few::new(numbers) }
}
