//! Training that can be resumed, on the same samples or on others.

use super::batches::{self, Batches};
use super::ensemble::{self, Joined};
use super::head::{Head, Plan};
use super::heads::{Epoch, Heads};
use super::history::History;
use super::linear::Linear;
use super::quiet::Strength;
use super::round::Rounded;
use super::rows::Rows;
use super::visitors::Visitors;
use super::{
    Context, EncodedSamples, EpochReport, Examples, HeldOut, Objective, Schedule, ValidParams, polish,
};
use crate::data::{Dataset, Schema, Target};
use crate::encoding::Encoder;
use crate::memory::{check_available, collect, copied, try_collect};
use crate::model::{FloatWeights, Method, Model, RealScale, SignRows, SignShape, Weights};
use crate::{Error, Result};
use std::ops::ControlFlow;
use std::sync::Arc;

/// Called after each epoch, with the scores of held-out samples if the schedule asks for them; may set the metric that
/// decides which epoch is best, and may end training.
pub type OnEpoch<'a> = dyn FnMut(&mut EpochReport, Option<HeldOut>) -> ControlFlow<()> + 'a;

/// Everything that training remembers between two passes.
pub struct Trainer {
    encoder: Arc<Encoder>,
    schema: Arc<Schema>,
    params: ValidParams,
    /// What is minimized: that of the parameters, but logistic instead of softmax for a single output.
    objective: Objective,
    /// No samples, in the units of the first ones.
    target: Target,
    /// None before the first pass.
    rows: Option<Arc<Rows>>,
    /// None before the first pass.
    heads: Option<Heads>,
    /// What the members of each output have become; empty where there is one member.
    joined: Vec<Joined>,
    /// 1 / mean weight of the first samples.
    weight_unit: Option<f64>,
    /// Passes so far.
    passes: u64,
    /// Passes by which the learning rate has decayed.
    decays: usize,
}

/// The outcome of training.
pub struct Trained {
    /// The model of the best epoch.
    pub model: Model,
    /// A report of each epoch.
    pub history: Vec<EpochReport>,
    /// The epoch whose model it is, counted from 1.
    pub best_epoch: usize,
}

/// Copies of the weights at a time, besides those that learn: kept, in the units of the target, and in the model.
const WEIGHT_COPIES: usize = 4;

impl Trainer {
    /// Learns how to encode a dataset; nothing is trained yet.
    ///
    /// # Errors
    /// If a column cannot be encoded, there is not enough memory, or it is stopped.
    pub fn new(
        dataset: &Dataset,
        schema: Schema,
        params: ValidParams,
        context: Context,
    ) -> Result<Self> {
        let encoding = params.encoding();
        let encoder = Encoder::fit(dataset, &schema, &encoding, context.threads, context.stop)?;
        let units = dataset.target.like(&[])?;
        Ok(Self::with_encoder(Arc::new(encoder), Arc::new(schema), units, params))
    }

    /// Starts with an encoder that was learned before, and with no samples in the units of the target.
    pub fn with_encoder(
        encoder: Arc<Encoder>,
        schema: Arc<Schema>,
        target: Target,
        params: ValidParams,
    ) -> Self {
        Self {
            encoder,
            schema,
            objective: params.objective_of(target.outputs()),
            target,
            rows: None,
            heads: None,
            joined: Vec::new(),
            weight_unit: None,
            passes: 0,
            decays: 0,
            params,
        }
    }

