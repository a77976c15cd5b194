//! Numbers kept for each row of the parameter table.

use alloc::vec::Vec;

/// A number for each w and each v of an output: float weights, proxies of signs, or sums of squared gradients.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RowWeights {
    /// One per row.
    pub w: Vec<f32>,
    /// m per row.
    pub v: Vec<f32>,
}

/// The sign bit of a float.
pub const SIGN_BIT: u32 = 1 << 31;

/// Returns true if the sign of a proxy is +1; the sign of 0 is.
#[inline(always)]
pub fn is_positive(proxy: f32) -> bool {
    proxy.to_bits() & SIGN_BIT == 0
}
