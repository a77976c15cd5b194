//! ±1 weights, one bit each: exactly m + 1 bits per row and output.
//!
//! Bit (row · outputs + output) · (m + 1) + i, counted from the lowest bit of the first byte, is w for i = 0 and factor
//! i otherwise; a set bit is +1. The outputs of a row are adjacent.

use alloc::vec::Vec;

/// The ±1 weights of all outputs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignRows {
    rows: usize,
    outputs: usize,
    factors: usize,
    bytes: Vec<u8>,
}

impl SignRows {
    /// Collects the signs given by `is_positive(output, row, column)`; column 0 is w.
    pub fn new(
        rows: usize,
        outputs: usize,
        factors: usize,
        is_positive: impl Fn(usize, usize, usize) -> bool,
    ) -> Self {
        let bytes = vec![0; Self::bytes_for(rows, outputs, factors).unwrap_or(0)];
        let mut signs = Self { rows, outputs, factors, bytes };
        for row in 0..rows {
            for output in 0..outputs {
                for column in 0..=factors {
                    let bit = signs.bit(output, row, column);
                    if let Some(byte) = signs.bytes.get_mut(bit / 8) {
                        *byte |= u8::from(is_positive(output, row, column)) << (bit % 8);
                    }
                }
            }
        }
        signs
    }

    /// Takes the bytes of a file; `None` if their number is wrong or a bit after the last weight is set.
    pub fn from_bytes(rows: usize, outputs: usize, factors: usize, bytes: Vec<u8>) -> Option<Self> {
        let bits = rows.checked_mul(outputs)?.checked_mul(factors + 1)?;
        let spare = bits % 8;
        let is_clean = spare == 0 || bytes.last().is_some_and(|last| last >> spare == 0);
        (bytes.len() == bits.div_ceil(8) && is_clean).then_some(Self {
            rows,
            outputs,
            factors,
            bytes,
        })
    }

    /// Returns the number of bytes for a table of this shape; `None` if it overflows.
    pub fn bytes_for(rows: usize, outputs: usize, factors: usize) -> Option<usize> {
        Some(rows.checked_mul(outputs)?.checked_mul(factors.checked_add(1)?)?.div_ceil(8))
    }

    /// Returns the number of parameter rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the number of outputs.
    pub fn outputs(&self) -> usize {
        self.outputs
    }

    /// Returns the number of factors m.
    pub fn factors(&self) -> usize {
        self.factors
    }

    /// Returns the bytes as stored in a file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns whether a weight is +1; column 0 is w.
    pub fn is_positive(&self, output: usize, row: usize, column: usize) -> bool {
        let bit = self.bit(output, row, column);
        self.bytes.get(bit / 8).is_some_and(|byte| byte >> (bit % 8) & 1 == 1)
    }

    /// Returns a weight, +1 or −1; column 0 is w.
    pub fn sign(&self, output: usize, row: usize, column: usize) -> i8 {
        if self.is_positive(output, row, column) { 1 } else { -1 }
    }

    fn bit(&self, output: usize, row: usize, column: usize) -> usize {
        (row * self.outputs + output) * (self.factors + 1) + column
    }
}
