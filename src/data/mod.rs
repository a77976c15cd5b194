//! Data as it comes in: tables, targets and weights, read where they lie.

mod columnar;
mod csr;
#[cfg(feature = "std")]
mod dataset;
mod labels;
mod table;
#[cfg(feature = "std")]
mod target;
#[cfg(feature = "std")]
mod transposed;

pub use columnar::{ColumnPart, Columnar, Doubles, NumberKind, Reading};
pub use csr::{Csr, CsrIndices, CsrValues};
#[cfg(feature = "std")]
pub use dataset::{Dataset, Schema};
pub use labels::Labels;
#[cfg(feature = "python")]
pub(crate) use table::interleave;
pub use table::{Category, Dense, Matrix, Number, Table};
#[cfg(feature = "std")]
pub use target::{Target, Units};
#[cfg(feature = "std")]
pub(crate) use transposed::Columns;
