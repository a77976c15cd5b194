//! Learning the encoder of samples that come in parts: everything it needs to know about each column, which can be
//! collected anywhere and merged in any order.
//!
//! The encoder is the one that [`Encoder::fit`] learns from all of the samples at once.

use super::buffers::Buffers;
use super::distinct::Distinct;
use super::sketch::{Heavy, Sketch, UnitWeights, WeightUnit};
use super::stripe;
use super::tally::Tally;
use super::{Binning, EncodingParams};
use crate::data::{Category, Dense, Schema};
use crate::encoding::{Column, Encoder};
use crate::memory::{collect, resize, try_collect};
use crate::threads::{Stop, Threads};
use crate::{Error, Result};

/// What is known about the columns of some samples.
#[derive(Clone, Debug, Default)]
pub struct Sketches {
    columns: Vec<ColumnSketch>,
    unit: WeightUnit,
}

#[derive(Clone, Debug)]
enum ColumnSketch {
    Numbers(Numbers),
    Categories(Tally),
}

#[derive(Clone, Debug, Default)]
struct Numbers {
    all: Sketch,
    /// Buckets to look at a second time, and what was found in them.
    heavy: Heavy,
    fine: Sketch,
}

impl Sketches {
    /// Begins without samples. `largest_weight` is that of all there will be, if they have weights.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(columns: usize, categorical: &[usize], largest_weight: Option<f64>) -> Result<Self> {
        let empty = |column| {
            if categorical.contains(&column) {
                ColumnSketch::Categories(Tally::default())
            } else {
                ColumnSketch::Numbers(Numbers::default())
            }
        };
        let unit = largest_weight.map_or_else(WeightUnit::default, WeightUnit::of);
        Ok(Self { columns: collect((0..columns).map(empty))?, unit })
    }

    /// Adds samples.
    ///
    /// # Errors
    /// If they have the wrong width, a categorical column holds a fraction, there is not enough memory, or it is stopped.
    pub fn add(
        &mut self,
        dense: &dyn Dense,
        weights: Option<&[f64]>,
        threads: &Threads,
        stop: &Stop,
    ) -> Result<()> {
        self.check_width(dense)?;
        let unit = self.unit;
        let weight_of = |sample: usize| weights.map_or(1.0, |weights| weights[sample]);
        let tallies = self.columns.iter_mut().enumerate().filter_map(|(column, sketch)| match sketch {
            ColumnSketch::Categories(tally) => Some((column, tally)),
            ColumnSketch::Numbers(_) => None,
        });
        let count = |categories: &mut Vec<Category>, (column, tally): (usize, &mut Tally)| {
            stop.check()?;
            resize(categories, dense.samples(), Category::Missing)?;
            dense.copy_categories(column, 0, categories);
            tally.add(column, categories, unit, weight_of)
        };
        threads.map(tallies, Vec::new, count)?;
        self.each_number(dense, weights, threads, stop, |numbers, values, weights, buffers| {
            numbers.all.add(values, weights, buffers, stop)
        })
    }

    /// Adds what is known about other samples, collected in the same way.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn merge(&mut self, other: &Self) -> Result<()> {
        for (own, other) in self.columns.iter_mut().zip(&other.columns) {
            match (own, other) {
                (ColumnSketch::Numbers(own), ColumnSketch::Numbers(other)) => {
                    own.all.merge(&other.all)?;
                    own.fine.merge(&other.fine)?;
                }
                (ColumnSketch::Categories(own), ColumnSketch::Categories(other)) => own.merge(other)?,
                _ => return Err(Error::Internal),
            }
        }
        Ok(())
    }

    /// Prepares a second pass over all samples, and returns whether it is needed for an encoding.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn start_second_pass(&mut self, params: &EncodingParams) -> Result<bool> {
        let mut is_needed = false;
        for column in &mut self.columns {
            if let ColumnSketch::Numbers(numbers) = column {
                numbers.heavy = numbers.all.heavy(params.cells())?;
                numbers.fine.clear();
                is_needed |= !numbers.heavy.is_empty();
            }
        }
        Ok(is_needed)
    }

    /// Adds samples to the second pass.
    ///
    /// # Errors
    /// As for [`Sketches::add`].
    pub fn add_again(
        &mut self,
        dense: &dyn Dense,
        weights: Option<&[f64]>,
        threads: &Threads,
        stop: &Stop,
    ) -> Result<()> {
        self.check_width(dense)?;
        self.each_number(dense, weights, threads, stop, |numbers, values, weights, buffers| {
            if numbers.heavy.is_empty() {
                return Ok(());
            }
            numbers.heavy.add(&mut numbers.fine, values, weights, buffers, stop)
        })
    }

    /// Returns the weight of each category of a column, ascending by category; nothing for a column of numbers.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn categories(&self, column: usize) -> Result<Vec<(i64, f64)>> {
        match self.columns.get(column) {
            Some(ColumnSketch::Categories(tally)) => {
                collect(tally.counts().iter().map(|&(id, weight)| (id, self.unit.weight(weight))))
            }
            _ => Ok(Vec::new()),
        }
    }

    /// Replaces each category of a column by its place in a list.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn renumber(&mut self, column: usize, order: &[i64]) -> Result<()> {
        match self.columns.get_mut(column) {
            Some(ColumnSketch::Categories(tally)) => tally.renumber(order),
            _ => Ok(()),
        }
    }

    /// Returns the encoder of all samples that were added.
    ///
    /// # Errors
    /// If the encoding needs the samples themselves, or there is not enough memory.
    pub fn encoder(&self, schema: &Schema, params: &EncodingParams) -> Result<Encoder> {
        if params.raw {
            return Err(Error::value("method", "be 'bfm' or 'sefm' out of core", "one without bins"));
        }
        if params.binning == Binning::Supervised {
            let must = "be 'quantile', 'uniform' or 'tails' out of core";
            return Err(Error::value("binning", must, "'supervised'"));
        }
        let columns = self.columns.iter().enumerate().map(|(column, sketch)| {
            if schema.leave_out.contains(&column) {
                return Ok(None);
            }
            match sketch {
                ColumnSketch::Numbers(numbers) => numbers.column(params),
                ColumnSketch::Categories(tally) => {
                    tally.column(schema.vocabularies.get(&column), params.min_count, self.unit)
                }
            }
        });
        Encoder::new(try_collect(columns)?, params.tilings, false)
    }

    /// Lets `work` add the values of each numeric column.
    fn each_number(
        &mut self,
        dense: &dyn Dense,
        weights: Option<&[f64]>,
        threads: &Threads,
        stop: &Stop,
        work: impl Fn(&mut Numbers, &[f32], UnitWeights, &mut Buffers) -> Result<()> + Sync + Send,
    ) -> Result<()> {
        let (samples, unit) = (dense.samples(), self.unit);
        let columns = self.columns.iter_mut().enumerate();
        let mut numeric = collect(columns.filter_map(|(column, sketch)| match sketch {
            ColumnSketch::Numbers(numbers) => Some((column, numbers)),
            ColumnSketch::Categories(_) => None,
        }))?;
        let mut values = Vec::new();
        for stripe in numeric.chunks_mut(stripe::width(samples)) {
            let columns = collect(stripe.iter().map(|(column, _)| *column))?;
            resize(&mut values, stripe.len() * samples, 0.0)?;
            stripe::copy_columns(dense, &columns, &mut values, threads, stop)?;
            let each = stripe.iter_mut().zip(values.chunks(samples.max(1)));
            threads.map(each, Buffers::default, |buffers, ((_, numbers), values)| {
                stop.check()?;
                work(numbers, values, weights.map(|weights| (weights, unit)), buffers)
            })?;
        }
        Ok(())
    }

    fn check_width(&self, dense: &dyn Dense) -> Result<()> {
        if dense.columns() == self.columns.len() {
            return Ok(());
        }
        let must = format!("have {} features, as the first samples have", self.columns.len());
        Err(Error::value("X", must, dense.columns()))
    }
}

