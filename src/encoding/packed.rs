//! The encoded table that training passes over again and again, packed into as few bytes as the cells need.
//!
//! In a dense table each feature takes 1, 2 or 4 bytes per sample: its start, counted in strides from the feature's
//! first row. In a sparse table each active feature takes its start, and its value if some features are raw.
#![allow(clippy::indexing_slicing)] // every sample has the width and features of the layout made here

use super::encode::ABSENT;
use super::{ActiveRows, EncodeScratch, Encoder, Span};
use crate::data::{Dense, Table};
use crate::hash::mix;
use crate::kernels::{self, Isa};
use crate::memory::{collect, filled, owned, reserve, with_capacity};
use crate::threads::{Stop, Threads};
use crate::{Error, Result};
use std::borrow::Cow;
use std::ops::Range;

/// An encoded table.
#[derive(Clone, Debug)]
pub enum PackedTable<'a> {
    /// Every sample stores a code for every feature.
    Dense {
        /// How each feature's code is stored.
        codes: Vec<Code>,
        /// Bytes per sample.
        width: usize,
        /// The codes of all samples.
        bytes: Cow<'a, [u8]>,
        /// Whether every code takes one byte and none means "absent".
        is_plain: bool,
    },
    /// Every sample stores the starts of its present features.
    Sparse {
        /// The end of each sample's starts.
        ends: Vec<usize>,
        /// The starts of all samples.
        starts: Vec<u32>,
        /// Their values; empty where all are 1.
        values: Vec<f32>,
    },
}

/// How a feature's code is stored. The code is the cell: start = first + code · stride; the largest code means "absent".
#[derive(Clone, Copy, Debug)]
pub struct Code {
    at: usize,
    size: usize,
    first: u32,
    stride: u32,
}

/// Samples per block of encoding.
const BLOCK: usize = 256;

