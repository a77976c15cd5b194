//! A pass over samples: batch by batch, for one output or several.

use super::Examples;
use super::batch::{Decoded, Decoder};
use super::batches::Batches;
use super::dropout::Dropout;
use super::head::{READ_BATCH, Head, Rules};
use super::learner::{Pace, Workspace};
use super::softmax;
use super::state::{Scale, State};
use crate::memory::{extend, reserve, resize};
use crate::Result;
use crate::kernels::{self, Isa};
use crate::model::Loss;
use crate::threads::Stop;

/// An output that learns in a pass.
pub struct Task<'a> {
    /// How it learns.
    pub rules: &'a Rules,
    /// What it has learned.
    pub state: &'a mut State,
}

/// What a pass does.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    /// The samples.
    pub examples: &'a Examples<'a>,
    /// How far each step goes.
    pub pace: Pace,
    /// Whether the outputs are those of one softmax.
    pub is_softmax: bool,
    /// Instruction set.
    pub isa: Isa,
    /// Stops it.
    pub stop: &'a Stop,
}

/// Losses of some samples: for each output, or for all together with softmax.
#[derive(Clone, Debug, Default)]
pub struct Losses {
    totals: Vec<f64>,
    weights: f64,
}

impl Losses {
    /// Adds the losses of other samples.
    pub fn add(&mut self, other: &Self) {
        self.totals.resize(other.totals.len(), 0.0);
        self.totals.iter_mut().zip(&other.totals).for_each(|(total, other)| *total += other);
        self.weights += other.weights;
    }

    /// Returns the mean loss of each output.
    pub fn means(&self) -> impl Iterator<Item = f64> + '_ {
        self.totals.iter().map(|total| total / self.weights)
    }
}

/// Buffers of a thread, used again for every batch.
#[derive(Default)]
pub struct Worker {
    decoder: Decoder,
    batch: Decoded,
    workspaces: Vec<Workspace>,
    scores: Scores,
}

/// Scores, losses and slopes of a batch, output by output.
#[derive(Default)]
struct Scores {
    samples: usize,
    /// Sample by sample within an output.
    all: Vec<f64>,
    margins: Vec<f32>,
    losses: Vec<f32>,
    slopes: Vec<f32>,
    /// The scores of one sample.
    outputs: Vec<f64>,
}

impl Worker {
    /// Lets outputs learn from batches in the given order, and returns their losses as they were visited.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn learn(
        &mut self,
        tasks: &mut [Task],
        pass: Pass,
        batches: &Batches,
        order: &[usize],
        mut dropout: Option<Dropout>,
    ) -> Result<Losses> {
        let mut losses = Losses::default();
        let mut visits = 0;
        self.make_workspaces(tasks.len())?;
        if let Some(task) = tasks.first() {
            self.decoder.prepare(&task.rules.rows)?;
        }
        for &number in order {
            pass.stop.check()?;
            let samples = batches.batch(number);
            let batch = if let Some(batch) = batches.decoded(number) {
                batch.view()
            } else {
                let (table, dropout) = (pass.examples.table, dropout.as_mut());
                self.decoder.decode(table, samples, dropout, &mut self.batch)?;
                self.batch.view()
            };
            self.scores.clear(samples.len());
            for (task, workspace) in tasks.iter().zip(&mut self.workspaces) {
                task.rules.learner.forward(task.state, batch, workspace)?;
                self.scores.push(workspace.terms(), task.state.scale)?;
            }
            let outputs = tasks.iter().map(|task| task.rules);
            self.scores.differentiate(outputs, pass, samples, &mut losses)?;
            let slopes = self.scores.slopes.chunks_exact(samples.len());
            let each = tasks.iter_mut().zip(&mut self.workspaces).zip(slopes);
            for ((task, workspace), slopes) in each {
                let learner = &task.rules.learner;
                learner.backward(task.state, batch, slopes, pass.pace, workspace)?;
                let interval = task.rules.refresh_interval;
                if (visits + samples.len()) / interval > visits / interval {
                    learner.refresh(task.state);
                }
            }
            visits += samples.len();
        }
        Ok(losses)
    }

    /// Starts the sums of the optimizer from the gradients of the first batch.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn start_sums(&mut self, tasks: &mut [Task], pass: Pass, batches: &Batches) -> Result<()> {
        let (Some(task), false) = (tasks.first(), batches.is_empty()) else { return Ok(()) };
        self.decoder.prepare(&task.rules.rows)?;
        self.make_workspaces(tasks.len())?;
        let samples = batches.batch(0);
        self.decoder.decode(pass.examples.table, samples, None, &mut self.batch)?;
        let batch = self.batch.view();
        self.scores.clear(samples.len());
        for (task, workspace) in tasks.iter().zip(&mut self.workspaces) {
            task.rules.learner.forward(task.state, batch, workspace)?;
            self.scores.push(workspace.terms(), task.state.scale)?;
        }
        let outputs = tasks.iter().map(|task| task.rules);
        self.scores.differentiate(outputs, pass, samples, &mut Losses::default())?;
        let slopes = self.scores.slopes.chunks_exact(samples.len());
        for ((task, workspace), slopes) in tasks.iter_mut().zip(&mut self.workspaces).zip(slopes) {
            task.rules.learner.start_sums(task.state, batch, slopes, workspace)?;
        }
        Ok(())
    }

    /// Returns the losses of some samples after a pass.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn evaluate(&mut self, heads: &[Head], pass: Pass, samples: &[u32]) -> Result<Losses> {
        let mut losses = Losses::default();
        self.make_workspaces(1)?;
        if let Some(head) = heads.first() {
            self.decoder.prepare(&head.rules.rows)?;
        }
        for samples in samples.chunks(READ_BATCH) {
            pass.stop.check()?;
            self.decoder.decode(pass.examples.table, samples, None, &mut self.batch)?;
            self.scores.clear(samples.len());
            let workspace = &mut self.workspaces[0];
            for head in heads {
                head.rules.learner.forward(&head.state, self.batch.view(), workspace)?;
                self.scores.push(workspace.terms(), head.scale())?;
            }
            let outputs = heads.iter().map(|head| &head.rules);
            self.scores.differentiate(outputs, pass, samples, &mut losses)?;
        }
        Ok(losses)
    }

    /// Makes as many workspaces as there are outputs to learn.
    fn make_workspaces(&mut self, count: usize) -> Result<()> {
        let missing = count.saturating_sub(self.workspaces.len());
        reserve(&mut self.workspaces, missing)?;
        self.workspaces.resize_with(count, Workspace::default);
        Ok(())
    }
}

