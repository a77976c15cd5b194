//! Sparse tables in compressed rows: only stored values that are not zero are active.

use crate::error::filled;
use crate::{Error, Result};
use alloc::vec::Vec;

/// A checked table in compressed sparse rows.
#[derive(Clone, Copy, Debug)]
pub struct Csr<'a> {
    indptr: Whole<'a>,
    indices: Whole<'a>,
    values: Values<'a>,
    columns: usize,
}

/// Whole numbers of either size that scipy uses.
#[derive(Clone, Copy, Debug)]
pub enum Whole<'a> {
    /// int32
    Short(&'a [i32]),
    /// int64
    Long(&'a [i64]),
}

impl Whole<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Short(numbers) => numbers.len(),
            Self::Long(numbers) => numbers.len(),
        }
    }

    #[inline]
    fn at(&self, i: usize) -> Option<i64> {
        match self {
            Self::Short(numbers) => numbers.get(i).map(|&number| number.into()),
            Self::Long(numbers) => numbers.get(i).copied(),
        }
    }
}

/// The stored values.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    /// float32
    Single(&'a [f32]),
    /// float64
    Double(&'a [f64]),
}

impl Values<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Single(values) => values.len(),
            Self::Double(values) => values.len(),
        }
    }

    #[inline]
    fn at(&self, i: usize) -> Option<f32> {
        match self {
            Self::Single(values) => values.get(i).copied(),
            Self::Double(values) => values.get(i).map(|&value| value as f32),
        }
    }
}

impl<'a> Csr<'a> {
    /// From `indptr`, `indices` and `data` of scipy, with each row's columns strictly ascending.
    ///
    /// # Errors
    /// If they do not fit together.
    pub fn new(
        indptr: Whole<'a>,
        indices: Whole<'a>,
        values: Values<'a>,
        columns: usize,
    ) -> Result<Self> {
        let broken = |what: &str| {
            Err(Error::value("X", format!("a sparse table with {what}"), "is a valid CSR table"))
        };
        let Some(rows) = indptr.len().checked_sub(1).filter(|_| indptr.at(0) == Some(0)) else {
            return broken("an indptr that does not begin with 0");
        };
        if indices.len() != values.len() || indptr.at(rows) != Some(indices.len() as i64) {
            return broken("indptr, indices and data of different lengths");
        }
        if (0..rows).any(|row| indptr.at(row) > indptr.at(row + 1)) {
            return broken("an indptr that falls");
        }
        let csr = Self { indptr, indices, values, columns };
        for row in 0..rows {
            let stored = csr.stored(row).filter_map(|i| indices.at(i));
            let in_range = |c: i64| usize::try_from(c).is_ok_and(|c| c < columns);
            if !stored.clone().all(in_range) || !stored.is_sorted_by(|a, b| a < b) {
                return broken("column numbers out of range or out of order");
            }
        }
        Ok(csr)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Column and value of each stored value of a row that is not zero.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f32)> {
        self.stored(row)
            .filter_map(|i| Some((self.indices.at(i)? as usize, self.values.at(i)?)))
            .filter(|&(_, value)| value != 0.0)
    }

    fn stored(&self, row: usize) -> core::ops::Range<usize> {
        let ends = self.indptr.at(row).zip(self.indptr.at(row + 1));
        ends.map_or(0..0, |(first, end)| first as usize..end as usize)
    }
}

/// The values of each column, their rows and, if there are any, the weights of those.
pub struct ByColumn {
    ends: Vec<usize>,
    values: Vec<f32>,
    rows: Vec<u32>,
    weights: Option<Vec<f64>>,
}

impl ByColumn {
    /// Turn a table round, leaving out rows of zero weight.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(csr: &Csr, weight: Option<&[f64]>) -> Result<Self> {
        let weight_of = |row: usize| weight.map_or(Some(1.0), |weight| weight.get(row).copied());
        let counted = || {
            let rows = (0..csr.rows()).filter_map(|row| Some((row, weight_of(row)?)));
            rows.filter(|&(_, weight)| weight > 0.0)
        };
        let mut next = filled(csr.columns(), 0_usize)?;
        for (column, _) in counted().flat_map(|(row, _)| csr.row(row)) {
            if let Some(count) = next.get_mut(column) {
                *count += 1;
            }
        }
        let mut total = 0;
        for next in &mut next {
            (*next, total) = (total, total + *next);
        }
        let (mut values, mut rows) = (filled(total, 0.0)?, filled(total, 0)?);
        let mut weights = weight.map(|_| filled(total, 0.0)).transpose()?;
        for (row, weight) in counted() {
            for (column, value) in csr.row(row) {
                let Some(next) = next.get_mut(column) else { continue };
                put(&mut values, *next, value);
                put(&mut rows, *next, row as u32);
                if let Some(weights) = &mut weights {
                    put(weights, *next, weight);
                }
                *next += 1;
            }
        }
        Ok(Self { ends: next, values, rows, weights })
    }

    /// Values of one column, their rows and the weights of those.
    pub fn column(&self, column: usize) -> (&[f32], &[u32], Option<&[f64]>) {
        let end = |column: usize| self.ends.get(column).copied().unwrap_or(0);
        let range = column.checked_sub(1).map_or(0, end)..end(column);
        (
            self.values.get(range.clone()).unwrap_or_default(),
            self.rows.get(range.clone()).unwrap_or_default(),
            self.weights.as_ref().map(|weights| weights.get(range).unwrap_or_default()),
        )
    }
}

fn put<T>(into: &mut [T], at: usize, value: T) {
    if let Some(place) = into.get_mut(at) {
        *place = value;
    }
}
