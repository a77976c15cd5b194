//! `binfm.data.dataset.Dataset` as the core reads it.

use super::arrays::{Arrays, view};
use super::list::List;
use crate::data::{Dataset, Labels, Schema, Table, Target, Units};
use crate::memory::copied;
use numpy::{Element, PyReadonlyArray1};
use pyo3::prelude::*;
use std::collections::BTreeMap;

/// Numbers that only we hold; see [`view`].
pub struct View<'py, T: Element = f64>(PyReadonlyArray1<'py, T>);

impl<T: Element> View<'_, T> {
    /// Returns the numbers.
    pub fn as_slice(&self) -> PyResult<&[T]> {
        Ok(self.0.as_slice()?)
    }
}

impl<'py, T: Element> FromPyObject<'_, 'py> for View<'py, T> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        Ok(Self(view(&object)?.extract()?))
    }
}

/// The attributes of a dataset.
#[derive(FromPyObject)]
pub struct PyDataset<'py> {
    table: Arrays<'py>,
    target: View<'py>,
    weight: Option<View<'py>>,
    labels: (String, Bound<'py, PyAny>),
    categorical: List<usize>,
    vocabularies: BTreeMap<usize, List<String>>,
    names: Option<List<String>>,
}

impl PyDataset<'_> {
    /// Returns what its columns and classes are.
    pub fn schema(&self, leave_out: List<usize>) -> PyResult<Schema> {
        let mut schema = Schema::numeric(self.labels()?);
        for (&column, List(texts)) in &self.vocabularies {
            schema.vocabularies.insert(column, copied(texts)?);
        }
        schema.leave_out.extend(leave_out.0);
        Ok(Schema {
            names: self.names.as_ref().map(|names| copied(&names.0)).transpose()?,
            categorical: copied(&self.categorical.0)?,
            ..schema
        })
    }

    /// Returns the targets as they are.
    pub fn y(&self) -> PyResult<&[f64]> {
        self.target.as_slice()
    }

    /// Borrows the table for some work; a panic is an error.
    pub fn with<R>(&self, work: impl FnOnce(Table) -> PyResult<R>) -> PyResult<R> {
        self.table.with(work)
    }

    /// Returns the dataset with its table, and with targets in units that follow from them.
    pub fn view<'a>(&'a self, table: Table<'a>, units: Units) -> PyResult<Dataset<'a>> {
        let (y, weight) = (self.y()?, self.weight()?);
        let target = match self.labels()? {
            Labels::None => Target::numbers(y, weight, units)?,
            labels => Target::classes(y, labels.len())?,
        };
        Ok(Dataset { table, target, weight })
    }

    /// Returns the weights.
    pub fn weight(&self) -> PyResult<Option<&[f64]>> {
        self.weight.as_ref().map(View::as_slice).transpose()
    }

    fn labels(&self) -> PyResult<Labels> {
        let (kind, values) = &self.labels;
        Ok(match kind.as_str() {
            "none" => Labels::None,
            "int" => Labels::Ints(values.extract::<List<_>>()?.0),
            "float" => Labels::Floats(values.extract::<List<_>>()?.0),
            "bool" => Labels::Bool,
            _ => Labels::Texts(values.extract::<List<_>>()?.0),
        })
    }
}

/// Borrows the table of a dataset, if there is one.
pub fn with_optional<R>(
    dataset: Option<&PyDataset>,
    work: impl FnOnce(Option<Table>) -> PyResult<R>,
) -> PyResult<R> {
    match dataset {
        Some(dataset) => dataset.with(|table| work(Some(table))),
        None => work(None),
    }
}
