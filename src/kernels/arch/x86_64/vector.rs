//! A byte for each of 32 samples, in a register of AVX2. AVX-512 uses registers of the same width.

use crate::kernels::lookup_vector::{MAX_SAMPLES, QUAD, Vector};
use std::arch::x86_64::*;

/// A register of 32 bytes; `AVX512` enables the instructions of AVX-512 for logic and for counting bits.
#[derive(Clone, Copy)]
pub struct U8x32<const AVX512: bool>(__m256i);

/// Truth tables of a full adder: bit 4a + 2b + c is the value for a, b and c.
const SUM: i32 = 0x96;
const CARRY: i32 = 0xe8;

/// Cells as indices into the two halves of a table. Cells of the other half are bytes of 128 or more, which a shuffle
/// maps to zero.
#[derive(Clone, Copy)]
pub struct Halves {
    low: __m256i,
    high: __m256i,
}

impl<const AVX512: bool> Vector for U8x32<AVX512> {
    type Cells = Halves;
    const SAMPLES: usize = 32;

    #[inline(always)]
    unsafe fn splat(byte: u8) -> Self {
        Self(_mm256_set1_epi8(byte as i8))
    }

    #[inline(always)]
    unsafe fn splat_i16(number: i16) -> Self {
        Self(_mm256_set1_epi16(number))
    }

    #[inline(always)]
    unsafe fn load(bytes: &[u8]) -> Self {
        let bytes = &bytes[..Self::SAMPLES];
        Self(_mm256_loadu_si256(bytes.as_ptr().cast()))
    }

    #[inline(always)]
    unsafe fn store(self, bytes: &mut [u8; MAX_SAMPLES]) {
        _mm256_storeu_si256(bytes.as_mut_ptr().cast(), self.0);
    }

