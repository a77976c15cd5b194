//! Files in which one number is replaced by an extreme value.

use crate::seeds::{LENGTH, Seed};

/// Widths of the numbers in a file, in bytes.
const WIDTHS: [usize; 4] = [1, 2, 4, 8];

/// Boundary values of a number that is `width` bytes wide.
pub fn values(width: usize) -> [u64; 12] {
    let max = u64::MAX >> (64 - 8 * width);
    [0, 1, 2, 3, 126, 127, 128, 255 & max, max / 2, max / 2 + 1, max - 1, max]
}

/// Boundary values of a count: numbers around powers of two.
pub fn counts() -> impl Iterator<Item = u64> {
    (0..COUNTS).map(nth_count)
}

/// Returns the boundary count with this index, which must be below [`COUNTS`].
pub fn nth_count(index: usize) -> u64 {
    (1_u64 << POWERS[index / 3]).wrapping_add([u64::MAX, 0, 2][index % 3])
}

/// Number of boundary counts.
pub const COUNTS: usize = 3 * POWERS.len();
const POWERS: [u32; 11] = [7, 8, 14, 16, 21, 24, 28, 31, 32, 35, 63];

/// Encodes a count as the file does: groups of seven bits, lowest first.
pub fn encode_count(value: u64) -> Vec<u8> {
    let mut groups = vec![];
    let mut rest = value;
    while rest >= 0x80 {
        groups.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    groups.push(rest as u8);
    groups
}

/// Returns copies of the body with one number replaced, at every offset and for every width and encoding.
pub fn bodies(seed: &Seed) -> impl Iterator<Item = Vec<u8>> {
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
        counts().map(move |value| [&body[..at], &encode_count(value), &body[at + 1..]].concat())
    });
    // The weights make up most of a file, and nearly any bits are valid there: trying both ends of them is enough.
    numbers.chain(counts).filter(move |changed| {
        let at = changed.iter().zip(body).position(|(a, b)| a != b).unwrap_or(0);
        at < seed.weights.start + 32 || at + 16 > seed.weights.end
    })
}
