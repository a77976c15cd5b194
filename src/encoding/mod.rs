//! From a table to active rows of the parameter table.
//!
//! Each feature owns a run of parameter rows. A value falls into a cell of its feature ([`numeric`], [`categorical`]),
//! and the cell activates `tilings` consecutive rows of the run ([`tilings`]). A feature whose value is absent
//! activates none.

pub mod categorical;
#[cfg(feature = "std")]
mod cells;
pub mod codes;
#[cfg(feature = "std")]
mod fit;
pub mod keys;
#[cfg(feature = "std")]
pub mod numeric;
mod raw;
pub mod sparse;
pub mod standard;
mod starts;
#[cfg(feature = "std")]
pub mod supervised;
pub mod table;
pub mod tilings;

pub use categorical::{Category, Levels};
#[cfg(feature = "std")]
pub use cells::Cells;
pub use codes::{Codes, Form};
#[cfg(feature = "std")]
pub use fit::{Binning, EncodingParams, MOST_BINS, MOST_TILINGS, Rows};
pub use keys::Edges;
pub use sparse::Csr;
pub use standard::Standard;
pub use starts::{Active, Block};
#[cfg(feature = "std")]
pub use supervised::Truth;
pub use table::{Dense, Matrix, Table};
pub use tilings::Span;

use crate::error::{filled, room};
use crate::{Error, Result};
use alloc::vec::Vec;

/// What training learned about the columns of X: how a value becomes active rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoder {
    /// The columns that are of use, in their order.
    features: Vec<Feature>,
    /// The place of each column among the features; [`NONE`] if it is of no use.
    places: Vec<u32>,
    tilings: u32,
    rows: u32,
    zero_is_absent: bool,
    /// Some feature's numbers are used as they are.
    raw: bool,
}

/// One column of X that is of use.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// Which column of X it is.
    pub column: usize,
    /// The parameter rows it owns and how cells map to them.
    pub span: Span,
    /// How a value becomes a cell.
    pub values: Values,
}

/// How the values of a column become cells.
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// Numbers, cut into cells at edges.
    Numbers(Edges),
    /// Numbers, used as they are: one parameter row, which their value multiplies.
    Raw(Standard),
    /// Categories, a cell each.
    Levels(Levels),
}

/// A column before it is given its place among the parameter rows.
#[derive(Clone, Debug)]
pub struct Column {
    /// How a value becomes a cell.
    pub values: Values,
    /// Cells share no rows, instead of all but one with their neighbours.
    pub copies: bool,
    /// NaN has a cell of its own.
    pub missing: bool,
}

const NONE: u32 = u32::MAX;

/// Parameter rows are numbered below this, so that numbers of bits and of active rows stay far from overflow.
const MOST_ROWS: u64 = 1 << 31;

impl Encoder {
    /// Give each column its run of rows, one after the other. None is a column that owns no rows: it was constant in
    /// training, or is not wanted.
    ///
    /// # Errors
    /// If there are too many rows.
    pub fn new(columns: Vec<Option<Column>>, tilings: u32, zero_is_absent: bool) -> Result<Self> {
        let (width, count) = (columns.len(), columns.iter().flatten().count());
        let used = columns.into_iter().enumerate();
        let used = used.filter_map(|(number, column)| Some(Ok((number, column?))));
        Self::of_used(width, count, used, tilings, zero_is_absent)
    }

    /// The same from the `count` columns that own rows, by their numbers, which ascend and are below `width`.
    ///
    /// # Errors
    /// If there are too many rows, or what a column brings.
    pub fn of_used(
        width: usize,
        count: usize,
        used: impl Iterator<Item = Result<(usize, Column)>>,
        tilings: u32,
        zero_is_absent: bool,
    ) -> Result<Self> {
        let mut rows = 0_u64;
        let mut features = room(count)?;
        let mut places = filled(width, NONE)?;
        for column in used {
            let (number, column) = column?;
            let span = column.span(rows as u32, tilings);
            rows += u64::from(span.rows());
            if rows >= MOST_ROWS {
                return Err(Error::value(
                    "X",
                    "too many categories or bins",
                    format!("are fewer than {MOST_ROWS} parameter rows"),
                ));
            }
            if let Some(place) = places.get_mut(number) {
                *place = features.len() as u32;
            }
            features.push(Feature { column: number, span, values: column.values });
        }
        let raw = features.iter().any(Feature::is_raw);
        Ok(Self { features, places, tilings, rows: rows as u32, zero_is_absent, raw })
    }

    /// The same without some columns.
    #[must_use]
    pub fn without(&self, columns: &[usize]) -> Self {
        let mut rest = Self { features: Vec::new(), places: Vec::new(), rows: 0, ..self.clone() };
        for column in 0..self.columns() {
            match self.of_column(column).filter(|_| !columns.contains(&column)) {
                None => rest.places.push(NONE),
                Some(feature) => {
                    let span = Span { first: rest.rows, ..feature.span };
                    rest.rows += span.rows();
                    rest.places.push(rest.features.len() as u32);
                    rest.features.push(Feature { span, ..feature.clone() });
                }
            }
        }
        rest.raw = rest.features.iter().any(Feature::is_raw);
        rest
    }

    /// The columns of X that are of use, in their order.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Number of columns of X.
    pub fn columns(&self) -> usize {
        self.places.len()
    }

    /// What a column of X is to the model, if it is of use.
    #[inline]
    pub fn of_column(&self, column: usize) -> Option<&Feature> {
        self.features.get(*self.places.get(column)? as usize)
    }

    /// Rows that each present feature activates.
    pub fn tilings(&self) -> u32 {
        self.tilings
    }

    /// Parameter rows in all.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Whether it was learned from a sparse table: a zero activates nothing.
    pub fn zero_is_absent(&self) -> bool {
        self.zero_is_absent
    }

    /// Whether active rows have values: some feature's numbers are used as they are.
    pub fn is_raw(&self) -> bool {
        self.raw
    }

    /// The most rows that one row of X can activate.
    pub fn most_active(&self) -> u64 {
        self.features.len() as u64 * u64::from(self.tilings)
    }

    /// Check that a table has as many columns as training had.
    ///
    /// # Errors
    /// Names both numbers.
    pub fn check_width(&self, name: &'static str, columns: usize) -> Result<()> {
        if columns == self.columns() {
            return Ok(());
        }
        let accepted = format!("are {}, as in training", self.columns());
        Err(Error::value(name, format!("{columns} features"), accepted))
    }
}

impl Feature {
    fn is_raw(&self) -> bool {
        matches!(self.values, Values::Raw(_))
    }
}

impl Column {
    fn span(&self, first: u32, tilings: u32) -> Span {
        let cells = match &self.values {
            Values::Numbers(edges) => edges.len() as u32 + 1,
            Values::Raw(_) => 1,
            Values::Levels(levels) => levels.len() as u32,
        };
        Span::new(first, cells, tilings, self.copies, self.missing)
    }
}
