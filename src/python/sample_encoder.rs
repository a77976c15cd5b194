//! `binfm._core.SampleEncoder`: from samples to packed cells, and a trainer of packed cells.

use super::arrays::Arrays;
use super::dataset::View;
use super::interrupt;
use super::params::read_params;
use super::trainer::PyTrainer;
use crate::data::{Dataset, Labels, Schema, Table, Target};
use crate::encoding::{Encoder, PackedTable};
use crate::kernels::Isa;
use crate::memory::{collect, copied, filled};
use crate::model::{FloatOutput, FloatWeights, Loss, Method, Model, Weights};
use crate::threads::{Stop, Threads};
use crate::training::{Context, Trainer, centers, encode_part};
use crate::{Error, Result, panics};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use std::sync::Arc;

/// An encoder with what else samples need to be packed: class labels, or the units of the target.
#[pyclass(frozen, module = "binfm._core", name = "SampleEncoder")]
pub struct PySampleEncoder {
    encoder: Arc<Encoder>,
    schema: Arc<Schema>,
    /// No samples.
    target: Target,
    units: (f64, f64),
}

impl PySampleEncoder {
    /// Puts the parts together; `units` are those of numbers to predict.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(
        encoder: Encoder,
        labels: Labels,
        names: Option<Vec<String>>,
        units: (f64, f64),
    ) -> Result<Self> {
        let target = match &labels {
            Labels::None => Target::standardized(&[], units.0, units.1)?,
            labels => Target::classes(&[], labels.len())?,
        };
        let schema = Schema { names, ..Schema::numeric(labels) };
        Ok(Self { encoder: Arc::new(encoder), schema: Arc::new(schema), target, units })
    }

    /// Returns the encoder.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }
}

/// Packed cells and hashes.
type Encoded<'py> = (Bound<'py, PyArray1<u8>>, Bound<'py, PyArray1<u64>>);

#[pymethods]
impl PySampleEncoder {
    /// Reads an encoder from the bytes of a model.
    #[staticmethod]
    fn from_bytes(blob: &[u8], units: (f64, f64)) -> PyResult<Self> {
        let encoder = panics::catch(|| {
            let model = Model::from_bytes(blob)?;
            let names = model.names().map(copied).transpose()?;
            Self::new(model.encoder().copied()?, model.labels().copied()?, names, units)
        })?;
        Ok(encoder)
    }

    /// Returns the bytes of a model without weights.
    fn to_bytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = panics::catch(|| {
            let w = filled(self.encoder.rows() as usize, 0.0)?;
            let silent = FloatOutput { bias: 0.0, beta: 1.0, w, v: Vec::new() };
            let outputs = filled(self.target.outputs(), silent)?;
            let weights = Weights::Floats(FloatWeights::new(Method::Sefm, 0, &outputs)?);
            let loss = if self.schema.labels == Labels::None { Loss::Squared } else { Loss::Logistic };
            let model = Model::new(self.encoder.copied()?, weights, loss, self.schema.labels.copied()?)?;
            match &self.schema.names {
                Some(names) => model.with_names(copied(names)?)?.to_bytes(),
                None => model.to_bytes(),
            }
        })?;
        PyBytes::new_with(py, bytes.len(), |copy| {
            copy.copy_from_slice(&bytes);
            Ok(())
        })
    }

    /// Center and spread of the numbers to predict.
    #[getter]
    fn units(&self) -> (f64, f64) {
        self.units
    }

    /// Bytes of a packed sample.
    #[getter]
    fn width(&self) -> Result<usize> {
        PackedTable::width(&self.encoder)
    }

    /// Returns the packed cells of a dense table, and the hash of each sample.
    fn encode<'py>(
        &self,
        py: Python<'py>,
        table: Arrays,
        y: View<'py>,
        n_jobs: Option<i64>,
    ) -> PyResult<Encoded<'py>> {
        let (threads, y) = (Threads::new(n_jobs)?, y.as_slice()?);
        let (cells, hashes) = table.with(|table| {
            if table.samples() != y.len() || matches!(table, Table::Csr(_)) {
                return Err(Error::Internal.into());
            }
            interrupt::detach(py, |stop| {
                let dataset = Dataset { table, target: self.target.like(y)?, weight: None };
                let context = Context { threads: &threads, isa: Isa::detect()?, stop };
                encode_part(&self.encoder, &dataset, context)
            })
        })?;
        Ok((PyArray1::from_vec(py, cells), PyArray1::from_vec(py, hashes)))
    }

    /// Returns the centers of the cells of each feature among some samples.
    fn centers(&self, table: Arrays) -> PyResult<Vec<Vec<f64>>> {
        table.with(|table| {
            let samples = collect(0..table.samples() as u32)?;
            let (threads, stop) = (Threads::single(), Stop::default());
            let context = Context { threads: &threads, isa: Isa::detect()?, stop: &stop };
            Ok(centers(&self.encoder, table, &samples, context)?)
        })
    }

    /// Returns a trainer of samples that it has packed; nothing is trained yet.
    fn trainer(&self, params: &Bound<'_, PyDict>) -> PyResult<PyTrainer> {
        let (encoder, schema) = (Arc::clone(&self.encoder), Arc::clone(&self.schema));
        let trainer = Trainer::with_encoder(encoder, schema, self.target.copied()?, read_params(params)?);
        Ok(PyTrainer::from(trainer))
    }
}
