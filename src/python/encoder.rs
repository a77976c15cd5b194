//! `binfm._core.Encoder`: how samples are encoded, and the size of models before they are trained.

use super::dataset::PyDataset;
use super::features::fields;
use super::interrupt;
use super::list::List;
use super::params::read_params;
use crate::Result;
use crate::data::Schema;
use crate::encoding::Encoder;
use crate::format::ModelSize;
use crate::panics;
use crate::threads::Threads;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// An encoder with the labels and names of its dataset.
#[pyclass(frozen, module = "binfm._core", name = "Encoder")]
pub struct PyEncoder {
    encoder: Encoder,
    schema: Schema,
    w_bits: usize,
}

/// Labels and names take no bytes on a device.
const DEVICE: &str = "device";

#[pymethods]
impl PyEncoder {
    /// Learns how to encode a dataset.
    #[new]
    fn new(
        py: Python<'_>,
        dataset: PyDataset,
        params: &Bound<'_, PyDict>,
        leave_out: List<usize>,
        n_jobs: Option<i64>,
    ) -> PyResult<Self> {
        let params = read_params(params)?;
        let (w_bits, units, params) = (params.w_bits, params.objective().units(), params.encoding());
        let (threads, schema) = (Threads::new(n_jobs)?, dataset.schema(leave_out)?);
        dataset.with(|table| {
            let data = dataset.view(table, units)?;
            let fit = |stop: &_| Encoder::fit(&data, &schema, &params, &threads, stop);
            let encoder = interrupt::detach(py, fit)?;
            Ok(Self { encoder, schema, w_bits })
        })
    }

    /// Returns the fields of `binfm.Feature`.
    fn feature<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        fields(py, self.encoder.feature_of(index))
    }

    /// Returns the bytes of a model of m factors, without some more columns.
    fn size(&self, m: usize, leave_out: List<usize>, target: &str) -> Result<usize> {
        self.model_size(&leave_out.0, target, |size| size.of(m))
    }

    /// Returns the largest number of factors that fits into `max_bytes`, without some more columns; None if a model
    /// without factors does not fit.
    fn largest_m(
        &self,
        max_bytes: usize,
        leave_out: List<usize>,
        target: &str,
    ) -> Result<Option<usize>> {
        self.model_size(&leave_out.0, target, |size| size.largest_m(max_bytes))
    }
}

impl PyEncoder {
    fn model_size<T>(
        &self,
        leave_out: &[usize],
        target: &str,
        work: impl FnOnce(ModelSize) -> T,
    ) -> Result<T> {
        panics::catch(|| {
            let encoder = self.encoder.without(leave_out)?;
            let Schema { labels, names, .. } = &self.schema;
            let (names, w_bits) = (names.as_deref(), self.w_bits);
            if target == DEVICE {
                let (labels, names) = (&labels.counted()?, None);
                return Ok(work(ModelSize { encoder: &encoder, labels, names, w_bits }));
            }
            Ok(work(ModelSize { encoder: &encoder, labels, names, w_bits }))
        })
    }
}
