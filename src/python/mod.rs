//! The Python interface: borrow arrays, release the interpreter, convert the result.

mod arrays;
mod arrow;
mod dataset;
mod encoder;
mod errors;
mod evaluation;
mod features;
mod inspect;
mod interrupt;
mod list;
mod model;
mod params;
mod sample_encoder;
mod selection;
mod sketches;
mod trainer;
mod training_set;

use pyo3::prelude::*;

/// The Rust core of binfm.
#[pymodule(gil_used = false)]
mod _core {
    #[pymodule_export]
    use super::arrow::{ArrowTable, arrow_columns};
    #[pymodule_export]
    use super::encoder::PyEncoder;
    #[pymodule_export]
    use super::errors::ModelFormatError;
    #[pymodule_export]
    use super::evaluation::evaluate;
    #[pymodule_export]
    use super::inspect::{
        active_cells, checksum, count_cells, layout, multipliers, spans, sum_values, write_file,
    };
    #[pymodule_export]
    use super::interrupt::PyStop;
    #[pymodule_export]
    use super::model::PyModel;
    #[pymodule_export]
    use super::params::{check_params, cost, instruction_set, parameters, thread_count};
    #[pymodule_export]
    use super::sample_encoder::PySampleEncoder;
    #[pymodule_export]
    use super::selection::choose;
    #[pymodule_export]
    use super::sketches::{PySketches, target_units};
    #[pymodule_export]
    use super::trainer::PyTrainer;
    #[pymodule_export]
    use super::training_set::PyTrainingSet;
    #[allow(non_upper_case_globals)] // Python's name
    #[pymodule_export]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
