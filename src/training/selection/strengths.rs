//! How strongly weights are pulled towards rest: first those of the linear term, alone, then those of the factors.

use super::trial::{Fold, Found, Trial};
use crate::training::Context;
use crate::training::quiet::Strength;
use crate::{Error, Result};

/// Strengths to try: some at first, others if the outermost of those is the best.
pub struct Strengths {
    first: &'static [f64],
    weaker: &'static [f64],
    stronger: &'static [f64],
}

/// Strengths of the pull of w towards straight lines.
const LINEAR: Strengths = Strengths { first: &[3.0, 30.0, 300.0], weaker: &[0.3], stronger: &[3000.0, 30_000.0] };
/// The same for the pull on factors.
const CLASSES: Strengths = Strengths { first: &[10.0, 30.0, 100.0], weaker: &[1.0, 3.0], stronger: &[300.0] };
/// For regression: strengths and loudness of the factors.
const NUMBERS: [f64; 3] = [3.0, 10.0, 30.0];
const LOUDNESS: [f64; 2] = [1.0, 0.3];

/// Chooses the strengths.
pub fn choose(trial: &Trial, context: Context) -> Result<Found> {
    let (loss, best) = trial.with_folds(false, context, |folds| {
        let linear = linear(trial, trial.strength()?, folds, context)?;
        let best = if trial.objective.loss.is_regression() {
            let loud = |v| LOUDNESS.map(|pairs| Strength { v, pairs, ..linear.1 });
            let candidates: Vec<_> = NUMBERS.into_iter().flat_map(loud).collect();
            best_of(trial, &candidates, folds, context)?
        } else {
            let usual = Strength { pairs: 1.0, ..linear.1 };
            best_strength(trial, &CLASSES, |v| Strength { v, ..usual }, folds, context)?
        };
        Ok(if best.0 < linear.0 { best } else { linear })
    })?;
    Ok(Found { loss, params: best.put_into(&trial.params) })
}

/// Chooses how strongly w is pulled, without any pairs; returns the loss, too.
pub fn linear(trial: &Trial, usual: Strength, folds: &[Fold], context: Context) -> Result<(f64, Strength)> {
    if folds[0].linear.is_none() {
        return Ok((f64::INFINITY, usual));
    }
    let usual = Strength { pairs: 0.0, ..usual };
    if trial.has_rare_categories() && usual.levels.is_some() {
        return best_of(trial, &[usual], folds, context); // λ of each field follows from its effects
    }
    best_strength(trial, &LINEAR, |w| Strength { w, ..usual }, folds, context)
}

/// Returns the best candidate among strengths, and its loss.
fn best_strength(
    trial: &Trial,
    strengths: &Strengths,
    with: impl Fn(f64) -> Strength,
    folds: &[Fold],
    context: Context,
) -> Result<(f64, Strength)> {
    let candidates = |strengths: &[f64]| strengths.iter().map(|&strength| with(strength)).collect::<Vec<_>>();
    let first = candidates(strengths.first);
    let best = best_of(trial, &first, folds, context)?;
    let further = if best.1 == first[0] {
        candidates(strengths.weaker)
    } else if best.1 == first[first.len() - 1] {
        candidates(strengths.stronger)
    } else {
        return Ok(best);
    };
    let further = best_of(trial, &further, folds, context)?;
    Ok(if further.0 < best.0 { further } else { best })
}

/// Returns the candidate of least loss on held-out samples, and that loss.
pub fn best_of(trial: &Trial, candidates: &[Strength], folds: &[Fold], context: Context) -> Result<(f64, Strength)> {
    let losses = trial.losses(candidates, folds, context)?;
    let all = losses.into_iter().zip(candidates.iter().copied());
    all.min_by(|a, b| a.0.total_cmp(&b.0)).ok_or(Error::Internal)
}
