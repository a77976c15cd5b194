//! Samples as training reads them: active rows with their targets and weights, in canonical order.
//!
//! The canonical order follows a hash of a sample's cells and target, then its weight. So what is learned depends on which
//! samples there are, not on the order in which they come.

use super::centers::centers;
use super::{Context, Examples};
use crate::Result;
use crate::data::{Dataset, Target};
use crate::encoding::{Encoder, PackedTable};
use crate::hash::mix;
use crate::memory::{collect, copied, filled, with_capacity};
use crate::threads::Stop;
use std::borrow::Cow;

/// The samples of a dataset, encoded. Training only reads them, so that any number of trainers can share them.
#[derive(Debug)]
pub struct EncodedSamples<'a> {
    table: PackedTable,
    target: Cow<'a, Target>,
    weight: Option<Cow<'a, [f64]>>,
    /// 1 / mean weight.
    unit: f64,
    /// The samples of positive weight, in canonical order.
    samples: Vec<u32>,
    /// Their hashes, which ascend.
    hashes: Vec<u64>,
    /// The centers of the cells of each feature, if they were found.
    centers: Vec<Vec<f64>>,
}

/// Samples by which the centers of cells are found, at most.
const CENTERED: usize = 10_000;

impl<'a> EncodedSamples<'a> {
    /// Encodes a dataset; `name` is that of its table in errors.
    ///
    /// # Errors
    /// If the dataset has the wrong width, there is not enough memory, or it is stopped.
    pub fn new(
        encoder: &Encoder,
        name: &'static str,
        dataset: &'a Dataset,
        context: Context,
    ) -> Result<Self> {
        encoder.check_width(name, dataset.table.columns())?;
        let Context { threads, isa, stop } = context;
        let table = PackedTable::new(encoder, isa, dataset.table, threads, stop)?;
        let keys = canonical_order(&table, dataset)?;
        let samples = collect(keys.iter().map(|&(_, sample)| sample))?;
        let hashes = collect(keys.iter().map(|&(hash, _)| hash))?;
        Ok(Self {
            table,
            centers: Vec::new(),
            target: Cow::Borrowed(&dataset.target),
            weight: dataset.weight.map(Cow::Borrowed),
            unit: dataset.weight.map_or(1.0, |weight| unit(weight, &samples)),
            samples,
            hashes,
        })
    }

    /// Finds the centers of the cells of each feature.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn with_centers(mut self, encoder: &Encoder, dataset: &Dataset, stop: &Stop) -> Result<Self> {
        let some = &self.samples[..self.samples.len().min(CENTERED)];
        self.centers = centers(encoder, dataset.table, some, stop)?;
        Ok(self)
    }

    /// Returns the samples with targets and weights of their own, to outlive the dataset.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn into_owned(self) -> Result<EncodedSamples<'static>> {
        let target = Cow::Owned(match self.target {
            Cow::Owned(target) => target,
            Cow::Borrowed(target) => target.copied()?,
        });
        let weight = self.weight.map(|weight| copied(&weight)).transpose()?.map(Cow::Owned);
        let Self { table, unit, samples, hashes, centers, .. } = self;
        Ok(EncodedSamples { table, target, weight, unit, samples, hashes, centers })
    }

    /// Returns all of them, to learn from or to evaluate on.
    pub fn examples(&self) -> Examples<'_> {
        Examples {
            table: &self.table,
            target: &self.target,
            weight: self.weight.as_deref(),
            unit: self.unit,
            samples: Cow::Borrowed(&self.samples),
            hashes: Cow::Borrowed(&self.hashes),
            centers: &self.centers,
        }
    }

    /// Returns roughly the bytes that they take.
    pub fn bytes(&self) -> usize {
        let weights = self.weight.as_deref().map_or(0, size_of_val);
        let order = size_of_val(&self.samples[..]) + size_of_val(&self.hashes[..]);
        self.table.bytes() + size_of::<f64>() * self.target.len() + weights + order
    }
}

/// Returns hash and number of each sample of positive weight, in canonical order.
fn canonical_order(table: &PackedTable, dataset: &Dataset) -> Result<Vec<(u64, u32)>> {
    let (target, weight_of) = (&dataset.target, |sample: u32| dataset.weight_of(sample as usize));
    let mut keys = with_capacity(target.len())?;
    for sample in (0..target.len() as u32).filter(|&sample| weight_of(sample) > 0.0) {
        let hash = mix(table.hash(sample as usize), target.bits(sample as usize));
        keys.push((hash, sample));
    }
    let mut keys = sorted(keys)?;
    if dataset.weight.is_some() {
        for equal in keys.chunk_by_mut(|a, b| a.0 == b.0) {
            equal.sort_unstable_by(|a, b| weight_of(a.1).total_cmp(&weight_of(b.1)).then(a.1.cmp(&b.1)));
        }
    }
    Ok(keys)
}

/// Returns 1 / mean weight, given the samples of positive weight.
fn unit(weight: &[f64], samples: &[u32]) -> f64 {
    let weights = || samples.iter().map(|&sample| weight[sample as usize]);
    let max = weights().fold(0.0, f64::max);
    let mean = weights().map(|weight| weight / max).sum::<f64>() / weight.len() as f64;
    1.0 / mean / max
}

/// Sorts samples by their hashes: into buckets by the highest bits, then within each.
fn sorted(keys: Vec<(u64, u32)>) -> Result<Vec<(u64, u32)>> {
    let bits = (keys.len() / BUCKET).max(1).ilog2();
    let bucket = |hash: u64| hash.checked_shr(u64::BITS - bits).unwrap_or(0) as usize;
    let mut ends = filled(1_usize << bits, 0)?;
    for &(hash, _) in &keys {
        ends[bucket(hash)] += 1;
    }
    let mut total = 0;
    for end in &mut ends {
        total += std::mem::replace(end, total);
    }
    let mut sorted = filled(keys.len(), (0, 0))?;
    for key in keys {
        let place = &mut ends[bucket(key.0)];
        sorted[*place] = key;
        *place += 1;
    }
    let mut begin = 0;
    for end in ends {
        sorted[begin..end].sort_unstable();
        begin = end;
    }
    Ok(sorted)
}

/// Samples in a bucket, on average.
const BUCKET: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_sort_any_hashes() -> Result<()> {
        for count in [0, 1, 5, 100, 5000] {
            let hash = |i: u32| mix(7, u64::from(i % 1000));
            let mut keys: Vec<_> = (0..count).map(|i| (hash(i), i)).collect();
            let found = sorted(keys.clone())?;
            keys.sort_unstable();
            assert_eq!(found, keys);
        }
        Ok(())
    }
}
