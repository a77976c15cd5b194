//! The registers of AVX2 and, no wider, of AVX-512: 32 rows at a time.
#![allow(clippy::wildcard_imports)] // intrinsics, each with its own name

use crate::kernels::vector::{MOST_ROWS, QUAD, Vector};
use std::arch::x86_64::*;

/// A register of 32 bytes, with the instructions of AVX-512 for logic and for counting bits, or without.
#[derive(Clone, Copy)]
pub struct Register<const AVX512: bool>(__m256i);

/// Truth tables of a full adder: bit 4a + 2b + c is the value for a, b and c.
const SUM: i32 = 0x96;
const CARRY: i32 = 0xe8;

/// Cells as indices into the two halves of a table: a byte of 128 or more finds zero.
#[derive(Clone, Copy)]
pub struct Halves {
    low: __m256i,
    high: __m256i,
}

// SAFETY, for all of this file: a `Vector` is used only beneath an entry that has the target features, and what is read
// or written is as long as the slice or array says.
impl<const AVX512: bool> Vector for Register<AVX512> {
    type Cells = Halves;
    const ROWS: usize = 32;

    #[inline(always)]
    fn prefetch(address: *const f32) {
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }

    #[inline(always)]
    fn splat(byte: u8) -> Self {
        unsafe { Self(_mm256_set1_epi8(byte as i8)) }
    }

    #[inline(always)]
    fn splat_pair(pair: i16) -> Self {
        unsafe { Self(_mm256_set1_epi16(pair)) }
    }

    #[inline(always)]
    fn load(bytes: &[u8]) -> Self {
        let bytes = &bytes[..Self::ROWS];
        unsafe { Self(_mm256_loadu_si256(bytes.as_ptr().cast())) }
    }

    #[inline(always)]
    fn store(self, bytes: &mut [u8; MOST_ROWS]) {
        unsafe { _mm256_storeu_si256(bytes.as_mut_ptr().cast(), self.0) }
    }

    #[inline(always)]
    fn and(self, other: Self) -> Self {
        unsafe { Self(_mm256_and_si256(self.0, other.0)) }
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        unsafe { Self(_mm256_add_epi8(self.0, other.0)) }
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        unsafe { Self(_mm256_sub_epi8(self.0, other.0)) }
    }

    #[inline(always)]
    fn pair_gt(self, other: Self) -> Self {
        unsafe { Self(_mm256_cmpgt_epi16(self.0, other.0)) }
    }

    #[inline(always)]
    fn pair_keys(self) -> Self {
        unsafe {
            let negative = _mm256_srai_epi16::<15>(self.0);
            Self(_mm256_xor_si256(self.0, _mm256_srli_epi16::<1>(negative)))
        }
    }

    #[inline(always)]
    fn merge(self, odd: Self) -> Self {
        unsafe { Self(_mm256_blendv_epi8(self.0, odd.0, _mm256_set1_epi16(0xff00_u16 as i16))) }
    }

    #[inline(always)]
    fn pick(self, table: &[u8; 16]) -> Self {
        unsafe { Self(_mm256_shuffle_epi8(sixteen(table), self.0)) }
    }

    #[inline(always)]
    fn pick_pair(self, table: &[u8; 32]) -> Self {
        let [low, high] = [&table[..16], &table[16..]];
        unsafe {
            let low = Self(_mm256_shuffle_epi8(sixteen(low), self.0));
            low.merge(Self(_mm256_shuffle_epi8(sixteen(high), self.0)))
        }
    }

    #[inline(always)]
    fn cells(self) -> Halves {
        unsafe {
            Halves {
                low: _mm256_add_epi8(self.0, _mm256_set1_epi8(0x70)),
                high: _mm256_sub_epi8(self.0, _mm256_set1_epi8(16)),
            }
        }
    }

    #[inline(always)]
    fn look_up(table: &[u8], cells: Halves) -> Self {
        unsafe {
            let low = _mm256_shuffle_epi8(sixteen(&table[..16]), cells.low);
            let high = _mm256_shuffle_epi8(sixteen(&table[16..32]), cells.high);
            Self(_mm256_or_si256(low, high))
        }
    }

