//! Dense tables stored column by column, as Arrow stores them: numbers of any width, in batches of samples.

use super::{Category, Dense, Number};
use crate::Result;
use crate::memory::{extend, push};
use crate::kernels::prefetch;
use alloc::vec::Vec;

/// A table in batches of samples, read where it lies.
#[derive(Clone, Debug, Default)]
pub struct Columnar<'a> {
    /// The columns of each batch, batch after batch.
    parts: Vec<ColumnPart<'a>>,
    /// Where the samples of each batch end.
    ends: Vec<usize>,
    columns: usize,
}

/// The values that one column has in one batch.
#[derive(Clone, Copy, Debug)]
pub struct ColumnPart<'a> {
    /// Type of its numbers.
    pub kind: NumberKind,
    /// The numbers, in the byte order of this machine; they need not be aligned.
    pub bytes: &'a [u8],
    /// The index of the first number, counted in numbers.
    pub first: usize,
    /// A bit for each number, counted from the same first, that is zero where the value is missing; `None` if none is.
    pub valid: Option<&'a [u8]>,
}

/// A type of numbers in a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberKind {
    /// Bits, the lowest of a byte first.
    Bool,
    /// 8 bits, signed.
    I8,
    /// 8 bits, unsigned.
    U8,
    /// 16 bits, signed.
    I16,
    /// 16 bits, unsigned.
    U16,
    /// 32 bits, signed.
    I32,
    /// 32 bits, unsigned.
    U32,
    /// 64 bits, signed.
    I64,
    /// 64 bits, unsigned.
    U64,
    /// float32
    F32,
    /// float64
    F64,
}

impl NumberKind {
    /// Returns the bytes that some numbers take.
    pub fn bytes(self, count: usize) -> usize {
        match self {
            Self::Bool => count.div_ceil(8),
            Self::I8 | Self::U8 => count,
            Self::I16 | Self::U16 => 2 * count,
            Self::I32 | Self::U32 | Self::F32 => 4 * count,
            Self::I64 | Self::U64 | Self::F64 => 8 * count,
        }
    }
}

/// What a number is read as.
pub trait Reading {
    /// The type of the result.
    type Out: Copy;
    /// What a missing value is read as.
    const MISSING: Self::Out;
    /// Reads a number.
    fn read(number: impl Number) -> Self::Out;
}

/// Numbers as float32.
struct Singles;
/// Numbers as float64.
pub struct Doubles;
/// Numbers as categories.
struct Categories;

impl Reading for Singles {
    type Out = f32;
    const MISSING: f32 = f32::NAN;

    #[inline(always)]
    fn read(number: impl Number) -> f32 {
        number.to_f32()
    }
}

impl Reading for Doubles {
    type Out = f64;
    const MISSING: f64 = f64::NAN;

    #[inline(always)]
    fn read(number: impl Number) -> f64 {
        number.to_f64()
    }
}

impl Reading for Categories {
    type Out = Category;
    const MISSING: Category = Category::Missing;

    #[inline(always)]
    fn read(number: impl Number) -> Category {
        number.to_category()
    }
}

impl<'a> Columnar<'a> {
    /// Creates a table without samples.
    pub fn new(columns: usize) -> Self {
        Self { columns, ..Self::default() }
    }

    /// Appends a batch, given its number of samples and its columns, as many as the table has.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn push(
        &mut self,
        samples: usize,
        columns: impl IntoIterator<Item = ColumnPart<'a>>,
    ) -> Result<()> {
        let end = self.samples() + samples;
        extend(&mut self.parts, columns)?;
        push(&mut self.ends, end)
    }

    /// Returns the values of a column, if they are stored in one piece.
    pub fn whole_column(&self, column: usize) -> Option<ColumnPart<'a>> {
        self.parts.get(column).copied().filter(|_| self.ends.len() == 1)
    }

    /// Copies `out.len()` values of a column, from sample `first` on.
    pub fn copy<R: Reading>(&self, column: usize, mut first: usize, mut out: &mut [R::Out]) {
        let mut batch = self.ends.partition_point(|&end| end <= first);
        while let Some(&end) = self.ends.get(batch).filter(|_| !out.is_empty()) {
            let begin = batch.checked_sub(1).and_then(|before| self.ends.get(before)).unwrap_or(&0);
            let (here, rest) = out.split_at_mut(out.len().min(end - first));
            if let Some(part) = self.parts.get(batch * self.columns + column) {
                part.copy::<R>(first - begin, here);
            }
            (first, out, batch) = (end, rest, batch + 1);
        }
    }
}

