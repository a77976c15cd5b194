//! The registers of the aarch64 tier: 16 bytes.

mod vector;

/// NEON.
pub mod neon {
    pub type Vector = super::vector::U8x16;
}
