//! The size of a model's file, of one that exists and of one that is yet to be trained.

use super::Extras;
use super::header::{self, stores_labels};
use super::output::Output;
use super::{features, frame, labels, weights};
use crate::encoding::Encoder;
use crate::model::{Labels, Model, SignShape};
use alloc::string::String;
use alloc::vec::Vec;

impl Model {
    /// Returns the bytes of each section of the file.
    pub fn size_report(&self) -> Vec<(&'static str, usize)> {
        let mut sections = self.write(Extras::ALL, &mut Output::counting());
        sections.push(("checksum", frame::CHECKSUM));
        sections
    }

    /// Returns the size of the file.
    pub fn size(&self) -> usize {
        self.size_report().iter().map(|(_, size)| size).sum()
    }
}

/// Predicts the size of a model of bits before it is trained:
///
/// ```text
/// header + scales + features + ⌈rows · outputs · (w_bits + m) / 8⌉ + labels + names + checksum
/// ```
///
/// A trained model can be smaller, if cells that it does not tell apart are merged.
pub struct ModelSize<'a> {
    /// How samples are encoded.
    pub encoder: &'a Encoder,
    /// The class labels.
    pub labels: &'a Labels,
    /// The names of the columns.
    pub names: Option<&'a [String]>,
    /// Bits of each w.
    pub w_bits: usize,
}

/// The number of factors takes two bytes in the file.
pub const MAX_FACTORS: usize = 65_535;

impl ModelSize<'_> {
    /// Returns the size of a model of m factors.
    pub fn of(&self, m: usize) -> usize {
        let (rows, outputs) = (self.encoder.rows() as usize, self.outputs());
        let shape = SignShape { rows, outputs, w_bits: self.w_bits, factors: m };
        self.fixed().saturating_add(shape.bytes().unwrap_or(usize::MAX))
    }

    /// Returns the largest number of factors that fits into `max_bytes`; `None` if a model without any does not fit.
    pub fn largest_m(&self, max_bytes: usize) -> Option<usize> {
        let left = max_bytes.checked_sub(self.fixed())?;
        let bits_per_factor = self.encoder.rows() as usize * self.outputs();
        match (8 * left).checked_div(bits_per_factor) {
            Some(columns) => Some(columns.checked_sub(self.w_bits)?.min(MAX_FACTORS)),
            None => Some(MAX_FACTORS),
        }
    }

    fn outputs(&self) -> usize {
        if self.labels.len() > 2 { self.labels.len() } else { 1 }
    }

    /// Returns the size of everything but the bits.
    fn fixed(&self) -> usize {
        let mut out = Output::counting();
        features::put_features(&mut out, self.encoder, false);
        if stores_labels(self.labels) {
            labels::put_labels(&mut out, self.labels);
        }
        labels::put_names(&mut out, self.names.unwrap_or_default());
        header::SIZE + weights::scales_size(self.outputs()) + out.len() + frame::CHECKSUM
    }
}
