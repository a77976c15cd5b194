//! Training that can go on: with the same rows again, or with more of them.

use super::ensemble::{self, Joined};
use super::history::History;
use super::machine::Seat;
use super::sample::Sample;
use super::{Epoch, Examples, Machine, OnEpoch, Params, Run, Targets, polish, random, softmax};
use crate::Result;
use crate::encoding::Encoder;
use crate::error::ask;
use crate::model::{Labels, Loss, Method, Model, Real, Reals, Scales, SignRows, without_end};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Copies of the weights at a time, beside those that learn: kept, in the units of the target, and in the model.
const COPIES: usize = 4;

/// Everything that training knows between two passes over rows.
pub struct Trainer {
    encoder: Encoder,
    labels: Labels,
    params: Params,
    /// No rows, in the units of the first ones.
    like: Targets,
    /// One for each score function of each member of the ensemble; none before the first pass.
    machines: Vec<Machine>,
    /// What the members of each score function have become; none where there is one member.
    joined: Vec<Joined>,
    /// 1 / mean weight of the first rows.
    unit: Option<f64>,
    order: Vec<u32>,
    rng: Xoshiro256PlusPlus,
    /// Passes by which the learning rate has decayed.
    passes: usize,
}

/// How long to go on.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// Passes over the rows, at most.
    pub epochs: usize,
    /// Whether to end when the loss on held-out rows no longer falls.
    pub early_stopping: bool,
    /// Epochs without improvement before that.
    pub patience: usize,
    /// Whether the learning rate stays as it was at first: nobody knows how many passes will come.
    pub steady: bool,
}

/// What the learning rate is multiplied by after each pass.
const DECAY: f64 = 0.97;
/// Share of a course over which the learning rate then falls to nothing: signs that waver come to rest.
const LAST: f64 = 0.25;

impl Course {
    /// What the parameters of a whole training say.
    pub fn of(params: &Params) -> Self {
        let Params { epochs, early_stopping, patience, .. } = *params;
        Self { epochs, early_stopping, patience, steady: false }
    }

    /// The share of the learning rate for an epoch of this course, after some passes of it and others.
    fn share(self, epoch: usize, passes: usize) -> f64 {
        if self.steady {
            return 1.0;
        }
        let left = 1.0 - (epoch as f64 - 1.0) / self.epochs as f64;
        libm::pow(DECAY, passes as f64) * (left / LAST).min(1.0)
    }
}

/// What happened on the way.
pub struct Log {
    /// A record of each epoch, counted from 1.
    pub history: Vec<Epoch>,
    /// The epoch whose parameters are kept.
    pub best_epoch: usize,
}

impl Trainer {
    /// Begin, with rows that are to be encoded so and have targets of this kind.
    ///
    /// # Errors
    /// If the parameters are not accepted.
    pub fn new(
        encoder: Encoder,
        targets: &Targets,
        labels: Labels,
        mut params: Params,
    ) -> Result<Self> {
        params.check()?;
        if params.loss == Loss::Softmax && targets.functions() == 1 {
            params.loss = Loss::Logistic; // the same for two classes
        }
        Ok(Self {
            encoder,
            labels,
            like: targets.alike(&[]),
            machines: Vec::new(),
            joined: Vec::new(),
            unit: None,
            order: Vec::new(),
            rng: random::stream(params.seed, random::SHUFFLE),
            passes: 0,
            params,
        })
    }

    /// How rows are encoded.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The seed of everything random.
    pub fn seed(&self) -> u64 {
        self.params.seed
    }

    /// Targets in the units of the first ones.
    pub fn targets(&self, y: &[f64]) -> Targets {
        self.like.alike(y)
    }

    /// Train all score functions on the same examples, side by side, from where they are.
    ///
    /// # Errors
    /// If it is stopped.
    pub fn go_on(
        &mut self,
        examples: &Examples,
        valid: Option<&Examples>,
        course: Course,
        run: Run,
        on_epoch: &mut OnEpoch,
    ) -> Result<Log> {
        let unit = *self.unit.get_or_insert(examples.unit());
        let adjusted;
        let examples = if unit.to_bits() == examples.unit().to_bits() {
            examples
        } else {
            adjusted = examples.clone().in_units_of(unit);
            &adjusted
        };
        self.begin(examples, run)?;
        let mut history = History::new(course.early_stopping && valid.is_some(), course.patience);
        for epoch in 1..=course.epochs {
            random::shuffle(&mut self.order, &mut self.rng);
            let share = course.share(epoch, self.passes);
            self.passes += usize::from(!course.steady);
            let (apart, order) = (self.trained_together(), &self.order);
            let losses = run.threads.map(
                self.machines.chunks_mut(apart),
                || (),
                |(), machines: &mut [Machine]| match machines {
                    [machine] => machine.epoch(share, examples, order, valid, run.stop),
                    all => softmax::epoch(all, share, examples, order, valid, run.stop),
                },
            )?;
            let record = Epoch::mean(epoch, &losses);
            if history.push(record) {
                self.machines.iter_mut().for_each(Machine::keep);
            }
            if on_epoch(&record).is_break() || history.is_over() {
                break;
            }
        }
        self.polish(examples, run)?;
        self.join(examples, run)?;
        Ok(Log { best_epoch: history.best(), history: history.into_records() })
    }

