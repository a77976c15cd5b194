//! Learning the encoder from training data: every feature by itself, many at a time.

use super::categorical::{Category, frequent};
use super::numeric::{Distinct, Sample};
use super::sparse::ByColumn;
use super::{Column, Csr, Dense, Encoder, Levels, Standard, Table, Truth, Values};
use crate::error::{ask, filled};
use crate::threads::{Stop, Threads};
use crate::{Error, Result};
use std::collections::{BTreeMap, BTreeSet};

/// How numeric features are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binning {
    /// Cells of equal weight.
    Quantile,
    /// Cells of equal width.
    Uniform,
    /// Cells that differ in the target.
    Supervised,
}

/// What the encoder is learned from.
#[derive(Clone, Copy)]
pub struct Rows<'a> {
    /// The rows.
    pub table: Table<'a>,
    /// What they are to be told apart by.
    pub truth: Truth<'a>,
    /// Weight of each; None is 1.
    pub weight: Option<&'a [f64]>,
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
    /// Numbers are used as they are, in standard units, instead of by their bins.
    pub raw: bool,
    /// Columns that the model shall do without.
    pub leave_out: BTreeSet<usize>,
}

impl Encoder {
    /// Learn from the rows of a table.
    ///
    /// # Errors
    /// If a categorical column holds a number that is not whole, there is too much, or it is stopped.
    pub fn fit(
        rows: Rows,
        params: &EncodingParams,
        threads: &Threads,
        stop: &Stop,
    ) -> Result<Self> {
        ask::<[Option<Column>; 2]>(rows.table.columns())?;
        let columns = match rows.table {
            Table::Dense(dense) => threads.map(
                0..dense.columns(),
                || (),
                |(), j| {
                    stop.check()?;
                    params.dense_column(dense, j, rows)
                },
            )?,
            Table::Csr(csr) => params.sparse_columns(csr, rows, threads, stop)?,
        };
        let tilings = if params.raw { 1 } else { params.tilings };
        Self::new(columns, tilings, matches!(rows.table, Table::Csr(_)))
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

    fn dense_column(&self, dense: &dyn Dense, j: usize, rows: Rows) -> Result<Option<Column>> {
        if self.leave_out.contains(&j) {
            return Ok(None);
        }
        if self.categorical.contains(&j) {
            let mut categories = filled(dense.rows(), Category::Missing)?;
            dense.categories(j, 0, &mut categories);
            return self.levels(j, &categories, rows.weight);
        }
        let mut numbers = filled(dense.rows(), 0.0)?;
        dense.numbers(j, 0, &mut numbers);
        let distinct = Distinct::new(&numbers, rows.weight)?;
        let constant = distinct.is_empty() || (distinct.len() == 1 && !distinct.missing());
        let sample = Sample { distinct, values: &numbers, rows: None, weights: rows.weight };
        Ok((!constant).then(|| self.numbers(&sample, rows.truth, false)))
    }

    fn sparse_columns(
        &self,
        csr: &Csr,
        rows: Rows,
        threads: &Threads,
        stop: &Stop,
    ) -> Result<Vec<Option<Column>>> {
        let by_column = ByColumn::new(csr, rows.weight)?;
        threads.map(
            0..csr.columns(),
            || (),
            |(), j| {
                stop.check()?;
                let (values, of, weights) = by_column.column(j);
                let distinct = Distinct::new(values, weights)?;
                let known = !distinct.is_empty() && distinct.weight() >= self.min_count;
                let wanted = known && !self.leave_out.contains(&j);
                let sample = Sample { distinct, values, rows: Some(of), weights };
                Ok(wanted.then(|| self.numbers(&sample, rows.truth, true)))
            },
        )
    }

    /// Few values have a cell and `tilings` rows each, if those are no more than the feature may have.
    fn numbers(&self, sample: &Sample, truth: Truth, zero_is_absent: bool) -> Column {
        if self.raw {
            let standard = Standard::fit(sample.values, sample.weights, zero_is_absent);
            return Column { values: Values::Raw(standard), copies: false, missing: false };
        }
        let distinct = &sample.distinct;
        let copies = distinct.len() as u64 * u64::from(self.tilings) <= u64::from(self.bins);
        let cells = if copies { distinct.len() } else { (self.bins - self.tilings + 1) as usize };
        let edges = match self.binning {
            Binning::Quantile => distinct.quantile_edges(cells),
            Binning::Uniform => distinct.uniform_edges(cells),
            Binning::Supervised => sample.supervised_edges(cells, truth),
        };
        Column { values: Values::Numbers(edges), copies, missing: distinct.missing() }
    }

    fn levels(
        &self,
        j: usize,
        categories: &[Category],
        weight: Option<&[f64]>,
    ) -> Result<Option<Column>> {
        let (mut seen, mut missing) = (Vec::new(), false);
        for (row, category) in categories.iter().enumerate() {
            let weight = weight.map_or(Some(1.0), |weight| weight.get(row).copied()).unwrap_or(0.0);
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
            return Ok(None);
        }
        let levels = match self.vocabularies.get(&j) {
            Some(texts) => Levels::Text(texts.clone()),
            None => Levels::whole(levels),
        };
        Ok(Some(Column { values: Values::Levels(levels), copies: true, missing }))
    }
}
