//! The edges of a numeric feature, in a file: one byte each if they lie in a codebook, else leading bytes of their keys.

use super::bytes::{Reader, wrong};
use super::features::{CODES, LEADING, WIDTH_SHIFT};
use super::output::Output;
use crate::Result;
use crate::memory::with_capacity;
use crate::encoding::{CellMap, Codebook, Edges, Encoder, Spacing, edges};
use alloc::collections::BTreeMap;

/// The codebook's parameter follows; else it is that of the last feature with a codebook of the same spacing.
const OWN_PARAMETER: u8 = 0x40;
/// The number of edges follows; else it is the usual one.
const OWN_COUNT: u8 = 0x80;

/// What the edges of a feature share with those of the features before it.
pub struct EdgeContext {
    /// The usual number of edges.
    usual: usize,
    /// The last parameter of each spacing.
    parameters: [Option<u8>; Spacing::ALL.len()],
}

/// How the edges of a feature are stored.
#[derive(PartialEq)]
pub enum Coding {
    /// There are none.
    None,
    /// One byte each.
    Codes {
        /// What the codes mean.
        book: Codebook,
        /// Whether the codebook's parameter is stored.
        own: bool,
    },
    /// So many leading bytes each.
    Leading(u8),
}

impl EdgeContext {
    /// Starts a file whose features usually have this number of edges.
    pub fn new(usual: u16) -> Self {
        Self { usual: usual.into(), parameters: [None; Spacing::ALL.len()] }
    }

    fn parameter(&self, spacing: Spacing) -> Option<u8> {
        self.parameters.get(spacing as usize).copied().flatten()
    }

    fn remember(&mut self, book: Codebook) {
        if let Some(place) = self.parameters.get_mut(book.spacing as usize) {
            *place = Some(book.parameter);
        }
    }

    /// Returns the shortest coding: codes whose parameter is known, other codes, leading bytes.
    fn coding(&self, edges: &[i32]) -> Coding {
        let Some(&first) = edges.first() else {
            return Coding::None;
        };
        let spacings = || Spacing::candidates(first).iter().copied();
        let known = spacings().find_map(|spacing| {
            let parameter = self.parameter(spacing)?;
            Some(Codebook { spacing, parameter }).filter(|book| book.contains(edges))
        });
        if let Some(book) = known {
            return Coding::Codes { book, own: false };
        }
        match spacings().find_map(|spacing| Codebook::containing(spacing, edges)) {
            Some(book) => Coding::Codes { book, own: true },
            None => Coding::Leading(edges::min_bytes(edges)),
        }
    }

    /// Writes the edges of a feature, with `bits` set in its first byte.
    pub fn put(&mut self, out: &mut Output, bits: u8, edges: &[i32]) {
        let own_count = edges.len() != self.usual;
        let coding = self.coding(edges);
        out.push(bits | coding.tag() | if own_count { OWN_COUNT } else { 0 });
        if let Coding::Codes { book, own: true } = coding {
            out.push(book.parameter);
            self.remember(book);
        }
        if own_count {
            out.put_count(edges.len());
        }
        match coding {
            Coding::None => {}
            Coding::Codes { book, .. } => {
                out.put(edges.iter().filter_map(|&edge| book.code(edge)));
            }
            Coding::Leading(bytes) => {
                for &edge in edges {
                    out.put_int(i64::from(edges::leading(edge, bytes)), usize::from(bytes));
                }
            }
        }
    }

    /// Returns how the edges of the next feature are stored.
    pub fn next_coding(&mut self, edges: &[i32]) -> Coding {
        let coding = self.coding(edges);
        if let Coding::Codes { book, .. } = coding {
            self.remember(book);
        }
        coding
    }

    /// Reads what [`EdgeContext::put`] writes, after the first byte.
    pub fn read(&mut self, reader: &mut Reader, tag: u8) -> Result<Edges> {
        let at = reader.at() - 1;
        let coding = self.read_coding(reader, tag)?;
        let width = coding.width();
        let count = if tag & OWN_COUNT != 0 { reader.count(width)? } else { self.usual };
        if count * width > reader.left() {
            return wrong(at, "there are more edges than the file can hold");
        }
        if (count == self.usual) == (tag & OWN_COUNT != 0) || (count == 0) != (width == 0) {
            return wrong(at, "the number of edges is inconsistent");
        }
        let edge = |reader: &mut Reader| match &coding {
            Coding::Codes { book, .. } => Ok(book.edge(reader.u8()?)),
            _ => Ok(Some(edges::from_leading(reader.uint(width)? as u32, width as u8))),
        };
        let mut keys = with_capacity(count)?;
        for _ in 0..count {
            keys.extend(edge(reader)?);
        }
        let are_numbers = keys.len() == count && !keys.iter().any(|&key| edges::number(key).is_nan());
        if !are_numbers || !keys.is_sorted_by(|a, b| a < b) {
            return wrong(at, "edges do not ascend or are not numbers");
        }
        if self.coding(&keys) != coding {
            return wrong(at, "edges are not in their shortest form");
        }
        if let Coding::Codes { book, .. } = coding {
            self.remember(book);
        }
        Ok(Edges::new(keys))
    }

    fn read_coding(&self, reader: &mut Reader, tag: u8) -> Result<Coding> {
        let at = reader.at() - 1;
        let (number, own) = (usize::from(tag >> WIDTH_SHIFT & 3), tag & OWN_PARAMETER != 0);
        if tag & 3 == LEADING {
            return match (number, own) {
                (0, false) => Ok(Coding::None),
                (_, false) => Ok(Coding::Leading(number as u8 + 1)),
                _ => wrong(at, "a feature is of an unknown kind"),
            };
        }
        let Some(&spacing) = Spacing::ALL.get(number) else {
            return wrong(at, "a feature is of an unknown kind");
        };
        let parameter = if own { Some(reader.u8()?) } else { self.parameter(spacing) };
        let book = parameter.map(|parameter| Codebook { spacing, parameter });
        match book.filter(|book| book.is_valid()) {
            Some(book) => Ok(Coding::Codes { book, own }),
            None => wrong(at, "the parameter of the edges is impossible"),
        }
    }
}

impl Coding {
    fn tag(&self) -> u8 {
        match self {
            Self::None => LEADING,
            Self::Codes { book, own } => {
                CODES | (book.spacing as u8) << WIDTH_SHIFT | if *own { OWN_PARAMETER } else { 0 }
            }
            Self::Leading(bytes) => LEADING | (bytes - 1) << WIDTH_SHIFT,
        }
    }

    /// Returns the bytes of an edge.
    pub fn width(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Codes { .. } => 1,
            Self::Leading(bytes) => usize::from(*bytes),
        }
    }
}

/// Returns the most common number of edges of numeric features, the smallest if there are several, or 0.
pub fn usual_edges(encoder: &Encoder) -> u16 {
    let mut features_with: BTreeMap<usize, usize> = BTreeMap::new();
    for feature in encoder.features() {
        if let CellMap::Intervals(edges) = &feature.map {
            *features_with.entry(edges.len()).or_default() += 1;
        }
    }
    let max = features_with.values().copied().max();
    let usual = features_with.iter().find(|(_, count)| Some(**count) == max);
    usual.map_or(0, |(&edges, _)| u16::try_from(edges).unwrap_or(0))
}
