//! What learns one output.

use super::batch::{Decoded, Decoder};
use super::kept::{Kept, KeptSigns};
use super::levels;
use super::linear::{Linear, Solution};
use super::learner::{Learner, Workspace};
use super::quiet::{Quiet, Strength};
use super::refit::{self, Point};
use super::rows::Rows;
use super::state::{Scale, State};
use super::{Context, Examples, Objective, ValidParams, rng};
use crate::encoding::Encoder;
use crate::memory::{collect, filled, with_capacity};
use crate::model::{FloatOutput, Method, RealScale};
use crate::threads::Stop;
use crate::{Error, Result};
use std::sync::Arc;

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

/// An output under training, and the weights and scales of its best epoch so far.
pub struct Head {
    /// How it learns.
    pub rules: Rules,
    /// What it has learned.
    pub state: State,
    method: Method,
    /// The scales of the state or, with dropout, those refitted to all features.
    scale: Scale,
    kept: Kept,
    kept_scale: Scale,
    /// Mean and standard deviation of the target.
    units: (f64, f64),
}

/// What heads are made by.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// How samples are encoded.
    pub encoder: &'a Encoder,
    /// All parameters.
    pub params: &'a ValidParams,
    /// What is minimized.
    pub objective: Objective,
    /// The rows of the parameter table.
    pub rows: &'a Arc<Rows>,
    /// How strongly weights are pulled towards rest, if they have rest values.
    pub strength: Option<Strength>,
}

/// How factors become levels.
#[derive(Clone, Copy)]
pub struct Rounding {
    /// β of the model.
    pub beta: f64,
    /// How much louder it is than the numbers that levels stand for.
    pub pairs: f64,
}

/// How an output learns.
pub struct Rules {
    /// How it learns from a batch.
    pub learner: Learner,
    /// Which output of which member it is.
    pub id: HeadId,
    /// What it minimizes.
    pub objective: Objective,
    /// Samples between two refreshes of the scales.
    pub refresh_interval: usize,
    /// Rows of the parameter table.
    pub rows: Arc<Rows>,
}

/// Samples between two refreshes of the scales, where the parameter table is small.
const REFRESH_INTERVAL: usize = 1000;
/// A refresh reads all rows of the parameter table; training should touch this many times more between two of them.
const REFRESH_SHARE: f64 = 16.0;
/// Samples that determine the initial bias.
const BIAS_SAMPLES: usize = 1000;
/// Samples that determine the scales after dropout, and those of an ensemble.
pub(super) const REFIT_SAMPLES: usize = 10_000;
/// Sweeps that solve w for rounded factors.
const ROUNDED_SWEEPS: usize = 10;
/// Bound on the initial bias in log-odds, for rare classes.
const MAX_LOG_ODDS: f64 = 6.0;
/// Samples per batch where nothing is learned.
pub(super) const READ_BATCH: usize = 256;

