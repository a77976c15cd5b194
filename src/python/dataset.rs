//! `binfm.data.dataset.Dataset` as the core reads it.

use super::arrays::Arrays;
use crate::data::{Dataset, Labels, Schema, Table, Target, Units};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The attributes of a dataset.
#[derive(FromPyObject)]
pub struct PyDataset<'py> {
    table: Arrays<'py>,
    target: PyReadonlyArray1<'py, f64>,
    weight: Option<PyReadonlyArray1<'py, f64>>,
    labels: (String, Bound<'py, PyAny>),
    categorical: Vec<usize>,
    vocabularies: BTreeMap<usize, Vec<String>>,
    names: Option<Vec<String>>,
}

impl PyDataset<'_> {
    /// Returns what its columns and classes are.
    pub fn schema(&self, leave_out: Vec<usize>) -> PyResult<Schema> {
        Ok(Schema {
            labels: self.labels()?,
            names: self.names.clone(),
            categorical: self.categorical.clone(),
            vocabularies: self.vocabularies.clone(),
            leave_out: BTreeSet::from_iter(leave_out),
        })
    }

    /// Returns the targets as they are.
    pub fn y(&self) -> PyResult<&[f64]> {
        Ok(self.target.as_slice()?)
    }

    /// Borrows the table for some work; a panic is an error.
    pub fn with<R>(&self, work: impl FnOnce(Table) -> PyResult<R>) -> PyResult<R> {
        self.table.with(work)
    }

    /// Returns the dataset with its table, and with targets in units that follow from them.
    pub fn view<'a>(&'a self, table: Table<'a>, units: Units) -> PyResult<Dataset<'a>> {
        let (y, weight) = (self.y()?, self.weight()?);
        let target = match self.labels()? {
            Labels::None => Target::numbers(y, weight, units),
            labels => Target::classes(y, labels.len()),
        };
        Ok(Dataset { table, target, weight })
    }

    /// Returns the weights.
    pub fn weight(&self) -> PyResult<Option<&[f64]>> {
        Ok(self.weight.as_ref().map(|weight| weight.as_slice()).transpose()?)
    }

    fn labels(&self) -> PyResult<Labels> {
        let (kind, values) = &self.labels;
        Ok(match kind.as_str() {
            "none" => Labels::None,
            "int" => Labels::Ints(values.extract()?),
            "float" => Labels::Floats(values.extract()?),
            "bool" => Labels::Bool,
            _ => Labels::Texts(values.extract()?),
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
