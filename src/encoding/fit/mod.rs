//! Learning the encoder: each column on its own, several at a time.
#![allow(clippy::indexing_slicing)] // cuts and groups are indices into the lists that they cut and number

mod buffers;
mod distinct;
mod few;
mod precision;
mod quantile;
mod radix;
mod sketch;
mod sketches;
mod stripe;
mod supervised;
mod tails;
mod tally;
mod weights;

use super::{CellMap, Column, Edges, Encoder, Standard};
use crate::data::{Category, Columns, Csr, Dataset, Dense, Schema, Table};
use crate::memory::{check_available, filled, push, resize};
use crate::threads::{Stop, Threads};
use crate::Result;
use distinct::{Distinct, Scratch};
use sketch::{UnitWeights, WeightUnit};
use supervised::Observed;
use tally::Tally;

pub use sketches::Sketches;

/// Where numeric features are cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binning {
    /// Into cells of equal weight.
    Quantile,
    /// Into cells of equal width.
    Uniform,
    /// Where the target changes.
    Supervised,
    /// In between equal weight and equal width.
    Tails,
}

impl Binning {
    /// All binnings with the names by which users know them.
    pub const NAMED: [(&'static str, Self); 4] = [
        ("quantile", Self::Quantile),
        ("uniform", Self::Uniform),
        ("supervised", Self::Supervised),
        ("tails", Self::Tails),
    ];
}

/// How to encode a dataset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EncodingParams {
    /// Maximum number of parameter rows of a numeric feature.
    pub bins: u32,
    /// Rows that each present feature activates.
    pub tilings: u32,
    /// Where numeric features are cut.
    pub binning: Binning,
    /// Total weight that a category needs to have a cell.
    pub min_count: f64,
    /// Use numbers raw, in standard units, instead of binned.
    pub raw: bool,
}

/// The cells of a feature are numbered in two bytes.
pub const MAX_BINS: i64 = 65_000;
/// The number of tilings takes one byte in the file.
pub const MAX_TILINGS: i64 = 255;

impl Encoder {
    /// Learns how to encode a dataset.
    ///
    /// # Errors
    /// If a categorical column holds a fraction, there is not enough memory, or it is stopped.
    pub fn fit(
        dataset: &Dataset,
        schema: &Schema,
        params: &EncodingParams,
        threads: &Threads,
        stop: &Stop,
    ) -> Result<Self> {
        check_available::<[Option<Column>; 2]>(dataset.table.columns())?;
        let fit = Fit { dataset, schema, params, unit: WeightUnit::of_all(dataset.weight) };
        let columns = match dataset.table {
            Table::Dense(dense) => fit.dense_columns(dense, threads, stop)?,
            Table::Csr(csr) => fit.sparse_columns(csr, threads, stop)?,
        };
        let tilings = if params.raw { 1 } else { params.tilings };
        Self::new(columns, tilings, matches!(dataset.table, Table::Csr(_)))
    }
}

/// What the columns are learned from.
struct Fit<'a> {
    dataset: &'a Dataset<'a>,
    schema: &'a Schema,
    params: &'a EncodingParams,
    unit: WeightUnit,
}

impl EncodingParams {
    /// Returns the number of cells of a numeric feature that has more distinct values than that.
    fn cells(&self) -> usize {
        (self.bins - self.tilings + 1) as usize
    }

    /// Bins a numeric column. Few distinct values get a cell of `tilings` rows each, if the rows suffice.
    fn intervals(
        &self,
        distinct: &Distinct,
        edges: impl FnOnce(usize) -> Result<Edges>,
    ) -> Result<Column> {
        let copies = distinct.len() as u64 * u64::from(self.tilings) <= u64::from(self.bins);
        let cells = if copies { distinct.len() } else { self.cells() };
        Ok(Column { map: CellMap::Intervals(edges(cells)?), copies, missing: distinct.has_missing() })
    }
}

