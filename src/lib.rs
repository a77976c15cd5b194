//! Binarized factorization machines: every weight is one bit.
//!
//! table ─[`encoding`]→ active rows ─[`training`]→ [`model`] ─[`scoring`]→ scores
//!
//! A module uses only what stands above it in this list (`tests/core/layers.rs` holds it to that).
//!
//! Without the feature `std` it reads models and scores rows, on anything that can allocate: see [`scoring`].
#![cfg_attr(not(feature = "std"), no_std)]
// An index is looked up with `get`; a module whose indices are right by construction says so and is let off.
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

#[macro_use]
extern crate alloc;

pub mod encoding;
pub mod error;
pub mod kernels;
pub mod model;
#[cfg(feature = "python")]
mod python;
pub mod scoring;
#[cfg(feature = "std")]
pub mod threads;
#[cfg(feature = "std")]
pub mod training;

pub use error::{Error, Result};
pub use model::Model;
