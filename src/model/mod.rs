//! A finished model: an encoder, weights that are bits with integer scales or floats, and labels. It never changes.

mod card;
mod floats;
mod loss;
mod method;
mod scales;
mod signs;
mod weights;

pub use card::{Card, MAX_CARD};
pub use floats::{Factors, FloatOutput, FloatWeights};
pub use crate::data::Labels;
pub use loss::Loss;
pub use method::Method;
pub use scales::{MAX_EXPONENT, MAX_SHIFT, Multipliers, RealScale, Scales, Terms};
pub use signs::{MAX_W_BITS, SignRows, SignShape};
pub use weights::Weights;

use crate::encoding::Encoder;
use crate::memory::{collect, copied};
use crate::{Error, Result};
use alloc::{string::String, vec::Vec};

/// A trained model.
#[derive(Clone, Debug, PartialEq)]
pub struct Model {
    encoder: Encoder,
    weights: Weights,
    loss: Loss,
    labels: Labels,
    names: Option<Vec<String>>,
    card: Option<Card>,
}

/// m · (maximum of active rows)² stays below 2^60, so that Q and the sums that lead to it fit 64 bits. L fits
/// them in any case: fewer than 2^32 rows are active, and no w has more than 8 bits.
const PAIR_BITS: u32 = 60;

/// The length of a file takes four bytes; an eighth is reserved for everything but the weights.
const MAX_WEIGHT_BYTES: u64 = (1 << 32) / 8 * 7;

impl Model {
    /// Puts the parts together.
    ///
    /// # Errors
    /// If they are so large that a score could overflow, or floats are not finite.
    pub fn new(encoder: Encoder, weights: Weights, loss: Loss, labels: Labels) -> Result<Self> {
        match &weights {
            Weights::Signs { signs, .. } => {
                check_w_bits(signs.shape().w_bits)?;
                check_pairs(&encoder, signs.factors())?;
            }
            Weights::Floats(floats) if !floats.are_finite() => return Err(Error::Diverged),
            Weights::Floats(_) => {}
        }
        check_size(weights.size())?;
        Ok(Self { encoder, weights, loss, labels, names: None, card: None })
    }

    /// Returns the model if none of its scores can be infinite.
    ///
    /// # Errors
    /// If one can be, because training diverged.
    pub fn checked_finite(self) -> Result<Self> {
        if let Weights::Signs { signs, scales } = &self.weights {
            let (linear, pairs) = signs.term_bounds(self.encoder.max_active());
            if !scales.are_finite(linear, pairs) {
                return Err(Error::Diverged);
            }
        }
        Ok(self)
    }

    /// Returns the same model with other encoder and weights.
    ///
    /// # Errors
    /// See [`Model::new`].
    pub fn with_weights(&self, encoder: Encoder, weights: Weights) -> Result<Self> {
        let model = Self::new(encoder, weights, self.loss, self.labels.copied()?)?;
        let names = self.names.as_deref().map(copied).transpose()?;
        let card = self.card.as_ref().map(Card::copied).transpose()?;
        Ok(Self { names, card, ..model })
    }

    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> Result<Self> {
        self.with_weights(self.encoder.copied()?, self.weights.copied()?)
    }

    /// Returns the same model with names of its columns.
    ///
    /// # Errors
    /// If there is not one name per column, or two are the same.
    pub fn with_names(self, names: Vec<String>) -> Result<Self> {
        let columns = self.encoder.columns();
        if names.len() != columns {
            let must = format!("have {columns} entries, one per column");
            return Err(Error::value("names", must, names.len()));
        }
        if !are_distinct(&names)? {
            return Err(Error::value("names", "be distinct", "the same name twice"));
        }
        Ok(Self { names: Some(names), ..self })
    }

    /// Returns the same model with another card, or without one.
    #[must_use]
    pub fn with_card(self, card: Option<Card>) -> Self {
        Self { card, ..self }
    }

    /// Returns how values become active rows.
    pub fn encoder(&self) -> &Encoder {
        &self.encoder
    }

    /// Returns the weights.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// Returns the loss that training minimized.
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// Returns the class labels.
    pub fn labels(&self) -> &Labels {
        &self.labels
    }

    /// Returns the names of the columns, if they have any.
    pub fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// Returns where the model comes from, if its file says so.
    pub fn card(&self) -> Option<&Card> {
        self.card.as_ref()
    }
}

/// Returns whether no two names are the same.
///
/// # Errors
/// If there is not enough memory.
pub fn are_distinct(names: &[String]) -> Result<bool> {
    let mut sorted = collect(names)?;
    sorted.sort_unstable();
    Ok(sorted.is_sorted_by(|a, b| a < b))
}

fn check_w_bits(w_bits: usize) -> Result<()> {
    if !(1..=MAX_W_BITS).contains(&w_bits) {
        let must = format!("be a whole number from 1 to {MAX_W_BITS}");
        return Err(Error::value("w_bits", must, w_bits));
    }
    Ok(())
}

fn check_pairs(encoder: &Encoder, factors: usize) -> Result<()> {
    let active = u128::from(encoder.max_active());
    if (factors as u128 * active * active) >> PAIR_BITS != 0 {
        let must = format!("keep m times the square of active rows below 2**{PAIR_BITS}");
        return Err(Error::value("X", must, format!("{active} active rows with m = {factors}")));
    }
    Ok(())
}

fn check_size(bytes: usize) -> Result<()> {
    if bytes as u64 > MAX_WEIGHT_BYTES {
        let must = format!("give at most {MAX_WEIGHT_BYTES} bytes of weights");
        return Err(Error::value("m", must, bytes));
    }
    Ok(())
}
