//! Every number of a file at its extremes.

use crate::seeds::{LENGTH, Seed};

/// Bytes that a number in a file can have.
const WIDTHS: [usize; 4] = [1, 2, 4, 8];

/// Values of so many bytes around which mistakes gather.
pub fn values(width: usize) -> [u64; 12] {
    let top = u64::MAX >> (64 - 8 * width);
    [0, 1, 2, 3, 126, 127, 128, 255 & top, top / 2, top / 2 + 1, top - 1, top]
}

/// Counts, in groups of seven bits, around which mistakes gather: powers of two and their neighbours.
pub fn counts() -> impl Iterator<Item = u64> {
    (0..COUNTS).map(nth_count)
}

/// One of them, by a number below [`COUNTS`].
pub fn nth_count(number: usize) -> u64 {
    (1_u64 << POWERS[number / 3]).wrapping_add([u64::MAX, 0, 2][number % 3])
}

/// How many there are.
pub const COUNTS: usize = 3 * POWERS.len();
const POWERS: [u32; 11] = [7, 8, 14, 16, 21, 24, 28, 31, 32, 35, 63];

/// A count as it stands in a file.
pub fn count(value: u64) -> Vec<u8> {
    let mut groups = vec![];
    let mut rest = value;
    while rest >= 0x80 {
        groups.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    groups.push(rest as u8);
    groups
}

/// Bodies in which one number is another: wherever one could stand, and of whatever kind.
pub fn of(seed: &Seed) -> impl Iterator<Item = Vec<u8>> {
    let body = seed.body();
    let numbers = WIDTHS.into_iter().flat_map(move |width| {
        (0..=body.len() - width).flat_map(move |at| {
            values(width).into_iter().map(move |value| {
                let mut body = body.to_vec();
                body[at..at + width].copy_from_slice(&value.to_le_bytes()[..width]);
                body
            })
        })
    });
    let counts = (LENGTH.end..body.len()).flat_map(move |at| {
        counts().map(move |value| [&body[..at], &count(value), &body[at + 1..]].concat())
    });
    // In the bits every value is a model's, and they are most of a file: the first and the last of them will do.
    numbers.chain(counts).filter(move |changed| {
        let at = changed.iter().zip(body).position(|(a, b)| a != b).unwrap_or(0);
        at < seed.bits.start + 32 || at + 16 > seed.bits.end
    })
}
