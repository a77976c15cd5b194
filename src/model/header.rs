//! The first bytes of a file: what a model is, in fields of a fixed size.

use super::bytes::{Reader, wrong};
use super::features::usual_edges;
use super::frame::{MAGIC, VERSION};
use super::score::{MOST_EXPONENT, MOST_SHIFT};
use super::{Labels, Loss, Method, Model, Scales, Weights};
use crate::Result;
use alloc::vec::Vec;

/// A zero activates nothing.
pub const ZERO_IS_ABSENT: u8 = 1;
/// Labels other than 0, 1, … follow the bits.
pub const HAS_LABELS: u8 = 2;
/// Some columns are of no use: a bit each says which are.
pub const HAS_UNUSED: u8 = 4;
/// Names of the columns follow the labels.
pub const HAS_NAMES: u8 = 8;
/// The loss has the low half of a byte, the method the high half.
const METHOD: u32 = 4;
/// Bytes of the header.
pub const HEADER: usize = 27;

/// The fields of a fixed size.
pub struct Header {
    pub flags: u8,
    pub features: usize,
    pub factors: usize,
    pub functions: usize,
    pub tilings: u32,
    pub loss: Loss,
    pub method: Method,
    pub shifts: [u8; 3],
    pub exponent: i16,
    pub usual_edges: u16,
}

impl Header {
    /// That of a model.
    pub fn of(model: &Model) -> Self {
        let (encoder, weights) = (model.encoder(), model.weights());
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let (shifts, exponent) = match weights {
            Weights::Bits { scales, .. } => {
                let Scales { linear_shift, pairs_shift, bias_shift, exponent, .. } = *scales;
                ([linear_shift, pairs_shift, bias_shift], exponent)
            }
            Weights::Reals(_) => ([0; 3], 0),
        };
        Self {
            flags: flag(encoder.zero_is_absent(), ZERO_IS_ABSENT)
                | flag(writes_labels(model), HAS_LABELS)
                | flag(encoder.features().len() < encoder.columns(), HAS_UNUSED)
                | flag(model.names().is_some(), HAS_NAMES),
            features: encoder.columns(),
            factors: weights.factors(),
            functions: weights.functions(),
            tilings: encoder.tilings(),
            loss: model.loss(),
            method: weights.method(),
            shifts,
            exponent,
            usual_edges: usual_edges(encoder),
        }
    }

    /// Whether a flag is set.
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// As it stands in a file; the length comes later.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend([VERSION, self.flags]);
        out.extend([0; 4]);
        out.extend((self.features as u32).to_le_bytes());
        out.extend((self.factors as u16).to_le_bytes());
        out.extend((self.functions as u16).to_le_bytes());
        let loss = Loss::ALL.iter().position(|&loss| loss == self.loss).unwrap_or(0);
        let method = Method::ALL.iter().position(|&method| method == self.method).unwrap_or(0);
        out.extend([self.tilings as u8, (loss | method << METHOD) as u8]);
        out.extend(self.shifts);
        out.extend(self.exponent.to_le_bytes());
        out.extend(self.usual_edges.to_le_bytes());
        out
    }

    /// Frame fields are checked already.
    pub fn read(reader: &mut Reader) -> Result<Self> {
        reader.take(5)?;
        let flags = reader.u8()?;
        if flags & !(ZERO_IS_ABSENT | HAS_LABELS | HAS_UNUSED | HAS_NAMES) != 0 {
            return wrong(5, "a flag is not known here");
        }
        reader.take(4)?;
        let features = reader.u32()? as usize;
        let factors = usize::from(reader.u16()?);
        let functions = usize::from(reader.u16()?);
        let tilings = u32::from(reader.u8()?);
        let loss_and_method = usize::from(reader.u8()?);
        let shifts = reader.array()?;
        let exponent = i16::from_le_bytes(reader.array()?);
        let usual_edges = reader.u16()?;
        let Some(&loss) = Loss::ALL.get(loss_and_method & 0xf) else {
            return wrong(19, "the loss is not known here");
        };
        let Some(&method) = Method::ALL.get(loss_and_method >> METHOD) else {
            return wrong(19, "the method is not known here");
        };
        let header = Self {
            flags,
            features,
            factors,
            functions,
            tilings,
            loss,
            method,
            shifts,
            exponent,
            usual_edges,
        };
        header.check(reader)?;
        Ok(header)
    }

    fn check(&self, reader: &Reader) -> Result<()> {
        let a_byte = if self.flags & HAS_UNUSED == 0 { 1 } else { 8 };
        if self.features == 0 || self.features.div_ceil(a_byte) > reader.left() {
            return wrong(10, "the number of features cannot be");
        }
        if self.factors == 0 {
            return wrong(14, "the number of factors is zero");
        }
        if self.functions == 0
            || self.functions == 2
            || (self.loss == Loss::Squared && self.functions != 1)
            || (self.loss == Loss::Softmax && self.functions == 1)
        {
            return wrong(16, "the number of score functions cannot be");
        }
        if self.tilings == 0 || (self.method.is_raw() && self.tilings != 1) {
            return wrong(18, "the number of grids cannot be");
        }
        let no_scales = self.shifts == [0; 3] && self.exponent == 0;
        if self.method != Method::Bfm && !no_scales {
            return wrong(20, "float weights have no shifts or exponent");
        }
        if self.shifts.iter().any(|&shift| shift > MOST_SHIFT) {
            return wrong(20, "a shift is too large");
        }
        if self.exponent.unsigned_abs() > MOST_EXPONENT as u16 {
            return wrong(23, "the exponent is out of range");
        }
        Ok(())
    }
}

/// Labels 0, 1, … are not written.
fn writes_labels(model: &Model) -> bool {
    let labels = model.labels();
    *labels != Labels::None && *labels != Labels::counting(labels.len())
}
