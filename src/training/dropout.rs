//! Dropout: features hidden from a sample at random, anew at every visit, so that signs which rely on a single feature do
//! not last. A sample with all its features scores higher than those in training, so the scales are refitted.

use super::head::HeadId;
use super::{Params, rng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Hides a share of the features of each sample.
pub struct Dropout {
    share: f64,
    rng: Xoshiro256PlusPlus,
    values: Vec<f32>,
}

impl Dropout {
    /// Creates the dropout of one head.
    pub fn new(params: &Params, id: HeadId) -> Self {
        let rng = rng::stream(params.seed, rng::DROPOUT + id.stream());
        Self { share: params.dropout, rng, values: Vec::new() }
    }

    /// Returns whether any feature is hidden.
    pub fn is_on(&self) -> bool {
        self.share > 0.0
    }

    /// Removes some starts, and returns the values of the others.
    #[inline]
    pub fn apply<'a>(&'a mut self, starts: &mut Vec<u32>, values: &'a [f32]) -> &'a [f32] {
        if !self.is_on() {
            return values;
        }
        let Self { share, rng, values: kept } = self;
        kept.clear();
        let mut place = 0;
        starts.retain(|_| {
            let stays = rng::unit(rng) >= *share;
            kept.extend(values.get(place).filter(|_| stays));
            place += 1;
            stays
        });
        kept
    }

    /// Returns the values that [`Dropout::apply`] left of a sample.
    #[inline]
    pub fn remaining<'a>(&'a self, values: &'a [f32]) -> &'a [f32] {
        if self.is_on() { &self.values } else { values }
    }
}
