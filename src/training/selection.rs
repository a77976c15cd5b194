//! Parameters chosen on held-out samples: how strongly to pull weights towards rest, and how finely to cut features.

use super::batches::{self, Batches};
use super::head::Plan;
use super::heads::{Epoch, Heads};
use super::linear::Linear;
use super::quiet::Strength;
use super::rows::Rows;
use super::{Context, EncodedSamples, Examples, Params, Schedule, ValidParams};
use crate::data::{Dataset, Schema};
use crate::encoding::Encoder;
use crate::model::Loss;
use crate::threads::Threads;
use crate::{Error, Result};
use std::sync::Arc;

/// Strengths of the pull on factors to try first, and further ones on either side.
const STRENGTHS: [f64; 3] = [10.0, 30.0, 100.0];
const WEAKER: [f64; 2] = [1.0, 3.0];
const STRONGER: [f64; 1] = [300.0];
/// Numbers of bins and tilings to try besides those given.
const FINER_BINS: [(usize, usize); 2] = [(32, 8), (48, 8)];
/// For regression: strengths of the pull on w, and strengths and loudness of the factors.
const LINEAR_STRENGTHS: [f64; 5] = [0.3, 3.0, 30.0, 300.0, 3000.0];
const WEAK_STRENGTHS: [f64; 3] = [3.0, 10.0, 30.0];
const LOUDNESS: [f64; 2] = [1.0, 0.3];
/// Samples to choose with, at most.
const MAX_SAMPLES: usize = 25_000;
/// With fewer samples, all of them are held out in turn.
const MIN_SAMPLES: usize = 2_000;
/// Number of parts of the samples, one of which is held out.
const FOLDS: usize = 5;
/// With fewer samples, finer bins would be too many to tell apart.
const MIN_SAMPLES_OF_FINER_BINS: usize = 1_000;
/// With more active features in all samples, finer bins and folds in turn would take too long.
const MAX_VISITS: usize = 2_000_000;
/// With this many samples, half the epochs are enough to choose with.
const MANY_SAMPLES: usize = 10_000;

