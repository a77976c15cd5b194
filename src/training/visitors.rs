//! An index of samples by the parameter rows that they activate.

use super::Examples;
use crate::Result;
use crate::encoding::Encoder;
use crate::memory::{collect, filled, with_capacity};
use crate::threads::Stop;
use std::ops::Range;

/// Maximum number of samples: the small models that need the index learn nothing more from others.
const MAX_SAMPLES: usize = 20_000;
/// Maximum number of active rows of all of them, and of their scores and sums: 16, 32 and 16 MB.
const MAX_NUMBERS: usize = 4_000_000;

/// Some samples, and which of them activate each parameter row.
pub struct Visitors {
    /// The samples.
    pub samples: Vec<u32>,
    /// Number of parameter rows that each activates.
    pub active: Vec<u32>,
    /// The end of each row's visitors.
    ends: Vec<usize>,
    /// Indices into `samples`.
    indices: Vec<u32>,
}

impl Visitors {
    /// Indexes samples of positive weight, spread evenly over the table, for each of which there will be `numbers`
    /// scores or sums.
    ///
    /// # Errors
    /// If it is stopped, or there is not enough memory.
    pub fn new(
        encoder: &Encoder,
        examples: &Examples,
        numbers: usize,
        stop: &Stop,
    ) -> Result<Self> {
        let weighted = &examples.samples;
        let tilings = encoder.tilings();
        let per_sample = (examples.table.active_features() * tilings as usize)
            .div_ceil(examples.target.len().max(1))
            .max(numbers);
        let max = (MAX_NUMBERS / per_sample).clamp(1, MAX_SAMPLES);
        let step = weighted.len().div_ceil(max).max(1);
        let samples = collect(weighted.iter().step_by(step).copied())?;
        let mut active = with_capacity(samples.len())?;
        let mut ends = filled(encoder.rows() as usize + 1, 0_usize)?;
        let mut starts = Vec::new();
        for &sample in &samples {
            stop.check()?;
            examples.table.starts_of(sample as usize, &mut starts)?;
            active.push(starts.len() as u32 * tilings);
            let rows = starts.iter().flat_map(|&start| rows_of(start, tilings));
            rows.for_each(|row| ends[row + 1] += 1);
        }
        for row in 1..ends.len() {
            ends[row] += ends[row - 1];
        }
        let mut indices = filled(ends[ends.len() - 1], 0)?;
        for (index, &sample) in (0..).zip(&samples) {
            examples.table.starts_of(sample as usize, &mut starts)?;
            for row in starts.iter().flat_map(|&start| rows_of(start, tilings)) {
                indices[ends[row]] = index;
                ends[row] += 1;
            }
        }
        ends.pop();
        Ok(Self { samples, active, ends, indices })
    }

    /// Returns the samples that activate a parameter row, as indices into [`Visitors::samples`].
    pub fn of(&self, row: usize) -> &[u32] {
        let first = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.indices[first..self.ends[row]]
    }
}

fn rows_of(start: u32, tilings: u32) -> Range<usize> {
    start as usize..(start + tilings) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::training::fixture::Fixture;

    #[test]
    fn visitors_are_the_samples_that_activate_a_row() -> Result<()> {
        let fixture = Fixture::new(|x| f64::from(x[0] > 0.2), 2, [6, 2])?;
        let examples = fixture.examples();
        let visitors = Visitors::new(&fixture.encoder, &examples, 1, &Stop::default())?;
        let mut starts = Vec::new();
        let mut met = 0;
        for (index, &sample) in visitors.samples.iter().enumerate() {
            examples.table.starts_of(sample as usize, &mut starts)?;
            for row in starts.iter().flat_map(|&start| rows_of(start, 2)) {
                assert!(visitors.of(row).contains(&(index as u32)));
                met += 1;
            }
        }
        assert_eq!(met, visitors.indices.len());
        Ok(())
    }
}
