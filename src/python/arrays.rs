//! numpy arrays as tables, read where they lie.

use crate::encoding::sparse::{Values, Whole};
use crate::encoding::table::Value;
use crate::encoding::{Category, Csr, Dense, Table};
use crate::error::guard;
use ndarray::{ArrayView1, ArrayView2, Axis, Dimension, s};
use numpy::{
    Element, PyArray, PyArrayMethods, PyReadonlyArray, PyReadonlyArray1, PyReadonlyArray2,
    PyUntypedArray, PyUntypedArrayMethods,
};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

/// A borrowed table.
pub enum Arrays<'py> {
    Single(PyReadonlyArray2<'py, f32>),
    Double(PyReadonlyArray2<'py, f64>),
    Int(PyReadonlyArray2<'py, i32>),
    Long(PyReadonlyArray2<'py, i64>),
    Sparse(SparseArrays<'py>),
}

/// `indptr`, `indices`, `data` and the number of columns.
pub struct SparseArrays<'py> {
    indptr: SparseWhole<'py>,
    indices: SparseWhole<'py>,
    data: SparseData<'py>,
    columns: usize,
}

enum SparseWhole<'py> {
    Short(PyReadonlyArray1<'py, i32>),
    Long(PyReadonlyArray1<'py, i64>),
}

impl<'py> SparseWhole<'py> {
    fn borrow(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        Ok(match array.extract() {
            Ok(short) => Self::Short(short),
            Err(_) => Self::Long(array.extract()?),
        })
    }

    fn view(&self) -> PyResult<Whole<'_>> {
        Ok(match self {
            Self::Short(array) => Whole::Short(array.as_slice()?),
            Self::Long(array) => Whole::Long(array.as_slice()?),
        })
    }
}

enum SparseData<'py> {
    Single(PyReadonlyArray1<'py, f32>),
    Double(PyReadonlyArray1<'py, f64>),
}

impl<'py> FromPyObject<'_, 'py> for Arrays<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if let Some(array) = borrow(object)? {
            return Ok(Self::Single(array));
        }
        if let Some(array) = borrow(object)? {
            return Ok(Self::Double(array));
        }
        if let Some(array) = borrow(object)? {
            return Ok(Self::Int(array));
        }
        if let Some(array) = borrow(object)? {
            return Ok(Self::Long(array));
        }
        let Ok((indptr, indices, data, columns)) =
            object.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, usize)>()
        else {
            return Err(PyTypeError::new_err("X: got an array that the core does not read"));
        };
        let data = match data.extract() {
            Ok(single) => SparseData::Single(single),
            Err(_) => SparseData::Double(data.extract()?),
        };
        let indptr = SparseWhole::borrow(&indptr)?;
        let indices = SparseWhole::borrow(&indices)?;
        Ok(Self::Sparse(SparseArrays { indptr, indices, data, columns }))
    }
}

/// An array of this type, if it is one; a copy if its numbers do not lie where the machine can read them.
fn borrow<'py, T: Element, D: Dimension>(
    object: Borrowed<'_, 'py, PyAny>,
) -> PyResult<Option<PyReadonlyArray<'py, T, D>>> {
    let Ok(array) = object.cast::<PyArray<T, D>>() else { return Ok(None) };
    let multiple = |&stride: &isize| stride % align_of::<T>() as isize == 0;
    if array.data().is_aligned() && array.strides().iter().all(multiple) {
        return Ok(Some(array.try_readonly()?));
    }
    Ok(Some(array.call_method0("copy")?.cast_into::<PyArray<T, D>>()?.try_readonly()?))
}

