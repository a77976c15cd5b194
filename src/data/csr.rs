//! Tables in compressed sparse rows: only stored values other than zero are active.

use super::Number;
use crate::memory::extend;
use crate::{Error, Result};
use alloc::vec::Vec;
use core::ops::Range;

/// Numbers that are compared at a time.
const PART: usize = 1 << 12;

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

    fn is_sorted(&self) -> bool {
        match self {
            Self::I32(numbers) => numbers.is_sorted(),
            Self::I64(numbers) => numbers.is_sorted(),
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
        if !indptr.is_sorted() {
            return broken("an indptr that decreases");
        }
        let csr = Self { indptr, indices, values, columns };
        let is_valid = match indices {
            CsrIndices::I32(numbers) => csr.has_valid_columns(numbers),
            CsrIndices::I64(numbers) => csr.has_valid_columns(numbers),
        };
        if !is_valid {
            return broken("column indices out of range or out of order");
        }
        Ok(csr)
    }

    /// Returns whether all indices are columns, and ascend within each sample.
    ///
    /// Wherever an index is not above the one before, a new sample must begin. Counting such places takes many indices at
    /// once, and only the first and the last one of each sample are left to look at.
    fn has_valid_columns<I: Copy + PartialOrd + Into<i64>>(&self, indices: &[I]) -> bool {
        let mut begins = 0;
        for sample in 0..self.samples() {
            let stored = self.stored(sample);
            if let [first, .., last] | [first @ last] = part(indices, &stored) {
                let before = stored.start.checked_sub(1).and_then(|before| indices.get(before));
                begins += usize::from(before.is_some_and(|before| before >= first));
                if (*first).into() < 0 || (*last).into() >= self.columns as i64 {
                    return false;
                }
            }
        }
        begins == count_drops(indices)
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

    /// Returns the number of stored values of some samples.
    pub fn count(&self, samples: &Range<usize>) -> usize {
        self.end(samples.end).saturating_sub(self.end(samples.start))
    }

    /// Replaces `columns` and `values` by those of all stored values of some samples, zeros too.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copy_stored(
        &self,
        samples: Range<usize>,
        columns: &mut Vec<u32>,
        values: &mut Vec<f32>,
    ) -> Result<()> {
        let first = self.stored(samples.start).start;
        let stored = first..first + self.count(&samples);
        columns.clear();
        match self.indices {
            CsrIndices::I32(numbers) => extend(columns, part(numbers, &stored).iter().map(|&i| i as u32))?,
            CsrIndices::I64(numbers) => extend(columns, part(numbers, &stored).iter().map(|&i| i as u32))?,
        }
        values.clear();
        match self.values {
            CsrValues::F32(numbers) => extend(values, part(numbers, &stored).iter().copied()),
            CsrValues::F64(numbers) => extend(values, part(numbers, &stored).iter().map(|x| x.to_f32())),
        }
    }

    /// Copies whole samples, from sample `first` on, with `zero` in place of all zeros.
    pub fn copy_samples(&self, first: usize, zero: f32, out: &mut [f32]) {
        match (self.indices, self.values) {
            (CsrIndices::I32(i), CsrValues::F32(x)) => self.scatter(i, x, first, zero, out),
            (CsrIndices::I32(i), CsrValues::F64(x)) => self.scatter(i, x, first, zero, out),
            (CsrIndices::I64(i), CsrValues::F32(x)) => self.scatter(i, x, first, zero, out),
            (CsrIndices::I64(i), CsrValues::F64(x)) => self.scatter(i, x, first, zero, out),
        }
    }

    fn scatter<I: Copy + Into<i64>, V: Number>(
        &self,
        indices: &[I],
        values: &[V],
        first: usize,
        zero: f32,
        out: &mut [f32],
    ) {
        for (sample, out) in (first..).zip(out.chunks_exact_mut(self.columns)) {
            let stored = self.stored(sample);
            let (indices, values) = (part(indices, &stored), part(values, &stored));
            let or_zero = |value: &V| if value.to_f32() == 0.0 { zero } else { value.to_f32() };
            if values.len() == out.len() {
                out.iter_mut().zip(values).for_each(|(out, value)| *out = or_zero(value));
                continue;
            }
            out.fill(zero);
            for (&index, value) in indices.iter().zip(values) {
                if let Some(out) = out.get_mut(index.into() as usize) {
                    *out = or_zero(value);
                }
            }
        }
    }

    fn stored(&self, sample: usize) -> Range<usize> {
        self.end(sample)..self.end(sample + 1)
    }

    /// Returns where the stored values before a sample end. Another thread may change what has been checked: then results
    /// are meaningless, but no loop goes beyond what is stored.
    fn end(&self, sample: usize) -> usize {
        let end = self.indptr.at(sample).unwrap_or(0);
        end.clamp(0, self.indices.len() as i64) as usize
    }
}

