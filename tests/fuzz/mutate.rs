//! Structured mutations: extreme numbers, parts of other models, inserted and deleted bytes.

use crate::extremes;
use crate::seeds::{CHECKSUM_BYTES, LENGTH, Seed, sealed};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use std::ops::Range;

/// Offset and width of each number in the header. Magic and version are left out: any change there is rejected at once.
const HEADER_FIELDS: [(usize, usize); 12] = [
    (5, 1),
    (6, 4),
    (10, 4),
    (14, 2),
    (16, 2),
    (18, 1),
    (19, 1),
    (20, 1),
    (21, 1),
    (22, 1),
    (23, 2),
    (25, 2),
];

/// Longer inputs are truncated: many short ones find more in the same time.
const MAX_BYTES: usize = 1 << 13;

pub struct Mutator {
    pub rng: Xoshiro256PlusPlus,
}

impl Mutator {
    /// Returns a random number below `limit`.
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.rng.next_u64()) * limit as u128) >> 64) as usize
    }

    /// Returns a random item.
    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    /// Returns a seed after one to five mutations, which may splice in parts of the other seed. Most inputs have a
    /// valid length and checksum.
    pub fn input(&mut self, seed: &Seed, other: &Seed) -> Vec<u8> {
        let mut body = seed.body().to_vec();
        for _ in 0..=self.below(5) {
            self.mutate(&mut body, seed, other);
        }
        body.truncate(MAX_BYTES);
        if self.below(16) > 0 {
            return sealed(body);
        }
        let length = body.get(LENGTH).map(<[u8]>::to_vec);
        let mut bytes = sealed(body);
        match (self.below(3), length) {
            // A wrong length with a valid checksum, a single flipped bit, or a truncated file.
            (0, Some(length)) => {
                bytes.truncate(bytes.len() - CHECKSUM_BYTES);
                bytes[LENGTH].copy_from_slice(&length);
                let checksum = crc32c::crc32c(&bytes);
                bytes.extend(checksum.to_le_bytes());
            }
            (1, _) => {
                let bit = self.below(8 * bytes.len());
                bytes[bit / 8] ^= 1 << (bit % 8);
            }
            _ => bytes.truncate(self.below(bytes.len())),
        }
        bytes
    }

    /// Applies one random mutation to the body.
    fn mutate(&mut self, body: &mut Vec<u8>, seed: &Seed, other: &Seed) {
        let at = self.offset(body, seed);
        match self.below(10) {
            kind @ 0..3 => {
                let noise = self.rng.next_u64() as u8;
                for byte in body.iter_mut().skip(at).take(1) {
                    *byte = match kind {
                        0 => *byte ^ 1 << (noise % 8),
                        1 => noise,
                        _ => byte.wrapping_add(1 | noise & 2),
                    };
                }
            }
            3 => {
                let (at, width) = self.pick(&HEADER_FIELDS);
                self.write_number(body, at, width);
            }
            4 => {
                let width = self.pick(&[1, 2, 4, 8]);
                self.write_number(body, at, width);
            }
            5 => {
                let count = extremes::nth_count(self.below(extremes::COUNTS));
                let removed = self.below(2);
                replace(body, at..at + removed, &extremes::encode_count(count));
            }
            6 => {
                let noise: Vec<u8> =
                    (0..self.below(9)).map(|_| self.rng.next_u64() as u8).collect();
                let removed = self.below(9);
                replace(body, at..at + removed, &noise);
            }
            7 => {
                let size = self.below(64);
                let copy = body.iter().skip(at).take(size).copied().collect::<Vec<_>>();
                replace(body, at..at, &copy);
            }
            8 => {
                let from = self.offset(other.body(), other);
                let tail = other.body()[from..].to_vec();
                replace(body, at..body.len(), &tail);
            }
            _ => {
                let target = self.pick(&seed.parts);
                let source = other.body()[self.pick(&other.parts)].to_vec();
                replace(body, target, &source);
            }
        }
    }

    /// Returns a random offset; every part is equally likely, so that the weights, the largest, do not dominate.
    fn offset(&mut self, body: &[u8], seed: &Seed) -> usize {
        let part = self.pick(&seed.parts);
        (part.start + self.below(part.len())).min(body.len())
    }

    /// Overwrites a number with an extreme value, a random one, or one close to the size of the file.
    fn write_number(&mut self, body: &mut [u8], at: usize, width: usize) {
        let near_size = body.len() as u64 + self.rng.next_u64() % 9;
        let value = match self.below(16) {
            0 => near_size,
            1 => near_size / 2,
            2 => near_size * 8,
            3 => self.rng.next_u64(),
            _ => self.pick(&extremes::values(width)),
        };
        let value = value.to_le_bytes();
        body.iter_mut().skip(at).zip(&value[..width]).for_each(|(byte, &new)| *byte = new);
    }
}

/// Replaces a range of the body, clipped to its end.
fn replace(body: &mut Vec<u8>, range: Range<usize>, with: &[u8]) {
    let end = range.end.min(body.len());
    body.splice(range.start.min(end)..end, with.iter().copied());
}
