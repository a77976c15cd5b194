//! Tables that Arrow describes: any library's columns of numbers, read where they lie.

mod ffi;

use crate::data::{Columnar, Dense, Doubles, NumberKind};
use crate::Result;
use crate::memory::{collect, filled, push};
use crate::panics;
use ffi::{ArrowArray, Field};
use numpy::{IntoPyArray, PyArray1};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// Numbers that are copied at a time.
const PART: usize = 1 << 10;

/// A table of plain numbers, in batches of samples.
#[pyclass(frozen, module = "binfm._core")]
pub struct ArrowTable {
    fields: Vec<Field>,
    batches: Vec<ArrowArray>,
}

/// What `__arrow_c_stream__` and `__arrow_c_array__` return.
#[derive(FromPyObject)]
pub enum ArrowCapsules<'py> {
    Batch(Bound<'py, PyAny>, Bound<'py, PyAny>),
    #[pyo3(transparent)]
    Stream(Bound<'py, PyAny>),
}

impl ArrowCapsules<'_> {
    fn fields(&self) -> PyResult<Vec<Field>> {
        match self {
            Self::Batch(schema, _) => ffi::schema_fields(schema),
            Self::Stream(stream) => ffi::stream_fields(stream),
        }
    }

    fn take_batches(&self, py: Python<'_>) -> PyResult<Vec<ArrowArray>> {
        match self {
            Self::Batch(_, batch) => Ok(collect([ffi::take_batch(batch)?])?),
            Self::Stream(stream) => {
                let mut stream = ffi::take_stream(stream)?;
                // The stream may have threads that need the interpreter.
                py.detach(|| {
                    let mut batches = Vec::new();
                    while let Some(batch) = stream.next()? {
                        push(&mut batches, batch)?;
                    }
                    Ok(batches)
                })
            }
        }
    }
}

/// Returns the name of each column, and whether it holds plain numbers; nothing is consumed.
#[pyfunction]
pub fn arrow_columns(capsules: ArrowCapsules) -> PyResult<Vec<(String, bool)>> {
    let fields = capsules.fields()?;
    Ok(collect(fields.into_iter().map(|field| (field.name, field.kind.is_some())))?)
}

impl ArrowTable {
    /// Returns the table as the core reads it.
    pub fn view(&self) -> Result<Columnar<'_>> {
        let mut table = Columnar::new(self.fields.len());
        for batch in &self.batches {
            let columns = self.fields.iter().enumerate();
            table.push(
                batch.samples(),
                columns.filter_map(|(i, field)| Some(batch.column(i, field.kind?))),
            )?;
        }
        Ok(table)
    }
}

#[pymethods]
impl ArrowTable {
    #[new]
    fn new(py: Python<'_>, capsules: ArrowCapsules) -> PyResult<Self> {
        panics::catch(|| {
            let fields = capsules.fields()?;
            if fields.iter().any(|field| field.kind.is_none()) {
                return Err(PyValueError::new_err("columns that are not plain numbers"));
            }
            let batches = capsules.take_batches(py)?;
            batches.iter().try_for_each(|batch| batch.check(&fields))?;
            Ok(Self { fields, batches })
        })
    }

    #[getter]
    fn names<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.fields.iter().map(|field| &field.name))
    }

    #[getter]
    fn shape(&self) -> (usize, usize) {
        (self.batches.iter().map(ArrowArray::samples).sum(), self.fields.len())
    }

    /// Returns the columns of float64.
    #[getter]
    fn doubles(&self) -> Result<Vec<usize>> {
        let is_double = |&i: &usize| self.fields.get(i).is_some_and(|f| f.kind == Some(NumberKind::F64));
        collect((0..self.fields.len()).filter(is_double))
    }

    /// Returns the largest finite magnitude in a column.
    fn largest(&self, py: Python<'_>, column: usize) -> PyResult<f64> {
        panics::catch(|| {
            let table = self.view()?;
            Ok(py.detach(|| {
                let (mut largest, mut numbers) = (0.0, [0.0; PART]);
                for first in (0..table.samples()).step_by(PART) {
                    let count = PART.min(table.samples() - first);
                    let numbers = numbers.get_mut(..count).unwrap_or_default();
                    table.copy::<Doubles>(column, first, numbers);
                    let finite = numbers.iter().filter(|number| number.is_finite());
                    largest = finite.fold(largest, |largest, number| number.abs().max(largest));
                }
                largest
            }))
        })
    }

    /// Returns the numbers of a column as float64, with NaN for missing ones.
    fn numbers<'py>(&self, py: Python<'py>, column: usize) -> PyResult<Bound<'py, PyArray1<f64>>> {
        panics::catch(|| {
            let table = self.view()?;
            let mut numbers = filled(table.samples(), 0.0)?;
            py.detach(|| table.copy::<Doubles>(column, 0, &mut numbers));
            Ok(numbers.into_pyarray(py))
        })
    }
}
