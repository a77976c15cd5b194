//! Edges where the target changes.
//!
//! Cut a feature at quantiles into twice as many groups as it may have cells, then join neighbouring groups so that the
//! cells differ in the target as much as possible: maximize Σ (sum of the target in a cell)² / (weight of the cell),
//! summed over classes, by dynamic programming. Cells made of quantile groups are never tiny, which preserves what the
//! feature says in combination with others and its own relation to the target does not show. The time grows with the
//! cube of the number of cells, so features of very many cells keep their quantiles, which are dense enough anyway.

use super::distinct::Distinct;
use super::quantile::quantile_cuts;
use crate::Result;
use crate::memory::{collect, filled, try_collect, with_capacity};
use crate::data::Target;
use crate::encoding::edges::{self, Edges};

/// Quantile groups per cell.
const GROUPS_PER_CELL: usize = 2;
/// Features of more cells keep their quantiles.
const MAX_CELLS: usize = 128;

/// A column: its distinct values, and its values in the order of the samples.
pub struct Observed<'a> {
    pub distinct: Distinct<'a>,
    pub values: &'a [f32],
    /// The sample of each value; `None` is 0, 1, 2, ….
    pub samples: Option<&'a [u32]>,
    /// The weight of each value; `None` is 1.
    pub weights: Option<&'a [f64]>,
}

impl Observed<'_> {
    /// Returns edges where the target changes, for `cells` cells at most.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn supervised_edges(&self, cells: usize, target: &Target) -> Result<Edges> {
        let distinct = &self.distinct;
        if cells >= distinct.len() || cells > MAX_CELLS {
            return distinct.quantile_edges(cells);
        }
        let groups = (GROUPS_PER_CELL * cells).min(distinct.len());
        let fine = match distinct.len() {
            len if len == groups => collect(1..len)?,
            _ => quantile_cuts(distinct.weights(), groups)?,
        };
        let cuts = GroupSums::new(target, groups, self.grouped(&fine))?.best_cuts(cells)?;
        distinct.shortest_edges(&collect(cuts.into_iter().map(|cut| fine[cut - 1]))?)
    }

    /// Iterates over sample, group and weight of each value that counts.
    fn grouped(&self, cuts: &[usize]) -> impl Iterator<Item = (usize, usize, f64)> {
        self.values.iter().enumerate().filter_map(|(i, value)| {
            let weight = self.weights.map_or(1.0, |weights| weights[i]);
            let sample = self.samples.map_or(i, |samples| samples[i] as usize);
            let key = edges::key(*value);
            let group = cuts.partition_point(|&cut| self.distinct.key(cut) <= key);
            (weight > 0.0 && !value.is_nan()).then_some((sample, group, weight))
        })
    }
}

/// Prefix sums of the target over groups of samples.
struct GroupSums {
    width: usize,
    /// The weight and `width` sums of the target, over each group and those before it.
    totals: Vec<f64>,
}

impl GroupSums {
    /// Adds up the target, given the sample, group and weight of each value.
    fn new(
        target: &Target,
        groups: usize,
        values: impl Iterator<Item = (usize, usize, f64)>,
    ) -> Result<Self> {
        let width = target.outputs();
        let mut totals = filled((groups + 1) * (width + 1), 0.0)?;
        for (sample, group, weight) in values {
            let own = &mut totals[(group + 1) * (width + 1)..][..=width];
            own[0] += weight;
            match target {
                Target::Classes { of, classes: 2 } => own[1] += weight * f64::from(of[sample]),
                Target::Classes { of, .. } => own[1 + of[sample] as usize] += weight,
                Target::Numbers { standard, .. } => own[1] += weight * standard[sample],
            }
        }
        for at in width + 1..totals.len() {
            totals[at] += totals[at - (width + 1)];
        }
        Ok(Self { width, totals })
    }

    fn groups(&self) -> usize {
        self.totals.len() / (self.width + 1) - 1
    }

    /// Returns the gain of a cell made of the groups from `first` to before `end`.
    fn gain(&self, first: usize, end: usize) -> f64 {
        let at = |group: usize| &self.totals[group * (self.width + 1)..][..=self.width];
        let (before, after, all) = (at(first), at(end), at(self.groups()));
        let weight = after[0] - before[0];
        if weight <= 0.0 {
            return 0.0;
        }
        let deviation = |i: usize| after[i] - before[i] - weight * all[i] / all[0];
        (1..=self.width).map(|i| deviation(i) * deviation(i)).sum::<f64>() / weight
    }

    /// Returns the first group of each of `cells` cells, except that of the first cell. There are at least as many
    /// groups.
    fn best_cuts(&self, cells: usize) -> Result<Vec<usize>> {
        let groups = self.groups();
        let gains_of = |end| collect((0..end).map(|first| self.gain(first, end)));
        let gains = try_collect((0..=groups).map(gains_of))?;
        // best[end] is the largest gain of the groups before `end` in the current number of cells, and last_first[end]
        // the first group of the last of these cells.
        let mut best = collect((0..=groups).map(|end| self.gain(0, end)))?;
        let mut steps = with_capacity(cells)?;
        for cell in 1..cells {
            let mut next = filled(groups + 1, f64::NEG_INFINITY)?;
            let mut last_first = filled(groups + 1, 0)?;
            for end in cell + 1..=groups {
                let candidates = best.iter().zip(&gains[end]).enumerate().skip(cell);
                for (first, (before, gain)) in candidates {
                    if before + gain > next[end] {
                        (next[end], last_first[end]) = (before + gain, first);
                    }
                }
            }
            best = next;
            steps.push(last_first);
        }
        let mut cuts = with_capacity(cells)?;
        let mut end = groups;
        for last_first in steps.iter().rev() {
            end = last_first[end];
            cuts.push(end);
        }
        cuts.reverse();
        Ok(cuts)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn total_gain(sums: &GroupSums, cuts: &[usize]) -> f64 {
        let ends = cuts.iter().copied().chain([sums.groups()]);
        let mut first = 0;
        ends.map(|end| sums.gain(std::mem::replace(&mut first, end), end)).sum()
    }

    proptest! {
        #[test]
        fn no_other_cuts_are_better(
            of in prop::collection::vec((0_u32..3, 0_usize..7, 1_u32..4), 7..60),
            other in prop::sample::subsequence(vec![1_usize, 2, 3, 4, 5, 6], 3),
        ) {
            let classes = of.iter().map(|sample| sample.0).collect();
            let target = Target::Classes { of: classes, classes: 3 };
            let values = of.iter().enumerate().map(|(i, sample)| (i, sample.1, f64::from(sample.2)));
            let sums = GroupSums::new(&target, 7, values).unwrap();
            let cuts = sums.best_cuts(4).unwrap();
            prop_assert_eq!(cuts.len(), 3);
            prop_assert!(cuts.is_sorted_by(|a, b| a < b) && cuts[0] > 0 && cuts[2] < 7);
            prop_assert!(total_gain(&sums, &cuts) >= total_gain(&sums, &other) - 1e-9);
        }
    }

    #[test]
    fn cells_end_where_the_target_changes() {
        let standard = (0..80).map(|i| if (20..50).contains(&i) { 3.0 } else { -1.0 }).collect();
        let target = Target::Numbers { standard, center: 0.0, spread: 1.0, is_log: false };
        let sums = GroupSums::new(&target, 8, (0..80).map(|i| (i, i / 10, 1.0))).unwrap();
        assert_eq!(sums.best_cuts(3).unwrap(), [2, 5]);
    }
}
