//! The `.binfm` file: little-endian, data only, checked before it is believed. `docs/file-format.md` describes it.

use super::bytes::{Reader, put_int, wrong};
use super::features::{Shared, usual_edges};
use super::labels::{put_labels, read_labels};
use super::names::{put_names, read_names};
use super::score::{MOST_EXPONENT, MOST_SHIFT, Multipliers};
use super::{Labels, Loss, Method, Model, Reals, Scales, SignRows, Weights, bits};
use crate::encoding::Encoder;
use crate::error::room;
use crate::{Error, Result};
use alloc::{string::String, vec::Vec};

const MAGIC: [u8; 4] = *b"\xb1FM\n";
const VERSION: u8 = 1;
/// A zero activates nothing.
const ZERO_IS_ABSENT: u8 = 1;
/// Labels other than 0, 1, … follow the bits.
const HAS_LABELS: u8 = 2;
/// Some columns are of no use: a bit each says which are.
const HAS_UNUSED: u8 = 4;
/// Names of the columns follow the labels.
const HAS_NAMES: u8 = 8;
/// The loss has the low half of a byte, the method the high half.
const METHOD: u32 = 4;
const HEADER: usize = 27;
const CHECKSUM: usize = 4;
/// Where the length of the file stands, after magic, version and flags.
const LENGTH_AT: usize = 6;
/// CRC-32C, Castagnoli's: by a table of 16 KB, or by none.
#[cfg(feature = "std")]
type Crc = crc::Crc<u32, crc::Table<16>>;
#[cfg(not(feature = "std"))]
type Crc = crc::Crc<u32, crc::NoTable>;
static CRC: Crc = Crc::new(&crc::CRC_32_ISCSI);

