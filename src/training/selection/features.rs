//! Which features to leave out where there are many.

use super::trial::Trial;
use crate::Result;
use crate::memory::collect;
use crate::training::Context;
use crate::training::linear::Linear;
use crate::training::quiet::Strength;
use crate::training::screening::rank;

/// Least number of features to keep; others that are tried are multiples by [`STEP`].
const MIN_FEATURES: usize = 8;
const STEP: usize = 4;

/// Returns the columns that held-out samples do not miss, judged by the linear term alone.
pub fn uninformative(trial: &Trial, context: Context) -> Result<Vec<usize>> {
    let features = trial.encoder.features();
    let usual = Strength { pairs: 0.0, ..trial.strength()? };
    let numbers = (0..).map(|i| MIN_FEATURES * usize::pow(STEP, i));
    let mut numbers: Vec<usize> = numbers.take_while(|&number| number < features.len()).collect();
    numbers.push(features.len());
    let mut losses = vec![0.0; numbers.len()];
    trial.with_folds(false, context, |folds| {
        for fold in folds {
            let Some(linear) = &fold.linear else { return Ok(()) };
            let ranked = rank(linear)?;
            for (loss, &number) in losses.iter_mut().zip(&numbers) {
                let some = linear.of_features(&ranked[..number])?;
                *loss += trial.linear_loss(usual, fold, &some, context)?;
            }
        }
        Ok(())
    })?;
    let best = losses.iter().zip(&numbers).min_by(|a, b| a.0.total_cmp(b.0));
    let number = best.map_or(features.len(), |(_, &number)| number);
    let all = trial.examples()?;
    let rows = trial.rows(&all, context)?;
    let linear = Linear::new(&all, &rows, trial.objective, context)?;
    let ranked = linear.as_ref().map_or_else(|| Ok(Vec::new()), rank)?;
    collect(ranked.iter().skip(number).map(|&feature| features[feature].column))
}
