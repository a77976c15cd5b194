//! The samples as the linear term sees them: a parabola in place of the loss of each, around its score.
//!
//! All work goes over blocks of samples, on any number of threads, and what the blocks add up is added in their order.

use super::columns::Columns;
use super::{Context, Examples, Objective};
use crate::Result;
use crate::kernels::{self, Isa};
use crate::memory::{collect, filled, resize};
use crate::model::Loss;

/// Samples with their scores.
pub struct Parabolas<'a> {
    examples: &'a Examples<'a>,
    columns: &'a Columns,
    objective: Objective,
    context: Context<'a>,
    /// Where the bottoms are.
    bottoms: Vec<f32>,
    all: Vec<Parabola>,
    /// How far the scores have moved without the parabolas being told.
    moved: Move,
}

/// The parabola in place of the loss of a sample.
#[derive(Clone, Copy, Default)]
struct Parabola {
    /// Distance from the score to the bottom.
    rest: f32,
    /// Curvature, times the weight of the sample.
    weight: f32,
}

/// How far scores move.
pub enum Move {
    /// All by the same distance.
    All(f32),
    /// Those in each cell of a feature by a distance of its own. The last one is for samples in no cell.
    Cells(usize, Vec<f32>),
}

/// Bound on the distance to the bottom of a parabola: where a loss is almost straight, its curvature says little about how far to
/// go.
const MAX_REST: f32 = 4.0;

impl<'a> Parabolas<'a> {
    /// Starts where each score is the sum of an offset, the bias, and the effect of a cell of every feature.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn new(
        examples: &'a Examples<'a>,
        columns: &'a Columns,
        objective: Objective,
        (offsets, bias): (&[f64], f64),
        effects: &[Vec<f32>],
        context: Context<'a>,
    ) -> Result<Self> {
        let (bottoms, all) = (filled(offsets.len(), 0.0)?, filled(offsets.len(), Parabola::default())?);
        let mut this = Self { examples, columns, objective, context, bottoms, all, moved: Move::All(0.0) };
        this.each_block(|block, scores, _| {
            let offsets = &offsets[block * columns.block()..];
            scores.iter_mut().zip(offsets).for_each(|(score, offset)| *score = (offset + bias) as f32);
            for (feature, effects) in effects.iter().enumerate() {
                columns.each(feature, block, |i, cell| scores[i] += effects[cell]);
            }
            Ok(())
        })?;
        Ok(this)
    }

    /// Moves the scores; the parabolas hear of it when they are needed next.
    pub fn move_scores(&mut self, by: Move) {
        self.moved = by;
    }

    /// Puts parabolas around the scores, and returns the mean distance to their bottoms.
    ///
    /// # Errors
    /// If it is stopped.
    pub fn approximate(&mut self, output: usize) -> Result<f64> {
        let (examples, size, objective, isa) = (self.examples, self.columns.block(), self.objective, self.context.isa);
        let sums = self.each_block(|block, bottoms, parabolas| {
            bottoms.iter_mut().zip(&*parabolas).for_each(|(bottom, parabola)| *bottom -= parabola.rest);
            let samples = examples.samples[block * size..][..bottoms.len()].iter().map(|&sample| sample as usize);
            let points = samples.map(|sample| {
                let (target, weight) = (examples.target.at(output, sample), examples.weight(sample));
                [target as f32, weight as f32]
            });
            match objective.loss {
                Loss::Squared => squared(points, bottoms, parabolas),
                Loss::Logistic => logistic(isa, points, bottoms, parabolas)?,
                _ => others(objective, points, bottoms, parabolas),
            }
            bottoms.iter_mut().zip(&*parabolas).for_each(|(bottom, parabola)| *bottom += parabola.rest);
            Ok(sum(parabolas))
        })?;
        Ok(mean(&sums))
    }

    /// Returns the mean distance to the bottoms.
    ///
    /// # Errors
    /// If it is stopped.
    pub fn mean(&mut self) -> Result<f64> {
        Ok(mean(&self.each_block(|_, _, parabolas| Ok(sum(parabolas)))?))
    }

    /// Returns the mean square of the distances to the bottoms.
    ///
    /// # Errors
    /// If it is stopped.
    pub fn mean_square(&mut self) -> Result<f64> {
        let square = |parabola: &Parabola| {
            let (rest, weight) = (f64::from(parabola.rest), f64::from(parabola.weight));
            [rest * rest * weight, weight]
        };
        let add = |sums: [f64; 2], part: [f64; 2]| [sums[0] + part[0], sums[1] + part[1]];
        Ok(mean(&self.each_block(|_, _, parabolas| Ok(parabolas.iter().map(square).fold([0.0; 2], add)))?))
    }

    /// Returns, for each of the `cells` cells of a feature, the weight of the samples in it, and the weighted sum of their
    /// distances to the bottom.
    ///
    /// # Errors
    /// If it is stopped.
    pub fn sums(&mut self, feature: usize, cells: usize) -> Result<Vec<[f64; 2]>> {
        let columns = self.columns;
        let parts = self.each_block(|block, _, parabolas| {
            let mut sums = filled(cells + 1, [0.0; 2])?;
            columns.each(feature, block, |i, cell| {
                let Parabola { rest, weight } = parabolas[i];
                let [weights, rests] = sums[cell];
                sums[cell] = [weights + f64::from(weight), rests + f64::from(weight * rest)];
            });
            Ok(sums)
        })?;
        let add = |mut sums: Vec<[f64; 2]>, part: Vec<[f64; 2]>| {
            sums.iter_mut().zip(part).for_each(|(sum, part)| *sum = [sum[0] + part[0], sum[1] + part[1]]);
            sums
        };
        let mut sums = parts.into_iter().reduce(add).unwrap_or_default();
        resize(&mut sums, cells, [0.0; 2])?; // without the samples in no cell
        Ok(sums)
    }

    /// Calls `work` with each block, its bottoms and its parabolas, and returns the results in order.
    fn each_block<R: Send>(
        &mut self,
        work: impl Fn(usize, &mut [f32], &mut [Parabola]) -> Result<R> + Sync + Send,
    ) -> Result<Vec<R>> {
        let (columns, stop) = (self.columns, self.context.stop);
        let moved = std::mem::replace(&mut self.moved, Move::All(0.0));
        let size = columns.block();
        let blocks = self.bottoms.chunks_mut(size).zip(self.all.chunks_mut(size)).enumerate();
        self.context.threads.map(blocks, || (), |(), (block, (bottoms, parabolas)): (usize, (&mut [f32], &mut [Parabola]))| {
            stop.check()?;
            match &moved {
                Move::All(by) => parabolas.iter_mut().for_each(|parabola| parabola.rest -= by),
                Move::Cells(feature, by) => columns.each(*feature, block, |i, cell| parabolas[i].rest -= by[cell]),
            }
            work(block, bottoms, parabolas)
        })
    }
}

