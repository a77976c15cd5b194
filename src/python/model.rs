//! `binfm._core.Model`.
#![allow(clippy::redundant_closure_for_method_calls)] // a method of `SampleTerms` has one lifetime, a closure any

use super::arrays::{Arrays, Row};
use super::features::fields;
use super::interrupt;
use crate::data::{Labels, Table};
use crate::encoding::{Categories, CellMap};
use crate::format::Extras;
use crate::memory::{collect, filled, with_capacity};
use crate::model::{Card, Model, Weights};
use crate::scoring::{SampleTerms, Scorer};
use crate::threads::{self, Stop, Threads};
use crate::{Error, Result, panics};
use numpy::{Element, PyArray1, PyArrayMethods};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyDict, PyFloat};
use std::path::PathBuf;
use std::slice;

/// A trained model, prepared for scoring.
#[pyclass(frozen, module = "binfm._core", name = "Model")]
pub struct PyModel(Scorer);

/// Weights read (samples · features · tilings · outputs) from which threads and checks for signals pay.
const MIN_DETACHED: usize = 1 << 21;

impl PyModel {
    pub fn new(model: Model) -> Result<Self> {
        Scorer::new(model).map(Self)
    }

    /// Returns the model.
    pub fn model(&self) -> &Model {
        self.0.model()
    }

    /// Returns the model, prepared for scoring.
    pub fn scorer(&self) -> &Scorer {
        &self.0
    }

    /// Returns `per_sample` values of each sample: a 1-D array if there is one, else a 2-D array.
    fn each_sample<'py, T: Element + Send>(
        &self,
        py: Python<'py>,
        arrays: &Arrays,
        n_jobs: Option<i64>,
        per_sample: usize,
        write: impl Fn(SampleTerms, &mut [T]) + Sync + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.array(py, arrays, n_jobs, per_sample, |table, threads, stop, out| {
            self.0.each_sample(table, threads, stop, out, write)
        })
    }

    /// Returns an array of `per_sample` values of each sample that `fill` has written.
    fn array<'py, T: Element + Send>(
        &self,
        py: Python<'py>,
        arrays: &Arrays,
        n_jobs: Option<i64>,
        per_sample: usize,
        fill: impl FnOnce(Table, &Threads, &Stop, &mut [T]) -> Result<()> + Send,
    ) -> PyResult<Bound<'py, PyAny>> {
        threads::check(n_jobs)?;
        arrays.with(|table| {
            let array = zeros(py, table.samples().saturating_mul(per_sample))?;
            let mut borrowed = array.try_readwrite()?;
            let out = borrowed.as_slice_mut()?;
            if self.weights_read(table) < MIN_DETACHED {
                let (thread, stop) = (Threads::single(), Stop::default());
                py.detach(|| panics::catch(|| fill(table, &thread, &stop, out)))?;
            } else {
                let threads = Threads::new(n_jobs)?;
                interrupt::detach(py, |stop| fill(table, &threads, stop, out))?;
            }
            drop(borrowed);
            if per_sample == 1 {
                return Ok(array.into_any());
            }
            Ok(array.reshape([table.samples(), per_sample])?.into_any())
        })
    }

    /// Returns `each` values of every output and row, output by output.
    fn by_output<T, I: IntoIterator<Item = T>>(
        &self,
        each: usize,
        values: impl Fn(usize, usize) -> I,
    ) -> PyResult<Vec<T>> {
        let rows = self.rows();
        let mut out = with_capacity(self.outputs().saturating_mul(rows).saturating_mul(each))?;
        panics::catch(|| {
            for output in 0..self.outputs() {
                (0..rows).for_each(|row| out.extend(values(output, row)));
            }
            Ok(out)
        })
    }

    fn weights_read(&self, table: Table) -> usize {
        let active = self.model().encoder().max_active() as usize;
        table.samples().saturating_mul(active).saturating_mul(self.outputs())
    }
}

