//! numpy arrays as tables, without copies.

use super::arrow::ArrowTable;
use crate::data::{
    Category, Csr, CsrIndices, CsrValues, Dense, Number, Table, interleave,
};
use crate::panics;
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
    F32(PyReadonlyArray2<'py, f32>),
    F64(PyReadonlyArray2<'py, f64>),
    I32(PyReadonlyArray2<'py, i32>),
    I64(PyReadonlyArray2<'py, i64>),
    Sparse(SparseArrays<'py>),
    Arrow(Bound<'py, ArrowTable>),
}

/// `indptr`, `indices`, `data` and the number of columns.
pub struct SparseArrays<'py> {
    indptr: Indices<'py>,
    indices: Indices<'py>,
    data: StoredValues<'py>,
    columns: usize,
}

enum Indices<'py> {
    I32(PyReadonlyArray1<'py, i32>),
    I64(PyReadonlyArray1<'py, i64>),
}

/// Returns an array of its own over the same numbers. A callback may change the type or the strides of the one that it
/// holds, and numpy's borrow checker could not find that again to release it.
pub fn view<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    array.call_method0("view")
}

impl<'py> Indices<'py> {
    fn borrow(array: &Bound<'py, PyAny>) -> PyResult<Self> {
        let array = view(array)?;
        Ok(match array.extract() {
            Ok(short) => Self::I32(short),
            Err(_) => Self::I64(array.extract()?),
        })
    }

    fn view(&self) -> PyResult<CsrIndices<'_>> {
        Ok(match self {
            Self::I32(array) => CsrIndices::I32(array.as_slice()?),
            Self::I64(array) => CsrIndices::I64(array.as_slice()?),
        })
    }
}

enum StoredValues<'py> {
    F32(PyReadonlyArray1<'py, f32>),
    F64(PyReadonlyArray1<'py, f64>),
}

impl<'py> FromPyObject<'_, 'py> for Arrays<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        if object.is_instance_of::<PyUntypedArray>() {
            let own = view(&object)?;
            let own = own.as_borrowed();
            if let Some(array) = borrow(own)? {
                return Ok(Self::F32(array));
            }
            if let Some(array) = borrow(own)? {
                return Ok(Self::F64(array));
            }
            if let Some(array) = borrow(own)? {
                return Ok(Self::I32(array));
            }
            if let Some(array) = borrow(own)? {
                return Ok(Self::I64(array));
            }
        }
        if let Ok(table) = object.cast::<ArrowTable>() {
            return Ok(Self::Arrow(table.to_owned()));
        }
        let Ok((indptr, indices, data, columns)) =
            object.extract::<(Bound<'py, PyAny>, Bound<'py, PyAny>, Bound<'py, PyAny>, usize)>()
        else {
            return Err(PyTypeError::new_err("X must be a table that the core reads, got something else"));
        };
        let data = view(&data)?;
        let data = match data.extract() {
            Ok(single) => StoredValues::F32(single),
            Err(_) => StoredValues::F64(data.extract()?),
        };
        let indptr = Indices::borrow(&indptr)?;
        let indices = Indices::borrow(&indices)?;
        Ok(Self::Sparse(SparseArrays { indptr, indices, data, columns }))
    }
}

/// Borrows an array, if it is of this type; copies it if its numbers are misaligned.
fn borrow<'py, T: Element, D: Dimension>(
    object: Borrowed<'_, 'py, PyAny>,
) -> PyResult<Option<PyReadonlyArray<'py, T, D>>> {
    let Ok(array) = object.cast::<PyArray<T, D>>() else { return Ok(None) };
    let is_multiple = |&stride: &isize| stride % align_of::<T>() as isize == 0;
    if array.data().is_aligned() && array.strides().iter().all(is_multiple) {
        return Ok(Some(array.try_readonly()?));
    }
    Ok(Some(array.call_method0("copy")?.cast_into::<PyArray<T, D>>()?.try_readonly()?))
}

impl Arrays<'_> {
    /// Runs work with the table; a panic is an error.
    pub fn with<R>(&self, work: impl FnOnce(Table) -> PyResult<R>) -> PyResult<R> {
        panics::catch(|| match self {
            Self::F32(array) => work(Table::Dense(&View(array.as_array()))),
            Self::F64(array) => work(Table::Dense(&View(array.as_array()))),
            Self::I32(array) => work(Table::Dense(&View(array.as_array()))),
            Self::I64(array) => work(Table::Dense(&View(array.as_array()))),
            Self::Arrow(table) => work(Table::Dense(&table.get().view()?)),
            Self::Sparse(arrays) => {
                let values = match &arrays.data {
                    StoredValues::F32(data) => CsrValues::F32(data.as_slice()?),
                    StoredValues::F64(data) => CsrValues::F64(data.as_slice()?),
                };
                let (indptr, indices) = (arrays.indptr.view()?, arrays.indices.view()?);
                work(Table::Csr(&Csr::new(indptr, indices, values, arrays.columns)?))
            }
        })
    }
}

