//! The `.binfm` file: little-endian, data only, checked before it is trusted. `docs/file-format.md` describes it.
//!
//! A file consists of [`header`], scales, [`features`], [`weights`], [`labels`] and a card, within a [`frame`].

mod bytes;
mod compact;
#[cfg(feature = "std")]
mod disk;
mod edges;
mod features;
mod frame;
mod header;
mod labels;
mod size;
mod weights;

#[cfg(feature = "std")]
pub use disk::write_file;
pub use features::{StoredFeature, stored_features};
#[cfg(feature = "python")]
pub use frame::checksum;
pub use size::{MAX_FACTORS, ModelSize};

use crate::model::{Card, Labels, Model};
use crate::{Error, Result};
use alloc::{string::String, vec::Vec};
use bytes::{Reader, put_text, wrong};
use header::{HAS_CARD, HAS_LABELS, HAS_NAMES, Header};

impl Model {
    /// Returns the content of the model's file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.sections().iter().for_each(|(_, section)| out.extend_from_slice(section));
        frame::seal(&mut out);
        out
    }

    /// Reads the content of a file.
    ///
    /// # Errors
    /// [`Error::Format`] if anything about it is wrong.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(frame::open(bytes, header::SIZE)?);
        let header = Header::read(&mut reader)?;
        let scales = header.read_scales(&mut reader)?;
        let encoder = header.read_encoder(&mut reader)?;
        let weights = header.read_weights(&mut reader, scales, encoder.rows() as usize)?;
        let labels = header.read_labels(&mut reader)?;
        let names = header.read_names(&mut reader)?;
        let card = header.read_card(&mut reader)?;
        if reader.left() > 0 {
            return wrong(reader.at(), "there are bytes after the model");
        }
        let model = Self::new(encoder, weights, header.loss, labels)
            .map_err(|_| Error::format(header::SIZE, "the model is too large to score"))?
            .with_card(card);
        match names {
            Some(names) => model.with_names(names),
            None => Ok(model),
        }
    }

    /// Returns the sections of the file, without the checksum, by name.
    fn sections(&self) -> Vec<(&'static str, Vec<u8>)> {
        let header = Header::of(self);
        let weights = self.weights();
        let section = |write: &dyn Fn(&mut Vec<u8>)| {
            let mut out = Vec::new();
            write(&mut out);
            out
        };
        let raw = weights.method().is_raw();
        let bits_or_floats = if weights.is_signs() { "bits" } else { "weights" };
        let mut sections = vec![
            ("header", header.bytes()),
            ("scales", section(&|out| weights::put_scales(out, weights))),
            ("features", section(&|out| features::put_features(out, self.encoder(), raw))),
            (bits_or_floats, section(&|out| weights::put_weights(out, weights))),
        ];
        if header.has(HAS_LABELS) {
            sections.push(("labels", section(&|out| labels::put_labels(out, self.labels()))));
        }
        if let Some(names) = self.names() {
            sections.push(("names", section(&|out| labels::put_names(out, names))));
        }
        if let Some(card) = self.card() {
            sections.push(("card", section(&|out| put_text(out, card.as_str()))));
        }
        sections
    }
}

impl Header {
    fn read_labels(&self, reader: &mut Reader) -> Result<Labels> {
        let classes = if self.outputs == 1 { 2 } else { self.outputs };
        let at = reader.at();
        if !self.has(HAS_LABELS) {
            return Ok(if self.loss.is_regression() { Labels::None } else { Labels::counting(classes) });
        }
        let labels = labels::read_labels(reader, classes)?;
        if self.loss.is_regression() || !labels.are_sorted() || !header::stores_labels(&labels) {
            return wrong(at, "labels do not ascend or do not belong here");
        }
        Ok(labels)
    }

    fn read_names(&self, reader: &mut Reader) -> Result<Option<Vec<String>>> {
        let has_names = self.has(HAS_NAMES);
        has_names.then(|| labels::read_names(reader, self.features)).transpose()
    }

    fn read_card(&self, reader: &mut Reader) -> Result<Option<Card>> {
        if !self.has(HAS_CARD) {
            return Ok(None);
        }
        let at = reader.at();
        let text = reader.text()?;
        Card::new(text).map(Some).or_else(|must| wrong(at, &format!("a card must {must}, which it does not")))
    }
}
