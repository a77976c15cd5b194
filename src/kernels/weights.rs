//! Numbers kept for each row of the parameter table.

use crate::aligned::Aligned;
use alloc::vec::Vec;

/// A number for each w and each v of an output: float weights, proxies of signs, or sums of squared gradients.
#[derive(Debug, Default, PartialEq)]
pub struct RowWeights {
    /// One per row.
    pub w: Vec<f32>,
    /// m per row.
    pub v: Aligned<f32>,
}

/// What a weight is used as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Its sign, ±1.
    Sign,
    /// The number itself.
    Float,
    /// The number itself; and the rows of a cell count as one, which makes no pair with itself.
    Level,
}

/// The sign bit of a float.
pub const SIGN_BIT: u32 = 1 << 31;

impl Kind {
    /// Returns the value that a weight is used as.
    #[inline(always)]
    pub fn value(self, weight: f32) -> f32 {
        match self {
            Self::Sign => f32::from_bits(1_f32.to_bits() | weight.to_bits() & SIGN_BIT),
            Self::Float | Self::Level => weight,
        }
    }
}

/// Returns true if the sign of a proxy is +1; the sign of 0 is.
#[inline(always)]
pub fn is_positive(proxy: f32) -> bool {
    proxy.to_bits() & SIGN_BIT == 0
}
