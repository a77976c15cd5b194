//! From the values of a column to their weights by bucket, by hashing if few are distinct and by sorting otherwise.

use super::few::Few;
use super::radix;
use super::sketch::{Bucket, MAX_BUCKETS, UnitWeights, WeightUnit, coarsen, shift_for};
use crate::Result;
use crate::encoding::edges;
use crate::memory::{reserve, resize};
use crate::threads::Stop;

/// The buckets of some values, in memory that is reused from column to column.
#[derive(Debug, Default)]
pub struct Buffers {
    /// The buckets, ascending.
    pub runs: Vec<Bucket>,
    /// The shift that they are made with.
    pub shift: u32,
    keys: Vec<i32>,
    spare: Vec<i32>,
    pairs: Vec<(i32, u64)>,
    spare_pairs: Vec<(i32, u64)>,
}

/// With fewer values, sorting takes no longer than looking for few distinct ones first.
const MIN_VALUES: usize = 1500;

impl Buffers {
    /// Adds up values by their `key >> shift`, with a shift of at least `least`, and returns whether NaN is among them.
    pub fn count(&mut self, values: &[f32], weights: UnitWeights, least: u32, stop: &Stop) -> Result<bool> {
        self.shift = least;
        match weights {
            None => self.count_each(values, stop),
            Some((weights, unit)) => self.add_up(values, weights, unit, stop),
        }
    }

    fn count_each(&mut self, values: &[f32], stop: &Stop) -> Result<bool> {
        let has_missing = values.iter().fold(false, |any, value| any | value.is_nan());
        let present = values.iter().copied().filter(|value| !value.is_nan());
        if let Some(few) = few(values, present.clone().map(|value| (value, 1))) {
            self.take(&few)?;
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
        if self.keys.len() > MAX_BUCKETS {
            self.shift = shift_for(self.keys.iter().copied(), self.shift);
        }
        self.count_runs()?;
        Ok(has_missing)
    }

    fn add_up(&mut self, values: &[f32], weights: &[f64], unit: WeightUnit, stop: &Stop) -> Result<bool> {
        let counted = || {
            let all = values.iter().copied().zip(weights.iter().copied());
            all.filter(|&(_, weight)| weight > 0.0)
        };
        let has_missing = counted().any(|(value, _)| value.is_nan());
        let present = counted().filter(|(value, _)| !value.is_nan());
        let present = present.map(|(value, weight)| (value, unit.count(weight)));
        if let Some(few) = few(values, present.clone()) {
            self.take(&few)?;
            return Ok(has_missing);
        }
        self.pairs.clear();
        reserve(&mut self.pairs, values.len())?;
        self.pairs.extend(present.map(|(value, weight)| (edges::key(value), weight)));
        radix::sort(&mut self.pairs, &mut self.spare_pairs, |&(key, _)| key, stop)?;
        if self.pairs.len() > MAX_BUCKETS {
            self.shift = shift_for(self.pairs.iter().map(|&(key, _)| key), self.shift);
        }
        self.add_up_runs()?;
        Ok(has_missing)
    }

    fn take(&mut self, few: &Few) -> Result<()> {
        let pairs = few.sorted()?;
        self.runs.clear();
        reserve(&mut self.runs, pairs.len())?;
        let mut end = 0;
        self.runs.extend(pairs.iter().map(|&(key, weight)| {
            end += weight;
            Bucket { low: key, high: key, end }
        }));
        coarsen(&mut self.runs, self.shift);
        Ok(())
    }

    /// Makes a bucket of each run of keys. There is no branch that could be mispredicted.
    fn count_runs(&mut self) -> Result<()> {
        let Self { keys, runs, shift, .. } = self;
        let Some(&first) = keys.first() else {
            runs.clear();
            return Ok(());
        };
        resize(runs, keys.len().min(MAX_BUCKETS), Bucket { low: 0, high: 0, end: 0 })?;
        let (mut at, mut number, mut low) = (0, first >> *shift, first);
        for (&key, end) in keys.iter().zip(1..) {
            let next = key >> *shift;
            at += usize::from(next != number);
            low = if next == number { low } else { key };
            number = next;
            runs[at] = Bucket { low, high: key, end };
        }
        runs.truncate(at + 1);
        Ok(())
    }

    fn add_up_runs(&mut self) -> Result<()> {
        let Self { runs, pairs, shift, .. } = self;
        runs.clear();
        reserve(runs, pairs.len().min(MAX_BUCKETS))?;
        let mut end = 0;
        for run in pairs.chunk_by(|a, b| a.0 >> *shift == b.0 >> *shift) {
            end += run.iter().map(|&(_, weight)| weight).sum::<u64>();
            runs.push(Bucket { low: run[0].0, high: run[run.len() - 1].0, end });
        }
        Ok(())
    }
}

/// Adds up the weights of a column's numbers, if it pays to try and they have few distinct values.
fn few(values: &[f32], numbers: impl Iterator<Item = (f32, u64)>) -> Option<Few> {
    if values.len() < MIN_VALUES { None } else { Few::new(numbers) }
}
