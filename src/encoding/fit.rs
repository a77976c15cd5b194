//! Learning the encoder from training data: every feature by itself, many at a time.

use super::categorical::{Category, frequent};
use super::numeric::Distinct;
use super::sparse::ByColumn;
use super::{Column, Csr, Dense, Edges, Encoder, Levels, Table, Values};
use crate::threads::{Stop, Threads};
use crate::{Error, Result};
use std::collections::BTreeMap;

/// How numeric features are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binning {
    /// Cells of equal weight.
    Quantile,
    /// Cells of equal width.
    Uniform,
}

/// What the caller decides about encoding.
#[derive(Clone, Debug)]
pub struct EncodingParams {
    /// Parameter rows a numeric feature, at most.
    pub bins: u32,
    /// Rows that each present feature activates.
    pub tilings: u32,
    /// How numeric features are cut.
    pub binning: Binning,
    /// Columns that hold categories.
    pub categorical: Vec<usize>,
    /// Of the categorical columns that hold places in a list of texts, the texts.
    pub vocabularies: BTreeMap<usize, Vec<String>>,
    /// Weight that a category needs to be known.
    pub min_count: f64,
}

impl Encoder {
    /// Learn from a table and the weights of its rows.
    ///
    /// # Errors
    /// If a categorical column holds a number that is not whole, there is too much, or it is stopped.
    pub fn fit(
        table: Table,
        weight: Option<&[f64]>,
        params: &EncodingParams,
        threads: &Threads,
        stop: &Stop,
    ) -> Result<Self> {
        let columns = match table {
            Table::Dense(dense) => threads.map(
                0..dense.columns(),
                || (),
                |(), j| {
                    stop.check()?;
                    params.dense_column(dense, j, weight)
                },
            )?,
            Table::Csr(csr) => params.sparse_columns(csr, weight, threads, stop)?,
        };
        Self::new(columns, params.tilings, matches!(table, Table::Csr(_)))
    }
}

/// A feature's cells are counted in two bytes.
pub const MOST_BINS: i64 = 65_000;
/// The number of grids has one byte in the file.
pub const MOST_TILINGS: i64 = 255;

impl EncodingParams {
    /// Check that each is within its limits.
    ///
    /// # Errors
    /// Names the first that is not.
    pub fn check(&self) -> Result<()> {
        if !(2..=MOST_BINS).contains(&i64::from(self.bins)) {
            return Err(Error::value(
                "b",
                self.bins,
                format!("are whole numbers from 2 to {MOST_BINS}"),
            ));
        }
        let most = MOST_TILINGS.min(i64::from(self.bins) - 1);
        if !(1..=most).contains(&i64::from(self.tilings)) {
            return Err(Error::value(
                "tilings",
                self.tilings,
                format!("are whole numbers from 1 to {most}"),
            ));
        }
        Ok(())
    }

    fn dense_column(&self, dense: &dyn Dense, j: usize, weight: Option<&[f64]>) -> Result<Column> {
        if self.categorical.contains(&j) {
            let mut categories = vec![Category::Missing; dense.rows()];
            dense.categories(j, 0, &mut categories);
            return self.levels(j, &categories, weight);
        }
        let mut numbers = vec![0.0; dense.rows()];
        dense.numbers(j, 0, &mut numbers);
        let distinct = Distinct::new(&numbers, weight);
        let constant = distinct.is_empty() || (distinct.len() == 1 && !distinct.missing());
        Ok(if constant { Column::unused() } else { self.numbers(&distinct) })
    }

    fn sparse_columns(
        &self,
        csr: &Csr,
        weight: Option<&[f64]>,
        threads: &Threads,
        stop: &Stop,
    ) -> Result<Vec<Column>> {
        let by_column = ByColumn::new(csr, weight);
        threads.map(
            0..csr.columns(),
            || (),
            |(), j| {
                stop.check()?;
                let (values, weights) = by_column.column(j);
                let distinct = Distinct::new(values, weights);
                let rare = distinct.is_empty() || distinct.weight() < self.min_count;
                Ok(if rare { Column::unused() } else { self.numbers(&distinct) })
            },
        )
    }

    /// Few values have a cell and `tilings` rows each, if those are no more than the feature may have.
    fn numbers(&self, distinct: &Distinct) -> Column {
        let copies = distinct.len() as u64 * u64::from(self.tilings) <= u64::from(self.bins);
        let cells = if copies { distinct.len() } else { (self.bins - self.tilings + 1) as usize };
        let edges = self.edges(distinct, cells);
        Column { values: Values::Numbers(edges), copies, missing: distinct.missing() }
    }

    fn edges(&self, distinct: &Distinct, cells: usize) -> Edges {
        match self.binning {
            Binning::Quantile => distinct.quantile_edges(cells),
            Binning::Uniform => distinct.uniform_edges(cells),
        }
    }

    fn levels(&self, j: usize, categories: &[Category], weight: Option<&[f64]>) -> Result<Column> {
        let (mut seen, mut missing) = (Vec::new(), false);
        for (row, category) in categories.iter().enumerate() {
            let weight = weight.map_or(1.0, |weight| weight[row]);
            match category {
                _ if weight <= 0.0 => {}
                Category::Level(level) => seen.push((*level, weight)),
                Category::Missing => missing = true,
                Category::Fraction => {
                    let given = format!("a number that is not whole in categorical column {j}");
                    return Err(Error::value("X", given, "are whole numbers and text"));
                }
            }
        }
        let known = |level: i64| {
            self.vocabularies.get(&j).is_none_or(|texts| (0..texts.len() as i64).contains(&level))
        };
        let before = seen.len();
        seen.retain(|&(level, _)| known(level));
        let unknown = seen.len() < before;
        let (levels, rare) = frequent(seen, self.min_count);
        let constant = levels.is_empty() || (levels.len() == 1 && !missing && !rare && !unknown);
        if constant {
            return Ok(Column::unused());
        }
        let levels = match self.vocabularies.get(&j) {
            Some(texts) => Levels::Text(texts.clone()),
            None => Levels::whole(levels),
        };
        Ok(Column { values: Values::Levels(levels), copies: true, missing })
    }
}

impl Column {
    /// A column that owns no rows.
    pub fn unused() -> Self {
        Self { values: Values::Unused, copies: false, missing: false }
    }
}
