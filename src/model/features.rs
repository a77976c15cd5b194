//! How each column is encoded, as it stands in a file.

use super::bytes::{Reader, int_size, put_count, put_int, put_text, wrong};
use crate::Result;
use crate::encoding::{
    Codes, Column, Edges, Encoder, Feature, Form, Levels, Standard, Values, keys,
};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// Kinds of a feature, in the lowest two bits of its first byte.
const CODES: u8 = 0;
const LEADING: u8 = 1;
const WHOLE: u8 = 2;
const TEXT: u8 = 3;
/// Numbers that are used as they are, in files of a method that does so.
const RAW: u8 = 1;
/// Cells share no rows.
const COPIES: u8 = 4;
/// NaN has a cell.
const MISSING: u8 = 8;
/// Where the form of codes, or the width of leading bytes or levels, begins.
const WIDTH: u32 = 4;
/// The parameter of the codes follows; else it is that of the last feature with codes of that form.
const OWN_PARAMETER: u8 = 0x40;
/// The number of edges follows; else it is the usual one.
const OWN_COUNT: u8 = 0x80;

/// What the records have in common, and is written once.
#[derive(Default)]
pub struct Shared {
    /// The usual number of edges.
    usual: usize,
    /// Numbers are used as they are.
    raw: bool,
    /// The last parameter of each form of codes.
    parameters: [Option<u8>; Form::ALL.len()],
}

/// How edges are written.
#[derive(PartialEq)]
enum Coding {
    None,
    Codes { codes: Codes, own: bool },
    Leading(u8),
}

impl Shared {
    /// With the usual number of edges; whether numbers are used as they are.
    pub fn new(usual: u16, raw: bool) -> Self {
        Self { usual: usual.into(), raw, ..Self::default() }
    }

    fn parameter(&self, form: Form) -> Option<u8> {
        self.parameters.get(form as usize).copied().flatten()
    }

    fn remember(&mut self, codes: Codes) {
        if let Some(place) = self.parameters.get_mut(codes.form as usize) {
            *place = Some(codes.parameter);
        }
    }

    /// The shortest way to write edges: codes whose parameter is known, other codes, leading bytes.
    fn coding(&self, edges: &[i32]) -> Coding {
        let Some(&first) = edges.first() else {
            return Coding::None;
        };
        let forms = || Form::candidates(first).iter().copied();
        let known = forms().find_map(|form| {
            let parameter = self.parameter(form)?;
            Some(Codes { form, parameter }).filter(|codes| codes.hold(edges))
        });
        if let Some(codes) = known {
            return Coding::Codes { codes, own: false };
        }
        match forms().find_map(|form| Codes::holding(form, edges)) {
            Some(codes) => Coding::Codes { codes, own: true },
            None => Coding::Leading(keys::least_bytes(edges)),
        }
    }

    /// Write how one column is encoded.
    pub fn put(&mut self, out: &mut Vec<u8>, feature: &Feature) {
        let span = &feature.span;
        let copies = if span.tilings > 1 && span.stride == span.tilings { COPIES } else { 0 };
        let bits = copies | if span.missing { MISSING } else { 0 };
        match &feature.values {
            Values::Numbers(edges) => self.put_edges(out, bits, edges.keys()),
            Values::Raw(Standard { center, scale }) => {
                out.push(RAW);
                out.extend(center.to_le_bytes());
                out.extend(scale.to_le_bytes());
            }
            Values::Levels(levels) => put_levels(out, bits, levels),
        }
    }

    fn put_edges(&mut self, out: &mut Vec<u8>, bits: u8, edges: &[i32]) {
        let own_count = edges.len() != self.usual;
        let coding = self.coding(edges);
        out.push(bits | coding.tag() | if own_count { OWN_COUNT } else { 0 });
        if let Coding::Codes { codes, own: true } = coding {
            out.push(codes.parameter);
            self.remember(codes);
        }
        if own_count {
            put_count(out, edges.len());
        }
        match coding {
            Coding::None => {}
            Coding::Codes { codes, .. } => {
                out.extend(edges.iter().filter_map(|&edge| codes.code(edge)));
            }
            Coding::Leading(bytes) => {
                for &edge in edges {
                    put_int(out, i64::from(keys::leading(edge, bytes)), usize::from(bytes));
                }
            }
        }
    }

    /// Read what [`Shared::put`] writes.
    pub fn read(&mut self, reader: &mut Reader, tilings: u32) -> Result<Column> {
        let at = reader.at();
        let tag = reader.u8()?;
        let (copies, missing) = (tag & COPIES != 0, tag & MISSING != 0);
        let width = usize::from(tag >> WIDTH);
        let values = match tag & 3 {
            RAW if self.raw && tag == RAW => Values::Raw(read_standard(reader)?),
            CODES | LEADING if !self.raw => Values::Numbers(self.read_edges(reader, tag)?),
            WHOLE if matches!(width, 0 | 1 | 2 | 4 | 8) => {
                Values::Levels(read_whole(reader, width)?)
            }
            TEXT if width == 0 => Values::Levels(read_texts(reader)?),
            _ => return wrong(at, "a feature is of no known kind"),
        };
        let categorical = matches!(values, Values::Levels(_));
        if (copies && tilings == 1) || (categorical && !copies && tilings > 1) {
            return wrong(at, "a feature has the wrong rows for its kind");
        }
        Ok(Column { values, copies, missing })
    }

