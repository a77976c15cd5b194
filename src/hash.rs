//! Hashes that mean the same forever.

/// Odd numbers without pattern.
const FACTORS: [u64; 2] = [0x9e37_79b9_7f4a_7c15, 0xd6e8_feb8_6659_fd93];

/// Mixes a number into a hash.
#[inline]
pub fn mix(hash: u64, number: u64) -> u64 {
    let product = u128::from(hash ^ FACTORS[0]) * u128::from(number ^ FACTORS[1]);
    product as u64 ^ (product >> 64) as u64
}
