//! The parameters of training: each one declared once, with its default, its constraint and a line of documentation.
//!
//! [`Params`] can hold anything; [`Params::check`] turns it into [`ValidParams`], which alone can train.

use super::{Init, Objective};
use super::levels::MAX_TILINGS as MAX_LEVEL_TILINGS;
use super::rule::{Above, AtLeast, Between, Finite, Flag, OneOf, OrAuto, OrNone, Rule, Share, Value, Whole};
use crate::encoding::{Binning, EncodingParams, MAX_BINS, MAX_TILINGS};
use crate::format::MAX_FACTORS;
use crate::model::{Loss, MAX_W_BITS, Method};
use crate::{Error, Result};
use std::ops::Deref;

/// How a gradient moves a weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimizer {
    /// A step size of its own for each weight.
    Adagrad,
    /// One step size for all.
    Sgd,
}

impl Optimizer {
    /// All optimizers with the names by which users know them.
    pub const NAMED: [(&'static str, Self); 2] = [("adagrad", Self::Adagrad), ("sgd", Self::Sgd)];
}

/// Bound on epochs, patience and the like, against typing errors.
const MAX_EPOCHS: i64 = 1_000_000;

/// Largest batch: each sample has buffers.
const MAX_BATCH: i64 = 1 << 20;
/// Largest number of shards.
const MAX_SHARDS: i64 = 1000;

/// Declares [`Params`]: documentation, name, type, default and constraint of each parameter.
macro_rules! params {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty = $default:expr, $rule:expr;)+) => {
        /// What the user decides about training.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Params {
            $($(#[doc = $doc])+ pub $name: $type,)+
            /// How weights are initialized; not a choice of the user.
            pub init: Init,
        }

        impl Default for Params {
            fn default() -> Self {
                Self { $($name: $default,)+ init: Init::Smooth }
            }
        }

        impl Params {
            /// Sets a parameter by name.
            ///
            /// # Errors
            /// If the value breaks the parameter's constraint, or there is no such parameter.
            pub fn set(&mut self, name: &str, value: &Value) -> Result<()> {
                match name {
                    $(stringify!($name) => {
                        self.$name = $rule.read(stringify!($name), value)?;
                    })+
                    _ => return Err(Error::Internal),
                }
                Ok(())
            }

            /// Describes all parameters.
            pub fn describe() -> Vec<Description> {
                let default = Self::default();
                vec![$(Description {
                    name: stringify!($name),
                    default: $rule.show(&default.$name),
                    must_be: Rule::<$type>::must_be(&$rule),
                    doc: concat!($($doc),+).trim(),
                }),+]
            }

            fn check_each(&self) -> Result<()> {
                $(let _: $type = $rule.read(stringify!($name), &$rule.show(&self.$name))?;)+
                Ok(())
            }
        }
    };
}

params! {
    /// Which factorization machine.
    method: Method = Method::Bfm, OneOf(&Method::NAMED);
    /// Number of factors.
    m: usize = 32, Whole(0, MAX_FACTORS as i64);
    /// Number of bits of each w.
    w_bits: usize = 1, Whole(1, MAX_W_BITS as i64);
    /// Maximum number of parameter rows of a numeric feature.
    b: usize = 20, Whole(2, MAX_BINS);
    /// Number of shifted tilings: rows that each present feature activates.
    tilings: usize = 4, Whole(1, MAX_TILINGS);
    /// Where numeric features are cut.
    binning: Binning = Binning::Quantile, OneOf(&Binning::NAMED);
    /// What training minimizes.
    loss: Loss = Loss::Logistic, OneOf(&Loss::NAMED);
    /// Share of the targets that should lie below the prediction, with the quantile loss.
    quantile: f64 = 0.5, Between;
    /// Distance from which the Huber loss grows linearly, in units of the target's spread.
    delta: f64 = 0.5, Above(0.0);
    /// Whether the scales alpha and beta are learned, or fixed at 1.
    scaling: bool = true, Flag;
    /// How gradients move weights.
    optimizer: Optimizer = Optimizer::Adagrad, OneOf(&Optimizer::NAMED);
    /// Maximum number of passes over the data.
    epochs: usize = 30, Whole(1, MAX_EPOCHS);
    /// Step size of the first epoch.
    learning_rate: f64 = 0.015, Above(0.0);
    /// Samples between two steps of the weights; 1 is the paper's algorithm.
    batch_size: Option<usize> = None, OrNone(Whole(1, MAX_BATCH));
    /// Number of parts of the samples that learn separately and are averaged after each epoch.
    shards: Option<usize> = None, OrNone(Whole(1, MAX_SHARDS));
    /// Strength of the pull of weights towards silence.
    regularization: Option<f64> = Some(0.0), OrAuto(AtLeast(0.0));
    /// Strength of the pull of the linear term; None follows from the number of tilings.
    linear_strength: Option<f64> = None, OrNone(AtLeast(0.0));
    /// Loudness of the pairs of a model with rest values.
    loudness: f64 = 1.0, AtLeast(0.0);
    /// Whether factors are learned as numbers, and rounded to what the signs of a cell can say.
    levels: bool = false, Flag;
    /// Number of visits below which a cell is pulled mostly for being rare, if there are levels.
    rare_visits: f64 = 50.0, AtLeast(0.0);
    /// Distance between two levels, in root mean squares of the numbers that they stand for.
    coarseness: f64 = 1.2, Above(0.0);
    /// Regularization of the linear term.
    lambda_w: f64 = 0.0, AtLeast(0.0);
    /// Regularization of the factors.
    lambda_v: f64 = 0.0, AtLeast(0.0);
    /// Share of a sample's features left out at random at each visit.
    dropout: f64 = 0.0, Share;
    /// Number of models trained independently and joined, each with its share of the factors.
    ensemble: usize = 1, Whole(1, MAX_FACTORS as i64);
    /// Number of passes over all signs after training, each sign flipped where that lowers the loss.
    polish: usize = 0, Whole(0, MAX_EPOCHS);
    /// Total weight that a category needs to be known.
    min_count: f64 = 1.0, Finite;
    /// Whether to stop when the loss on held-out samples no longer falls.
    early_stopping: bool = false, Flag;
    /// Share of the samples held out for early stopping.
    holdout: f64 = 0.0, Share;
    /// Number of epochs without improvement before stopping.
    patience: usize = 5, Whole(1, MAX_EPOCHS);
    /// Seed of everything random.
    seed: u64 = 0, Whole(0, i64::MAX);
}

/// A parameter as documentation shows it.
pub struct Description {
    /// The name by which users know it.
    pub name: &'static str,
    /// Its default.
    pub default: Value,
    /// Its constraint, as it follows "must be".
    pub must_be: String,
    /// What it is for.
    pub doc: &'static str,
}

/// Parameters that have been checked.
#[derive(Clone, Debug, PartialEq)]
pub struct ValidParams(Params);

impl Deref for ValidParams {
    type Target = Params;

