//! What a model has learned: bits with whole-number scales, or floats.

use super::{Method, Reals, Scales, SignRows};

/// The weights of all score functions.
#[derive(Clone, Debug, PartialEq)]
pub enum Weights {
    /// One bit each.
    Bits {
        /// The ±1 weights.
        signs: SignRows,
        /// The multipliers of the integer score.
        scales: Scales,
    },
    /// Some or all are floats.
    Reals(Reals),
}

impl Weights {
    /// Which of the family they belong to.
    pub fn method(&self) -> Method {
        match self {
            Self::Bits { .. } => Method::Bfm,
            Self::Reals(reals) => reals.method,
        }
    }

    /// Number of score functions.
    pub fn functions(&self) -> usize {
        match self {
            Self::Bits { signs, .. } => signs.functions(),
            Self::Reals(reals) => reals.functions(),
        }
    }

    /// Number of factors: m.
    pub fn factors(&self) -> usize {
        match self {
            Self::Bits { signs, .. } => signs.factors(),
            Self::Reals(reals) => reals.m,
        }
    }
}
