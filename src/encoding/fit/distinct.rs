//! The distinct values of a numeric column, and edges between them that take few bytes.

use super::buffers::Buffers;
use super::precision::Precision;
use super::quantile::quantile_cuts;
use super::tails::tail_cuts;
use super::weights::Weights;
use crate::memory::collect;
use crate::Result;
use crate::encoding::edges::{self, Edges};
use crate::threads::Stop;

/// The distinct values of a column as ascending keys, with the weight of each.
#[derive(Clone, Debug)]
pub struct Distinct<'a> {
    keys: &'a [i32],
    weights: Weights<'a>,
    has_missing: bool,
}

impl<'a> Distinct<'a> {
    /// Finds the distinct values and adds up their weights, ignoring values of zero weight.
    ///
    /// # Errors
    /// If there is not enough memory, or it is stopped.
    pub fn new(
        values: &[f32],
        weights: Option<&[f64]>,
        buffers: &'a mut Buffers,
        stop: &Stop,
    ) -> Result<Self> {
        let has_missing = match weights {
            None => buffers.count(values, stop)?,
            Some(weights) => buffers.add_up(values, weights, stop)?,
        };
        let Buffers { keys, weights: sums, .. } = buffers;
        let weights = if weights.is_some() { Weights::Each(sums) } else { Weights::Counts(sums) };
        Ok(Self { keys, weights, has_missing })
    }

    /// Returns whether there is no value but NaN.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the number of distinct values.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns the distinct values as ascending keys.
    pub fn keys(&self) -> &'a [i32] {
        self.keys
    }

    /// Returns the weight of each value.
    pub fn weights(&self) -> Weights<'a> {
        self.weights
    }

    /// Returns whether NaN is among the values.
    pub fn has_missing(&self) -> bool {
        self.has_missing
    }

    /// Returns the total weight of all values but NaN.
    pub fn weight(&self) -> f64 {
        self.weights.sum(0..self.len())
    }

    /// Returns edges at quantiles, for `cells` cells at most.
    pub fn quantile_edges(&self, cells: usize) -> Result<Edges> {
        if cells < self.len() {
            self.shortest_edges(&quantile_cuts(self.weights, cells)?)
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
        let mut finite =
            self.keys.iter().map(|&key| f64::from(edges::number(key))).filter(|x| x.is_finite());
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
            let cut = |edge: &i32| self.keys.partition_point(|key| key < edge);
            let moved = collect(rounded.iter().map(cut))?;
            let is_near = |(now, then): (f64, &f64)| (now - then).abs() <= then / 4.0;
            if self.cell_weights(&moved)?.into_iter().zip(&wanted).all(is_near) {
                return Ok(Edges::new(rounded));
            }
        }
        Ok(Edges::new(collect(cuts.iter().map(|&cut| self.keys[cut]))?))
    }

    /// Returns the key of the number midway between the values before and at a cut.
    fn middle(&self, cut: usize) -> i32 {
        let (low, high) = (self.keys[cut - 1], self.keys[cut]);
        let middle = f64::midpoint(edges::number(low).into(), edges::number(high).into());
        if middle.is_nan() { high } else { edges::key(middle as f32) }
    }

    /// Returns an edge near the middle of a cut that separates the values on both sides, if the precision allows.
    fn edge_near(&self, cut: usize, middle: i32, precision: Precision) -> i32 {
        let (low, high) = (self.keys[cut - 1], self.keys[cut]);
        let near = precision.nearest(middle);
        let last = precision.last_not_above(high);
        if (near <= low || near > high) && last > low { last } else { near }
    }

    fn cell_weights(&self, cuts: &[usize]) -> Result<Vec<f64>> {
        let ends = cuts.iter().copied().chain([self.len()]);
        let mut first = 0;
        let weight = |end| self.weights.sum(std::mem::replace(&mut first, end).min(end)..end);
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
            let (mut buffers, stop) = (Buffers::default(), Stop::default());
            Distinct::new(values, None, &mut buffers, &stop).unwrap().quantile_edges(16).unwrap()
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
