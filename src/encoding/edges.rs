//! Floats as integers of the same order, and the edges between cells.
//!
//! A value is rounded to float32 and compared by its key: the bits of the float, rearranged so that comparing keys as
//! signed integers compares the numbers. An edge is a key that can be stored in few bytes: in one
//! ([`super::codebook`]), or as the leading 2 to 4 bytes of a key whose other bytes are zero.

use alloc::vec::Vec;

/// Returns the key of a number; −0.0 has the key of 0.0. The key of NaN is meaningless.
///
/// Uses integer operations only: in a process that flushes denormals to zero, float arithmetic would change the number.
#[inline(always)]
pub fn key(number: f32) -> i32 {
    let bits = number.to_bits() as i32;
    let key = bits ^ ((bits >> 31) & i32::MAX);
    // −1 would be the key of −0.0 alone.
    if key == -1 { 0 } else { key }
}

/// Returns the number that has a key.
pub fn number(key: i32) -> f32 {
    f32::from_bits((key ^ ((key >> 31) & i32::MAX)) as u32)
}

/// Strictly ascending edges; each is the key of the smallest number in the cell to its right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    keys: Vec<i32>,
}

impl Edges {
    /// Takes strictly ascending keys.
    pub fn new(keys: Vec<i32>) -> Self {
        debug_assert!(keys.is_sorted_by(|a, b| a < b));
        Self { keys }
    }

    /// Returns the keys.
    pub fn keys(&self) -> &[i32] {
        &self.keys
    }

    /// Returns the number of edges.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns whether there are no edges, and so a single cell.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the cell of a number.
    pub fn cell(&self, number: f32) -> u32 {
        let key = key(number);
        self.keys.partition_point(|&edge| edge <= key) as u32
    }
}

/// Flips the sign bit, so that keys count up from zero.
const SIGN: u32 = 1 << 31;

/// Returns the leading bytes of a key, as stored in the file.
pub fn leading(key: i32, bytes: u8) -> u32 {
    (key as u32 ^ SIGN).checked_shr(low_bits(bytes)).unwrap_or(0)
}

/// Returns the key with these leading bytes and zeros after them.
pub fn from_leading(leading: u32, bytes: u8) -> i32 {
    (leading.checked_shl(low_bits(bytes)).unwrap_or(0) ^ SIGN) as i32
}

/// Returns the smallest number of leading bytes, at least 2, after which all of these keys are zero.
pub fn min_bytes(keys: &[i32]) -> u8 {
    let zeros = keys.iter().map(|key| key.trailing_zeros()).min().unwrap_or(32);
    4 - (zeros / 8).min(2) as u8
}

fn low_bits(bytes: u8) -> u32 {
    32 - 8 * u32::from(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_order_of_numbers() {
        let numbers = [
            f32::NEG_INFINITY,
            f32::MIN,
            -1.5,
            -1.0,
            -1e-45,
            0.0,
            1e-45,
            1.0,
            1.5,
            f32::MAX,
            f32::INFINITY,
        ];
        assert!(numbers.is_sorted_by(|&a, &b| key(a) < key(b)));
        assert_eq!(key(-0.0), key(0.0));
        for x in numbers {
            assert_eq!(number(key(x)).to_bits(), x.to_bits());
        }
    }

    #[test]
    fn leading_bytes_round_trip() {
        for x in [-3.7e8_f32, -1.0, -2e-40, 0.0, 0.3, 1.0, 6.02e23] {
            for bytes in 2..=4 {
                let short = from_leading(leading(key(x), bytes), bytes);
                assert_eq!(from_leading(leading(short, bytes), bytes), short);
                assert!(short <= key(x) && min_bytes(&[short]) <= bytes, "{x} with {bytes} bytes");
            }
        }
        assert_eq!(min_bytes(&[0, 1 << 16]), 2);
        assert_eq!(min_bytes(&[1 << 15, 1 << 16]), 3);
        assert_eq!(min_bytes(&[1]), 4);
    }
}
