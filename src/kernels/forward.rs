//! The forward pass over a batch: sums of cells, then of samples.

use super::batch::{Batch, CellSums, SampleSums, Visits};
use super::blocks::{block, for_blocks};
use super::float_sum::sum_squares;
use super::prefetch::{cell_ahead, prefetch_rows};
use super::weights::{Kind, RowWeights};

/// See [`sum_cells`](super::sum_cells).
#[inline(always)]
pub fn sum_cells(
    weights: &RowWeights,
    [w_kind, v_kind]: [Kind; 2],
    tilings: usize,
    batch: Batch<'_>,
    sums: &mut CellSums,
) {
    let factors = weights.v.len() / weights.w.len().max(1);
    let sums_signs = batch.sums_signs(v_kind, tilings);
    for (i, cell) in batch.touched.iter().enumerate() {
        if let Some(later) = cell_ahead(weights, batch.touched, i) {
            prefetch_rows(weights, later.start as usize, tilings);
        }
        let start = cell.start as usize;
        let w = &weights.w[start..][..tilings];
        sums.w[i] = w.iter().fold(0.0, |sum, &weight| sum + w_kind.value(weight));
        let rows = &weights.v[start * factors..][..tilings * factors];
        if sums_signs {
            let out = &mut sums.signs[i * factors..][..factors];
            for_blocks!(factors, |first| sum_signs::<_>(rows, first, out));
            continue;
        }
        let out = &mut sums.v[i * factors..][..factors];
        match v_kind {
            Kind::Sign => {
                for_blocks!(factors, |first| sum_floats::<_>(rows, first, out, Kind::Sign));
            }
            Kind::Float => {
                for_blocks!(factors, |first| sum_floats::<_>(rows, first, out, Kind::Float));
                sums.own[i] = sum_squares(rows) as f32;
            }
            Kind::Level => {
                for_blocks!(factors, |first| sum_floats::<_>(rows, first, out, Kind::Float));
                sums.own[i] = sum_squares(out) as f32;
            }
        }
    }
}

/// Sums the signs of N factors over rows.
#[inline(always)]
fn sum_signs<const N: usize>(rows: &[f32], first: usize, out: &mut [i8]) {
    let mut sums = [0_i32; N];
    for row in rows.chunks_exact(out.len()) {
        let row = &row[first..][..N];
        sums.iter_mut().zip(row).for_each(|(sum, &v)| *sum += 1 | v.to_bits() as i32 >> 31);
    }
    out[first..][..N].iter_mut().zip(sums).for_each(|(out, sum)| *out = sum as i8);
}

/// Sums N factors over rows.
#[inline(always)]
fn sum_floats<const N: usize>(rows: &[f32], first: usize, out: &mut [f32], kind: Kind) {
    let mut sums = [0.0; N];
    for row in rows.chunks_exact(out.len()) {
        let row = &row[first..][..N];
        sums.iter_mut().zip(row).for_each(|(sum, &v)| *sum += kind.value(v));
    }
    out[first..][..N].copy_from_slice(&sums);
}

/// See [`forward`](super::forward).
#[inline(always)]
pub fn forward(
    batch: Batch<'_>,
    cells: &CellSums,
    v_kind: Kind,
    tilings: usize,
    factors: usize,
    sums: &mut SampleSums,
) {
    let sums_signs = batch.sums_signs(v_kind, tilings);
    let (signs, v, s) = (&cells.signs[..], &cells.v[..], &mut sums.s[..]);
    for (sample, visits) in batch.samples().enumerate() {
        let s = &mut s[sample * factors..][..factors];
        let squares = if !sums_signs {
            add_floats(v, visits, s);
            sum_squares(s)
        } else if visits.of.len() * tilings <= MAX_SUM {
            let mut squares = 0;
            for_blocks!(factors, |first| add_signs::<_>(signs, visits.of, first, s, &mut squares));
            squares as f64
        } else {
            for_blocks!(factors, |first| add_many_signs::<_>(signs, visits.of, first, s));
            sum_squares(s)
        };
        let own = match v_kind {
            Kind::Float | Kind::Level => weighted_sum(&cells.own, visits, |x| x * x),
            Kind::Sign if visits.values.is_empty() => {
                (batch.active[sample] as usize * tilings * factors) as f64
            }
            Kind::Sign => {
                let squares = visits.values.iter().map(|&x| f64::from(x) * f64::from(x));
                squares.sum::<f64>() * (tilings * factors) as f64
            }
        };
        sums.terms[sample] = [weighted_sum(&cells.w, visits, |x| x), (squares - own) / 2.0];
    }
}

