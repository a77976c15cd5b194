//! `binfm._core.Trainer`: training that can be resumed.

use super::dataset::{PyDataset, View, with_optional};
use super::interrupt;
use super::list::List;
use super::model::PyModel;
use super::params::read_params;
use crate::data::Dataset;
use crate::kernels::Isa;
use crate::memory::{copied, try_collect};
use crate::panics;
use crate::threads::{Stop, Threads};
use crate::training::{
    Context, EncodedSamples, EpochReport, HeldOut, OnEpoch, Schedule, StoredSamples, Trained, Trainer,
};
use crate::{Error, Result};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

/// Encoder, heads, optimizer state and sample order between two passes.
#[pyclass(frozen, module = "binfm._core", name = "Trainer")]
pub struct PyTrainer {
    trainer: Mutex<Trainer>,
    /// The process that used it last, or zero.
    user: AtomicU32,
}

/// `binfm.params.Schedule`.
#[derive(FromPyObject)]
pub struct PySchedule {
    epochs: usize,
    early_stopping: bool,
    patience: usize,
    holdout: f64,
    steady: bool,
    scores: bool,
}

impl From<PySchedule> for Schedule {
    fn from(schedule: PySchedule) -> Self {
        let PySchedule { epochs, early_stopping, patience, holdout, steady, scores } = schedule;
        Self { epochs, early_stopping, patience, holdout, steady, scores }
    }
}

/// Best model, record of each epoch, number of the best.
type Outcome<'py> = (PyModel, Vec<Bound<'py, PyDict>>, usize);

/// Time between two attempts to lock the trainer.
const LOCK_INTERVAL: Duration = Duration::from_millis(1);

/// Packed samples in canonical order, as `binfm.cache` keeps them. Those of zero weight come last and have no hash.
#[derive(FromPyObject)]
pub struct PyStored<'py> {
    cells: View<'py, u8>,
    hashes: View<'py, u64>,
    target: View<'py>,
    weight: Option<View<'py>>,
    centers: List<List<f64>>,
}

impl From<Trainer> for PyTrainer {
    fn from(trainer: Trainer) -> Self {
        Self { trainer: Mutex::new(trainer), user: AtomicU32::new(0) }
    }
}

impl PyTrainer {
    /// Waits until no other thread uses the trainer. One that was in use when its process was forked never gets free.
    fn lock(&self, stop: &Stop) -> Result<MutexGuard<'_, Trainer>> {
        let process = std::process::id();
        loop {
            match self.trainer.try_lock() {
                Ok(trainer) => {
                    self.user.store(process, Ordering::Relaxed);
                    return Ok(trainer);
                }
                Err(TryLockError::Poisoned(_)) => return Err(Error::Internal),
                Err(TryLockError::WouldBlock) => stop.check()?,
            }
            if ![0, process].contains(&self.user.load(Ordering::Relaxed)) {
                let got = "one that was training while its process was forked";
                return Err(Error::value("partial_fit", "use an estimator of this process", got));
            }
            std::thread::sleep(LOCK_INTERVAL);
        }
    }
}

#[pymethods]
impl PyTrainer {
    /// Learns how to encode a dataset; nothing is trained yet.
    #[new]
    fn new(
        py: Python<'_>,
        dataset: PyDataset,
        params: &Bound<'_, PyDict>,
        leave_out: List<usize>,
        n_jobs: Option<i64>,
    ) -> PyResult<Self> {
        let params = read_params(params)?;
        let (threads, schema) = (Threads::new(n_jobs)?, dataset.schema(leave_out)?);
        dataset.with(|table| {
            let data = dataset.view(table, params.objective().units())?;
            let trainer = interrupt::detach(py, |stop| {
                let context = Context { threads: &threads, isa: Isa::detect()?, stop };
                Trainer::new(&data, schema, params, context)
            })?;
            Ok(Self::from(trainer))
        })
    }