/// One sample: a 1-D array, borrowed, or a copy of a list or tuple.
pub enum Row<'py> {
    F32(PyReadonlyArray1<'py, f32>),
    F64(PyReadonlyArray1<'py, f64>),
    Copied(Vec<f64>),
}

impl<'py> FromPyObject<'_, 'py> for Row<'py> {
    type Error = PyErr;

    fn extract(object: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        // Not a subclass: the values of a masked array are not those in its memory.
        if object.is_exact_instance_of::<PyUntypedArray>() {
            if let Some(array) = borrow(object)? {
                return Ok(Self::F32(array));
            }
            if let Some(array) = borrow(object)? {
                return Ok(Self::F64(array));
            }
        }
        if object.is_instance_of::<PyUntypedArray>() && object.hasattr("mask")? {
            let numbers = object.call_method1("astype", ("f8",))?;
            return numbers.call_method1("filled", (f64::NAN,))?.extract();
        }
        let is_text = object.is_instance_of::<PyString>() || object.is_instance_of::<PyBytes>();
        object.extract().ok().filter(|_| !is_text).map(Self::Copied).ok_or_else(|| {
            let got = object.get_type().name().map_or_else(|_| String::new(), |name| name.to_string());
            PyTypeError::new_err(format!("row must be a 1-D array, list or tuple of numbers, got {got}"))
        })
    }
}

impl Row<'_> {
    /// Runs work with the sample as a table, if it has the right number of values.
    pub fn with<R>(&self, columns: usize, work: impl FnOnce(Table) -> R) -> Option<R> {
        fn one<T: Number, R>(
            row: ArrayView1<T>,
            columns: usize,
            work: impl FnOnce(Table) -> R,
        ) -> Option<R> {
            (row.len() == columns).then(|| work(Table::Dense(&View(row.insert_axis(Axis(0))))))
        }
        match self {
            Self::F32(row) => one(row.as_array(), columns, work),
            Self::F64(row) => one(row.as_array(), columns, work),
            Self::Copied(row) => one(ArrayView1::from(row), columns, work),
        }
    }

    /// Returns the number of values.
    pub fn len(&self) -> usize {
        match self {
            Self::F32(row) => row.as_array().len(),
            Self::F64(row) => row.as_array().len(),
            Self::Copied(row) => row.len(),
        }
    }
}

/// A numpy array of any memory order.
struct View<'a, T>(ArrayView2<'a, T>);

impl<T: Number> View<'_, T> {
    fn part(&self, column: usize, first: usize, samples: usize) -> ArrayView1<'_, T> {
        self.0.slice(s![first..first + samples, column])
    }
}

impl<T: Number> Dense for View<'_, T> {
    fn samples(&self) -> usize {
        self.0.nrows()
    }

    fn columns(&self) -> usize {
        self.0.ncols()
    }

    fn copy_column(&self, column: usize, first: usize, out: &mut [f32]) {
        let part = self.part(column, first, out.len());
        match part.as_slice() {
            Some(part) => out.iter_mut().zip(part).for_each(|(out, value)| *out = value.to_f32()),
            None => out.iter_mut().zip(part).for_each(|(out, value)| *out = value.to_f32()),
        }
    }

    fn row_major(&self) -> Option<&[f32]> {
        self.0.as_slice().and_then(T::as_f32s)
    }

    fn copy_samples(&self, first: usize, out: &mut [f32]) {
        let samples = self.0.slice(s![first..first + out.len() / self.columns(), ..]);
        match samples.as_slice() {
            Some(values) => {
                out.iter_mut().zip(values).for_each(|(out, value)| *out = value.to_f32());
            }
            None if self.0.strides().first() == Some(&1) => {
                let copy = |column, from, out: &mut [f32]| self.copy_column(column, first + from, out);
                interleave(self.columns(), out, copy);
            }
            None => out.iter_mut().zip(samples).for_each(|(out, value)| *out = value.to_f32()),
        }
    }

    fn copy_categories(&self, column: usize, first: usize, out: &mut [Category]) {
        let part = self.part(column, first, out.len());
        out.iter_mut().zip(part).for_each(|(out, value)| *out = value.to_category());
    }
}