    fn functions(&self) -> usize {
        self.like.functions()
    }

    /// How many machines learn from each other.
    fn trained_together(&self) -> usize {
        if self.params.loss == Loss::Softmax { self.functions() } else { 1 }
    }

    /// Flip kept signs where that lowers the loss.
    fn polish(&mut self, examples: &Examples, run: Run) -> Result<()> {
        let passes = self.params.polish;
        if passes == 0 {
            return Ok(());
        }
        let (together, factors) = (self.trained_together(), self.params.m / self.params.ensemble);
        let numbers = together.max(factors);
        let sample = Sample::new(&self.encoder, examples, numbers, run.stop)?;
        run.threads.map(
            self.machines.chunks_mut(together),
            || (),
            |(), machines: &mut [Machine]| {
                polish::polish(machines, &sample, examples, passes, run.stop)
            },
        )?;
        Ok(())
    }

    /// Make one machine of the kept members of each score function.
    fn join(&mut self, examples: &Examples, run: Run) -> Result<()> {
        if self.params.ensemble == 1 {
            return Ok(());
        }
        let (functions, m) = (self.functions(), self.params.m / self.params.ensemble);
        let (machines, encoder) = (&self.machines, &self.encoder);
        let join = |(): &mut (), function| {
            let members: Vec<_> = machines.iter().skip(function).step_by(functions).collect();
            ensemble::join(&members, m, encoder, examples, run.stop)
        };
        self.joined = run.threads.map(0..functions, || (), join)?;
        Ok(())
    }

    /// The model of the best epoch of the last course.
    ///
    /// # Errors
    /// If it is too large.
    pub fn model(&self) -> Result<Model> {
        self.finish(self.encoder.clone())
    }

    /// Start the score functions if that is to be done, and the order of rows if they are others than before.
    fn begin(&mut self, examples: &Examples, run: Run) -> Result<()> {
        if self.machines.is_empty() {
            let functions = self.functions();
            let (encoder, members) = (&self.encoder, self.params.ensemble);
            let params = Params { m: self.params.m / members, ..self.params.clone() };
            let begin = |(): &mut (), i| {
                let seat = Seat { function: i % functions, member: i / functions };
                Machine::new(encoder, examples, seat, &params, run)
            };
            self.machines = run.threads.map(0..functions * members, || (), begin)?;
            self.ask_for_copies()?;
        }
        let rows = examples.counted_rows();
        if self.order.len() != rows.len()
            || !self.order.iter().all(|row| rows.binary_search(row).is_ok())
        {
            self.order = rows;
        }
        Ok(())
    }

    /// Whether there is memory for the weights that are kept, and for the model that is made of them.
    fn ask_for_copies(&self) -> Result<()> {
        let each = self.params.m / self.params.ensemble + 1;
        let weights = (self.encoder.rows() as usize).saturating_mul(each);
        let all = weights.saturating_mul(self.machines.len());
        match self.params.method {
            Method::Bfm => ask::<[u8; COPIES]>(all.div_ceil(8)),
            _ => ask::<[f32; COPIES]>(all),
        }
    }

    /// The kept weights and scales of all score functions as a model.
    fn finish(&self, encoder: Encoder) -> Result<Model> {
        let (rows, m) = (encoder.rows() as usize, self.params.m);
        let machines = &self.machines;
        let (loss, labels) = (self.params.loss, self.labels.clone());
        if self.params.method != Method::Bfm {
            let functions: Vec<_> = machines.iter().map(Machine::kept_reals).collect();
            let reals = Reals::new(self.params.method, m, &functions);
            return Model::with_reals(encoder, reals, loss, labels);
        }
        let (functions, each) = (self.functions(), m / self.params.ensemble);
        let sign = |function: usize, row: usize, column: usize| match column.checked_sub(1) {
            None if self.joined.is_empty() => machines[function].kept_w(row),
            None => self.joined[function].w[row],
            Some(factor) => {
                let member = factor / each;
                machines[member * functions + function].kept_v(row * each + factor % each)
            }
        };
        let signs = SignRows::new(rows, functions, m, sign);
        let real: Vec<_> = match &self.joined[..] {
            [] => machines.iter().map(|machine| machine.in_units(machine.kept_scale())).collect(),
            joined => joined.iter().map(|joined| joined.scale).collect(),
        };
        if !real.iter().all(Real::is_finite) {
            return Err(without_end());
        }
        Model::new(encoder, signs, Scales::new(&real), loss, labels)?.checked()?.merged()
    }
}
