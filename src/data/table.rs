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
    /// Copies whole samples, from sample `first` on, as float32.
    fn copy_samples(&self, first: usize, out: &mut [f32]);
    /// Returns all values, sample after sample, if they are stored that way as float32.
    fn row_major(&self) -> Option<&[f32]> {
        None
    }
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
    /// Rounds to float32, once.
    fn to_f32(self) -> f32;
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
    fn to_f32(self) -> f32 {
        self
    }

    fn to_category(self) -> Category {
        f64::from(self).to_category()
    }
}

impl Number for f64 {
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self as f32
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

impl Number for i32 {
    #[inline(always)]
    fn to_f32(self) -> f32 {
        f64::from(self) as f32
    }

    fn to_category(self) -> Category {
        Category::Id(i64::from(self))
    }
}

impl Number for i64 {
    #[inline(always)]
    fn to_f32(self) -> f32 {
        self as f64 as f32
    }

    fn to_category(self) -> Category {
        Category::Id(self)
    }
}

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