impl Arrays<'_> {
    /// Do something with the table; a panic is an error.
    pub fn with<R>(&self, work: impl FnOnce(Table) -> PyResult<R>) -> PyResult<R> {
        guard(|| match self {
            Self::Single(array) => work(Table::Dense(&View(array.as_array()))),
            Self::Double(array) => work(Table::Dense(&View(array.as_array()))),
            Self::Int(array) => work(Table::Dense(&View(array.as_array()))),
            Self::Long(array) => work(Table::Dense(&View(array.as_array()))),
            Self::Sparse(arrays) => {
                let values = match &arrays.data {
                    SparseData::Single(data) => Values::Single(data.as_slice()?),
                    SparseData::Double(data) => Values::Double(data.as_slice()?),
                };
                let (indptr, indices) = (arrays.indptr.view()?, arrays.indices.view()?);
                work(Table::Csr(&Csr::new(indptr, indices, values, arrays.columns)?))
            }
        })
    }
}

/// A row of numbers: a 1-D array where it lies, or a copy of a list or a tuple.
pub enum Row<'py> {
    Single(PyReadonlyArray1<'py, f32>),
    Double(PyReadonlyArray1<'py, f64>),
    Copied(Vec<f64>),
}

impl<'py> FromPyObject<'_, 'py> for Row<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        // Not what is derived from it: the values of a masked array are not those in its memory.
        if object.is_exact_instance_of::<PyUntypedArray>() {
            if let Some(array) = borrow(object)? {
                return Ok(Self::Single(array));
            }
            if let Some(array) = borrow(object)? {
                return Ok(Self::Double(array));
            }
        }
        if object.is_instance_of::<PyUntypedArray>() && object.hasattr("mask")? {
            let numbers = object.call_method1("astype", ("f8",))?;
            return numbers.call_method1("filled", (f64::NAN,))?.extract();
        }
        let is_text = object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>();
        object.extract().ok().filter(|_| !is_text).map(Self::Copied).ok_or_else(|| {
            PyTypeError::new_err("row: got something else than a 1-D array, list or tuple of numbers, which are accepted")
        })
    }
}

impl Row<'_> {
    /// Do something with the row as a table of one row, if it has so many values.
    pub fn with<R>(&self, columns: usize, work: impl FnOnce(Table) -> R) -> Option<R> {
        fn one<T: Value, R>(
            row: ArrayView1<T>,
            columns: usize,
            work: impl FnOnce(Table) -> R,
        ) -> Option<R> {
            (row.len() == columns).then(|| work(Table::Dense(&View(row.insert_axis(Axis(0))))))
        }
        match self {
            Self::Single(row) => one(row.as_array(), columns, work),
            Self::Double(row) => one(row.as_array(), columns, work),
            Self::Copied(row) => one(ArrayView1::from(row), columns, work),
        }
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::Single(row) => row.as_array().len(),
            Self::Double(row) => row.as_array().len(),
            Self::Copied(row) => row.len(),
        }
    }
}

/// A numpy array of any memory order.
struct View<'a, T>(ArrayView2<'a, T>);

impl<T: Value> View<'_, T> {
    fn piece(&self, column: usize, first: usize, rows: usize) -> ArrayView1<'_, T> {
        self.0.slice(s![first..first + rows, column])
    }
}

impl<T: Value> Dense for View<'_, T> {
    fn rows(&self) -> usize {
        self.0.nrows()
    }

    fn columns(&self) -> usize {
        self.0.ncols()
    }

    fn numbers(&self, column: usize, first: usize, out: &mut [f32]) {
        let piece = self.piece(column, first, out.len());
        out.iter_mut().zip(piece).for_each(|(out, value)| *out = value.number());
    }

    fn row_major(&self) -> Option<&[f32]> {
        self.0.as_slice().and_then(T::singles)
    }

    fn rows_of_numbers(&self, first: usize, out: &mut [f32]) {
        let rows = self.0.slice(s![first..first + out.len() / self.columns(), ..]);
        match rows.as_slice() {
            Some(values) => {
                out.iter_mut().zip(values).for_each(|(out, value)| *out = value.number());
            }
            None => out.iter_mut().zip(rows).for_each(|(out, value)| *out = value.number()),
        }
    }

    fn categories(&self, column: usize, first: usize, out: &mut [Category]) {
        let piece = self.piece(column, first, out.len());
        out.iter_mut().zip(piece).for_each(|(out, value)| *out = value.category());
    }
}
