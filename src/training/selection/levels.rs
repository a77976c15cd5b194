//! How strongly numbers that become levels are pulled to zero, and how coarse the levels are.
//!
//! The pull at each visit starts where pairs say nothing, and falls until held-out samples lose by it. Whether a pair helps
//! hardly depends on how many factors there are, or on the last epochs; so fewer will do where a fit takes long.

use super::MIN_GAIN;
use super::strengths::{best_of, linear};
use super::trial::{Fold, Found, Trial, rounded_loss};
use crate::training::levels::Levels;
use crate::training::quiet::Strength;
use crate::training::{Context, Params};
use crate::Result;

/// Visits below which a cell is pulled mostly for being rare.
const RARE: [f64; 2] = [50.0, 1000.0];
/// The pull at each visit to start with, and what it is multiplied by from one candidate to the next.
const STRONGEST: f64 = 0.3;
const STEP: f64 = 0.4;
/// The same where the cells of numbers share rows, so that each has many visits; how rare they are does not matter then.
const STRONGEST_OF_NUMBERS: f64 = 0.01;
/// The most candidates on the way down, and those tried at a time.
const MAX_STEPS: usize = 9;
const AT_A_TIME: usize = 2;
/// How far, in steps, further candidates are from the best one, on either side.
const BETWEEN: [f64; 2] = [0.5, 0.25];
/// Factors to choose with.
const FACTORS: usize = 8;
/// Distances between levels, and loudness of the pairs.
const DISTANCES: [f64; 3] = [0.85, 1.2, 1.7];
const LOUDNESS: [f64; 4] = [0.95, 1.05, 1.1, 1.15];

/// Chooses the pull, and the distance between levels.
pub fn choose(trial: &Trial, context: Context) -> Result<Found> {
    let usual = Levels { rare: RARE[0], distance: DISTANCES[1] };
    let usual = Strength { levels: Some(usual), ..trial.strength()? };
    let is_dense = !trial.has_rare_categories();
    let factors = if trial.has_many_rows() { trial.params.m.min(FACTORS) } else { trial.params.m };
    let few = trial.with_params(Params { m: factors, ..Params::clone(&trial.params) })?;
    let (loss, best) = few.with_folds(true, context, |folds| {
        let alone = linear(&few, usual, folds, context)?;
        if few.params.m == 0 {
            return Ok(alone);
        }
        let silent = Strength { pairs: 1.0, v: if is_dense { STRONGEST_OF_NUMBERS } else { STRONGEST }, ..alone.1 };
        let mut best = (f64::INFINITY, silent);
        let rare = if is_dense { &RARE[..1] } else { &RARE[..] };
        for &rare in rare {
            let found = way_down(&few, Strength { levels: Some(Levels { rare, ..usual.levels.unwrap_or_default() }), ..silent }, folds, context)?;
            if found.0 < best.0 {
                best = found;
            }
        }
        let between = if is_dense { &BETWEEN[..0] } else { &BETWEEN[..] };
        for steps in between {
            let close = [*steps, -steps].map(|steps| Strength { v: best.1.v * libm::pow(STEP, steps), ..best.1 });
            let found = best_of(&few, &close, folds, context)?;
            if found.0 < best.0 {
                best = found;
            }
        }
        let best = coarseness(&few, best.1, folds, context)?;
        Ok(if best.0 < alone.0 * (1.0 - MIN_GAIN) { best } else { alone })
    })?;
    Ok(Found { loss, params: best.put_into(&trial.params) })
}

/// Lowers the pull until the loss has grown twice; returns the best candidate, and its loss.
fn way_down(trial: &Trial, from: Strength, folds: &[Fold], context: Context) -> Result<(f64, Strength)> {
    let candidates: Vec<Strength> = (0..MAX_STEPS as i32)
        .map(|step| Strength { v: from.v * libm::pow(STEP, f64::from(step)), ..from })
        .collect();
    let mut best = (f64::INFINITY, from);
    for candidates in candidates.chunks(AT_A_TIME) {
        let found = best_of(trial, candidates, folds, context)?;
        if found.0 > best.0 {
            break;
        }
        best = found;
    }
    Ok(best)
}

/// Chooses the distance between levels, then how loud pairs are; returns the loss, too.
fn coarseness(trial: &Trial, strength: Strength, folds: &[Fold], context: Context) -> Result<(f64, Strength)> {
    let trained = trial.trained(strength, folds, context)?;
    let mut best = (f64::INFINITY, strength);
    let levels = strength.levels.unwrap_or_default();
    for distance in DISTANCES {
        let candidate = Strength { levels: Some(Levels { distance, ..levels }), ..strength };
        let loss = rounded_loss(&trained, candidate, folds, context)?;
        best = if loss < best.0 { (loss, candidate) } else { best };
    }
    for pairs in LOUDNESS {
        let candidate = Strength { pairs, ..best.1 };
        let loss = rounded_loss(&trained, candidate, folds, context)?;
        best = if loss < best.0 { (loss, candidate) } else { best };
    }
    Ok(best)
}
