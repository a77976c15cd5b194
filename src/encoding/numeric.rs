//! Where to cut a numeric feature.
//!
//! Quantiles that know of spikes: a value that alone holds more than its share of the rows takes one cell, and the
//! others share what is left, again and again until none is too heavy. The runs of light values between the spikes get
//! cells in proportion to their weight, and each run is cut into cells of equal weight.
#![allow(clippy::indexing_slicing)] // cuts are places in the list that they cut

use super::codes::{Codes, Form};
use super::keys::{self, Edges};
use super::supervised::{GROUPS_A_CELL, MOST_CELLS, Truth};
use crate::Result;
use crate::error::room;

/// The distinct values of a feature as ascending keys, and the weight of each.
#[derive(Clone, Debug, Default)]
pub struct Distinct {
    keys: Vec<i32>,
    weights: Vec<f64>,
    missing: bool,
}

impl Distinct {
    /// Sort and count. Values of zero weight count for nothing.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(values: &[f32], weights: Option<&[f64]>) -> Result<Self> {
        let weight = |row: usize| weights.map_or(1.0, |weights| weights[row]);
        let counted = || values.iter().enumerate().filter(|&(row, _)| weight(row) > 0.0);
        let missing = counted().any(|(_, value)| value.is_nan());
        let present = counted().filter(|(_, value)| !value.is_nan());
        if weights.is_none() {
            let mut sorted: Vec<i32> = room(values.len())?;
            sorted.extend(present.map(|(_, &value)| keys::key(value)));
            sorted.sort_unstable();
            let runs = || sorted.chunk_by(|a, b| a == b);
            let each = runs().map(|run| (run[0], run.len() as f64));
            Self::collect(runs().count(), each, missing)
        } else {
            let mut sorted: Vec<(i32, f64)> = room(values.len())?;
            sorted.extend(present.map(|(row, &value)| (keys::key(value), weight(row))));
            sorted.sort_by_key(|&(key, _)| key);
            let runs = || sorted.chunk_by(|a, b| a.0 == b.0);
            let sum = |run: &[(i32, f64)]| run.iter().map(|&(_, weight)| weight).sum();
            Self::collect(runs().count(), runs().map(|run| (run[0].0, sum(run))), missing)
        }
    }

    fn collect(
        count: usize,
        each: impl Iterator<Item = (i32, f64)>,
        missing: bool,
    ) -> Result<Self> {
        let mut distinct = Self { keys: room(count)?, weights: room(count)?, missing };
        each.for_each(|(key, weight)| distinct.push(key, weight));
        Ok(distinct)
    }

    fn push(&mut self, key: i32, weight: f64) {
        self.keys.push(key);
        self.weights.push(weight);
    }

    /// Whether there is no value but NaN.
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Number of distinct values.
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Whether NaN is among the values.
    pub fn missing(&self) -> bool {
        self.missing
    }

    /// Weight of all values but NaN.
    pub fn weight(&self) -> f64 {
        self.weights.iter().sum()
    }

    /// Edges at quantiles, for `cells` cells at most.
    pub fn quantile_edges(&self, cells: usize) -> Edges {
        if cells < self.len() {
            self.shortest(&quantile_cuts(&self.weights, cells))
        } else {
            self.edge_each()
        }
    }

    /// Edges at equal distances over the finite values.
    pub fn uniform_edges(&self, cells: usize) -> Edges {
        if cells >= self.len() {
            return self.edge_each();
        }
        let finite =
            || self.keys.iter().map(|&key| f64::from(keys::number(key))).filter(|x| x.is_finite());
        let (low, high) = (finite().fold(f64::MAX, f64::min), finite().fold(f64::MIN, f64::max));
        let width = (high - low) / cells as f64;
        let exact: Vec<f64> = (1..cells).map(|i| low + width * i as f64).collect();
        let wanted: Vec<i32> = exact.iter().map(|&edge| keys::key(edge as f32)).collect();
        for grid in grids(&wanted) {
            let edges: Vec<i32> = wanted.iter().map(|&edge| grid.nearest(edge)).collect();
            let near = |(&edge, &exact): (&i32, &f64)| {
                (f64::from(keys::number(edge)) - exact).abs() <= width / 4.0
            };
            if edges.is_sorted_by(|a, b| a < b) && edges.iter().zip(&exact).all(near) {
                return Edges::new(edges);
            }
        }
        // Narrower than float32 can cut: quantiles can.
        self.quantile_edges(cells)
    }

    fn edge_each(&self) -> Edges {
        self.shortest(&(1..self.len()).collect::<Vec<_>>())
    }

    /// Edges between the values before and at each cut, in the fewest bytes that keep every cell's share within a
    /// quarter of what it was.
    fn shortest(&self, cuts: &[usize]) -> Edges {
        let wanted = self.shares(cuts);
        let middles: Vec<i32> = cuts.iter().map(|&cut| self.middle(cut)).collect();
        for grid in grids(&middles) {
            let edges: Vec<i32> = cuts
                .iter()
                .zip(&middles)
                .map(|(&cut, &middle)| self.edge(cut, middle, grid))
                .collect();
            if !edges.is_sorted_by(|a, b| a < b) {
                continue;
            }
            let moved: Vec<usize> =
                edges.iter().map(|edge| self.keys.partition_point(|key| key < edge)).collect();
            let near = |(now, then): (f64, &f64)| (now - then).abs() <= then / 4.0;
            if self.shares(&moved).into_iter().zip(&wanted).all(near) {
                return Edges::new(edges);
            }
        }
        Edges::new(cuts.iter().map(|&cut| self.keys[cut]).collect())
    }

    /// The key of the number midway between the values before and at a cut.
    fn middle(&self, cut: usize) -> i32 {
        let (low, high) = (self.keys[cut - 1], self.keys[cut]);
        let middle = f64::midpoint(keys::number(low).into(), keys::number(high).into());
        if middle.is_nan() { high } else { keys::key(middle as f32) }
    }

    /// An edge of a grid near the middle between two values, if possible on neither side of both.
    fn edge(&self, cut: usize, middle: i32, grid: Grid) -> i32 {
        let (low, high) = (self.keys[cut - 1], self.keys[cut]);
        let near = grid.nearest(middle);
        let last = grid.last_not_above(high);
        if (near <= low || near > high) && last > low { last } else { near }
    }

    /// Weight of each cell.
    fn shares(&self, cuts: &[usize]) -> Vec<f64> {
        let ends = cuts.iter().copied().chain([self.len()]);
        let mut first = 0;
        ends.map(|end| self.weights[std::mem::replace(&mut first, end).min(end)..end].iter().sum())
            .collect()
    }
}

