//! The linear term, solved exactly: ridge regression of what the pairs leave, feature by feature.
//!
//! ```text
//! minimize  ½ Σ (bias + Σ_j w(cell of j) + offset − y)² + ½ λ Σ (w_r − c_j·z_r)² + ½ Σ c_j²
//! ```
//!
//! The weights of a feature are pulled towards a straight line with the free slope c_j, so that linear data costs
//! nothing; z is the line through the cells in standard units. Features take turns (backfitting), and each is solved
//! jointly with its slope.

use super::Examples;
use super::cholesky;
use super::rows::Rows;
use crate::Result;
use crate::encoding::Span;
use crate::memory::{check_available, filled};
use crate::threads::Stop;
use std::ops::Range;

/// Samples by the cells that they are in.
pub struct Linear<'a> {
    examples: &'a Examples<'a>,
    rows: &'a Rows,
    /// The end of the visits to the cell that starts at each row.
    ends: Vec<usize>,
    /// Places in the list of samples, cell by cell.
    visitors: Vec<u32>,
    weights: Vec<f64>,
}

/// What is solved: w of one output, and its bias.
pub struct Solution<'a> {
    /// One per row.
    pub w: &'a mut [f32],
    /// Bias.
    pub bias: &'a mut f64,
}

/// Features of more rows have no straight line, and their rows are solved one by one.
const MAX_JOINT_ROWS: u32 = 512;

