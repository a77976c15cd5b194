//! Factors learned as numbers, and rounded at the end to what the signs of a cell can say.
//!
//! The T signs that a cell activates add up to U ∈ {−T, −T + 2, …, T}: copies of a bit are a small number, and zero is one
//! of its values if T is even. Numbers are learned without any sign in the way, as in a factorization machine, and each
//! cell then takes the level that is nearest:
//!
//! ```text
//! minimize  Σ n_c (x_c − β·U_c)²        x_c: number of cell c, n_c: its visits
//! ```
//!
//! Where each cell has rows of its own, every level can be had. Where neighbouring cells share all rows but one, U can
//! only change by −2, 0 or 2 from one to the next, and the signs are found by dynamic programming.

use super::rows::{self, Rows};
use crate::Result;
use crate::encoding::Span;
use crate::kernels::RowWeights;
use crate::memory::{collect, filled, resize};
use crate::model::{RealScale, Scales};

/// How factors become levels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Levels {
    /// Visits below which a cell is pulled mostly for being rare.
    pub rare: f64,
    /// Distance between two levels, in root mean squares of the numbers that they stand for.
    pub distance: f64,
}

/// The most rows per cell: the signs of a feature are chosen among 2^T at a time.
pub const MAX_TILINGS: usize = 8;

/// Returns the β at which levels have the distance asked for.
pub fn beta(weights: &RowWeights, rows: &Rows, levels: Levels) -> f64 {
    levels.distance * root_mean_square(weights, rows) / 2.0
}

/// Returns the numbers nearest to β² that a file holds for several outputs, none of them zero: their levels then suit what
/// is stored.
///
/// # Errors
/// If there is not enough memory.
pub fn stored_squares(squares: &[f64]) -> Result<Vec<f64>> {
    let real = collect(squares.iter().map(|&beta_squared| RealScale { beta_squared, ..RealScale::default() }))?;
    let scales = Scales::new(&real)?;
    let least = libm::scalbn(scales.unit(), i32::from(scales.pairs_shift));
    collect((0..squares.len()).map(|output| scales.real(output).beta_squared.max(least)))
}

/// Replaces factors by their signs, ±β.
///
/// # Errors
/// If there is not enough memory.
pub fn round(weights: &mut RowWeights, rows: &Rows, beta: f64) -> Result<()> {
    let m = weights.v.len() / rows.len().max(1);
    let mut column = Vec::new();
    for span in rows.spans() {
        let tilings = span.tilings as usize;
        let (shared, copied) = split(span);
        for factor in 0..m {
            let number = |start: usize| f64::from(sum(weights, m, start, tilings, factor)) / beta;
            column.clear();
            resize(&mut column, span.rows() as usize, 1.0)?;
            if let Some(starts) = &shared {
                let numbers = starts.clone().map(|start| (number(start), f64::from(rows.visits(start))));
                let signs = path(&collect(numbers)?, tilings)?;
                column[..signs.len()].copy_from_slice(&signs);
            }
            for start in copied.clone() {
                let number = if rows.visits(start) > 0 { number(start) } else { 0.0 };
                let own = &mut column[start - span.first as usize..][..tilings];
                own[positives(number, tilings)..].fill(-1.0);
            }
            for (row, sign) in (span.first as usize..).zip(&column) {
                weights.v[row * m + factor] = beta as f32 * sign;
            }
        }
    }
    Ok(())
}

/// Subtracts from w what the rows of each cell add to Q as pairs of each other, which levels do not know of.
///
/// # Errors
/// If there is not enough memory.
pub fn take_back_own_pairs(weights: &mut RowWeights, rows: &Rows) -> Result<()> {
    let m = weights.v.len() / rows.len().max(1);
    for span in rows.spans() {
        let tilings = span.tilings as usize;
        let own = |weights: &RowWeights, start: usize| -> f64 {
            let square = |factor| f64::from(sum(weights, m, start, tilings, factor)).powi(2);
            let each = &weights.v[start * m..(start + tilings) * m];
            let alone: f64 = each.iter().map(|&v| f64::from(v) * f64::from(v)).sum();
            0.5 * ((0..m).map(square).sum::<f64>() - alone)
        };
        let (shared, copied) = split(span);
        if let Some(starts) = shared {
            let effects = collect(starts.clone().map(|start| own(weights, start)))?;
            let line = rows::line_through(&effects, tilings)?;
            for (w, effect) in weights.w[starts.start..].iter_mut().zip(line) {
                *w -= effect as f32;
            }
        }
        for start in copied {
            let share = (own(weights, start) / tilings as f64) as f32;
            weights.w[start..start + tilings].iter_mut().for_each(|w| *w -= share);
        }
    }
    Ok(())
}

