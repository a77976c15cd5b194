//! The encoded table that training goes through again and again, in as few bytes as the cells need.
//!
//! Of a dense table each feature takes 1, 2 or 4 bytes a row: its start, counted in strides from the feature's first
//! row. Of a sparse table each active feature takes its start, and its value where numbers are used as they are.
#![allow(clippy::indexing_slicing)] // the layout of a row is made here, and every row has it

use super::starts::ABSENT;
use super::{Active, Block, Dense, Encoder, Table};
use crate::Result;
use crate::error::{filled, more_room, room};
use crate::kernels::{self, Isa};
use crate::threads::{Stop, Threads};
use std::ops::Range;

/// An encoded table.
#[derive(Clone, Debug)]
pub enum Cells {
    /// Every row has all features: packed codes, row by row.
    Dense {
        /// How each feature's code is stored and read.
        codes: Vec<Code>,
        /// Bytes a row.
        width: usize,
        /// The codes of all rows.
        bytes: Vec<u8>,
        /// Every code is one byte and none is "absent".
        plain: bool,
    },
    /// Starts of the features that are there.
    Sparse {
        /// Where each row ends.
        ends: Vec<usize>,
        /// The starts of all rows.
        starts: Vec<u32>,
        /// Their values; empty where all are 1.
        values: Vec<f32>,
    },
}

/// How a feature's code is stored; start = first + code · stride, and the greatest code is "absent".
#[derive(Clone, Copy, Debug)]
pub struct Code {
    at: usize,
    size: usize,
    first: u32,
    stride: u32,
}

/// Rows that are encoded in one go.
const BLOCK: usize = 256;

impl Cells {
    /// Encode a table.
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

    /// Number of active features of all rows.
    pub fn active_features(&self) -> usize {
        match self {
            Self::Dense { codes, width, bytes, .. } => {
                bytes.len().checked_div(*width).unwrap_or(0) * codes.len()
            }
            Self::Sparse { starts, .. } => starts.len(),
        }
    }

    /// Ask for a row that will be read soon.
    #[inline]
    pub fn prefetch(&self, row: usize) {
        match self {
            Self::Dense { width, bytes, .. } => kernels::prefetch(&bytes[row * width..][..*width]),
            Self::Sparse { .. } => {}
        }
    }

    /// Replace `starts` by those of a row.
    #[inline]
    pub fn starts_of(&self, row: usize, out: &mut Vec<u32>) {
        out.clear();
        match self {
            Self::Dense { codes, width, bytes, plain } => {
                let row = &bytes[row * width..][..*width];
                if *plain {
                    out.extend(codes.iter().zip(row).map(|(code, &byte)| code.start(byte.into())));
                } else {
                    out.extend(
                        codes.iter().map(|code| code.read(row)).filter(|&start| start != ABSENT),
                    );
                }
            }
            Self::Sparse { ends, starts, .. } => out.extend_from_slice(&starts[span(ends, row)]),
        }
    }

    /// The values of a row's starts; empty where all are 1.
    #[inline]
    pub fn values_of(&self, row: usize) -> &[f32] {
        match self {
            Self::Sparse { ends, values, .. } if !values.is_empty() => &values[span(ends, row)],
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
        let mut bytes = filled(dense.rows().saturating_mul(width), 0)?;
        let chunks = bytes.chunks_mut((BLOCK * width).max(1)).enumerate();
        threads.map(chunks, Block::default, |block, (i, bytes): (usize, &mut [u8])| {
            stop.check()?;
            let rows = bytes.len() / width;
            let starts = encoder.dense_starts(isa, dense, i * BLOCK, rows, block);
            for (starts, bytes) in
                starts.chunks_exact(codes.len()).zip(bytes.chunks_exact_mut(width))
            {
                codes.iter().zip(starts).for_each(|(code, &start)| code.write(start, bytes));
            }
            Ok(())
        })?;
        let plain = codes.len() == width && !bytes.contains(&u8::MAX);
        Ok(Self::Dense { codes, width, bytes, plain })
    }

    fn sparse(encoder: &Encoder, isa: Isa, table: Table, stop: &Stop) -> Result<Self> {
        let (mut block, mut active) = (Block::default(), Active::default());
        let (mut starts, mut values) = (Vec::new(), Vec::new());
        let mut ends = room(table.rows())?;
        for first in (0..table.rows()).step_by(BLOCK) {
            stop.check()?;
            let rows = BLOCK.min(table.rows() - first);
            encoder.activate(isa, table, first, rows, &mut block, &mut active);
            ends.extend(active.ends.iter().map(|&end| starts.len() + end as usize));
            more_room(&mut starts, active.starts.len())?;
            starts.extend_from_slice(&active.starts);
            more_room(&mut values, active.values.len())?;
            values.extend_from_slice(&active.values);
        }
        Ok(Self::Sparse { ends, starts, values })
    }
}

/// Where the starts of a row are.
fn span(ends: &[usize], row: usize) -> Range<usize> {
    row.checked_sub(1).map_or(0, |before| ends[before])..ends[row]
}

/// Where each feature's code stands in a row, and the bytes of a row.
fn layout(encoder: &Encoder) -> (Vec<Code>, usize) {
    let mut width = 0;
    let codes = encoder.features().iter().map(|feature| {
        let span = feature.span;
        let greatest = (span.rows() - span.tilings) / span.stride;
        let size = if greatest < u32::from(u8::MAX) {
            1
        } else if greatest < u32::from(u16::MAX) {
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

    fn write(self, start: u32, row: &mut [u8]) {
        let code = if start == ABSENT { ABSENT } else { (start - self.first) / self.stride };
        row[self.at..][..self.size].copy_from_slice(&code.to_le_bytes()[..self.size]);
    }

    #[inline(always)]
    fn read(self, row: &[u8]) -> u32 {
        let at = self.at;
        let (code, absent) = match self.size {
            1 => (u32::from(row[at]), u32::from(u8::MAX)),
            2 => (u32::from(u16::from_le_bytes([row[at], row[at + 1]])), u32::from(u16::MAX)),
            _ => (u32::from_le_bytes([row[at], row[at + 1], row[at + 2], row[at + 3]]), ABSENT),
        };
        if code == absent { ABSENT } else { self.start(code) }
    }
}
