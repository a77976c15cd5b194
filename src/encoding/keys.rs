//! Floats as integers of the same order, and bin edges in as few bytes as will do.
//!
//! A value is rounded to float32 and compared by its key: the float's bits, turned so that a signed integer comparison
//! gives the order of the numbers. An edge is a key that can be written in few bytes: one ([`super::codes`]), or the
//! leading 2 to 4 of the key, the rest being zero.

use alloc::vec::Vec;

/// Key of a number; −0.0 has the key of 0.0. NaN has none: ask before.
///
/// Integers only: a process that flushes denormals to zero would change a sum.
#[inline(always)]
pub fn key(number: f32) -> i32 {
    let bits = number.to_bits() as i32;
    let key = bits ^ ((bits >> 31) & i32::MAX);
    // −1 is the key that −0.0 alone would have.
    if key == -1 { 0 } else { key }
}

/// The number whose key this is.
pub fn number(key: i32) -> f32 {
    f32::from_bits((key ^ ((key >> 31) & i32::MAX)) as u32)
}

/// Strictly ascending bin edges, each the key of the smallest number to its right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Edges {
    keys: Vec<i32>,
}

impl Edges {
    /// From ascending keys.
    pub fn new(keys: Vec<i32>) -> Self {
        debug_assert!(keys.is_sorted_by(|a, b| a < b));
        Self { keys }
    }

    /// The keys.
    pub fn keys(&self) -> &[i32] {
        &self.keys
    }

    /// Number of edges.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether there is one cell only.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Cell of a number.
    pub fn cell(&self, number: f32) -> u32 {
        let key = key(number);
        self.keys.partition_point(|&edge| edge <= key) as u32
    }
}

/// Turns the sign bit, so that keys count up from zero.
const SIGN: u32 = 1 << 31;

/// The leading bytes of a key, as they stand in the file.
pub fn leading(key: i32, bytes: u8) -> u32 {
    (key as u32 ^ SIGN).checked_shr(low_bits(bytes)).unwrap_or(0)
}

/// The key whose leading bytes these are.
pub fn from_leading(leading: u32, bytes: u8) -> i32 {
    (leading.checked_shl(low_bits(bytes)).unwrap_or(0) ^ SIGN) as i32
}

/// The fewest leading bytes, from 2 up, after which all of these keys are zero.
pub fn least_bytes(keys: &[i32]) -> u8 {
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
    fn leading_bytes_come_back() {
        for x in [-3.7e8_f32, -1.0, -2e-40, 0.0, 0.3, 1.0, 6.02e23] {
            for bytes in 2..=4 {
                let short = from_leading(leading(key(x), bytes), bytes);
                assert_eq!(from_leading(leading(short, bytes), bytes), short);
                assert!(
                    short <= key(x) && least_bytes(&[short]) <= bytes,
                    "{x} with {bytes} bytes"
                );
            }
        }
        assert_eq!(least_bytes(&[0, 1 << 16]), 2);
        assert_eq!(least_bytes(&[1 << 15, 1 << 16]), 3);
        assert_eq!(least_bytes(&[1]), 4);
    }
}
