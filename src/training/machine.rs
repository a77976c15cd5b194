//! One score function under training.

use super::dropout::Dropout;
use super::learner::{Kept, pack};
use super::refit::{self, Point};
use super::{Examples, Learner, Params, Run, Scale, Targets, random};
use crate::Result;
use crate::encoding::Encoder;
use crate::error::filled;
use crate::model::{Loss, Real, RealFunction};
use crate::threads::Stop;

/// Which score function of which member of an ensemble.
#[derive(Clone, Copy, Debug)]
pub struct Seat {
    /// Score function.
    pub function: usize,
    /// Member of the ensemble.
    pub member: usize,
}

impl Seat {
    /// Its number among the random streams of a kind.
    pub fn stream(self) -> u64 {
        self.function as u64 + self.member as u64 * random::MEMBER
    }
}

/// What learns, and the weights and scales of the best epoch so far.
pub struct Machine {
    learner: Learner,
    function: usize,
    loss: Loss,
    first_rate: f64,
    /// Rows between two looks at α and β.
    refresh: usize,
    /// Rows of this pass so far.
    visits: usize,
    starts: Vec<u32>,
    dropout: Dropout,
    /// Factors are used through their signs.
    signs: bool,
    /// Those of the learner or, after dropout, those that fit all features best.
    scale: Scale,
    kept: Kept,
    kept_scale: Scale,
    center: f64,
    spread: f64,
}

/// Rows between two refreshes of α and β, where the table is small.
const REFRESH: usize = 1000;
/// A refresh reads all rows of the table; training between two of them shall touch this many times more.
const REFRESH_SHARE: f64 = 16.0;
/// Rows that tell the bias to begin with.
const BIAS_SAMPLE: usize = 1000;
/// Rows that tell the scales after dropout, and those of an ensemble.
pub(super) const REFIT_SAMPLE: usize = 10_000;
/// Log-odds of the rarest class that the bias begins with.
const MOST_LOG_ODDS: f64 = 6.0;

impl Machine {
    /// Begin to learn a score function.
    ///
    /// # Errors
    /// If it is stopped.
    pub fn new(
        encoder: &Encoder,
        examples: &Examples,
        seat: Seat,
        params: &Params,
        run: Run,
    ) -> Result<Self> {
        let mut rng = random::stream(params.seed, random::START + seat.stream());
        let tilings = encoder.tilings() as usize;
        let active_in_all = (examples.cells.active_features() * tilings).max(1) as f64;
        let active = active_in_all / examples.targets.rows() as f64;
        let proxies = params.start.proxies(encoder, params.m, active, &mut rng, run.stop)?;
        let spaced = REFRESH_SHARE * f64::from(encoder.rows()) / active;
        let (center, spread) = match examples.targets {
            Targets::Classes { .. } => (0.0, 1.0),
            Targets::Numbers { center, spread, .. } => (*center, *spread),
        };
        let learner = Learner::new(proxies, tilings, params, run.isa)?;
        let mut machine = Self {
            scale: learner.scale(),
            kept_scale: learner.scale(),
            learner,
            function: seat.function,
            loss: params.loss,
            first_rate: params.learning_rate,
            refresh: REFRESH.max(spaced as usize),
            visits: 0,
            starts: Vec::new(),
            dropout: Dropout::new(params, seat),
            signs: params.method.has_signs(),
            kept: Kept::Signs([Vec::new(), Vec::new()]),
            center,
            spread,
        };
        machine.start_bias(examples, run.stop)?;
        Ok(machine)
    }

    /// A pass over the rows in the given order, with a share of the learning rate; the training loss as they were visited,
    /// and the loss on held-out rows.
    ///
    /// # Errors
    /// If it is stopped.
    pub fn epoch(
        &mut self,
        share: f64,
        examples: &Examples,
        order: &[u32],
        valid: Option<&Examples>,
        stop: &Stop,
    ) -> Result<(f64, Option<f64>)> {
        self.begin_pass(share);
        let (mut total, mut weights) = (0.0, 0.0);
        for row in examples.visits(order) {
            stop.check()?;
            let (y, weight) = (examples.targets.at(self.function, row), examples.weight(row));
            let (loss, slope) = self.loss.value_and_slope(self.look(examples, row), y);
            self.learn(examples, row, slope * weight);
            total += loss * weight;
            weights += weight;
        }
        self.end_pass(examples, order, stop)?;
        let held_out = valid.map(|valid| self.mean_loss(valid, stop)).transpose()?;
        Ok((total / weights, held_out))
    }

    /// Begin a pass with a share of the learning rate.
    pub fn begin_pass(&mut self, share: f64) {
        self.learner.set_rate(self.first_rate * share);
        self.visits = 0;
    }

    /// The score of a row under training, of which some features may be left out; [`Machine::learn`] may follow.
    #[inline]
    pub fn look(&mut self, examples: &Examples, row: usize) -> f64 {
        examples.cells.starts_of(row, &mut self.starts);
        let values = self.dropout.thin(&mut self.starts, examples.cells.values_of(row));
        let terms = self.learner.terms(&self.starts, values);
        self.learner.scale().score(terms)
    }

    /// Move what was active in the row that was looked at last; `slope` is ℓ' there.
    #[inline]
    pub fn learn(&mut self, examples: &Examples, row: usize, slope: f64) {
        let values = self.dropout.left(examples.cells.values_of(row));
        self.learner.step(&self.starts, values, slope);
        self.visits += 1;
        if self.visits.is_multiple_of(self.refresh) {
            self.learner.refresh();
        }
    }

    /// End a pass: the scales come to rest.
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

    /// The score of a row with all its features, after a pass.
    pub fn score(&mut self, examples: &Examples, row: usize) -> f64 {
        examples.cells.starts_of(row, &mut self.starts);
        let terms = self.learner.terms(&self.starts, examples.cells.values_of(row));
        self.scale.score(terms)
    }

