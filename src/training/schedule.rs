//! How long to train, and at which learning rate.

use super::Params;

/// Number of epochs, early stopping and the course of the learning rate.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Maximum number of passes over the data.
    pub epochs: usize,
    /// Whether to stop when the loss on held-out samples no longer falls.
    pub early_stopping: bool,
    /// Number of epochs without improvement before stopping.
    pub patience: usize,
    /// Share of the samples to hold out, if there are no others to evaluate on.
    pub holdout: f64,
    /// Whether the learning rate stays constant, because nobody knows how many passes will follow.
    pub steady: bool,
    /// Whether the caller wants the scores of held-out samples after each epoch.
    pub scores: bool,
}

/// What the learning rate is multiplied by after each pass.
const DECAY: f64 = 0.97;
/// Share of the epochs over which the learning rate then falls to zero: signs that waver settle.
const COOL_DOWN: f64 = 0.25;

impl Schedule {
    /// Returns the schedule of a whole training.
    pub fn new(params: &Params) -> Self {
        let Params { epochs, early_stopping, patience, holdout, .. } = *params;
        Self { epochs, early_stopping, patience, holdout, steady: false, scores: false }
    }

    /// Returns the factor of the learning rate in an epoch, after a number of passes in this and earlier schedules.
    pub(super) fn rate_factor(self, epoch: usize, passes: usize) -> f64 {
        if self.steady {
            return 1.0;
        }
        let left = 1.0 - (epoch as f64 - 1.0) / self.epochs as f64;
        libm::pow(DECAY, passes as f64) * (left / COOL_DOWN).min(1.0)
    }
}
