//! What training learned about the columns of X.

use super::stored::stored_table;
use super::{Categories, Edges, Span, Standard};
use crate::kernels::StoredTable;
use crate::memory::{copied, filled, try_collect, with_capacity};
use crate::{Error, Result};
use alloc::vec::Vec;

/// How the values of each column become active rows.
#[derive(Clone, Debug, PartialEq)]
pub struct Encoder {
    /// The used columns, in order.
    features: Vec<Feature>,
    /// For each column the index of its feature, or [`UNUSED`].
    feature_of_column: Vec<u32>,
    tilings: u32,
    rows: u32,
    zero_is_absent: bool,
    /// Some feature is [`CellMap::Raw`].
    raw: bool,
    /// The features again, if a zero is absent and all are numeric.
    stored: Option<StoredTable>,
}

/// A column of X that the model uses.
#[derive(Clone, Debug, PartialEq)]
pub struct Feature {
    /// Its column in X.
    pub column: usize,
    /// The parameter rows that it owns, and how cells map to them.
    pub span: Span,
    /// How a value maps to a cell.
    pub map: CellMap,
}

/// How the values of a column map to cells.
#[derive(Clone, Debug, PartialEq)]
pub enum CellMap {
    /// Numbers, by the interval they fall into.
    Intervals(Edges),
    /// Raw numbers: one parameter row, multiplied by the standardized value.
    Raw(Standard),
    /// Categories, one cell each.
    Categories(Categories),
}

/// A column before its parameter rows are assigned.
#[derive(Clone, Debug)]
pub struct Column {
    /// How a value maps to a cell.
    pub map: CellMap,
    /// Whether each cell has rows of its own, instead of sharing all but one with each neighbour.
    pub copies: bool,
    /// Whether NaN has a cell of its own.
    pub missing: bool,
}

const UNUSED: u32 = u32::MAX;

/// The number of parameter rows stays below this, which keeps bit positions and counts of active rows far from
/// overflow.
const MAX_ROWS: u64 = 1 << 31;

impl Encoder {
    /// Assigns parameter rows to columns, one run after the other. `None` is an unused column: constant in training,
    /// or left out.
    ///
    /// # Errors
    /// If there are too many rows.
    pub fn new(columns: Vec<Option<Column>>, tilings: u32, zero_is_absent: bool) -> Result<Self> {
        let (width, count) = (columns.len(), columns.iter().flatten().count());
        let used = columns.into_iter().enumerate();
        let used = used.filter_map(|(index, column)| Some(Ok((index, column?))));
        Self::from_used(width, count, used, tilings, zero_is_absent)
    }

    /// Does the same for the `count` used columns alone, whose indices ascend and are below `width`.
    ///
    /// # Errors
    /// If there are too many rows, or the first error of `used`.
    pub fn from_used(
        width: usize,
        count: usize,
        used: impl Iterator<Item = Result<(usize, Column)>>,
        tilings: u32,
        zero_is_absent: bool,
    ) -> Result<Self> {
        let mut rows = 0_u64;
        let mut features = with_capacity(count)?;
        let mut feature_of_column = filled(width, UNUSED)?;
        for column in used {
            let (index, column) = column?;
            let span = column.span(rows as u32, tilings);
            rows += u64::from(span.rows());
            if rows >= MAX_ROWS {
                let must = format!("need fewer than {MAX_ROWS} parameter rows");
                return Err(Error::value("X", must, "too many categories or bins"));
            }
            if let Some(feature) = feature_of_column.get_mut(index) {
                *feature = features.len() as u32;
            }
            features.push(Feature { column: index, span, map: column.map });
        }
        let raw = features.iter().any(Feature::is_raw);
        let stored = if zero_is_absent { stored_table(&features, width)? } else { None };
        let rows = rows as u32;
        Ok(Self { features, feature_of_column, tilings, rows, zero_is_absent, raw, stored })
    }

