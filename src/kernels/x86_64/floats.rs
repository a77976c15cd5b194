//! Eight floats of AVX2.
#![allow(clippy::wildcard_imports)] // intrinsics, each with its own name

use crate::kernels::steps::{Floats, SIGN};
use std::arch::x86_64::*;

/// A register of eight floats.
#[derive(Clone, Copy)]
pub struct Eight(__m256);

// SAFETY, for all of this file: `Floats` are used only beneath an entry that has the target features, and what is read
// or written is as long as the slice says.
impl Floats for Eight {
    const LANES: usize = 8;

    #[inline(always)]
    fn splat(number: f32) -> Self {
        unsafe { Self(_mm256_set1_ps(number)) }
    }

    #[inline(always)]
    fn load(numbers: &[f32]) -> Self {
        let eight = &numbers[..8];
        unsafe { Self(_mm256_loadu_ps(eight.as_ptr())) }
    }

    #[inline(always)]
    fn store(self, numbers: &mut [f32]) {
        let eight = &mut numbers[..8];
        unsafe { _mm256_storeu_ps(eight.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        unsafe { Self(_mm256_add_ps(self.0, other.0)) }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        unsafe { Self(_mm256_sub_ps(self.0, other.0)) }
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        unsafe { Self(_mm256_mul_ps(self.0, other.0)) }
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        unsafe { Self(_mm256_div_ps(self.0, other.0)) }
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        unsafe { Self(_mm256_sqrt_ps(self.0)) }
    }

    #[inline(always)]
    fn choose(self, plus: Self, minus: Self) -> Self {
        unsafe { Self(_mm256_blendv_ps(plus.0, minus.0, self.0)) }
    }

    #[inline(always)]
    fn if_within_one(self, size: Self) -> Self {
        unsafe {
            let size = _mm256_andnot_ps(_mm256_set1_ps(f32::from_bits(SIGN)), size.0);
            let within = _mm256_cmp_ps::<_CMP_LE_OQ>(size, _mm256_set1_ps(1.0));
            Self(_mm256_and_ps(self.0, within))
        }
    }
}