impl Head {
    /// Initializes a head.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn new(plan: Plan, examples: &Examples, id: HeadId, context: Context) -> Result<Self> {
        let Plan { encoder, params, objective, rows, strength } = plan;
        let mut rng = rng::stream(params.seed, rng::INIT + id.stream());
        let tilings = encoder.tilings() as usize;
        let (m, active) = (params.factors_per_member(), examples.mean_active(tilings));
        let (quiet, weights) = match strength {
            Some(strength) => {
                let (quiet, weights) = Quiet::new(encoder, Arc::clone(rows), m, strength, &mut rng)?;
                (Some(quiet), weights)
            }
            None => (None, params.init.weights(encoder, m, active, &mut rng, context.stop)?),
        };
        let spaced = REFRESH_SHARE * f64::from(encoder.rows()) / active;
        let rules = Rules {
            learner: Learner::new(params, tilings, quiet, context.isa),
            id,
            objective,
            refresh_interval: REFRESH_INTERVAL.max(spaced as usize),
            rows: Arc::clone(rows),
        };
        let mut state = State::new(weights, params.optimizer)?;
        rules.learner.refresh(&mut state);
        rules.init_bias(&mut state, examples, context.stop)?;
        Ok(Self {
            rules,
            scale: state.scale,
            kept_scale: state.scale,
            kept: Kept::Signs(KeptSigns::default()),
            method: params.method,
            units: examples.target.units(),
            state,
        })
    }

    /// Takes the scales of the state after a pass, and sees which features were relevant.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn end_pass(&mut self) -> Result<()> {
        self.rules.learner.refresh(&mut self.state);
        if let Some(quiet) = self.rules.learner.quiet_mut() {
            quiet.update_relevance(&self.state.weights)?;
        }
        self.scale = self.state.scale;
        Ok(())
    }

    /// Refits the scales to some samples with all their features.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn refit(&mut self, examples: &Examples, stop: &Stop) -> Result<()> {
        self.scale = self.rules.refit(&self.state, examples, stop)?;
        Ok(())
    }

    /// Returns the scales after the last pass.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Keeps the current weights and scales.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn keep(&mut self, rounding: Option<Rounding>, linear: Option<&Linear>, context: Context) -> Result<()> {
        if let Some(rounding) = rounding {
            let mut state = self.rounded_state(rounding, linear, context)?;
            levels::take_back_own_pairs(&mut state.weights, &self.rules.rows)?;
            self.kept = Kept::new(self.method, self.rules.learner.w_kind(), &state)?;
            self.kept_scale = Scale { beta: state.weights.v.first().map_or(1.0, |v| f64::from(v.abs())), ..state.scale };
            return Ok(());
        }
        self.kept = Kept::new(self.method, self.rules.learner.w_kind(), &self.state)?;
        self.kept_scale = self.scale;
        Ok(())
    }

    /// Returns how its factors become levels of some strength, if they do.
    pub fn rounding(&self, strength: Strength) -> Option<Rounding> {
        let beta = levels::beta(&self.state.weights, &self.rules.rows, strength.levels?);
        Some(Rounding { beta: strength.pairs * beta, pairs: strength.pairs })
    }

    /// Returns a head with factors rounded to levels, and w solved for them.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn rounded(&self, rounding: Rounding, linear: Option<&Linear>, context: Context) -> Result<Self> {
        let state = self.rounded_state(rounding, linear, context)?;
        let kept = Kept::Signs(KeptSigns::default());
        Ok(Self { rules: self.rules.copied()?, scale: state.scale, state, kept, ..*self })
    }

    fn rounded_state(
        &self,
        Rounding { beta, pairs }: Rounding,
        linear: Option<&Linear>,
        context: Context,
    ) -> Result<State> {
        let mut state = self.state.copied()?;
        levels::round(&mut state.weights, &self.rules.rows, beta / pairs)?;
        state.weights.v.iter_mut().for_each(|v| *v *= pairs as f32);
        if let Some(linear) = linear {
            self.rules.solve(&mut state, linear, ROUNDED_SWEEPS, context)?;
        }
        Ok(state)
    }

    /// Keeps other signs and scales instead.
    pub fn keep_signs(&mut self, signs: KeptSigns, scale: Scale) {
        self.kept = Kept::Signs(signs);
        self.kept_scale = scale;
    }

    /// Returns the kept signs.
    ///
    /// # Errors
    /// [`Error::Internal`] if its weights are not signs.
    pub fn kept_signs(&self) -> Result<&KeptSigns> {
        match &self.kept {
            Kept::Signs(signs) => Ok(signs),
            Kept::Floats(_) => Err(Error::Internal),
        }
    }

    /// Returns the kept scales.
    pub fn kept_scale(&self) -> Scale {
        self.kept_scale
    }

    /// Returns scales in the units of the target.
    pub fn in_target_units(&self, scale: Scale) -> RealScale {
        let RealScale { bias, alpha, beta_squared } = scale.real();
        let (center, spread) = self.units;
        RealScale {
            bias: center + spread * bias,
            alpha: spread * alpha,
            beta_squared: spread * beta_squared,
        }
    }

    /// Returns the kept floats, in the units of the target.
    ///
    /// # Errors
    /// [`Error::Internal`] if its weights are signs.
    pub fn kept_floats(&self) -> Result<FloatOutput> {
        let Kept::Floats(weights) = &self.kept else { return Err(Error::Internal) };
        let (center, spread) = self.units;
        let (root, Scale { bias, alpha, beta }) = (spread.sqrt(), self.kept_scale);
        let own = if self.method.has_sign_factors() { 1.0 } else { beta };
        let scaled = |numbers: &[f32], by: f64| {
            collect(numbers.iter().map(|&number| (f64::from(number) * by) as f32))
        };
        Ok(FloatOutput {
            bias: center + spread * bias,
            beta: root * beta,
            w: scaled(&weights.w, spread * alpha)?,
            v: scaled(&weights.v, root * own)?,
        })
    }
}

impl Head {
    /// Solves w and the bias for the current factors.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn solve_linear(&mut self, linear: &Linear, sweeps: usize, context: Context) -> Result<()> {
        self.rules.solve(&mut self.state, linear, sweeps, context)?;
        if let Some(quiet) = self.rules.learner.quiet_mut() {
            quiet.rest_at(&self.state.weights.w);
        }
        self.scale = self.state.scale;
        Ok(())
    }

    /// Calls `each` with the score of each of some samples, in the units of the target.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn each_score(
        &self,
        examples: &Examples,
        samples: &[u32],
        stop: &Stop,
        mut each: impl FnMut(f64),
    ) -> Result<()> {
        let (center, spread) = self.units;
        self.rules.each_terms(&self.state, examples, samples, stop, |_, terms| {
            each(center + spread * self.scale.score(terms));
        })
    }
}

