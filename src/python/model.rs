//! `binfm._core.Model`.

use super::arrays::Arrays;
use super::door;
use crate::encoding::{Feature, Levels, Table, Values, keys};
use crate::model::{Labels, Loss, Model, Terms};
use crate::scoring::Scorer;
use crate::threads::{self, Stop, Threads};
use crate::{Error, Result};
use numpy::ndarray::{Array2, Array3};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArray3, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyRange, PyTuple};
use std::ops::ControlFlow;
use std::path::PathBuf;

/// A trained model and its tables for scoring.
#[pyclass(frozen, module = "binfm._core", name = "Model")]
pub struct PyModel(Scorer);

/// Numbers of weights looked up (rows · features · tilings · functions) from which threads and signals are worth it.
const LONG: usize = 1 << 21;

impl PyModel {
    pub fn new(model: Model) -> Self {
        Self(Scorer::new(model))
    }

    fn model(&self) -> &Model {
        self.0.model()
    }

    /// `per_row` values of each row.
    fn each_row<T: Send + Clone + Default>(
        &self,
        py: Python<'_>,
        arrays: &Arrays,
        n_jobs: Option<i64>,
        per_row: usize,
        write: impl Fn(&[Terms], &mut [T]) + Sync + Send,
    ) -> PyResult<Vec<T>> {
        let wanted = threads::wanted(n_jobs)?;
        arrays.with(|table| {
            let work = |threads: &Threads, stop: &Stop| -> Result<Vec<T>> {
                let mut out = vec![T::default(); table.rows() * per_row];
                self.0.each_row(table, threads, stop, &mut out, write)?;
                Ok(out)
            };
            if self.lookups(table) < LONG {
                return Ok(py.detach(|| work(&Threads::one(), &Stop::default()))?);
            }
            let threads = Threads::start(wanted)?;
            door::leave(py, |stop, _| work(&threads, stop), |()| Ok(ControlFlow::Continue(())))
        })
    }

    fn lookups(&self, table: Table) -> usize {
        let active = self.model().encoder().most_active() as usize;
        table.rows().saturating_mul(active).saturating_mul(self.model().signs().functions())
    }

    /// One column as a 1-D array, several as a 2-D one.
    fn shaped<T: numpy::Element>(
        py: Python<'_>,
        values: Vec<T>,
        columns: usize,
    ) -> PyResult<Bound<'_, PyAny>> {
        let array = PyArray1::from_vec(py, values);
        if columns == 1 {
            return Ok(array.into_any());
        }
        let rows = array.len()? / columns;
        Ok(array.reshape([rows, columns])?.into_any())
    }
}

