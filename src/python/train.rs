//! `binfm._core.train`.

use super::arrays::Arrays;
use super::door;
use super::model::PyModel;
use crate::encoding::{Binning, EncodingParams, MOST_BINS, MOST_TILINGS, Table};
use crate::error::guard;
use crate::kernels::Isa;
use crate::model::{Labels, Loss, Method, Model};
use crate::threads::Threads;
use crate::training::params::{MOST_EPOCHS, MOST_FACTORS, whole};
use crate::training::{Epoch, Optimizer, Params, Request, Run, Set, Start, Targets, Trained};
use crate::{Error, Result};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// `binfm._inputs.Settings`.
#[derive(FromPyObject)]
pub struct Settings {
    method: String,
    m: i64,
    b: i64,
    tilings: i64,
    binning: String,
    loss: String,
    scaling: bool,
    optimizer: String,
    epochs: i64,
    learning_rate: f64,
    lambda_w: f64,
    lambda_v: f64,
    dropout: f64,
    ensemble: i64,
    polish: i64,
    categorical: Vec<usize>,
    leave_out: Vec<usize>,
    min_count: f64,
    early_stopping: bool,
    pub holdout: f64,
    patience: i64,
    seed: i64,
    pub n_jobs: Option<i64>,
}

pub type Numbers<'py> = PyReadonlyArray1<'py, f64>;
/// Kind and values of class labels.
pub type Labelled<'py> = (String, Bound<'py, PyAny>);
/// Table, targets and weights to measure the loss on.
pub type Valid<'py> = (Arrays<'py>, Numbers<'py>, Option<Numbers<'py>>);
/// Best model, record of each epoch, number of the best.
pub type Outcome<'py> = (PyModel, Vec<Bound<'py, PyDict>>, usize);

/// Train a model.
#[pyfunction]
#[allow(clippy::too_many_arguments)] // one call from one place, by `binfm.train`, which has names for them
pub fn train<'py>(
    py: Python<'py>,
    #[allow(non_snake_case)] X: Arrays,
    y: Numbers,
    weight: Option<Numbers>,
    valid: Option<Valid>,
    labels: Labelled,
    vocabularies: BTreeMap<usize, Vec<String>>,
    names: Option<Vec<String>>,
    settings: Settings,
    on_epoch: Option<Bound<'py, PyAny>>,
) -> PyResult<Outcome<'py>> {
    let params = settings.params()?;
    let encoding = settings.encoding(vocabularies)?;
    let threads = Threads::new(settings.n_jobs)?;
    let labels = read_labels(&labels.0, &labels.1)?;
    let weight = slice(weight.as_ref())?;
    let targets = targets(y.as_slice()?, weight, &labels);
    let valid_weight = slice(valid.as_ref().and_then(|(_, _, weight)| weight.as_ref()))?;
    let valid_y = valid.as_ref().map(|(_, y, _)| y.as_slice()).transpose()?;
    let valid_targets = valid_y.map(|y| targets.alike(y));
    let tells = on_epoch.is_some();
    X.with(|table| {
        with_optional(valid.as_ref().map(|(arrays, _, _)| arrays), |valid_table| {
            let valid = valid_table.zip(valid_targets);
            let request = Request {
                data: Set { table, targets, weight },
                valid: valid.map(|(table, targets)| Set { table, targets, weight: valid_weight }),
                labels,
                encoding,
                params,
                holdout: settings.holdout,
            };
            let trained = door::leave(
                py,
                |stop, teller| {
                    let mut tell = |epoch: &Epoch| {
                        if tells { teller.tell(*epoch) } else { ControlFlow::Continue(()) }
                    };
                    let run = Run { threads: &threads, isa: Isa::detect()?, stop };
                    request.fit(run, &mut tell)
                },
                |epoch| call(on_epoch.as_ref(), &epoch),
            )?;
            outcome(py, trained, names)
        })
    })
}

/// A model that has learned nothing but how to encode: its size without its weights is that of a trained one.
#[pyfunction]
pub fn encode(
    py: Python<'_>,
    #[allow(non_snake_case)] X: Arrays,
    y: Numbers,
    weight: Option<Numbers>,
    labels: Labelled,
    vocabularies: BTreeMap<usize, Vec<String>>,
    settings: Settings,
) -> PyResult<PyModel> {
    let encoding = settings.encoding(vocabularies)?;
    let threads = Threads::new(settings.n_jobs)?;
    let weight = slice(weight.as_ref())?;
    let targets = targets(y.as_slice()?, weight, &read_labels(&labels.0, &labels.1)?);
    X.with(|table| {
        let set = Set { table, targets, weight };
        let model = door::leave(
            py,
            |stop, _: door::Teller<()>| {
                let run = Run { threads: &threads, isa: Isa::detect()?, stop };
                Model::blank(set.encoder(&encoding, run)?)
            },
            |()| Ok(ControlFlow::Continue(())),
        )?;
        Ok(py.detach(|| guard(|| PyModel::new(model)))?)
    })
}

/// Name of the instruction set in use.
#[pyfunction]
pub fn instruction_set() -> PyResult<&'static str> {
    Ok(Isa::detect()?.name())
}

