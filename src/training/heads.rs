//! The heads of all outputs and ensemble members, and passes over them.

use super::batches::Batches;
use super::dropout::Dropout;
use super::head::{Head, HeadId, Plan, Rounding};
use super::history::HeldOut;
use super::learner::Pace;
use super::levels;
use super::linear::Linear;
use super::quiet::{Quiet, Strength};
use super::pass::{Losses, Pass, Task, Worker};
use super::state::Merge;
use super::{Context, Examples, rng};
use super::rows::Rows;
use crate::Result;
use crate::memory::{collect, copied, filled, try_collect, with_capacity};
use crate::model::Loss;
use std::sync::Arc;

/// One head for each output of each member of the ensemble, output by output within a member.
pub struct Heads {
    all: Vec<Head>,
    outputs: usize,
    is_softmax: bool,
    dropout: f64,
    seed: u64,
}

/// An epoch.
#[derive(Clone, Copy)]
pub struct Epoch<'a> {
    /// Learning rate.
    pub rate: f64,
    /// Passes that were made before, in this and earlier fits.
    pub passes: u64,
    /// What to learn from.
    pub batches: &'a Batches<'a>,
    /// Samples to evaluate on afterwards.
    pub valid: Option<&'a Examples<'a>>,
    /// The linear term, if it is solved.
    pub linear: Option<&'a Linear<'a>>,
    /// Whether it is the last epoch.
    pub is_last: bool,
}

/// Sweeps over the features that solve the linear term from the beginning, and from an earlier solution.
const FIRST_SWEEPS: usize = 10;
const SWEEPS: usize = 3;
/// Epochs after which the linear term is solved again.
const SOLVE_INTERVAL: u64 = 4;
/// Samples that a thread evaluates at a time.
const EVALUATED: usize = 4096;

impl Heads {
    /// Initializes the heads.
    ///
    /// # Errors
    /// If there is not enough memory, or it is stopped.
    pub fn new(plan: Plan, examples: &Examples, context: Context) -> Result<Self> {
        let params = plan.params;
        let outputs = examples.target.outputs();
        let init = |(): &mut (), i| {
            let id = HeadId { output: i % outputs, member: i / outputs };
            Head::new(plan, examples, id, context)
        };
        Ok(Self {
            all: context.threads.map(0..outputs * params.ensemble, || (), init)?,
            outputs,
            is_softmax: plan.objective.loss == Loss::Softmax,
            dropout: params.dropout,
            seed: params.seed,
        })
    }

    /// Returns the heads.
    pub fn all(&self) -> &[Head] {
        &self.all
    }

    /// Returns groups of heads that learn from each other.
    pub fn together(&mut self) -> impl Iterator<Item = &mut [Head]> {
        let size = if self.is_softmax { self.outputs } else { 1 };
        self.all.chunks_mut(size)
    }

