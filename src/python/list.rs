//! Lists of Python, copied with memory that may run out: the conversion of pyo3 would end the process.

use crate::memory::{push, reserve};
use pyo3::prelude::*;

/// A copied list, tuple or other sequence.
#[derive(Clone, Debug, Default)]
pub struct List<T>(pub Vec<T>);

impl<'py, T: for<'a> FromPyObject<'a, 'py>> FromPyObject<'_, 'py> for List<T>
where
    for<'a> <T as FromPyObject<'a, 'py>>::Error: Into<PyErr>,
{
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        let mut values = Vec::new();
        reserve(&mut values, object.len()?)?;
        for item in object.try_iter()? {
            let value = item?.extract().map_err(Into::into)?;
            push(&mut values, value)?;
        }
        Ok(Self(values))
    }
}