impl Numbers {
    fn column(&self, params: &EncodingParams) -> Result<Option<Column>> {
        let mut all = self.all.copied()?;
        all.refine(&self.heavy, &self.fine)?;
        let distinct = Distinct::of(&all);
        let column = || params.intervals(&distinct, |cells| distinct.edges(params.binning, cells));
        (!distinct.is_constant()).then(column).transpose()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::data::{Dataset, Labels, Matrix, Table, Target};
    use proptest::prelude::*;

    const WIDTH: usize = 3;

    /// Numbers, numbers with NaN of which most are close together, and categories.
    fn samples(seed: u64, count: usize) -> Vec<f32> {
        let draw = |i: u64, column: u64| (crate::hash::mix(seed, i * 3 + column) >> 40) as f32;
        let sample = |i: u64| {
            let wide = f32::from_bits((draw(i, 1) as u32).reverse_bits() & 0x7f7f_ffff);
            let dense = if i.is_multiple_of(3) { 1e4 + wide.fract() } else { wide };
            [draw(i, 0) / 1000.0, if i.is_multiple_of(11) { f32::NAN } else { dense }, draw(i, 2) % 13.0]
        };
        (0..count as u64).flat_map(sample).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]
        #[test]
        fn parts_teach_the_same_encoder_as_all_samples(
            seed in any::<u64>(),
            count in prop::sample::select(vec![1_usize, 40, 3_000, 150_000]),
            weighted in any::<bool>(),
            binning in prop::sample::select(vec![Binning::Quantile, Binning::Tails, Binning::Uniform]),
            bins in 5_u32..200,
            parts in 1_usize..5,
        ) {
            let values = samples(seed, count);
            let weight: Vec<f64> = (0..count).map(|i| (i % 5) as f64 * 0.37).collect();
            let weight = weighted.then_some(&weight[..]);
            let params = EncodingParams { bins, tilings: 4, binning, min_count: 2.0, raw: false };
            let schema = Schema { categorical: vec![2], ..Schema::numeric(Labels::counting(2).unwrap()) };
            let (threads, stop) = (Threads::single(), Stop::default());
            let matrix = Matrix::new(&values, WIDTH);
            let table = Table::Dense(&matrix);
            let dataset = Dataset { table, target: Target::classes(&vec![0.0; count], 2).unwrap(), weight };
            let whole = Encoder::fit(&dataset, &schema, &params, &threads, &stop).unwrap();

            let largest = weight.map(|weight| weight.iter().copied().fold(0.0, f64::max));
            let mut found = Sketches::new(WIDTH, &[2], largest).unwrap();
            let size = count.div_ceil(parts);
            let all_parts = || values.chunks(size * WIDTH).enumerate().map(|(i, part)| {
                let samples = part.len() / WIDTH;
                (Matrix::new(part, WIDTH), weight.map(|weight| &weight[i * size..][..samples]))
            });
            for (part, weight) in all_parts() {
                let mut own = Sketches::new(WIDTH, &[2], largest).unwrap();
                own.add(&part, weight, &threads, &stop).unwrap();
                found.merge(&own).unwrap();
            }
            if found.start_second_pass(&params).unwrap() {
                for (part, weight) in all_parts() {
                    found.add_again(&part, weight, &threads, &stop).unwrap();
                }
            }
            prop_assert_eq!(found.encoder(&schema, &params).unwrap(), whole);
        }
    }
}
