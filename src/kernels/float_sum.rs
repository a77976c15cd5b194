//! Sums over the active rows of a table of floats.

/// A table of floats.
#[derive(Clone, Copy, Debug)]
pub struct FloatRows<'a> {
    /// The numbers, row by row.
    pub numbers: &'a [f32],
    /// Numbers per row.
    pub width: usize,
    /// Consecutive rows that a start activates.
    pub tilings: usize,
}

/// The active rows of a sample.
#[derive(Clone, Copy, Debug)]
pub struct Sample<'a> {
    /// The first row that each value of the sample activates.
    pub starts: &'a [u32],
    /// The multiplier x of each start: the value itself where a feature has no cells. If empty, all are 1.
    pub values: &'a [f32],
}

impl<'a> Sample<'a> {
    /// Returns the starts, each with its multiplier x.
    #[inline(always)]
    pub(super) fn active(self) -> impl Iterator<Item = (usize, f32)> + 'a {
        let Self { starts, values } = self;
        let value = move |i| values.get(i).copied().unwrap_or(1.0);
        starts.iter().enumerate().map(move |(i, &start)| (start as usize, value(i)))
    }
}

/// Width of the tables whose sums stay in registers: the default number of factors. Takes 0.5 to 0.8 times as long as sums
/// in memory; splitting wider tables into such blocks can take 1.3 times as long.
const BLOCK: usize = 32;
/// Partial sums of [`sum_squares`], enough to fill the registers of every tier. Their number decides the bits of the
/// result.
const LANES: usize = 8;

/// See [`sum_floats`](super::sum_floats).
#[inline(always)]
pub fn sum_floats(rows: FloatRows, sample: Sample, sums: &mut [f32]) {
    sums.fill(0.0);
    if rows.width == 0 {
        return;
    }
    if let Ok(block) = <&mut [f32; BLOCK]>::try_from(&mut *sums) {
        let mut sums = *block;
        add_rows(rows, sample, &mut sums);
        *block = sums;
    } else {
        add_rows(rows, sample, sums);
    }
}

#[inline(always)]
fn add_rows(rows: FloatRows, sample: Sample, sums: &mut [f32]) {
    let FloatRows { numbers, width, tilings } = rows;
    for (start, x) in sample.active() {
        for row in numbers[start * width..][..tilings * width].chunks_exact(width) {
            let row = &row[..sums.len()]; // a length that is known at compile time in a block
            sums.iter_mut().zip(row).for_each(|(sum, &v)| *sum += x * v);
        }
    }
}

/// Returns Σ v².
#[inline(always)]
pub fn sum_squares(numbers: &[f32]) -> f64 {
    let square = |v: f32| f64::from(v) * f64::from(v);
    let mut sums = [0.0_f64; LANES];
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, &v)| *sum += square(v));
    }
    sums.iter_mut().zip(rest).for_each(|(sum, &v)| *sum += square(v));
    sums.iter().sum()
}
