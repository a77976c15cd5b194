//! Training that can be resumed, on the same samples or on others.

use super::ensemble::{self, Joined};
use super::head::{Head, SignLearner};
use super::heads::{HeadInit, Heads, Pass};
use super::history::History;
use super::visitors::Visitors;
use super::{Context, EpochReport, Examples, Schedule, ValidParams, polish, rng};
use crate::data::{Dataset, Schema, Table, Target};
use crate::encoding::{Encoder, PackedTable};
use crate::memory::check_available;
use crate::model::{FloatWeights, Loss, Model, RealScale, Scales, SignRows, Weights};
use crate::{Error, Result};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::ops::ControlFlow;

/// Called after each epoch; may end training.
pub type OnEpoch<'a> = dyn FnMut(&EpochReport) -> ControlFlow<()> + 'a;

/// Everything that training remembers between two passes.
pub struct Trainer {
    encoder: Encoder,
    schema: Schema,
    params: ValidParams,
    /// What is minimized: the loss of the parameters, but logistic instead of softmax for a single output.
    loss: Loss,
    /// No samples, in the units of the first ones.
    target: Target,
    heads: Heads,
    /// What the members of each output have become; empty where there is one member.
    joined: Vec<Joined>,
    /// 1 / mean weight of the first samples.
    weight_unit: Option<f64>,
    order: Vec<u32>,
    rng: Xoshiro256PlusPlus,
    /// Passes by which the learning rate has decayed.
    passes: usize,
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

/// Lists of sample numbers that training holds at a time, at most.
const SAMPLE_LISTS: usize = 6;
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
        let target = dataset.target.like(&[]);
        let loss = match params.loss {
            Loss::Softmax if target.outputs() == 1 => Loss::Logistic, // the same for two classes
            loss => loss,
        };
        Ok(Self {
            encoder,
            schema,
            loss,
            target,
            heads: Heads::new(params.method),
            joined: Vec::new(),
            weight_unit: None,
            order: Vec::new(),
            rng: rng::stream(params.seed, rng::SHUFFLE),
            passes: 0,
            params,
        })
    }

    /// Returns targets in the units of the first dataset.
    pub fn target(&self, y: &[f64]) -> Target {
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
        let encode = |name, table: Table| {
            self.encoder.check_width(name, table.columns())?;
            PackedTable::new(&self.encoder, context.isa, table, context.threads, context.stop)
        };
        let table = encode("X", dataset.table)?;
        let valid = match valid {
            Some(valid) => Some((encode("eval_set's X", valid.table)?, valid)),
            None => None,
        };
        check_available::<[u32; SAMPLE_LISTS]>(dataset.table.samples())?;
        let all = Examples::all(&table, &dataset.target, dataset.weight);
        let (examples, held_out) = match &valid {
            Some((table, valid)) => {
                (all, Some(Examples::all(table, &valid.target, valid.weight)))
            }
            None => all.hold_out(schedule.holdout, self.params.seed),
        };
        let unit = *self.weight_unit.get_or_insert(examples.unit());
        let examples = examples.in_units_of(unit);
        self.init_heads(&examples, context)?;
        self.set_order(&examples);
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
        for epoch in 1..=schedule.epochs {
            rng::shuffle(&mut self.order, &mut self.rng);
            let pass = Pass {
                rate_factor: schedule.rate_factor(epoch, self.passes),
                examples,
                order: &self.order,
                valid,
                together: self.heads_together(),
            };
            let losses = self.heads.run(pass, context)?;
            self.passes += usize::from(!schedule.steady);
            let report = EpochReport::mean(epoch, &losses);
            if history.push(report) {
                self.heads.keep();
            }
            if on_epoch(&report).is_break() || history.is_over() {
                break;
            }
        }
        Ok(history)
    }

    fn outputs(&self) -> usize {
        self.target.outputs()
    }

    /// Returns how many heads learn from each other.
    fn heads_together(&self) -> usize {
        if self.loss == Loss::Softmax { self.outputs() } else { 1 }
    }

    /// Initializes the heads before the first pass.
    fn init_heads(&mut self, examples: &Examples, context: Context) -> Result<()> {
        let outputs = self.outputs();
        let (encoder, params, loss) = (&self.encoder, &self.params, self.loss);
        let init = HeadInit { encoder, examples, params, loss };
        if self.heads.init(outputs, init, context)? {
            self.check_memory_for_copies(outputs * self.params.ensemble)?;
        }
        Ok(())
    }

    /// Checks that there is memory for the kept weights and for the model made of them.
    fn check_memory_for_copies(&self, heads: usize) -> Result<()> {
        let per_row = self.params.factors_per_member() + 1;
        let weights = (self.encoder.rows() as usize).saturating_mul(per_row).saturating_mul(heads);
        match self.heads {
            Heads::Sign(_) => check_available::<[u8; WEIGHT_COPIES]>(weights.div_ceil(8)),
            Heads::Float(_) => check_available::<[f32; WEIGHT_COPIES]>(weights),
        }
    }

    /// Starts a new order of samples, if they are others than before.
    fn set_order(&mut self, examples: &Examples) {
        let samples = examples.weighted_samples();
        if self.order.len() != samples.len()
            || !self.order.iter().all(|sample| samples.binary_search(sample).is_ok())
        {
            self.order = samples;
        }
    }

    /// Flips kept signs where that lowers the loss.
    fn polish(&mut self, examples: &Examples, context: Context) -> Result<()> {
        let (together, passes) = (self.heads_together(), self.params.polish);
        let Heads::Sign(heads) = &mut self.heads else { return Ok(()) };
        if passes == 0 {
            return Ok(());
        }
        let numbers = together.max(self.params.factors_per_member());
        let visitors = Visitors::new(&self.encoder, examples, numbers, context.stop)?;
        context.threads.map(
            heads.chunks_mut(together),
            || (),
            |(), heads: &mut [Head<SignLearner>]| {
                polish::polish(heads, &visitors, examples, passes, context.stop)
            },
        )?;
        Ok(())
    }

    /// Joins the kept members of each output into one.
    fn join(&mut self, examples: &Examples, context: Context) -> Result<()> {
        let (outputs, m) = (self.outputs(), self.params.factors_per_member());
        let Heads::Sign(heads) = &self.heads else { return Ok(()) };
        if self.params.ensemble == 1 {
            return Ok(());
        }
        let join = |(): &mut (), output| {
            let members: Vec<_> = heads.iter().skip(output).step_by(outputs).collect();
            ensemble::join(&members, m, &self.encoder, examples, context)
        };
        self.joined = context.threads.map(0..outputs, || (), join)?;
        Ok(())
    }

    /// Returns the model of the best epoch of the last fit.
    fn model(&self) -> Result<Model> {
        let weights = match &self.heads {
            Heads::Sign(heads) => self.sign_weights(heads)?,
            Heads::Float(heads) => {
                let outputs: Vec<_> = heads.iter().map(Head::kept_output).collect();
                Weights::Floats(FloatWeights::new(self.params.method, self.params.m, &outputs))
            }
        };
        let labels = self.schema.labels.clone();
        let model = Model::new(self.encoder.clone(), weights, self.loss, labels)?;
        let model = model.checked_finite()?.compact()?;
        match &self.schema.names {
            Some(names) => model.with_names(names.clone()),
            None => Ok(model),
        }
    }

    /// Collects the kept signs and scales of all outputs.
    fn sign_weights(&self, heads: &[Head<SignLearner>]) -> Result<Weights> {
        let (outputs, per_member) = (self.outputs(), self.params.factors_per_member());
        let is_positive = |output: usize, row: usize, column: usize| match column.checked_sub(1) {
            None if self.joined.is_empty() => heads[output].kept_w(row),
            None => self.joined[output].w[row],
            Some(factor) => {
                let member = factor / per_member;
                let head = &heads[member * outputs + output];
                head.kept_v(row * per_member + factor % per_member)
            }
        };
        let rows = self.encoder.rows() as usize;
        let signs = SignRows::new(rows, outputs, self.params.m, is_positive);
        let real: Vec<_> = match &self.joined[..] {
            [] => heads.iter().map(|head| head.in_target_units(head.kept_scale())).collect(),
            joined => joined.iter().map(|joined| joined.scale).collect(),
        };
        if !real.iter().all(RealScale::is_finite) {
            return Err(Error::Diverged);
        }
        Ok(Weights::Signs { signs, scales: Scales::new(&real) })
    }
}
