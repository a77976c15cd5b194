//! Edges where the target changes.
//!
//! Cut a feature at quantiles into twice as many groups as it may have cells, then join groups so that the cells differ
//! in the target as much as they can: Σ (sum of the target in a cell)² / (weight of the cell) is greatest, summed over
//! classes, by dynamic programming. As cells are made of quantile groups, none is tiny: that keeps what the feature has to
//! say together with others, which its own relation to the target does not show. Time grows with the cube of the cells,
//! so features of very many are left at their quantiles, which then are close together anyway.
#![allow(clippy::indexing_slicing)] // groups are counted before they are summed

/// What the rows of a table are to be told apart by.
#[derive(Clone, Copy, Debug)]
pub enum Truth<'a> {
    /// The number of each row's class, and how many classes there are.
    Classes(&'a [u32], usize),
    /// A number for each row.
    Numbers(&'a [f64]),
}

/// Groups that a cell has, on average.
pub const GROUPS_A_CELL: usize = 2;
/// Features of more cells are left at their quantiles.
pub const MOST_CELLS: usize = 128;

/// The target of groups of rows, added up.
pub struct Sums {
    width: usize,
    /// A weight and `width` sums for each group, added up over the groups before it as well.
    totals: Vec<f64>,
}

impl Truth<'_> {
    /// How many sums a group has.
    fn width(self) -> usize {
        match self {
            Self::Classes(_, 2) | Self::Numbers(_) => 1,
            Self::Classes(_, classes) => classes,
        }
    }

    /// Add up by groups; the rows are given with their group and weight.
    pub fn sums(self, groups: usize, rows: impl Iterator<Item = (usize, usize, f64)>) -> Sums {
        let width = self.width();
        let mut totals = vec![0.0; (groups + 1) * (width + 1)];
        for (row, group, weight) in rows {
            let own = &mut totals[(group + 1) * (width + 1)..][..=width];
            own[0] += weight;
            match self {
                Self::Classes(of, 2) => own[1] += weight * f64::from(of[row]),
                Self::Classes(of, _) => own[1 + of[row] as usize] += weight,
                Self::Numbers(of) => own[1] += weight * of[row],
            }
        }
        for at in width + 1..totals.len() {
            totals[at] += totals[at - (width + 1)];
        }
        Sums { width, totals }
    }
}

impl Sums {
    fn groups(&self) -> usize {
        self.totals.len() / (self.width + 1) - 1
    }

    /// What a cell of the groups from `first` to before `end` is worth.
    fn worth(&self, first: usize, end: usize) -> f64 {
        let at = |group: usize| &self.totals[group * (self.width + 1)..][..=self.width];
        let (before, after, all) = (at(first), at(end), at(self.groups()));
        let weight = after[0] - before[0];
        if weight <= 0.0 {
            return 0.0;
        }
        let apart = |i: usize| after[i] - before[i] - weight * all[i] / all[0];
        (1..=self.width).map(|i| apart(i) * apart(i)).sum::<f64>() / weight
    }

    /// The groups at which cells begin, the first left out, for `cells` cells; there are at least as many groups.
    pub fn best_cuts(&self, cells: usize) -> Vec<usize> {
        let groups = self.groups();
        let worths: Vec<Vec<f64>> = (0..=groups)
            .map(|end| (0..end).map(|first| self.worth(first, end)).collect())
            .collect();
        // best[end]: the most that the groups before `end` are worth with so many cells; began: where the last of them begins.
        let mut best: Vec<f64> = (0..=groups).map(|end| self.worth(0, end)).collect();
        let mut began = Vec::with_capacity(cells);
        for cell in 1..cells {
            let mut next = vec![f64::NEG_INFINITY; groups + 1];
            let mut from = vec![0; groups + 1];
            for end in cell + 1..=groups {
                let last = best.iter().zip(&worths[end]).enumerate().skip(cell);
                for (first, (before, worth)) in last {
                    if before + worth > next[end] {
                        (next[end], from[end]) = (before + worth, first);
                    }
                }
            }
            best = next;
            began.push(from);
        }
        let mut cuts = Vec::with_capacity(cells);
        let mut end = groups;
        for from in began.iter().rev() {
            end = from[end];
            cuts.push(end);
        }
        cuts.reverse();
        cuts
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn worth_of(sums: &Sums, cuts: &[usize]) -> f64 {
        let ends = cuts.iter().copied().chain([sums.groups()]);
        let mut first = 0;
        ends.map(|end| sums.worth(std::mem::replace(&mut first, end), end)).sum()
    }

    proptest! {
        #[test]
        fn no_other_cuts_are_better(
            of in prop::collection::vec((0_u32..3, 0_usize..7, 1_u32..4), 7..60),
            other in prop::sample::subsequence(vec![1_usize, 2, 3, 4, 5, 6], 3),
        ) {
            let classes: Vec<u32> = of.iter().map(|row| row.0).collect();
            let rows = of.iter().enumerate().map(|(i, row)| (i, row.1, f64::from(row.2)));
            let sums = Truth::Classes(&classes, 3).sums(7, rows);
            let cuts = sums.best_cuts(4);
            prop_assert_eq!(cuts.len(), 3);
            prop_assert!(cuts.is_sorted_by(|a, b| a < b) && cuts[0] > 0 && cuts[2] < 7);
            prop_assert!(worth_of(&sums, &cuts) >= worth_of(&sums, &other) - 1e-9);
        }
    }

    #[test]
    fn cells_end_where_the_target_changes() {
        let numbers: Vec<f64> =
            (0..80).map(|i| if (20..50).contains(&i) { 3.0 } else { -1.0 }).collect();
        let sums = Truth::Numbers(&numbers).sums(8, (0..80).map(|i| (i, i / 10, 1.0)));
        assert_eq!(sums.best_cuts(3), [2, 5]);
    }
}