impl Model {
    /// The content of the file.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.parts().iter().for_each(|(_, part)| out.extend_from_slice(part));
        let length = (out.len() + CHECKSUM) as u32;
        out.iter_mut().skip(LENGTH_AT).zip(length.to_le_bytes()).for_each(|(to, byte)| *to = byte);
        let checksum = CRC.checksum(&out);
        out.extend_from_slice(&checksum.to_le_bytes());
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
        let mut reader = Reader::new(check_frame(bytes)?);
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
        let mut labels = Vec::new();
        if self.writes_labels() {
            put_labels(&mut labels, self.labels());
        }
        let mut parts = vec![
            ("header", self.header()),
            ("scales", self.scales_bytes()),
            ("features", features_bytes(self.encoder(), self.weights().method().is_raw())),
            self.weights_bytes(),
        ];
        if !labels.is_empty() {
            parts.push(("labels", labels));
        }
        if let Some(names) = self.names() {
            let mut bytes = Vec::new();
            put_names(&mut bytes, names);
            parts.push(("names", bytes));
        }
        parts
    }

    fn writes_labels(&self) -> bool {
        *self.labels() != Labels::None && *self.labels() != Labels::counting(self.labels().len())
    }

    fn header(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        let flag = |set: bool, flag: u8| if set { flag } else { 0 };
        let flags = flag(self.encoder().zero_is_absent(), ZERO_IS_ABSENT)
            | flag(self.writes_labels(), HAS_LABELS)
            | flag(has_unused(self.encoder()), HAS_UNUSED)
            | flag(self.names().is_some(), HAS_NAMES);
        out.extend([VERSION, flags]);
        out.extend([0; 4]); // the length, when it is known
        out.extend((self.encoder().columns() as u32).to_le_bytes());
        out.extend((self.weights().factors() as u16).to_le_bytes());
        out.extend((self.weights().functions() as u16).to_le_bytes());
        let loss = Loss::ALL.iter().position(|&loss| loss == self.loss()).unwrap_or(0);
        let method = self.weights().method();
        let method = Method::ALL.iter().position(|&known| known == method).unwrap_or(0);
        out.extend([self.encoder().tilings() as u8, (loss | method << METHOD) as u8]);
        let (shifts, exponent) = match self.weights() {
            Weights::Bits { scales, .. } => {
                let Scales { linear_shift, pairs_shift, bias_shift, exponent, .. } = *scales;
                ([linear_shift, pairs_shift, bias_shift], exponent)
            }
            Weights::Reals(_) => ([0; 3], 0),
        };
        out.extend(shifts);
        out.extend(exponent.to_le_bytes());
        out.extend(usual_edges(self.encoder()).to_le_bytes());
        out
    }

    fn scales_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        match self.weights() {
            Weights::Bits { scales, .. } => {
                let size = scale_size(scales.functions());
                for multipliers in &scales.functions {
                    put_int(&mut out, multipliers.bias.into(), 2 * size);
                    put_int(&mut out, multipliers.linear.into(), size);
                    put_int(&mut out, multipliers.pairs.into(), size);
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

fn has_unused(encoder: &Encoder) -> bool {
    encoder.features().len() < encoder.columns()
}

/// What a file says of the columns.
fn features_bytes(encoder: &Encoder, raw: bool) -> Vec<u8> {
    let mut out = Vec::new();
    if has_unused(encoder) {
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

/// Bytes of a and of c; the bias has twice as many. Many score functions have short ones.
fn scale_size(functions: usize) -> usize {
    if functions == 1 { 2 } else { 1 }
}

/// Bytes that tell whether a file is a model, and how long it is.
pub const FRAME: usize = 10;

/// The length that the first bytes of a file tell, if they are a model's.
pub fn told_length(bytes: &[u8]) -> Result<usize> {
    let Some(magic) = bytes.get(..4) else {
        return Err(Error::format(bytes.len(), "the file ends early"));
    };
    if magic != MAGIC {
        return Err(Error::format(0, "the first four bytes are not a model's"));
    }
    let Some((&header, _)) = bytes.split_first_chunk::<FRAME>() else {
        return Err(Error::format(bytes.len(), "the file ends early"));
    };
    if header[4] != VERSION {
        let reason = format!("format version {} is not {VERSION}, the one known here", header[4]);
        return Err(Error::format(4, reason));
    }
    let length = u32::from_le_bytes([header[6], header[7], header[8], header[9]]);
    Ok(usize::try_from(length).unwrap_or(usize::MAX))
}

/// Magic, version, length and checksum; what is left is everything before the checksum.
fn check_frame(bytes: &[u8]) -> Result<&[u8]> {
    let length = told_length(bytes)?;
    if length != bytes.len() || length < HEADER + CHECKSUM {
        let but = if length < bytes.len() { "ends later" } else { "ends early" };
        return Err(Error::format(6, format!("the length is {length}, but the file {but},")));
    }
    let (content, checksum) = bytes.split_at(length - CHECKSUM);
    if CRC.checksum(content).to_le_bytes() != *checksum {
        return Err(Error::format(length - CHECKSUM, "the checksum is wrong: the file is damaged"));
    }
    Ok(content)
}

struct Header {
    flags: u8,
    features: usize,
    factors: usize,
    functions: usize,
    tilings: u32,
    loss: Loss,
    method: Method,
    shifts: [u8; 3],
    exponent: i16,
    usual_edges: u16,
}

/// What stands before the features.
enum ReadScales {
    Bits(Scales),
    /// Bias and β.
    Reals((Vec<f32>, Vec<f32>)),
}

impl Header {
    /// Frame fields are checked already.
    fn read(reader: &mut Reader) -> Result<Self> {
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

    fn read_scales(&self, reader: &mut Reader) -> Result<ReadScales> {
        if self.method != Method::Bfm {
            return Reals::read_scales(self.method, self.functions, reader).map(ReadScales::Reals);
        }
        let size = scale_size(self.functions);
        if self.functions * 4 * size > reader.left() {
            return wrong(16, "there are more score functions than the file can hold");
        }
        let functions = (0..self.functions).map(|_| {
            let bias = reader.int(2 * size)? as i32;
            let (linear, pairs) = (reader.uint(size)? as u16, reader.uint(size)? as u16);
            Ok(Multipliers { bias, linear, pairs })
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
            |column: &usize| bits(*column).is_some_and(|bits| bits >> (column % 8) & 1 == 1);
        // Not by `collect`: what it grows by would be more than the file is worth.
        let numbers = (0..self.features).filter(is_used);
        let mut columns = room(numbers.clone().count().min(reader.left()))?;
        for number in numbers {
            columns.push((number, shared.read(reader, self.tilings)?));
        }
        let zero_is_absent = self.flags & ZERO_IS_ABSENT != 0;
        let encoder = Encoder::of_used(self.features, columns, self.tilings, zero_is_absent)
            .map_err(|_| Error::format(at, "there are too many parameter rows"))?;
        if usual_edges(&encoder) != self.usual_edges {
            return wrong(25, "the usual number of edges is another");
        }
        Ok(encoder)
    }

    /// A bit for each column that is of use, if some are not.
    fn read_used<'a>(&self, reader: &mut Reader<'a>) -> Result<Option<&'a [u8]>> {
        if self.flags & HAS_UNUSED == 0 {
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
        if self.flags & HAS_LABELS == 0 {
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
        let has_names = self.flags & HAS_NAMES != 0;
        has_names.then(|| read_names(reader, self.features)).transpose()
    }
}
