//! Four floats in a register of NEON.

use crate::kernels::floats::Floats;
use std::arch::aarch64::*;

/// A register of four floats.
#[derive(Clone, Copy)]
pub struct F32x4(float32x4_t);

impl Floats for F32x4 {
    const LANES: usize = 4;

    #[inline(always)]
    unsafe fn splat(number: f32) -> Self {
        Self(vdupq_n_f32(number))
    }

    #[inline(always)]
    unsafe fn load(numbers: &[f32]) -> Self {
        let four = &numbers[..4];
        Self(vld1q_f32(four.as_ptr()))
    }

    #[inline(always)]
    unsafe fn store(self, numbers: &mut [f32]) {
        let four = &mut numbers[..4];
        vst1q_f32(four.as_mut_ptr(), self.0);
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Self(vaddq_f32(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Self(vsubq_f32(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn mul(self, other: Self) -> Self {
        Self(vmulq_f32(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn div(self, other: Self) -> Self {
        Self(vdivq_f32(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn sqrt(self) -> Self {
        Self(vsqrtq_f32(self.0))
    }

    #[inline(always)]
    unsafe fn select_by_sign(self, plus: Self, minus: Self) -> Self {
        let negative = vcltzq_s32(vreinterpretq_s32_f32(self.0));
        Self(vbslq_f32(negative, minus.0, plus.0))
    }

    #[inline(always)]
    unsafe fn where_within_one(self, proxy: Self) -> Self {
        let within = vcleq_f32(vabsq_f32(proxy.0), vdupq_n_f32(1.0));
        Self(vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(self.0), within)))
    }
}
