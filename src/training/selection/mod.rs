//! Parameters chosen on held-out samples: which features to use, how strongly to pull weights towards rest, whether factors
//! are signs or levels, and how finely to cut features.

mod features;
mod levels;
mod strengths;
mod trial;

use super::{Context, Params, ValidParams};
use crate::Result;
use crate::data::{Dataset, Schema};
use std::collections::BTreeSet;
use trial::{Found, Trial};

/// Numbers of bins and tilings to try besides those given.
const FINER_BINS: [(usize, usize); 2] = [(48, 8), (48, 16)];
/// Share by which something must lower the loss if it takes more bytes.
const MIN_GAIN: f64 = 0.001;
/// With fewer samples, finer bins would be too many to tell apart.
const MIN_SAMPLES_OF_FINER_BINS: usize = 1_000;

/// What was chosen.
pub struct Choice {
    /// All parameters.
    pub params: Params,
    /// Columns that carry too little information.
    pub leave_out: BTreeSet<usize>,
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
        schema.leave_out.extend(features::uninformative(&first, context)?);
        first = Trial::new(dataset, &schema, params, context)?;
    }
    if first.is_tiny() {
        let params = first.strength()?.put_into(params);
        return Ok(Choice { params, leave_out: schema.leave_out });
    }
    let mut best = if params.can_have_levels() && first.gains_from_levels() {
        levels::choose(&first, context)?
    } else {
        strengths::choose(&first, context)?
    };
    let is_small = dataset.table.samples() < MIN_SAMPLES_OF_FINER_BINS;
    if finer && first.has_bins() && !is_small && !first.is_large() {
        for (b, tilings) in FINER_BINS {
            let params = Params { b, tilings, ..best.params.clone() };
            if params.levels && !params.can_have_levels() {
                continue;
            }
            let params = params.check()?;
            let loss = Trial::new(dataset, &schema, &params, context)?.judge(context)?;
            if loss < best.loss * (1.0 - MIN_GAIN) {
                best = Found { loss, params: Params::clone(&params) };
            }
        }
    }
    Ok(Choice { params: best.params, leave_out: schema.leave_out })
}
