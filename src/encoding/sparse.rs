//! Sparse tables in compressed rows: only stored values that are not zero are active.

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
    fn at(&self, i: usize) -> i64 {
        match self {
            Self::Short(numbers) => numbers[i].into(),
            Self::Long(numbers) => numbers[i],
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

    fn at(&self, i: usize) -> f32 {
        match self {
            Self::Single(values) => values[i],
            Self::Double(values) => values[i] as f32,
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
        let Some(rows) = indptr.len().checked_sub(1).filter(|_| indptr.at(0) == 0) else {
            return broken("an indptr that does not begin with 0");
        };
        if indices.len() != values.len() || indptr.at(rows) != indices.len() as i64 {
            return broken("indptr, indices and data of different lengths");
        }
        if (0..rows).any(|row| indptr.at(row) > indptr.at(row + 1)) {
            return broken("an indptr that falls");
        }
        let csr = Self { indptr, indices, values, columns };
        for row in 0..rows {
            let stored = csr.stored(row).map(|i| indices.at(i));
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
            .map(|i| (self.indices.at(i) as usize, self.values.at(i)))
            .filter(|&(_, value)| value != 0.0)
    }

    fn stored(&self, row: usize) -> core::ops::Range<usize> {
        self.indptr.at(row) as usize..self.indptr.at(row + 1) as usize
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
    pub fn new(csr: &Csr, weight: Option<&[f64]>) -> Self {
        let counted = |row: &usize| weight.is_none_or(|w| w[*row] > 0.0);
        let mut next = vec![0; csr.columns() + 1];
        for row in (0..csr.rows()).filter(counted) {
            csr.row(row).for_each(|(column, _)| next[column + 1] += 1);
        }
        for column in 0..csr.columns() {
            next[column + 1] += next[column];
        }
        let total = next[csr.columns()];
        let mut values = vec![0.0; total];
        let mut rows = vec![0; total];
        let mut weights = weight.map(|_| vec![0.0; total]);
        for row in (0..csr.rows()).filter(counted) {
            for (column, value) in csr.row(row) {
                values[next[column]] = value;
                rows[next[column]] = row as u32;
                if let (Some(weights), Some(weight)) = (&mut weights, weight) {
                    weights[next[column]] = weight[row];
                }
                next[column] += 1;
            }
        }
        Self { ends: next, values, rows, weights }
    }

    /// Values of one column, their rows and the weights of those.
    pub fn column(&self, column: usize) -> (&[f32], &[u32], Option<&[f64]>) {
        let first = column.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = first..self.ends[column];
        (
            &self.values[range.clone()],
            &self.rows[range.clone()],
            self.weights.as_ref().map(|weights| &weights[range]),
        )
    }
}