impl ColumnPart<'_> {
    fn copy<R: Reading>(&self, first: usize, out: &mut [R::Out]) {
        let first = self.first + first;
        match self.kind {
            NumberKind::Bool => {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = R::read(i32::from(is_set(self.bytes, first + i)));
                }
            }
            NumberKind::I8 => self.copy_as(first, out, |x| R::read(i8::from_ne_bytes(x))),
            NumberKind::U8 => self.copy_as(first, out, |x| R::read(u8::from_ne_bytes(x))),
            NumberKind::I16 => self.copy_as(first, out, |x| R::read(i16::from_ne_bytes(x))),
            NumberKind::U16 => self.copy_as(first, out, |x| R::read(u16::from_ne_bytes(x))),
            NumberKind::I32 => self.copy_as(first, out, |x| R::read(i32::from_ne_bytes(x))),
            NumberKind::U32 => self.copy_as(first, out, |x| R::read(u32::from_ne_bytes(x))),
            NumberKind::I64 => self.copy_as(first, out, |x| R::read(i64::from_ne_bytes(x))),
            NumberKind::U64 => self.copy_as(first, out, |x| R::read(u64::from_ne_bytes(x))),
            NumberKind::F32 => self.copy_as(first, out, |x| R::read(f32::from_ne_bytes(x))),
            NumberKind::F64 => self.copy_as(first, out, |x| R::read(f64::from_ne_bytes(x))),
        }
        if let Some(valid) = self.valid {
            for (i, out) in out.iter_mut().enumerate() {
                *out = if is_set(valid, first + i) { *out } else { R::MISSING };
            }
        }
    }

    /// Copies numbers of `N` bytes each, and prefetches as many more: a table is read a piece of each column at a time.
    #[inline(always)]
    fn copy_as<T, const N: usize>(&self, first: usize, out: &mut [T], read: impl Fn([u8; N]) -> T) {
        let (numbers, _) = self.bytes.as_chunks::<N>();
        let numbers = numbers.get(first..).unwrap_or_default();
        let later = numbers.get(out.len()..).unwrap_or_default();
        prefetch(later.get(..out.len()).unwrap_or(later));
        out.iter_mut().zip(numbers).for_each(|(out, &number)| *out = read(number));
    }
}

#[inline(always)]
fn is_set(bits: &[u8], i: usize) -> bool {
    bits.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1)
}

impl Dense for Columnar<'_> {
    fn samples(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn copy_column(&self, column: usize, first: usize, out: &mut [f32]) {
        self.copy::<Singles>(column, first, out);
    }

    fn copy_categories(&self, column: usize, first: usize, out: &mut [Category]) {
        self.copy::<Categories>(column, first, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Category::{Id, Invalid, Missing};

    #[test]
    fn columns_are_read_across_batches_with_missing_values() -> Result<()> {
        let shorts: Vec<u8> = [9_i16, -3, 4, 5].iter().flat_map(|x| x.to_ne_bytes()).collect();
        let doubles: Vec<u8> = [0.1, f64::NAN, 1e300].iter().flat_map(|x| x.to_ne_bytes()).collect();
        let part = |kind, bytes, first, valid| ColumnPart { kind, bytes, first, valid };
        let mut table = Columnar::new(2);
        let bits: &[u8] = &[0b1000];
        table.push(
            3,
            [
                part(NumberKind::I16, &shorts[..], 1, Some(&[0b1010])),
                part(NumberKind::Bool, bits, 1, None),
            ],
        )?;
        table.push(0, [part(NumberKind::I16, &[], 0, None), part(NumberKind::Bool, &[], 0, None)])?;
        table.push(
            2,
            [
                part(NumberKind::F64, &doubles[..], 0, None),
                part(NumberKind::F64, &doubles[8..], 0, Some(&[0b11])),
            ],
        )?;
        assert_eq!((table.samples(), table.columns()), (5, 2));
        let mut found = [0.0; 10];
        table.copy_samples(0, &mut found);
        let nan = f32::NAN;
        let expected = [-3.0, 0.0, nan, 0.0, 5.0, 1.0, 0.1, nan, nan, f32::INFINITY];
        assert_eq!(found.map(f32::to_bits), expected.map(f32::to_bits));
        let mut categories = [Category::Missing; 4];
        table.copy_categories(0, 1, &mut categories);
        assert_eq!(categories, [Missing, Id(5), Invalid, Missing]);
        assert!(table.whole_column(0).is_none());
        Ok(())
    }
}