impl Scores {
    fn clear(&mut self, samples: usize) {
        self.samples = samples;
        self.all.clear();
    }

    /// Appends the scores of an output.
    fn push(&mut self, terms: &[[f64; 2]], scale: Scale) -> Result<()> {
        extend(&mut self.all, terms.iter().map(|&terms| scale.score(terms)))
    }

    /// Computes the slopes of the losses, multiplied by the weights of the samples, and adds up the losses.
    fn differentiate<'r>(
        &mut self,
        outputs: impl ExactSizeIterator<Item = &'r Rules>,
        pass: Pass,
        samples: &[u32],
        losses: &mut Losses,
    ) -> Result<()> {
        resize(&mut self.slopes, self.all.len(), 0.0)?;
        let examples = pass.examples;
        resize(&mut losses.totals, if pass.is_softmax { 1 } else { outputs.len() }, 0.0)?;
        losses.weights +=
            samples.iter().map(|&sample| examples.weight(sample as usize)).sum::<f64>();
        if pass.is_softmax {
            losses.totals[0] += self.softmax(examples, samples)?;
            return Ok(());
        }
        for (i, (rules, total)) in outputs.zip(&mut losses.totals).enumerate() {
            let range = i * self.samples..(i + 1) * self.samples;
            *total += match rules.objective.loss {
                Loss::Logistic | Loss::Softmax => self.logistic(rules, range, pass, samples)?,
                _ => self.other(rules, range, examples, samples),
            };
        }
        Ok(())
    }

    fn logistic(
        &mut self,
        rules: &Rules,
        range: core::ops::Range<usize>,
        pass: Pass,
        samples: &[u32],
    ) -> Result<f64> {
        let examples = pass.examples;
        let target = |sample: u32| examples.target.at(rules.id.output, sample as usize);
        self.margins.clear();
        let scores = self.all[range.clone()].iter().zip(samples);
        let margins = scores.map(|(score, &sample)| (score * target(sample)) as f32);
        extend(&mut self.margins, margins)?;
        resize(&mut self.losses, samples.len(), 0.0)?;
        let slopes = &mut self.slopes[range];
        kernels::logistic(pass.isa, &self.margins, &mut self.losses, slopes);
        let mut total = 0.0;
        for ((slope, &loss), &sample) in slopes.iter_mut().zip(&self.losses).zip(samples) {
            let weight = examples.weight(sample as usize);
            *slope *= (target(sample) * weight) as f32;
            total += f64::from(loss) * weight;
        }
        Ok(total)
    }

    fn other(
        &mut self,
        rules: &Rules,
        range: core::ops::Range<usize>,
        examples: &Examples,
        samples: &[u32],
    ) -> f64 {
        let mut total = 0.0;
        let scores = self.all[range.clone()].iter();
        for ((&score, slope), &sample) in scores.zip(&mut self.slopes[range]).zip(samples) {
            let (sample, output) = (sample as usize, rules.id.output);
            let weight = examples.weight(sample);
            let (loss, own) = rules.objective.value_and_slope(score, examples.target.at(output, sample));
            let max = rules.objective.max_slope();
            let own = if rules.learner.quiet().is_some() { own.clamp(-max, max) } else { own };
            *slope = (own * weight) as f32;
            total += loss * weight;
        }
        total
    }

    fn softmax(&mut self, examples: &Examples, samples: &[u32]) -> Result<f64> {
        let mut total = 0.0;
        for (i, &sample) in samples.iter().enumerate() {
            let (class, weight) =
                (examples.target.class(sample as usize), examples.weight(sample as usize));
            self.outputs.clear();
            extend(&mut self.outputs, self.all.iter().skip(i).step_by(self.samples).copied())?;
            total += softmax::loss_and_slopes(&mut self.outputs, class as usize) * weight;
            let slopes = self.slopes.iter_mut().skip(i).step_by(self.samples);
            for (slope, own) in slopes.zip(&self.outputs) {
                *slope = (own * weight) as f32;
            }
        }
        Ok(total)
    }
}
