//! `binfm._core.Sketches`: what an encoder is learned from, part by part.

use super::arrays::Arrays;
use super::dataset::{PyDataset, View};
use super::interrupt;
use super::list::List;
use super::params::read_params;
use super::sample_encoder::PySampleEncoder;
use crate::data::{Dense, Table, Target, Units};
use crate::encoding::Sketches;
use crate::threads::{Stop, Threads};
use crate::{Error, Result, panics};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// What is known about the columns of some samples.
#[pyclass(module = "binfm._core", name = "Sketches")]
pub struct PySketches(Sketches);

#[pymethods]
impl PySketches {
    #[new]
    fn new(columns: usize, categorical: List<usize>, largest_weight: Option<f64>) -> Result<Self> {
        Sketches::new(columns, &categorical.0, largest_weight).map(Self)
    }

    /// Adds samples.
    fn add(&mut self, py: Python<'_>, table: Arrays, weight: Option<View>, n_jobs: Option<i64>) -> PyResult<()> {
        visit(py, &table, weight.as_ref(), n_jobs, |dense, weight, threads, stop| {
            self.0.add(dense, weight, threads, stop)
        })
    }

    /// Adds samples to the second pass.
    fn add_again(&mut self, py: Python<'_>, table: Arrays, weight: Option<View>, n_jobs: Option<i64>) -> PyResult<()> {
        visit(py, &table, weight.as_ref(), n_jobs, |dense, weight, threads, stop| {
            self.0.add_again(dense, weight, threads, stop)
        })
    }

    /// Adds what is known about other samples.
    fn merge(&mut self, other: PyRef<'_, Self>) -> PyResult<()> {
        Ok(self.0.merge(&other.0)?)
    }

    /// Prepares a second pass, and returns whether parameters need it.
    fn start_second_pass(&mut self, params: &Bound<'_, PyDict>) -> PyResult<bool> {
        Ok(self.0.start_second_pass(&read_params(params)?.encoding())?)
    }

    /// Returns the categories of a column with the weight of each.
    fn categories(&self, column: usize) -> Result<Vec<(i64, f64)>> {
        self.0.categories(column)
    }

    /// Replaces each category of a column by its place in a list.
    fn renumber(&mut self, column: usize, order: List<i64>) -> Result<()> {
        self.0.renumber(column, &order.0)
    }

    /// Returns the encoder of all samples; the dataset has labels, names and vocabularies, and need not have samples.
    fn encoder(
        &self,
        dataset: PyDataset,
        params: &Bound<'_, PyDict>,
        leave_out: List<usize>,
        units: (f64, f64),
    ) -> PyResult<PySampleEncoder> {
        let (params, schema) = (read_params(params)?, dataset.schema(leave_out)?);
        let encoder = panics::catch(|| self.0.encoder(&schema, &params.encoding()))?;
        Ok(PySampleEncoder::new(encoder, schema.labels, schema.names, units)?)
    }
}

/// Returns mean and standard deviation of numbers to predict.
#[pyfunction]
pub fn target_units(y: View, weight: Option<View>) -> PyResult<(f64, f64)> {
    let weight = weight.as_ref().map(View::as_slice).transpose()?;
    Ok(Target::numbers(y.as_slice()?, weight, Units::Standard)?.units())
}

/// Runs work on the samples of a dense table without the interpreter.
fn visit(
    py: Python<'_>,
    table: &Arrays,
    weight: Option<&View>,
    n_jobs: Option<i64>,
    work: impl FnOnce(&dyn Dense, Option<&[f64]>, &Threads, &Stop) -> Result<()> + Send,
) -> PyResult<()> {
    let (threads, weight) = (Threads::new(n_jobs)?, weight.map(View::as_slice).transpose()?);
    table.with(|table| {
        let Table::Dense(dense) = table else { return Err(Error::Internal.into()) };
        if weight.is_some_and(|weight| weight.len() != dense.samples()) {
            return Err(Error::Internal.into());
        }
        interrupt::detach(py, |stop| work(dense, weight, &threads, stop))
    })
}
