//! From tables to active rows of the parameter table.
//!
//! Each feature owns a run of parameter rows ([`layout`]). A value falls into a cell of its feature, by [`edges`] if it
//! is a number and by its [`categories`] otherwise, and the cell activates `tilings` consecutive rows of the run. A
//! feature whose value is absent activates none. The *start* of a value is the first row that it activates.

pub mod categories;
pub mod codebook;
pub mod edges;
mod encode;
mod encoder;
#[cfg(feature = "std")]
mod fit;
pub mod layout;
#[cfg(feature = "std")]
mod packed;
pub mod standardize;
mod stored;

pub use categories::Categories;
pub use codebook::{Codebook, Spacing};
pub use edges::Edges;
pub use encode::{ABSENT, ActiveRows, EncodeScratch};
pub use encoder::{CellMap, Column, Encoder, Feature};
#[cfg(feature = "std")]
pub use fit::{Binning, EncodingParams, MAX_BINS, MAX_TILINGS, Sketches};
pub use layout::Span;
#[cfg(feature = "std")]
pub use packed::PackedTable;
pub use standardize::Standard;
