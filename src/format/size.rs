//! The size of a model's file, of one that exists and of one that is yet to be trained.

use super::header::{self, stores_labels};
use super::{features, frame, labels, weights};
use crate::encoding::Encoder;
use crate::model::{Labels, Model, SignRows};
use alloc::string::String;
use alloc::vec::Vec;

impl Model {
    /// Returns the bytes of each section of the file.
    pub fn size_report(&self) -> Vec<(&'static str, usize)> {
        let sections = self.sections();
        let sizes = sections.iter().map(|(name, section)| (*name, section.len()));
        sizes.chain([("checksum", frame::CHECKSUM)]).collect()
    }

    /// Returns the size of the file.
    pub fn size(&self) -> usize {
        self.size_report().iter().map(|(_, size)| size).sum()
    }
}

/// Predicts the size of a model of bits before it is trained:
///
/// ```text
/// header + scales + features + ⌈rows · outputs · (m + 1) / 8⌉ + labels + names + checksum
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
}

/// The number of factors takes two bytes in the file.
pub const MAX_FACTORS: usize = 65_535;

impl ModelSize<'_> {
    /// Returns the size of a model of m factors.
    pub fn of(&self, m: usize) -> usize {
        let rows = self.encoder.rows() as usize;
        let bits = SignRows::bytes_for(rows, self.outputs(), m).unwrap_or(usize::MAX);
        self.fixed().saturating_add(bits)
    }

    /// Returns the largest number of factors that fits into `max_bytes`; 0 if not even one does.
    pub fn largest_m(&self, max_bytes: usize) -> usize {
        let Some(left) = max_bytes.checked_sub(self.fixed()) else { return 0 };
        let bits_per_factor = self.encoder.rows() as usize * self.outputs();
        match (8 * left).checked_div(bits_per_factor) {
            Some(columns) => columns.saturating_sub(1).min(MAX_FACTORS),
            None => MAX_FACTORS,
        }
    }

    fn outputs(&self) -> usize {
        if self.labels.len() > 2 { self.labels.len() } else { 1 }
    }

    /// Returns the size of everything but the bits.
    fn fixed(&self) -> usize {
        let mut out = Vec::new();
        features::put_features(&mut out, self.encoder, false);
        if stores_labels(self.labels) {
            labels::put_labels(&mut out, self.labels);
        }
        labels::put_names(&mut out, self.names.unwrap_or_default());
        header::SIZE + weights::scales_size(self.outputs()) + out.len() + frame::CHECKSUM
    }
}
