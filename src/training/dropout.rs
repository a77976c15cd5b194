//! Features left out of a row at random, anew at every visit: signs that lean on one feature alone do not last.
//! Scores of rows with all their features are larger than those that were trained, so the scales are fitted again.

use super::machine::Seat;
use super::{Params, random};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Leaves out a share of the features of each row.
pub struct Dropout {
    share: f64,
    rng: Xoshiro256PlusPlus,
    values: Vec<f32>,
}

impl Dropout {
    /// For one score function.
    pub fn new(params: &Params, seat: Seat) -> Self {
        let rng = random::stream(params.seed, random::DROPOUT + seat.stream());
        Self { share: params.dropout, rng, values: Vec::new() }
    }

    /// Whether anything is left out.
    pub fn is_on(&self) -> bool {
        self.share > 0.0
    }

    /// Leave out some starts, and their values if they have any.
    #[inline]
    pub fn thin<'a>(&'a mut self, starts: &mut Vec<u32>, values: &'a [f32]) -> &'a [f32] {
        if !self.is_on() {
            return values;
        }
        let Self { share, rng, values: kept } = self;
        kept.clear();
        let mut place = 0;
        starts.retain(|_| {
            let stays = random::unit(rng) >= *share;
            kept.extend(values.get(place).filter(|_| stays));
            place += 1;
            stays
        });
        kept
    }

    /// Of the values of a row, those that [`Dropout::thin`] left.
    #[inline]
    pub fn left<'a>(&'a self, values: &'a [f32]) -> &'a [f32] {
        if self.is_on() { &self.values } else { values }
    }
}
