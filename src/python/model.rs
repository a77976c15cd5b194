//! `binfm._core.Model`.
#![allow(clippy::redundant_closure_for_method_calls)] // a method of `RowTerms` has one lifetime, a closure any

use super::arrays::{Arrays, Row};
use super::door;
use super::engine::{Engine, RowTerms};
use super::features::fields;
use crate::encoding::{Levels, Table, Values};
use crate::error::{ask, guard, room};
use crate::model::{Labels, Loss, Model, Weights};
use crate::threads::{self, Stop, Threads};
use crate::{Error, Result};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyFloat};
use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::slice;

/// A trained model and its tables for scoring.
#[pyclass(frozen, module = "binfm._core", name = "Model")]
pub struct PyModel(Engine);

/// Numbers of weights looked up (rows · features · tilings · functions) from which threads and signals are worth it.
const LONG: usize = 1 << 21;

impl PyModel {
    pub fn new(model: Model) -> Result<Self> {
        Engine::new(model).map(Self)
    }

    /// The model itself.
    pub fn model(&self) -> &Model {
        self.0.model()
    }

    fn with_or_without(&self, names: bool, labels: bool) -> Cow<'_, Model> {
        let mut model = Cow::Borrowed(self.model());
        if !names {
            model = Cow::Owned(model.without_names());
        }
        if !labels {
            model = Cow::Owned(model.without_labels());
        }
        model
    }

    /// `per_row` values of each row: a 1-D array where it is one, else a 2-D one.
    fn each_row<'py, T: Element + Send>(
        &self,
        py: Python<'py>,
        arrays: &Arrays,
        n_jobs: Option<i64>,
        per_row: usize,
        write: impl Fn(RowTerms, &mut [T]) + Sync + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        threads::check(n_jobs)?;
        arrays.with(|table| {
            let array = zeros(py, table.rows().saturating_mul(per_row))?;
            let mut borrowed = array.try_readwrite()?;
            let out = borrowed.as_slice_mut()?;
            if self.lookups(table) < LONG {
                let stop = Stop::default();
                let work = || self.0.each_row(table, &Threads::one(), &stop, out, write);
                py.detach(|| guard(work))?;
            } else {
                let threads = Threads::start(threads::wanted(n_jobs)?)?;
                let work = |stop: &Stop, _| self.0.each_row(table, &threads, stop, out, write);
                door::leave(py, work, |()| Ok(ControlFlow::Continue(())))?;
            }
            drop(borrowed);
            if per_row == 1 {
                return Ok(array.into_any());
            }
            Ok(array.reshape([table.rows(), per_row])?.into_any())
        })
    }

    /// `each` values of every function and row, function by function.
    fn by_function<T, I: IntoIterator<Item = T>>(
        &self,
        each: usize,
        values: impl Fn(usize, usize) -> I,
    ) -> PyResult<Vec<T>> {
        let rows = self.rows();
        let mut out = room(self.functions().saturating_mul(rows).saturating_mul(each))?;
        guard(|| {
            for function in 0..self.functions() {
                (0..rows).for_each(|row| out.extend(values(function, row)));
            }
            Ok(out)
        })
    }

    fn lookups(&self, table: Table) -> usize {
        let active = self.model().encoder().most_active() as usize;
        table.rows().saturating_mul(active).saturating_mul(self.model().weights().functions())
    }
}