    /// Keep the weights and scales of now.
    pub fn keep(&mut self) {
        self.kept = self.learner.keep();
        self.kept_scale = self.scale;
    }

    /// Whether the kept sign of w is +1.
    pub fn kept_w(&self, row: usize) -> bool {
        matches!(&self.kept, Kept::Signs([w, _]) if bit(w, row))
    }

    /// Whether a kept sign of v is +1; `index` counts through all rows.
    pub fn kept_v(&self, index: usize) -> bool {
        matches!(&self.kept, Kept::Signs([_, v]) if bit(v, index))
    }

    /// The kept signs of w and v, ±1.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn kept_signs(&self) -> Result<(Vec<f32>, Vec<f32>)> {
        let (rows, factors) = self.learner.sizes();
        let (mut w, mut v) = (filled(rows, -1.0)?, filled(rows * factors, -1.0)?);
        let positive = |w: &mut [f32], is_positive: &dyn Fn(usize) -> bool| {
            (0..w.len()).filter(|&i| is_positive(i)).for_each(|i| w[i] = 1.0);
        };
        positive(&mut w, &|row| self.kept_w(row));
        positive(&mut v, &|index| self.kept_v(index));
        Ok((w, v))
    }

    /// Keep other signs and scales instead.
    pub fn keep_signs(&mut self, w: &[f32], v: &[f32], scale: Scale) {
        self.kept = Kept::Signs([pack(w), pack(v)]);
        self.kept_scale = scale;
    }

    /// Which score function it is.
    pub fn function(&self) -> usize {
        self.function
    }

    /// What it minimises.
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// The kept scales.
    pub fn kept_scale(&self) -> Scale {
        self.kept_scale
    }

    /// Scales in the units of the target.
    pub fn in_units(&self, scale: Scale) -> Real {
        let Real { bias, alpha, beta_squared } = scale.real();
        Real {
            bias: self.center + self.spread * bias,
            alpha: self.spread * alpha,
            beta_squared: self.spread * beta_squared,
        }
    }

    /// The kept floats, in the units of the target.
    pub fn kept_reals(&self) -> RealFunction {
        let Kept::Floats(weights) = &self.kept else {
            return RealFunction { bias: 0.0, beta: 0.0, w: Vec::new(), v: Vec::new() };
        };
        let (root, Scale { bias, alpha, beta }) = (self.spread.sqrt(), self.kept_scale);
        let own = if self.signs { 1.0 } else { beta };
        let scaled = |numbers: &[f32], by: f64| {
            numbers.iter().map(|&number| (f64::from(number) * by) as f32).collect()
        };
        RealFunction {
            bias: self.center + self.spread * bias,
            beta: root * beta,
            w: scaled(&weights.w, self.spread * alpha),
            v: scaled(&weights.v, root * own),
        }
    }

    /// The scales with which the signs of now fit rows with all their features best.
    fn refit(&mut self, examples: &Examples, order: &[u32], stop: &Stop) -> Result<Scale> {
        let step = (order.len() / REFIT_SAMPLE).max(1);
        let mut points = Vec::new();
        for &row in order.iter().step_by(step) {
            stop.check()?;
            let row = row as usize;
            examples.cells.starts_of(row, &mut self.starts);
            let terms = self.learner.terms(&self.starts, examples.cells.values_of(row));
            let (y, weight) = (examples.targets.at(self.function, row), examples.weight(row));
            points.push(Point { terms, y, weight, offset: 0.0 });
        }
        Ok(refit::scale(&points, self.loss == Loss::Squared, self.learner.scale()))
    }

    fn mean_loss(&mut self, examples: &Examples, stop: &Stop) -> Result<f64> {
        let (mut total, mut weights) = (0.0, 0.0);
        for &row in &examples.rows {
            stop.check()?;
            let row = row as usize;
            let score = self.score(examples, row);
            total += self.loss.value(score, examples.targets.at(self.function, row))
                * examples.weight(row);
            weights += examples.weight(row);
        }
        Ok(total / weights)
    }

    /// Begin where the mean score of some rows is the log-odds of the class (logistic, softmax) or zero: the random signs of
    /// the start, which agree within a feature, have a mean of their own.
    fn start_bias(&mut self, examples: &Examples, stop: &Stop) -> Result<()> {
        let rows = examples.counted_rows();
        let step = (rows.len() / BIAS_SAMPLE).max(1);
        let sample: Vec<usize> = rows.iter().step_by(step).map(|&row| row as usize).collect();
        let mut mean = 0.0;
        for &row in &sample {
            stop.check()?;
            examples.cells.starts_of(row, &mut self.starts);
            let terms = self.learner.terms(&self.starts, examples.cells.values_of(row));
            mean += self.learner.scale().score(terms) / sample.len() as f64;
        }
        let wanted = match self.loss {
            Loss::Logistic | Loss::Softmax => self.log_odds(examples, &rows),
            Loss::Hinge | Loss::SquaredHinge | Loss::Squared => 0.0,
        };
        self.learner.set_bias(wanted - mean);
        Ok(())
    }

    fn log_odds(&self, examples: &Examples, rows: &[u32]) -> f64 {
        let (mut positive, mut all) = (0.0, 0.0);
        for &row in rows {
            let weight = examples.weight(row as usize);
            all += weight;
            if examples.targets.at(self.function, row as usize) > 0.0 {
                positive += weight;
            }
        }
        libm::log(positive / (all - positive)).clamp(-MOST_LOG_ODDS, MOST_LOG_ODDS)
    }
}

fn bit(words: &[u64], index: usize) -> bool {
    words[index / 64] >> (index % 64) & 1 == 1
}
