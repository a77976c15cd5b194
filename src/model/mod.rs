//! A finished model: how values become active rows, one bit a weight with whole-number scales, or floats. It never
//! changes.

mod bits;
mod bytes;
#[cfg(feature = "std")]
mod disk;
mod features;
mod file;
mod frame;
mod header;
mod labels;
mod merge;
mod method;
mod names;
mod reals;
mod score;
mod weights;

pub use bits::SignRows;
pub use labels::Labels;
pub use method::Method;
pub use reals::{RealFunction, Reals};
pub use score::{Real, Scales, Terms};
pub use weights::Weights;

use crate::encoding::Encoder;
use crate::{Error, Result};
use alloc::{string::String, vec::Vec};

/// What training minimised, and so what a score means.
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
    /// log Σ exp(s) − s of the right class: the scores of three classes and more learn together.
    Softmax,
}

impl Loss {
    /// All of them, in the order of their numbers in the file.
    pub const ALL: [Self; 5] =
        [Self::Logistic, Self::Hinge, Self::SquaredHinge, Self::Squared, Self::Softmax];

    /// The name by which the user calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::Hinge => "hinge",
            Self::SquaredHinge => "squared_hinge",
            Self::Squared => "squared",
            Self::Softmax => "softmax",
        }
    }
}

/// A trained model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    encoder: Encoder,
    weights: Weights,
    loss: Loss,
    labels: Labels,
    names: Option<Vec<String>>,
}

/// Bits of m · (most active rows)²: Q and the sums on the way to it stay within 64 bits.
const PAIR_BITS: u32 = 60;

/// The length of a file has four bytes; an eighth is left for everything but the weights.
const MOST_BYTES: u64 = (1 << 32) / 8 * 7;

impl Model {
    /// Put the parts together.
    ///
    /// # Errors
    /// If they are so large that a score could overflow.
    pub fn new(
        encoder: Encoder,
        signs: SignRows,
        scales: Scales,
        loss: Loss,
        labels: Labels,
    ) -> Result<Self> {
        let active = u128::from(encoder.most_active());
        let pairs = signs.factors() as u128 * active * active;
        if pairs >> PAIR_BITS != 0 {
            let given = format!("{active} active rows with m = {}", signs.factors());
            return Err(Error::value("X", given, format!("are m · rows² below 2^{PAIR_BITS}")));
        }
        check_size(signs.bytes().len())?;
        let weights = Weights::Bits { signs, scales };
        Ok(Self { encoder, weights, loss, labels, names: None })
    }

    /// The same with float weights.
    ///
    /// # Errors
    /// If they are too many, or no numbers.
    pub fn with_reals(encoder: Encoder, reals: Reals, loss: Loss, labels: Labels) -> Result<Self> {
        check_size(reals.size())?;
        if !reals.are_finite() {
            return Err(without_end());
        }
        Ok(Self { encoder, weights: Weights::Reals(reals), loss, labels, names: None })
    }

    /// The same, if none of its scores can be infinite.
    ///
    /// # Errors
    /// If one can, which a training that goes astray leads to.
    pub fn checked(self) -> Result<Self> {
        if let Weights::Bits { signs, scales } = &self.weights {
            let active = self.encoder.most_active();
            if !scales.are_finite(active, signs.factors() as u64 * active * active) {
                return Err(without_end());
            }
        }
        Ok(self)
    }

    /// A model with one factor that has learned nothing yet.
    ///
    /// # Errors
    /// If it is so large that a score could overflow.
    pub fn blank(encoder: Encoder) -> Result<Self> {
        let signs = SignRows::new(encoder.rows() as usize, 1, 1, |_, _, _| false);
        Self::new(encoder, signs, Scales::new(&[Real::default()]), Loss::Squared, Labels::None)
    }

    /// How values become active rows.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// The weights.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// What training minimised.
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// The class labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }
}

/// Weights or scores that are no longer numbers.
pub fn without_end() -> Error {
    let accepted = "is a smaller one (or targets in other units)";
    Error::value("learning_rate", "weights that grew without end", accepted)
}

fn check_size(bytes: usize) -> Result<()> {
    if bytes as u64 > MOST_BYTES {
        let given = format!("{bytes} bytes of weights");
        return Err(Error::value("m", given, format!("are up to {MOST_BYTES}")));
    }
    Ok(())
}
