//! A dataset encoded with some parameters, of which parts are held out in turn.

use crate::data::{Dataset, Schema};
use crate::encoding::Encoder;
use crate::memory::try_collect;
use crate::threads::Threads;
use crate::training::batches::{self, Batches};
use crate::training::head::Plan;
use crate::training::heads::{Epoch, Heads};
use crate::training::linear::Linear;
use crate::training::quiet::Strength;
use crate::training::rows::Rows;
use crate::training::{Context, EncodedSamples, Examples, Objective, Params, Schedule, ValidParams};
use crate::{Error, Result};
use std::sync::Arc;

/// Samples to choose with, at most; and where most features are categories, of which many are rare.
const MAX_SAMPLES: usize = 10_000;
const MAX_SAMPLES_OF_CATEGORIES: usize = 200_000;
/// With fewer samples, held-out ones say nothing.
const MIN_CHOICE: usize = 40;
/// With fewer samples, all of them are held out in turn.
const MIN_SAMPLES: usize = 2_000;
/// Number of parts of the samples, one of which is held out.
const FOLDS: usize = 5;
/// With more active features in all samples, finer bins and folds in turn would take too long.
const MAX_VISITS: usize = 2_000_000;
/// With more rows of the parameter table, categories are rare.
const RARE_ROWS: u32 = 4_000;
/// With still more, choosing should take fewer factors.
const MANY_ROWS: u32 = 100_000;
/// With this many samples, half the epochs are enough to choose with.
const MANY_SAMPLES: usize = 6_000;
/// Features are screened if there are at least as many, and fewer samples than this for each.
const SCREENED: (usize, usize) = (100, 10);

/// Parameters on trial.
pub struct Trial<'a> {
    pub params: ValidParams,
    pub encoder: Arc<Encoder>,
    samples: Arc<EncodedSamples<'a>>,
    pub objective: Objective,
}

/// Parameters that were found, and their loss on held-out samples.
pub struct Found {
    pub loss: f64,
    pub params: Params,
}

/// Samples to learn from and others to judge by.
pub struct Fold<'a> {
    rows: Arc<Rows>,
    batches: Batches<'a>,
    pub linear: Option<Linear<'a>>,
    held_out: &'a Examples<'a>,
}

impl<'a> Trial<'a> {
    pub fn new(
        dataset: &'a Dataset,
        schema: &Schema,
        params: &ValidParams,
        context: Context,
    ) -> Result<Self> {
        let (threads, stop) = (context.threads, context.stop);
        let encoder = Encoder::fit(dataset, schema, &params.encoding(), threads, stop)?;
        let samples = EncodedSamples::new(&encoder, "X", dataset, context)?;
        let samples = samples.with_centers(&encoder, dataset, context)?;
        let objective = params.objective_of(dataset.target.outputs());
        Ok(Self { params: params.clone(), encoder: Arc::new(encoder), samples: Arc::new(samples), objective })
    }

    /// Returns the same with other parameters, which do not ask for another encoding.
    pub fn with_params(&self, params: Params) -> Result<Self> {
        let (encoder, samples) = (Arc::clone(&self.encoder), Arc::clone(&self.samples));
        Ok(Self { params: params.check()?, encoder, samples, objective: self.objective })
    }

    /// Returns whether there is too little to choose by.
    pub fn is_tiny(&self) -> bool {
        self.samples.examples().samples.len() < MIN_CHOICE || self.encoder.rows() == 0
    }

    /// Returns whether a feature has bins that overlap.
    pub fn has_bins(&self) -> bool {
        self.encoder.features().iter().any(|feature| !feature.span.is_copied())
    }

    /// Returns whether most features have cells that share no row with another.
    fn is_mostly_categories(&self) -> bool {
        let features = self.encoder.features();
        2 * features.iter().filter(|feature| feature.span.is_copied()).count() > features.len()
    }

