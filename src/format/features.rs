//! How each column is encoded, in a file.

use super::bytes::{Reader, int_size, wrong};
use super::edges::{Coding, EdgeContext, usual_edges};
use super::header::{HAS_UNUSED, Header, USUAL_EDGES_AT, ZERO_IS_ABSENT};
use super::output::Output;
use crate::encoding::{
    Categories, CellMap, Column, Encoder, Feature, Standard,
};
use crate::memory::{collect, try_collect};
use crate::{Error, Result};
use alloc::vec::Vec;

/// Kinds of a feature, in the lowest two bits of its first byte.
pub const CODES: u8 = 0;
pub const LEADING: u8 = 1;
const IDS: u8 = 2;
const TEXTS: u8 = 3;
/// Raw numbers, in files of a method that uses them.
const RAW: u8 = 1;
/// Each cell has rows of its own.
const COPIES: u8 = 4;
/// NaN has a cell.
const MISSING: u8 = 8;
/// Position of the spacing of codes, or of the width of leading bytes or ids.
pub const WIDTH_SHIFT: u32 = 4;

/// What records share with those before them.
struct Context {
    edges: EdgeContext,
    /// Numbers are raw.
    raw: bool,
}

/// Writes what a file says about the columns.
pub fn put_features(out: &mut Output, encoder: &Encoder, raw: bool) {
    if encoder.features().len() < encoder.columns() {
        let is_used = |column: usize| u8::from(encoder.feature_of(column).is_some());
        let bits = |first: usize| (0..8).map(|i| is_used(8 * first + i) << i).sum();
        out.put((0..encoder.columns().div_ceil(8)).map(bits));
    }
    let mut context = Context::new(usual_edges(encoder), raw);
    encoder.features().iter().for_each(|feature| context.put(out, feature));
}

/// How a feature is stored: its kind, the bytes of each of its edges or categories, and their number.
pub struct StoredFeature {
    /// "code", "leading", "whole", "text" or "raw".
    pub kind: &'static str,
    /// Bytes of an edge or category; 0 where they are not listed or differ.
    pub width: usize,
    /// Number of edges or categories.
    pub count: usize,
}

/// Returns how each used feature is stored.
///
/// # Errors
/// If there is not enough memory.
pub fn stored_features(encoder: &Encoder) -> Result<Vec<StoredFeature>> {
    let mut context = EdgeContext::new(usual_edges(encoder));
    let stored = |feature: &Feature| match &feature.map {
        CellMap::Intervals(edges) => {
            let coding = context.next_coding(edges.keys());
            let kind = if let Coding::Codes { .. } = coding { "code" } else { "leading" };
            StoredFeature { kind, width: coding.width(), count: edges.len() }
        }
        CellMap::Raw(_) => StoredFeature { kind: "raw", width: 0, count: 0 },
        CellMap::Categories(categories) => {
            let (kind, width) = match categories {
                Categories::Counting(_) => ("whole", 0),
                Categories::Ids(ids) => ("whole", int_size(ids)),
                Categories::Texts(_) => ("text", 0),
            };
            StoredFeature { kind, width, count: categories.len() }
        }
    };
    collect(encoder.features().iter().map(stored))
}

impl Header {
    /// Reads what [`put_features`] writes.
    pub fn read_encoder(&self, reader: &mut Reader) -> Result<Encoder> {
        let at = reader.at();
        let used = self.read_used(reader)?;
        let mut context = Context::new(self.usual_edges, self.method.is_raw());
        let bits = |column: usize| used.map_or(Some(&u8::MAX), |used| used.get(column / 8));
        let is_used =
            |&column: &usize| bits(column).is_some_and(|bits| bits >> (column % 8) & 1 == 1);
        let indices = (0..self.features).filter(is_used);
        let count = indices.clone().count().min(reader.left());
        let columns = indices.map(|index| Ok((index, context.read(reader, self.tilings)?)));
        let zero_is_absent = self.has(ZERO_IS_ABSENT);
        let encoder =
            Encoder::from_used(self.features, count, columns, self.tilings, zero_is_absent)
                .map_err(|error| match error {
                    Error::Value { .. } => Error::format(at, "there are too many parameter rows"),
                    other => other,
                })?;
        if usual_edges(&encoder) != self.usual_edges {
            return wrong(USUAL_EDGES_AT, "the usual number of edges is wrong");
        }
        Ok(encoder)
    }

