//! The Python face: borrow arrays, let go of the interpreter, convert the result.

mod arrays;
mod door;
mod engine;
mod errors;
mod features;
mod model;
mod reading;
mod train;
mod trainer;

use pyo3::prelude::*;

/// The Rust core of binfm.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::errors::ModelFormatError;
    #[pymodule_export]
    use super::model::PyModel;
    #[pymodule_export]
    use super::reading::{active_cells, count_cells, multipliers, spans, sum_values};
    #[pymodule_export]
    use super::train::{encode, instruction_set, train};
    #[pymodule_export]
    use super::trainer::PyTrainer;
    #[allow(non_upper_case_globals)] // Python's name
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
