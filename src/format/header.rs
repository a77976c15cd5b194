//! The first bytes of a file: fields of fixed size that say what the model is.

use super::Extras;
use super::bytes::{Reader, wrong};
use super::edges::usual_edges;
use super::frame::{MAGIC, VERSION};
use super::output::Output;
use crate::Result;
use crate::model::{Labels, Loss, MAX_EXPONENT, MAX_SHIFT, Method, Model, Scales, Weights};

/// Flag: a zero activates nothing.
pub const ZERO_IS_ABSENT: u8 = 1;
/// Flag: labels other than 0, 1, … follow the weights.
pub const HAS_LABELS: u8 = 2;
/// Flag: some columns are unused; a bit per column says which are used.
pub const HAS_UNUSED: u8 = 4;
/// Flag: names of the columns follow the labels.
pub const HAS_NAMES: u8 = 8;
/// Flag: a card follows the names.
pub const HAS_CARD: u8 = 16;
const ALL_FLAGS: u8 = ZERO_IS_ABSENT | HAS_LABELS | HAS_UNUSED | HAS_NAMES | HAS_CARD;
/// The loss takes the low half of a byte, the method the high half.
const METHOD_SHIFT: u32 = 4;
/// The shift of a takes the low five bits of a byte, the bits of w less one the high three.
const W_BITS_SHIFT: u32 = 5;

/// Bytes of the header.
pub const SIZE: usize = 27;
/// Offsets of fields, for errors.
const FLAGS_AT: usize = 5;
const FEATURES_AT: usize = 10;
pub const OUTPUTS_AT: usize = 16;
const TILINGS_AT: usize = 18;
const LOSS_AT: usize = 19;
const SHIFTS_AT: usize = 20;
const EXPONENT_AT: usize = 23;
pub const USUAL_EDGES_AT: usize = 25;

/// The fields of fixed size.
pub struct Header {
    pub flags: u8,
    pub features: usize,
    pub factors: usize,
    pub outputs: usize,
    pub tilings: u32,
    pub loss: Loss,
    pub method: Method,
    pub w_bits: usize,
    pub shifts: [u8; 3],
    pub exponent: i16,
    pub usual_edges: u16,
}

impl Header {
    /// Returns the header of a model.
    pub fn of(model: &Model, extras: Extras) -> Self {
        let (encoder, weights) = (model.encoder(), model.weights());
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let (w_bits, shifts, exponent) = match weights {
            Weights::Signs { signs, scales } => {
                let Scales { linear_shift, pairs_shift, bias_shift, exponent, .. } = *scales;
                (signs.shape().w_bits, [linear_shift, pairs_shift, bias_shift], exponent)
            }
            Weights::Floats(_) => (1, [0; 3], 0),
        };
        Self {
            flags: flag(encoder.zero_is_absent(), ZERO_IS_ABSENT)
                | flag(extras.labels && stores_labels(model.labels()), HAS_LABELS)
                | flag(encoder.features().len() < encoder.columns(), HAS_UNUSED)
                | flag(extras.names && model.names().is_some(), HAS_NAMES)
                | flag(extras.card && model.card().is_some(), HAS_CARD),
            features: encoder.columns(),
            factors: weights.factors(),
            outputs: weights.outputs(),
            tilings: encoder.tilings(),
            loss: model.loss(),
            method: weights.method(),
            w_bits,
            shifts,
            exponent,
            usual_edges: usual_edges(encoder),
        }
    }

    /// Returns whether a flag is set.
    pub fn has(&self, flag: u8) -> bool {
        self.flags & flag != 0
    }

    /// Writes the header; the length is filled in later.
    pub fn put(&self, out: &mut Output) {
        out.put(MAGIC);
        out.put([VERSION, self.flags]);
        out.put([0; 4]);
        out.put((self.features as u32).to_le_bytes());
        out.put((self.factors as u16).to_le_bytes());
        out.put((self.outputs as u16).to_le_bytes());
        let loss = Loss::NAMED.iter().position(|&(_, loss)| loss == self.loss).unwrap_or(0);
        let method = Method::NAMED.iter().position(|&(_, m)| m == self.method).unwrap_or(0);
        out.put([self.tilings as u8, (loss | method << METHOD_SHIFT) as u8]);
        let [linear_shift, pairs_shift, bias_shift] = self.shifts;
        let linear = linear_shift | (self.w_bits as u8 - 1) << W_BITS_SHIFT;
        out.put([linear, pairs_shift, bias_shift]);
        out.put(self.exponent.to_le_bytes());
        out.put(self.usual_edges.to_le_bytes());
    }

    /// Reads the header; magic, version and length have been checked.
    pub fn read(reader: &mut Reader) -> Result<Self> {
        reader.take(FLAGS_AT)?;
        let flags = reader.u8()?;
        if flags & !ALL_FLAGS != 0 {
            return wrong(FLAGS_AT, "a flag is unknown");
        }
        reader.take(4)?;
        let features = reader.u32()? as usize;
        let factors = usize::from(reader.u16()?);
        let outputs = usize::from(reader.u16()?);
        let tilings = u32::from(reader.u8()?);
        let loss_and_method = usize::from(reader.u8()?);
        let [linear, pairs_shift, bias_shift] = reader.array()?;
        let exponent = i16::from_le_bytes(reader.array()?);
        let usual_edges = reader.u16()?;
        let Some(&(_, loss)) = Loss::NAMED.get(loss_and_method & 0xf) else {
            return wrong(LOSS_AT, "the loss is unknown");
        };
        let Some(&(_, method)) = Method::NAMED.get(loss_and_method >> METHOD_SHIFT) else {
            return wrong(LOSS_AT, "the method is unknown");
        };
        let header = Self {
            flags,
            features,
            factors,
            outputs,
            tilings,
            loss,
            method,
            w_bits: usize::from(linear >> W_BITS_SHIFT) + 1,
            shifts: [linear & ((1 << W_BITS_SHIFT) - 1), pairs_shift, bias_shift],
            exponent,
            usual_edges,
        };
        header.check(reader)?;
        Ok(header)
    }

    fn check(&self, reader: &Reader) -> Result<()> {
        let features_per_byte = if self.has(HAS_UNUSED) { 8 } else { 1 };
        if self.features == 0 || self.features.div_ceil(features_per_byte) > reader.left() {
            return wrong(FEATURES_AT, "the number of features is impossible");
        }
        if self.outputs == 0
            || self.outputs == 2
            || (self.loss.is_regression() && self.outputs != 1)
            || (self.loss == Loss::Softmax && self.outputs == 1)
        {
            return wrong(OUTPUTS_AT, "the number of outputs is impossible");
        }
        if self.tilings == 0 || (self.method.is_raw() && self.tilings != 1) {
            return wrong(TILINGS_AT, "the number of tilings is impossible");
        }
        let no_scales = self.w_bits == 1 && self.shifts == [0; 3] && self.exponent == 0;
        if self.method != Method::Bfm && !no_scales {
            return wrong(SHIFTS_AT, "float weights have no bits of w, shifts or exponent");
        }
        if self.shifts.iter().any(|&shift| shift > MAX_SHIFT) {
            return wrong(SHIFTS_AT, "a shift is too large");
        }
        if self.exponent.unsigned_abs() > MAX_EXPONENT as u16 {
            return wrong(EXPONENT_AT, "the exponent is out of range");
        }
        Ok(())
    }
}

/// Returns whether labels take bytes in a file: 0, 1, … do not.
pub fn stores_labels(labels: &Labels) -> bool {
    *labels != Labels::None && !labels.are_counting()
}