/// Counts the numbers that are not above the one before.
fn count_drops<I: PartialOrd>(numbers: &[I]) -> usize {
    let after = numbers.get(1..).unwrap_or_default();
    // Parts of which the counts fit 32 bits: twice as many numbers at once as with 64.
    let parts = numbers.chunks(PART).zip(after.chunks(PART));
    let count = |(a, b): (&[I], &[I])| a.iter().zip(b).map(|(a, b)| u32::from(a >= b)).sum::<u32>();
    parts.map(|part| count(part) as usize).sum()
}

fn part<'a, T>(all: &'a [T], range: &Range<usize>) -> &'a [T] {
    all.get(range.clone()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_columns_that_ascend_within_samples_are_valid() {
        let values = [1.0_f32; 5];
        let is_valid = |indptr: &[i64], indices: &[i32]| {
            let values = CsrValues::F32(&values[..indices.len()]);
            let long: Vec<i64> = indices.iter().map(|&index| index.into()).collect();
            let found = [CsrIndices::I32(indices), CsrIndices::I64(&long)]
                .map(|indices| Csr::new(CsrIndices::I64(indptr), indices, values, 4).is_ok());
            assert_eq!(found[0], found[1]);
            found[0]
        };
        assert!(is_valid(&[0, 2, 2, 4, 5], &[1, 3, 0, 1, 2]));
        assert!(is_valid(&[0, 0, 0], &[]));
        assert!(is_valid(&[0, 1, 1, 2], &[3, 3]), "the same column in two samples");
        assert!(!is_valid(&[0, 2], &[1, 1]), "twice");
        assert!(!is_valid(&[0, 3, 5], &[1, 0, 3, 2, 3]), "descending");
        assert!(!is_valid(&[0, 2, 4], &[2, 3, 3, 0]), "descending, in the last sample");
        assert!(!is_valid(&[0, 1, 3], &[0, 1, 4]), "out of range");
        assert!(!is_valid(&[0, 1, 3], &[0, -1, 2]), "negative");
        assert!(!is_valid(&[0, 2, 1, 3], &[0, 1, 2]), "indptr decreases");
        assert!(!is_valid(&[0, 2], &[0, 1, 2]), "indptr ends early");
        assert!(!is_valid(&[1, 2], &[0, 1]), "indptr begins late");
    }

    #[test]
    fn indices_that_change_after_the_check_end_no_later_than_what_is_stored() {
        let indptr = [0, 1 << 62, 2];
        let (indices, values) = (CsrIndices::I64(&[0, 1]), CsrValues::F32(&[1.0, 2.0]));
        let csr = Csr { indptr: CsrIndices::I64(&indptr), indices, values, columns: 2 };
        assert_eq!((csr.sample(0).count(), csr.sample(1).count()), (2, 0));
        assert_eq!((csr.count(&(0..1)), csr.count(&(1..2)), csr.count(&(0..2))), (2, 0, 2));
    }

    #[test]
    fn samples_are_copied_with_zeros() -> Result<()> {
        let indptr = [0, 3, 3, 4];
        let indices = [0, 1, 2, 1];
        let values = [1.5, 0.0, 2.5, 4.0];
        let csr = Csr::new(CsrIndices::I32(&indptr), CsrIndices::I32(&indices), CsrValues::F64(&values), 3)?;
        let mut out = [9.0; 9];
        csr.copy_samples(0, -1.0, &mut out);
        let expected = [1.5, -1.0, 2.5, -1.0, -1.0, -1.0, -1.0, 4.0, -1.0];
        assert_eq!(out.map(f32::to_bits), expected.map(f32::to_bits));
        let (mut columns, mut stored) = (vec![7], vec![7.0]);
        csr.copy_stored(1..3, &mut columns, &mut stored)?;
        assert_eq!((columns, stored), (vec![1], vec![4.0]));
        Ok(())
    }
}
