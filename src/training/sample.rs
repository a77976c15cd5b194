//! Rows of data by the parameter rows that they activate.

use super::Examples;
use crate::Result;
use crate::encoding::Encoder;
use crate::error::filled;
use crate::threads::Stop;
use std::ops::Range;

/// Rows of data that are looked at, at most: small models, for which this is, learn nothing more from others.
const MOST_ROWS: usize = 20_000;
/// Active parameter rows of all of them, their scores and their sums, at most: 16, 32 and 16 MB.
const MOST_NUMBERS: usize = 4_000_000;

/// Rows of data, and which of them activate each parameter row.
pub struct Sample {
    /// Rows of the table.
    pub rows: Vec<u32>,
    /// Parameter rows that each activates.
    pub active: Vec<u32>,
    /// Where the visitors of each parameter row end.
    ends: Vec<usize>,
    /// Places in `rows`.
    visitors: Vec<u32>,
}

impl Sample {
    /// Rows that count, evenly over the table. For each there will be so many scores or sums.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn new(
        encoder: &Encoder,
        examples: &Examples,
        numbers: usize,
        stop: &Stop,
    ) -> Result<Self> {
        let counted = examples.counted_rows();
        let tilings = encoder.tilings();
        let each = (examples.cells.active_features() * tilings as usize)
            .div_ceil(examples.targets.rows().max(1))
            .max(numbers);
        let most = (MOST_NUMBERS / each).clamp(1, MOST_ROWS);
        let rows: Vec<u32> =
            counted.iter().step_by(counted.len().div_ceil(most).max(1)).copied().collect();
        let mut active = Vec::with_capacity(rows.len());
        let mut ends = filled(encoder.rows() as usize + 1, 0_usize)?;
        let mut starts = Vec::new();
        for &row in &rows {
            stop.check()?;
            examples.cells.starts_of(row as usize, &mut starts);
            active.push(starts.len() as u32 * tilings);
            starts.iter().flat_map(|&start| run(start, tilings)).for_each(|row| ends[row + 1] += 1);
        }
        for row in 1..ends.len() {
            ends[row] += ends[row - 1];
        }
        let mut visitors = filled(ends[ends.len() - 1], 0)?;
        for (place, &row) in (0..).zip(&rows) {
            examples.cells.starts_of(row as usize, &mut starts);
            for row in starts.iter().flat_map(|&start| run(start, tilings)) {
                visitors[ends[row]] = place;
                ends[row] += 1;
            }
        }
        ends.pop();
        Ok(Self { rows, active, ends, visitors })
    }

    /// Who activates a parameter row.
    pub fn visitors(&self, row: usize) -> &[u32] {
        let first = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.visitors[first..self.ends[row]]
    }
}

fn run(start: u32, tilings: u32) -> Range<usize> {
    start as usize..(start + tilings) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::example::Example;

    #[test]
    fn visitors_are_the_rows_that_activate_a_row() -> Result<()> {
        let example = Example::new(|row| f64::from(row[0] > 0.2), 2, [6, 2])?;
        let examples = example.examples();
        let sample = Sample::new(&example.encoder, &examples, 1, &Stop::default())?;
        let mut starts = Vec::new();
        let mut met = 0;
        for (place, &row) in sample.rows.iter().enumerate() {
            examples.cells.starts_of(row as usize, &mut starts);
            for row in starts.iter().flat_map(|&start| run(start, 2)) {
                assert!(sample.visitors(row).contains(&(place as u32)));
                met += 1;
            }
        }
        assert_eq!(met, sample.visitors.len());
        Ok(())
    }
}
