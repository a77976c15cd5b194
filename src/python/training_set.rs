//! `binfm._core.TrainingSet`: a dataset encoded once, for the many models of a search.

use super::dataset::PyDataset;
use super::interrupt::{self, PyStop};
use super::list::List;
use super::model::PyModel;
use super::params::read_params;
use super::trainer::PySchedule;
use crate::kernels::Isa;
use crate::threads::Threads;
use crate::training::{Context, Schedule, TrainingSet};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::ControlFlow;

/// Encoded samples; threads may train on it side by side, each of them alone.
#[pyclass(frozen, module = "binfm._core", name = "TrainingSet")]
pub struct PyTrainingSet(TrainingSet);

#[pymethods]
impl PyTrainingSet {
    /// Learns how to encode a dataset, and encodes it.
    #[new]
    fn new(
        py: Python<'_>,
        dataset: PyDataset,
        params: &Bound<'_, PyDict>,
        leave_out: List<usize>,
        stop: &Bound<'_, PyStop>,
    ) -> PyResult<Self> {
        let (params, schema) = (read_params(params)?, dataset.schema(leave_out)?);
        let (encoding, units) = (params.encoding(), params.objective().units());
        dataset.with(|table| {
            let data = dataset.view(table, units)?;
            interrupt::detach_until(py, stop, |stop| {
                let context = Context { threads: &Threads::single(), isa: Isa::detect()?, stop };
                TrainingSet::new(&data, schema, encoding, context).map(Self)
            })
        })
    }

    /// Trains a model from the beginning.
    fn fit(
        &self,
        py: Python<'_>,
        params: &Bound<'_, PyDict>,
        schedule: PySchedule,
        stop: &Bound<'_, PyStop>,
    ) -> PyResult<PyModel> {
        let (params, schedule) = (read_params(params)?, Schedule::from(schedule));
        interrupt::detach_until(py, stop, |stop| {
            let context = Context { threads: &Threads::single(), isa: Isa::detect()?, stop };
            let on_epoch = &mut |_: &mut _, _| ControlFlow::Continue(());
            PyModel::new(self.0.fit(params, schedule, context, on_epoch)?.model)
        })
    }

    /// Returns roughly the bytes that the samples take.
    #[getter]
    fn nbytes(&self) -> usize {
        self.0.bytes()
    }
}
