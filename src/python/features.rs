//! What Python is told of a feature.

use crate::encoding::{Feature, Levels, Values, keys};
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyRange, PyTuple};

/// The fields of `binfm.Feature`; None is a feature of no use.
pub fn fields<'py>(py: Python<'py>, feature: Option<&Feature>) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    let Some(Feature { span, values, .. }) = feature else {
        fields.set_item("rows", PyRange::new(py, 0, 0)?)?;
        fields.set_item("cells", 0)?;
        fields.set_item("stride", 1)?;
        fields.set_item("missing_row", py.None())?;
        fields.set_item("kind", "unused")?;
        fields.set_item("edges", PyArray1::<f32>::from_vec(py, Vec::new()))?;
        fields.set_item("levels", PyTuple::empty(py))?;
        return Ok(fields);
    };
    let (first, rows) = (span.first as isize, span.rows() as isize);
    fields.set_item("rows", PyRange::new(py, first, first + rows)?)?;
    fields.set_item("cells", span.cells)?;
    fields.set_item("stride", span.stride)?;
    fields.set_item("missing_row", span.missing_start())?;
    let (kind, edges) = match values {
        Values::Numbers(edges) => ("numeric", edges.keys()),
        Values::Raw(_) => ("raw", &[][..]),
        Values::Levels(_) => ("categorical", &[][..]),
    };
    fields.set_item("kind", kind)?;
    if let Values::Raw(standard) = values {
        fields.set_item("center", standard.center)?;
        fields.set_item("scale", standard.scale)?;
    }
    fields
        .set_item("edges", PyArray1::from_iter(py, edges.iter().map(|&key| keys::number(key))))?;
    fields.set_item("levels", levels(py, values)?)?;
    Ok(fields)
}

fn levels<'py>(py: Python<'py>, values: &Values) -> PyResult<Bound<'py, PyTuple>> {
    match values {
        Values::Levels(Levels::Counting(count)) => PyTuple::new(py, 0..*count),
        Values::Levels(Levels::Whole(levels)) => PyTuple::new(py, levels),
        Values::Levels(Levels::Text(levels)) => PyTuple::new(py, levels),
        _ => Ok(PyTuple::empty(py)),
    }
}
