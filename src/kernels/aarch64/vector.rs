//! The registers of NEON: 16 rows at a time.
#![allow(clippy::wildcard_imports)] // intrinsics, each with its own name

use crate::kernels::lookup::CELLS;
use crate::kernels::vector::{MOST_ROWS, QUAD, Vector};
use std::arch::aarch64::*;

/// A register of 16 bytes.
#[derive(Clone, Copy)]
pub struct Register(uint8x16_t);

// SAFETY, for all of this file: a `Vector` is used only beneath an entry that has the target features, and what is read
// or written is as long as the slice or array says.
impl Vector for Register {
    type Cells = uint8x16_t;
    const ROWS: usize = 16;

    #[inline(always)]
    fn splat(byte: u8) -> Self {
        unsafe { Self(vdupq_n_u8(byte)) }
    }

    #[inline(always)]
    fn splat_pair(pair: i16) -> Self {
        unsafe { Self(vreinterpretq_u8_s16(vdupq_n_s16(pair))) }
    }

    #[inline(always)]
    fn load(bytes: &[u8]) -> Self {
        let bytes = &bytes[..Self::ROWS];
        unsafe { Self(vld1q_u8(bytes.as_ptr())) }
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8; MOST_ROWS]) {
        unsafe { vst1q_u8(bytes.as_mut_ptr(), self.0) }
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        unsafe { Self(vandq_u8(self.0, other.0)) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        unsafe { Self(vaddq_u8(self.0, other.0)) }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        unsafe { Self(vsubq_u8(self.0, other.0)) }
    }

    #[inline(always)]
    fn pair_gt(self, other: Self) -> Self {
        unsafe {
            let (a, b) = (vreinterpretq_s16_u8(self.0), vreinterpretq_s16_u8(other.0));
            Self(vreinterpretq_u8_u16(vcgtq_s16(a, b)))
        }
    }

    #[inline(always)]
    fn pair_keys(self) -> Self {
        unsafe {
            let negative = vshrq_n_s16::<15>(vreinterpretq_s16_u8(self.0));
            let flipped = vshrq_n_u16::<1>(vreinterpretq_u16_s16(negative));
            Self(veorq_u8(self.0, vreinterpretq_u8_u16(flipped)))
        }
    }

    #[inline(always)]
    fn merge(self, odd: Self) -> Self {
        unsafe { Self(vbslq_u8(vreinterpretq_u8_u16(vdupq_n_u16(0x00ff)), self.0, odd.0)) }
    }

    #[inline(always)]
    fn pick(self, table: &[u8; 16]) -> Self {
        unsafe { Self(vqtbl1q_u8(vld1q_u8(table.as_ptr()), self.0)) }
    }

    #[inline(always)]
    fn pick_pair(self, table: &[u8; 32]) -> Self {
        unsafe { Self(vqtbl2q_u8(vld1q_u8_x2(table.as_ptr()), self.0)) }
    }

    #[inline(always)]
    fn cells(self) -> uint8x16_t {
        self.0
    }

    #[inline(always)]
    fn look_up(table: &[u8], cells: uint8x16_t) -> Self {
        let table = &table[..CELLS];
        unsafe { Self(vqtbl2q_u8(vld1q_u8_x2(table.as_ptr()), cells)) }
    }

    #[inline(always)]
    fn count_ones(self) -> Self {
        unsafe { Self(vcntq_u8(self.0)) }
    }

    #[inline(always)]
    fn full_add(self, b: Self, c: Self) -> (Self, Self) {
        unsafe {
            let ab = veorq_u8(self.0, b.0);
            // Where a and b differ the carry is c, elsewhere it is a.
            (Self(veorq_u8(ab, c.0)), Self(vbslq_u8(ab, c.0, self.0)))
        }
    }

    /// The hardware does it by itself; there is no stable intrinsic.
    #[inline(always)]
    fn prefetch(_address: *const f32) {}

    #[inline(always)]
    fn columns(values: &[f32], stride: usize) -> ([[Self; 2]; QUAD], bool) {
        let all = &values[..(Self::ROWS - 1) * stride + QUAD];
        unsafe {
            let mut numbers = vdupq_n_u32(u32::MAX);
            let mut turned = [[Self::splat(0); 2]; QUAD];
            for parity in 0..2 {
                let mut pairs = [vdupq_n_u32(0); QUAD];
                for (i, pair) in pairs.iter_mut().enumerate() {
                    let a = row(all, 4 * i + parity, stride);
                    let b = row(all, 4 * i + parity + 2, stride);
                    numbers = vandq_u32(numbers, vandq_u32(vceqq_f32(a, a), vceqq_f32(b, b)));
                    *pair = leading_halves(a, b);
                }
                for (column, turned) in turned.iter_mut().zip(turn(pairs)) {
                    column[parity] = Self(vreinterpretq_u8_u32(turned));
                }
            }
            (turned, vminvq_u32(numbers) == 0)
        }
    }
}

/// Four values of a row.
#[inline(always)]
unsafe fn row(values: &[f32], row: usize, stride: usize) -> float32x4_t {
    debug_assert!(row * stride + QUAD <= values.len());
    unsafe { vld1q_f32(values.as_ptr().add(row * stride)) }
}

/// The leading halves of four values and four others, side by side; −0.0 made 0.0.
#[inline(always)]
unsafe fn leading_halves(a: float32x4_t, b: float32x4_t) -> uint32x4_t {
    unsafe {
        let zero = vdupq_n_f32(0.0);
        let (a, b) = (vaddq_f32(a, zero), vaddq_f32(b, zero));
        vsriq_n_u32::<16>(vreinterpretq_u32_f32(b), vreinterpretq_u32_f32(a))
    }
}

/// Turn four by four values round.
#[inline(always)]
unsafe fn turn(rows: [uint32x4_t; QUAD]) -> [uint32x4_t; QUAD] {
    unsafe {
        let (a, b) = (vzip1q_u32(rows[0], rows[1]), vzip2q_u32(rows[0], rows[1]));
        let (c, d) = (vzip1q_u32(rows[2], rows[3]), vzip2q_u32(rows[2], rows[3]));
        let join = |low, high| (vreinterpretq_u64_u32(low), vreinterpretq_u64_u32(high));
        let ((a, c), (b, d)) = (join(a, c), join(b, d));
        [
            vreinterpretq_u32_u64(vzip1q_u64(a, c)),
            vreinterpretq_u32_u64(vzip2q_u64(a, c)),
            vreinterpretq_u32_u64(vzip1q_u64(b, d)),
            vreinterpretq_u32_u64(vzip2q_u64(b, d)),
        ]
    }
}
