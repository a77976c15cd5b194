//! The backward pass over a batch: gradients, added up for each cell.

use super::batch::{Batch, CellGradients, CellSums, Visits};
use super::blocks::{block, for_blocks};

/// See [`backward`](super::backward).
#[inline(always)]
pub fn backward(
    batch: Batch<'_>,
    s: &mut [f32],
    slopes: &[f32],
    factors: usize,
    alone: Option<&CellSums>,
    gradients: &mut CellGradients,
) {
    for (s, slope) in s.chunks_exact_mut(factors.max(1)).zip(slopes) {
        for s in s {
            *s *= slope;
        }
    }
    for (cell, visits) in batch.cells().enumerate() {
        let v = &mut gradients.v[cell * factors..][..factors];
        let (mut w, mut own) = (0.0, 0.0);
        if visits.values.is_empty() {
            for_blocks!(factors, |first| add_up::<_>(visits.of, s, slopes, first, v, &mut w));
            if factors == 0 {
                w = visits.of.iter().map(|&sample| slopes[sample as usize]).sum();
            }
            own = w;
        } else {
            for_blocks!(factors, |first| add_up_scaled::<_>(visits, s, first, v));
            for (&sample, &x) in visits.of.iter().zip(visits.values) {
                let slope = slopes[sample as usize];
                (w, own) = (w + slope * x, own + slope * x * x);
            }
        }
        if let Some(cells) = alone {
            let sums = &cells.v[cell * factors..][..factors];
            v.iter_mut().zip(sums).for_each(|(v, sum)| *v -= own * sum);
            own = 0.0;
        }
        (gradients.w[cell], gradients.own[cell]) = (w, own);
    }
}

/// Adds up N factors of the gradients of a cell's samples, and their slopes: two by two, so that additions wait less for
/// each other.
#[inline(always)]
fn add_up<const N: usize>(
    samples: &[u32],
    gradients: &[f32],
    slopes: &[f32],
    first: usize,
    out: &mut [f32],
    slope: &mut f32,
) {
    let factors = out.len();
    let (mut even, mut odd) = ([0.0; N], [0.0; N]);
    let mut sums = [0.0; 2];
    let (pairs, last) = samples.as_chunks::<2>();
    for &[a, b] in pairs {
        let (of_a, of_b) = (
            block::<N, _>(gradients, a, factors, first),
            block::<N, _>(gradients, b, factors, first),
        );
        even.iter_mut().zip(of_a).for_each(|(sum, gradient)| *sum += gradient);
        odd.iter_mut().zip(of_b).for_each(|(sum, gradient)| *sum += gradient);
        sums[0] += slopes[a as usize];
        sums[1] += slopes[b as usize];
    }
    for &sample in last {
        let own = block::<N, _>(gradients, sample, factors, first);
        even.iter_mut().zip(own).for_each(|(sum, gradient)| *sum += gradient);
        sums[0] += slopes[sample as usize];
    }
    let out = &mut out[first..][..N];
    for i in 0..N {
        out[i] = even[i] + odd[i];
    }
    *slope = sums[0] + sums[1];
}

/// Does the same where the samples have values.
#[inline(always)]
fn add_up_scaled<const N: usize>(
    visits: Visits<'_>,
    gradients: &[f32],
    first: usize,
    out: &mut [f32],
) {
    let factors = out.len();
    let mut sums = [0.0; N];
    for (&sample, &x) in visits.of.iter().zip(visits.values) {
        let own = block::<N, _>(gradients, sample, factors, first);
        sums.iter_mut().zip(own).for_each(|(sum, gradient)| *sum += x * gradient);
    }
    out[first..][..N].copy_from_slice(&sums);
}
