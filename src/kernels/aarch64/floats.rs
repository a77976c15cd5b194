//! Four floats of NEON.
#![allow(clippy::wildcard_imports)] // intrinsics, each with its own name

use crate::kernels::steps::Floats;
use std::arch::aarch64::*;

/// A register of four floats.
#[derive(Clone, Copy)]
pub struct Four(float32x4_t);

// SAFETY, for all of this file: `Floats` are used only beneath an entry that has the target features, and what is read
// or written is as long as the slice says.
impl Floats for Four {
    const LANES: usize = 4;

    #[inline(always)]
    fn splat(number: f32) -> Self {
        unsafe { Self(vdupq_n_f32(number)) }
    }

    #[inline(always)]
    fn load(numbers: &[f32]) -> Self {
        let four = &numbers[..4];
        unsafe { Self(vld1q_f32(four.as_ptr())) }
    }

    #[inline(always)]
    fn store(self, numbers: &mut [f32]) {
        let four = &mut numbers[..4];
        unsafe { vst1q_f32(four.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        unsafe { Self(vaddq_f32(self.0, other.0)) }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        unsafe { Self(vsubq_f32(self.0, other.0)) }
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        unsafe { Self(vmulq_f32(self.0, other.0)) }
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        unsafe { Self(vdivq_f32(self.0, other.0)) }
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        unsafe { Self(vsqrtq_f32(self.0)) }
    }

    #[inline(always)]
    fn choose(self, plus: Self, minus: Self) -> Self {
        unsafe {
            let negative = vcltzq_s32(vreinterpretq_s32_f32(self.0));
            Self(vbslq_f32(negative, minus.0, plus.0))
        }
    }

    #[inline(always)]
    fn if_within_one(self, size: Self) -> Self {
        unsafe {
            let within = vcleq_f32(vabsq_f32(size.0), vdupq_n_f32(1.0));
            Self(vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(self.0), within)))
        }
    }
}
