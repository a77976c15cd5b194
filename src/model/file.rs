//! The `.binfm` file: little-endian, data only, checked before it is believed. `docs/file-format.md` describes it.
//!
//! [`frame`] is what stands around it, [`super::header`] its first bytes.

use super::bytes::{Reader, put_int, wrong};
use super::features::{Shared, usual_edges};
use super::frame::{self, CHECKSUM};
use super::header::{HAS_LABELS, HAS_NAMES, HAS_UNUSED, HEADER, Header, ZERO_IS_ABSENT};
use super::labels::{put_labels, read_labels};
use super::names::{put_names, read_names};
use super::score::Multipliers;
use super::{Labels, Loss, Method, Model, Reals, Scales, SignRows, Weights, bits};
use crate::encoding::Encoder;
use crate::error::room;
use crate::{Error, Result};
use alloc::{string::String, vec::Vec};

impl Model {
    /// The content of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.parts().iter().for_each(|(_, part)| out.extend_from_slice(part));
        frame::close(&mut out);
        out
    }

    /// The bytes of each part of the file.
    pub fn size_report(&self) -> Vec<(&'static str, usize)> {
        let parts = self.parts();
        parts
            .iter()
            .map(|(name, part)| (*name, part.len()))
            .chain([("checksum", CHECKSUM)])
            .collect()
    }

    /// The size of the file.
    pub fn size(&self) -> usize {
        self.size_report().iter().map(|(_, size)| size).sum()
    }

    /// Parameter rows, and bytes of the features in the file, of a model that does without some columns more.
    pub fn size_without(&self, columns: &[usize]) -> (usize, usize) {
        let encoder = self.encoder().without(columns);
        let raw = self.weights().method().is_raw();
        (encoder.rows() as usize, features_bytes(&encoder, raw).len())
    }

    /// Read the content of a file.
    ///
    /// # Errors
    /// [`Error::Format`] if anything about it is not as it should be.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(frame::open(bytes, HEADER)?);
        let header = Header::read(&mut reader)?;
        let scales = header.read_scales(&mut reader)?;
        let encoder = header.read_encoder(&mut reader)?;
        let weights = header.read_weights(&mut reader, scales, encoder.rows() as usize)?;
        let labels = header.read_labels(&mut reader)?;
        let names = header.read_names(&mut reader)?;
        if reader.left() > 0 {
            return wrong(reader.at(), "there is more than the model");
        }
        let model = match weights {
            Weights::Bits { signs, scales } => {
                Self::new(encoder, signs, scales, header.loss, labels)
            }
            Weights::Reals(reals) => Self::with_reals(encoder, reals, header.loss, labels),
        };
        let model = model.map_err(|_| Error::format(HEADER, "the model is too large to score"))?;
        match names {
            Some(names) => model.with_names(names),
            None => Ok(model),
        }
    }

    fn parts(&self) -> Vec<(&'static str, Vec<u8>)> {
        let header = Header::of(self);
        let mut parts = vec![
            ("header", header.bytes()),
            ("scales", self.scales_bytes()),
            ("features", features_bytes(self.encoder(), self.weights().method().is_raw())),
            self.weights_bytes(),
        ];
        if header.has(HAS_LABELS) {
            let mut bytes = Vec::new();
            put_labels(&mut bytes, self.labels());
            parts.push(("labels", bytes));
        }
        if let Some(names) = self.names() {
            let mut bytes = Vec::new();
            put_names(&mut bytes, names);
            parts.push(("names", bytes));
        }
        parts
    }

    fn scales_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self.weights() {
            Weights::Bits { scales, .. } => {
                let wide = scales.functions() == 1;
                for &Multipliers { bias, linear, pairs } in &scales.functions {
                    if wide {
                        put_int(&mut out, bias.into(), 4);
                        put_int(&mut out, linear.into(), 2);
                        put_int(&mut out, pairs.into(), 2);
                    } else {
                        put_int(&mut out, bias.into(), 1);
                        out.push(linear as u8 | (pairs as u8) << 4);
                    }
                }
            }
            Weights::Reals(reals) => reals.put_scales(&mut out),
        }
        out
    }

    fn weights_bytes(&self) -> (&'static str, Vec<u8>) {
        match self.weights() {
            Weights::Bits { signs, .. } => ("bits", signs.bytes().to_vec()),
            Weights::Reals(reals) => {
                let mut out = Vec::with_capacity(reals.size());
                reals.put_weights(&mut out);
                ("weights", out)
            }
        }
    }
}

/// What a file says of the columns.
fn features_bytes(encoder: &Encoder, raw: bool) -> Vec<u8> {
    let mut out = Vec::new();
    if encoder.features().len() < encoder.columns() {
        out.resize(encoder.columns().div_ceil(8), 0);
        for column in encoder.features().iter().map(|feature| feature.column) {
            if let Some(bits) = out.get_mut(column / 8) {
                *bits |= 1 << (column % 8);
            }
        }
    }
    let mut shared = Shared::new(usual_edges(encoder), raw);
    encoder.features().iter().for_each(|feature| shared.put(&mut out, feature));
    out
}

