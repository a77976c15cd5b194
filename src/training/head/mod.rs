//! What learns one output.

mod float;
mod learner;
mod sign;

pub use float::FloatLearner;
pub use learner::{Learner, Scale};
pub use sign::SignLearner;

use super::dropout::Dropout;
use super::refit::{self, Point};
use super::{Context, Examples, ValidParams, rng};
use crate::Result;
use crate::encoding::Encoder;
use crate::kernels::Sample;
use crate::model::Loss;
use crate::threads::Stop;

/// Which output of which member of an ensemble.
#[derive(Clone, Copy, Debug)]
pub struct HeadId {
    /// Output.
    pub output: usize,
    /// Member of the ensemble.
    pub member: usize,
}

impl HeadId {
    /// Returns its index among the random streams of a kind.
    pub fn stream(self) -> u64 {
        self.output as u64 + self.member as u64 * rng::MEMBER
    }
}

/// A learner, and the weights and scales of its best epoch so far.
pub struct Head<L: Learner> {
    learner: L,
    output: usize,
    loss: Loss,
    learning_rate: f64,
    /// Samples between two refreshes of the scales.
    refresh_interval: usize,
    /// Samples visited in this pass.
    visits: usize,
    starts: Vec<u32>,
    dropout: Dropout,
    /// The learner's scales or, with dropout, those refitted to all features.
    scale: Scale,
    kept: L::Kept,
    kept_scale: Scale,
    /// Mean and standard deviation of the target.
    units: (f64, f64),
}

/// Samples between two refreshes of the scales, where the parameter table is small.
const REFRESH_INTERVAL: usize = 1000;
/// A refresh reads all rows of the parameter table; training should touch this many times more between two of them.
const REFRESH_SHARE: f64 = 16.0;
/// Samples that determine the initial bias.
const BIAS_SAMPLES: usize = 1000;
/// Samples that determine the scales after dropout, and those of an ensemble.
pub(super) const REFIT_SAMPLES: usize = 10_000;
/// Bound on the initial bias in log-odds, for rare classes.
const MAX_LOG_ODDS: f64 = 6.0;