#[pymethods]
impl PyModel {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, blob: &[u8]) -> PyResult<Self> {
        Ok(py.detach(|| panics::catch(|| Model::from_bytes(blob).and_then(Self::new)))?)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Ok(py.detach(|| panics::catch(|| Model::load(&path).and_then(Self::new)))?)
    }

    fn to_bytes<'py>(
        &self,
        py: Python<'py>,
        names: bool,
        labels: bool,
        card: bool,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let extras = Extras { names, labels, card };
        panics::catch(|| {
            let bytes = self.model().to_bytes_with(extras)?;
            PyBytes::new_with(py, bytes.len(), |copy| {
                copy.copy_from_slice(&bytes);
                Ok(())
            })
        })
    }

    fn save(
        &self,
        py: Python<'_>,
        path: PathBuf,
        names: bool,
        labels: bool,
        card: bool,
    ) -> PyResult<()> {
        let extras = Extras { names, labels, card };
        Ok(py.detach(|| panics::catch(|| self.model().save_with(&path, extras)))?)
    }

    /// Returns the same model with a card, the text of a JSON object.
    fn with_card(&self, card: String) -> Result<Self> {
        let got = format!("{} bytes of JSON", card.len());
        let card = Card::new(card).map_err(|must| Error::value("card", must, got))?;
        panics::catch(|| Self::new(self.model().copied()?.with_card(Some(card))))
    }

    #[getter]
    fn card(&self) -> Option<&str> {
        self.model().card().map(Card::as_str)
    }

    #[getter]
    fn names(&self) -> Option<&[String]> {
        self.model().names()
    }

    #[getter]
    fn nbytes(&self) -> PyResult<usize> {
        panics::catch(|| Ok(self.model().size()))
    }

    fn size_report(&self) -> PyResult<Vec<(&'static str, usize)>> {
        panics::catch(|| Ok(self.model().size_report()))
    }

    #[getter]
    fn m(&self) -> usize {
        self.model().weights().factors()
    }

    #[getter]
    fn w_bits(&self) -> usize {
        self.model().weights().w_bits()
    }

    #[getter]
    fn tilings(&self) -> u32 {
        self.model().encoder().tilings()
    }

    #[getter]
    fn outputs(&self) -> usize {
        self.model().weights().outputs()
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
            Labels::Ints(labels) => ("int", labels.into_pyobject(py)?),
            Labels::Floats(labels) => ("float", labels.into_pyobject(py)?),
            Labels::Bool => ("bool", vec![false, true].into_pyobject(py)?),
            Labels::Texts(labels) => ("text", labels.into_pyobject(py)?),
        })
    }

    /// Returns the fields of `binfm.Feature`.
    fn feature<'py>(&self, py: Python<'py>, index: usize) -> PyResult<Bound<'py, PyDict>> {
        fields(py, self.model().encoder().feature_of(index))
    }

    fn vocabulary(&self, index: usize) -> Option<&[String]> {
        match self.model().encoder().feature_of(index).map(|feature| &feature.map) {
            Some(CellMap::Categories(Categories::Texts(texts))) => Some(texts),
            _ => None,
        }
    }

    #[getter]
    fn text_columns(&self) -> Result<Vec<usize>> {
        let is_text = |map: &CellMap| matches!(map, CellMap::Categories(Categories::Texts(_)));
        let features = self.model().encoder().features().iter();
        collect(features.filter(|feature| is_text(&feature.map)).map(|feature| feature.column))
    }

    /// Returns the columns whose categories are whole numbers.
    #[getter]
    fn id_columns(&self) -> Result<Vec<usize>> {
        let has_ids = |map: &CellMap| match map {
            CellMap::Categories(categories) => !matches!(categories, Categories::Texts(_)),
            CellMap::Intervals(_) | CellMap::Raw(_) => false,
        };
        let features = self.model().encoder().features().iter();
        collect(features.filter(|feature| has_ids(&feature.map)).map(|feature| feature.column))
    }

    #[getter]
    fn unused_columns(&self) -> Result<Vec<usize>> {
        let encoder = self.model().encoder();
        collect((0..encoder.columns()).filter(|&column| encoder.feature_of(column).is_none()))
    }

    /// Returns α, β and bias of each output.
    fn scales(&self) -> Result<(Vec<f64>, Vec<f64>, Vec<f64>)> {
        let scale = |output: usize| match self.model().weights() {
            Weights::Signs { scales, .. } => {
                let real = scales.real(output);
                [real.alpha, real.beta_squared.sqrt(), real.bias]
            }
            Weights::Floats(floats) => {
                let bias = floats.bias().get(output).copied().unwrap_or(0.0);
                [1.0, floats.beta(output), bias.into()]
            }
        };
        let each = |part: fn([f64; 3]) -> f64| collect((0..self.outputs()).map(|k| part(scale(k))));
        Ok((each(|[alpha, ..]| alpha)?, each(|[_, beta, _]| beta)?, each(|[.., bias]| bias)?))
    }

    /// Returns w: int16 if they are bits, else float32.
    fn w<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let shape = [self.outputs(), self.rows()];
        match self.model().weights() {
            Weights::Signs { signs, .. } => {
                let w = |output: usize, row: usize| [signs.w(output, row)];
                Ok(PyArray1::from_vec(py, self.by_output(1, w)?).reshape(shape)?.into_any())
            }
            Weights::Floats(floats) => {
                let w = |output: usize, row: usize| [floats.w_of(output, row)];
                Ok(PyArray1::from_vec(py, self.by_output(1, w)?).reshape(shape)?.into_any())
            }
        }
    }

    /// Returns V: int8 if they are signs, else float32.
    #[pyo3(name = "V")]
    fn factors<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let m = self.m();
        let shape = [self.outputs(), self.rows(), m];
        match self.model().weights() {
            Weights::Signs { signs, .. } => {
                let own = |output, row| (0..m).map(move |i| signs.sign(output, row, i));
                Ok(PyArray1::from_vec(py, self.by_output(m, own)?).reshape(shape)?.into_any())
            }
            Weights::Floats(floats) if floats.method().has_sign_factors() => {
                let own = |output, row| floats.v_of(output, row).map(|v| v as i8);
                Ok(PyArray1::from_vec(py, self.by_output(m, own)?).reshape(shape)?.into_any())
            }
            Weights::Floats(floats) => {
                let own = |output, row| floats.v_of(output, row);
                Ok(PyArray1::from_vec(py, self.by_output(m, own)?).reshape(shape)?.into_any())
            }
        }
    }

    /// Returns L of all outputs and then Q of all, for each sample: integers if every weight is a bit.
    fn terms<'py>(
        &self,
        py: Python<'py>,
        #[allow(non_snake_case)] X: Arrays,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let each = 2 * self.outputs();
        match self.model().weights() {
            Weights::Signs { .. } => self.each_sample(py, &X, n_jobs, each, |terms, out| {
                let SampleTerms::Sign(_, terms) = terms else { return };
                write_terms(terms.iter().map(|terms| (terms.linear, terms.pairs)), out);
            }),
            Weights::Floats(_) => self.each_sample(py, &X, n_jobs, each, |terms, out| {
                let SampleTerms::Float(_, terms) = terms else { return };
                write_terms(terms.iter().map(|terms| (terms.linear, terms.pairs)), out);
            }),
        }
    }

    fn decision<'py>(
        &self,
        py: Python<'py>,
        #[allow(non_snake_case)] X: Arrays,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let outputs = self.outputs();
        self.array(py, &X, n_jobs, outputs, |table, threads, stop, out| {
            self.0.scores(table, threads, stop, out)
        })
    }

    /// Returns the number that is predicted for each sample by a model of numbers.
    fn numbers<'py>(
        &self,
        py: Python<'py>,
        #[allow(non_snake_case)] X: Arrays,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let loss = self.model().loss();
        self.array(py, &X, n_jobs, 1, |table, threads, stop, out| {
            self.0.scores(table, threads, stop, out)?;
            for score in out {
                *score = loss.prediction(*score);
            }
            Ok(())
        })
    }

    /// Returns the score of one sample: a float, or a list of one per class.
    #[pyo3(signature = (row, /))]
    fn score_row<'py>(&self, py: Python<'py>, row: Row) -> PyResult<Bound<'py, PyAny>> {
        let features = self.model().encoder().columns();
        let mut score = 0.0;
        let mut many = filled(if self.outputs() == 1 { 0 } else { self.outputs() }, 0.0)?;
        let out = if many.is_empty() { slice::from_mut(&mut score) } else { &mut many };
        let scored = row.with(features, |table| {
            let (thread, stop) = (Threads::single(), Stop::default());
            panics::catch(|| self.0.scores(table, &thread, &stop, out))
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
        if !self.model().loss().has_probabilities() {
            let must = "be 'logistic' or 'softmax' for probabilities";
            return Err(Error::value("loss", must, format!("'{}'", self.loss())).into());
        }
        let classes = self.model().labels().len();
        self.each_sample(py, &X, n_jobs, classes, |terms, out| terms.write_probabilities(out))
    }

    fn classify<'py>(
        &self,
        py: Python<'py>,
        #[allow(non_snake_case)] X: Arrays,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        self.each_sample(py, &X, n_jobs, 1, |terms, out: &mut [isize]| {
            out.fill(terms.class() as isize);
        })
    }
}

/// Writes L of all outputs and then Q of all.
fn write_terms<T>(terms: impl ExactSizeIterator<Item = (T, T)>, out: &mut [T]) {
    let (linear, pairs) = out.split_at_mut(terms.len());
    for ((l, q), (linear, pairs)) in terms.zip(linear.iter_mut().zip(pairs)) {
        (*linear, *pairs) = (l, q);
    }
}

/// Bytes from which numpy is asked for memory through Python, where a failure is an error: its C interface panics.
const LARGE: usize = 1 << 14;

/// numpy's function of that name.
static ZEROS: PyOnceLock<Py<PyAny>> = PyOnceLock::new();

/// Returns an array in numpy's own memory, which uses huge pages where they pay.
fn zeros<T: Element>(py: Python<'_>, count: usize) -> PyResult<Bound<'_, PyArray1<T>>> {
    if count < LARGE / size_of::<T>() {
        return Ok(PyArray1::zeros(py, count, false));
    }
    let zeros = ZEROS.import(py, "numpy", "zeros")?;
    Ok(zeros.call1((count, T::get_dtype(py)))?.cast_into()?)
}
