//! Losses, and what the scores of a model trained with each one mean.

/// What training minimizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Loss {
    /// log(1 + exp(−y·s)): scores are log-odds.
    Logistic,
    /// max(0, 1 − y·s)
    Hinge,
    /// max(0, 1 − y·s)²
    SquaredHinge,
    /// (s − y)² / 2: regression.
    Squared,
    /// log Σ exp(s) − s of the true class: the scores of three or more classes are trained together.
    Softmax,
    /// Half the Poisson deviance of exp(s): scores are logarithms of means.
    Poisson,
    /// max(q·(y − s), (q − 1)·(y − s)): scores are quantiles.
    Quantile,
    /// Squared near y, and straight from a distance δ on: regression that outliers do not bend.
    Huber,
}

impl Loss {
    /// All losses, in the order of their numbers in a file, with the names by which users know them.
    pub const NAMED: [(&'static str, Self); 8] = [
        ("logistic", Self::Logistic),
        ("hinge", Self::Hinge),
        ("squared_hinge", Self::SquaredHinge),
        ("squared", Self::Squared),
        ("softmax", Self::Softmax),
        ("poisson", Self::Poisson),
        ("quantile", Self::Quantile),
        ("huber", Self::Huber),
    ];

    /// Returns the name by which users know it.
    pub fn name(self) -> &'static str {
        Self::NAMED.iter().find(|(_, loss)| *loss == self).map_or("", |(name, _)| name)
    }

    /// Returns whether targets are numbers, not classes.
    pub fn is_regression(self) -> bool {
        matches!(self, Self::Squared | Self::Poisson | Self::Quantile | Self::Huber)
    }

    /// Returns what a score predicts, if the target is a number.
    pub fn prediction(self, score: f64) -> f64 {
        if self == Self::Poisson { libm::exp(score) } else { score }
    }

    /// Returns whether scores give probabilities.
    pub fn has_probabilities(self) -> bool {
        matches!(self, Self::Logistic | Self::Softmax)
    }
}