impl<'a> PackedTable<'a> {
    /// Encodes a table.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn new(
        encoder: &Encoder,
        isa: Isa,
        table: Table,
        threads: &Threads,
        stop: &Stop,
    ) -> Result<Self> {
        match table {
            Table::Dense(dense) if !encoder.is_raw() => {
                Self::dense(encoder, isa, dense, threads, stop)
            }
            _ => Self::sparse(encoder, isa, table, stop),
        }
    }

    /// Views samples of a dense table that were packed before.
    ///
    /// # Errors
    /// If they cannot be those of this encoder, or there is not enough memory.
    pub fn stored(encoder: &Encoder, bytes: &'a [u8]) -> Result<Self> {
        let (codes, width) = layout(encoder)?;
        let largest = collect(encoder.features().iter().map(|feature| largest_code(feature.span)))?;
        let mut absent = 0;
        let is_valid = |sample: &[u8]| {
            codes.iter().zip(&largest).all(|(code, largest)| {
                let code = code.get(sample);
                absent += usize::from(code.is_none());
                code.is_none_or(|code| code <= *largest)
            })
        };
        let mut samples = bytes.chunks_exact(width.max(1));
        if !samples.all(is_valid) || !samples.remainder().is_empty() {
            return Err(Error::value("cells", "be those of their encoder", "others"));
        }
        let is_plain = codes.len() == width && absent == 0;
        Ok(Self::Dense { codes, width, bytes: Cow::Borrowed(bytes), is_plain })
    }

    /// Returns the bytes per sample that an encoder gives a dense table.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn width(encoder: &Encoder) -> Result<usize> {
        Ok(layout(encoder)?.1)
    }

    /// Returns the packed samples of a dense table.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn into_bytes(self) -> Result<Vec<u8>> {
        match self {
            Self::Dense { bytes, .. } => owned(bytes),
            Self::Sparse { .. } => Ok(Vec::new()),
        }
    }

    /// Returns the same, to outlive the bytes that it views.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn into_owned(self) -> Result<PackedTable<'static>> {
        Ok(match self {
            Self::Dense { codes, width, bytes, is_plain } => {
                let bytes = Cow::Owned(owned(bytes)?);
                PackedTable::Dense { codes, width, bytes, is_plain }
            }
            Self::Sparse { ends, starts, values } => PackedTable::Sparse { ends, starts, values },
        })
    }

    /// Returns the number of active features, summed over all samples.
    pub fn active_features(&self) -> usize {
        match self {
            Self::Dense { codes, width, bytes, .. } => {
                bytes.len().checked_div(*width).unwrap_or(0) * codes.len()
            }
            Self::Sparse { starts, .. } => starts.len(),
        }
    }

    /// Returns the bytes that the samples take.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Dense { bytes, .. } => bytes.len(),
            Self::Sparse { ends, starts, values } => {
                size_of_val(&ends[..]) + size_of_val(&starts[..]) + size_of_val(&values[..])
            }
        }
    }

    /// Prefetches a sample that will be read soon.
    #[inline]
    pub fn prefetch(&self, sample: usize) {
        match self {
            Self::Dense { width, bytes, .. } => {
                kernels::prefetch(&bytes[sample * width..][..*width]);
            }
            Self::Sparse { .. } => {}
        }
    }

    /// Replaces `out` by the starts of a sample.
    ///
    /// # Errors
    /// If there is not enough memory.
    #[inline]
    pub fn starts_of(&self, sample: usize, out: &mut Vec<u32>) -> Result<()> {
        out.clear();
        self.append_starts(sample, out)
    }

    /// Appends the starts of a sample to `out`.
    ///
    /// # Errors
    /// If there is not enough memory.
    #[inline]
    pub fn append_starts(&self, sample: usize, out: &mut Vec<u32>) -> Result<()> {
        match self {
            Self::Dense { codes, width, bytes, is_plain } => {
                let packed = &bytes[sample * width..][..*width];
                reserve(out, codes.len())?;
                if *is_plain {
                    let codes = codes.iter().zip(packed);
                    out.extend(codes.map(|(code, &byte)| code.start(byte.into())));
                } else {
                    let starts = codes.iter().map(|code| code.read(packed));
                    out.extend(starts.filter(|&start| start != ABSENT));
                }
            }
            Self::Sparse { ends, starts, .. } => {
                let starts = &starts[range(ends, sample)];
                reserve(out, starts.len())?;
                out.extend_from_slice(starts);
            }
        }
        Ok(())
    }

    /// Returns the starts of a feature in some samples, or [`ABSENT`]; nothing if the table is sparse.
    pub fn column(&self, feature: usize, samples: &[u32]) -> impl Iterator<Item = u32> {
        let (codes, width, bytes) = match self {
            Self::Dense { codes, width, bytes, .. } => (&codes[feature..=feature], *width, &bytes[..]),
            Self::Sparse { .. } => (&[][..], 0, &[][..]),
        };
        codes.iter().flat_map(move |code| {
            samples.iter().map(move |&sample| code.read(&bytes[sample as usize * width..][..width]))
        })
    }

    /// Returns a hash of a sample: of its cells and values.
    pub fn hash(&self, sample: usize) -> u64 {
        match self {
            Self::Dense { width, bytes, .. } => {
                let (words, rest) = bytes[sample * width..][..*width].as_chunks::<8>();
                let last = rest.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
                let hash = words.iter().fold(last, |hash, word| mix(hash, u64::from_le_bytes(*word)));
                mix(hash, *width as u64)
            }
            Self::Sparse { ends, starts, values } => {
                let range = range(ends, sample);
                let hash = starts[range.clone()].iter().fold(0, |hash, &start| mix(hash, start.into()));
                let values = values.get(range).unwrap_or(&[]).iter();
                values.fold(hash, |hash, value| mix(hash, value.to_bits().into()))
            }
        }
    }

    /// Returns the values of a sample's starts; empty where all are 1.
    #[inline]
    pub fn values_of(&self, sample: usize) -> &[f32] {
        match self {
            Self::Sparse { ends, values, .. } if !values.is_empty() => &values[range(ends, sample)],
            _ => &[],
        }
    }

    fn dense(
        encoder: &Encoder,
        isa: Isa,
        dense: &dyn Dense,
        threads: &Threads,
        stop: &Stop,
    ) -> Result<Self> {
        let (codes, width) = layout(encoder)?;
        let mut bytes = filled(dense.samples().saturating_mul(width), 0)?;
        let blocks = bytes.chunks_mut((BLOCK * width).max(1)).enumerate();
        threads.map(blocks, EncodeScratch::default, |scratch, (i, bytes): (usize, &mut [u8])| {
            stop.check()?;
            let samples = i * BLOCK..i * BLOCK + bytes.len() / width;
            for (feature, code) in encoder.features().iter().zip(&codes) {
                let zero_is_absent = encoder.zero_is_absent();
                let cells = scratch.find_cells(isa, dense, &samples, feature, zero_is_absent)?;
                code.write(cells, width, bytes);
            }
            Ok(())
        })?;
        let is_plain = codes.len() == width && !bytes.contains(&u8::MAX);
        Ok(Self::Dense { codes, width, bytes: Cow::Owned(bytes), is_plain })
    }

    fn sparse(encoder: &Encoder, isa: Isa, table: Table, stop: &Stop) -> Result<Self> {
        let (mut scratch, mut active) = (EncodeScratch::default(), ActiveRows::default());
        let (mut starts, mut values) = (Vec::new(), Vec::new());
        let mut ends = with_capacity(table.samples())?;
        for first in (0..table.samples()).step_by(BLOCK) {
            stop.check()?;
            let samples = first..table.samples().min(first + BLOCK);
            encoder.encode(isa, table, samples, &mut scratch, &mut active)?;
            ends.extend(active.ends.iter().map(|&end| starts.len() + end as usize));
            reserve(&mut starts, active.starts.len())?;
            starts.extend_from_slice(&active.starts);
            reserve(&mut values, active.values.len())?;
            values.extend_from_slice(&active.values);
        }
        Ok(Self::Sparse { ends, starts, values })
    }
}