    /// Returns how samples are encoded.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// Returns targets in the units of the first dataset.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn target(&self, y: &[f64]) -> Result<Target> {
        self.target.like(y)
    }

    /// Trains on a dataset from the current state, and evaluates on `valid` or on samples held out of the dataset.
    ///
    /// # Errors
    /// If a dataset has the wrong width, there is not enough memory, training diverges, or it is stopped.
    pub fn fit(
        &mut self,
        dataset: &Dataset,
        valid: Option<&Dataset>,
        schedule: Schedule,
        context: Context,
        on_epoch: &mut OnEpoch,
    ) -> Result<Trained> {
        let mut samples = EncodedSamples::new(&self.encoder, "X", dataset, context)?;
        if self.params.is_quiet() {
            samples = samples.with_centers(&self.encoder, dataset, context)?;
        }
        let valid = match valid {
            Some(valid) => {
                Some(EncodedSamples::new(&self.encoder, "eval_set's X", valid, context)?)
            }
            None => None,
        };
        self.fit_encoded(&samples, valid.as_ref(), schedule, context, on_epoch)
    }

    /// Does the same on samples that its encoder has encoded.
    ///
    /// # Errors
    /// If there is not enough memory, training diverges, or it is stopped.
    pub fn fit_encoded(
        &mut self,
        samples: &EncodedSamples,
        valid: Option<&EncodedSamples>,
        schedule: Schedule,
        context: Context,
        on_epoch: &mut OnEpoch,
    ) -> Result<Trained> {
        let all = samples.examples();
        let (examples, held_out) = match valid {
            Some(valid) => (all, Some(valid.examples())),
            None => all.hold_out(schedule.holdout, self.params.seed)?,
        };
        let unit = *self.weight_unit.get_or_insert(examples.unit());
        let examples = examples.in_units_of(unit);
        let rows = self.count_rows(&examples, context)?;
        self.init_heads(&examples, &rows, context)?;
        let history =
            self.run_epochs(&examples, held_out.as_ref(), schedule, context, on_epoch)?;
        self.polish(&examples, context)?;
        self.join(&examples, context)?;
        let (best_epoch, model) = (history.best(), self.model()?);
        Ok(Trained { model, history: history.into_reports(), best_epoch })
    }

    fn run_epochs(
        &mut self,
        examples: &Examples,
        valid: Option<&Examples>,
        schedule: Schedule,
        context: Context,
        on_epoch: &mut OnEpoch,
    ) -> Result<History> {
        let mut history =
            History::new(schedule.early_stopping && valid.is_some(), schedule.patience);
        let (samples, rows) = (examples.samples.len(), self.encoder.rows() as usize);
        let visits = examples.table.active_features();
        let shards = examples.shards(batches::shards(&self.params, samples, visits, rows))?;
        let size = batches::size(&self.params, samples, self.outputs());
        let mut batches = Batches::new(examples, &shards, size)?;
        if self.params.dropout == 0.0 {
            batches = batches.decode(self.rows()?, context)?;
        }
        let rows = Arc::clone(self.rows()?);
        // Solved for the samples of a later part, w would forget those before.
        let most = batches::solved(samples, visits, rows.len());
        let some = (samples > most).then(|| examples.first(most)).transpose()?;
        let linear = if self.params.is_quiet() && (!schedule.steady || self.passes == 0) {
            let linear = Linear::new(some.as_ref().unwrap_or(examples), &rows, self.objective, context)?;
            linear.map(|linear| if self.params.levels { linear.balanced(context) } else { Ok(linear) }).transpose()?
        } else {
            None
        };
        let linear = linear.as_ref();
        let rate = self.params.learning_rate * (shards.len() as f64).sqrt().sqrt();
        for epoch in 1..=schedule.epochs {
            let (passes, heads) = (self.passes, self.heads.as_mut().ok_or(Error::Internal)?);
            let rate = rate * schedule.rate_factor(epoch, self.decays);
            let is_last = epoch == schedule.epochs;
            let batches = &batches;
            let losses = heads.run(Epoch { rate, passes, batches, valid, linear, is_last }, context)?;
            self.passes += 1;
            self.decays += usize::from(!schedule.steady);
            let mut report = EpochReport::mean(epoch, &losses);
            let held_out = match valid.filter(|_| schedule.scores) {
                Some(valid) => Some(heads.held_out(valid, linear, context)?),
                None => None,
            };
            let flow = on_epoch(&mut report, held_out);
            if history.push(report) && history.chooses_best() {
                heads.keep(linear, context)?;
            }
            if flow.is_break() || history.is_over() {
                break;
            }
        }
        if !history.chooses_best() {
            let last = self.heads.as_mut().ok_or(Error::Internal)?;
            if let Some(linear) = linear.filter(|_| history.len() < schedule.epochs) {
                last.solve(linear, context)?;
            }
            last.refit(examples, context)?;
            last.keep(linear, context)?;
        }
        Ok(history)
    }

    fn rows(&self) -> Result<&Arc<Rows>> {
        self.rows.as_ref().ok_or(Error::Internal)
    }

    fn outputs(&self) -> usize {
        self.target.outputs()
    }

    /// Initializes the heads before the first pass.
    fn init_heads(
        &mut self,
        examples: &Examples,
        rows: &Arc<Rows>,
        context: Context,
    ) -> Result<()> {
        if let Some(heads) = &mut self.heads {
            heads.set_rows(rows);
            return Ok(());
        }
        let strength = Strength::of(&self.params);
        let (encoder, params, objective) = (&self.encoder, &self.params, self.objective);
        let plan = Plan { encoder, params, objective, rows, strength };
        let heads = Heads::new(plan, examples, context)?;
        self.check_memory_for_copies(heads.all().len())?;
        self.heads = Some(heads);
        Ok(())
    }

    /// Counts the visits to the rows of the parameter table, if weights have rest values.
    fn count_rows(&mut self, examples: &Examples, context: Context) -> Result<Arc<Rows>> {
        let is_quiet = self.params.is_quiet();
        let mut rows = match self.rows.as_deref() {
            Some(rows) => rows.copied()?,
            None => Rows::new(&self.encoder)?,
        };
        if is_quiet && self.rows.is_none() {
            rows.learn(examples, context)?;
        }
        if is_quiet {
            rows.count(examples, context)?;
        }
        Ok(Arc::clone(self.rows.insert(Arc::new(rows))))
    }

    /// Checks that there is memory for the kept weights and for the model made of them.
    fn check_memory_for_copies(&self, heads: usize) -> Result<()> {
        let (rows, factors) = (self.encoder.rows() as usize, self.params.factors_per_member());
        let bytes_per_row = match self.params.method {
            Method::Bfm => size_of::<f32>() + factors.div_ceil(8),
            _ => size_of::<f32>() * (1 + factors),
        };
        let bytes = rows.saturating_mul(bytes_per_row).saturating_mul(heads);
        check_available::<[u8; WEIGHT_COPIES]>(bytes)
    }

    /// Flips kept signs where that lowers the loss.
    fn polish(&mut self, examples: &Examples, context: Context) -> Result<()> {
        let passes = self.params.polish;
        let Some(heads) = self.heads.as_mut().filter(|_| passes > 0) else { return Ok(()) };
        let numbers = self.target.outputs().max(self.params.factors_per_member());
        let visitors = Visitors::new(&self.encoder, examples, numbers, context.stop)?;
        context.threads.map(
            heads.together(),
            || (),
            |(), heads: &mut [Head]| {
                polish::polish(heads, &visitors, examples, passes, context.stop)
            },
        )?;
        Ok(())
    }

    /// Joins the kept members of each output into one.
    fn join(&mut self, examples: &Examples, context: Context) -> Result<()> {
        let (outputs, m) = (self.outputs(), self.params.factors_per_member());
        if self.params.ensemble == 1 {
            return Ok(());
        }
        let heads = self.heads()?;
        let join = |(): &mut (), output| {
            let members = collect(heads.iter().skip(output).step_by(outputs))?;
            ensemble::join(&members, m, &self.encoder, examples, context)
        };
        self.joined = context.threads.map(0..outputs, || (), join)?;
        Ok(())
    }

    fn heads(&self) -> Result<&[Head]> {
        self.heads.as_ref().map(Heads::all).ok_or(Error::Internal)
    }

    /// Returns the model of the best epoch of the last fit.
    fn model(&self) -> Result<Model> {
        let weights = match self.params.method {
            Method::Bfm => self.sign_weights(self.heads()?)?,
            method => {
                let outputs = try_collect(self.heads()?.iter().map(Head::kept_floats))?;
                Weights::Floats(FloatWeights::new(method, self.params.m, &outputs)?)
            }
        };
        let labels = self.schema.labels.copied()?;
        let model = Model::new(self.encoder.copied()?, weights, self.objective.loss, labels)?;
        let model = model.checked_finite()?.compact()?;
        match &self.schema.names {
            Some(names) => model.with_names(copied(names)?),
            None => Ok(model),
        }
    }

    /// Collects the kept weights and scales of all outputs, with w rounded to its bits.
    fn sign_weights(&self, heads: &[Head]) -> Result<Weights> {
        let (outputs, per_member) = (self.outputs(), self.params.factors_per_member());
        let kept = try_collect(heads.iter().map(Head::kept_signs))?;
        let (w, real): (Vec<&[f32]>, Vec<RealScale>) = match &self.joined[..] {
            [] => {
                let scales = heads.iter().map(|head| head.in_target_units(head.kept_scale()));
                (collect(kept.iter().map(|kept| kept.w()))?, collect(scales)?)
            }
            joined => (
                collect(joined.iter().map(|joined| &joined.w[..]))?,
                collect(joined.iter().map(|joined| joined.scale))?,
            ),
        };
        let is_positive = |output: usize, row: usize, factor: usize| {
            let member = factor / per_member;
            kept[member * outputs + output].v(row * per_member + factor % per_member)
        };
        let (rows, factors) = (self.encoder.rows() as usize, self.params.m);
        let shape = SignShape { rows, outputs, w_bits: self.params.w_bits, factors };
        let rounded = Rounded::new(&w, real, shape.max_w())?;
        let signs = SignRows::new(shape, |output, row| rounded.w(output, row), is_positive)?;
        Ok(Weights::Signs { signs, scales: rounded.scales })
    }
}