/// A column: what it holds, row by row and sorted.
pub struct Sample<'a> {
    /// The distinct values.
    pub distinct: Distinct,
    /// The values.
    pub values: &'a [f32],
    /// The row of each value; None is 0, 1, 2, ….
    pub rows: Option<&'a [u32]>,
    /// The weight of each value; None is 1.
    pub weights: Option<&'a [f64]>,
}

impl Sample<'_> {
    /// Edges where the target changes, for `cells` cells at most.
    pub fn supervised_edges(&self, cells: usize, truth: Truth) -> Edges {
        let Self { distinct, values, rows, weights } = self;
        if cells >= distinct.len() || cells > MOST_CELLS {
            return distinct.quantile_edges(cells);
        }
        let groups = (GROUPS_A_CELL * cells).min(distinct.len());
        let fine = match distinct.len() {
            len if len == groups => (1..len).collect(),
            _ => quantile_cuts(&distinct.weights, groups),
        };
        let counted = values.iter().enumerate().filter_map(|(i, value)| {
            let weight = weights.map_or(1.0, |weights| weights[i]);
            let row = rows.map_or(i, |rows| rows[i] as usize);
            let key = keys::key(*value);
            let group = fine.partition_point(|&cut| distinct.keys[cut] <= key);
            (weight > 0.0 && !value.is_nan()).then_some((row, group, weight))
        });
        let cuts = truth.sums(groups, counted).best_cuts(cells);
        distinct.shortest(&cuts.into_iter().map(|cut| fine[cut - 1]).collect::<Vec<_>>())
    }
}

/// Where edges may lie, so that they take few bytes.
#[derive(Clone, Copy)]
enum Grid {
    /// One byte each.
    Codes(Codes),
    /// So many leading bytes of the key.
    Leading(u8),
}

/// The grids for edges near these keys, those of few bytes first.
fn grids(keys: &[i32]) -> impl Iterator<Item = Grid> {
    let forms = keys.first().map_or(&[][..], |&first| Form::candidates(first));
    let codes = forms.iter().filter_map(|&form| Codes::spanning(form, keys));
    let codes: Vec<Grid> = codes.map(Grid::Codes).collect();
    codes.into_iter().chain((2..=4).map(Grid::Leading))
}

impl Grid {
    /// The greatest edge that is not above a key; the first where all are.
    fn last_not_above(self, key: i32) -> i32 {
        match self {
            Self::Codes(codes) => codes.edge(codes.last_not_above(key).unwrap_or(0)).unwrap_or(key),
            Self::Leading(bytes) => keys::from_leading(keys::leading(key, bytes), bytes),
        }
    }

    /// The edge nearest to a key.
    fn nearest(self, key: i32) -> i32 {
        let below = self.last_not_above(key);
        let above = match self {
            Self::Codes(codes) => {
                let next = codes.last_not_above(key).map_or(Some(0), |code| code.checked_add(1));
                next.and_then(|code| codes.edge(code))
            }
            Self::Leading(bytes) => {
                let next = keys::leading(key, bytes).checked_add(1);
                next.map(|next| keys::from_leading(next, bytes)).filter(|&edge| edge > below)
            }
        };
        let apart =
            |edge: i32| (f64::from(keys::number(edge)) - f64::from(keys::number(key))).abs();
        above.filter(|&above| apart(above) < apart(below)).unwrap_or(below)
    }
}