/// Returns the starts of cells that share rows, if any, and of those with rows of their own.
fn split(span: &Span) -> (Option<std::ops::Range<usize>>, std::iter::StepBy<std::ops::Range<usize>>) {
    let (first, tilings) = (span.first as usize, span.tilings as usize);
    let end = first + span.rows() as usize;
    if span.stride == span.tilings {
        return (None, (first..end).step_by(tilings));
    }
    let missing = span.missing_start().map_or(end, |start| start as usize);
    (Some(first..first + span.cells as usize), (missing..end).step_by(tilings))
}

/// Returns a factor of a cell: the sum over its rows.
fn sum(weights: &RowWeights, m: usize, start: usize, tilings: usize, factor: usize) -> f32 {
    (start..start + tilings).map(|row| weights.v[row * m + factor]).sum()
}

/// Returns the root mean square of the factors of cells over all visits; 1 if all are zero.
fn root_mean_square(weights: &RowWeights, rows: &Rows) -> f64 {
    let m = weights.v.len() / rows.len().max(1);
    let (mut squares, mut count) = (0.0, 0.0);
    for span in rows.spans() {
        let (shared, copied) = split(span);
        for start in shared.into_iter().flatten().chain(copied).filter(|&start| rows.visits(start) > 0) {
            let visits = f64::from(rows.visits(start));
            let square = |factor| f64::from(sum(weights, m, start, span.tilings as usize, factor)).powi(2);
            squares += visits * (0..m).map(square).sum::<f64>();
            count += visits * m as f64;
        }
    }
    if squares > 0.0 { (squares / count).sqrt() } else { 1.0 }
}

/// Returns how many of T signs are positive in the level nearest to a number.
fn positives(number: f64, tilings: usize) -> usize {
    let most = tilings as f64;
    f64::midpoint(number, most).round().clamp(0.0, most) as usize
}

/// Returns the signs, one more than cells for each further row, whose sums over windows of T come closest to the numbers
/// of the cells. `numbers` holds each number and its weight.
fn path(numbers: &[(f64, f64)], tilings: usize) -> Result<Vec<f32>> {
    let states = 1_usize << tilings; // the signs of a window, the last of them lowest
    let level = |state: usize| f64::from(2 * state.count_ones()) - tilings as f64;
    let mut from = filled(numbers.len() * states, false)?;
    let (mut costs, mut before) = (filled(states, 0.0)?, filled(states, 0.0)?);
    for (cell, &(number, weight)) in numbers.iter().enumerate() {
        before.copy_from_slice(&costs);
        for (state, cost) in costs.iter_mut().enumerate() {
            let earlier = [state >> 1, state >> 1 | states >> 1];
            let own = (number - level(state)).powi(2) * (1.0 + weight);
            if cell == 0 {
                *cost = own;
                continue;
            }
            let is_second = before[earlier[1]] < before[earlier[0]];
            from[cell * states + state] = is_second;
            *cost = own + before[earlier[usize::from(is_second)]];
        }
    }
    let best = (0..states).min_by(|&a, &b| costs[a].total_cmp(&costs[b]));
    let mut state = best.unwrap_or(0);
    let mut signs = filled(numbers.len() + tilings - 1, 1.0_f32)?;
    for cell in (0..numbers.len()).rev() {
        signs[cell + tilings - 1] = sign(state & 1);
        if cell == 0 {
            (0..tilings).for_each(|t| signs[tilings - 1 - t] = sign(state >> t & 1));
        } else {
            let is_second = from[cell * states + state];
            state = state >> 1 | if is_second { states >> 1 } else { 0 };
        }
    }
    Ok(signs)
}

