//! The registers of the x86-64 tiers: 32 bytes in both.

mod vector;

/// AVX2.
pub mod avx2 {
    pub type Vector = super::vector::U8x32<false>;
}

/// AVX-512 with instructions that count bits.
pub mod avx512 {
    pub type Vector = super::vector::U8x32<true>;
}
