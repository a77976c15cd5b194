//! Quantiles that respect spikes.
//!
//! A value that alone holds more than an equal share of the weight takes one cell, and the others share what is left,
//! repeatedly until none is too heavy. The runs of light values between spikes get cells in proportion to their weight,
//! and each run is cut into cells of equal weight.

use super::weights::Weights;
use crate::Result;
use crate::memory::{push, with_capacity};
use std::ops::Range;

/// Returns ascending indices at which to cut values of these weights into exactly `cells` cells, which are fewer.
pub fn quantile_cuts(weights: Weights, cells: usize) -> Result<Vec<usize>> {
    let spikes = find_spikes(weights, cells)?;
    let mut runs = with_capacity(2 * spikes.len() + 1)?;
    let mut first = 0;
    for &spike in &spikes {
        runs.extend(Run::light(weights, first..spike));
        runs.push(Run::spike(weights, spike));
        first = spike + 1;
    }
    runs.extend(Run::light(weights, first..weights.len()));
    share_cells(&mut runs, cells - spikes.len());
    let mut cuts: Vec<usize> = with_capacity(cells)?;
    for run in &runs {
        // A run without a cell of its own joins the spike before it, or the one after it.
        if run.cells > 0 {
            cuts.push(run.values.start);
            run.cut_evenly(weights, &mut cuts);
        }
    }
    cuts.remove(0);
    Ok(cuts)
}

/// Returns the values heavier than an equal share of what the heavier ones leave.
fn find_spikes(weights: Weights, cells: usize) -> Result<Vec<usize>> {
    let mut spikes = Vec::new();
    let (mut rest, mut free) = (weights.sum(0..weights.len()), cells);
    while free > 1 {
        let known = spikes.len();
        for value in weights.heavier_than(rest / free as f64) {
            if free > 1 && spikes[..known].binary_search(&value).is_err() {
                push(&mut spikes, value)?;
                rest -= weights.at(value);
                free -= 1;
            }
        }
        if spikes.len() == known {
            break;
        }
        spikes.sort_unstable();
    }
    Ok(spikes)
}

/// A spike, or the light values between two spikes.
struct Run {
    values: Range<usize>,
    weight: f64,
    is_spike: bool,
    cells: usize,
}

impl Run {
    fn spike(weights: Weights, value: usize) -> Self {
        Self { values: value..value + 1, weight: weights.at(value), is_spike: true, cells: 1 }
    }

    fn light(weights: Weights, values: Range<usize>) -> Option<Self> {
        let weight = weights.sum(values.clone());
        (!values.is_empty()).then_some(Self { values, weight, is_spike: false, cells: 0 })
    }

    /// Cuts the run into cells of about equal weight: each takes its share of what is left.
    fn cut_evenly(&self, weights: Weights, cuts: &mut Vec<usize>) {
        let Range { start: mut at, end } = self.values;
        let mut rest = self.weight;
        for left in (2..=self.cells).rev() {
            let cell = at..weights.end_of_cell(at..end - (left - 1), rest / left as f64);
            at = cell.end;
            rest -= weights.sum(cell);
            cuts.push(at);
        }
    }
}

/// Gives each further cell to the light run whose cells are heaviest.
fn share_cells(runs: &mut [Run], cells: usize) {
    for _ in 0..cells {
        let open = runs.iter_mut().filter(|run| !run.is_spike && run.cells < run.values.len());
        let load = |run: &Run| run.weight / (run.cells as f64 + 0.5);
        if let Some(run) =
            open.max_by(|a, b| load(a).total_cmp(&load(b)).then(b.values.start.cmp(&a.values.start)))
        {
            run.cells += 1;
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::sketch::Bucket;
    use super::*;
    use proptest::prelude::*;

    fn buckets(weights: &[u32]) -> Vec<Bucket> {
        let mut end = 0;
        let bucket = |(key, &weight): (i32, &u32)| {
            end += u64::from(weight);
            Bucket { low: key, high: key, end }
        };
        (0..).zip(weights).map(bucket).collect()
    }

    proptest! {
        #[test]
        fn there_are_exactly_as_many_cells_as_requested(
            weights in prop::collection::vec(1_u32..1000, 3..200),
            cells in 1_usize..40,
        ) {
            prop_assume!(cells < weights.len());
            let cuts = quantile_cuts(Weights(&buckets(&weights)), cells).unwrap();
            prop_assert_eq!(cuts.len(), cells - 1);
            prop_assert!(cuts.is_sorted_by(|a, b| a < b));
            prop_assert!(cuts.iter().all(|&cut| cut > 0 && cut < weights.len()));
        }
    }

    #[test]
    fn a_spike_takes_one_cell() {
        let mut weights = vec![1; 101];
        weights[0] = 900;
        let cuts = quantile_cuts(Weights(&buckets(&weights)), 11).unwrap();
        assert_eq!(cuts[0], 1);
        assert!(cuts.windows(2).all(|pair| pair[1] - pair[0] == 10), "{cuts:?}");
    }
}
