//! Features as dicts of Python.

use crate::encoding::edges::number;
use crate::encoding::{Categories, CellMap, Feature};
use crate::memory::collect;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyRange, PyTuple};

/// Returns the fields of `binfm.Feature`; `None` is an unused column.
pub fn fields<'py>(py: Python<'py>, feature: Option<&Feature>) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    let Some(Feature { span, map, .. }) = feature else {
        fields.set_item("rows", PyRange::new(py, 0, 0)?)?;
        fields.set_item("cells", 0)?;
        fields.set_item("stride", 1)?;
        fields.set_item("missing_row", py.None())?;
        fields.set_item("kind", "unused")?;
        fields.set_item("edges", PyArray1::<f32>::from_vec(py, Vec::new()))?;
        fields.set_item("categories", PyTuple::empty(py))?;
        return Ok(fields);
    };
    let (first, rows) = (span.first as isize, span.rows() as isize);
    fields.set_item("rows", PyRange::new(py, first, first + rows)?)?;
    fields.set_item("cells", span.cells)?;
    fields.set_item("stride", span.stride)?;
    fields.set_item("missing_row", span.missing_start())?;
    let (kind, edges) = match map {
        CellMap::Intervals(edges) => ("numeric", edges.keys()),
        CellMap::Raw(_) => ("raw", &[][..]),
        CellMap::Categories(_) => ("categorical", &[][..]),
    };
    fields.set_item("kind", kind)?;
    if let CellMap::Raw(standard) = map {
        fields.set_item("center", standard.center)?;
        fields.set_item("scale", standard.scale)?;
    }
    fields.set_item("edges", PyArray1::from_vec(py, collect(edges.iter().map(|&key| number(key)))?))?;
    fields.set_item("categories", categories(py, map)?)?;
    Ok(fields)
}

fn categories<'py>(py: Python<'py>, map: &CellMap) -> PyResult<Bound<'py, PyTuple>> {
    match map {
        CellMap::Categories(Categories::Counting(count)) => PyTuple::new(py, 0..*count),
        CellMap::Categories(Categories::Ids(ids)) => PyTuple::new(py, ids),
        CellMap::Categories(Categories::Texts(texts)) => PyTuple::new(py, texts),
        _ => Ok(PyTuple::empty(py)),
    }
}