    /// Trains on a dataset from the current state.
    fn fit<'py>(
        &self,
        py: Python<'py>,
        dataset: PyDataset,
        valid: Option<PyDataset>,
        schedule: PySchedule,
        n_jobs: Option<i64>,
        on_epoch: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Outcome<'py>> {
        let threads = Threads::new(n_jobs)?;
        dataset.with(|table| {
            with_optional(valid.as_ref(), |valid_table| {
                let (y, weight) = (dataset.y()?, dataset.weight()?);
                let valid = match valid.as_ref().zip(valid_table) {
                    Some((valid, table)) => Some((table, valid.y()?, valid.weight()?)),
                    None => None,
                };
                self.train(py, on_epoch.as_ref(), |trainer, stop, report| {
                    let data = Dataset { table, target: trainer.target(y)?, weight };
                    let valid = match valid {
                        Some((table, y, weight)) => {
                            Some(Dataset { table, target: trainer.target(y)?, weight })
                        }
                        None => None,
                    };
                    let context = Context { threads: &threads, isa: Isa::detect()?, stop };
                    trainer.fit(&data, valid.as_ref(), schedule.into(), context, report)
                })
            })
        })
    }

    /// Trains on packed samples from the current state; the trainer is that of their encoder.
    fn fit_stored<'py>(
        &self,
        py: Python<'py>,
        stored: PyStored<'py>,
        valid: Option<PyDataset<'py>>,
        schedule: PySchedule,
        n_jobs: Option<i64>,
        on_epoch: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Outcome<'py>> {
        let threads = Threads::new(n_jobs)?;
        let PyStored { cells, hashes, target, weight, centers } = &stored;
        let (cells, hashes, y) = (cells.as_slice()?, hashes.as_slice()?, target.as_slice()?);
        let weight = weight.as_ref().map(View::as_slice).transpose()?;
        with_optional(valid.as_ref(), |valid_table| {
            let valid = match valid.as_ref().zip(valid_table) {
                Some((valid, table)) => Some((table, valid.y()?, valid.weight()?)),
                None => None,
            };
            self.train(py, on_epoch.as_ref(), |trainer, stop, report| {
                let (target, centers) = (trainer.target(y)?, try_collect(centers.0.iter().map(|List(centers)| copied(centers)))?);
                let stored = StoredSamples { cells, hashes, target, weight, centers };
                let samples = EncodedSamples::stored(trainer.encoder(), stored)?;
                let context = Context { threads: &threads, isa: Isa::detect()?, stop };
                let valid = match valid {
                    Some((table, y, weight)) => Some(Dataset { table, target: trainer.target(y)?, weight }),
                    None => None,
                };
                let valid = match &valid {
                    Some(valid) => {
                        Some(EncodedSamples::new(trainer.encoder(), "eval_set's X", valid, context)?)
                    }
                    None => None,
                };
                trainer.fit_encoded(&samples, valid.as_ref(), schedule.into(), context, report)
            })
        })
    }
}

impl PyTrainer {
    /// Runs `work` with the trainer, without the interpreter; it calls `on_epoch` after each epoch.
    fn train<'py>(
        &self,
        py: Python<'py>,
        on_epoch: Option<&Bound<'py, PyAny>>,
        work: impl FnOnce(&mut Trainer, &Stop, &mut OnEpoch) -> Result<Trained> + Send,
    ) -> PyResult<Outcome<'py>> {
        let reports = on_epoch.is_some();
        let trained = interrupt::detach_with_progress(
            py,
            |stop, progress| {
                let mut trainer = self.lock(stop)?;
                let mut report = |epoch: &mut EpochReport, held_out| {
                    if !reports {
                        return ControlFlow::Continue(());
                    }
                    let (stops, metric) = progress.send((*epoch, held_out)).unwrap_or((true, None));
                    epoch.metric = metric;
                    if stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
                };
                work(&mut trainer, stop, &mut report)
            },
            |(epoch, held_out)| call(on_epoch, &epoch, held_out),
        )?;
        let Trained { model, history, best_epoch } = trained;
        let history = history.iter().map(|epoch| record(py, epoch)).collect::<PyResult<_>>()?;
        Ok((py.detach(|| panics::catch(|| PyModel::new(model)))?, history, best_epoch))
    }
}

/// Calls a function of record, numbers of held-out samples and their scores; it returns whether to stop, and a metric.
fn call(
    on_epoch: Option<&Bound<'_, PyAny>>,
    epoch: &EpochReport,
    held_out: Option<HeldOut>,
) -> PyResult<(bool, Option<f64>)> {
    let Some(function) = on_epoch else { return Ok((false, None)) };
    let py = function.py();
    let (samples, scores) = held_out.map(|HeldOut { samples, scores }| (samples, scores)).unzip();
    let samples = samples.map(|samples: Vec<u32>| PyArray1::from_vec(py, samples));
    let scores = scores.map(|scores: Vec<f64>| PyArray1::from_vec(py, scores));
    function.call1((record(py, epoch)?, samples, scores))?.extract()
}

fn record<'py>(py: Python<'py>, epoch: &EpochReport) -> PyResult<Bound<'py, PyDict>> {
    let record = PyDict::new(py);
    record.set_item("epoch", epoch.number)?;
    record.set_item("loss", epoch.loss)?;
    if let Some(loss) = epoch.held_out {
        record.set_item("val_loss", loss)?;
    }
    Ok(record)
}
