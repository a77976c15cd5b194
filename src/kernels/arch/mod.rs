//! The registers of each tier: the only code that calls intrinsics of an instruction set.
//!
//! A function here is unsafe for the reason stated on [`Vector`](super::lookup_vector::Vector): the CPU must have the
//! instructions. Memory is accessed within the bounds of slices only.
#![allow(unsafe_op_in_unsafe_fn)] // a block in each function would only repeat that
#![allow(clippy::wildcard_imports)] // intrinsics have unmistakable names

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
pub use aarch64::neon;
#[cfg(target_arch = "x86_64")]
pub use x86_64::{avx2, avx512};