    fn deref(&self) -> &Params {
        &self.0
    }
}

impl Params {
    /// Checks each parameter, and that they go together.
    ///
    /// # Errors
    /// Names the first parameter that breaks its constraint.
    pub fn check(self) -> Result<ValidParams> {
        self.check_each()?;
        self.check_bins()?;
        self.check_w_bits()?;
        self.check_regularization()?;
        self.check_levels()?;
        self.check_dropout()?;
        self.check_ensemble()?;
        self.check_polish()?;
        Ok(ValidParams(self))
    }

    fn check_bins(&self) -> Result<()> {
        if self.tilings < self.b {
            return Ok(());
        }
        let max = (self.b - 1).min(MAX_TILINGS as usize);
        let must = format!("be a whole number from 1 to {max}, below b = {}", self.b);
        Err(Error::value("tilings", must, self.tilings))
    }

    fn check_w_bits(&self) -> Result<()> {
        let wrong = |must: String| Err(Error::value("w_bits", must, self.w_bits));
        if self.w_bits > 1 && self.method != Method::Bfm {
            let method = self.method.name();
            return wrong(format!("be 1 with method '{method}', because its w are floats"));
        }
        if self.w_bits > 1 && !self.scaling {
            return wrong("be 1 without scaling, because the unit of w is a scale".into());
        }
        Ok(())
    }