impl<L: Learner> Head<L> {
    /// Initializes a head.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn new(
        encoder: &Encoder,
        examples: &Examples,
        id: HeadId,
        loss: Loss,
        params: &ValidParams,
        context: Context,
    ) -> Result<Self> {
        let mut rng = rng::stream(params.seed, rng::INIT + id.stream());
        let tilings = encoder.tilings() as usize;
        let (m, active) = (params.factors_per_member(), examples.mean_active(tilings));
        let init = params.init.weights(encoder, m, active, &mut rng, context.stop)?;
        let spaced = REFRESH_SHARE * f64::from(encoder.rows()) / active;
        let learner = L::new(init, tilings, params, context.isa)?;
        let mut head = Self {
            scale: learner.scale(),
            kept_scale: learner.scale(),
            learner,
            output: id.output,
            loss,
            learning_rate: params.learning_rate,
            refresh_interval: REFRESH_INTERVAL.max(spaced as usize),
            visits: 0,
            starts: Vec::new(),
            dropout: Dropout::new(params, id),
            kept: L::Kept::default(),
            units: examples.target.units(),
        };
        head.init_bias(examples, context.stop)?;
        Ok(head)
    }

    /// Makes a pass over samples in the given order. Returns the mean training loss of the samples as they were
    /// visited, and the loss on held-out samples.
    ///
    /// # Errors
    /// If it is stopped.
    pub fn epoch(
        &mut self,
        rate_factor: f64,
        examples: &Examples,
        order: &[u32],
        valid: Option<&Examples>,
        stop: &Stop,
    ) -> Result<(f64, Option<f64>)> {
        self.begin_pass(rate_factor);
        let (mut total, mut weights) = (0.0, 0.0);
        for sample in examples.visits(order) {
            stop.check()?;
            let (y, weight) = (examples.target.at(self.output, sample), examples.weight(sample));
            let (loss, slope) = self.loss.value_and_slope(self.forward(examples, sample), y);
            self.backward(examples, sample, slope * weight);
            total += loss * weight;
            weights += weight;
        }
        self.end_pass(examples, order, stop)?;
        let held_out = valid.map(|valid| self.mean_loss(valid, stop)).transpose()?;
        Ok((total / weights, held_out))
    }

    /// Begins a pass with a multiple of the learning rate.
    pub fn begin_pass(&mut self, rate_factor: f64) {
        self.learner.set_rate(self.learning_rate * rate_factor);
        self.visits = 0;
    }

    /// Returns the training score of a sample, of which dropout may hide some features; [`Head::backward`] may follow.
    #[inline]
    pub fn forward(&mut self, examples: &Examples, sample: usize) -> f64 {
        examples.table.starts_of(sample, &mut self.starts);
        let values = self.dropout.apply(&mut self.starts, examples.table.values_of(sample));
        let terms = self.learner.terms(Sample { starts: &self.starts, values });
        self.learner.scale().score(terms)
    }

    /// Moves the weights that were active in the last forward sample; `slope` is ℓ' there.
    #[inline]
    pub fn backward(&mut self, examples: &Examples, sample: usize, slope: f64) {
        let values = self.dropout.remaining(examples.table.values_of(sample));
        self.learner.step(Sample { starts: &self.starts, values }, slope);
        self.visits += 1;
        if self.visits.is_multiple_of(self.refresh_interval) {
            self.learner.refresh();
        }
    }

    /// Ends a pass and settles the scales.
    ///
    /// # Errors
    /// If it is stopped.
    pub fn end_pass(&mut self, examples: &Examples, order: &[u32], stop: &Stop) -> Result<()> {
        self.learner.refresh();
        self.scale = self.learner.scale();
        if self.dropout.is_on() {
            self.scale = self.refit(examples, order, stop)?;
        }
        Ok(())
    }

    /// Returns the score of a sample with all its features, after a pass.
    pub fn score(&mut self, examples: &Examples, sample: usize) -> f64 {
        let terms = self.all_terms(examples, sample);
        self.scale.score(terms)
    }

    /// Keeps the current weights and scales.
    pub fn keep(&mut self) {
        self.kept = self.learner.keep();
        self.kept_scale = self.scale;
    }

    /// Returns the output that it learns.
    pub fn output(&self) -> usize {
        self.output
    }

    /// Returns the loss that it minimizes.
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// Returns the kept scales.
    pub fn kept_scale(&self) -> Scale {
        self.kept_scale
    }

    fn all_terms(&mut self, examples: &Examples, sample: usize) -> [f64; 2] {
        examples.table.starts_of(sample, &mut self.starts);
        let values = examples.table.values_of(sample);
        self.learner.terms(Sample { starts: &self.starts, values })
    }

    /// Returns the scales with which the current weights fit samples with all their features best.
    fn refit(&mut self, examples: &Examples, order: &[u32], stop: &Stop) -> Result<Scale> {
        let step = (order.len() / REFIT_SAMPLES).max(1);
        let mut points = Vec::new();
        for &sample in order.iter().step_by(step) {
            stop.check()?;
            let sample = sample as usize;
            let terms = self.all_terms(examples, sample);
            let (y, weight) = (examples.target.at(self.output, sample), examples.weight(sample));
            points.push(Point { terms, y, weight, offset: 0.0 });
        }
        Ok(refit::scale(&points, self.loss == Loss::Squared, self.learner.scale()))
    }

    fn mean_loss(&mut self, examples: &Examples, stop: &Stop) -> Result<f64> {
        let (mut total, mut weights) = (0.0, 0.0);
        for &sample in &examples.samples {
            stop.check()?;
            let sample = sample as usize;
            let score = self.score(examples, sample);
            let y = examples.target.at(self.output, sample);
            total += self.loss.value(score, y) * examples.weight(sample);
            weights += examples.weight(sample);
        }
        Ok(total / weights)
    }

    /// Sets the bias so that the mean score of some samples is the log-odds of the class (logistic, softmax) or zero:
    /// random signs, which agree within a feature, have a mean of their own.
    fn init_bias(&mut self, examples: &Examples, stop: &Stop) -> Result<()> {
        let samples = examples.weighted_samples();
        let step = (samples.len() / BIAS_SAMPLES).max(1);
        let some: Vec<usize> = samples.iter().step_by(step).map(|&s| s as usize).collect();
        let mut mean = 0.0;
        for &sample in &some {
            stop.check()?;
            let terms = self.all_terms(examples, sample);
            mean += self.learner.scale().score(terms) / some.len() as f64;
        }
        let wanted = match self.loss {
            Loss::Logistic | Loss::Softmax => self.log_odds(examples, &samples),
            Loss::Hinge | Loss::SquaredHinge | Loss::Squared => 0.0,
        };
        self.learner.set_bias(wanted - mean);
        Ok(())
    }

    fn log_odds(&self, examples: &Examples, samples: &[u32]) -> f64 {
        let (mut positive, mut all) = (0.0, 0.0);
        for &sample in samples {
            let weight = examples.weight(sample as usize);
            all += weight;
            if examples.target.at(self.output, sample as usize) > 0.0 {
                positive += weight;
            }
        }
        libm::log(positive / (all - positive)).clamp(-MAX_LOG_ODDS, MAX_LOG_ODDS)
    }
}