/// What Python is told of a training.
pub fn outcome(
    py: Python<'_>,
    trained: Trained,
    names: Option<Vec<String>>,
) -> PyResult<Outcome<'_>> {
    let Trained { model, history, best_epoch } = trained;
    let history = history.iter().map(|epoch| record(py, epoch)).collect::<PyResult<_>>()?;
    let model = match names {
        Some(names) => model.with_names(names)?,
        None => model,
    };
    Ok((py.detach(|| guard(|| PyModel::new(model)))?, history, best_epoch))
}

/// The numbers of an array, if there is one.
pub fn slice<'a>(numbers: Option<&'a Numbers>) -> PyResult<Option<&'a [f64]>> {
    Ok(numbers.map(|numbers| numbers.as_slice()).transpose()?)
}

pub fn with_optional<R>(
    arrays: Option<&Arrays>,
    work: impl FnOnce(Option<Table>) -> PyResult<R>,
) -> PyResult<R> {
    match arrays {
        Some(arrays) => arrays.with(|table| work(Some(table))),
        None => work(None),
    }
}

pub fn call(on_epoch: Option<&Bound<'_, PyAny>>, epoch: &Epoch) -> PyResult<ControlFlow<()>> {
    let Some(function) = on_epoch else { return Ok(ControlFlow::Continue(())) };
    let answer = function.call1((epoch.number, record(function.py(), epoch)?))?;
    let stops = answer.extract::<bool>().unwrap_or(false);
    Ok(if stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
}

fn record<'py>(py: Python<'py>, epoch: &Epoch) -> PyResult<Bound<'py, PyDict>> {
    let record = PyDict::new(py);
    record.set_item("epoch", epoch.number)?;
    record.set_item("loss", epoch.loss)?;
    if let Some(loss) = epoch.held_out {
        record.set_item("val_loss", loss)?;
    }
    Ok(record)
}

pub fn targets(y: &[f64], weight: Option<&[f64]>, labels: &Labels) -> Targets {
    match labels {
        Labels::None => Targets::numbers(y, weight),
        _ => Targets::classes(y, labels.len()),
    }
}

pub fn read_labels(kind: &str, values: &Bound<'_, PyAny>) -> PyResult<Labels> {
    Ok(match kind {
        "none" => Labels::None,
        "int" => Labels::Whole(values.extract()?),
        "float" => Labels::Number(values.extract()?),
        "bool" => Labels::Bool,
        _ => Labels::Text(values.extract()?),
    })
}

impl Settings {
    fn method(&self) -> Result<Method> {
        one_of("method", &self.method, &Method::ALL.map(|method| (method.name(), method)))
    }

    pub fn params(&self) -> Result<Params> {
        Ok(Params {
            method: self.method()?,
            m: whole("m", self.m, 1, MOST_FACTORS)?,
            loss: one_of("loss", &self.loss, &Loss::ALL.map(|loss| (loss.name(), loss)))?,
            scaling: self.scaling,
            optimizer: one_of(
                "optimizer",
                &self.optimizer,
                &[("adagrad", Optimizer::Adagrad), ("sgd", Optimizer::Sgd)],
            )?,
            epochs: whole("epochs", self.epochs, 1, MOST_EPOCHS)?,
            learning_rate: self.learning_rate,
            lambda_w: self.lambda_w,
            lambda_v: self.lambda_v,
            dropout: self.dropout,
            ensemble: whole("ensemble", self.ensemble, 1, MOST_FACTORS)?,
            polish: whole("polish", self.polish, 0, MOST_EPOCHS)?,
            early_stopping: self.early_stopping,
            patience: whole("patience", self.patience, 1, MOST_EPOCHS)?,
            start: Start::Smooth,
            seed: whole("seed", self.seed, 0, i64::MAX)? as u64,
        })
    }

    pub fn encoding(&self, vocabularies: BTreeMap<usize, Vec<String>>) -> Result<EncodingParams> {
        Ok(EncodingParams {
            bins: whole("b", self.b, 2, MOST_BINS)? as u32,
            tilings: whole("tilings", self.tilings, 1, (self.b - 1).min(MOST_TILINGS))? as u32,
            binning: one_of(
                "binning",
                &self.binning,
                &[
                    ("quantile", Binning::Quantile),
                    ("uniform", Binning::Uniform),
                    ("supervised", Binning::Supervised),
                ],
            )?,
            categorical: self.categorical.clone(),
            vocabularies,
            min_count: self.min_count,
            raw: self.method()?.is_raw(),
            leave_out: self.leave_out.iter().copied().collect(),
        })
    }
}

fn one_of<T: Copy>(name: &'static str, given: &str, accepted: &[(&str, T)]) -> Result<T> {
    if let Some((_, value)) = accepted.iter().find(|(known, _)| *known == given) {
        return Ok(*value);
    }
    let known: Vec<String> = accepted.iter().map(|(known, _)| format!("'{known}'")).collect();
    Err(Error::value(name, format!("'{given}'"), format!("are {}", known.join(", "))))
}