fn sign(bit: usize) -> f32 {
    if bit == 1 { 1.0 } else { -1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aligned::Aligned;
    use crate::training::fixture::Fixture;

    /// Returns the sums over windows of T signs.
    fn sums(signs: &[f32], tilings: usize) -> Vec<f64> {
        signs.windows(tilings).map(|window| window.iter().copied().map(f64::from).sum()).collect()
    }

    #[test]
    fn paths_are_the_best_of_all() -> Result<()> {
        for tilings in 1..5 {
            for seed in 0..20 {
                let numbers: Vec<(f64, f64)> = (0..6)
                    .map(|i| (f64::from((seed * 31 + i * 17) % 23 - 11) / 3.0, f64::from((seed + i) % 4)))
                    .collect();
                let cost = |signs: &[f32]| -> f64 {
                    let error = |((number, weight), sum): (&(f64, f64), f64)| (number - sum).powi(2) * (1.0 + weight);
                    numbers.iter().zip(sums(signs, tilings)).map(error).sum()
                };
                let length = numbers.len() + tilings - 1;
                let all = (0..1_usize << length).map(|bits| -> Vec<f32> { (0..length).map(|i| sign(bits >> i & 1)).collect() });
                let best = all.map(|signs| cost(&signs)).fold(f64::INFINITY, f64::min);
                let found = path(&numbers, tilings)?;
                assert_eq!(found.len(), length);
                assert!((cost(&found) - best).abs() < 1e-9, "{tilings} {seed}: {} {best}", cost(&found));
            }
        }
        Ok(())
    }

    #[test]
    fn a_number_takes_the_nearest_level() {
        let level = |number: f64, tilings: usize| 2 * positives(number, tilings) as i64 - tilings as i64;
        for (number, nearest) in [(0.0, 0), (0.9, 0), (-0.9, 0), (1.1, 2), (-1.1, -2), (3.1, 4), (9.0, 4), (-9.0, -4)] {
            assert_eq!(level(number, 4), nearest, "{number}");
        }
        assert_eq!(level(0.4, 3), 1);
        assert_eq!(level(-0.4, 3), -1);
    }

    /// The score of a sample stays what it is when its cells' own pairs, which a model counts, are taken back from w.
    #[test]
    fn own_pairs_are_taken_back() -> Result<()> {
        let fixture = Fixture::new(|x| f64::from(x[0] * x[1] > 0.0), 2, [12, 4])?;
        let rows = Rows::new(&fixture.encoder)?;
        let (m, tilings) = (3, rows.tilings());
        let number = |i: usize| libm::sin(i as f64) as f32;
        let v: Vec<f32> = (0..rows.len() * m).map(number).collect();
        let mut weights = RowWeights { w: (0..rows.len()).map(number).collect(), v: Aligned::copied(&v)? };
        let terms = |weights: &RowWeights, start: usize| -> (f64, f64) {
            let of = |f: usize| v[start * m..(start + tilings) * m].iter().skip(f).step_by(m).map(|&v| f64::from(v));
            let linear: f32 = weights.w[start..start + tilings].iter().sum();
            let pair = |f| (of(f).sum::<f64>().powi(2) - of(f).map(|v| v * v).sum::<f64>()) / 2.0;
            (f64::from(linear), (0..m).map(pair).sum())
        };
        let starts: Vec<usize> = rows.spans().iter().flat_map(|span| (0..span.cells).map(|cell| span.start(cell) as usize)).collect();
        let before: Vec<f64> = starts.iter().map(|&start| terms(&weights, start).0).collect();
        take_back_own_pairs(&mut weights, &rows)?;
        for (start, before) in starts.into_iter().zip(before) {
            let (linear, own) = terms(&weights, start);
            assert!((linear + own - before).abs() < 1e-4, "{linear} {own} {before}");
        }
        Ok(())
    }
}
