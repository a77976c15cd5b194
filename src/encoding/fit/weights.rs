//! The weights of the distinct values of a column.
//!
//! Sums of sample weights are rounded, so their order must never change. Counts are whole numbers and add up exactly in
//! any order: with counts of all values up to each one, a sum is a difference and a quantile a binary search.

use std::ops::Range;

/// A weight for each distinct value, in ascending order of the values.
#[derive(Clone, Copy, Debug)]
pub enum Weights<'a> {
    /// The weight of each value.
    Each(&'a [f64]),
    /// Whole numbers: the number of samples with this value or one before it.
    Counts(&'a [f64]),
}

/// Values that are searched for heavy ones at a time.
const BLOCK: usize = 64;

impl Weights<'_> {
    /// Returns the number of values.
    pub fn len(self) -> usize {
        match self {
            Self::Each(numbers) | Self::Counts(numbers) => numbers.len(),
        }
    }

    /// Returns the weight of a value.
    #[inline]
    pub fn at(self, i: usize) -> f64 {
        match self {
            Self::Each(weights) => weights[i],
            Self::Counts(ends) => ends[i] - before(ends, i),
        }
    }

    /// Returns the weight of a range of values.
    pub fn sum(self, range: Range<usize>) -> f64 {
        match self {
            Self::Each(weights) => weights[range].iter().sum(),
            Self::Counts(ends) => before(ends, range.end) - before(ends, range.start),
        }
    }

    /// Returns where to end a cell that begins with the first value of a range: where its weight comes closest to
    /// `share`, but not after the range, which is not empty.
    pub fn end_of_cell(self, range: Range<usize>, share: f64) -> usize {
        let mut at = range.start + 1;
        match self {
            Self::Each(weights) => {
                let mut taken = weights[range.start];
                while at < range.end && taken + weights[at] / 2.0 <= share {
                    taken += weights[at];
                    at += 1;
                }
            }
            Self::Counts(_) => {
                let mut end = range.end;
                while at < end {
                    let middle = usize::midpoint(at, end);
                    if self.sum(range.start..middle) + self.at(middle) / 2.0 <= share {
                        at = middle + 1;
                    } else {
                        end = middle;
                    }
                }
            }
        }
        at
    }

    /// Iterates over the values that are heavier than `limit`.
    pub fn heavier_than(self, limit: f64) -> impl Iterator<Item = usize> {
        let blocks = (0..self.len()).step_by(BLOCK);
        let range = move |first: usize| first..self.len().min(first + BLOCK);
        blocks
            .map(range)
            .filter(move |block| self.any_heavier(block.clone(), limit))
            .flatten()
            .filter(move |&i| self.at(i) > limit)
    }

    /// Returns whether any of some values is heavier than `limit`; compares many at once.
    fn any_heavier(self, range: Range<usize>, limit: f64) -> bool {
        match self {
            Self::Each(weights) => {
                weights[range].iter().filter(|&&weight| weight > limit).count() > 0
            }
            Self::Counts(_) if range.start == 0 => range.into_iter().any(|i| self.at(i) > limit),
            Self::Counts(ends) => {
                let (before, ends) = (&ends[range.start - 1..range.end - 1], &ends[range]);
                let weights = ends.iter().zip(before).map(|(end, before)| end - before);
                weights.filter(|&weight| weight > limit).count() > 0
            }
        }
    }
}

/// Returns the number of samples with a value before this one.
#[inline]
fn before(ends: &[f64], i: usize) -> f64 {
    i.checked_sub(1).map_or(0.0, |last| ends[last])
}