/// Returns the parameters with a regularization, and with other bins if they may be `finer` and that is better.
///
/// # Errors
/// If a column cannot be encoded, there is not enough memory, or it is stopped.
pub fn choose(
    dataset: &Dataset,
    schema: &Schema,
    params: &ValidParams,
    finer: bool,
    context: Context,
) -> Result<Params> {
    let first = Trial::new(dataset, schema, params, context)?;
    let mut best = first.choose(context)?;
    let is_small = dataset.table.samples() < MIN_SAMPLES_OF_FINER_BINS;
    if finer && !is_small && !first.is_wide() {
        for (b, tilings) in FINER_BINS {
            let params = Params { b, tilings, ..best.1.clone() }.check()?;
            let trial = Trial::new(dataset, schema, &params, context)?.judge(context)?;
            if trial < best.0 {
                best = (trial, Params::clone(&params));
            }
        }
    }
    Ok(best.1)
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
        let loss = params.loss_of(dataset.target.outputs());
        Ok(Self { params, encoder, samples, loss })
    }

    /// Returns whether each fit takes long, because the samples have many features.
    fn is_wide(&self) -> bool {
        let (all, samples) = (self.samples.examples(), self.samples.examples().target.len());
        all.table.active_features() / samples.max(1) * samples.min(MAX_SAMPLES) > MAX_VISITS
    }

    /// Returns the loss on held-out samples with the given parameters.
    fn judge(&self, context: Context) -> Result<f64> {
        let strength = Strength::of(self.params, &self.encoder).ok_or(Error::Internal)?;
        self.with_folds(context, |folds| Ok(self.losses(&[strength], folds, context)?[0]))
    }

    /// Chooses the regularization; returns its loss on held-out samples, and all parameters.
    fn choose(&self, context: Context) -> Result<(f64, Params)> {
        let usual = Strength::of(self.params, &self.encoder).ok_or(Error::Internal)?;
        let (loss, best) = self.with_folds(context, |folds| match self.loss {
            Loss::Squared => self.choose_for_numbers(usual, folds, context),
            _ => self.choose_for_classes(usual, folds, context),
        })?;
        Ok((loss, best.put_into(self.params)))
    }

    fn choose_for_classes(
        &self,
        usual: Strength,
        folds: &[Fold],
        context: Context,
    ) -> Result<(f64, Strength)> {
        let with = |strengths: &[f64]| -> Vec<Strength> {
            strengths.iter().map(|&v| Strength { v, ..usual }).collect()
        };
        let best = self.best_of(&with(&STRENGTHS), folds, context)?;
        let further = if best.1.v == STRENGTHS[0] {
            self.best_of(&with(&WEAKER), folds, context)?
        } else if best.1.v == STRENGTHS[2] {
            self.best_of(&with(&STRONGER), folds, context)?
        } else {
            best
        };
        Ok(if further.0 < best.0 { further } else { best })
    }

    fn choose_for_numbers(
        &self,
        usual: Strength,
        folds: &[Fold],
        context: Context,
    ) -> Result<(f64, Strength)> {
        let silent = LINEAR_STRENGTHS.map(|w| Strength { w, pairs: 0.0, ..usual });
        let linear = self.best_of(&silent, folds, context)?;
        let candidates: Vec<Strength> = WEAK_STRENGTHS
            .iter()
            .flat_map(|&v| LOUDNESS.map(|pairs| Strength { v, pairs, ..linear.1 }))
            .collect();
        let best = self.best_of(&candidates, folds, context)?;
        Ok(if best.0 < linear.0 { best } else { linear })
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
        let (params, examples) = (self.params, batches.examples);
        let (encoder, loss, strength) = (&self.encoder, self.loss, Some(strength));
        let plan = Plan { encoder, params, loss, rows, strength };
        let mut heads = Heads::new(plan, examples, context)?;
        let schedule = self.schedule(examples.samples.len(), strength.is_some_and(|s| s.pairs == 0.0));
        for epoch in 1..=schedule.epochs {
            let rate = params.learning_rate * schedule.rate_factor(epoch, epoch - 1);
            let passes = epoch as u64 - 1;
            let (linear, is_last) = (linear.as_ref(), epoch == schedule.epochs);
            heads.run(Epoch { rate, passes, batches, valid: None, linear, is_last }, context)?;
        }
        heads.calibrated_loss(held_out, context)
    }

    fn schedule(&self, samples: usize, is_linear: bool) -> Schedule {
        let epochs = self.params.epochs;
        let epochs = match samples {
            _ if is_linear => 1,
            MANY_SAMPLES.. => epochs.div_ceil(2),
            _ => epochs,
        };
        Schedule { epochs, ..Schedule::new(self.params) }
    }

    /// Divides the samples into folds, and works with them.
    fn with_folds<R>(&self, context: Context, work: impl FnOnce(&[Fold]) -> Result<R>) -> Result<R> {
        let all = self.samples.examples();
        let all = all.in_units_of(self.samples.examples().unit()).first(MAX_SAMPLES);
        let folds = if all.samples.len() < MIN_SAMPLES && !self.is_wide() { FOLDS } else { 1 };
        let parts: Vec<_> = (0..folds).map(|fold| all.fold(fold, FOLDS, self.params.seed)).collect();
        let mut rows = Rows::new(&self.encoder)?;
        rows.learn(&all, context.stop)?;
        let mut rows_of = Vec::with_capacity(folds);
        for (train, _) in &parts {
            let mut rows = rows.clone();
            rows.count(train, context.stop)?;
            rows_of.push(Arc::new(rows));
        }
        let shards: Vec<_> = parts.iter().map(|(train, _)| train.shards(1)).collect();
        let mut made = Vec::with_capacity(folds);
        for (((train, held_out), rows), shards) in parts.iter().zip(&rows_of).zip(&shards) {
            let size = batches::size(self.params, train.samples.len(), all.target.outputs());
            let linear = match self.loss {
                Loss::Squared => Some(Linear::new(train, rows, context.stop)?),
                _ => None,
            };
            let batches = Batches::new(train, shards, size).decode(rows, context)?;
            made.push(Fold { rows: Arc::clone(rows), batches, linear, held_out });
        }
        work(&made)
    }
}
