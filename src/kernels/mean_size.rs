//! The mean size of numbers.

/// Partial sums of [`mean_size`]. Their number decides the bits of the result.
const LANES: usize = 16;

/// See [`mean_size`](super::mean_size).
#[inline(always)]
pub fn mean_size(numbers: &[f32]) -> f64 {
    let mut sums = [0.0_f64; LANES];
    let (chunks, rest) = numbers.as_chunks::<LANES>();
    for chunk in chunks {
        sums.iter_mut().zip(chunk).for_each(|(sum, number)| *sum += f64::from(number.abs()));
    }
    sums.iter_mut().zip(rest).for_each(|(sum, number)| *sum += f64::from(number.abs()));
    sums.iter().sum::<f64>() / numbers.len().max(1) as f64
}