    /// Makes a pass, and returns training and held-out loss of each group of heads.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn run(&mut self, epoch: Epoch, context: Context) -> Result<Vec<(f64, Option<f64>)>> {
        if epoch.passes == 0 {
            if self.holds_linear(epoch) {
                self.solve_linear(epoch, FIRST_SWEEPS, context)?;
            }
            self.start_sums(epoch, context)?;
        }
        let losses = match epoch.batches.shards() {
            1 => self.pass(epoch, context)?,
            _ => self.pass_over_shards(epoch, context)?,
        };
        let end = |(): &mut (), head: &mut Head| head.end_pass();
        context.threads.map(self.all.iter_mut(), || (), end)?;
        match self.holds_linear(epoch) {
            true if epoch.is_last || (epoch.passes + 1).is_multiple_of(SOLVE_INTERVAL) => {
                self.solve_linear(epoch, SWEEPS, context)?;
            }
            false if epoch.is_last => self.solve_linear(epoch, FIRST_SWEEPS, context)?,
            _ => {}
        }
        let held_out = match epoch.valid {
            Some(valid) => {
                self.refit(epoch.batches.examples, context)?;
                self.with_levels(epoch.linear, context)?.as_ref().unwrap_or(self).evaluate(valid, context)?
            }
            None => Vec::new(),
        };
        let mut held_out = held_out.into_iter();
        collect(losses.into_iter().map(|loss| (loss, held_out.next())))
    }

    /// Refits the scales to samples with all their features, if training drops some; needed before the heads are
    /// evaluated or kept.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn refit(&mut self, examples: &Examples, context: Context) -> Result<()> {
        if self.dropout > 0.0 {
            let refit = |(): &mut (), head: &mut Head| head.refit(examples, context.stop);
            context.threads.map(self.all.iter_mut(), || (), refit)?;
        }
        Ok(())
    }

    /// Returns whether w stays during passes, and is solved between some of them. Regression gains from that, and so do
    /// levels; signs of classes learn better beside a w that learns, which is solved at the end.
    fn holds_linear(&self, epoch: Epoch) -> bool {
        let has_levels = self.all.iter().any(|head| head.rules.learner.has_levels());
        epoch.linear.is_some_and(|linear| has_levels || linear.is_of_numbers())
    }

    /// Keeps the current weights and scales of all heads.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn keep(&mut self, linear: Option<&Linear>, context: Context) -> Result<()> {
        let strength = self.all.first().and_then(|head| head.rules.learner.quiet()).map(Quiet::strength);
        let roundings = match strength {
            Some(strength) => self.roundings(strength)?,
            None => filled(self.all.len(), None)?,
        };
        let keep = |(): &mut (), (head, rounding): (&mut Head, Option<Rounding>)| head.keep(rounding, linear, context);
        context.threads.map(self.all.iter_mut().zip(roundings), || (), keep)?;
        Ok(())
    }

    /// Returns the heads rounded as a model has them, if their factors become levels.
    fn with_levels(&self, linear: Option<&Linear>, context: Context) -> Result<Option<Self>> {
        let strength = self.all.first().and_then(|head| head.rules.learner.quiet()).map(Quiet::strength);
        let strength = strength.filter(|strength| strength.levels.is_some());
        strength.map(|strength| self.rounded(strength, linear, context)).transpose()
    }

    /// Returns the heads with factors rounded to levels, and w solved for them.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn rounded(&self, strength: Strength, linear: Option<&Linear>, context: Context) -> Result<Self> {
        let roundings = self.roundings(strength)?.into_iter().flatten();
        let round = |(): &mut (), (head, rounding): (&Head, Rounding)| head.rounded(rounding, linear, context);
        let all = context.threads.map(self.all.iter().zip(roundings), || (), round)?;
        Ok(Self { all, ..*self })
    }

    /// Returns how the factors of each head become levels of some strength, if they do: with a β that the file holds.
    fn roundings(&self, strength: Strength) -> Result<Vec<Option<Rounding>>> {
        let mut roundings = collect(self.all.iter().map(|head| head.rounding(strength)))?;
        if self.outputs > 1 && strength.levels.is_some() {
            let squares = roundings.iter().flatten().map(|rounding| rounding.beta * rounding.beta);
            let stored = levels::stored_squares(&collect(squares)?)?;
            for (rounding, square) in roundings.iter_mut().flatten().zip(stored) {
                rounding.beta = square.sqrt();
            }
        }
        Ok(roundings)
    }

    /// Replaces the visits of the rows, for other samples.
    pub fn set_rows(&mut self, rows: &Arc<Rows>) {
        for head in &mut self.all {
            head.rules.rows = Arc::clone(rows);
            if let Some(quiet) = head.rules.learner.quiet_mut() {
                quiet.set_rows(Arc::clone(rows));
            }
        }
    }

    /// Returns the mean loss of all heads on samples.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn loss(&self, examples: &Examples, context: Context) -> Result<f64> {
        let losses = self.evaluate(examples, context)?;
        Ok(losses.iter().sum::<f64>() / losses.len() as f64)
    }

    /// Solves the linear term of each head from the beginning.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn solve(&mut self, linear: &Linear, context: Context) -> Result<()> {
        self.sweep(linear, FIRST_SWEEPS, context)
    }

    fn solve_linear(&mut self, epoch: Epoch, sweeps: usize, context: Context) -> Result<()> {
        epoch.linear.map_or(Ok(()), |linear| self.sweep(linear, sweeps, context))
    }

    fn sweep(&mut self, linear: &Linear, sweeps: usize, context: Context) -> Result<()> {
        let solve = |(): &mut (), head: &mut Head| head.solve_linear(linear, sweeps, context);
        context.threads.map(&mut self.all, || (), solve)?;
        Ok(())
    }

    /// Starts the sums of the optimizer from the gradients of the first batch.
    fn start_sums(&mut self, epoch: Epoch, context: Context) -> Result<()> {
        let this = self.learning(epoch);
        let mut worker = Worker::default();
        for member in self.all.chunks_mut(self.outputs) {
            let mut tasks = collect(member.iter_mut().map(Task::of))?;
            worker.start_sums(&mut tasks, this.pass(epoch, context), epoch.batches)?;
        }
        Ok(())
    }

    /// Passes over all samples, with heads that do not depend on each other on different threads.
    fn pass(&mut self, epoch: Epoch, context: Context) -> Result<Vec<f64>> {
        let this = self.learning(epoch);
        let order = epoch.batches.order(0, self.seed, epoch.passes)?;
        let group = if this.is_softmax {
            self.outputs
        } else {
            self.outputs.div_ceil(context.threads.count())
        };
        let groups = self.all.chunks_mut(self.outputs).flat_map(|member| member.chunks_mut(group));
        let losses = context.threads.map(
            groups,
            Worker::default,
            |worker: &mut Worker, heads: &mut [Head]| {
                let member = heads.first().map_or(0, |head| head.rules.id.member);
                let mut tasks = collect(heads.iter_mut().map(Task::of))?;
                let dropout = this.dropout(member, epoch.passes, 0);
                let pass = this.pass(epoch, context);
                worker.learn(&mut tasks, pass, epoch.batches, &order, dropout)
            },
        )?;
        collect(losses.iter().flat_map(Losses::means))
    }

    /// Passes over each shard from the current states, and continues with the mean of what the shards have learned.
    fn pass_over_shards(&mut self, epoch: Epoch, context: Context) -> Result<Vec<f64>> {
        let this = self.learning(epoch);
        let samples = epoch.batches.examples.samples.len();
        let heads = &self.all;
        let mut merged = try_collect(heads.iter().map(|head| Merge::new(&head.state)))?;
        let mut losses = filled(heads.len() / self.outputs, Losses::default())?;
        let shards: Vec<usize> = (0..epoch.batches.shards()).collect();
        for wave in shards.chunks(context.threads.count()) {
            let learned = context.threads.map(
                wave,
                Worker::default,
                |worker: &mut Worker, &shard| {
                    let order = epoch.batches.order(shard, self.seed, epoch.passes)?;
                    let mut states = try_collect(heads.iter().map(|head| head.state.copied()))?;
                    let mut losses = Vec::new();
                    let members = heads.chunks(self.outputs).zip(states.chunks_mut(self.outputs));
                    for (member, (heads, states)) in members.enumerate() {
                        let tasks = heads.iter().zip(states);
                        let tasks = tasks.map(|(head, state)| Task { rules: &head.rules, state });
                        let mut tasks = collect(tasks)?;
                        let dropout = this.dropout(member, epoch.passes, shard);
                        let pass = this.pass(epoch, context);
                        let batches = epoch.batches;
                        losses.push(worker.learn(&mut tasks, pass, batches, &order, dropout)?);
                    }
                    Ok((states, losses))
                },
            )?;
            for (&shard, (states, added)) in wave.iter().zip(learned) {
                let share = epoch.batches.samples(shard) as f64 / samples as f64;
                losses.iter_mut().zip(&added).for_each(|(losses, added)| losses.add(added));
                let learned = merged.iter_mut().zip(heads).zip(&states);
                learned.for_each(|((merge, head), state)| merge.add(&head.state, state, share));
            }
        }
        for (head, merge) in self.all.iter_mut().zip(merged) {
            head.state = merge.finish(std::mem::take(&mut head.state));
        }
        collect(losses.iter().flat_map(Losses::means))
    }

    /// Returns the scores of samples, each the mean of those of all members.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn held_out(&self, valid: &Examples, linear: Option<&Linear>, context: Context) -> Result<HeldOut> {
        if let Some(rounded) = self.with_levels(linear, context)? {
            return rounded.scores(valid, context);
        }
        self.scores(valid, context)
    }

    fn scores(&self, valid: &Examples, context: Context) -> Result<HeldOut> {
        let (outputs, share) = (self.outputs, self.outputs as f64 / self.all.len() as f64);
        let parts = context.threads.map(
            valid.samples.chunks(EVALUATED),
            || (),
            |(), samples| {
                let mut scores = filled(samples.len() * outputs, 0.0)?;
                for (i, head) in self.all.iter().enumerate() {
                    let mut own = scores.iter_mut().skip(i % outputs).step_by(outputs);
                    head.each_score(valid, samples, context.stop, |score| {
                        own.next().into_iter().for_each(|sum| *sum += share * score);
                    })?;
                }
                Ok(scores)
            },
        )?;
        let mut scores = with_capacity(valid.samples.len() * outputs)?;
        for part in &parts {
            scores.extend_from_slice(part);
        }
        Ok(HeldOut { samples: copied(&valid.samples)?, scores })
    }

    /// Returns the mean loss of each group of heads on some samples.
    fn evaluate(&self, valid: &Examples, context: Context) -> Result<Vec<f64>> {
        let mut losses = filled(self.all.len() / self.outputs, Losses::default())?;
        let parts = context.threads.map(
            valid.samples.chunks(EVALUATED),
            Worker::default,
            |worker: &mut Worker, samples| {
                let members = self.all.chunks(self.outputs);
                let pass = Pass {
                    examples: valid,
                    pace: Pace::default(),
                    is_softmax: self.is_softmax,
                    isa: context.isa,
                    stop: context.stop,
                };
                try_collect(members.map(|heads| worker.evaluate(heads, pass, samples)))
            },
        )?;
        for part in parts {
            losses.iter_mut().zip(&part).for_each(|(losses, part)| losses.add(part));
        }
        collect(losses.iter().flat_map(Losses::means))
    }

    fn learning(&self, epoch: Epoch) -> Learning {
        let Self { is_softmax, dropout, seed, .. } = *self;
        Learning { is_softmax, dropout, seed, holds_linear: self.holds_linear(epoch) }
    }
}

/// What all passes have in common.
#[derive(Clone, Copy)]
struct Learning {
    is_softmax: bool,
    dropout: f64,
    seed: u64,
    holds_linear: bool,
}

impl Learning {
    fn pass<'a>(self, epoch: Epoch<'a>, context: Context<'a>) -> Pass<'a> {
        Pass {
            examples: epoch.batches.examples,
            pace: Pace { rate: epoch.rate, holds_linear: self.holds_linear },
            is_softmax: self.is_softmax,
            isa: context.isa,
            stop: context.stop,
        }
    }

    /// Returns the dropout of a member in a pass over a shard.
    fn dropout(self, member: usize, passes: u64, shard: usize) -> Option<Dropout> {
        let stream = member as u64 * rng::MEMBER + passes * rng::PASS + shard as u64;
        Dropout::new(self.dropout, self.seed, stream)
    }
}

impl<'a> Task<'a> {
    fn of(head: &'a mut Head) -> Self {
        Self { rules: &head.rules, state: &mut head.state }
    }
}
