//! The weights of the buckets of a column.
//!
//! They are whole numbers, which add up exactly in any order. A bucket has the weight of all up to its end, so a sum is a
//! difference and a quantile a binary search.

use super::sketch::Bucket;
use std::ops::Range;

/// Ascending buckets.
#[derive(Clone, Copy, Debug)]
pub struct Weights<'a>(pub &'a [Bucket]);

/// Buckets that are searched for heavy ones at a time.
const BLOCK: usize = 64;

impl Weights<'_> {
    /// Returns the number of buckets.
    pub fn len(self) -> usize {
        self.0.len()
    }

    /// Returns the weight of a bucket.
    #[inline]
    pub fn at(self, i: usize) -> f64 {
        self.sum(i..i + 1)
    }

    /// Returns the weight of a range of buckets.
    #[inline]
    pub fn sum(self, range: Range<usize>) -> f64 {
        (self.before(range.end) - self.before(range.start)) as f64
    }

    /// Returns where to end a cell that begins with the first bucket of a range: where its weight comes closest to
    /// `share`, but not after the range, which is not empty.
    pub fn end_of_cell(self, range: Range<usize>, share: f64) -> usize {
        let (mut at, mut end) = (range.start + 1, range.end);
        while at < end {
            let middle = usize::midpoint(at, end);
            if self.sum(range.start..middle) + self.at(middle) / 2.0 <= share {
                at = middle + 1;
            } else {
                end = middle;
            }
        }
        at
    }

    /// Iterates over the buckets that are heavier than `limit`.
    pub fn heavier_than(self, limit: f64) -> impl Iterator<Item = usize> {
        let blocks = (0..self.len()).step_by(BLOCK);
        let range = move |first: usize| first..self.len().min(first + BLOCK);
        blocks
            .map(range)
            .filter(move |block| self.sum(block.clone()) > limit)
            .flatten()
            .filter(move |&i| self.at(i) > limit)
    }

    /// Returns the weight of all buckets before one.
    #[inline]
    fn before(self, i: usize) -> u64 {
        i.checked_sub(1).map_or(0, |last| self.0[last].end)
    }
}
