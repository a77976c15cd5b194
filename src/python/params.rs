//! Parameters by name: a dict of Python becomes checked parameters, and documentation of them.

use crate::Result;
use crate::kernels::Isa;
use crate::threads;
use crate::training::{self, Description, Params, ValidParams, Value};
use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyString};

/// Reads and checks parameters.
pub fn read_params(given: &Bound<'_, PyDict>) -> PyResult<ValidParams> {
    let mut params = Params::default();
    for (name, value) in given {
        params.set(&name.extract::<String>()?, &read_value(&value)?)?;
    }
    Ok(params.check()?)
}

fn read_value(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    if value.is_none() {
        return Ok(Value::None);
    }
    if let Ok(flag) = value.extract::<bool>() {
        return Ok(Value::Bool(flag));
    }
    if let Ok(text) = value.cast::<PyString>() {
        return Ok(Value::Text(text.extract()?));
    }
    let repr = || -> PyResult<String> { Ok(value.repr()?.to_string()) };
    if value.hasattr("__index__")? {
        return Ok(match value.extract::<i128>() {
            Ok(number) => Value::Int(number),
            Err(_) => Value::Other(repr()?, value.is_instance_of::<PyInt>()),
        });
    }
    match value.extract::<f64>() {
        Ok(number) => Ok(Value::Float(number)),
        Err(_) => Ok(Value::Other(repr()?, value.is_instance_of::<PyFloat>())),
    }
}

/// Raises ValueError or TypeError if parameters break a constraint.
#[pyfunction]
pub fn check_params(params: &Bound<'_, PyDict>) -> PyResult<()> {
    read_params(params).map(drop)
}

/// Name, default, constraint and documentation of a parameter.
type Parameter<'py> = (&'static str, Bound<'py, PyAny>, String, &'static str);

/// Returns name, default, constraint and documentation of each parameter of the core.
#[pyfunction]
pub fn parameters(py: Python<'_>) -> PyResult<Vec<Parameter<'_>>> {
    let show = |Description { name, default, must_be, doc }| {
        let default = match default {
            Value::Bool(flag) => PyBool::new(py, flag).to_owned().into_any(),
            Value::None => py.None().into_bound(py),
            Value::Int(number) => number.into_bound_py_any(py)?,
            Value::Float(number) => number.into_bound_py_any(py)?,
            Value::Text(text) | Value::Other(text, _) => text.into_bound_py_any(py)?,
        };
        Ok((name, default, must_be, doc))
    };
    Params::describe().into_iter().map(show).collect()
}

/// Returns roughly how long a thread trains on samples with some values each, in nanoseconds.
#[pyfunction]
pub fn cost(
    params: &Bound<'_, PyDict>,
    samples: usize,
    values: f64,
    outputs: usize,
) -> PyResult<u64> {
    Ok(training::cost(&read_params(params)?, samples, values, outputs))
}

/// Returns the number of threads that `n_jobs` means.
#[pyfunction]
#[pyo3(name = "threads")]
pub fn thread_count(n_jobs: Option<i64>) -> Result<usize> {
    threads::count(n_jobs)
}

/// Returns the name of the instruction set in use.
#[pyfunction]
pub fn instruction_set() -> Result<&'static str> {
    Ok(Isa::detect()?.name())
}