/// The largest sum of signs such that the squares of 32 of them add up in 32 bits.
const MAX_SUM: usize = 8191;

/// Adds up N factors of the cells of a sample: at most [`MAX_SUM`] signs. Adds their squares to `squares`.
#[inline(always)]
fn add_signs<const N: usize>(
    cells: &[i8],
    visited: &[u32],
    first: usize,
    s: &mut [f32],
    squares: &mut i64,
) {
    let factors = s.len();
    let mut sums = [0_i16; N];
    for &cell in visited {
        let signs = block::<N, _>(cells, cell, factors, first);
        sums.iter_mut().zip(signs).for_each(|(sum, &signs)| *sum += i16::from(signs));
    }
    s[first..][..N].iter_mut().zip(&sums).for_each(|(s, &sum)| *s = f32::from(sum));
    let square = |&sum: &i16| i32::from(sum) * i32::from(sum);
    *squares += i64::from(sums.iter().map(square).sum::<i32>());
}

/// Adds up N factors of the cells of a sample: any number of signs.
#[inline(always)]
fn add_many_signs<const N: usize>(cells: &[i8], visited: &[u32], first: usize, s: &mut [f32]) {
    let factors = s.len();
    let mut sums = [0_i32; N];
    for &cell in visited {
        let signs = block::<N, _>(cells, cell, factors, first);
        sums.iter_mut().zip(signs).for_each(|(sum, &signs)| *sum += i32::from(signs));
    }
    s[first..][..N].iter_mut().zip(&sums).for_each(|(s, &sum)| *s = sum as f32);
}

/// Adds up the factors of the cells of a sample, times their values if there are any.
#[inline(always)]
fn add_floats(cells: &[f32], visits: Visits<'_>, s: &mut [f32]) {
    let factors = s.len();
    if visits.values.is_empty() {
        for_blocks!(factors, |first| add_cells::<_>(cells, visits.of, first, s));
    } else {
        for_blocks!(factors, |first| add_scaled_cells::<_>(cells, visits, first, s));
    }
}

#[inline(always)]
fn add_cells<const N: usize>(cells: &[f32], visited: &[u32], first: usize, s: &mut [f32]) {
    let factors = s.len();
    let mut sums = [0.0; N];
    for &cell in visited {
        let cell = block::<N, _>(cells, cell, factors, first);
        sums.iter_mut().zip(cell).for_each(|(sum, &v)| *sum += v);
    }
    s[first..][..N].copy_from_slice(&sums);
}

#[inline(always)]
fn add_scaled_cells<const N: usize>(
    cells: &[f32],
    visits: Visits<'_>,
    first: usize,
    s: &mut [f32],
) {
    let factors = s.len();
    let mut sums = [0.0; N];
    for (&cell, &x) in visits.of.iter().zip(visits.values) {
        let cell = block::<N, _>(cells, cell, factors, first);
        sums.iter_mut().zip(cell).for_each(|(sum, &v)| *sum += x * v);
    }
    s[first..][..N].copy_from_slice(&sums);
}

/// Partial sums side by side, so that additions do not wait for each other. Their number decides the bits of the result.
const LANES: usize = 4;

/// Sums the numbers of the visited cells, times `factor(x)` if there are values.
#[inline(always)]
fn weighted_sum(numbers: &[f32], visits: Visits<'_>, factor: impl Fn(f64) -> f64) -> f64 {
    let number = |cell: u32| f64::from(numbers[cell as usize]);
    if !visits.values.is_empty() {
        let terms = visits.of.iter().zip(visits.values);
        return terms.map(|(&cell, &x)| factor(f64::from(x)) * number(cell)).sum();
    }
    let (chunks, rest) = visits.of.as_chunks::<LANES>();
    let mut sums = [0.0; LANES];
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += number(chunk[lane]);
        }
    }
    sums.iter().sum::<f64>() + rest.iter().map(|&cell| number(cell)).sum::<f64>()
}