#[pymethods]
impl PyModel {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, blob: &[u8]) -> PyResult<Self> {
        Ok(py.detach(|| guard(|| Model::from_bytes(blob).and_then(Self::new)))?)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Ok(py.detach(|| guard(|| Model::load(&path).and_then(Self::new)))?)
    }

    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        names: bool,
        labels: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        guard(|| Ok(PyBytes::new(py, &self.with_or_without(names, labels).to_bytes())))
    }

    fn save(&self, py: Python<'_>, path: PathBuf, names: bool, labels: bool) -> PyResult<()> {
        Ok(py.detach(|| guard(|| self.with_or_without(names, labels).save(&path)))?)
    }

    #[getter]
    fn names(&self) -> Option<Vec<String>> {
        self.model().names().map(<[String]>::to_vec)
    }

    #[getter]
    fn nbytes(&self) -> PyResult<usize> {
        guard(|| Ok(self.model().size()))
    }

    fn size_report(&self) -> PyResult<Vec<(&'static str, usize)>> {
        guard(|| Ok(self.model().size_report()))
    }

    #[getter]
    fn m(&self) -> usize {
        self.model().weights().factors()
    }

    #[getter]
    fn tilings(&self) -> u32 {
        self.model().encoder().tilings()
    }

    #[getter]
    fn functions(&self) -> usize {
        self.model().weights().functions()
    }

    #[getter]
    fn rows(&self) -> usize {
        self.model().encoder().rows() as usize
    }

    #[getter]
    fn features(&self) -> usize {
        self.model().encoder().columns()
    }

    #[getter]
    fn method(&self) -> &'static str {
        self.model().weights().method().name()
    }

    #[getter]
    fn loss(&self) -> &'static str {
        self.model().loss().name()
    }

    #[getter]
    fn zero_is_absent(&self) -> bool {
        self.model().encoder().zero_is_absent()
    }

    fn labels<'py>(&self, py: Python<'py>) -> PyResult<(&'static str, Bound<'py, PyAny>)> {
        Ok(match self.model().labels() {
            Labels::None => ("none", Vec::<i64>::new().into_pyobject(py)?),
            Labels::Whole(labels) => ("int", labels.into_pyobject(py)?),
            Labels::Number(labels) => ("float", labels.into_pyobject(py)?),
            Labels::Bool => ("bool", vec![false, true].into_pyobject(py)?),
            Labels::Text(labels) => ("text", labels.into_pyobject(py)?),
        })
    }

    /// The fields of `binfm.Feature`.
    fn feature<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        fields(py, self.model().encoder().of_column(index))
    }

    fn vocabulary(&self, index: usize) -> Option<Vec<String>> {
        match self.model().encoder().of_column(index).map(|feature| &feature.values) {
            Some(Values::Levels(Levels::Text(texts))) => Some(texts.clone()),
            _ => None,
        }
    }

    #[getter]
    fn text_columns(&self) -> Vec<usize> {
        let text = |values: &Values| matches!(values, Values::Levels(Levels::Text(_)));
        let features = self.model().encoder().features().iter();
        features.filter(|feature| text(&feature.values)).map(|feature| feature.column).collect()
    }

    #[getter]
    fn unused_columns(&self) -> Vec<usize> {
        let encoder = self.model().encoder();
        (0..encoder.columns()).filter(|&column| encoder.of_column(column).is_none()).collect()
    }

    /// Parameter rows and bytes of the features, if it did without some columns more.
    fn size_without(&self, columns: Vec<usize>) -> PyResult<(usize, usize)> {
        guard(|| Ok(self.model().size_without(&columns)))
    }

    /// α, β and bias of each score function.
    fn scales(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let scale = |function: usize| match self.model().weights() {
            Weights::Bits { scales, .. } => {
                let real = scales.real(function);
                (real.alpha, (real.beta_squared.sqrt(), real.bias))
            }
            Weights::Reals(reals) => {
                let bias = reals.bias().get(function).copied().unwrap_or(0.0);
                (1.0, (reals.beta(function), bias.into()))
            }
        };
        let (alpha, (beta, bias)) = (0..self.functions()).map(scale).unzip();
        (alpha, beta, bias)
    }

    /// int8 where they are signs, else float32.
    fn w<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let shape = [self.functions(), self.rows()];
        match self.model().weights() {
            Weights::Bits { signs, .. } => {
                let sign = |function: usize, row: usize| [signs.sign(function, row, 0)];
                Ok(PyArray1::from_vec(py, self.by_function(1, sign)?).reshape(shape)?.into_any())
            }
            Weights::Reals(reals) => {
                let w = |function: usize, row: usize| [reals.w_of(function, row)];
                Ok(PyArray1::from_vec(py, self.by_function(1, w)?).reshape(shape)?.into_any())
            }
        }
    }

    /// int8 where they are signs, else float32.
    #[pyo3(name = "V")]
    fn factors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let m = self.m();
        let shape = [self.functions(), self.rows(), m];
        match self.model().weights() {
            Weights::Bits { signs, .. } => {
                let own = |function, row| (1..=m).map(move |i| signs.sign(function, row, i));
                Ok(PyArray1::from_vec(py, self.by_function(m, own)?).reshape(shape)?.into_any())
            }
            Weights::Reals(reals) if reals.has_signs() => {
                let own = |function, row| reals.v_of(function, row).map(|v| v as i8);
                Ok(PyArray1::from_vec(py, self.by_function(m, own)?).reshape(shape)?.into_any())
            }
            Weights::Reals(reals) => {
                let own = |function, row| reals.v_of(function, row);
                Ok(PyArray1::from_vec(py, self.by_function(m, own)?).reshape(shape)?.into_any())
            }
        }
    }

    /// L of all score functions and then Q of all, for each row: whole numbers of a model of bits.
    fn terms<'py>(
        &self,
        py: Python<'py>,
        #[allow(non_snake_case)] X: Arrays,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let functions = self.functions();
        match self.model().weights() {
            Weights::Bits { .. } => {
                self.each_row(py, &X, n_jobs, 2 * functions, |terms, out| terms.write_whole(out))
            }
            Weights::Reals(_) => {
                self.each_row(py, &X, n_jobs, 2 * functions, |terms, out| terms.write_real(out))
            }
        }
    }

    fn decision<'py>(
        &self,
        py: Python<'py>,
        #[allow(non_snake_case)] X: Arrays,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.each_row(py, &X, n_jobs, self.functions(), |terms, out| terms.write_scores(out))
    }

    /// The score of one row: a float, or a list of one for each class.
    #[pyo3(signature = (row, /))]
    fn score_row<'py>(&self, py: Python<'py>, row: Row) -> PyResult<Bound<'py, PyAny>> {
        let features = self.model().encoder().columns();
        let mut score = 0.0;
        let mut many = vec![0.0; if self.functions() == 1 { 0 } else { self.functions() }];
        let out = if many.is_empty() { slice::from_mut(&mut score) } else { &mut many };
        let scored = row.with(features, |table| {
            let (one, stop) = (Threads::one(), Stop::default());
            let write = |terms: RowTerms, out: &mut [f64]| terms.write_scores(out);
            guard(|| self.0.each_row(table, &one, &stop, out, write))
        });
        match scored {
            None => self.model().encoder().check_width("row", row.len())?,
            Some(scored) => scored?,
        }
        if many.is_empty() {
            Ok(PyFloat::new(py, score).into_any())
        } else {
            many.into_bound_py_any(py)
        }
    }

    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        #[allow(non_snake_case)] X: Arrays,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if !matches!(self.model().loss(), Loss::Logistic | Loss::Softmax) {
            let given = format!("a model of loss '{}'", self.loss());
            let accepted = "are losses 'logistic' and 'softmax'";
            return Err(Error::value("predict_proba", given, accepted).into());
        }
        let classes = self.model().labels().len();
        self.each_row(py, &X, n_jobs, classes, |terms, out| terms.probabilities(out))
    }

    fn classify<'py>(
        &self,
        py: Python<'py>,
        #[allow(non_snake_case)] X: Arrays,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.each_row(py, &X, n_jobs, 1, |terms, out: &mut [isize]| {
            out.fill(terms.class() as isize);
        })
    }
}

/// An array in numpy's own memory: it asks for huge pages where that pays.
fn zeros<T: Element>(py: Python<'_>, count: usize) -> PyResult<Bound<'_, PyArray1<T>>> {
    if count > LONG {
        ask::<T>(count)?; // numpy's answer to too little memory would be a panic
    }
    Ok(PyArray1::zeros(py, count, false))
}
