//! Learning the encoder: each column on its own, several at a time.
#![allow(clippy::indexing_slicing)] // cuts and groups are indices into the lists that they cut and number

mod buffers;
mod distinct;
mod few;
mod precision;
mod quantile;
mod radix;
mod stripe;
mod supervised;
mod tails;
mod weights;

use super::{Categories, CellMap, Column, Encoder, Standard};
use crate::data::{Category, Columns, Csr, Dataset, Dense, Schema, Table};
use crate::memory::{check_available, copied, extend, filled, push, resize, with_capacity};
use crate::threads::{Stop, Threads};
use crate::{Error, Result};
use buffers::Buffers;
use distinct::Distinct;
use supervised::Observed;

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
        let fit = Fit { dataset, schema, params };
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
            let learn = |buffers: &mut Buffers, numbers| {
                stop.check()?;
                self.numeric_column(numbers, buffers, stop)
            };
            let each = numbers.chunks(samples.max(1));
            put(&mut columns, stripe, threads.map(each, Buffers::default, learn)?);
        }
        Ok(columns)
    }

    fn categorical_column(&self, dense: &dyn Dense, column: usize) -> Result<Option<Column>> {
        let mut categories = filled(dense.samples(), Category::Missing)?;
        dense.copy_categories(column, 0, &mut categories);
        self.categories(column, &categories)
    }

    fn numeric_column(
        &self,
        values: &[f32],
        buffers: &mut Buffers,
        stop: &Stop,
    ) -> Result<Option<Column>> {
        let weights = self.dataset.weight;
        let distinct = Distinct::new(values, weights, buffers, stop)?;
        let is_constant = distinct.is_empty() || (distinct.len() == 1 && !distinct.has_missing());
        let observed = Observed { distinct, values, samples: None, weights };
        (!is_constant).then(|| self.numbers(&observed, false)).transpose()
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
            Buffers::default,
            |buffers, column| {
                stop.check()?;
                let stored = columns.column(column);
                let distinct = Distinct::new(stored.values, stored.weights, buffers, stop)?;
                let is_known = !distinct.is_empty() && distinct.weight() >= self.params.min_count;
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

    /// Bins a numeric column. Few distinct values get a cell of `tilings` rows each, if the rows suffice.
    fn numbers(&self, observed: &Observed, zero_is_absent: bool) -> Result<Column> {
        let EncodingParams { bins, tilings, binning, raw, .. } = *self.params;
        if raw {
            let standard = Standard::fit(observed.values, observed.weights, zero_is_absent);
            return Ok(Column { map: CellMap::Raw(standard), copies: false, missing: false });
        }
        let distinct = &observed.distinct;
        let copies = distinct.len() as u64 * u64::from(tilings) <= u64::from(bins);
        let cells = if copies { distinct.len() } else { (bins - tilings + 1) as usize };
        let edges = match binning {
            Binning::Quantile => distinct.quantile_edges(cells)?,
            Binning::Uniform => distinct.uniform_edges(cells)?,
            Binning::Tails => distinct.tail_edges(cells)?,
            Binning::Supervised => observed.supervised_edges(cells, &self.dataset.target)?,
        };
        Ok(Column { map: CellMap::Intervals(edges), copies, missing: distinct.has_missing() })
    }

    /// Gives each frequent category a cell.
    fn categories(&self, column: usize, categories: &[Category]) -> Result<Option<Column>> {
        let (mut seen, mut missing) = (with_capacity(categories.len())?, false);
        for (sample, category) in categories.iter().enumerate() {
            let weight = self.dataset.weight_of(sample);
            match category {
                _ if weight <= 0.0 => {}
                Category::Id(id) => seen.push((*id, weight)),
                Category::Missing => missing = true,
                Category::Invalid => {
                    let must = "hold whole numbers or text in categorical columns";
                    return Err(Error::value("X", must, format!("a fraction in column {column}")));
                }
            }
        }
        let vocabulary = self.schema.vocabularies.get(&column);
        let in_vocabulary =
            |id: i64| vocabulary.is_none_or(|texts| (0..texts.len() as i64).contains(&id));
        let before = seen.len();
        seen.retain(|&(id, _)| in_vocabulary(id));
        let has_unknown = seen.len() < before;
        let (ids, has_rare) = frequent(seen, self.params.min_count)?;
        let is_constant = ids.len() == 1 && !missing && !has_rare && !has_unknown;
        if ids.is_empty() || is_constant {
            return Ok(None);
        }
        let categories = match vocabulary {
            Some(texts) => Categories::Texts(copied(texts)?),
            None => Categories::from_ids(ids),
        };
        Ok(Some(Column { map: CellMap::Categories(categories), copies: true, missing }))
    }
}

/// Puts what was learned about some columns in their places.
fn put(columns: &mut [Option<Column>], places: &[usize], learned: Vec<Option<Column>>) {
    places.iter().zip(learned).for_each(|(&place, column)| columns[place] = column);
}

/// Returns the ids whose weights add up to `min_count` or more, ascending, and whether there are others.
fn frequent(mut seen: Vec<(i64, f64)>, min_count: f64) -> Result<(Vec<i64>, bool)> {
    // By weight, too: the sums must not depend on the order of the samples.
    seen.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
    let mut has_rare = false;
    let mut ids = Vec::new();
    for run in seen.chunk_by(|a, b| a.0 == b.0) {
        let weight: f64 = run.iter().map(|&(_, weight)| weight).sum();
        if weight >= min_count {
            extend(&mut ids, run.first().map(|&(id, _)| id))?;
        } else {
            has_rare = true;
        }
    }
    Ok((ids, has_rare))
}
