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
mod output;
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
use bytes::{Reader, wrong};
use header::{HAS_CARD, HAS_LABELS, HAS_NAMES, Header};
use output::Output;

impl Model {
    /// Returns the content of the model's file.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        self.to_bytes_with(Extras::ALL)
    }

    /// Returns the content of a file with some of the extras.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn to_bytes_with(&self, extras: Extras) -> Result<Vec<u8>> {
        let mut out = Output::writing();
        self.write(extras, &mut out);
        out.put([0; frame::CHECKSUM]);
        let mut bytes = out.finish()?;
        frame::seal(&mut bytes);
        Ok(bytes)
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

    /// Writes the file without its checksum, and returns the bytes of each section by name.
    fn write(&self, extras: Extras, out: &mut Output) -> Vec<(&'static str, usize)> {
        let header = Header::of(self, extras);
        let weights = self.weights();
        let mut sections = Vec::new();
        let mut begin = out.len();
        let mut section = |name, write: &dyn Fn(&mut Output)| {
            write(out);
            sections.push((name, out.len() - begin));
            begin = out.len();
        };
        section("header", &|out| header.put(out));
        section("scales", &|out| weights::put_scales(out, weights));
        let raw = weights.method().is_raw();
        section("features", &|out| features::put_features(out, self.encoder(), raw));
        let name = if weights.is_signs() { "bits" } else { "weights" };
        section(name, &|out| weights::put_weights(out, weights));
        if header.has(HAS_LABELS) {
            section("labels", &|out| labels::put_labels(out, self.labels()));
        }
        if let Some(names) = self.names().filter(|_| extras.names) {
            section("names", &|out| labels::put_names(out, names));
        }
        if let Some(card) = self.card().filter(|_| extras.card) {
            section("card", &|out| out.put_text(card.as_str()));
        }
        sections
    }
}

/// What a file holds that is not needed for scores.
#[derive(Clone, Copy, Debug)]
pub struct Extras {
    /// The names of the columns.
    pub names: bool,
    /// The class labels; without them, classes are 0, 1, …
    pub labels: bool,
    /// Where the model comes from.
    pub card: bool,
}

impl Extras {
    /// All that the model has.
    pub const ALL: Self = Self { names: true, labels: true, card: true };
}

impl Header {
    fn read_labels(&self, reader: &mut Reader) -> Result<Labels> {
        let classes = if self.outputs == 1 { 2 } else { self.outputs };
        let at = reader.at();
        if !self.has(HAS_LABELS) {
            return if self.loss.is_regression() { Ok(Labels::None) } else { Labels::counting(classes) };
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