    fn read_edges(&mut self, reader: &mut Reader, tag: u8) -> Result<Edges> {
        let at = reader.at() - 1;
        let coding = self.read_coding(reader, tag)?;
        let width = coding.width();
        let count = if tag & OWN_COUNT != 0 { reader.count(width)? } else { self.usual };
        if count * width > reader.left() {
            return wrong(at, "there are more edges than the file can hold");
        }
        if (count == self.usual) == (tag & OWN_COUNT != 0) || (count == 0) != (width == 0) {
            return wrong(at, "the number of edges is not as it should be");
        }
        let edge = |reader: &mut Reader| match &coding {
            Coding::Codes { codes, .. } => Ok(codes.edge(reader.u8()?)),
            _ => Ok(Some(keys::from_leading(reader.uint(width)? as u32, width as u8))),
        };
        let edges = (0..count).map(|_| edge(reader)).collect::<Result<Option<Vec<_>>>>()?;
        let ascend = |edges: &Vec<i32>| {
            edges.is_sorted_by(|a, b| a < b) && !edges.iter().any(|&key| keys::number(key).is_nan())
        };
        let Some(edges) = edges.filter(ascend) else {
            return wrong(at, "edges do not ascend or are no numbers");
        };
        if self.coding(&edges) != coding {
            return wrong(at, "edges are not in their shortest form");
        }
        if let Coding::Codes { codes, .. } = coding {
            self.remember(codes);
        }
        Ok(Edges::new(edges))
    }

    fn read_coding(&self, reader: &mut Reader, tag: u8) -> Result<Coding> {
        let at = reader.at() - 1;
        let (number, own) = (usize::from(tag >> WIDTH & 3), tag & OWN_PARAMETER != 0);
        if tag & 3 == LEADING {
            return match (number, own) {
                (0, false) => Ok(Coding::None),
                (_, false) => Ok(Coding::Leading(number as u8 + 1)),
                _ => wrong(at, "a feature is of no known kind"),
            };
        }
        let Some(&form) = Form::ALL.get(number) else {
            return wrong(at, "a feature is of no known kind");
        };
        let parameter = if own { Some(reader.u8()?) } else { self.parameter(form) };
        let codes = parameter.map(|parameter| Codes { form, parameter });
        match codes.filter(|codes| codes.is_valid()) {
            Some(codes) => Ok(Coding::Codes { codes, own }),
            None => wrong(at, "the parameter of the edges cannot be"),
        }
    }
}

impl Coding {
    fn tag(&self) -> u8 {
        match self {
            Self::None => LEADING,
            Self::Codes { codes, own } => {
                CODES | (codes.form as u8) << WIDTH | if *own { OWN_PARAMETER } else { 0 }
            }
            Self::Leading(bytes) => LEADING | (bytes - 1) << WIDTH,
        }
    }

    /// Bytes of an edge.
    fn width(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Codes { .. } => 1,
            Self::Leading(bytes) => usize::from(*bytes),
        }
    }
}

/// The number of edges that most numeric features have; of equals the smallest, and 0 where there are none.
pub fn usual_edges(encoder: &Encoder) -> u16 {
    let mut features_with: BTreeMap<usize, usize> = BTreeMap::new();
    for feature in encoder.features() {
        if let Values::Numbers(edges) = &feature.values {
            *features_with.entry(edges.len()).or_default() += 1;
        }
    }
    let most = features_with.values().copied().max();
    let usual = features_with.iter().find(|(_, count)| Some(**count) == most);
    usual.map_or(0, |(&edges, _)| u16::try_from(edges).unwrap_or(0))
}

fn put_levels(out: &mut Vec<u8>, bits: u8, levels: &Levels) {
    match levels {
        Levels::Counting(levels) => {
            out.push(WHOLE | bits);
            put_count(out, *levels as usize);
        }
        Levels::Whole(levels) => {
            let size = int_size(levels);
            out.push(WHOLE | bits | (size as u8) << WIDTH);
            put_count(out, levels.len());
            for &level in levels {
                put_int(out, level, size);
            }
        }
        Levels::Text(levels) => {
            out.push(TEXT | bits);
            put_count(out, levels.len());
            for level in levels {
                put_text(out, level);
            }
        }
    }
}

fn read_standard(reader: &mut Reader) -> Result<Standard> {
    let at = reader.at();
    let standard = Standard { center: reader.f32()?, scale: reader.f32()? };
    if !standard.is_valid() {
        return wrong(at, "the units of a feature cannot be");
    }
    Ok(standard)
}

/// Levels 0, 1, 2, … have width 0: only their number is written.
fn read_whole(reader: &mut Reader, width: usize) -> Result<Levels> {
    let at = reader.at();
    let count = reader.count(width)?;
    let levels = match width {
        0 => match u32::try_from(count) {
            Ok(count) => Levels::Counting(count),
            Err(_) => return wrong(at, "there are too many levels"),
        },
        _ => Levels::whole((0..count).map(|_| reader.int(width)).collect::<Result<Vec<_>>>()?),
    };
    let shortest = match &levels {
        Levels::Whole(levels) => levels.is_sorted_by(|a, b| a < b) && int_size(levels) == width,
        _ => width == 0,
    };
    if levels.is_empty() || !shortest {
        return wrong(at, "levels do not ascend or are not in their shortest form");
    }
    Ok(levels)
}

fn read_texts(reader: &mut Reader) -> Result<Levels> {
    let at = reader.at();
    let count = reader.count(1)?;
    let levels = (0..count).map(|_| reader.text()).collect::<Result<Vec<_>>>()?;
    if levels.is_empty() || !levels.is_sorted_by(|a, b| a < b) {
        return wrong(at, "levels do not ascend");
    }
    Ok(Levels::Text(levels))
}
