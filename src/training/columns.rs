//! The cell that each sample is in, feature by feature: what the linear term passes over.
//!
//! Samples are counted in canonical order. A dense table is turned around in blocks of them, small enough to stay in a
//! core's cache together with what is computed for them. A sparse table, or one with a feature of very many categories,
//! becomes one block: a list of visitors for each cell.

use super::rows::Rows;
use super::{Context, Examples};
use crate::Result;
use crate::encoding::{ABSENT, PackedTable, Span};
use crate::memory::{collect, filled, push};
use crate::threads::Stop;

/// The cells of samples. Those of a feature are counted from its first row; a sample in no cell, or in a silent one, is
/// in the cell after the last row.
pub struct Columns {
    samples: usize,
    kind: Kind,
}

enum Kind {
    /// Every sample has a cell of every feature.
    Dense {
        columns: Vec<Column>,
        /// Bytes per sample.
        width: usize,
        /// Block by block, the cells of each feature.
        bytes: Vec<u8>,
    },
    /// Every cell has a list of visitors.
    Sparse {
        /// The rows of each feature: the first, and the end.
        rows: Vec<[usize; 2]>,
        /// The end of the visits to the cell that starts at each row.
        ends: Vec<usize>,
        /// Visitors, cell by cell.
        visitors: Vec<u32>,
    },
}

/// How the cells of a feature are stored.
#[derive(Clone, Copy)]
struct Column {
    /// Bytes of a sample that come before.
    before: usize,
    /// Bytes of a cell.
    size: usize,
    first: u32,
    rows: u32,
}

/// Samples per block of a dense table.
pub const BLOCK: usize = 8192;
/// Samples of a sparse table between two looks at the flag that stops the work.
const CHECKED: usize = 1024;

impl Columns {
    /// Turns a table around.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn new(examples: &Examples, rows: &Rows, context: Context) -> Result<Self> {
        let kind = match examples.table {
            PackedTable::Dense { .. } if Self::are_narrow(rows) => Kind::dense(examples, rows, context)?,
            _ => Kind::sparse(examples, rows, context.stop)?,
        };
        Ok(Self { samples: examples.samples.len(), kind })
    }

    /// Returns whether a block has more samples than any feature has rows. Sums of blocks would take longer otherwise than
    /// the samples themselves.
    fn are_narrow(rows: &Rows) -> bool {
        rows.spans().iter().all(|span| span.rows() as usize <= BLOCK)
    }

    /// Returns the number of samples in each block but the last; at least one.
    pub fn block(&self) -> usize {
        match self.kind {
            Kind::Dense { .. } => BLOCK,
            Kind::Sparse { .. } => self.samples.max(1),
        }
    }

    /// Calls `each` with the samples of a block, counted from its first, and their cells of a feature. Samples of a sparse
    /// table that are in no cell are left out.
    #[inline(always)]
    pub fn each(&self, feature: usize, block: usize, mut each: impl FnMut(usize, usize)) {
        match &self.kind {
            Kind::Dense { columns, width, bytes } => {
                let Column { before, size, .. } = columns[feature];
                let first = block * BLOCK;
                let samples = BLOCK.min(self.samples - first);
                let cells = &bytes[first * width + before * samples..][..size * samples];
                match size {
                    1 => (0..).zip(cells).for_each(|(i, &cell)| each(i, cell.into())),
                    2 => {
                        let cells = (0..).zip(cells.as_chunks().0);
                        cells.for_each(|(i, &cell)| each(i, u16::from_le_bytes(cell).into()));
                    }
                    _ => {
                        let cells = (0..).zip(cells.as_chunks().0);
                        cells.for_each(|(i, &cell)| each(i, u32::from_le_bytes(cell) as usize));
                    }
                }
            }
            Kind::Sparse { rows, ends, visitors } => {
                let [first, end] = rows[feature];
                let mut begin = first.checked_sub(1).map_or(0, |before| ends[before]);
                for (cell, &end) in ends[first..end].iter().enumerate() {
                    visitors[begin..end].iter().for_each(|&i| each(i as usize, cell));
                    begin = end;
                }
            }
        }
    }
}

