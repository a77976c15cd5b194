//! Parameters chosen on held-out samples: which features to use, how strongly to pull weights towards rest, and how finely
//! to cut features.

use super::batches::{self, Batches};
use super::head::Plan;
use super::heads::{Epoch, Heads};
use super::linear::Linear;
use super::quiet::Strength;
use super::rows::Rows;
use super::screening::rank;
use super::{Context, EncodedSamples, Examples, Params, Schedule, ValidParams};
use crate::memory::{collect, try_collect};
use crate::data::{Dataset, Schema};
use crate::encoding::Encoder;
use crate::model::Loss;
use crate::threads::Threads;
use crate::{Error, Result};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Strengths of the pull of w towards straight lines to try first, and further ones on either side.
const LINEAR_STRENGTHS: Strengths = Strengths { first: &[3.0, 30.0, 300.0], weaker: &[0.3], stronger: &[3000.0, 30_000.0] };
/// The same for the pull on factors.
const CLASS_STRENGTHS: Strengths = Strengths { first: &[10.0, 30.0, 100.0], weaker: &[1.0, 3.0], stronger: &[300.0] };
/// For regression: strengths and loudness of the factors.
const NUMBER_STRENGTHS: [f64; 3] = [3.0, 10.0, 30.0];
const LOUDNESS: [f64; 2] = [1.0, 0.3];
/// Numbers of bins and tilings to try besides those given.
const FINER_BINS: [(usize, usize); 2] = [(48, 8), (48, 16)];
/// Share by which finer bins must lower the loss, as they take more bytes.
const MIN_GAIN: f64 = 0.001;
/// Samples to choose with, at most.
const MAX_SAMPLES: usize = 10_000;
/// With fewer samples, held-out ones say nothing.
const MIN_CHOICE: usize = 40;
/// With fewer samples, all of them are held out in turn.
const MIN_SAMPLES: usize = 2_000;
/// Number of parts of the samples, one of which is held out.
const FOLDS: usize = 5;
/// With fewer samples, finer bins would be too many to tell apart.
const MIN_SAMPLES_OF_FINER_BINS: usize = 1_000;
/// With more active features in all samples, finer bins and folds in turn would take too long.
const MAX_VISITS: usize = 2_000_000;
/// With this many samples, half the epochs are enough to choose with.
const MANY_SAMPLES: usize = 6_000;
/// Features are screened if there are at least as many, and fewer samples than this for each.
const SCREENED: (usize, usize) = (100, 10);
/// Least number of features to keep; others that are tried are multiples by [`SCREENING_STEP`].
const MIN_FEATURES: usize = 8;
const SCREENING_STEP: usize = 4;

/// What was chosen.
pub struct Choice {
    /// All parameters.
    pub params: Params,
    /// Columns that carry too little information.
    pub leave_out: BTreeSet<usize>,
}

/// Strengths to try: some at first, others if the outermost of those is the best.
struct Strengths {
    first: &'static [f64],
    weaker: &'static [f64],
    stronger: &'static [f64],
}

/// Chooses the regularization, features to leave out if there are many, and other bins if they may be `finer` and that is
/// better.
///
/// # Errors
/// If a column cannot be encoded, there is not enough memory, or it is stopped.
pub fn choose(
    dataset: &Dataset,
    schema: &Schema,
    params: &ValidParams,
    finer: bool,
    context: Context,
) -> Result<Choice> {
    let mut schema = schema.copied()?;
    let mut first = Trial::new(dataset, &schema, params, context)?;
    if first.has_too_many_features() {
        schema.leave_out.extend(first.uninformative(context)?);
        first = Trial::new(dataset, &schema, params, context)?;
    }
    if first.is_tiny() {
        let params = first.strength()?.put_into(params);
        return Ok(Choice { params, leave_out: schema.leave_out });
    }
    let mut best = first.choose(context)?;
    let is_small = dataset.table.samples() < MIN_SAMPLES_OF_FINER_BINS;
    if finer && first.has_bins() && !is_small && !first.is_large() {
        for (b, tilings) in FINER_BINS {
            let params = Params { b, tilings, ..best.1.clone() }.check()?;
            let loss = Trial::new(dataset, &schema, &params, context)?.judge(context)?;
            if loss < best.0 * (1.0 - MIN_GAIN) {
                best = (loss, Params::clone(&params));
            }
        }
    }
    Ok(Choice { params: best.1, leave_out: schema.leave_out })
}

/// Parameters on trial.
struct Trial<'a> {
    params: &'a ValidParams,
    encoder: Encoder,
    samples: EncodedSamples<'a>,
    loss: Loss,
}

/// Samples to learn from and others to judge by.
struct Fold<'a> {
    rows: Arc<Rows>,
    batches: Batches<'a>,
    linear: Option<Linear<'a>>,
    held_out: &'a Examples<'a>,
}

