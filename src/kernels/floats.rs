//! Floats in a register, for algorithms that are written once for all tiers.

use super::weights::is_positive;

/// Several floats in a register; all operations are lane by lane. A plain `f32` is the definition.
///
/// # Safety
/// All functions require that the CPU has the instructions of the register. They are inlined, and fast only beneath a
/// function with the matching target features.
pub trait Floats: Copy {
    /// Number of floats in the register.
    const LANES: usize;

    /// Sets all lanes to the same number.
    unsafe fn splat(number: f32) -> Self;
    /// Loads the first [`Floats::LANES`] numbers of a slice.
    unsafe fn load(numbers: &[f32]) -> Self;
    /// Stores into the first [`Floats::LANES`] numbers of a slice.
    unsafe fn store(self, numbers: &mut [f32]);
    /// Adds.
    unsafe fn add(self, other: Self) -> Self;
    /// Subtracts.
    unsafe fn sub(self, other: Self) -> Self;
    /// Multiplies.
    unsafe fn mul(self, other: Self) -> Self;
    /// Divides.
    unsafe fn div(self, other: Self) -> Self;
    /// Returns the square root, correctly rounded.
    unsafe fn sqrt(self) -> Self;
    /// Returns `plus` where the sign of `self` is +, and `minus` where it is −.
    unsafe fn select_by_sign(self, plus: Self, minus: Self) -> Self;
    /// Returns `self` where `proxy` is within [−1, 1], and 0 elsewhere.
    unsafe fn where_within_one(self, proxy: Self) -> Self;
}

impl Floats for f32 {
    const LANES: usize = 1;

    #[inline(always)]
    unsafe fn splat(number: f32) -> Self {
        number
    }

    #[inline(always)]
    unsafe fn load(numbers: &[f32]) -> Self {
        numbers[0]
    }

    #[inline(always)]
    unsafe fn store(self, numbers: &mut [f32]) {
        numbers[0] = self;
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        self - other
    }

    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        self * other
    }

    #[inline(always)]
    unsafe fn div(self, other: Self) -> Self {
        self / other
    }

    #[inline(always)]
    unsafe fn sqrt(self) -> Self {
        f32::sqrt(self)
    }

    #[inline(always)]
    unsafe fn select_by_sign(self, plus: Self, minus: Self) -> Self {
        if is_positive(self) { plus } else { minus }
    }

    #[inline(always)]
    unsafe fn where_within_one(self, proxy: Self) -> Self {
        if proxy.abs() <= 1.0 { self } else { 0.0 }
    }
}
