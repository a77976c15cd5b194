//! The registers of the aarch64 tier: 16 bytes.

mod floats;
mod vector;

/// NEON.
pub mod neon {
    pub type Vector = super::vector::U8x16;
    pub type Floats = super::floats::F32x4;
}
