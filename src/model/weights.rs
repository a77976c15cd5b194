//! What a model has learned: bits with integer scales, or floats.

use super::{FloatWeights, Method, Scales, SignRows};
use crate::Result;

/// The weights of all outputs.
#[derive(Clone, Debug, PartialEq)]
pub enum Weights {
    /// Bits: one for each factor, and one or some for w.
    Signs {
        /// The weights.
        signs: SignRows,
        /// The multipliers of the integer score.
        scales: Scales,
    },
    /// Some or all are floats.
    Floats(FloatWeights),
}

impl Weights {
    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> Result<Self> {
        Ok(match self {
            Self::Signs { signs, scales } => {
                Self::Signs { signs: signs.copied()?, scales: scales.copied()? }
            }
            Self::Floats(floats) => Self::Floats(floats.copied()?),
        })
    }

    /// Returns the method they belong to.
    pub fn method(&self) -> Method {
        match self {
            Self::Signs { .. } => Method::Bfm,
            Self::Floats(floats) => floats.method(),
        }
    }

    /// Returns whether all weights are bits.
    pub fn is_signs(&self) -> bool {
        matches!(self, Self::Signs { .. })
    }

    /// Returns the number of outputs.
    pub fn outputs(&self) -> usize {
        match self {
            Self::Signs { signs, .. } => signs.outputs(),
            Self::Floats(floats) => floats.outputs(),
        }
    }

    /// Returns the number of factors m.
    pub fn factors(&self) -> usize {
        match self {
            Self::Signs { signs, .. } => signs.factors(),
            Self::Floats(floats) => floats.factors(),
        }
    }

    /// Returns the bits that each w takes in a file.
    pub fn w_bits(&self) -> usize {
        match self {
            Self::Signs { signs, .. } => signs.shape().w_bits,
            Self::Floats(_) => 8 * size_of::<f32>(),
        }
    }

    /// Returns their bytes in a file, without the scales.
    pub fn size(&self) -> usize {
        match self {
            Self::Signs { signs, .. } => signs.bytes().len(),
            Self::Floats(floats) => floats.size(),
        }
    }
}
