//! Binarized factorization machines: every weight is one bit.
//!
//! table ─[`encoding`]→ active rows ─[`training`]→ [`model`] ─[`scoring`]→ scores
//!
//! A module uses only what stands above it in this list (`tests/core/layers.rs` holds it to that).

pub mod encoding;
pub mod error;
pub mod kernels;
pub mod model;
#[cfg(feature = "python")]
mod python;
pub mod scoring;
pub mod threads;
pub mod training;

pub use error::{Error, Result};
pub use model::Model;