#[pymethods]
impl PyModel {
    #[staticmethod]
    fn from_bytes(py: Python<'_>, blob: &[u8]) -> PyResult<Self> {
        Ok(py.detach(|| Model::from_bytes(blob).map(Self::new))?)
    }

    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Ok(py.detach(|| Model::load(&path).map(Self::new))?)
    }

    fn to_bytes<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.model().to_bytes())
    }

    fn save(&self, py: Python<'_>, path: PathBuf) -> PyResult<()> {
        Ok(py.detach(|| self.model().save(&path))?)
    }

    #[getter]
    fn nbytes(&self) -> usize {
        self.model().size()
    }

    fn size_report(&self) -> Vec<(&'static str, usize)> {
        self.model().size_report()
    }

    #[getter]
    fn m(&self) -> usize {
        self.model().signs().factors()
    }

    #[getter]
    fn tilings(&self) -> u32 {
        self.model().encoder().tilings()
    }

    #[getter]
    fn functions(&self) -> usize {
        self.model().signs().functions()
    }

    #[getter]
    fn rows(&self) -> usize {
        self.model().signs().rows()
    }

    #[getter]
    fn features(&self) -> usize {
        self.model().encoder().features().len()
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
        let Feature { span, values } = &self.model().encoder().features()[index];
        let fields = PyDict::new(py);
        let (first, rows) = (span.first as isize, span.rows() as isize);
        fields.set_item("rows", PyRange::new(py, first, first + rows)?)?;
        fields.set_item("cells", span.cells)?;
        fields.set_item("stride", span.stride)?;
        fields.set_item("missing_row", span.missing_start())?;
        let (kind, edges) = match values {
            Values::Unused => ("unused", &[][..]),
            Values::Numbers(edges) => ("numeric", edges.keys()),
            Values::Levels(_) => ("categorical", &[][..]),
        };
        fields.set_item("kind", kind)?;
        fields.set_item(
            "edges",
            PyArray1::from_iter(py, edges.iter().map(|&key| keys::number(key))),
        )?;
        fields.set_item("levels", levels(py, values)?)?;
        Ok(fields)
    }

    fn vocabulary(&self, index: usize) -> Option<Vec<String>> {
        match &self.model().encoder().features()[index].values {
            Values::Levels(Levels::Text(texts)) => Some(texts.clone()),
            _ => None,
        }
    }

    #[getter]
    fn text_columns(&self) -> Vec<usize> {
        let text = |values: &Values| matches!(values, Values::Levels(Levels::Text(_)));
        let features = self.model().encoder().features().iter().enumerate();
        features.filter(|(_, feature)| text(&feature.values)).map(|(j, _)| j).collect()
    }

    #[getter]
    fn unused_columns(&self) -> Vec<usize> {
        let features = self.model().encoder().features().iter().enumerate();
        features.filter(|(_, feature)| feature.values == Values::Unused).map(|(j, _)| j).collect()
    }

    /// α, β and bias of each score function.
    fn scales(&self) -> (Vec<f64>, Vec<f64>, Vec<f64>) {
        let real = (0..self.functions()).map(|function| self.model().scales().real(function));
        let parts = real.map(|real| (real.alpha, (real.beta_squared.sqrt(), real.bias)));
        let (alpha, (beta, bias)) = parts.unzip();
        (alpha, beta, bias)
    }

    fn w<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<i8>> {
        let signs = self.model().signs();
        let shape = (signs.functions(), signs.rows());
        Array2::from_shape_fn(shape, |(function, row)| signs.sign(function, row, 0))
            .into_pyarray(py)
    }

    #[pyo3(name = "V")]
    fn factors<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray3<i8>> {
        let signs = self.model().signs();
        let shape = (signs.functions(), signs.rows(), signs.factors());
        Array3::from_shape_fn(shape, |(function, row, f)| signs.sign(function, row, 1 + f))
            .into_pyarray(py)
    }

    fn terms<'py>(
        &self,
        py: Python<'py>,
        #[allow(non_snake_case)] X: Arrays,
        n_jobs: Option<i64>,
    ) -> PyResult<(Bound<'py, PyAny>, Bound<'py, PyAny>)> {
        let functions = self.functions();
        let terms =
            self.each_row(py, &X, n_jobs, functions, |terms, out| out.copy_from_slice(terms))?;
        let linear = terms.iter().map(|terms: &Terms| terms.linear).collect();
        let pairs = terms.iter().map(|terms| terms.pairs).collect();
        Ok((Self::shaped(py, linear, functions)?, Self::shaped(py, pairs, functions)?))
    }

    fn decision<'py>(
        &self,
        py: Python<'py>,
        #[allow(non_snake_case)] X: Arrays,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let scores = self.each_row(py, &X, n_jobs, self.functions(), |terms, out| {
            out.iter_mut()
                .zip(terms)
                .enumerate()
                .for_each(|(k, (out, &terms))| *out = self.0.score(k, terms));
        })?;
        Self::shaped(py, scores, self.functions())
    }

    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        #[allow(non_snake_case)] X: Arrays,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if self.model().loss() != Loss::Logistic {
            let given = format!("a model of loss '{}'", self.loss());
            return Err(Error::value("predict_proba", given, "is loss 'logistic'").into());
        }
        let classes = self.model().labels().len();
        let values =
            self.each_row(py, &X, n_jobs, classes, |terms, out| self.0.probabilities(terms, out))?;
        Self::shaped(py, values, classes)
    }

    fn classify<'py>(
        &self,
        py: Python<'py>,
        #[allow(non_snake_case)] X: Arrays,
        n_jobs: Option<i64>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let classes =
            self.each_row(py, &X, n_jobs, 1, |terms, out| out[0] = self.0.class(terms) as isize)?;
        Self::shaped(py, classes, 1)
    }
}

fn levels<'py>(py: Python<'py>, values: &Values) -> PyResult<Bound<'py, PyTuple>> {
    match values {
        Values::Levels(Levels::Counting(count)) => PyTuple::new(py, 0..*count),
        Values::Levels(Levels::Whole(levels)) => PyTuple::new(py, levels),
        Values::Levels(Levels::Text(levels)) => PyTuple::new(py, levels),
        _ => Ok(PyTuple::empty(py)),
    }
}
