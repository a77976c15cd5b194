//! Samples as training reads them: active rows with their targets and weights, in canonical order.
//!
//! The canonical order follows a hash of a sample's cells and target, then its weight. So what is learned depends on which
//! samples there are, not on the order in which they come.

use super::centers::centers;
use super::{Context, Examples};
use crate::data::{Dataset, Target};
use crate::encoding::{Encoder, PackedTable};
use crate::hash::mix;
use crate::memory::{collect, filled, owned, with_capacity};
use crate::{Error, Result};
use std::borrow::Cow;

/// The samples of a dataset, encoded. Training only reads them, so that any number of trainers can share them.
#[derive(Debug)]
pub struct EncodedSamples<'a> {
    table: PackedTable<'a>,
    target: Cow<'a, Target>,
    weight: Option<Cow<'a, [f64]>>,
    /// 1 / mean weight.
    unit: f64,
    /// The samples of positive weight, in canonical order.
    samples: Vec<u32>,
    /// Their hashes, which ascend.
    hashes: Cow<'a, [u64]>,
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
        let keys = canonical_order(&table, dataset, context)?;
        let samples = collect(keys.iter().map(|&(_, sample)| sample))?;
        let hashes = collect(keys.iter().map(|&(hash, _)| hash))?;
        Ok(Self {
            table,
            centers: Vec::new(),
            target: Cow::Borrowed(&dataset.target),
            weight: dataset.weight.map(Cow::Borrowed),
            unit: dataset.weight.map_or(1.0, |weight| unit(weight, &samples)),
            samples,
            hashes: Cow::Owned(hashes),
        })
    }

    /// Takes samples that were encoded before, in canonical order.
    ///
    /// # Errors
    /// If they cannot be those of this encoder, or there is not enough memory.
    pub fn stored(encoder: &Encoder, stored: StoredSamples<'a>) -> Result<Self> {
        let StoredSamples { cells, hashes, target, weight, centers } = stored;
        let table = PackedTable::stored(encoder, cells)?;
        let samples = collect(0..hashes.len() as u32)?;
        let fits = |len: usize| len == target.len();
        let is_whole = fits(cells.len() / PackedTable::width(encoder)?.max(1)) || cells.is_empty();
        if !is_whole || hashes.len() > target.len() || !weight.is_none_or(|weight| fits(weight.len())) {
            return Err(Error::value("samples", "have as many cells, targets and weights", "others"));
        }
        Ok(Self {
            table,
            centers,
            target: Cow::Owned(target),
            weight: weight.map(Cow::Borrowed),
            unit: weight.map_or(1.0, |weight| unit(weight, &samples)),
            samples,
            hashes: Cow::Borrowed(hashes),
        })
    }

    /// Finds the centers of the cells of each feature.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn with_centers(mut self, encoder: &Encoder, dataset: &Dataset, context: Context) -> Result<Self> {
        let some = &self.samples[..self.samples.len().min(CENTERED)];
        self.centers = centers(encoder, dataset.table, some, context)?;
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
        let weight = self.weight.map(owned).transpose()?.map(Cow::Owned);
        let Self { table, unit, samples, hashes, centers, .. } = self;
        let (table, hashes) = (table.into_owned()?, Cow::Owned(owned(hashes)?));
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

/// Samples that were encoded before, in canonical order. Those of zero weight come last and have no hash.
pub struct StoredSamples<'a> {
    /// The packed cells.
    pub cells: &'a [u8],
    /// The hashes, which ascend.
    pub hashes: &'a [u64],
    /// What the outputs should say.
    pub target: Target,
    /// Weight of each sample.
    pub weight: Option<&'a [f64]>,
    /// The centers of the cells of each feature.
    pub centers: Vec<Vec<f64>>,
}