impl Rules {
    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    fn copied(&self) -> Result<Self> {
        Ok(Self { learner: self.learner.copied()?, rows: Arc::clone(&self.rows), ..*self })
    }

    /// Solves w and the bias of a state for its factors.
    fn solve(&self, state: &mut State, linear: &Linear, sweeps: usize, context: Context) -> Result<()> {
        let Some(quiet) = self.learner.quiet() else { return Ok(()) };
        let offsets = self.offsets(state, linear.examples(), context)?;
        let State { weights, scale, .. } = state;
        let mut solution = Solution { w: &mut weights.w, bias: &mut scale.bias };
        linear.solve(&mut solution, self.id.output, &offsets, quiet.strength().w, sweeps, context)
    }

    /// Returns what the pairs add to the score of each sample.
    fn offsets(&self, state: &State, examples: &Examples, context: Context) -> Result<Vec<f64>> {
        let beta_squared = state.scale.beta * state.scale.beta;
        let mut offsets = filled(examples.samples.len(), 0.0)?;
        let size = offsets.len().div_ceil(context.threads.count()).max(1);
        let parts = offsets.chunks_mut(size).zip(examples.samples.chunks(size));
        context.threads.map(parts, || (), |(), (offsets, samples): (&mut [f64], &[u32])| {
            let mut offsets = offsets.iter_mut();
            self.each_terms(state, examples, samples, context.stop, |_, [_, pairs]| {
                offsets.next().into_iter().for_each(|offset| *offset = beta_squared * pairs);
            })
        })?;
        Ok(offsets)
    }

    /// Calls `each` with L and Q of some samples, with all their features.
    fn each_terms(
        &self,
        state: &State,
        examples: &Examples,
        samples: &[u32],
        stop: &Stop,
        mut each: impl FnMut(usize, [f64; 2]),
    ) -> Result<()> {
        let (mut decoder, mut batch) = (Decoder::default(), Decoded::default());
        let mut workspace = Workspace::default();
        decoder.prepare(&self.rows)?;
        for samples in samples.chunks(READ_BATCH) {
            stop.check()?;
            decoder.decode(examples.table, samples, None, &mut batch)?;
            self.learner.forward(state, batch.view(), &mut workspace)?;
            for (&sample, &terms) in samples.iter().zip(workspace.terms()) {
                each(sample as usize, terms);
            }
        }
        Ok(())
    }

    /// Returns the scales with which the weights fit samples with all their features best.
    fn refit(&self, state: &State, examples: &Examples, stop: &Stop) -> Result<Scale> {
        let samples = spread_evenly(&examples.samples, REFIT_SAMPLES)?;
        let mut points = with_capacity(samples.len())?;
        self.each_terms(state, examples, &samples, stop, |sample, terms| {
            let (y, weight) = (examples.target.at(self.id.output, sample), examples.weight(sample));
            points.push(Point { terms, y, weight, offset: 0.0 });
        })?;
        Ok(refit::scale(&points, self.objective.smooth(), state.scale))
    }

    /// Sets the bias so that the mean score of some samples is the log-odds of the class (logistic, softmax) or zero, to
    /// which the units of numbers are relative: random signs, which agree within a feature, have a mean of their own.
    fn init_bias(&self, state: &mut State, examples: &Examples, stop: &Stop) -> Result<()> {
        let some = spread_evenly(&examples.samples, BIAS_SAMPLES)?;
        let (mut mean, mut mean_pairs) = (0.0, 0.0);
        let scale = state.scale;
        self.each_terms(state, examples, &some, stop, |_, terms| {
            mean += scale.score(terms) / some.len() as f64;
            mean_pairs += terms[1] / some.len() as f64;
        })?;
        state.mean_pairs = mean_pairs;
        let wanted = if self.objective.loss.has_probabilities() { self.log_odds(examples) } else { 0.0 };
        state.scale.bias = wanted - mean;
        Ok(())
    }

    fn log_odds(&self, examples: &Examples) -> f64 {
        let (mut positive, mut all) = (0.0, 0.0);
        for &sample in examples.samples.iter() {
            let weight = examples.weight(sample as usize);
            all += weight;
            if examples.target.at(self.id.output, sample as usize) > 0.0 {
                positive += weight;
            }
        }
        libm::log(positive / (all - positive)).clamp(-MAX_LOG_ODDS, MAX_LOG_ODDS)
    }
}

/// Returns at most about twice `count` samples, spread evenly.
///
/// # Errors
/// If there is not enough memory.
pub fn spread_evenly(samples: &[u32], count: usize) -> Result<Vec<u32>> {
    collect(samples.iter().step_by((samples.len() / count).max(1)).copied())
}
