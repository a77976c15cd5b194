//! Data as it comes in: tables, targets and weights, read where they lie.

mod csr;
#[cfg(feature = "std")]
mod dataset;
mod labels;
mod table;
#[cfg(feature = "std")]
mod target;

#[cfg(feature = "std")]
pub(crate) use csr::Columns;
pub use csr::{Csr, CsrIndices, CsrValues};
#[cfg(feature = "std")]
pub use dataset::{Dataset, Schema};
pub use labels::Labels;
pub use table::{Category, Dense, Matrix, Number, Table};
#[cfg(feature = "std")]
pub use target::Target;