/// Returns where the starts of a sample are.
fn range(ends: &[usize], sample: usize) -> Range<usize> {
    sample.checked_sub(1).map_or(0, |before| ends[before])..ends[sample]
}

/// Returns where each feature's code is stored in a sample, and the bytes per sample.
fn layout(encoder: &Encoder) -> Result<(Vec<Code>, usize)> {
    let mut width = 0;
    let codes = encoder.features().iter().map(|feature| {
        let (span, largest) = (feature.span, largest_code(feature.span));
        let size = if largest < u32::from(u8::MAX) {
            1
        } else if largest < u32::from(u16::MAX) {
            2
        } else {
            4
        };
        let code = Code { at: width, size, first: span.first, stride: span.stride };
        width += size;
        code
    });
    let codes = collect(codes)?;
    Ok((codes, width))
}

/// Returns the largest code of a feature, but for "absent".
fn largest_code(span: Span) -> u32 {
    (span.rows() - span.tilings) / span.stride
}

impl Code {
    #[inline(always)]
    fn start(self, code: u32) -> u32 {
        self.first + code * self.stride
    }

    /// Writes the cells of a feature, given the bytes of the samples and the width of each.
    fn write(self, cells: &[u32], width: usize, bytes: &mut [u8]) {
        match self.size {
            1 => self.write_sized::<1>(cells, width, bytes),
            2 => self.write_sized::<2>(cells, width, bytes),
            _ => self.write_sized::<4>(cells, width, bytes),
        }
    }

    /// A size that the compiler knows makes each code a single store.
    fn write_sized<const SIZE: usize>(self, cells: &[u32], width: usize, bytes: &mut [u8]) {
        for (packed, cell) in bytes.chunks_exact_mut(width).zip(cells) {
            packed[self.at..][..SIZE].copy_from_slice(&cell.to_le_bytes()[..SIZE]);
        }
    }

    #[inline(always)]
    fn read(self, packed: &[u8]) -> u32 {
        self.get(packed).map_or(ABSENT, |code| self.start(code))
    }

    /// Returns the code of a sample; `None` if the feature is absent.
    #[inline(always)]
    fn get(self, packed: &[u8]) -> Option<u32> {
        let at = self.at;
        let (code, absent) = match self.size {
            1 => (u32::from(packed[at]), u32::from(u8::MAX)),
            2 => {
                (u32::from(u16::from_le_bytes([packed[at], packed[at + 1]])), u32::from(u16::MAX))
            }
            _ => {
                let bytes = [packed[at], packed[at + 1], packed[at + 2], packed[at + 3]];
                (u32::from_le_bytes(bytes), ABSENT)
            }
        };
        (code != absent).then_some(code)
    }
}