    /// Reads a bit for each column that is used, if some are not.
    fn read_used<'a>(&self, reader: &mut Reader<'a>) -> Result<Option<&'a [u8]>> {
        if !self.has(HAS_UNUSED) {
            return Ok(None);
        }
        let at = reader.at();
        let used = reader.take(self.features.div_ceil(8))?;
        let set: u32 = used.iter().map(|byte| byte.count_ones()).sum();
        let spare = used.last().map_or(0, |last| u16::from(*last) >> ((self.features - 1) % 8 + 1));
        if set as usize == self.features || spare != 0 {
            return wrong(at, "the bits of used columns are inconsistent");
        }
        Ok(Some(used))
    }
}

impl Context {
    fn new(usual_edges: u16, raw: bool) -> Self {
        Self { edges: EdgeContext::new(usual_edges), raw }
    }

    /// Writes a feature.
    fn put(&mut self, out: &mut Output, feature: &Feature) {
        let copies = if feature.span.is_copied() { COPIES } else { 0 };
        let bits = copies | if feature.span.missing { MISSING } else { 0 };
        match &feature.map {
            CellMap::Intervals(edges) => self.edges.put(out, bits, edges.keys()),
            CellMap::Raw(Standard { center, scale }) => {
                out.push(RAW);
                out.put(center.to_le_bytes());
                out.put(scale.to_le_bytes());
            }
            CellMap::Categories(categories) => put_categories(out, bits, categories),
        }
    }

    /// Reads what [`Context::put`] writes.
    fn read(&mut self, reader: &mut Reader, tilings: u32) -> Result<Column> {
        let at = reader.at();
        let tag = reader.u8()?;
        let (copies, missing) = (tag & COPIES != 0, tag & MISSING != 0);
        let width = usize::from(tag >> WIDTH_SHIFT);
        let map = match tag & 3 {
            RAW if self.raw && tag == RAW => CellMap::Raw(read_standard(reader)?),
            CODES | LEADING if !self.raw => CellMap::Intervals(self.edges.read(reader, tag)?),
            IDS if matches!(width, 0 | 1 | 2 | 4 | 8) => {
                CellMap::Categories(read_ids(reader, width)?)
            }
            TEXTS if width == 0 => CellMap::Categories(read_texts(reader)?),
            _ => return wrong(at, "a feature is of an unknown kind"),
        };
        let categorical = matches!(map, CellMap::Categories(_));
        if (copies && tilings == 1) || (categorical && !copies && tilings > 1) {
            return wrong(at, "a feature has the wrong rows for its kind");
        }
        Ok(Column { map, copies, missing })
    }
}

fn put_categories(out: &mut Output, bits: u8, categories: &Categories) {
    match categories {
        Categories::Counting(count) => {
            out.push(IDS | bits);
            out.put_count(*count as usize);
        }
        Categories::Ids(ids) => {
            let size = int_size(ids);
            out.push(IDS | bits | (size as u8) << WIDTH_SHIFT);
            out.put_count(ids.len());
            for &id in ids {
                out.put_int(id, size);
            }
        }
        Categories::Texts(texts) => {
            out.push(TEXTS | bits);
            out.put_count(texts.len());
            for text in texts {
                out.put_text(text);
            }
        }
    }
}

fn read_standard(reader: &mut Reader) -> Result<Standard> {
    let at = reader.at();
    let standard = Standard { center: reader.f32()?, scale: reader.f32()? };
    if !standard.is_valid() {
        return wrong(at, "the units of a feature are impossible");
    }
    Ok(standard)
}

/// Reads ids. The ids 0, 1, 2, … have width 0: only their number is stored.
fn read_ids(reader: &mut Reader, width: usize) -> Result<Categories> {
    let at = reader.at();
    let count = reader.count(width)?;
    let categories = if width > 0 {
        let ids = try_collect((0..count).map(|_| reader.int(width)))?;
        Categories::from_ids(ids)
    } else {
        match u32::try_from(count) {
            Ok(count) => Categories::Counting(count),
            Err(_) => return wrong(at, "there are too many categories"),
        }
    };
    let is_shortest = match &categories {
        Categories::Ids(ids) => ids.is_sorted_by(|a, b| a < b) && int_size(ids) == width,
        _ => width == 0,
    };
    if categories.is_empty() || !is_shortest {
        return wrong(at, "categories do not ascend or are not in their shortest form");
    }
    Ok(categories)
}

fn read_texts(reader: &mut Reader) -> Result<Categories> {
    let at = reader.at();
    let count = reader.count(1)?;
    let texts = try_collect((0..count).map(|_| reader.text()))?;
    if texts.is_empty() || !texts.is_sorted_by(|a, b| a < b) {
        return wrong(at, "categories do not ascend");
    }
    Ok(Categories::Texts(texts))
}