/// Bytes of bias, a and c. Many score functions have short ones.
fn scale_size(functions: usize) -> usize {
    if functions == 1 { 8 } else { 2 }
}

/// What stands before the features.
enum ReadScales {
    Bits(Scales),
    /// Bias and β.
    Reals((Vec<f32>, Vec<f32>)),
}

impl Header {
    fn read_scales(&self, reader: &mut Reader) -> Result<ReadScales> {
        if self.method != Method::Bfm {
            return Reals::read_scales(self.method, self.functions, reader).map(ReadScales::Reals);
        }
        if self.functions * scale_size(self.functions) > reader.left() {
            return wrong(16, "there are more score functions than the file can hold");
        }
        let functions = (0..self.functions).map(|_| {
            if self.functions == 1 {
                let bias = reader.int(4)? as i32;
                return Ok(Multipliers { bias, linear: reader.u16()?, pairs: reader.u16()? });
            }
            let (bias, both) = (reader.int(1)? as i32, u16::from(reader.u8()?));
            Ok(Multipliers { bias, linear: both & 15, pairs: both >> 4 })
        });
        let functions = functions.collect::<Result<Vec<_>>>()?;
        let [linear_shift, pairs_shift, bias_shift] = self.shifts;
        let exponent = self.exponent;
        Ok(ReadScales::Bits(Scales { linear_shift, pairs_shift, bias_shift, exponent, functions }))
    }

    fn read_encoder(&self, reader: &mut Reader) -> Result<Encoder> {
        let at = reader.at();
        let used = self.read_used(reader)?;
        let mut shared = Shared::new(self.usual_edges, self.method.is_raw());
        let bits = |column: usize| used.map_or(Some(&u8::MAX), |used| used.get(column / 8));
        let is_used =
            |&column: &usize| bits(column).is_some_and(|bits| bits >> (column % 8) & 1 == 1);
        let numbers = (0..self.features).filter(is_used);
        let count = numbers.clone().count().min(reader.left());
        let columns = numbers.map(|number| Ok((number, shared.read(reader, self.tilings)?)));
        let zero_is_absent = self.has(ZERO_IS_ABSENT);
        let encoder = Encoder::of_used(self.features, count, columns, self.tilings, zero_is_absent)
            .map_err(|error| match error {
                Error::Value { .. } => Error::format(at, "there are too many parameter rows"),
                other => other,
            })?;
        if usual_edges(&encoder) != self.usual_edges {
            return wrong(25, "the usual number of edges is another");
        }
        Ok(encoder)
    }

    /// A bit for each column that is of use, if some are not.
    fn read_used<'a>(&self, reader: &mut Reader<'a>) -> Result<Option<&'a [u8]>> {
        if !self.has(HAS_UNUSED) {
            return Ok(None);
        }
        let at = reader.at();
        let used = reader.take(self.features.div_ceil(8))?;
        let set: u32 = used.iter().map(|byte| byte.count_ones()).sum();
        let spare = used.last().map_or(0, |last| u16::from(*last) >> ((self.features - 1) % 8 + 1));
        if set as usize == self.features || spare != 0 {
            return wrong(at, "the bits of the columns in use are not as they should be");
        }
        Ok(Some(used))
    }

    fn read_weights(
        &self,
        reader: &mut Reader,
        scales: ReadScales,
        rows: usize,
    ) -> Result<Weights> {
        match scales {
            ReadScales::Bits(scales) => {
                Ok(Weights::Bits { signs: self.read_signs(reader, rows)?, scales })
            }
            ReadScales::Reals(scales) => {
                Reals::read(self.method, [rows, self.factors], scales, reader).map(Weights::Reals)
            }
        }
    }

    fn read_signs(&self, reader: &mut Reader, rows: usize) -> Result<SignRows> {
        let at = reader.at();
        let size = bits::bytes_for(rows, self.functions, self.factors).unwrap_or(usize::MAX);
        let taken = reader.take(size)?;
        let mut bytes = room(size)?;
        bytes.extend_from_slice(taken);
        match SignRows::from_bytes(rows, self.functions, self.factors, bytes) {
            Some(signs) => Ok(signs),
            None => wrong(at + size.saturating_sub(1), "a bit after the last weight is set"),
        }
    }

    fn read_labels(&self, reader: &mut Reader) -> Result<Labels> {
        let classes = if self.functions == 1 { 2 } else { self.functions };
        let at = reader.at();
        if !self.has(HAS_LABELS) {
            let regression = self.loss == Loss::Squared;
            return Ok(if regression { Labels::None } else { Labels::counting(classes) });
        }
        let labels = read_labels(reader, classes)?;
        if self.loss == Loss::Squared || !labels.ascend() || labels == Labels::counting(classes) {
            return wrong(at, "the labels do not ascend or have no place here");
        }
        Ok(labels)
    }

    fn read_names(&self, reader: &mut Reader) -> Result<Option<Vec<String>>> {
        let has_names = self.has(HAS_NAMES);
        has_names.then(|| read_names(reader, self.features)).transpose()
    }
}
