//! Binarized factorization machines: tabular models whose weights are bits.
//!
//! Dataset ─[`encoding`]→ active rows ─[`training`]→ [`Model`] ─[`scoring`]→ scores
//!
//! Modules are listed in order of dependency: each uses only those above it, which `tests/core/layers.rs` checks.
//!
//! Without the feature `std` the crate is `no_std`: it reads models and scores samples; see [`scoring`].
#![cfg_attr(not(feature = "std"), no_std)]
// Indices are looked up with `get`; a module whose indices are valid by construction opts out and says why.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

#[macro_use]
extern crate alloc;

// The order is the map: `rustfmt::skip` on each line keeps it.
#[rustfmt::skip] pub mod error;
#[rustfmt::skip] pub mod memory;
#[rustfmt::skip] pub mod aligned;
#[rustfmt::skip] #[cfg(feature = "std")] mod hash;
#[rustfmt::skip] #[cfg(feature = "std")] pub mod panics;
#[rustfmt::skip] #[cfg(feature = "std")] pub mod threads;
#[rustfmt::skip] pub mod kernels;
#[rustfmt::skip] pub mod data;
#[rustfmt::skip] pub mod encoding;
#[rustfmt::skip] pub mod model;
#[rustfmt::skip] pub mod format;
#[rustfmt::skip] pub mod scoring;
#[rustfmt::skip] #[cfg(feature = "std")] pub mod training;
#[rustfmt::skip] #[cfg(feature = "python")] mod python;

pub use error::{Error, Result};
pub use model::Model;