impl<'a> Trial<'a> {
    fn new(
        dataset: &'a Dataset,
        schema: &Schema,
        params: &'a ValidParams,
        context: Context,
    ) -> Result<Self> {
        let (threads, stop) = (context.threads, context.stop);
        let encoder = Encoder::fit(dataset, schema, &params.encoding(), threads, stop)?;
        let samples = EncodedSamples::new(&encoder, "X", dataset, context)?;
        let samples = samples.with_centers(&encoder, dataset, stop)?;
        let loss = params.loss_of(dataset.target.outputs());
        Ok(Self { params, encoder, samples, loss })
    }

    /// Returns whether there is too little to choose by.
    fn is_tiny(&self) -> bool {
        self.samples.examples().samples.len() < MIN_CHOICE || self.encoder.rows() == 0
    }

    /// Returns whether a feature has bins that overlap.
    fn has_bins(&self) -> bool {
        self.encoder.features().iter().any(|feature| !feature.span.is_copied())
    }

    /// Returns whether each fit takes long, because the samples have many features.
    fn is_large(&self) -> bool {
        let (all, samples) = (self.samples.examples(), self.samples.examples().target.len());
        all.table.active_features() / samples.max(1) * samples.min(MAX_SAMPLES) > MAX_VISITS
    }

    fn has_too_many_features(&self) -> bool {
        let (features, (least, samples)) = (self.encoder.features().len(), SCREENED);
        features >= least && self.samples.examples().samples.len() < samples * features
    }

    /// Returns the columns that held-out samples do not miss, judged by the linear term alone.
    fn uninformative(&self, context: Context) -> Result<Vec<usize>> {
        let features = self.encoder.features();
        let usual = Strength { pairs: 0.0, ..self.strength()? };
        let numbers = (0..).map(|i| MIN_FEATURES * usize::pow(SCREENING_STEP, i));
        let mut numbers: Vec<usize> = numbers.take_while(|&number| number < features.len()).collect();
        numbers.push(features.len());
        let mut losses = vec![0.0; numbers.len()];
        self.with_folds(context, |folds| {
            for fold in folds {
                let Some(linear) = &fold.linear else { return Ok(()) };
                let ranked = rank(linear)?;
                for (loss, &number) in losses.iter_mut().zip(&numbers) {
                    let some = linear.of_features(&ranked[..number])?;
                    *loss += self.linear_loss(usual, fold, &some, context)?;
                }
            }
            Ok(())
        })?;
        let best = losses.iter().zip(&numbers).min_by(|a, b| a.0.total_cmp(b.0));
        let number = best.map_or(features.len(), |(_, &number)| number);
        let all = self.examples()?;
        let mut rows = Rows::new(&self.encoder)?;
        rows.learn(&all, context.stop)?;
        let linear = Linear::new(&all, &rows, self.loss, context)?;
        let ranked = linear.as_ref().map_or_else(|| Ok(Vec::new()), rank)?;
        collect(ranked.iter().skip(number).map(|&feature| features[feature].column))
    }

    /// Returns the loss on held-out samples with the given parameters.
    fn judge(&self, context: Context) -> Result<f64> {
        let strength = self.strength()?;
        self.with_folds(context, |folds| Ok(self.losses(&[strength], folds, context)?[0]))
    }

    /// Chooses the regularization; returns its loss on held-out samples, and all parameters.
    fn choose(&self, context: Context) -> Result<(f64, Params)> {
        let (loss, best) = self.with_folds(context, |folds| {
            let linear = match folds[0].linear {
                Some(_) => {
                    let usual = Strength { pairs: 0.0, ..self.strength()? };
                    self.best_strength(&LINEAR_STRENGTHS, |w| Strength { w, ..usual }, folds, context)?
                }
                None => (f64::INFINITY, self.strength()?),
            };
            let best = if self.loss == Loss::Squared {
                let loud = |v| LOUDNESS.map(|pairs| Strength { v, pairs, ..linear.1 });
                let candidates: Vec<_> = NUMBER_STRENGTHS.into_iter().flat_map(loud).collect();
                self.best_of(&candidates, folds, context)?
            } else {
                let usual = Strength { pairs: 1.0, ..linear.1 };
                self.best_strength(&CLASS_STRENGTHS, |v| Strength { v, ..usual }, folds, context)?
            };
            Ok(if best.0 < linear.0 { best } else { linear })
        })?;
        Ok((loss, best.put_into(self.params)))
    }

    fn strength(&self) -> Result<Strength> {
        Strength::of(self.params).ok_or(Error::Internal)
    }

    /// Returns the best candidate among strengths, and its loss.
    fn best_strength(
        &self,
        strengths: &Strengths,
        with: impl Fn(f64) -> Strength,
        folds: &[Fold],
        context: Context,
    ) -> Result<(f64, Strength)> {
        let candidates = |strengths: &[f64]| strengths.iter().map(|&strength| with(strength)).collect::<Vec<_>>();
        let first = candidates(strengths.first);
        let best = self.best_of(&first, folds, context)?;
        let further = if best.1 == first[0] {
            candidates(strengths.weaker)
        } else if best.1 == first[first.len() - 1] {
            candidates(strengths.stronger)
        } else {
            return Ok(best);
        };
        let further = self.best_of(&further, folds, context)?;
        Ok(if further.0 < best.0 { further } else { best })
    }

