//! Edges that leave cells for long tails.
//!
//! Quantiles put all of a long tail into one cell, and equal widths put everything else into one. In between: of many
//! narrow quantile groups, each counts √(share of the weight × share of the range), and cells have equal counts.

use super::distinct::Distinct;
use super::quantile::quantile_cuts;
use crate::Result;
use crate::encoding::edges;
use crate::memory::{collect, with_capacity};

/// Quantile groups per cell.
const GROUPS_PER_CELL: usize = 8;

/// Returns ascending indices at which to cut values into exactly `cells` cells, which are fewer.
pub fn tail_cuts(distinct: &Distinct, cells: usize) -> Result<Vec<usize>> {
    let groups = (GROUPS_PER_CELL * cells).min(distinct.len());
    let ends = if groups == distinct.len() {
        collect(1..=groups)?
    } else {
        collect(quantile_cuts(distinct.weights(), groups)?.into_iter().chain([distinct.len()]))?
    };
    let counts = counts(distinct, &ends)?;
    let mut rest: f64 = counts.iter().sum();
    let mut cuts = with_capacity(cells)?;
    let mut at = 0;
    for left in (2..=cells).rev() {
        let (share, last) = (rest / left as f64, groups - (left - 1));
        let mut taken = counts[at];
        at += 1;
        while at < last && taken + counts[at] / 2.0 < share {
            taken += counts[at];
            at += 1;
        }
        rest -= taken;
        cuts.push(ends[at - 1]);
    }
    Ok(cuts)
}

/// Returns what each group counts.
fn counts(distinct: &Distinct, ends: &[usize]) -> Result<Vec<f64>> {
    let key = |i: usize| distinct.key(i.min(distinct.len() - 1));
    let number = |i: usize| f64::from(edges::number(key(i))).clamp(-MAX, MAX);
    let mut begin = 0;
    let count = |&end: &usize| {
        let (weight, width) = (distinct.weights().sum(begin..end), number(end) - number(begin));
        begin = end;
        (weight * width).sqrt()
    };
    collect(ends.iter().map(count))
}

/// Infinities count as this.
const MAX: f64 = f32::MAX as f64;