impl Fit<'_> {
    fn dense_columns(
        &self,
        dense: &dyn Dense,
        threads: &Threads,
        stop: &Stop,
    ) -> Result<Vec<Option<Column>>> {
        let mut columns = filled(dense.columns(), None)?;
        let used = (0..columns.len()).filter(|column| !self.schema.leave_out.contains(column));
        let is_categorical = |column: &usize| self.schema.categorical.contains(column);
        let (mut categorical, mut numeric) = (Vec::new(), Vec::new());
        for column in used {
            push(if is_categorical(&column) { &mut categorical } else { &mut numeric }, column)?;
        }
        let learn = |(): &mut (), &column: &usize| {
            stop.check()?;
            self.categorical_column(dense, column)
        };
        put(&mut columns, &categorical, threads.map(&categorical, || (), learn)?);
        let (samples, mut numbers) = (dense.samples(), Vec::new());
        for stripe in numeric.chunks(stripe::width(samples)) {
            resize(&mut numbers, stripe.len() * samples, 0.0)?;
            stripe::copy_columns(dense, stripe, &mut numbers, threads, stop)?;
            let learn = |scratch: &mut Scratch, numbers| {
                stop.check()?;
                self.numeric_column(numbers, scratch, stop)
            };
            let each = numbers.chunks(samples.max(1));
            put(&mut columns, stripe, threads.map(each, Scratch::default, learn)?);
        }
        Ok(columns)
    }

    fn categorical_column(&self, dense: &dyn Dense, column: usize) -> Result<Option<Column>> {
        let mut categories = filled(dense.samples(), Category::Missing)?;
        dense.copy_categories(column, 0, &mut categories);
        let mut tally = Tally::default();
        tally.add(column, &categories, self.unit, |sample| self.dataset.weight_of(sample))?;
        tally.column(self.schema.vocabularies.get(&column), self.params.min_count, self.unit)
    }

    fn numeric_column(
        &self,
        values: &[f32],
        scratch: &mut Scratch,
        stop: &Stop,
    ) -> Result<Option<Column>> {
        let weights = self.dataset.weight;
        let distinct = self.distinct(values, weights, scratch, stop)?;
        let observed = Observed { distinct, values, samples: None, weights };
        (!distinct.is_constant()).then(|| self.numbers(&observed, false)).transpose()
    }

    fn distinct<'s>(
        &self,
        values: &[f32],
        weights: Option<&[f64]>,
        scratch: &'s mut Scratch,
        stop: &Stop,
    ) -> Result<Distinct<'s>> {
        let weights: UnitWeights = weights.map(|weights| (weights, self.unit));
        Distinct::new(values, weights, self.params.cells(), scratch, stop)
    }

    fn sparse_columns(
        &self,
        csr: &Csr,
        threads: &Threads,
        stop: &Stop,
    ) -> Result<Vec<Option<Column>>> {
        let columns = Columns::new(csr, self.dataset.weight)?;
        threads.map(
            0..csr.columns(),
            Scratch::default,
            |scratch, column| {
                stop.check()?;
                let stored = columns.column(column);
                let distinct = self.distinct(stored.values, stored.weights, scratch, stop)?;
                let weight = self.unit.weight(distinct.weight());
                let is_known = !distinct.is_empty() && weight >= self.params.min_count;
                let is_used = is_known && !self.schema.leave_out.contains(&column);
                let observed = Observed {
                    distinct,
                    values: stored.values,
                    samples: Some(stored.samples),
                    weights: stored.weights,
                };
                is_used.then(|| self.numbers(&observed, true)).transpose()
            },
        )
    }

    fn numbers(&self, observed: &Observed, zero_is_absent: bool) -> Result<Column> {
        if self.params.raw {
            let standard = Standard::fit(observed.values, observed.weights, zero_is_absent);
            return Ok(Column { map: CellMap::Raw(standard), copies: false, missing: false });
        }
        let distinct = &observed.distinct;
        self.params.intervals(distinct, |cells| match self.params.binning {
            Binning::Supervised => observed.supervised_edges(cells, &self.dataset.target),
            binning => distinct.edges(binning, cells),
        })
    }
}

/// Puts what was learned about some columns in their places.
fn put(columns: &mut [Option<Column>], places: &[usize], learned: Vec<Option<Column>>) {
    places.iter().zip(learned).for_each(|(&place, column)| columns[place] = column);
}