    /// Returns the candidate of least loss on held-out samples, and that loss.
    fn best_of(
        &self,
        candidates: &[Strength],
        folds: &[Fold],
        context: Context,
    ) -> Result<(f64, Strength)> {
        let losses = self.losses(candidates, folds, context)?;
        let all = losses.into_iter().zip(candidates.iter().copied());
        all.min_by(|a, b| a.0.total_cmp(&b.0)).ok_or(Error::Internal)
    }

    /// Returns the mean loss of each candidate on the held-out samples of all folds.
    fn losses(&self, candidates: &[Strength], folds: &[Fold], context: Context) -> Result<Vec<f64>> {
        let single = Threads::single();
        let inner = Context { threads: &single, ..context };
        let jobs = candidates.iter().flat_map(|candidate| folds.iter().map(move |fold| (candidate, fold)));
        let losses = context.threads.map(
            jobs.collect::<Vec<_>>(),
            || (),
            |(), (candidate, fold): (&Strength, &Fold)| self.loss(*candidate, fold, inner),
        )?;
        let mean = |losses: &[f64]| losses.iter().sum::<f64>() / folds.len() as f64;
        Ok(losses.chunks(folds.len()).map(mean).collect())
    }

    /// Returns the loss on the held-out samples of a fold after training with a strength.
    fn loss(&self, strength: Strength, fold: &Fold, context: Context) -> Result<f64> {
        let Fold { rows, batches, linear, held_out } = fold;
        if let (Some(linear), true) = (linear, strength.pairs == 0.0) {
            return self.linear_loss(strength, fold, linear, context);
        }
        let (params, examples) = (self.params, batches.examples);
        let mut heads = Heads::new(self.plan(params, strength, rows), examples, context)?;
        let schedule = self.schedule(examples.samples.len());
        for epoch in 1..=schedule.epochs {
            let rate = params.learning_rate * schedule.rate_factor(epoch, epoch - 1);
            let passes = epoch as u64 - 1;
            let (linear, is_last) = (linear.as_ref(), epoch == schedule.epochs);
            heads.run(Epoch { rate, passes, batches, valid: None, linear, is_last }, context)?;
        }
        heads.loss(held_out, context)
    }

    /// Returns the loss on the held-out samples of a fold with the linear term alone.
    fn linear_loss(&self, strength: Strength, fold: &Fold, linear: &Linear, context: Context) -> Result<f64> {
        let params = Params { m: 0, ..Params::clone(self.params) }.check()?;
        let plan = self.plan(&params, strength, &fold.rows);
        let mut heads = Heads::new(plan, fold.batches.examples, context)?;
        heads.solve(linear, context)?;
        heads.loss(fold.held_out, context)
    }

    fn plan<'b>(&'b self, params: &'b ValidParams, strength: Strength, rows: &'b Arc<Rows>) -> Plan<'b> {
        Plan { encoder: &self.encoder, params, loss: self.loss, rows, strength: Some(strength) }
    }

    fn schedule(&self, samples: usize) -> Schedule {
        let epochs = self.params.epochs;
        let epochs = if samples < MANY_SAMPLES { epochs } else { epochs.div_ceil(2) };
        Schedule { epochs, ..Schedule::new(self.params) }
    }

    /// Returns the samples to choose with.
    fn examples(&self) -> Result<Examples<'_>> {
        let all = self.samples.examples();
        let unit = all.unit();
        all.in_units_of(unit).first(MAX_SAMPLES)
    }

    /// Divides the samples into folds, and works with them.
    fn with_folds<R>(&self, context: Context, work: impl FnOnce(&[Fold]) -> Result<R>) -> Result<R> {
        let all = self.examples()?;
        let folds = if all.samples.len() < MIN_SAMPLES && !self.is_large() { FOLDS } else { 1 };
        let parts = try_collect((0..folds).map(|fold| all.fold(fold, FOLDS, self.params.seed)))?;
        let mut rows = Rows::new(&self.encoder)?;
        rows.learn(&all, context.stop)?;
        let mut rows_of = Vec::with_capacity(folds);
        for (train, _) in &parts {
            let mut rows = rows.copied()?;
            rows.count(train, context.stop)?;
            rows_of.push(Arc::new(rows));
        }
        let shards = try_collect(parts.iter().map(|(train, _)| train.shards(1)))?;
        let mut made = Vec::with_capacity(folds);
        for (((train, held_out), rows), shards) in parts.iter().zip(&rows_of).zip(&shards) {
            let size = batches::size(self.params, train.samples.len(), all.target.outputs());
            let linear = Linear::new(train, rows, self.loss, context)?;
            let batches = Batches::new(train, shards, size)?.decode(rows, context)?;
            made.push(Fold { rows: Arc::clone(rows), batches, linear, held_out });
        }
        work(&made)
    }
}