    /// Returns whether factors should become levels: for rare categories, for stored values of sparse tables, and for
    /// several classes, if w can be solved for what is left after rounding. Elsewhere signs that rest are as good or
    /// better, and chosen in less time.
    pub fn gains_from_levels(&self) -> bool {
        let outputs = self.samples.examples().target.outputs();
        Linear::is_solved_for(self.objective) && (self.has_rare_categories() || outputs > 1)
    }

    /// Returns whether most features have cells that share no row with another, and few samples are in most of them.
    pub fn has_rare_categories(&self) -> bool {
        let is_rare = self.encoder.zero_is_absent() || self.encoder.rows() > RARE_ROWS;
        is_rare && self.is_mostly_categories()
    }

    /// Returns whether each fit takes long because there are very many categories.
    pub fn has_many_rows(&self) -> bool {
        self.encoder.rows() > MANY_ROWS
    }

    /// Returns whether each fit takes long, because the samples have many features.
    pub fn is_large(&self) -> bool {
        let (all, samples) = (self.samples.examples(), self.samples.examples().target.len());
        all.table.active_features() / samples.max(1) * samples.min(MAX_SAMPLES) > MAX_VISITS
    }

    pub fn has_too_many_features(&self) -> bool {
        let (features, (least, samples)) = (self.encoder.features().len(), SCREENED);
        features >= least && self.samples.examples().samples.len() < samples * features
    }

    /// Returns the loss on held-out samples with its parameters.
    pub fn judge(&self, context: Context) -> Result<f64> {
        let strength = self.strength()?;
        self.with_folds(self.params.levels, context, |folds| {
            if strength.levels.is_none() {
                return Ok(self.losses(&[strength], folds, context)?[0]);
            }
            let trained = self.trained(strength, folds, context)?;
            rounded_loss(&trained, strength, folds, context)
        })
    }

    /// Returns how strongly its parameters pull.
    pub fn strength(&self) -> Result<Strength> {
        Strength::of(&self.params).ok_or(Error::Internal)
    }

    /// Returns the mean loss of each candidate on the held-out samples of all folds.
    pub fn losses(&self, candidates: &[Strength], folds: &[Fold], context: Context) -> Result<Vec<f64>> {
        let jobs = candidates.iter().flat_map(|candidate| folds.iter().map(move |fold| (candidate, fold)));
        let losses = each(jobs, context, |(candidate, fold): (&Strength, &Fold), context| {
            match &fold.linear {
                Some(linear) if candidate.pairs == 0.0 => self.linear_loss(*candidate, fold, linear, context),
                linear => {
                    let mut heads = self.train(*candidate, fold, context)?;
                    if candidate.levels.is_some() {
                        heads = heads.rounded(*candidate, linear.as_ref(), context)?;
                    }
                    heads.loss(fold.held_out, context)
                }
            }
        })?;
        let mean = |losses: &[f64]| losses.iter().sum::<f64>() / folds.len() as f64;
        Ok(losses.chunks(folds.len()).map(mean).collect())
    }

    /// Trains with a strength on each fold.
    pub fn trained(&self, strength: Strength, folds: &[Fold], context: Context) -> Result<Vec<Heads>> {
        each(folds.iter(), context, |fold, context| self.train(strength, fold, context))
    }

    /// Trains with a strength on one fold.
    fn train(&self, strength: Strength, fold: &Fold, context: Context) -> Result<Heads> {
        let Fold { rows, batches, linear, .. } = fold;
        let examples = batches.examples;
        let mut heads = Heads::new(self.plan(&self.params, strength, rows), examples, context)?;
        let schedule = self.schedule(strength, examples.samples.len());
        for epoch in 1..=schedule.epochs {
            let rate = self.params.learning_rate * schedule.rate_factor(epoch, epoch - 1);
            let passes = epoch as u64 - 1;
            let (linear, is_last) = (linear.as_ref(), epoch == schedule.epochs);
            heads.run(Epoch { rate, passes, batches, valid: None, linear, is_last }, context)?;
        }
        Ok(heads)
    }

