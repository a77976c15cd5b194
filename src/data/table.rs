//! Tables of samples: dense, of any memory order and number type, or sparse.

use super::Csr;

/// A table with one row per sample.
#[derive(Clone, Copy)]
pub enum Table<'a> {
    /// Every value is stored.
    Dense(&'a dyn Dense),
    /// Values that are not stored are zero.
    Csr(&'a Csr<'a>),
}

impl Table<'_> {
    /// Returns the number of samples.
    pub fn samples(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.samples(),
            Self::Csr(csr) => csr.samples(),
        }
    }

    /// Returns the number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.columns(),
            Self::Csr(csr) => csr.columns(),
        }
    }
}

/// A dense table, read a piece of a column or some whole samples at a time.
pub trait Dense: Sync {
    /// Returns the number of samples.
    fn samples(&self) -> usize;
    /// Returns the number of columns.
    fn columns(&self) -> usize;
    /// Copies `out.len()` values of a column, from sample `first` on, as float32.
    fn copy_column(&self, column: usize, first: usize, out: &mut [f32]);
    /// Copies `out.len()` values of a column, from sample `first` on, as categories.
    fn copy_categories(&self, column: usize, first: usize, out: &mut [Category]);
    /// Copies whole samples, from sample `first` on, as float32. By default they are gathered from their columns.
    fn copy_samples(&self, first: usize, out: &mut [f32]) {
        let copy = |column, from, out: &mut [f32]| self.copy_column(column, first + from, out);
        interleave(self.columns(), out, copy);
    }
    /// Returns all values, sample after sample, if they are stored that way as float32.
    fn row_major(&self) -> Option<&[f32]> {
        None
    }
}

/// Columns that are copied together: their values lie side by side in each sample.
const TOGETHER: usize = 4;
/// Samples whose columns are copied at a time.
const PART: usize = 128;

/// Fills `out` sample by sample, given a function that copies values of a column, from a sample on.
pub(crate) fn interleave(
    columns: usize,
    out: &mut [f32],
    copy: impl Fn(usize, usize, &mut [f32]),
) {
    let mut copied = [[0.0; PART]; TOGETHER];
    for (part, out) in out.chunks_mut((PART * columns).max(1)).enumerate() {
        for first in (0..columns).step_by(TOGETHER) {
            for (column, values) in (first..columns).zip(&mut copied) {
                let values = values.get_mut(..out.len() / columns).unwrap_or_default();
                copy(column, part * PART, values);
            }
            if first + TOGETHER <= columns {
                write_together(&copied, columns, first, out);
                continue;
            }
            for (column, values) in (first..columns).zip(&copied) {
                let places = out.iter_mut().skip(column).step_by(columns);
                places.zip(values).for_each(|(out, &value)| *out = value);
            }
        }
    }
}

/// Writes [`TOGETHER`] columns in squares: as many samples at a time.
#[inline(always)]
fn write_together(copied: &[[f32; PART]; TOGETHER], columns: usize, first: usize, out: &mut [f32]) {
    let [a, b, c, d] = copied.each_ref().map(|column| column.as_chunks::<TOGETHER>().0);
    let squares = a.iter().zip(b).zip(c.iter().zip(d));
    for (samples, ((a, b), (c, d))) in out.chunks_mut(TOGETHER * columns).zip(squares) {
        for (i, values) in transposed([*a, *b, *c, *d]).into_iter().enumerate() {
            let rest = samples.get_mut(i * columns + first..);
            if let Some(place) = rest.and_then(<[f32]>::first_chunk_mut) {
                *place = values;
            }
        }
    }
}

#[inline(always)]
fn transposed([a, b, c, d]: [[f32; TOGETHER]; TOGETHER]) -> [[f32; TOGETHER]; TOGETHER] {
    let [[a0, a1, a2, a3], [b0, b1, b2, b3]] = [a, b];
    let [[c0, c1, c2, c3], [d0, d1, d2, d3]] = [c, d];
    [[a0, b0, c0, d0], [a1, b1, c1, d1], [a2, b2, c2, d2], [a3, b3, c3, d3]]
}

/// A value of a categorical column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Category {
    /// A whole number.
    Id(i64),
    /// NaN.
    Missing,
    /// A fraction or an infinity, which no category has.
    Invalid,
}

/// A number type that tables come in.
pub trait Number: Copy + Sync {
    /// Returns the number as float64.
    fn to_f64(self) -> f64;
    /// Rounds to float32, once; 64-bit integers are rounded to float64 first.
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self.to_f64() as f32
    }
    /// Reads the number as a category.
    fn to_category(self) -> Category;
    /// Returns a slice as float32 without a copy, if that is its type.
    fn as_f32s(_values: &[Self]) -> Option<&[f32]> {
        None
    }
}

impl Number for f32 {
    fn as_f32s(values: &[Self]) -> Option<&[f32]> {
        Some(values)
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self.into()
    }

    #[inline(always)]
    fn to_f32(self) -> f32 {
        self
    }

    fn to_category(self) -> Category {
        f64::from(self).to_category()
    }
}

impl Number for f64 {
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    fn to_category(self) -> Category {
        if self.is_nan() {
            Category::Missing
        } else if self - libm::trunc(self) == 0.0 && self.abs() < i64::MAX as f64 {
            Category::Id(self as i64)
        } else {
            Category::Invalid
        }
    }
}

macro_rules! whole_numbers {
    ($($type:ty)*) => {$(
        impl Number for $type {
            #[inline(always)]
            fn to_f64(self) -> f64 {
                self as f64
            }

            fn to_category(self) -> Category {
                i64::try_from(self).map_or(Category::Invalid, Category::Id)
            }
        }
    )*};
}

whole_numbers!(i8 u8 i16 u16 i32 u32 i64 u64);

/// A dense table stored sample after sample.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    values: &'a [T],
    columns: usize,
}

impl<'a, T> Matrix<'a, T> {
    /// Views `values` as samples of `columns` values, one or more.
    pub fn new(values: &'a [T], columns: usize) -> Self {
        Self { values, columns }
    }

    fn from(&self, first: usize) -> &[T] {
        self.values.get(first..).unwrap_or_default()
    }

    fn column(&self, column: usize, first: usize) -> impl Iterator<Item = &T> {
        self.from(first * self.columns + column).iter().step_by(self.columns)
    }
}

impl<T: Number> Dense for Matrix<'_, T> {
    fn samples(&self) -> usize {
        self.values.len() / self.columns
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn copy_column(&self, column: usize, first: usize, out: &mut [f32]) {
        let values = self.column(column, first);
        out.iter_mut().zip(values).for_each(|(out, value)| *out = value.to_f32());
    }

    fn copy_categories(&self, column: usize, first: usize, out: &mut [Category]) {
        let values = self.column(column, first);
        out.iter_mut().zip(values).for_each(|(out, value)| *out = value.to_category());
    }

    fn copy_samples(&self, first: usize, out: &mut [f32]) {
        let values = self.from(first * self.columns);
        out.iter_mut().zip(values).for_each(|(out, value)| *out = value.to_f32());
    }

    fn row_major(&self) -> Option<&[f32]> {
        T::as_f32s(self.values)
    }
}
