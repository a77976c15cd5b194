//! The encoded table that training passes over again and again, packed into as few bytes as the cells need.
//!
//! In a dense table each feature takes 1, 2 or 4 bytes per sample: its start, counted in strides from the feature's
//! first row. In a sparse table each active feature takes its start, and its value if some features are raw.
#![allow(clippy::indexing_slicing)] // every sample has the width and features of the layout made here

use super::encode::ABSENT;
use super::{ActiveRows, EncodeScratch, Encoder};
use crate::Result;
use crate::data::{Dense, Table};
use crate::kernels::{self, Isa};
use crate::memory::{filled, reserve, with_capacity};
use crate::threads::{Stop, Threads};
use std::ops::Range;

/// An encoded table.
#[derive(Clone, Debug)]
pub enum PackedTable {
    /// Every sample stores a code for every feature.
    Dense {
        /// How each feature's code is stored.
        codes: Vec<Code>,
        /// Bytes per sample.
        width: usize,
        /// The codes of all samples.
        bytes: Vec<u8>,
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

/// How a feature's code is stored: start = first + code · stride; the largest code means "absent".
#[derive(Clone, Copy, Debug)]
pub struct Code {
    at: usize,
    size: usize,
    first: u32,
    stride: u32,
}

/// Samples per block of encoding.
const BLOCK: usize = 256;

impl PackedTable {
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

    /// Returns the number of active features, summed over all samples.
    pub fn active_features(&self) -> usize {
        match self {
            Self::Dense { codes, width, bytes, .. } => {
                bytes.len().checked_div(*width).unwrap_or(0) * codes.len()
            }
            Self::Sparse { starts, .. } => starts.len(),
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
    #[inline]
    pub fn starts_of(&self, sample: usize, out: &mut Vec<u32>) {
        out.clear();
        match self {
            Self::Dense { codes, width, bytes, is_plain } => {
                let packed = &bytes[sample * width..][..*width];
                if *is_plain {
                    let codes = codes.iter().zip(packed);
                    out.extend(codes.map(|(code, &byte)| code.start(byte.into())));
                } else {
                    let starts = codes.iter().map(|code| code.read(packed));
                    out.extend(starts.filter(|&start| start != ABSENT));
                }
            }
            Self::Sparse { ends, starts, .. } => {
                out.extend_from_slice(&starts[range(ends, sample)]);
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
        let (codes, width) = layout(encoder);
        let mut bytes = filled(dense.samples().saturating_mul(width), 0)?;
        let blocks = bytes.chunks_mut((BLOCK * width).max(1)).enumerate();
        threads.map(blocks, EncodeScratch::default, |scratch, (i, bytes): (usize, &mut [u8])| {
            stop.check()?;
            let samples = i * BLOCK..i * BLOCK + bytes.len() / width;
            let starts = encoder.block_starts(isa, dense, samples, scratch);
            for (starts, packed) in
                starts.chunks_exact(codes.len()).zip(bytes.chunks_exact_mut(width))
            {
                codes.iter().zip(starts).for_each(|(code, &start)| code.write(start, packed));
            }
            Ok(())
        })?;
        let is_plain = codes.len() == width && !bytes.contains(&u8::MAX);
        Ok(Self::Dense { codes, width, bytes, is_plain })
    }

    fn sparse(encoder: &Encoder, isa: Isa, table: Table, stop: &Stop) -> Result<Self> {
        let (mut scratch, mut active) = (EncodeScratch::default(), ActiveRows::default());
        let (mut starts, mut values) = (Vec::new(), Vec::new());
        let mut ends = with_capacity(table.samples())?;
        for first in (0..table.samples()).step_by(BLOCK) {
            stop.check()?;
            let samples = first..table.samples().min(first + BLOCK);
            encoder.encode(isa, table, samples, &mut scratch, &mut active);
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
fn layout(encoder: &Encoder) -> (Vec<Code>, usize) {
    let mut width = 0;
    let codes = encoder.features().iter().map(|feature| {
        let span = feature.span;
        let largest = (span.rows() - span.tilings) / span.stride;
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
    (codes.collect(), width)
}

impl Code {
    #[inline(always)]
    fn start(self, code: u32) -> u32 {
        self.first + code * self.stride
    }

    fn write(self, start: u32, packed: &mut [u8]) {
        let code = if start == ABSENT { ABSENT } else { (start - self.first) / self.stride };
        packed[self.at..][..self.size].copy_from_slice(&code.to_le_bytes()[..self.size]);
    }

    #[inline(always)]
    fn read(self, packed: &[u8]) -> u32 {
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
        if code == absent { ABSENT } else { self.start(code) }
    }
}
