//! Some of the encoded samples: all of them, or one side of a split.

use super::rng;
use crate::memory::{collect, filled, try_collect, with_capacity};
use crate::Result;
use crate::data::Target;
use crate::encoding::PackedTable;
use crate::hash::mix;
use std::borrow::Cow;
use std::ops::Range;

/// Samples to learn from or to evaluate on. Only relative weights matter.
#[derive(Clone, Debug)]
pub struct Examples<'a> {
    /// The encoded table.
    pub table: &'a PackedTable<'a>,
    /// What the outputs should say.
    pub target: &'a Target,
    pub(super) weight: Option<&'a [f64]>,
    /// 1 / mean weight: weights are used in units of their mean.
    pub(super) unit: f64,
    /// The samples of positive weight that belong to this set, in canonical order.
    pub samples: Cow<'a, [u32]>,
    /// Their hashes, which ascend.
    pub(super) hashes: Cow<'a, [u64]>,
    /// The centers of the cells of each feature; empty if nobody asked for them.
    pub(super) centers: &'a [Vec<f64>],
}

impl Examples<'_> {
    /// Returns the weight of a sample, 1 on average.
    #[inline]
    pub fn weight(&self, sample: usize) -> f64 {
        self.weight.map_or(1.0, |weight| weight[sample] * self.unit)
    }

    /// Returns 1 / mean weight.
    pub fn unit(&self) -> f64 {
        self.unit
    }

    /// Returns the same samples with weights in other units.
    #[must_use]
    pub fn in_units_of(self, unit: f64) -> Self {
        Self { unit, ..self }
    }

    /// Returns the mean number of rows that a sample activates; never zero.
    pub fn mean_active(&self, tilings: usize) -> f64 {
        (self.table.active_features() * tilings).max(1) as f64 / self.target.len() as f64
    }

    /// Divides the samples into shards, by their hashes. In each, equal samples are spread at random.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn shards(&self, count: usize) -> Result<Vec<Cow<'_, [u32]>>> {
        let shard = |hash: u64| (u128::from(hash) * count as u128) >> 64;
        let begin = |i: usize| self.hashes.partition_point(|&hash| shard(hash) < i as u128);
        try_collect((0..count).map(|i| self.spread(begin(i)..begin(i + 1))))
    }

    /// Returns the samples of a range, in an order in which equal ones are not neighbours: the first of them at their
    /// hash, the second at a hash of that, and so on.
    fn spread(&self, range: Range<usize>) -> Result<Cow<'_, [u32]>> {
        let (samples, hashes) = (&self.samples[range.clone()], &self.hashes[range]);
        if !hashes.windows(2).any(|pair| pair[0] == pair[1]) {
            return Ok(Cow::Borrowed(samples));
        }
        let mut keys = with_capacity(samples.len())?;
        let mut samples = samples.iter();
        for equal in hashes.chunk_by(|a, b| a == b) {
            let places = (0..).zip(equal).map(|(i, &hash)| if i == 0 { hash } else { mix(hash, i) });
            keys.extend(places.zip(samples.by_ref().copied()));
        }
        keys.sort_unstable();
        Ok(Cow::Owned(collect(keys.into_iter().map(|(_, sample)| sample))?))
    }

    /// Holds out a share of each class. Both parts have at least one sample, or nothing is held out.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn hold_out(self, share: f64, seed: u64) -> Result<(Self, Option<Self>)> {
        if share <= 0.0 {
            return Ok((self, None));
        }
        let places = self.shuffled_by_class(seed)?;
        let mut is_held_out = filled(places.len(), false)?;
        let mut due = 0.0;
        for place in places {
            due += share;
            if due >= 1.0 {
                due -= 1.0;
                is_held_out[place as usize] = true;
            }
        }
        if is_held_out.iter().all(|&held| held) || !is_held_out.contains(&true) {
            return Ok((self, None));
        }
        Ok((self.part(|place| !is_held_out[place])?, Some(self.part(|place| is_held_out[place])?)))
    }

    /// Returns the places of the canonical order, class by class, at random within each.
    fn shuffled_by_class(&self, seed: u64) -> Result<Vec<u32>> {
        let mut places = collect(0..self.samples.len() as u32)?;
        rng::shuffle(&mut places, &mut rng::stream(seed, rng::HOLDOUT));
        let class = |place: u32| self.target.class(self.samples[place as usize] as usize) as usize;
        let mut next = filled(self.target.outputs().max(2) + 1, 0)?;
        for &place in &places {
            next[class(place) + 1] += 1;
        }
        for class in 1..next.len() {
            next[class] += next[class - 1];
        }
        let mut sorted = filled(places.len(), 0)?;
        for place in places {
            let next = &mut next[class(place)];
            sorted[*next] = place;
            *next += 1;
        }
        Ok(sorted)
    }

    /// Returns the first samples in canonical order: a random sample of them.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn first(&self, count: usize) -> Result<Self> {
        self.part(|place| place < count)
    }

    /// Divides the samples into parts, each with its share of every class; returns all but one part, and that part.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn fold(&self, part: usize, parts: usize, seed: u64) -> Result<(Self, Self)> {
        let places = self.shuffled_by_class(seed)?;
        let mut is_held_out = filled(places.len(), false)?;
        places.iter().skip(part).step_by(parts).for_each(|&place| is_held_out[place as usize] = true);
        Ok((self.part(|place| !is_held_out[place])?, self.part(|place| is_held_out[place])?))
    }

    /// Returns the samples at some places of the canonical order.
    fn part(&self, belongs: impl Fn(usize) -> bool) -> Result<Self> {
        let places = || (0..self.samples.len()).filter(|&place| belongs(place));
        let count = places().count(); // grown step by step, the lists would take twice the memory
        let (mut samples, mut hashes) = (with_capacity(count)?, with_capacity(count)?);
        samples.extend(places().map(|place| self.samples[place]));
        hashes.extend(places().map(|place| self.hashes[place]));
        Ok(Self { samples: Cow::Owned(samples), hashes: Cow::Owned(hashes), ..*self })
    }
}