    #[inline(always)]
    unsafe fn and(self, other: Self) -> Self {
        Self(_mm256_and_si256(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        Self(_mm256_add_epi8(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn sub(self, other: Self) -> Self {
        Self(_mm256_sub_epi8(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn gt_i16(self, other: Self) -> Self {
        Self(_mm256_cmpgt_epi16(self.0, other.0))
    }

    #[inline(always)]
    unsafe fn ordered_keys(self) -> Self {
        let negative = _mm256_srai_epi16::<15>(self.0);
        Self(_mm256_xor_si256(self.0, _mm256_srli_epi16::<1>(negative)))
    }

    #[inline(always)]
    unsafe fn merge(self, odd: Self) -> Self {
        Self(_mm256_blendv_epi8(self.0, odd.0, _mm256_set1_epi16(0xff00_u16 as i16)))
    }

    #[inline(always)]
    unsafe fn shuffle(self, table: &[u8; 16]) -> Self {
        Self(_mm256_shuffle_epi8(broadcast(table), self.0))
    }

    #[inline(always)]
    unsafe fn shuffle_halves(self, table: &[u8; 32]) -> Self {
        // A shuffle uses the low four bits of a byte.
        let low = Self(_mm256_shuffle_epi8(broadcast(&table[..16]), self.0));
        low.merge(Self(_mm256_shuffle_epi8(broadcast(&table[16..]), self.0)))
    }

    #[inline(always)]
    unsafe fn cells(self) -> Halves {
        Halves {
            low: _mm256_add_epi8(self.0, _mm256_set1_epi8(0x70)),
            high: _mm256_sub_epi8(self.0, _mm256_set1_epi8(16)),
        }
    }

    #[inline(always)]
    unsafe fn look_up(table: &[u8], cells: Halves) -> Self {
        let low = _mm256_shuffle_epi8(broadcast(&table[..16]), cells.low);
        let high = _mm256_shuffle_epi8(broadcast(&table[16..32]), cells.high);
        Self(_mm256_or_si256(low, high))
    }

    #[inline(always)]
    #[rustfmt::skip]
    unsafe fn count_ones(self) -> Self {
        if AVX512 {
            return Self(_mm256_popcnt_epi8(self.0));
        }
        let counts = _mm256_setr_epi8(
            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
            0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4,
        );
        let nibble = _mm256_set1_epi8(0x0f);
        let low = _mm256_shuffle_epi8(counts, _mm256_and_si256(self.0, nibble));
        let high = _mm256_and_si256(_mm256_srli_epi16::<4>(self.0), nibble);
        Self(_mm256_add_epi8(low, _mm256_shuffle_epi8(counts, high)))
    }

    #[inline(always)]
    unsafe fn full_add(self, b: Self, c: Self) -> (Self, Self) {
        if AVX512 {
            let sum = _mm256_ternarylogic_epi32::<SUM>(self.0, b.0, c.0);
            return (Self(sum), Self(_mm256_ternarylogic_epi32::<CARRY>(self.0, b.0, c.0)));
        }
        let ab = _mm256_xor_si256(self.0, b.0);
        let carry = _mm256_or_si256(_mm256_and_si256(self.0, b.0), _mm256_and_si256(ab, c.0));
        (Self(_mm256_xor_si256(ab, c.0)), Self(carry))
    }

    #[inline(always)]
    unsafe fn load_columns(values: &[f32], stride: usize) -> ([[Self; 2]; QUAD], bool) {
        let values = &values[..(Self::SAMPLES - 1) * stride + QUAD];
        let mut nan = _mm256_setzero_ps();
        let mut columns = [[Self::splat(0); 2]; QUAD];
        for parity in 0..2 {
            let mut pairs = [_mm256_setzero_si256(); QUAD];
            for (i, pair) in pairs.iter_mut().enumerate() {
                let a = load_two(values, 4 * i + parity, stride);
                let b = load_two(values, 4 * i + parity + 2, stride);
                nan = _mm256_or_ps(nan, _mm256_cmp_ps::<_CMP_UNORD_Q>(a, b));
                *pair = upper_halves(a, b);
            }
            for (column, transposed) in columns.iter_mut().zip(transpose(pairs)) {
                column[parity] = Self(transposed);
            }
        }
        (columns, _mm256_movemask_ps(nan) != 0)
    }
}

/// Loads 16 bytes into both halves of a register.
#[inline(always)]
unsafe fn broadcast(table: &[u8]) -> __m256i {
    let table = &table[..16];
    _mm256_broadcastsi128_si256(_mm_loadu_si128(table.as_ptr().cast()))
}

/// Loads four values of a sample, and four of the sample 16 further on.
///
/// # Safety
/// `values` must hold four values from `(sample + 16) * stride` on.
#[inline(always)]
unsafe fn load_two(values: &[f32], sample: usize, stride: usize) -> __m256 {
    debug_assert!((sample + 16) * stride + QUAD <= values.len());
    let low = _mm_loadu_ps(values.as_ptr().add(sample * stride));
    let high = _mm_loadu_ps(values.as_ptr().add((sample + 16) * stride));
    _mm256_insertf128_ps::<1>(_mm256_castps128_ps256(low), high)
}

/// Interleaves the upper halves of eight values and eight others, with −0.0 replaced by 0.0.
#[inline(always)]
unsafe fn upper_halves(a: __m256, b: __m256) -> __m256i {
    let zero = _mm256_setzero_ps();
    let (a, b) = (_mm256_add_ps(a, zero), _mm256_add_ps(b, zero));
    let a = _mm256_srli_epi32::<16>(_mm256_castps_si256(a));
    _mm256_blend_epi16::<0xaa>(a, _mm256_castps_si256(b))
}

/// Transposes a 4×4 block of 32-bit values in each half of the registers.
#[inline(always)]
unsafe fn transpose(rows: [__m256i; QUAD]) -> [__m256i; QUAD] {
    let a = _mm256_unpacklo_epi32(rows[0], rows[1]);
    let b = _mm256_unpackhi_epi32(rows[0], rows[1]);
    let c = _mm256_unpacklo_epi32(rows[2], rows[3]);
    let d = _mm256_unpackhi_epi32(rows[2], rows[3]);
    [
        _mm256_unpacklo_epi64(a, c),
        _mm256_unpackhi_epi64(a, c),
        _mm256_unpacklo_epi64(b, d),
        _mm256_unpackhi_epi64(b, d),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The part of AVX-512 that could be wrong without a test noticing on a CPU that lacks it.
    #[test]
    fn the_truth_tables_add() {
        for (a, b, c) in (0..8).map(|i| (i >> 2 & 1, i >> 1 & 1, i & 1)) {
            let at = |table: i32| table >> (4 * a + 2 * b + c) & 1;
            assert_eq!(at(SUM) + 2 * at(CARRY), a + b + c);
        }
    }
}
