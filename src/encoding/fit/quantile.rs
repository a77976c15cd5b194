//! Quantiles that respect spikes.
//!
//! A value that alone holds more than an equal share of the weight takes one cell, and the others share what is left,
//! repeatedly until none is too heavy. The runs of light values between spikes get cells in proportion to their weight,
//! and each run is cut into cells of equal weight.

/// Returns ascending indices at which to cut values of these weights into exactly `cells` cells, which are fewer.
pub fn quantile_cuts(weights: &[f64], cells: usize) -> Vec<usize> {
    let is_spike = find_spikes(weights, cells);
    let spikes = is_spike.iter().filter(|&&spike| spike).count();
    let mut runs: Vec<Run> = Vec::new();
    for (i, &spike) in is_spike.iter().enumerate() {
        match runs.last_mut() {
            Some(run) if !spike && !run.is_spike => run.extend(weights[i]),
            _ => runs.push(Run::new(i, weights[i], spike)),
        }
    }
    share_cells(&mut runs, cells - spikes);
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

/// Marks values heavier than an equal share of what the heavier ones leave.
fn find_spikes(weights: &[f64], cells: usize) -> Vec<bool> {
    let mut is_spike = vec![false; weights.len()];
    let (mut rest, mut free) = (weights.iter().sum::<f64>(), cells);
    while free > 1 {
        let share = rest / free as f64;
        let before = free;
        for (spike, &weight) in is_spike.iter_mut().zip(weights) {
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
    is_spike
}

/// A spike, or the light values between two spikes.
struct Run {
    first: usize,
    len: usize,
    weight: f64,
    is_spike: bool,
    cells: usize,
}

impl Run {
    fn new(first: usize, weight: f64, is_spike: bool) -> Self {
        Self { first, len: 1, weight, is_spike, cells: usize::from(is_spike) }
    }

    fn extend(&mut self, weight: f64) {
        self.len += 1;
        self.weight += weight;
    }
}

/// Gives each further cell to the light run whose cells are heaviest.
fn share_cells(runs: &mut [Run], cells: usize) {
    for _ in 0..cells {
        let open = runs.iter_mut().filter(|run| !run.is_spike && run.cells < run.len);
        let load = |run: &Run| run.weight / (run.cells as f64 + 0.5);
        if let Some(run) =
            open.max_by(|a, b| load(a).total_cmp(&load(b)).then(b.first.cmp(&a.first)))
        {
            run.cells += 1;
        }
    }
}

/// Cuts a run into cells of about equal weight: each takes its share of what is left.
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
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn there_are_exactly_as_many_cells_as_requested(
            weights in prop::collection::vec(1_u32..1000, 3..200),
            cells in 1_usize..40,
        ) {
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
}
