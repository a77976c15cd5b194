//! The batches of a fit: which samples learn together.
//!
//! A batch is a run of samples in canonical order, the same in every epoch; only the order of the batches changes. So
//! each is decoded once, unless all of them would take too much memory.

use super::batch::{Decoded, Decoder};
use super::rows::Rows;
use super::{Context, Examples, Params, rng};
use crate::memory::{collect, extend, try_collect};
use crate::{Error, Result};
use std::borrow::Cow;
use std::sync::Arc;

/// The batches of each shard.
pub struct Batches<'a> {
    /// The samples.
    pub examples: &'a Examples<'a>,
    /// The samples of each batch.
    all: Vec<&'a [u32]>,
    /// The end of each shard's batches.
    ends: Vec<usize>,
    /// Empty if batches are decoded when they are needed.
    decoded: Vec<Decoded>,
}

/// Bytes that decoded batches may take.
const MAX_BYTES: usize = 1 << 28;

/// Least number of default batches in an epoch: with fewer steps, small data learns too little.
const MIN_BATCHES: usize = 48;
/// Largest default batch, and samples that the batches of all outputs have together at most: with more outputs, each has
/// fewer positive samples, so that it learns more from smaller batches. letter (26 classes) loses 0.6 points with batches
/// of 256 instead of 32.
const MAX_BATCH: [usize; 2] = [512, 1024];
/// Limit of the default batch size, however many outputs there are.
const MAX_BATCH_OF_MANY: usize = 16;
/// Samples that a shard should have, and visits to each row of the parameter table on average.
const MIN_SHARD: [usize; 2] = [1 << 16, 16];
/// Limit of the default number of shards.
const MAX_SHARDS: usize = 16;

/// Least number of samples that the linear term is solved for, and of their visits to each row on average: the list of
/// them takes more memory than the samples, and more of them hardly change the solution.
const MIN_SOLVED: [usize; 2] = [1 << 20, 64];

/// Returns the batch size for a number of samples and outputs: by default a power of two.
pub fn size(params: &Params, samples: usize, outputs: usize) -> usize {
    let [largest, together] = MAX_BATCH;
    let most = (together / outputs.max(1)).clamp(MAX_BATCH_OF_MANY, largest);
    let default = 1 << (samples / MIN_BATCHES).clamp(1, most).ilog2();
    params.batch_size.unwrap_or(default)
}

/// Returns the number of shards, given the numbers of samples, of their visits, and of rows of the parameter table.
pub fn shards(params: &Params, samples: usize, visits: usize, rows: usize) -> usize {
    let [min_samples, min_visits] = MIN_SHARD;
    let default = (samples / min_samples).min(visits / (min_visits * rows.max(1)));
    params.shards.unwrap_or(default.clamp(1, MAX_SHARDS))
}

/// Returns the number of samples that the linear term is solved for at most, given the same numbers.
pub fn solved(samples: usize, visits: usize, rows: usize) -> usize {
    let [min_samples, min_visits] = MIN_SOLVED;
    let per_sample = visits.div_ceil(samples.max(1)).max(1);
    (min_visits * rows / per_sample).max(min_samples)
}

impl<'a> Batches<'a> {
    /// Cuts the samples of some shards into batches.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(
        examples: &'a Examples<'a>,
        shards: &'a [Cow<'a, [u32]>],
        batch_size: usize,
    ) -> Result<Self> {
        let mut all = Vec::new();
        let end = |shard: &'a Cow<'a, [u32]>| {
            extend(&mut all, shard.chunks(batch_size))?;
            Ok(all.len())
        };
        let ends = try_collect(shards.iter().map(end))?;
        Ok(Self { examples, all, ends, decoded: Vec::new() })
    }

    /// Decodes all batches, unless that takes too much memory.
    ///
    /// # Errors
    /// If it is stopped.
    pub fn decode(mut self, rows: &Arc<Rows>, context: Context) -> Result<Self> {
        let visits = self.examples.table.active_features();
        if Decoded::bytes(visits) > MAX_BYTES {
            return Ok(self);
        }
        let table = self.examples.table;
        let decode = |decoder: &mut Decoder, samples: &&[u32]| {
            context.stop.check()?;
            decoder.prepare(rows)?;
            let mut batch = Decoded::default();
            decoder.decode(table, samples, None, &mut batch)?;
            Ok(batch)
        };
        match context.threads.map(&self.all, Decoder::default, decode) {
            Ok(decoded) => self.decoded = decoded,
            Err(Error::Memory(_)) => {} // it is enough to have room for one batch
            Err(error) => return Err(error),
        }
        Ok(self)
    }

    /// Returns the number of shards.
    pub fn shards(&self) -> usize {
        self.ends.len()
    }

    /// Returns whether there are no batches.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Returns the number of samples of a shard.
    pub fn samples(&self, shard: usize) -> usize {
        self.range(shard).map(|batch| self.all[batch].len()).sum()
    }

    /// Returns the batches of a shard in the order of a pass.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn order(&self, shard: usize, seed: u64, passes: u64) -> Result<Vec<usize>> {
        let mut order = collect(self.range(shard))?;
        let stream = rng::SHUFFLE + passes * rng::PASS + shard as u64;
        rng::shuffle(&mut order, &mut rng::stream(seed, stream));
        Ok(order)
    }

    /// Returns the samples of a batch.
    pub fn batch(&self, batch: usize) -> &'a [u32] {
        self.all[batch]
    }

    /// Returns a batch if it was decoded.
    pub fn decoded(&self, batch: usize) -> Option<&Decoded> {
        self.decoded.get(batch)
    }

    fn range(&self, shard: usize) -> std::ops::Range<usize> {
        shard.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[shard]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_linear_term_is_solved_for_more_samples_if_there_are_many_rows() {
        let samples = 100 << 20;
        assert_eq!(solved(samples, 22 * samples, 400), 1 << 20);
        assert_eq!(solved(samples, 10 * samples, 1 << 20), 64 * (1 << 20) / 10);
        assert_eq!(solved(0, 0, 0), 1 << 20);
    }
}