/// Indices, ascending, at which to cut values of these weights into exactly `cells` cells; there are more values.
fn quantile_cuts(weights: &[f64], cells: usize) -> Vec<usize> {
    let heavy = spikes(weights, cells);
    let spike_count = heavy.iter().filter(|&&spike| spike).count();
    let mut runs: Vec<Run> = Vec::new();
    for (i, &spike) in heavy.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if !spike && !run.spike => run.grow(weights[i]),
            _ => runs.push(Run::new(i, weights[i], spike)),
        }
    }
    share_cells(&mut runs, cells - spike_count);
    let mut cuts: Vec<usize> = Vec::with_capacity(cells);
    for run in &runs {
        // A run without a cell of its own joins the spike before it, or the one after it.
        if run.cells > 0 {
            cuts.push(run.first);
            cut_evenly(&weights[run.first..run.first + run.len], run.cells, run.first, &mut cuts);
        }
    }
    cuts.remove(0);
    cuts
}

/// Values heavier than an equal share of what the heavier ones leave.
fn spikes(weights: &[f64], cells: usize) -> Vec<bool> {
    let mut heavy = vec![false; weights.len()];
    let (mut rest, mut free) = (weights.iter().sum::<f64>(), cells);
    while free > 1 {
        let share = rest / free as f64;
        let before = free;
        for (spike, &weight) in heavy.iter_mut().zip(weights) {
            if !*spike && weight > share && free > 1 {
                *spike = true;
                rest -= weight;
                free -= 1;
            }
        }
        if free == before {
            break;
        }
    }
    heavy
}

/// A spike, or light values between spikes.
struct Run {
    first: usize,
    len: usize,
    weight: f64,
    spike: bool,
    cells: usize,
}

impl Run {
    fn new(first: usize, weight: f64, spike: bool) -> Self {
        Self { first, len: 1, weight, spike, cells: usize::from(spike) }
    }

    fn grow(&mut self, weight: f64) {
        self.len += 1;
        self.weight += weight;
    }
}

/// Give each next cell to the light run whose cells are heaviest.
fn share_cells(runs: &mut [Run], cells: usize) {
    for _ in 0..cells {
        let open = runs.iter_mut().filter(|run| !run.spike && run.cells < run.len);
        let load = |run: &Run| run.weight / (run.cells as f64 + 0.5);
        if let Some(run) =
            open.max_by(|a, b| load(a).total_cmp(&load(b)).then(b.first.cmp(&a.first)))
        {
            run.cells += 1;
        }
    }
}

/// Cut a run into cells of about equal weight: each takes its share of what is left.
fn cut_evenly(weights: &[f64], cells: usize, first: usize, cuts: &mut Vec<usize>) {
    let mut rest: f64 = weights.iter().sum();
    let mut at = 0;
    for left in (2..=cells).rev() {
        let share = rest / left as f64;
        let latest = weights.len() - (left - 1);
        let mut taken = weights[at];
        at += 1;
        while at < latest && taken + weights[at] / 2.0 <= share {
            taken += weights[at];
            at += 1;
        }
        rest -= taken;
        cuts.push(first + at);
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn exactly_as_many_cells_as_asked_for(weights in prop::collection::vec(1_u32..1000, 3..200), cells in 1_usize..40) {
            let weights: Vec<f64> = weights.into_iter().map(f64::from).collect();
            prop_assume!(cells < weights.len());
            let cuts = quantile_cuts(&weights, cells);
            prop_assert_eq!(cuts.len(), cells - 1);
            prop_assert!(cuts.is_sorted_by(|a, b| a < b));
            prop_assert!(cuts.iter().all(|&cut| cut > 0 && cut < weights.len()));
        }
    }

    #[test]
    fn a_spike_takes_one_cell() {
        let mut weights = vec![1.0; 101];
        weights[0] = 900.0;
        let cuts = quantile_cuts(&weights, 11);
        assert_eq!(cuts[0], 1);
        assert!(cuts.windows(2).all(|pair| pair[1] - pair[0] == 10), "{cuts:?}");
    }

    #[test]
    fn edges_take_few_bytes_and_keep_the_cells() {
        let values: Vec<f32> = (0..1000).map(|i| (i as f32).mul_add(0.017, -3.0)).collect();
        let edges = Distinct::new(&values, None).unwrap().quantile_edges(16);
        assert_eq!(edges.len(), 15);
        assert!(Codes::holding(Form::Signed, edges.keys()).is_some());
        let wide: Vec<f32> = values.iter().map(|x| libm::expf(x * 0.5)).collect();
        let edges = Distinct::new(&wide, None).unwrap().quantile_edges(16);
        assert!(Codes::holding(Form::Logarithmic, edges.keys()).is_some(), "{edges:?}");
        let far: Vec<f32> = values.iter().map(|x| x.mul_add(1e-2, 77.0)).collect();
        let edges = Distinct::new(&far, None).unwrap().quantile_edges(16);
        assert_eq!(keys::least_bytes(edges.keys()), 3);
    }
}
