//! Dropout: features hidden from a sample at random, anew at every visit, so that signs which rely on a single feature do
//! not last. A sample with all its features scores higher than those in training, so the scales are refitted.

use super::rng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Hides a share of the features of each sample.
pub struct Dropout {
    share: f64,
    rng: Xoshiro256PlusPlus,
}

impl Dropout {
    /// Creates the dropout of one pass, if any feature is to be hidden.
    pub fn new(share: f64, seed: u64, stream: u64) -> Option<Self> {
        (share > 0.0).then(|| Self { share, rng: rng::stream(seed, rng::DROPOUT + stream) })
    }

    /// Removes some of the starts from `from` on, and their values if there are any.
    pub fn apply(&mut self, from: usize, starts: &mut Vec<u32>, values: &mut Vec<f32>) {
        let mut kept = from;
        for i in from..starts.len() {
            if rng::unit(&mut self.rng) < self.share {
                continue;
            }
            starts[kept] = starts[i];
            if !values.is_empty() {
                values[kept] = values[i];
            }
            kept += 1;
        }
        starts.truncate(kept);
        values.truncate(kept);
    }
}
