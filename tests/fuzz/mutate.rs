//! Damage with a plan: numbers at extremes, parts of other models, bytes put in and taken out.

use crate::extremes;
use crate::seeds::{CHECKSUM, LENGTH, Seed, signed};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::Rng;
use std::ops::Range;

/// Numbers of the header, without magic and version, which end it all: where, and of how many bytes.
const HEADER: [(usize, usize); 12] = [
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

/// A longer input is cut: time is better spent on many short ones.
const LONGEST: usize = 1 << 13;

pub struct Mutator {
    pub rng: Xoshiro256PlusPlus,
}

impl Mutator {
    pub fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.rng.next_u64()) * limit as u128) >> 64) as usize
    }

    fn pick<T: Clone>(&mut self, items: &[T]) -> T {
        items[self.below(items.len())].clone()
    }

    /// A file made of a model and another, damaged one to five times; most have the right length and checksum.
    pub fn input(&mut self, seed: &Seed, other: &Seed) -> Vec<u8> {
        let mut body = seed.body().to_vec();
        for _ in 0..=self.below(5) {
            self.damage(&mut body, seed, other);
        }
        body.truncate(LONGEST);
        if self.below(16) > 0 {
            return signed(body);
        }
        let length = body.get(LENGTH).map(<[u8]>::to_vec);
        let mut bytes = signed(body);
        match (self.below(3), length) {
            // A wrong length with a checksum that fits it, a wrong checksum, none at all.
            (0, Some(length)) => {
                bytes.truncate(bytes.len() - CHECKSUM);
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

    fn damage(&mut self, body: &mut Vec<u8>, seed: &Seed, other: &Seed) {
        let at = self.place(body, seed);
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
                let (at, width) = self.pick(&HEADER);
                self.number(body, at, width);
            }
            4 => {
                let width = self.pick(&[1, 2, 4, 8]);
                self.number(body, at, width);
            }
            5 => {
                let count = extremes::nth_count(self.below(extremes::COUNTS));
                let over = self.below(2);
                replace(body, at..at + over, &extremes::count(count));
            }
            6 => {
                let noise: Vec<u8> =
                    (0..self.below(9)).map(|_| self.rng.next_u64() as u8).collect();
                let gone = self.below(9);
                replace(body, at..at + gone, &noise);
            }
            7 => {
                let size = self.below(64);
                let again = body.iter().skip(at).take(size).copied().collect::<Vec<_>>();
                replace(body, at..at, &again);
            }
            8 => {
                let from = self.place(other.body(), other);
                let tail = other.body()[from..].to_vec();
                replace(body, at..body.len(), &tail);
            }
            _ => {
                let place = self.pick(&seed.parts);
                let part = other.body()[self.pick(&other.parts)].to_vec();
                replace(body, place, &part);
            }
        }
    }

    /// A place in one of the parts, of which the bits are no likelier than the others.
    fn place(&mut self, body: &[u8], seed: &Seed) -> usize {
        let part = self.pick(&seed.parts);
        (part.start + self.below(part.len())).min(body.len())
    }

    fn number(&mut self, body: &mut [u8], at: usize, width: usize) {
        let near = body.len() as u64 + self.rng.next_u64() % 9;
        let value = match self.below(16) {
            0 => near,
            1 => near / 2,
            2 => near * 8,
            3 => self.rng.next_u64(),
            _ => self.pick(&extremes::values(width)),
        };
        let value = value.to_le_bytes();
        body.iter_mut().skip(at).zip(&value[..width]).for_each(|(byte, &new)| *byte = new);
    }
}

fn replace(body: &mut Vec<u8>, range: Range<usize>, with: &[u8]) {
    let end = range.end.min(body.len());
    body.splice(range.start.min(end)..end, with.iter().copied());
}
