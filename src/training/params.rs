//! The parameters of training, their defaults and their limits.

use crate::model::{Loss, Method};
use crate::{Error, Result, training::Start};

/// How a gradient moves a proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimizer {
    /// A step size for each parameter.
    Adagrad,
    /// One step size for all.
    Sgd,
}

/// What the user decides about training.
#[derive(Clone, Debug)]
pub struct Params {
    /// Which of the family.
    pub method: Method,
    /// Number of factors.
    pub m: usize,
    /// What is minimised.
    pub loss: Loss,
    /// Whether α and β are learned, or 1.
    pub scaling: bool,
    /// How a gradient moves a proxy.
    pub optimizer: Optimizer,
    /// Passes over the data, at most.
    pub epochs: usize,
    /// Step size of the first epoch.
    pub learning_rate: f64,
    /// λ1, regularization of w.
    pub lambda_w: f64,
    /// λ2, regularization of V.
    pub lambda_v: f64,
    /// Share of the present features that each visit of a row leaves out.
    pub dropout: f64,
    /// How many machines are trained apart and joined; each has its share of the factors.
    pub ensemble: usize,
    /// Passes over all signs after training, each flipped where that lowers the loss.
    pub polish: usize,
    /// Whether to end when the loss on held-out rows no longer falls.
    pub early_stopping: bool,
    /// Epochs without improvement before that.
    pub patience: usize,
    /// Where proxies begin.
    pub start: Start,
    /// Seed of everything random.
    pub seed: u64,
}

impl Default for Params {
    fn default() -> Self {
        Self {
            method: Method::Bfm,
            m: 32,
            loss: Loss::Logistic,
            scaling: true,
            optimizer: Optimizer::Adagrad,
            epochs: 30,
            learning_rate: 0.02,
            lambda_w: 0.0,
            lambda_v: 0.0,
            dropout: 0.0,
            ensemble: 1,
            polish: 0,
            early_stopping: false,
            patience: 5,
            start: Start::Smooth,
            seed: 0,
        }
    }
}

/// The number of factors has two bytes in the file.
pub const MOST_FACTORS: i64 = 65_535;
/// A limit for mistakes.
pub const MOST_EPOCHS: i64 = 1_000_000;

impl Params {
    /// Check that each is within its limits.
    ///
    /// # Errors
    /// Names the first that is not.
    pub fn check(&self) -> Result<()> {
        whole("m", self.m as i64, 1, MOST_FACTORS)?;
        whole("epochs", self.epochs as i64, 1, MOST_EPOCHS)?;
        whole("patience", self.patience as i64, 1, MOST_EPOCHS)?;
        if !(self.learning_rate > 0.0 && self.learning_rate.is_finite()) {
            return Err(Error::value(
                "learning_rate",
                self.learning_rate,
                "are finite numbers above 0",
            ));
        }
        if !(0.0..1.0).contains(&self.dropout) {
            return Err(Error::value("dropout", self.dropout, "are numbers from 0 to below 1"));
        }
        if self.dropout > 0.0 && !self.scaling {
            let given = format!("{} without scaling", self.dropout);
            return Err(Error::value("dropout", given, "is 0: the scales are fitted again"));
        }
        if self.dropout > 0.0 && self.loss == Loss::Softmax {
            let given = format!("{} with loss 'softmax'", self.dropout);
            return Err(Error::value(
                "dropout",
                given,
                "is 0: each score function is fitted again alone",
            ));
        }
        whole("ensemble", self.ensemble as i64, 1, MOST_FACTORS)?;
        if !self.m.is_multiple_of(self.ensemble) {
            let given = format!("{} with m = {}", self.ensemble, self.m);
            return Err(Error::value("ensemble", given, "are divisors of m"));
        }
        if self.ensemble > 1 && self.method != Method::Bfm {
            let given = format!("{} with method '{}'", self.ensemble, self.method.name());
            return Err(Error::value("ensemble", given, "is 1: only signs are joined"));
        }
        if self.ensemble > 1 && !self.scaling {
            let given = format!("{} without scaling", self.ensemble);
            return Err(Error::value("ensemble", given, "is 1: the scales are fitted again"));
        }
        whole("polish", self.polish as i64, 0, MOST_EPOCHS)?;
        if self.polish > 0 && self.method != Method::Bfm {
            let given = format!("{} with method '{}'", self.polish, self.method.name());
            return Err(Error::value("polish", given, "is 0: only signs are flipped"));
        }
        if self.polish > 0 && !self.scaling {
            let given = format!("{} without scaling", self.polish);
            return Err(Error::value("polish", given, "is 0: the scales are fitted again"));
        }
        for (name, value) in [("lambda_w", self.lambda_w), ("lambda_v", self.lambda_v)] {
            if !(value >= 0.0 && value.is_finite()) {
                return Err(Error::value(name, value, "are finite numbers from 0"));
            }
        }
        Ok(())
    }
}

/// A whole number within limits.
///
/// # Errors
/// Names the parameter, the value and the limits.
pub fn whole(name: &'static str, value: i64, least: i64, most: i64) -> Result<usize> {
    if (least..=most).contains(&value) {
        return Ok(value as usize);
    }
    Err(Error::value(name, value, format!("are whole numbers from {least} to {most}")))
}