    /// Returns the same encoder without some columns.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn without(&self, columns: &[usize]) -> Result<Self> {
        let mut rest = Self {
            features: with_capacity(self.features.len())?,
            feature_of_column: with_capacity(self.columns())?,
            rows: 0,
            stored: None,
            ..*self
        };
        for column in 0..self.columns() {
            match self.feature_of(column).filter(|_| !columns.contains(&column)) {
                None => rest.feature_of_column.push(UNUSED),
                Some(feature) => {
                    let span = Span { first: rest.rows, ..feature.span };
                    rest.rows += span.rows();
                    rest.feature_of_column.push(rest.features.len() as u32);
                    rest.features.push(Feature { span, map: feature.map.copied()?, ..*feature });
                }
            }
        }
        rest.raw = rest.features.iter().any(Feature::is_raw);
        Ok(rest)
    }

    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> Result<Self> {
        let copy = |feature: &Feature| Ok(Feature { map: feature.map.copied()?, ..*feature });
        Ok(Self {
            features: try_collect(self.features.iter().map(copy))?,
            feature_of_column: copied(&self.feature_of_column)?,
            stored: self.stored.as_ref().map(StoredTable::copied).transpose()?,
            ..*self
        })
    }

    /// Returns the used columns, in order.
    pub fn features(&self) -> &[Feature] {
        &self.features
    }

    /// Returns the number of columns of X.
    pub fn columns(&self) -> usize {
        self.feature_of_column.len()
    }

    /// Returns the feature of a column, if the column is used.
    #[inline]
    pub fn feature_of(&self, column: usize) -> Option<&Feature> {
        self.features.get(self.feature_index(column)?)
    }

    /// Returns the index of a column's feature, if the column is used.
    pub(super) fn feature_index(&self, column: usize) -> Option<usize> {
        self.feature_of_column
            .get(column)
            .filter(|&&index| index != UNUSED)
            .map(|&index| index as usize)
    }

    /// Returns the features for encoding sparse samples, if a zero is absent and all are numeric.
    pub(super) fn stored_features(&self) -> Option<&StoredTable> {
        self.stored.as_ref()
    }

    /// Returns the number of rows that each present feature activates.
    pub fn tilings(&self) -> u32 {
        self.tilings
    }

    /// Returns the number of parameter rows.
    pub fn rows(&self) -> u32 {
        self.rows
    }

    /// Returns whether a zero activates nothing, as it does if training data was sparse.
    pub fn zero_is_absent(&self) -> bool {
        self.zero_is_absent
    }

    /// Returns whether active rows have values, because some feature is [`CellMap::Raw`].
    pub fn is_raw(&self) -> bool {
        self.raw
    }

    /// Returns the largest number of rows that one sample can activate.
    pub fn max_active(&self) -> u64 {
        self.features.len() as u64 * u64::from(self.tilings)
    }

    /// Checks that a table has as many columns as the training data.
    ///
    /// # Errors
    /// If it has not.
    pub fn check_width(&self, name: &'static str, columns: usize) -> Result<()> {
        if columns == self.columns() {
            return Ok(());
        }
        let must = format!("have {} features, as in training", self.columns());
        Err(Error::value(name, must, columns))
    }
}

impl CellMap {
    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> Result<Self> {
        Ok(match self {
            Self::Intervals(edges) => Self::Intervals(Edges::new(copied(edges.keys())?)),
            Self::Categories(categories) => Self::Categories(categories.copied()?),
            Self::Raw(standard) => Self::Raw(*standard),
        })
    }
}

impl Feature {
    fn is_raw(&self) -> bool {
        matches!(self.map, CellMap::Raw(_))
    }
}

impl Column {
    fn span(&self, first: u32, tilings: u32) -> Span {
        let cells = match &self.map {
            CellMap::Intervals(edges) => edges.len() as u32 + 1,
            CellMap::Raw(_) => 1,
            CellMap::Categories(categories) => categories.len() as u32,
        };
        Span::new(first, cells, tilings, self.copies, self.missing)
    }
}
