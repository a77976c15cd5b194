//! Weights as bits: exactly `w_bits` + m per row and output.
//!
//! Bit (row · outputs + output) · (`w_bits` + m) + i, counted from the lowest bit of the first byte, is bit i of w for
//! i < `w_bits`, and else a factor; a set bit is +1. The outputs of a row are adjacent. Bit i of w has the weight 2^i:
//!
//! ```text
//! w = Σ ±2^i = 2u − (2^w_bits − 1)        where u is the number whose binary digits are the bits of w
//! ```
//!
//! So w is an odd number, and ±1 if it has one bit.

use crate::Result;
use crate::memory::{copied, filled};
use alloc::vec::Vec;

/// Largest number of bits of a w.
pub const MAX_W_BITS: usize = 8;

/// The shape of a table of bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignShape {
    /// Number of parameter rows.
    pub rows: usize,
    /// Number of outputs.
    pub outputs: usize,
    /// Bits of each w: 1 to [`MAX_W_BITS`], or 0 where w is not among the bits.
    pub w_bits: usize,
    /// Number of factors m.
    pub factors: usize,
}

impl SignShape {
    /// Returns the number of bits; `None` if it overflows.
    fn bits(self) -> Option<usize> {
        self.rows.checked_mul(self.outputs)?.checked_mul(self.w_bits.checked_add(self.factors)?)
    }

    /// Returns the number of bytes; `None` if it overflows.
    pub fn bytes(self) -> Option<usize> {
        Some(self.bits()?.div_ceil(8))
    }

    /// Returns the largest w.
    pub fn max_w(self) -> i16 {
        (1 << self.w_bits) - 1
    }

    /// Returns where the bits of a row and output begin.
    fn first_bit(self, output: usize, row: usize) -> usize {
        (row * self.outputs + output) * (self.w_bits + self.factors)
    }
}

/// The weights of all outputs: w as small odd numbers, factors as signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignRows {
    shape: SignShape,
    bytes: Vec<u8>,
}

impl SignRows {
    /// Collects `w(output, row)`, which must be odd and within ±[`SignShape::max_w`], and the signs of the factors,
    /// `is_positive(output, row, factor)`.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(
        shape: SignShape,
        w: impl Fn(usize, usize) -> i16,
        is_positive: impl Fn(usize, usize, usize) -> bool,
    ) -> Result<Self> {
        let mut signs = Self { shape, bytes: filled(shape.bytes().unwrap_or(0), 0)? };
        for row in 0..shape.rows {
            for output in 0..shape.outputs {
                let first = shape.first_bit(output, row);
                let twice_u = w(output, row) + shape.max_w();
                (0..shape.w_bits).for_each(|i| signs.set(first + i, twice_u >> (i + 1) & 1 == 1));
                for factor in 0..shape.factors {
                    signs.set(first + shape.w_bits + factor, is_positive(output, row, factor));
                }
            }
        }
        Ok(signs)
    }

    /// Takes the bytes of a file; `None` if their number is wrong or a bit after the last weight is set.
    pub fn from_bytes(shape: SignShape, bytes: Vec<u8>) -> Option<Self> {
        let bits = shape.bits()?;
        let spare = bits % 8;
        let is_clean = spare == 0 || bytes.last().is_some_and(|last| last >> spare == 0);
        (bytes.len() == bits.div_ceil(8) && is_clean).then_some(Self { shape, bytes })
    }

    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> Result<Self> {
        Ok(Self { bytes: copied(&self.bytes)?, ..*self })
    }

    /// Returns rows, outputs and bits of each row.
    pub fn shape(&self) -> SignShape {
        self.shape
    }

    /// Returns the number of parameter rows.
    pub fn rows(&self) -> usize {
        self.shape.rows
    }

    /// Returns the number of outputs.
    pub fn outputs(&self) -> usize {
        self.shape.outputs
    }

    /// Returns the number of factors m.
    pub fn factors(&self) -> usize {
        self.shape.factors
    }

    /// Returns the bytes as stored in a file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns u, the number whose binary digits are the bits of a w.
    pub fn stored_w(&self, output: usize, row: usize) -> u8 {
        let first = self.shape.first_bit(output, row);
        (0..self.shape.w_bits).map(|i| u8::from(self.is_set(first + i)) << i).sum()
    }

    /// Returns w = 2u − (2^`w_bits` − 1).
    pub fn w(&self, output: usize, row: usize) -> i16 {
        2 * i16::from(self.stored_w(output, row)) - self.shape.max_w()
    }

    /// Returns whether a factor is +1.
    pub fn is_positive(&self, output: usize, row: usize, factor: usize) -> bool {
        self.is_set(self.shape.first_bit(output, row) + self.shape.w_bits + factor)
    }

    /// Returns a factor, +1 or −1.
    pub fn sign(&self, output: usize, row: usize, factor: usize) -> i8 {
        if self.is_positive(output, row, factor) { 1 } else { -1 }
    }

    /// Returns whether two rows have the same weights in all outputs.
    pub fn are_alike(&self, a: usize, b: usize) -> bool {
        (0..self.outputs()).all(|output| {
            self.stored_w(output, a) == self.stored_w(output, b)
                && (0..self.factors())
                    .all(|i| self.is_positive(output, a, i) == self.is_positive(output, b, i))
        })
    }

    /// Returns bounds on |L| and |Q| where at most `active` rows are active.
    pub fn term_bounds(&self, active: u64) -> (u64, u64) {
        (active * self.shape.max_w() as u64, self.factors() as u64 * active * active)
    }

    fn is_set(&self, bit: usize) -> bool {
        self.bytes.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    }

    fn set(&mut self, bit: usize, to: bool) {
        if let Some(byte) = self.bytes.get_mut(bit / 8) {
            *byte |= u8::from(to) << (bit % 8);
        }
    }
}
