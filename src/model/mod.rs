//! A finished model: how values become active rows, one bit a weight, whole-number scales. It never changes.

mod bits;
mod bytes;
#[cfg(feature = "std")]
mod disk;
mod features;
mod file;
mod labels;
mod names;
mod score;

pub use bits::SignRows;
pub use labels::Labels;
pub use score::{Real, Scales, Terms};

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
}

impl Loss {
    /// All of them, in the order of their numbers in the file.
    pub const ALL: [Self; 4] = [Self::Logistic, Self::Hinge, Self::SquaredHinge, Self::Squared];

    /// The name by which the user calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Logistic => "logistic",
            Self::Hinge => "hinge",
            Self::SquaredHinge => "squared_hinge",
            Self::Squared => "squared",
        }
    }
}

/// A trained model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    encoder: Encoder,
    signs: SignRows,
    scales: Scales,
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
        if (signs.factors() as u128 * active * active) >> PAIR_BITS != 0 {
            let given = format!("{active} active rows with m = {}", signs.factors());
            return Err(Error::value("X", given, format!("are m · rows² below 2^{PAIR_BITS}")));
        }
        if signs.bytes().len() as u64 > MOST_BYTES {
            let given = format!("{} bytes of weights", signs.bytes().len());
            return Err(Error::value("m", given, format!("are up to {MOST_BYTES}")));
        }
        Ok(Self { encoder, signs, scales, loss, labels, names: None })
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

    /// The ±1 weights.
    pub fn signs(&self) -> &SignRows {
        &self.signs
    }

    /// The multipliers of the integer score.
    pub fn scales(&self) -> &Scales {
        &self.scales
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
