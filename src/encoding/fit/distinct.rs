//! The distinct values of a numeric column, and edges between them that take few bytes.

use super::Binning;
use super::buffers::Buffers;
use super::precision::Precision;
use super::quantile::quantile_cuts;
use super::sketch::{Bucket, Sketch, UnitWeights, total};
use super::tails::tail_cuts;
use super::weights::Weights;
use crate::memory::collect;
use crate::Result;
use crate::encoding::edges::{self, Edges};
use crate::threads::Stop;

/// The distinct values of a column, ascending, with their weights. Of very many, neighbouring ones count as one.
#[derive(Clone, Copy, Debug)]
pub struct Distinct<'a> {
    buckets: &'a [Bucket],
    has_missing: bool,
}

/// What distinct values are found in, reused from column to column.
#[derive(Debug, Default)]
pub struct Scratch {
    buffers: Buffers,
    sketch: Sketch,
}

impl<'a> Distinct<'a> {
    /// Finds the distinct values and adds up their weights, ignoring values of zero weight. It tells apart what matters
    /// for this number of cells.
    ///
    /// # Errors
    /// If there is not enough memory, or it is stopped.
    pub fn new(
        values: &[f32],
        weights: UnitWeights,
        cells: usize,
        scratch: &'a mut Scratch,
        stop: &Stop,
    ) -> Result<Self> {
        let Scratch { buffers, sketch } = scratch;
        sketch.clear();
        sketch.add(values, weights, buffers, stop)?;
        let heavy = sketch.heavy(cells)?;
        if !heavy.is_empty() {
            let mut fine = Sketch::default();
            heavy.add(&mut fine, values, weights, buffers, stop)?;
            sketch.refine(&heavy, &fine)?;
        }
        Ok(Self::of(sketch))
    }

    /// Takes the buckets of a sketch.
    pub fn of(sketch: &'a Sketch) -> Self {
        Self { buckets: sketch.buckets(), has_missing: sketch.has_missing() }
    }

    /// Returns whether there is nothing to tell values apart by.
    pub fn is_constant(&self) -> bool {
        let is_single = matches!(self.buckets, [only] if only.low == only.high);
        self.is_empty() || (is_single && !self.has_missing)
    }

    /// Returns whether there is no value but NaN.
    pub fn is_empty(&self) -> bool {
        self.buckets.is_empty()
    }

    /// Returns the number of distinct values.
    pub fn len(&self) -> usize {
        self.buckets.len()
    }

    /// Returns the key of a value, the smallest if several count as one.
    pub fn key(&self, i: usize) -> i32 {
        self.buckets[i].low
    }