/// Encodes a part of the samples: returns their packed cells and their hashes.
///
/// # Errors
/// If the dataset has the wrong width or is sparse, there is not enough memory, or it is stopped.
pub fn encode_part(encoder: &Encoder, dataset: &Dataset, context: Context) -> Result<(Vec<u8>, Vec<u64>)> {
    let Context { threads, isa, stop } = context;
    encoder.check_width("X", dataset.table.columns())?;
    let table = PackedTable::new(encoder, isa, dataset.table, threads, stop)?;
    let mut hashes = with_capacity(dataset.target.len())?;
    hashes.extend((0..dataset.target.len()).map(|sample| hash(&table, &dataset.target, sample)));
    Ok((table.into_bytes()?, hashes))
}

/// Returns the hash that says where a sample is in canonical order.
fn hash(table: &PackedTable, target: &Target, sample: usize) -> u64 {
    mix(table.hash(sample), target.bits(sample))
}

/// Returns hash and number of each sample of positive weight, in canonical order.
fn canonical_order(
    table: &PackedTable,
    dataset: &Dataset,
    context: Context,
) -> Result<Vec<(u64, u32)>> {
    let (target, weight_of) = (&dataset.target, |sample: u32| dataset.weight_of(sample as usize));
    let firsts = (0..target.len()).step_by(HASHED);
    let keys = context.threads.map(firsts, || (), |(), first| {
        context.stop.check()?;
        let samples = first as u32..target.len().min(first + HASHED) as u32;
        let mut keys = with_capacity(samples.len())?;
        for sample in samples.filter(|&sample| weight_of(sample) > 0.0) {
            keys.push((hash(table, target, sample as usize), sample));
        }
        Ok(keys)
    })?;
    let mut keys = sorted(&keys, context)?;
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
fn sorted(parts: &[Vec<(u64, u32)>], context: Context) -> Result<Vec<(u64, u32)>> {
    let keys = || parts.iter().flatten().copied();
    let count = parts.iter().map(Vec::len).sum::<usize>();
    let bits = (count / BUCKET).max(1).ilog2();
    let bucket = |hash: u64| hash.checked_shr(u64::BITS - bits).unwrap_or(0) as usize;
    let mut ends = filled(1_usize << bits, 0)?;
    for (hash, _) in keys() {
        ends[bucket(hash)] += 1;
    }
    let mut total = 0;
    for end in &mut ends {
        total += std::mem::replace(end, total);
    }
    let mut sorted = filled(count, (0, 0))?;
    for key in keys() {
        let place = &mut ends[bucket(key.0)];
        sorted[*place] = key;
        *place += 1;
    }
    let (mut rest, mut begin) = (&mut sorted[..], 0);
    let runs = ends.chunks(SORTED).filter_map(|ends| {
        let first = std::mem::replace(&mut begin, *ends.last()?);
        Some((rest.split_off_mut(..begin - first)?, first, ends))
    });
    context.threads.map(runs, || (), |(), (mut keys, mut begin, ends)| {
        context.stop.check()?;
        for &end in ends {
            keys.split_off_mut(..end - begin).into_iter().for_each(<[_]>::sort_unstable);
            begin = end;
        }
        Ok(())
    })?;
    Ok(sorted)
}

/// Samples in a bucket, on average.
const BUCKET: usize = 16;
/// Samples that a thread hashes at a time, and buckets that it sorts.
const HASHED: usize = 8192;
const SORTED: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Isa;
    use crate::threads::{Stop, Threads};

    #[test]
    fn buckets_sort_any_hashes() -> Result<()> {
        let (threads, stop) = (Threads::new(Some(2))?, Stop::default());
        let context = Context { threads: &threads, isa: Isa::detect()?, stop: &stop };
        for count in [0, 1, 5, 100, 20_000] {
            let hash = |i: u32| mix(7, u64::from(i % 1000));
            let mut keys: Vec<_> = (0..count).map(|i| (hash(i), i)).collect();
            let parts: Vec<_> = keys.chunks(700).map(<[_]>::to_vec).collect();
            let found = sorted(&parts, context)?;
            keys.sort_unstable();
            assert_eq!(found, keys);
        }
        Ok(())
    }
}
