//! How well the scores of a model agree with what they should say.
//!
//! Losses give scores of different sizes, so log losses are compared at the temperature t that suits each model best:
//!
//! ```text
//! mean over samples of log Σ_k exp((s_k − s_y) / t)
//! ```
//!
//! with the scores s_k of a sample and its class y. It is convex in 1/t.

use super::Scorer;
use crate::data::Table;
use crate::kernels::{self, Isa};
use crate::memory::{filled, with_capacity};
use crate::threads::{Stop, Threads};
use crate::{Error, Result};

/// How well a model does on some samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Evaluation {
    /// Accuracy, or the mean squared error of numbers.
    pub score: f64,
    /// Log loss at the best temperature, or the mean squared error of numbers.
    pub loss: f64,
}

/// The largest temperature, in standard deviations of the scores.
const HIGHEST: f64 = 4.0;
/// Each temperature is smaller than the one before by √2; the last is 1/16.
const TEMPERATURES: usize = 13;
/// Where to begin, at about a third of the standard deviation.
const FIRST_GUESS: usize = 7;
/// Smaller losses carry no information.
const MIN_LOSS: f64 = 1e-6;

impl Scorer {
    /// Evaluates the model on samples with these targets (class indices or numbers) and weights.
    ///
    /// # Errors
    /// If the numbers of samples differ, the table has the wrong width, there is not enough memory, or it is stopped.
    pub fn evaluate(
        &self,
        table: Table,
        y: &[f64],
        weight: Option<&[f64]>,
        threads: &Threads,
        stop: &Stop,
    ) -> Result<Evaluation> {
        if y.len() != table.samples() || weight.is_some_and(|weight| weight.len() != y.len()) {
            let must = format!("have {} targets and weights, one per sample", table.samples());
            return Err(Error::value("dataset", must, y.len()));
        }
        let outputs = self.model().weights().outputs();
        let mut scores = filled(y.len().saturating_mul(outputs), 0.0)?;
        self.scores(table, threads, stop, &mut scores)?;
        let samples = Scored { scores: &scores, outputs, y, weight };
        let loss = self.model().loss();
        if loss.is_regression() {
            let error = samples.mean(|scores, y| square(loss.prediction(scores[0]) - y));
            return Ok(Evaluation { score: error, loss: error });
        }
        let is_right = |scores: &[f64], y| f64::from(u8::from(class(scores) == y as usize));
        let loss = if outputs == 1 { samples.logistic_loss()? } else { samples.softmax_loss() };
        Ok(Evaluation { score: samples.mean(is_right), loss: loss.max(MIN_LOSS) })
    }
}

fn square(x: f64) -> f64 {
    x * x
}

/// Returns the class: of two the second if the score is positive, else the first with the largest score.
fn class(scores: &[f64]) -> usize {
    match scores {
        [score] => usize::from(*score > 0.0),
        _ => (1..scores.len()).fold(0, |best, i| if scores[i] > scores[best] { i } else { best }),
    }
}

/// Scores with what they should say.
struct Scored<'a> {
    /// `outputs` per sample.
    scores: &'a [f64],
    outputs: usize,
    y: &'a [f64],
    weight: Option<&'a [f64]>,
}

impl Scored<'_> {
    /// Returns the weighted mean over all samples of a function of scores and target.
    fn mean(&self, mut of: impl FnMut(&[f64], f64) -> f64) -> f64 {
        let (mut sum, mut total) = (0.0, 0.0);
        for (i, (scores, &y)) in self.scores.chunks_exact(self.outputs).zip(self.y).enumerate() {
            let weight = self.weight.map_or(1.0, |weight| weight[i]);
            sum += weight * of(scores, y);
            total += weight;
        }
        sum / total
    }

    /// Returns the least log loss of two classes.
    fn logistic_loss(&self) -> Result<f64> {
        let (isa, count) = (Isa::detect()?, self.y.len());
        let margins_at = |margins: &mut Vec<f32>, t: f64| {
            margins.clear();
            let signed = self.scores.iter().zip(self.y);
            margins.extend(signed.map(|(s, &y)| (if y > 0.0 { s / t } else { -s / t }) as f32));
        };
        let mut margins = with_capacity(count)?;
        let (mut losses, mut slopes) = (filled(count, 0.0)?, filled(count, 0.0)?);
        Ok(self.least(|t| {
            margins_at(&mut margins, t);
            kernels::logistic(isa, &margins, &mut losses, &mut slopes);
            let mut losses = losses.iter();
            self.mean(|_, _| losses.next().copied().map_or(0.0, f64::from))
        }))
    }

    /// Returns the least log loss of three and more classes.
    fn softmax_loss(&self) -> f64 {
        self.least(|t| {
            self.mean(|scores, y| {
                let max = scores.iter().fold(f64::NEG_INFINITY, |max, &score| max.max(score));
                let sum: f64 = scores.iter().map(|score| libm::exp((score - max) / t)).sum();
                libm::log(sum) + (max - scores[y as usize]) / t
            })
        })
    }

    /// Returns the least of a loss over all temperatures. It falls and then rises, so going downhill finds it.
    fn least(&self, mut loss: impl FnMut(f64) -> f64) -> f64 {
        let unit = self.spread();
        let mut at = |i: usize| loss(unit * HIGHEST * libm::pow(0.5, i as f64 / 2.0));
        let mut least = at(FIRST_GUESS);
        let (colder, hotter) = (FIRST_GUESS + 1..TEMPERATURES, (0..FIRST_GUESS).rev());
        for found in colder.map(&mut at) {
            if found >= least {
                break;
            }
            least = found;
        }
        for found in hotter.map(&mut at) {
            if found >= least {
                break;
            }
            least = found;
        }
        least
    }

    /// Returns the standard deviation of all scores, of which the first of two classes has 0; 1 if all are the same.
    fn spread(&self) -> f64 {
        let classes = self.y.len() * self.outputs.max(2);
        let mean = self.scores.iter().sum::<f64>() / classes as f64;
        let squares: f64 = self.scores.iter().map(|score| (score - mean) * (score - mean)).sum();
        let zeros = (classes - self.scores.len()) as f64 * mean * mean;
        let spread = ((squares + zeros) / classes as f64).sqrt();
        if spread > 0.0 { spread } else { 1.0 }
    }
}