impl Kind {
    fn dense(examples: &Examples, rows: &Rows, context: Context) -> Result<Self> {
        let (mut columns, mut width) = (Vec::new(), 0);
        for span in rows.spans() {
            let size = bytes_of(span.rows());
            push(&mut columns, Column { before: width, size, first: span.first, rows: span.rows() })?;
            width += size;
        }
        let mut bytes = filled(examples.samples.len() * width, 0)?;
        let blocks = bytes.chunks_mut((BLOCK * width).max(1)).zip(examples.samples.chunks(BLOCK));
        context.threads.map(blocks, || (), |(), (mut bytes, samples): (&mut [u8], &[u32])| {
            context.stop.check()?;
            for (feature, column) in columns.iter().enumerate() {
                let cells = bytes.split_off_mut(..column.size * samples.len()).unwrap_or_default();
                let starts = examples.table.column(feature, samples);
                match column.size {
                    1 => column.write::<1>(starts, rows, cells),
                    2 => column.write::<2>(starts, rows, cells),
                    _ => column.write::<4>(starts, rows, cells),
                }
            }
            Ok(())
        })?;
        Ok(Self::Dense { columns, width, bytes })
    }

    fn sparse(examples: &Examples, rows: &Rows, stop: &Stop) -> Result<Self> {
        let mut ends = filled(rows.len() + 1, 0_usize)?;
        let mut starts = Vec::new();
        let mut each = |list: &mut dyn FnMut(usize, usize)| -> Result<()> {
            for (i, &sample) in examples.samples.iter().enumerate() {
                if i % CHECKED == 0 {
                    stop.check()?;
                }
                examples.table.starts_of(sample as usize, &mut starts)?;
                let loud = starts.iter().filter(|&&start| !rows.is_silent(start));
                loud.for_each(|&start| list(i, start as usize));
            }
            Ok(())
        };
        each(&mut |_, start| ends[start + 1] += 1)?;
        for row in 0..rows.len() {
            ends[row + 1] += ends[row];
        }
        let mut visitors = filled(ends[rows.len()], 0_u32)?;
        each(&mut |i, start| {
            visitors[ends[start]] = i as u32;
            ends[start] += 1;
        })?;
        let range = |span: &Span| [span.first, span.first + span.rows()].map(|row| row as usize);
        Ok(Self::Sparse { rows: collect(rows.spans().iter().map(range))?, ends, visitors })
    }
}

impl Column {
    /// Writes the cells of some starts; a size that the compiler knows makes each a single store.
    fn write<const SIZE: usize>(self, starts: impl Iterator<Item = u32>, rows: &Rows, cells: &mut [u8]) {
        for (bytes, start) in cells.chunks_exact_mut(SIZE).zip(starts) {
            bytes.copy_from_slice(&self.cell(start, rows).to_le_bytes()[..SIZE]);
        }
    }

    /// Returns the cell that starts at a row, or the one after the last row.
    fn cell(self, start: u32, rows: &Rows) -> u32 {
        if start == ABSENT || rows.is_silent(start) { self.rows } else { start - self.first }
    }
}

/// Returns the bytes that a number up to `largest` takes.
fn bytes_of(largest: u32) -> usize {
    match largest {
        0..=0xff => 1,
        0x100..=0xffff => 2,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::Isa;
    use crate::threads::Threads;
    use crate::training::fixture::Fixture;

    #[test]
    fn samples_are_in_the_cells_where_they_start() -> Result<()> {
        let (threads, stop) = (Threads::single(), Stop::default());
        let context = Context { threads: &threads, isa: Isa::detect()?, stop: &stop };
        for bins in [[6, 2], [300, 4]] {
            let fixture = Fixture::new(|x| f64::from(x[0] > 0.2), 2, bins)?;
            let mut examples = fixture.examples();
            examples.samples = examples.samples.repeat(2 * BLOCK / examples.samples.len() + 1).into();
            let rows = Rows::new(&fixture.encoder)?;
            let columns = Columns::new(&examples, &rows, context)?;
            let mut found = vec![Vec::new(); examples.samples.len()];
            for block in 0..examples.samples.len().div_ceil(BLOCK) {
                for (feature, span) in rows.spans().iter().enumerate() {
                    columns.each(feature, block, |i, cell| {
                        found[block * BLOCK + i].push(span.first + cell as u32);
                    });
                }
            }
            let mut starts = Vec::new();
            for (&sample, found) in examples.samples.iter().zip(found) {
                examples.table.starts_of(sample as usize, &mut starts)?;
                assert_eq!(starts, found);
            }
        }
        Ok(())
    }
}
