//! The distinct values of a numeric column, and edges between them that take few bytes.

use super::quantile::quantile_cuts;
use crate::Result;
use crate::encoding::edges::{self, Edges};
use crate::encoding::{Codebook, Spacing};
use crate::memory::with_capacity;

/// The distinct values of a column as ascending keys, with the weight of each.
#[derive(Clone, Debug, Default)]
pub struct Distinct {
    keys: Vec<i32>,
    weights: Vec<f64>,
    has_missing: bool,
}

impl Distinct {
    /// Sorts and counts values, ignoring those of zero weight.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(values: &[f32], weights: Option<&[f64]>) -> Result<Self> {
        let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
        let counted = || values.iter().enumerate().filter(|&(i, _)| weight(i) > 0.0);
        let has_missing = counted().any(|(_, value)| value.is_nan());
        let present = counted().filter(|(_, value)| !value.is_nan());
        if weights.is_none() {
            let mut sorted: Vec<i32> = with_capacity(values.len())?;
            sorted.extend(present.map(|(_, &value)| edges::key(value)));
            sorted.sort_unstable();
            let runs = || sorted.chunk_by(|a, b| a == b);
            let each = runs().map(|run| (run[0], run.len() as f64));
            Self::collect(runs().count(), each, has_missing)
        } else {
            let mut sorted: Vec<(i32, f64)> = with_capacity(values.len())?;
            sorted.extend(present.map(|(i, &value)| (edges::key(value), weight(i))));
            sorted.sort_by_key(|&(key, _)| key);
            let runs = || sorted.chunk_by(|a, b| a.0 == b.0);
            let sum = |run: &[(i32, f64)]| run.iter().map(|&(_, weight)| weight).sum();
            Self::collect(runs().count(), runs().map(|run| (run[0].0, sum(run))), has_missing)
        }
    }

    fn collect(
        count: usize,
        each: impl Iterator<Item = (i32, f64)>,
        has_missing: bool,
    ) -> Result<Self> {
        let (mut keys, mut weights) = (with_capacity(count)?, with_capacity(count)?);
        for (key, weight) in each {
            keys.push(key);
            weights.push(weight);
        }
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
    pub fn keys(&self) -> &[i32] {
        &self.keys
    }

    /// Returns the weight of each value.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Returns whether NaN is among the values.
    pub fn has_missing(&self) -> bool {
        self.has_missing
    }

    /// Returns the total weight of all values but NaN.
    pub fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// Returns edges at quantiles, for `cells` cells at most.
    pub fn quantile_edges(&self, cells: usize) -> Edges {
        if cells < self.len() {
            self.shortest_edges(&quantile_cuts(&self.weights, cells))
        } else {
            self.edges_between_all()
        }
    }

    /// Returns equally spaced edges over the range of the finite values.
    pub fn uniform_edges(&self, cells: usize) -> Edges {
        if cells >= self.len() {
            return self.edges_between_all();
        }
        let finite = || {
            self.keys.iter().map(|&key| f64::from(edges::number(key))).filter(|x| x.is_finite())
        };
        let (low, high) = (finite().fold(f64::MAX, f64::min), finite().fold(f64::MIN, f64::max));
        let width = (high - low) / cells as f64;
        let exact: Vec<f64> = (1..cells).map(|i| low + width * i as f64).collect();
        let keys: Vec<i32> = exact.iter().map(|&edge| edges::key(edge as f32)).collect();
        for precision in Precision::candidates(&keys) {
            let rounded: Vec<i32> = keys.iter().map(|&key| precision.nearest(key)).collect();
            let is_near = |(&edge, &exact): (&i32, &f64)| {
                (f64::from(edges::number(edge)) - exact).abs() <= width / 4.0
            };
            if rounded.is_sorted_by(|a, b| a < b) && rounded.iter().zip(&exact).all(is_near) {
                return Edges::new(rounded);
            }
        }
        // The range is too narrow to be cut evenly in float32.
        self.quantile_edges(cells)
    }

    fn edges_between_all(&self) -> Edges {
        self.shortest_edges(&(1..self.len()).collect::<Vec<_>>())
    }

    /// Returns edges between the values before and at each cut, in the fewest bytes that keep the weight of every cell
    /// within a quarter of what it would be.
    pub fn shortest_edges(&self, cuts: &[usize]) -> Edges {
        let wanted = self.cell_weights(cuts);
        let middles: Vec<i32> = cuts.iter().map(|&cut| self.middle(cut)).collect();
        for precision in Precision::candidates(&middles) {
            let rounded: Vec<i32> = cuts
                .iter()
                .zip(&middles)
                .map(|(&cut, &middle)| self.edge_near(cut, middle, precision))
                .collect();
            if !rounded.is_sorted_by(|a, b| a < b) {
                continue;
            }
            let moved: Vec<usize> =
                rounded.iter().map(|edge| self.keys.partition_point(|key| key < edge)).collect();
            let is_near = |(now, then): (f64, &f64)| (now - then).abs() <= then / 4.0;
            if self.cell_weights(&moved).into_iter().zip(&wanted).all(is_near) {
                return Edges::new(rounded);
            }
        }
        Edges::new(cuts.iter().map(|&cut| self.keys[cut]).collect())
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

    fn cell_weights(&self, cuts: &[usize]) -> Vec<f64> {
        let ends = cuts.iter().copied().chain([self.len()]);
        let mut first = 0;
        ends.map(|end| self.weights[std::mem::replace(&mut first, end).min(end)..end].iter().sum())
            .collect()
    }
}

/// The edges that a number of bytes can express.
#[derive(Clone, Copy)]
enum Precision {
    /// One byte each.
    Code(Codebook),
    /// So many leading bytes of the key.
    Leading(u8),
}

impl Precision {
    /// Returns the precisions to try for edges near these keys, the shortest first.
    fn candidates(keys: &[i32]) -> impl Iterator<Item = Self> {
        let spacings = keys.first().map_or(&[][..], |&first| Spacing::candidates(first));
        let books = spacings.iter().filter_map(|&spacing| Codebook::covering(spacing, keys));
        let books: Vec<Self> = books.map(Self::Code).collect();
        books.into_iter().chain((2..=4).map(Self::Leading))
    }

    /// Returns the largest edge that is not above a key, or the first one if all are above.
    fn last_not_above(self, key: i32) -> i32 {
        match self {
            Self::Code(book) => book.edge(book.last_not_above(key).unwrap_or(0)).unwrap_or(key),
            Self::Leading(bytes) => edges::from_leading(edges::leading(key, bytes), bytes),
        }
    }

    /// Returns the edge nearest to a key.
    fn nearest(self, key: i32) -> i32 {
        let below = self.last_not_above(key);
        let above = match self {
            Self::Code(book) => {
                let next = book.last_not_above(key).map_or(Some(0), |code| code.checked_add(1));
                next.and_then(|code| book.edge(code))
            }
            Self::Leading(bytes) => {
                let next = edges::leading(key, bytes).checked_add(1);
                next.map(|next| edges::from_leading(next, bytes)).filter(|&edge| edge > below)
            }
        };
        let distance =
            |edge: i32| (f64::from(edges::number(edge)) - f64::from(edges::number(key))).abs();
        above.filter(|&above| distance(above) < distance(below)).unwrap_or(below)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn edges_take_few_bytes_and_keep_the_cells() {
        let values: Vec<f32> = (0..1000).map(|i| (i as f32).mul_add(0.017, -3.0)).collect();
        let edges = Distinct::new(&values, None).unwrap().quantile_edges(16);
        assert_eq!(edges.len(), 15);
        assert!(Codebook::containing(Spacing::Signed, edges.keys()).is_some());
        let wide: Vec<f32> = values.iter().map(|x| libm::expf(x * 0.5)).collect();
        let edges = Distinct::new(&wide, None).unwrap().quantile_edges(16);
        assert!(Codebook::containing(Spacing::Logarithmic, edges.keys()).is_some(), "{edges:?}");
        let far: Vec<f32> = values.iter().map(|x| x.mul_add(1e-2, 77.0)).collect();
        let edges = Distinct::new(&far, None).unwrap().quantile_edges(16);
        assert_eq!(edges::min_bytes(edges.keys()), 3);
    }
}