    fn check_regularization(&self) -> Result<()> {
        let conflicts = [
            (self.method != Method::Bfm, format!("method '{}'", self.method.name())),
            (self.optimizer != Optimizer::Adagrad, "optimizer 'sgd'".into()),
            (!self.scaling, "scaling = False".into()),
            (self.dropout > 0.0, format!("dropout = {}", self.dropout)),
            (self.ensemble > 1, format!("ensemble = {}", self.ensemble)),
            (self.polish > 0, format!("polish = {}", self.polish)),
            (self.tilings == 1, "one tiling".into()),
            (self.w_bits == 1, "w_bits = 1".into()),
        ];
        match conflicts.into_iter().find(|(conflicts, _)| *conflicts && self.is_quiet()) {
            Some((_, with)) => {
                let given = OrAuto(AtLeast(0.0)).show(&self.regularization);
                Err(Error::value("regularization", format!("be 0 with {with}"), given))
            }
            None => Ok(()),
        }
    }

    fn check_levels(&self) -> Result<()> {
        if !self.levels || self.is_quiet() && self.can_have_levels() {
            return Ok(());
        }
        let must = format!("be False without regularization, and with more than {MAX_LEVEL_TILINGS} tilings");
        Err(Error::value("levels", must, "True"))
    }

    fn check_dropout(&self) -> Result<()> {
        let wrong = |must: &str| Err(Error::value("dropout", must, self.dropout));
        if self.dropout > 0.0 && !self.scaling {
            return wrong("be 0 without scaling, because it refits the scales");
        }
        if self.dropout > 0.0 && self.loss == Loss::Softmax {
            return wrong("be 0 with loss 'softmax', because each output is refitted alone");
        }
        Ok(())
    }

    fn check_ensemble(&self) -> Result<()> {
        let wrong = |must: String| Err(Error::value("ensemble", must, self.ensemble));
        if self.ensemble > 1 && self.m == 0 {
            return wrong("be 1 with m = 0, because members share the factors".into());
        }
        if !self.m.is_multiple_of(self.ensemble) {
            return wrong(format!("be a divisor of m = {}", self.m));
        }
        if self.ensemble > 1 && self.method != Method::Bfm {
            let method = self.method.name();
            return wrong(format!("be 1 with method '{method}', because only signs can be joined"));
        }
        if self.ensemble > 1 && !self.scaling {
            return wrong("be 1 without scaling, because joining refits the scales".into());
        }
        Ok(())
    }

    fn check_polish(&self) -> Result<()> {
        let wrong = |must: String| Err(Error::value("polish", must, self.polish));
        if self.polish > 0 && self.method != Method::Bfm {
            let method = self.method.name();
            return wrong(format!("be 0 with method '{method}', because only signs can be flipped"));
        }
        if self.polish > 0 && !self.scaling {
            return wrong("be 0 without scaling, because it refits the scales".into());
        }
        Ok(())
    }

    /// Returns how to encode a dataset.
    pub fn encoding(&self) -> EncodingParams {
        EncodingParams {
            bins: self.b as u32,
            tilings: self.tilings as u32,
            binning: self.binning,
            min_count: self.min_count,
            raw: self.method.is_raw(),
        }
    }

    /// Returns what is minimized.
    pub fn objective(&self) -> Objective {
        Objective { loss: self.loss, quantile: self.quantile, delta: self.delta }
    }

    /// Returns the same for a number of outputs: logistic instead of softmax for a single one, which is the same for two
    /// classes.
    pub fn objective_of(&self, outputs: usize) -> Objective {
        match self.loss {
            Loss::Softmax if outputs == 1 => Objective { loss: Loss::Logistic, ..self.objective() },
            _ => self.objective(),
        }
    }

    /// Returns whether the signs of a cell are few enough to be chosen together.
    pub fn can_have_levels(&self) -> bool {
        self.tilings <= MAX_LEVEL_TILINGS
    }

    /// Returns whether weights have rest values.
    pub fn is_quiet(&self) -> bool {
        self.regularization != Some(0.0)
    }

    /// Returns the number of factors of each member of the ensemble.
    pub fn factors_per_member(&self) -> usize {
        self.m / self.ensemble
    }
}
