//! What the encoder reads: a dense table of any memory order and number type, or a sparse one.

use super::{Category, Csr};

/// A table of n rows.
#[derive(Clone, Copy)]
pub enum Table<'a> {
    /// Every value is there.
    Dense(&'a dyn Dense),
    /// Values that are not stored are zero.
    Csr(&'a Csr<'a>),
}

impl Table<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.rows(),
            Self::Csr(csr) => csr.rows(),
        }
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        match self {
            Self::Dense(dense) => dense.columns(),
            Self::Csr(csr) => csr.columns(),
        }
    }
}

/// A dense table, read a piece of a column at a time.
pub trait Dense: Sync {
    /// Number of rows.
    fn rows(&self) -> usize;
    /// Number of columns.
    fn columns(&self) -> usize;
    /// Copy `out.len()` values of a column from row `first` on, as float32.
    fn numbers(&self, column: usize, first: usize, out: &mut [f32]);
    /// The same, as categories.
    fn categories(&self, column: usize, first: usize, out: &mut [Category]);
    /// All values, row after row, if they lie so in memory as float32.
    fn row_major(&self) -> Option<&[f32]> {
        None
    }
    /// Copy whole rows from row `first` on, as float32.
    fn rows_of_numbers(&self, first: usize, out: &mut [f32]);
}

/// A number type that tables come in.
pub trait Value: Copy + Sync {
    /// Rounded to float32, once.
    fn number(self) -> f32;
    /// As a category.
    fn category(self) -> Category;
    /// Many of them as float32, if that is what they are.
    fn singles(_values: &[Self]) -> Option<&[f32]> {
        None
    }
}

impl Value for f32 {
    fn singles(values: &[Self]) -> Option<&[f32]> {
        Some(values)
    }

    #[inline(always)]
    fn number(self) -> f32 {
        self
    }

    fn category(self) -> Category {
        f64::from(self).category()
    }
}

impl Value for f64 {
    #[inline(always)]
    fn number(self) -> f32 {
        self as f32
    }

    fn category(self) -> Category {
        if self.is_nan() {
            Category::Missing
        } else if self - libm::trunc(self) == 0.0 && self.abs() < i64::MAX as f64 {
            Category::Level(self as i64)
        } else {
            Category::Fraction
        }
    }
}

impl Value for i32 {
    #[inline(always)]
    fn number(self) -> f32 {
        f64::from(self) as f32
    }

    fn category(self) -> Category {
        Category::Level(i64::from(self))
    }
}

impl Value for i64 {
    #[inline(always)]
    fn number(self) -> f32 {
        self as f64 as f32
    }

    fn category(self) -> Category {
        Category::Level(self)
    }
}

/// Rows one after the other in memory.
#[derive(Clone, Copy, Debug)]
pub struct Matrix<'a, T> {
    values: &'a [T],
    columns: usize,
}

impl<'a, T> Matrix<'a, T> {
    /// A table of `values.len() / columns` rows; `columns` is one or more.
    pub fn new(values: &'a [T], columns: usize) -> Self {
        Self { values, columns }
    }

    fn from(&self, first: usize) -> &[T] {
        self.values.get(first..).unwrap_or_default()
    }
}

impl<T: Value> Dense for Matrix<'_, T> {
    fn rows(&self) -> usize {
        self.values.len() / self.columns
    }

    fn columns(&self) -> usize {
        self.columns
    }

    fn numbers(&self, column: usize, first: usize, out: &mut [f32]) {
        let values = self.from(first * self.columns + column).iter().step_by(self.columns);
        out.iter_mut().zip(values).for_each(|(out, value)| *out = value.number());
    }

    fn row_major(&self) -> Option<&[f32]> {
        T::singles(self.values)
    }

    fn rows_of_numbers(&self, first: usize, out: &mut [f32]) {
        let values = self.from(first * self.columns);
        out.iter_mut().zip(values).for_each(|(out, value)| *out = value.number());
    }

    fn categories(&self, column: usize, first: usize, out: &mut [Category]) {
        let values = self.from(first * self.columns + column).iter().step_by(self.columns);
        out.iter_mut().zip(values).for_each(|(out, value)| *out = value.category());
    }
}