    /// Returns the loss on the held-out samples of a fold with the linear term alone.
    pub fn linear_loss(&self, strength: Strength, fold: &Fold, linear: &Linear, context: Context) -> Result<f64> {
        let params = Params { m: 0, ..Params::clone(&self.params) }.check()?;
        let plan = self.plan(&params, strength, &fold.rows);
        let mut heads = Heads::new(plan, fold.batches.examples, context)?;
        heads.solve(linear, context)?;
        heads.loss(fold.held_out, context)
    }

    fn plan<'b>(&'b self, params: &'b ValidParams, strength: Strength, rows: &'b Arc<Rows>) -> Plan<'b> {
        Plan { encoder: &self.encoder, params, objective: self.objective, rows, strength: Some(strength) }
    }

    /// Returns how long to train. How far rare categories overfit depends on it, so they get all epochs where that does not
    /// take too long.
    fn schedule(&self, strength: Strength, samples: usize) -> Schedule {
        let epochs = self.params.epochs;
        let needs_all = strength.levels.is_some() && self.has_rare_categories() && !self.has_many_rows();
        let is_long = samples >= MANY_SAMPLES && !needs_all;
        let epochs = if is_long { epochs.div_ceil(2) } else { epochs };
        Schedule { epochs, ..Schedule::new(&self.params) }
    }

    /// Returns the samples to choose with.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn examples(&self) -> Result<Examples<'_>> {
        let all = self.samples.examples();
        let unit = all.unit();
        let most = if self.has_rare_categories() { MAX_SAMPLES_OF_CATEGORIES } else { MAX_SAMPLES };
        all.in_units_of(unit).first(most)
    }

    /// Returns what is known about the rows of the parameter table.
    pub fn rows(&self, examples: &Examples, context: Context) -> Result<Rows> {
        let mut rows = Rows::new(&self.encoder)?;
        rows.learn(examples, context)?;
        Ok(rows)
    }

    /// Divides the samples into folds, and works with them. The linear term may be `balanced`.
    pub fn with_folds<R>(
        &self,
        balanced: bool,
        context: Context,
        work: impl FnOnce(&[Fold]) -> Result<R>,
    ) -> Result<R> {
        let all = self.examples()?;
        let folds = if all.samples.len() < MIN_SAMPLES && !self.is_large() { FOLDS } else { 1 };
        let parts = try_collect((0..folds).map(|fold| all.fold(fold, FOLDS, self.params.seed)))?;
        let rows = self.rows(&all, context)?;
        let mut rows_of = Vec::with_capacity(folds);
        for (train, _) in &parts {
            let mut rows = rows.copied()?;
            rows.count(train, context)?;
            rows_of.push(Arc::new(rows));
        }
        let shards = try_collect(parts.iter().map(|(train, _)| train.shards(1)))?;
        let mut made = Vec::with_capacity(folds);
        for (((train, held_out), rows), shards) in parts.iter().zip(&rows_of).zip(&shards) {
            let size = batches::size(&self.params, train.samples.len(), all.target.outputs());
            let mut linear = Linear::new(train, rows, self.objective, context)?;
            if balanced {
                linear = linear.map(|linear| linear.balanced(context)).transpose()?;
            }
            let batches = Batches::new(train, shards, size)?.decode(rows, context)?;
            made.push(Fold { rows: Arc::clone(rows), batches, linear, held_out });
        }
        work(&made)
    }
}

/// Returns the loss on held-out samples of heads that were trained on each fold, after their factors were rounded.
pub fn rounded_loss(trained: &[Heads], strength: Strength, folds: &[Fold], context: Context) -> Result<f64> {
    let losses = each(trained.iter().zip(folds), context, |(heads, fold), context| {
        heads.rounded(strength, fold.linear.as_ref(), context)?.loss(fold.held_out, context)
    })?;
    Ok(losses.iter().sum::<f64>() / folds.len() as f64)
}

/// Does jobs on different threads, each on one.
fn each<J: Send, R: Send>(
    jobs: impl Iterator<Item = J>,
    context: Context,
    work: impl Fn(J, Context) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    let single = Threads::single();
    let inner = Context { threads: &single, ..context };
    context.threads.map(jobs.collect::<Vec<_>>(), || (), |(), job| work(job, inner))
}
