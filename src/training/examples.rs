//! Encoded samples with their targets and weights.

use super::rng;
use crate::data::Target;
use crate::encoding::PackedTable;
use crate::kernels;

/// Distance, in samples, between the one being read and the one being prefetched.
const PREFETCH_DISTANCE: usize = 4;

/// Samples to learn from or to evaluate on.
#[derive(Clone, Debug)]
pub struct Examples<'a> {
    /// The encoded table.
    pub table: &'a PackedTable,
    /// What the outputs should say.
    pub target: &'a Target,
    weight: Option<&'a [f64]>,
    /// 1 / mean weight: weights are used in units of their mean.
    unit: f64,
    /// The samples that belong to this set.
    pub samples: Vec<u32>,
}

impl<'a> Examples<'a> {
    /// Takes all samples of a table.
    pub fn all(table: &'a PackedTable, target: &'a Target, weight: Option<&'a [f64]>) -> Self {
        let unit = weight.map_or(1.0, |weight| {
            let max = weight.iter().fold(0.0, |max: f64, &w| max.max(w));
            let mean = weight.iter().map(|w| w / max).sum::<f64>() / weight.len() as f64;
            1.0 / mean / max
        });
        Self { table, target, weight, unit, samples: (0..target.len() as u32).collect() }
    }

    /// Prefetches a sample that will be read soon.
    #[inline]
    fn prefetch(&self, sample: usize) {
        self.table.prefetch(sample);
        match self.target {
            Target::Classes { of, .. } => kernels::prefetch(&of[sample..=sample]),
            Target::Numbers { standard, .. } => kernels::prefetch(&standard[sample..=sample]),
        }
    }

    /// Iterates over samples in an order, prefetching each before it is needed.
    pub fn visits<'o>(&'o self, order: &'o [u32]) -> impl Iterator<Item = usize> + 'o {
        order.iter().enumerate().map(|(visited, &sample)| {
            if let Some(&later) = order.get(visited + PREFETCH_DISTANCE) {
                self.prefetch(later as usize);
            }
            sample as usize
        })
    }

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

    /// Returns the samples of positive weight.
    pub fn weighted_samples(&self) -> Vec<u32> {
        self.samples.iter().copied().filter(|&sample| self.weight(sample as usize) > 0.0).collect()
    }

    /// Holds out a share of each class. Both parts have at least one sample, or nothing is held out.
    pub fn hold_out(self, share: f64, seed: u64) -> (Self, Option<Self>) {
        let mut samples = self.weighted_samples();
        rng::shuffle(&mut samples, &mut rng::stream(seed, rng::HOLDOUT));
        samples.sort_by_key(|&sample| self.target.class(sample as usize));
        let (mut kept, mut held_out) = (Vec::new(), Vec::new());
        let mut due = 0.0;
        for sample in samples {
            due += share;
            if due >= 1.0 {
                due -= 1.0;
                held_out.push(sample);
            } else {
                kept.push(sample);
            }
        }
        if held_out.is_empty() || kept.is_empty() {
            return (self, None);
        }
        kept.sort_unstable();
        held_out.sort_unstable();
        (Self { samples: kept, ..self.clone() }, Some(Self { samples: held_out, ..self }))
    }
}
