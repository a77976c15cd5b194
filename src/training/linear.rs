//! The linear term, solved exactly for what the pairs leave, feature by feature.
//!
//! ```text
//! minimize  Σ ℓ(bias + Σ_j w(cell of j) + offset, y) + ½ λ Σ (w_r − c_j·z_r)² + ½ Σ c_j²
//! ```
//!
//! The weights of a feature are pulled towards a straight line with the free slope c_j, so that linear data costs
//! nothing; z is the line through the cells in standard units. Features take turns (backfitting), and each is solved
//! jointly with its slope. Before every turn of all features the loss is replaced by a parabola around the current score
//! (Newton's method), which for the squared loss is the loss itself.

use super::cholesky;
use super::rows::Rows;
use super::{Context, Examples};
use crate::Result;
use crate::kernels::{self, Isa};
use crate::memory::{collect, copied, filled};
use crate::model::Loss;
use crate::threads::Stop;
use std::ops::Range;
use std::sync::Arc;

/// Samples by the cells that they are in.
pub struct Linear<'a> {
    examples: &'a Examples<'a>,
    rows: &'a Rows,
    /// The features that are solved; w of others stays.
    features: Vec<usize>,
    loss: Loss,
    isa: Isa,
    /// The end of the visits to the cell that starts at each row.
    ends: Arc<Vec<usize>>,
    /// Places in the list of samples, cell by cell.
    visitors: Arc<Vec<u32>>,
}

/// What is solved: w of one output, and its bias.
pub struct Solution<'a> {
    /// One per row.
    pub w: &'a mut [f32],
    /// Bias.
    pub bias: &'a mut f64,
}

/// The parabola in place of the loss of a sample.
#[derive(Clone, Copy, Default)]
struct Parabola {
    /// Distance from the score to the bottom.
    rest: f32,
    /// Curvature, times the weight of the sample.
    weight: f32,
}

/// Features of more rows have no straight line, and their rows are solved one by one.
const MAX_JOINT_ROWS: u32 = 512;
/// Bound on the distance to the bottom of a parabola: where the logistic loss is almost straight, its curvature says
/// little about how far to go.
const MAX_REST: f32 = 4.0;

