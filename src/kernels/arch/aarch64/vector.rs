//! A byte for each of 16 samples, in a register of NEON.

use crate::kernels::lookup::CELLS;
use crate::kernels::lookup_vector::{MAX_SAMPLES, QUAD, Vector};
use std::arch::aarch64::*;

/// A register of 16 bytes.
#[derive(Clone, Copy)]
pub struct U8x16(uint8x16_t);

impl Vector for U8x16 {
    type Cells = uint8x16_t;
    const SAMPLES: usize = 16;

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        Self(vdupq_n_u8(byte))
    }

    #[inline(always)]
    unsafe fn splat_i16(number: i16) -> Self {
        Self(vreinterpretq_u8_s16(vdupq_n_s16(number)))
    }

    #[inline(always)]
    unsafe fn load(bytes: &[u8]) -> Self {
        let bytes = &bytes[..Self::SAMPLES];
        Self(vld1q_u8(bytes.as_ptr()))
    }

    #[inline(always)]
    unsafe fn store(self, bytes: &mut [u8; MAX_SAMPLES]) {
        vst1q_u8(bytes.as_mut_ptr(), self.0);
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        Self(vandq_u8(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Self(vaddq_u8(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Self(vsubq_u8(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn gt_i16(self, other: Self) -> Self {
        let (a, b) = (vreinterpretq_s16_u8(self.0), vreinterpretq_s16_u8(other.0));
        Self(vreinterpretq_u8_u16(vcgtq_s16(a, b)))
    }

    #[inline(always)]
    unsafe fn ordered_keys(self) -> Self {
        let negative = vshrq_n_s16::<15>(vreinterpretq_s16_u8(self.0));
        let flipped = vshrq_n_u16::<1>(vreinterpretq_u16_s16(negative));
        Self(veorq_u8(self.0, vreinterpretq_u8_u16(flipped)))
    }

    #[inline(always)]
    unsafe fn merge(self, odd: Self) -> Self {
        Self(vbslq_u8(vreinterpretq_u8_u16(vdupq_n_u16(0x00ff)), self.0, odd.0))
    }

    #[inline(always)]
    unsafe fn shuffle(self, table: &[u8; 16]) -> Self {
        Self(vqtbl1q_u8(vld1q_u8(table.as_ptr()), self.0))
    }

    #[inline(always)]
    unsafe fn shuffle_halves(self, table: &[u8; 32]) -> Self {
        Self(vqtbl2q_u8(vld1q_u8_x2(table.as_ptr()), self.0))
    }

    #[inline(always)]
    unsafe fn cells(self) -> uint8x16_t {
        self.0
    }

    #[inline(always)]
    unsafe fn look_up(table: &[u8], cells: uint8x16_t) -> Self {
        let table = &table[..CELLS];
        Self(vqtbl2q_u8(vld1q_u8_x2(table.as_ptr()), cells))
    }

    #[inline(always)]
    unsafe fn count_ones(self) -> Self {
        Self(vcntq_u8(self.0))
    }

    #[inline(always)]
    unsafe fn full_add(self, b: Self, c: Self) -> (Self, Self) {
        let ab = veorq_u8(self.0, b.0);
        // Where a and b differ the carry is c, elsewhere it is a.
        (Self(veorq_u8(ab, c.0)), Self(vbslq_u8(ab, c.0, self.0)))
    }

    #[inline(always)]
    unsafe fn load_columns(values: &[f32], stride: usize) -> ([[Self; 2]; QUAD], bool) {
        let values = &values[..(Self::SAMPLES - 1) * stride + QUAD];
        let mut numbers = vdupq_n_u32(u32::MAX);
        let mut columns = [[Self::splat(0); 2]; QUAD];
        for parity in 0..2 {
            let mut pairs = [vdupq_n_u32(0); QUAD];
            for (i, pair) in pairs.iter_mut().enumerate() {
                let a = load_one(values, 4 * i + parity, stride);
                let b = load_one(values, 4 * i + parity + 2, stride);
                numbers = vandq_u32(numbers, vandq_u32(vceqq_f32(a, a), vceqq_f32(b, b)));
                *pair = upper_halves(a, b);
            }
            for (column, transposed) in columns.iter_mut().zip(transpose(pairs)) {
                column[parity] = Self(vreinterpretq_u8_u32(transposed));
            }
        }
        (columns, vminvq_u32(numbers) == 0)
    }
}

/// Loads four values of a sample.
///
/// # Safety
/// `values` must hold four values from `sample * stride` on.
#[inline(always)]
unsafe fn load_one(values: &[f32], sample: usize, stride: usize) -> float32x4_t {
    debug_assert!(sample * stride + QUAD <= values.len());
    vld1q_f32(values.as_ptr().add(sample * stride))
}

/// Interleaves the upper halves of four values and four others, with −0.0 replaced by 0.0.
#[inline(always)]
unsafe fn upper_halves(a: float32x4_t, b: float32x4_t) -> uint32x4_t {
    let zero = vdupq_n_f32(0.0);
    let (a, b) = (vaddq_f32(a, zero), vaddq_f32(b, zero));
    vsriq_n_u32::<16>(vreinterpretq_u32_f32(b), vreinterpretq_u32_f32(a))
}

/// Transposes a 4×4 block of 32-bit values.
#[inline(always)]
unsafe fn transpose(rows: [uint32x4_t; QUAD]) -> [uint32x4_t; QUAD] {
    let a = vreinterpretq_u64_u32(vzip1q_u32(rows[0], rows[1]));
    let b = vreinterpretq_u64_u32(vzip2q_u32(rows[0], rows[1]));
    let c = vreinterpretq_u64_u32(vzip1q_u32(rows[2], rows[3]));
    let d = vreinterpretq_u64_u32(vzip2q_u32(rows[2], rows[3]));
    [
        vreinterpretq_u32_u64(vzip1q_u64(a, c)),
        vreinterpretq_u32_u64(vzip2q_u64(a, c)),
        vreinterpretq_u32_u64(vzip1q_u64(b, d)),
        vreinterpretq_u32_u64(vzip2q_u64(b, d)),
    ]
}
