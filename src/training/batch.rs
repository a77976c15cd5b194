//! Batches: some samples decoded from the packed table, the cells that they touch, and who visits each cell.

use super::dropout::Dropout;
use super::rows::Rows;
use crate::Result;
use crate::encoding::PackedTable;
use crate::kernels::{Batch, Touched, Visits};
use crate::memory::{extend, filled, reserve, resize};
use std::sync::Arc;

/// A decoded batch. Its cells are numbered, so that rows which it does not touch cost nothing.
#[derive(Clone, Debug, Default)]
pub struct Decoded {
    touched: Vec<Touched>,
    /// For each sample, the cells that it visits, and its values.
    visited: Vec<u32>,
    ends: Vec<u32>,
    /// For each sample, its number of active features, silent cells included.
    active: Vec<u32>,
    values: Vec<f32>,
    /// For each touched cell, the samples that visit it, and their values.
    visitors: Vec<u32>,
    visitor_values: Vec<f32>,
}

impl Decoded {
    /// Returns the batch as kernels read it.
    pub fn view(&self) -> Batch<'_> {
        Batch {
            touched: &self.touched,
            by_sample: Visits { of: &self.visited, values: &self.values },
            ends: &self.ends,
            active: &self.active,
            by_cell: Visits { of: &self.visitors, values: &self.visitor_values },
        }
    }

    /// Returns roughly the bytes of a batch with this number of visits.
    pub fn bytes(visits: usize) -> usize {
        visits * size_of::<[u32; 3]>()
    }
}

/// Decodes batches, with a table of all cells that is used again and again.
#[derive(Default)]
pub struct Decoder {
    /// For each row of the parameter table, the cell that starts there.
    cells: Vec<Cell>,
    /// For each block of rows, whether a cell that starts there was touched.
    marks: Vec<[bool; MARKS]>,
    rows: Option<Arc<Rows>>,
}

#[derive(Clone, Copy, Default)]
struct Cell {
    /// Visits so far, then where its next visitor goes; zero between two batches.
    visits: u32,
    /// Its number among the touched cells.
    number: u32,
}

/// Rows per mark.
const BLOCK: usize = 64;
/// Marks that are tested at once.
const MARKS: usize = 8;
/// Distance, in samples, between the one being read and the one being prefetched.
pub(super) const PREFETCH_DISTANCE: usize = 8;

impl Decoder {
    /// Prepares for a parameter table.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn prepare(&mut self, rows: &Arc<Rows>) -> Result<()> {
        if self.cells.len() != rows.len() {
            self.cells = filled(rows.len(), Cell::default())?;
            self.marks = filled(rows.len().div_ceil(BLOCK).div_ceil(MARKS), [false; MARKS])?;
        }
        self.rows = Some(Arc::clone(rows));
        Ok(())
    }

    /// Decodes samples of a table into `batch`; dropout may hide some of their features.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn decode(
        &mut self,
        table: &PackedTable,
        samples: &[u32],
        dropout: Option<&mut Dropout>,
        batch: &mut Decoded,
    ) -> Result<()> {
        let silent = self.rows.as_deref().filter(|rows| rows.has_silent());
        read_starts(table, samples, dropout, silent, batch)?;
        self.count_visits(&batch.visited);
        self.number_cells(batch)?;
        self.list_visitors(batch)
    }

    fn count_visits(&mut self, starts: &[u32]) {
        let cells = &mut self.cells[..];
        for &start in starts {
            cells[start as usize].visits += 1;
        }
        if cells.len() > starts.len() {
            let marks = self.marks.as_flattened_mut();
            for &start in starts {
                marks[start as usize / BLOCK] = true;
            }
        } else {
            self.marks.fill([true; MARKS]); // looking at all cells takes less time
        }
    }

    /// Lists the touched cells in ascending order, and turns the number of visits of each into where they begin.
    fn number_cells(&mut self, batch: &mut Decoded) -> Result<()> {
        // One more than can be touched, because there is always a place for the next cell.
        let most = batch.visited.len().min(self.cells.len()) + 1;
        let touched = &mut batch.touched;
        resize(touched, most, Touched { start: 0, end: 0 })?;
        let (mut count, mut begin) = (0, 0);
        let groups = self.cells.chunks_mut(BLOCK * MARKS).zip(&mut self.marks).enumerate();
        for (i, (cells, marks)) in groups {
            if *marks == [false; MARKS] {
                continue;
            }
            for ((j, cells), mark) in cells.chunks_mut(BLOCK).enumerate().zip(marks) {
                if !std::mem::take(mark) {
                    continue;
                }
                for (start, cell) in ((i * MARKS + j) as u32 * BLOCK as u32..).zip(cells) {
                    // Without a branch, which would often be mispredicted.
                    let is_touched = cell.visits > 0;
                    let end = begin + cell.visits;
                    touched[count] = Touched { start, end };
                    *cell = Cell { visits: if is_touched { begin } else { 0 }, number: count as u32 };
                    count += usize::from(is_touched);
                    begin = end;
                }
            }
        }
        touched.truncate(count);
        Ok(())
    }

    /// Lists the samples in each touched cell, and replaces starts by the numbers of cells.
    fn list_visitors(&mut self, batch: &mut Decoded) -> Result<()> {
        let Decoded { touched, visited, ends, values, visitors, visitor_values, .. } = batch;
        resize(visitors, visited.len(), 0)?;
        resize(visitor_values, values.len(), 0.0)?;
        let (visitors, cells) = (&mut visitors[..], &mut self.cells[..]);
        let mut begin = 0;
        for (sample, &end) in (0..).zip(&*ends) {
            let range = begin..end as usize;
            for (i, visited) in range.clone().zip(&mut visited[range]) {
                let cell = &mut cells[*visited as usize];
                *visited = cell.number;
                visitors[cell.visits as usize] = sample;
                if !values.is_empty() {
                    visitor_values[cell.visits as usize] = values[i];
                }
                cell.visits += 1;
            }
            begin = end as usize;
        }
        for cell in &*touched {
            cells[cell.start as usize].visits = 0;
        }
        Ok(())
    }
}

/// Writes the starts of the samples into `visited`.
fn read_starts(
    table: &PackedTable,
    samples: &[u32],
    mut dropout: Option<&mut Dropout>,
    silent: Option<&Rows>,
    batch: &mut Decoded,
) -> Result<()> {
    let Decoded { visited, ends, active, values, .. } = batch;
    visited.clear();
    ends.clear();
    active.clear();
    values.clear();
    reserve(active, samples.len())?;
    reserve(ends, samples.len())?;
    for (i, &sample) in samples.iter().enumerate() {
        if let Some(&later) = samples.get(i + PREFETCH_DISTANCE) {
            table.prefetch(later as usize);
        }
        let from = visited.len();
        table.append_starts(sample as usize, visited)?;
        extend(values, table.values_of(sample as usize).iter().copied())?;
        if let Some(dropout) = &mut dropout {
            dropout.apply(from, visited, values);
        }
        active.push((visited.len() - from) as u32);
        if let Some(rows) = silent {
            remove_silent(rows, from, visited);
        }
        ends.push(visited.len() as u32);
    }
    Ok(())
}

/// Removes the starts of silent cells from `from` on.
fn remove_silent(rows: &Rows, from: usize, starts: &mut Vec<u32>) {
    let mut kept = from;
    for i in from..starts.len() {
        starts[kept] = starts[i];
        kept += usize::from(!rows.is_silent(starts[i]));
    }
    starts.truncate(kept);
}
