//! Randomness that means the same for ever: a named generator, and no rule but those written here.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Stream of the order of rows.
pub const SHUFFLE: u64 = 0;
/// Stream of the rows that are held out.
pub const HOLDOUT: u64 = 1;
/// Stream of the start of the first score function; the others follow.
pub const START: u64 = 2;

/// Stream of the features that the first score function leaves out; the others follow.
pub const DROPOUT: u64 = 1 << 32;

/// What the streams of one member of an ensemble are apart from those of the next.
pub const MEMBER: u64 = 1 << 40;

/// Odd and without pattern: streams of one seed have nothing in common.
const APART: u64 = 0x9e37_79b9_7f4a_7c15;

/// One of the independent streams of a seed.
pub fn stream(seed: u64, number: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed ^ number.wrapping_mul(APART))
}

/// A whole number below `limit`, which is small beside 2⁶⁴.
pub fn below(rng: &mut impl Rng, limit: usize) -> usize {
    ((u128::from(rng.next_u64()) * limit as u128) >> 64) as usize
}

/// A number in [0, 1).
pub fn unit(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Put in random order.
pub fn shuffle<T>(items: &mut [T], rng: &mut impl Rng) {
    for i in (1..items.len()).rev() {
        items.swap(i, below(rng, i + 1));
    }
}
