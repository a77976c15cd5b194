//! `binfm._core.choose`: parameters chosen on held-out samples.

use super::dataset::PyDataset;
use super::interrupt;
use super::list::List;
use super::params::read_params;
use crate::kernels::Isa;
use crate::threads::Threads;
use crate::training::{self, Choice, Context};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// Returns the regularization for a dataset, the columns to leave out and, if they may be `finer`, the bins.
#[pyfunction]
pub fn choose<'py>(
    py: Python<'py>,
    dataset: PyDataset,
    params: &Bound<'_, PyDict>,
    leave_out: List<usize>,
    finer: bool,
    n_jobs: Option<i64>,
) -> PyResult<Bound<'py, PyDict>> {
    let params = read_params(params)?;
    let (threads, schema) = (Threads::new(n_jobs)?, dataset.schema(leave_out)?);
    let Choice { params: chosen, leave_out } = dataset.with(|table| {
        let data = dataset.view(table, params.objective().units())?;
        interrupt::detach(py, |stop| {
            let context = Context { threads: &threads, isa: Isa::detect()?, stop };
            training::choose(&data, &schema, &params, finer, context)
        })
    })?;
    let found = PyDict::new(py);
    found.set_item("leave_out", PyTuple::new(py, leave_out)?)?;
    found.set_item("m", chosen.m)?;
    found.set_item("b", chosen.b)?;
    found.set_item("tilings", chosen.tilings)?;
    found.set_item("regularization", chosen.regularization)?;
    found.set_item("linear_strength", chosen.linear_strength)?;
    found.set_item("loudness", chosen.loudness)?;
    found.set_item("levels", chosen.levels)?;
    found.set_item("rare_visits", chosen.rare_visits)?;
    found.set_item("coarseness", chosen.coarseness)?;
    Ok(found)
}
