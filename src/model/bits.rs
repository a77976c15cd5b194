//! ±1 weights, one bit each, exactly m + 1 bits a row and score function.
//!
//! Bit (row · functions + function) · (m + 1) + i, counted from the lowest bit of the first byte, is w for i = 0 and
//! factor i otherwise; a set bit is +1. The functions of a row lie side by side.
#![allow(clippy::indexing_slicing)] // as many bytes as rows · functions · (m + 1) bits take, checked where they are read

use alloc::vec::Vec;
/// The weights of all score functions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignRows {
    rows: usize,
    functions: usize,
    factors: usize,
    bytes: Vec<u8>,
}

impl SignRows {
    /// Collect the signs that `positive(function, row, column)` gives; column 0 is w.
    pub fn new(
        rows: usize,
        functions: usize,
        factors: usize,
        positive: impl Fn(usize, usize, usize) -> bool,
    ) -> Self {
        let mut signs = Self {
            rows,
            functions,
            factors,
            bytes: vec![0; bytes_for(rows, functions, factors).unwrap_or(0)],
        };
        for row in 0..rows {
            for function in 0..functions {
                for column in 0..=factors {
                    let bit = signs.bit(function, row, column);
                    signs.bytes[bit / 8] |= u8::from(positive(function, row, column)) << (bit % 8);
                }
            }
        }
        signs
    }

    /// From the bytes of a file; None if their number is wrong or a bit after the last one is set.
    pub fn from_bytes(
        rows: usize,
        functions: usize,
        factors: usize,
        bytes: Vec<u8>,
    ) -> Option<Self> {
        let bits = rows.checked_mul(functions)?.checked_mul(factors + 1)?;
        let spare = bits % 8;
        let clean = spare == 0 || bytes.last().is_some_and(|last| last >> spare == 0);
        (bytes.len() == bits.div_ceil(8) && clean).then_some(Self {
            rows,
            functions,
            factors,
            bytes,
        })
    }

    /// Number of parameter rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of score functions.
    pub fn functions(&self) -> usize {
        self.functions
    }

    /// Number of factors: m.
    pub fn factors(&self) -> usize {
        self.factors
    }

    /// As they stand in the file.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Whether a weight is +1; column 0 is w.
    pub fn positive(&self, function: usize, row: usize, column: usize) -> bool {
        let bit = self.bit(function, row, column);
        self.bytes[bit / 8] >> (bit % 8) & 1 == 1
    }

    /// +1 or −1; column 0 is w.
    pub fn sign(&self, function: usize, row: usize, column: usize) -> i8 {
        if self.positive(function, row, column) { 1 } else { -1 }
    }

    fn bit(&self, function: usize, row: usize, column: usize) -> usize {
        (row * self.functions + function) * (self.factors + 1) + column
    }
}

/// Bytes that so many weights take.
pub fn bytes_for(rows: usize, functions: usize, factors: usize) -> Option<usize> {
    Some(rows.checked_mul(functions)?.checked_mul(factors.checked_add(1)?)?.div_ceil(8))
}