impl<'a> Linear<'a> {
    /// Lists the samples of each cell; `None` if the linear term is not solved for a loss, because it has no curvature.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn new(
        examples: &'a Examples<'a>,
        rows: &'a Rows,
        loss: Loss,
        context: Context<'a>,
    ) -> Result<Option<Self>> {
        if !matches!(loss, Loss::Squared | Loss::Logistic) {
            return Ok(None);
        }
        let Context { isa, stop, .. } = context;
        let mut ends = filled(rows.len() + 1, 0_usize)?;
        let mut starts = Vec::new();
        let each = |list: &mut dyn FnMut(usize, usize)| -> Result<()> {
            for (place, &sample) in examples.samples.iter().enumerate() {
                if place % 1024 == 0 {
                    stop.check()?;
                }
                examples.table.starts_of(sample as usize, &mut starts)?;
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
        let features = collect(0..rows.features())?;
        let (ends, visitors) = (Arc::new(ends), Arc::new(visitors));
        Ok(Some(Self { examples, rows, features, loss, isa, ends, visitors }))
    }

    /// Returns the same for some of the features.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn of_features(&self, features: &[usize]) -> Result<Self> {
        let (ends, visitors) = (Arc::clone(&self.ends), Arc::clone(&self.visitors));
        Ok(Self { features: copied(features)?, ends, visitors, ..*self })
    }

    /// Returns the samples.
    pub fn examples(&self) -> &'a Examples<'a> {
        self.examples
    }

    /// Returns the rows of the parameter table.
    pub fn rows(&self) -> &'a Rows {
        self.rows
    }

    /// Returns whether the parabolas are the loss itself.
    pub fn is_exact(&self) -> bool {
        self.loss == Loss::Squared
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
        let mut scores = self.scores(solution, offsets)?;
        let mut parabolas = filled(scores.len(), Parabola::default())?;
        for _ in 0..sweeps {
            self.approximate(output, &scores, &mut parabolas)?;
            scores.iter_mut().zip(&parabolas).for_each(|(score, parabola)| *score += parabola.rest);
            Self::center(solution, &mut parabolas);
            for &feature in &self.features {
                stop.check()?;
                self.solve_feature(feature, solution, lambda, &mut parabolas)?;
            }
            Self::center(solution, &mut parabolas);
            scores.iter_mut().zip(&parabolas).for_each(|(score, parabola)| *score -= parabola.rest);
        }
        Ok(())
    }

    /// Returns the score of each sample.
    fn scores(&self, solution: &Solution, offsets: &[f64]) -> Result<Vec<f32>> {
        let mut scores = collect(offsets.iter().map(|offset| (offset + *solution.bias) as f32))?;
        for start in 0..self.rows.len() {
            let effect = self.effect(start, solution.w) as f32;
            self.visitors_of(start).iter().for_each(|&place| scores[place as usize] += effect);
        }
        Ok(scores)
    }

    /// Puts a parabola in place of the loss of each sample.
    fn approximate(&self, output: usize, scores: &[f32], parabolas: &mut [Parabola]) -> Result<()> {
        let samples = || self.examples.samples.iter().map(|&sample| sample as usize);
        let target = |sample| self.examples.target.at(output, sample) as f32;
        let weight = |sample| self.examples.weight(sample) as f32;
        if self.loss == Loss::Squared {
            for ((parabola, score), sample) in parabolas.iter_mut().zip(scores).zip(samples()) {
                *parabola = Parabola { rest: target(sample) - score, weight: weight(sample) };
            }
            return Ok(());
        }
        let margins = collect(scores.iter().zip(samples()).map(|(score, sample)| score * target(sample)))?;
        let (mut losses, mut slopes) = (filled(margins.len(), 0.0)?, filled(margins.len(), 0.0)?);
        kernels::logistic(self.isa, &margins, &mut losses, &mut slopes);
        for ((parabola, slope), sample) in parabolas.iter_mut().zip(slopes).zip(samples()) {
            let wrong = -slope; // the probability of the other class
            let curvature = (wrong * (1.0 - wrong)).max(wrong / MAX_REST).max(f32::MIN_POSITIVE);
            let rest = target(sample) * wrong / curvature;
            *parabola = Parabola { rest, weight: curvature * weight(sample) };
        }
        Ok(())
    }

    /// Moves the bias to where the parabolas are lowest.
    fn center(solution: &mut Solution, parabolas: &mut [Parabola]) {
        let (mut rest, mut weights) = (0.0, 0.0);
        for parabola in &*parabolas {
            rest += f64::from(parabola.rest) * f64::from(parabola.weight);
            weights += f64::from(parabola.weight);
        }
        let mean = rest / weights;
        *solution.bias += mean;
        for parabola in parabolas {
            parabola.rest -= mean as f32;
        }
    }

    /// Returns the places, in the list of samples, of those in the cell that starts at a row.
    pub fn visitors_of(&self, start: usize) -> &[u32] {
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
        solution: &mut Solution,
        lambda: f64,
        parabolas: &mut [Parabola],
    ) -> Result<()> {
        let span = self.rows.spans()[feature];
        let range = span.first as usize..(span.first + span.rows()) as usize;
        let before = collect(range.clone().map(|start| self.effect(start, solution.w)))?;
        let sums = collect(range.clone().map(|start| self.sums(start, parabolas)))?;
        if span.is_copied() || self.rows.tilings() == 1 || span.rows() > MAX_JOINT_ROWS {
            self.solve_cells(range.clone(), &sums, solution, lambda);
        } else {
            self.solve_jointly(feature, range.clone(), &sums, solution, lambda)?;
        }
        for (start, before) in range.zip(before) {
            let moved = (self.effect(start, solution.w) - before) as f32;
            if moved != 0.0 {
                let visitors = self.visitors_of(start).iter();
                visitors.for_each(|&place| parabolas[place as usize].rest -= moved);
            }
        }
        Ok(())
    }

    /// Returns the weight of the samples in a cell, and the weighted sum of how far they are from the bottom.
    fn sums(&self, start: usize, parabolas: &[Parabola]) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for &place in self.visitors_of(start) {
            let Parabola { rest, weight } = parabolas[place as usize];
            sums[0] += f64::from(weight);
            sums[1] += f64::from(weight * rest);
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
    ) -> Result<()> {
        let (rows, tilings) = (range.len(), self.rows.tilings());
        let line = self.rows.line(feature);
        let n = rows + usize::from(!line.is_empty());
        let (mut a, mut b) = (filled(n * n, 0.0)?, filled(n, 0.0)?);
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
        Ok(())
    }
}
