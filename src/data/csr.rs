//! Tables in compressed sparse rows: only stored values other than zero are active.

#[cfg(feature = "std")]
use crate::memory::filled;
use crate::{Error, Result};
use core::ops::Range;

/// A sparse table whose parts have been checked to fit together.
#[derive(Clone, Copy, Debug)]
pub struct Csr<'a> {
    indptr: CsrIndices<'a>,
    indices: CsrIndices<'a>,
    values: CsrValues<'a>,
    columns: usize,
}

/// Indices of either size that scipy uses.
#[derive(Clone, Copy, Debug)]
pub enum CsrIndices<'a> {
    /// 32 bits.
    I32(&'a [i32]),
    /// 64 bits.
    I64(&'a [i64]),
}

impl CsrIndices<'_> {
    fn len(&self) -> usize {
        match self {
            Self::I32(numbers) => numbers.len(),
            Self::I64(numbers) => numbers.len(),
        }
    }

    #[inline]
    fn at(&self, i: usize) -> Option<i64> {
        match self {
            Self::I32(numbers) => numbers.get(i).map(|&number| number.into()),
            Self::I64(numbers) => numbers.get(i).copied(),
        }
    }
}

/// Stored values of either size.
#[derive(Clone, Copy, Debug)]
pub enum CsrValues<'a> {
    /// float32
    F32(&'a [f32]),
    /// float64
    F64(&'a [f64]),
}

impl CsrValues<'_> {
    fn len(&self) -> usize {
        match self {
            Self::F32(values) => values.len(),
            Self::F64(values) => values.len(),
        }
    }

    #[inline]
    fn at(&self, i: usize) -> Option<f32> {
        match self {
            Self::F32(values) => values.get(i).copied(),
            Self::F64(values) => values.get(i).map(|&value| value as f32),
        }
    }
}

impl<'a> Csr<'a> {
    /// Checks scipy's `indptr`, `indices` and `data`; the columns of each sample must ascend strictly.
    ///
    /// # Errors
    /// If they do not fit together.
    pub fn new(
        indptr: CsrIndices<'a>,
        indices: CsrIndices<'a>,
        values: CsrValues<'a>,
        columns: usize,
    ) -> Result<Self> {
        let broken = |what: &str| Err(Error::value("X", "be a valid CSR matrix", what));
        let Some(samples) = indptr.len().checked_sub(1).filter(|_| indptr.at(0) == Some(0)) else {
            return broken("an indptr that does not begin with 0");
        };
        if indices.len() != values.len() || indptr.at(samples) != Some(indices.len() as i64) {
            return broken("indptr, indices and data of different lengths");
        }
        if (0..samples).any(|sample| indptr.at(sample) > indptr.at(sample + 1)) {
            return broken("an indptr that decreases");
        }
        let csr = Self { indptr, indices, values, columns };
        for sample in 0..samples {
            let stored = csr.stored(sample).filter_map(|i| indices.at(i));
            let in_range = |c: i64| usize::try_from(c).is_ok_and(|c| c < columns);
            if !stored.clone().all(in_range) || !stored.is_sorted_by(|a, b| a < b) {
                return broken("column indices out of range or out of order");
            }
        }
        Ok(csr)
    }

    /// Returns the number of samples.
    pub fn samples(&self) -> usize {
        self.indptr.len() - 1
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Iterates over the column and value of each stored value of a sample that is not zero.
    pub fn sample(&self, sample: usize) -> impl Iterator<Item = (usize, f32)> {
        self.stored(sample)
            .filter_map(|i| Some((self.indices.at(i)? as usize, self.values.at(i)?)))
            .filter(|&(_, value)| value != 0.0)
    }

    fn stored(&self, sample: usize) -> Range<usize> {
        let ends = self.indptr.at(sample).zip(self.indptr.at(sample + 1));
        ends.map_or(0..0, |(first, end)| first as usize..end as usize)
    }
}

/// The stored values of a table by column, with their samples and weights.
#[cfg(feature = "std")]
pub(crate) struct Columns {
    ends: Vec<usize>,
    values: Vec<f32>,
    samples: Vec<u32>,
    weights: Option<Vec<f64>>,
}

/// One column of [`Columns`].
#[cfg(feature = "std")]
pub(crate) struct StoredColumn<'a> {
    pub values: &'a [f32],
    /// The sample of each value.
    pub samples: &'a [u32],
    /// The weight of each value's sample, if samples have weights.
    pub weights: Option<&'a [f64]>,
}

#[cfg(feature = "std")]
impl Columns {
    /// Transposes a table, leaving out samples of zero weight.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(csr: &Csr, weight: Option<&[f64]>) -> Result<Self> {
        let weight_of = |sample: usize| weight.map_or(Some(1.0), |w| w.get(sample).copied());
        let counted = || {
            let all = (0..csr.samples()).filter_map(|sample| Some((sample, weight_of(sample)?)));
            all.filter(|&(_, weight)| weight > 0.0)
        };
        let mut next = filled(csr.columns(), 0_usize)?;
        for (column, _) in counted().flat_map(|(sample, _)| csr.sample(sample)) {
            if let Some(count) = next.get_mut(column) {
                *count += 1;
            }
        }
        let mut total = 0;
        for next in &mut next {
            (*next, total) = (total, total + *next);
        }
        let (mut values, mut samples) = (filled(total, 0.0)?, filled(total, 0)?);
        let mut weights = weight.map(|_| filled(total, 0.0)).transpose()?;
        for (sample, weight) in counted() {
            for (column, value) in csr.sample(sample) {
                let Some(next) = next.get_mut(column) else { continue };
                put(&mut values, *next, value);
                put(&mut samples, *next, sample as u32);
                if let Some(weights) = &mut weights {
                    put(weights, *next, weight);
                }
                *next += 1;
            }
        }
        Ok(Self { ends: next, values, samples, weights })
    }

    /// Returns one column.
    pub fn column(&self, column: usize) -> StoredColumn<'_> {
        let end = |column: usize| self.ends.get(column).copied().unwrap_or(0);
        let range = column.checked_sub(1).map_or(0, end)..end(column);
        StoredColumn {
            values: self.values.get(range.clone()).unwrap_or_default(),
            samples: self.samples.get(range.clone()).unwrap_or_default(),
            weights: self.weights.as_ref().map(|weights| weights.get(range).unwrap_or_default()),
        }
    }
}

#[cfg(feature = "std")]
fn put<T>(into: &mut [T], at: usize, value: T) {
    if let Some(place) = into.get_mut(at) {
        *place = value;
    }
}