impl<'a> Linear<'a> {
    /// Lists the samples of each cell.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn new(examples: &'a Examples<'a>, rows: &'a Rows, stop: &Stop) -> Result<Self> {
        check_available::<u32>(examples.table.active_features())?;
        let mut ends = filled(rows.len() + 1, 0_usize)?;
        let mut starts = Vec::new();
        let each = |list: &mut dyn FnMut(usize, usize)| -> Result<()> {
            for (place, &sample) in examples.samples.iter().enumerate() {
                if place % 1024 == 0 {
                    stop.check()?;
                }
                examples.table.starts_of(sample as usize, &mut starts);
                let loud = starts.iter().filter(|&&start| !rows.is_silent(start));
                loud.for_each(|&start| list(place, start as usize));
            }
            Ok(())
        };
        let mut each = each;
        each(&mut |_, start| ends[start + 1] += 1)?;
        for row in 0..rows.len() {
            ends[row + 1] += ends[row];
        }
        let mut visitors = filled(ends[rows.len()], 0_u32)?;
        each(&mut |place, start| {
            visitors[ends[start]] = place as u32;
            ends[start] += 1;
        })?;
        let weight = |&sample: &u32| examples.weight(sample as usize);
        Ok(Self { examples, rows, ends, visitors, weights: examples.samples.iter().map(weight).collect() })
    }

    /// Returns the samples.
    pub fn examples(&self) -> &Examples<'a> {
        self.examples
    }

    /// Sweeps over all features several times. `offsets` are what other terms add to the score of each sample.
    ///
    /// # Errors
    /// If it is stopped.
    pub fn solve(
        &self,
        solution: &mut Solution,
        output: usize,
        offsets: &[f64],
        lambda: f64,
        sweeps: usize,
        stop: &Stop,
    ) -> Result<()> {
        let mut rest = self.residuals(solution, output, offsets);
        for _ in 0..sweeps {
            self.center(solution, &mut rest);
            for (feature, span) in self.rows.spans().iter().enumerate() {
                stop.check()?;
                self.solve_feature(feature, *span, solution, lambda, &mut rest);
            }
        }
        self.center(solution, &mut rest);
        Ok(())
    }

    /// Returns y minus the score of each sample.
    fn residuals(&self, solution: &Solution, output: usize, offsets: &[f64]) -> Vec<f64> {
        let target = self.examples.target;
        let samples = self.examples.samples.iter().zip(offsets);
        let mut rest: Vec<f64> = samples
            .map(|(&sample, offset)| target.at(output, sample as usize) - offset - *solution.bias)
            .collect();
        for start in 0..self.rows.len() {
            let effect = self.effect(start, solution.w);
            self.visitors_of(start).iter().for_each(|&place| rest[place as usize] -= effect);
        }
        rest
    }

    fn center(&self, solution: &mut Solution, rest: &mut [f64]) {
        let total: f64 = self.weights.iter().sum();
        let mean = rest.iter().zip(&self.weights).map(|(rest, weight)| rest * weight).sum::<f64>() / total;
        *solution.bias += mean;
        for rest in rest {
            *rest -= mean;
        }
    }

    fn visitors_of(&self, start: usize) -> &[u32] {
        let begin = start.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.visitors[begin..self.ends[start]]
    }

    /// Returns Σ w over the rows of a cell.
    fn effect(&self, start: usize, w: &[f32]) -> f64 {
        let end = (start + self.rows.tilings()).min(w.len());
        w[start..end].iter().map(|&w| f64::from(w)).sum()
    }

    fn solve_feature(
        &self,
        feature: usize,
        span: Span,
        solution: &mut Solution,
        lambda: f64,
        rest: &mut [f64],
    ) {
        let range = span.first as usize..(span.first + span.rows()) as usize;
        let before: Vec<f64> = range.clone().map(|start| self.effect(start, solution.w)).collect();
        let sums: Vec<[f64; 2]> = range.clone().map(|start| self.sums(start, rest)).collect();
        if span.is_copied() || self.rows.tilings() == 1 || span.rows() > MAX_JOINT_ROWS {
            self.solve_cells(range.clone(), &sums, solution, lambda);
        } else {
            self.solve_jointly(feature, range.clone(), &sums, solution, lambda);
        }
        for (start, before) in range.zip(before) {
            let moved = self.effect(start, solution.w) - before;
            if moved != 0.0 {
                self.visitors_of(start).iter().for_each(|&place| rest[place as usize] -= moved);
            }
        }
    }

    /// Returns the weight of the samples in a cell, and the weighted sum of what is left of their targets.
    fn sums(&self, start: usize, rest: &[f64]) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for &place in self.visitors_of(start) {
            let weight = self.weights[place as usize];
            sums[0] += weight;
            sums[1] += weight * rest[place as usize];
        }
        sums
    }

    /// Solves cells that have rows of their own: T equal weights each.
    fn solve_cells(&self, range: Range<usize>, sums: &[[f64; 2]], solution: &mut Solution, lambda: f64) {
        let tilings = self.rows.tilings();
        for (start, &[weight, rest]) in range.zip(sums).step_by(tilings) {
            let own = f64::from(solution.w[start]) * tilings as f64;
            let effect = (rest + weight * own) / (weight + lambda / tilings as f64);
            solution.w[start..start + tilings].fill((effect / tilings as f64) as f32);
        }
    }

    /// Solves overlapping rows and the slope together. Unknown are the distances of w from the line, and its slope.
    fn solve_jointly(
        &self,
        feature: usize,
        range: Range<usize>,
        sums: &[[f64; 2]],
        solution: &mut Solution,
        lambda: f64,
    ) {
        let (rows, tilings) = (range.len(), self.rows.tilings());
        let line = self.rows.line(feature);
        let n = rows + usize::from(!line.is_empty());
        let (mut a, mut b) = (vec![0.0; n * n], vec![0.0; n]);
        for (cell, &[weight, rest]) in sums.iter().enumerate().filter(|(_, sums)| sums[0] > 0.0) {
            let own = cell..cell + tilings;
            let target = rest + weight * self.effect(range.start + cell, solution.w);
            let slope: f64 = if line.is_empty() { 0.0 } else { line[own.clone()].iter().sum() };
            for i in own.clone() {
                own.clone().for_each(|j| a[i * n + j] += weight);
                b[i] += target;
                if n > rows {
                    a[rows * n + i] += weight * slope;
                    a[i * n + rows] += weight * slope;
                }
            }
            if n > rows {
                a[rows * n + rows] += weight * slope * slope;
                b[rows] += target * slope;
            }
        }
        (0..rows).for_each(|i| a[i * n + i] += lambda);
        (rows..n).for_each(|i| a[i * n + i] += 1.0);
        if cholesky::solve(&mut a, &mut b) {
            for (i, row) in range.enumerate() {
                let along = if n > rows { b[rows] * line[i] } else { 0.0 };
                solution.w[row] = (b[i] + along) as f32;
            }
        }
    }
}
