//! `binfm._core.evaluate`: how well a model does on a dataset.

use super::dataset::PyDataset;
use super::model::PyModel;
use crate::panics;
use crate::scoring::Evaluation;
use crate::threads::{Stop, Threads};
use pyo3::prelude::*;

/// Returns accuracy and log loss at the best temperature, or the squared error twice; on the calling thread alone.
#[pyfunction]
pub fn evaluate(py: Python<'_>, model: &PyModel, dataset: PyDataset) -> PyResult<(f64, f64)> {
    dataset.with(|table| {
        let (y, weight) = (dataset.y()?, dataset.weight()?);
        let (thread, stop) = (Threads::single(), Stop::default());
        let evaluate = || model.scorer().evaluate(table, y, weight, &thread, &stop);
        let Evaluation { score, loss } = py.detach(|| panics::catch(evaluate))?;
        Ok((score, loss))
    })
}