    /// Returns the weight of each value.
    pub fn weights(&self) -> Weights<'a> {
        Weights(self.buckets)
    }

    /// Returns whether NaN is among the values.
    pub fn has_missing(&self) -> bool {
        self.has_missing
    }

    /// Returns the total weight of all values but NaN, in units.
    pub fn weight(&self) -> u64 {
        total(self.buckets)
    }

    /// Returns edges for `cells` cells at most; those that follow the target need more than is known here.
    pub fn edges(&self, binning: Binning, cells: usize) -> Result<Edges> {
        match binning {
            Binning::Quantile | Binning::Supervised => self.quantile_edges(cells),
            Binning::Uniform => self.uniform_edges(cells),
            Binning::Tails => self.tail_edges(cells),
        }
    }

    /// Returns edges at quantiles, for `cells` cells at most.
    pub fn quantile_edges(&self, cells: usize) -> Result<Edges> {
        if cells < self.len() {
            self.shortest_edges(&quantile_cuts(self.weights(), cells)?)
        } else {
            self.edges_between_all()
        }
    }

    /// Returns edges that leave cells for long tails, for `cells` cells at most.
    pub fn tail_edges(&self, cells: usize) -> Result<Edges> {
        if cells < self.len() {
            self.shortest_edges(&tail_cuts(self, cells)?)
        } else {
            self.edges_between_all()
        }
    }

    /// Returns equally spaced edges over the range of the finite values.
    pub fn uniform_edges(&self, cells: usize) -> Result<Edges> {
        if cells >= self.len() {
            return self.edges_between_all();
        }
        let numbers = || self.buckets.iter().flat_map(|bucket| [bucket.low, bucket.high]).map(edges::number);
        let mut finite = numbers().map(f64::from).filter(|x| x.is_finite());
        let low = finite.next().unwrap_or(f64::MAX);
        let high = finite.next_back().unwrap_or(low);
        let width = (high - low) / cells as f64;
        let exact = collect((1..cells).map(|i| low + width * i as f64))?;
        let keys = collect(exact.iter().map(|&edge| edges::key(edge as f32)))?;
        for precision in Precision::candidates(&keys) {
            let rounded = collect(keys.iter().map(|&key| precision.nearest(key)))?;
            let is_near = |(&edge, &exact): (&i32, &f64)| {
                (f64::from(edges::number(edge)) - exact).abs() <= width / 4.0
            };
            if rounded.is_sorted_by(|a, b| a < b) && rounded.iter().zip(&exact).all(is_near) {
                return Ok(Edges::new(rounded));
            }
        }
        // The range is too narrow to be cut evenly in float32.
        self.quantile_edges(cells)
    }

    fn edges_between_all(&self) -> Result<Edges> {
        self.shortest_edges(&collect(1..self.len())?)
    }

    /// Returns edges between the values before and at each cut, in the fewest bytes that keep the weight of every cell
    /// within a quarter of what it would be.
    pub fn shortest_edges(&self, cuts: &[usize]) -> Result<Edges> {
        let wanted = self.cell_weights(cuts)?;
        let middles = collect(cuts.iter().map(|&cut| self.middle(cut)))?;
        for precision in Precision::candidates(&middles) {
            let near = |(&cut, &middle)| self.edge_near(cut, middle, precision);
            let rounded = collect(cuts.iter().zip(&middles).map(near))?;
            if !rounded.is_sorted_by(|a, b| a < b) {
                continue;
            }
            let cut = |edge: &i32| self.buckets.partition_point(|bucket| bucket.low < *edge);
            let moved = collect(rounded.iter().map(cut))?;
            let is_near = |(now, then): (f64, &f64)| (now - then).abs() <= then / 4.0;
            if self.cell_weights(&moved)?.into_iter().zip(&wanted).all(is_near) {
                return Ok(Edges::new(rounded));
            }
        }
        Ok(Edges::new(collect(cuts.iter().map(|&cut| self.key(cut)))?))
    }

    /// Returns the key of the number midway between the values before and at a cut.
    fn middle(&self, cut: usize) -> i32 {
        let (low, high) = (self.buckets[cut - 1].high, self.buckets[cut].low);
        let middle = f64::midpoint(edges::number(low).into(), edges::number(high).into());
        if middle.is_nan() { high } else { edges::key(middle as f32) }
    }

    /// Returns an edge near the middle of a cut that separates the values on both sides, if the precision allows.
    fn edge_near(&self, cut: usize, middle: i32, precision: Precision) -> i32 {
        let (low, high) = (self.buckets[cut - 1].high, self.buckets[cut].low);
        let near = precision.nearest(middle);
        let last = precision.last_not_above(high);
        if (near <= low || near > high) && last > low { last } else { near }
    }

    fn cell_weights(&self, cuts: &[usize]) -> Result<Vec<f64>> {
        let ends = cuts.iter().copied().chain([self.len()]);
        let mut first = 0;
        let weight = |end| self.weights().sum(std::mem::replace(&mut first, end).min(end)..end);
        collect(ends.map(weight))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::encoding::{Codebook, Spacing};

    #[test]
    fn edges_take_few_bytes_and_keep_the_cells() {
        let edges = |values: &[f32]| {
            let (mut scratch, stop) = (Scratch::default(), Stop::default());
            Distinct::new(values, None, 16, &mut scratch, &stop).unwrap().quantile_edges(16).unwrap()
        };
        let values: Vec<f32> = (0..1000).map(|i| (i as f32).mul_add(0.017, -3.0)).collect();
        let even = edges(&values);
        assert_eq!(even.len(), 15);
        assert!(Codebook::containing(Spacing::Signed, even.keys()).is_some());
        let wide = edges(&values.iter().map(|x| libm::expf(x * 0.5)).collect::<Vec<_>>());
        assert!(Codebook::containing(Spacing::Logarithmic, wide.keys()).is_some(), "{wide:?}");
        let far = edges(&values.iter().map(|x| x.mul_add(1e-2, 77.0)).collect::<Vec<_>>());
        assert_eq!(edges::min_bytes(far.keys()), 3);
    }
}
