//! Random numbers that mean the same forever: a named generator, and no algorithm but those written here.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// Stream of the held-out samples.
pub const HOLDOUT: u64 = 1;
/// Stream of the initial weights of the first output; those of the others follow.
pub const INIT: u64 = 2;

/// Stream of the features that are dropped in the first pass; those of other passes and shards follow.
pub const DROPOUT: u64 = 1 << 32;

/// Stream of the order of samples in the first pass; those of other passes and shards follow.
pub const SHUFFLE: u64 = 1 << 36;

/// Distance between the streams of successive passes; those of the shards are in between.
pub const PASS: u64 = 1 << 10;

/// Distance between the streams of successive members of an ensemble.
pub const MEMBER: u64 = 1 << 40;

/// Odd and without pattern, so that the streams of a seed have nothing in common.
const STREAM_FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns one of the independent streams of a seed.
pub fn stream(seed: u64, number: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed ^ number.wrapping_mul(STREAM_FACTOR))
}

/// Returns a whole number below `limit`, which is small compared with 2⁶⁴.
pub fn below(rng: &mut impl Rng, limit: usize) -> usize {
    ((u128::from(rng.next_u64()) * limit as u128) >> 64) as usize
}

/// Returns a number in [0, 1).
pub fn unit(rng: &mut impl Rng) -> f64 {
    (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// Shuffles items.
pub fn shuffle<T>(items: &mut [T], rng: &mut impl Rng) {
    for i in (1..items.len()).rev() {
        items.swap(i, below(rng, i + 1));
    }
}