fn squared(points: impl Iterator<Item = [f32; 2]>, scores: &[f32], parabolas: &mut [Parabola]) {
    for ((parabola, score), [target, weight]) in parabolas.iter_mut().zip(scores).zip(points) {
        *parabola = Parabola { rest: target - score, weight };
    }
}

fn logistic(
    isa: Isa,
    points: impl Iterator<Item = [f32; 2]> + Clone,
    scores: &[f32],
    parabolas: &mut [Parabola],
) -> Result<()> {
    let margins = collect(scores.iter().zip(points.clone()).map(|(score, [target, _])| score * target))?;
    let (mut losses, mut slopes) = (filled(margins.len(), 0.0)?, filled(margins.len(), 0.0)?);
    kernels::logistic(isa, &margins, &mut losses, &mut slopes);
    for ((parabola, slope), [target, weight]) in parabolas.iter_mut().zip(slopes).zip(points) {
        let wrong = -slope; // the probability of the other class
        let curvature = (wrong * (1.0 - wrong)).max(wrong / MAX_REST).max(f32::MIN_POSITIVE);
        *parabola = Parabola { rest: target * wrong / curvature, weight: curvature * weight };
    }
    Ok(())
}

fn others(
    objective: Objective,
    points: impl Iterator<Item = [f32; 2]>,
    scores: &[f32],
    parabolas: &mut [Parabola],
) {
    for ((parabola, &score), [target, weight]) in parabolas.iter_mut().zip(scores).zip(points) {
        let (score, target) = (f64::from(score), f64::from(target));
        let slope = objective.slope(score, target);
        let curvature = objective.curvature(score, target, slope).max(slope.abs() / f64::from(MAX_REST));
        let curvature = curvature.max(f32::MIN_POSITIVE.into());
        *parabola = Parabola { rest: (-slope / curvature) as f32, weight: curvature as f32 * weight };
    }
}

/// Returns the weighted sum of the distances to the bottoms, and of the weights.
fn sum(parabolas: &[Parabola]) -> [f64; 2] {
    let (mut rest, mut weights) = (0.0, 0.0);
    for parabola in parabolas {
        rest += f64::from(parabola.rest) * f64::from(parabola.weight);
        weights += f64::from(parabola.weight);
    }
    [rest, weights]
}

/// Returns the mean, given the sums of all blocks.
fn mean(sums: &[[f64; 2]]) -> f64 {
    let sum = |of: usize| sums.iter().map(|sums| sums[of]).sum::<f64>();
    sum(0) / sum(1)
}
