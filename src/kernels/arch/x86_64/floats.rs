//! Eight floats in a register of AVX2.

use crate::kernels::floats::Floats;
use crate::kernels::weights::SIGN_BIT;
use std::arch::x86_64::*;

/// A register of eight floats.
#[derive(Clone, Copy)]
pub struct F32x8(__m256);

impl Floats for F32x8 {
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn splat(number: f32) -> Self {
        Self(_mm256_set1_ps(number))
    }

    #[inline(always)]
    unsafe fn load(numbers: &[f32]) -> Self {
        let eight = &numbers[..8];
        Self(_mm256_loadu_ps(eight.as_ptr()))
    }

    #[inline(always)]
    unsafe fn store(self, numbers: &mut [f32]) {
        let eight = &mut numbers[..8];
        _mm256_storeu_ps(eight.as_mut_ptr(), self.0);
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Self(_mm256_add_ps(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Self(_mm256_sub_ps(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        Self(_mm256_mul_ps(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn div(self, other: Self) -> Self {
        Self(_mm256_div_ps(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn sqrt(self) -> Self {
        Self(_mm256_sqrt_ps(self.0))
    }

    #[inline(always)]
    unsafe fn select_by_sign(self, plus: Self, minus: Self) -> Self {
        Self(_mm256_blendv_ps(plus.0, minus.0, self.0))
    }

    #[inline(always)]
    unsafe fn where_within_one(self, proxy: Self) -> Self {
        let size = _mm256_andnot_ps(_mm256_set1_ps(f32::from_bits(SIGN_BIT)), proxy.0);
        let within = _mm256_cmp_ps::<_CMP_LE_OQ>(size, _mm256_set1_ps(1.0));
        Self(_mm256_and_ps(self.0, within))
    }
}