    #[inline(always)]
    #[rustfmt::skip]
    fn count_ones(self) -> Self {
        if AVX512 {
            return unsafe { Self(_mm256_popcnt_epi8(self.0)) };
        }
        unsafe {
            let counts = _mm256_setr_epi8(
                0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
                0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
            );
            let nibble = _mm256_set1_epi8(0x0f);
            let low = _mm256_shuffle_epi8(counts, _mm256_and_si256(self.0, nibble));
            let high = _mm256_and_si256(_mm256_srli_epi16::<4>(self.0), nibble);
            Self(_mm256_add_epi8(low, _mm256_shuffle_epi8(counts, high)))
        }
    }

    #[inline(always)]
    fn full_add(self, b: Self, c: Self) -> (Self, Self) {
        if AVX512 {
            return unsafe {
                let sum = _mm256_ternarylogic_epi32::<SUM>(self.0, b.0, c.0);
                (Self(sum), Self(_mm256_ternarylogic_epi32::<CARRY>(self.0, b.0, c.0)))
            };
        }
        unsafe {
            let ab = _mm256_xor_si256(self.0, b.0);
            let carry = _mm256_or_si256(_mm256_and_si256(self.0, b.0), _mm256_and_si256(ab, c.0));
            (Self(_mm256_xor_si256(ab, c.0)), Self(carry))
        }
    }

    #[inline(always)]
    fn columns(values: &[f32], stride: usize) -> ([[Self; 2]; QUAD], bool) {
        let all = &values[..(Self::ROWS - 1) * stride + QUAD];
        unsafe {
            let mut nan = _mm256_setzero_ps();
            let mut turned = [[Self::splat(0); 2]; QUAD];
            for parity in 0..2 {
                let mut pairs = [_mm256_setzero_si256(); QUAD];
                for (i, pair) in pairs.iter_mut().enumerate() {
                    let a = two_rows(all, 4 * i + parity, stride);
                    let b = two_rows(all, 4 * i + parity + 2, stride);
                    nan = _mm256_or_ps(nan, _mm256_cmp_ps::<_CMP_UNORD_Q>(a, b));
                    *pair = leading_halves(a, b);
                }
                for (column, turned) in turned.iter_mut().zip(turn(pairs)) {
                    column[parity] = Self(turned);
                }
            }
            (turned, _mm256_movemask_ps(nan) != 0)
        }
    }
}

/// Sixteen bytes in both halves of a register.
#[inline(always)]
unsafe fn sixteen(table: &[u8]) -> __m256i {
    let table = &table[..16];
    unsafe { _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast())) }
}

/// Four values of a row, and four of the row 16 further.
#[inline(always)]
unsafe fn two_rows(values: &[f32], row: usize, stride: usize) -> __m256 {
    debug_assert!((row + 16) * stride + QUAD <= values.len());
    unsafe {
        let low = _mm_loadu_ps(values.as_ptr().add(row * stride));
        let high = _mm_loadu_ps(values.as_ptr().add((row + 16) * stride));
        _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high)
    }
}

/// The leading halves of eight values and eight others, side by side; −0.0 made 0.0.
#[inline(always)]
unsafe fn leading_halves(a: __m256, b: __m256) -> __m256i {
    unsafe {
        let zero = _mm256_setzero_ps();
        let (a, b) = (_mm256_add_ps(a, zero), _mm256_add_ps(b, zero));
        let a = _mm256_srli_epi32::<16>(_mm256_castps_si256(a));
        _mm256_blend_epi16::<0xaa>(a, _mm256_castps_si256(b))
    }
}

/// Turn four by four values round, in each half of the registers.
#[inline(always)]
unsafe fn turn(rows: [__m256i; QUAD]) -> [__m256i; QUAD] {
    unsafe {
        let (a, b) =
            (_mm256_unpacklo_epi32(rows[0], rows[1]), _mm256_unpackhi_epi32(rows[0], rows[1]));
        let (c, d) =
            (_mm256_unpacklo_epi32(rows[2], rows[3]), _mm256_unpackhi_epi32(rows[2], rows[3]));
        [
            _mm256_unpacklo_epi64(a, c),
            _mm256_unpackhi_epi64(a, c),
            _mm256_unpacklo_epi64(b, d),
            _mm256_unpackhi_epi64(b, d),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The one thing of AVX-512 that can be wrong and is not seen on a CPU without.
    #[test]
    fn the_truth_tables_add() {
        for (a, b, c) in (0..8).map(|i| (i >> 2 & 1, i >> 1 & 1, i & 1)) {
            let at = |table: i32| table >> (4 * a + 2 * b + c) & 1;
            assert_eq!(at(SUM) + 2 * at(CARRY), a + b + c);
        }
    }
}
