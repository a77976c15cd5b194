//! Training steps of float weights.

use super::float_sum::Sample;
use super::weights::{RowWeights, is_positive};

/// What a gradient is computed from, besides the weights and the sums of the factors.
#[derive(Clone, Copy, Debug, Default)]
pub struct FloatGradient {
    /// ℓ', for w.
    pub w: f32,
    /// ℓ'·β², for v; β is 1 where factors are floats.
    pub v: f32,
    /// Regularization of w.
    pub lambda_w: f32,
    /// Regularization of v, times β.
    pub lambda_v: f32,
    /// Learning rate.
    pub rate: f32,
    /// Number of factors m.
    pub factors: usize,
    /// Consecutive rows that a start activates.
    pub tilings: usize,
    /// Whether factors are used through their signs; they move only while they are within [−1, 1].
    pub signs: bool,
}

/// Float factors smaller than this become zero. Products of two factors above it are still normal numbers.
const TINY: f32 = 1e-12;

/// See [`step_floats`](super::step_floats).
#[inline(always)]
pub fn step_floats(
    weights: &mut RowWeights,
    squares: &mut RowWeights,
    sample: Sample,
    sums: &[f32],
    gradient: &FloatGradient,
) {
    match (gradient.signs, squares.w.is_empty()) {
        (false, false) => step_rows::<false, true>(weights, squares, sample, sums, gradient),
        (true, false) => step_rows::<true, true>(weights, squares, sample, sums, gradient),
        (false, true) => step_rows::<false, false>(weights, squares, sample, sums, gradient),
        (true, true) => step_rows::<true, false>(weights, squares, sample, sums, gradient),
    }
}

#[inline(always)]
fn step_rows<const SIGNS: bool, const ADAGRAD: bool>(
    weights: &mut RowWeights,
    squares: &mut RowWeights,
    sample: Sample,
    sums: &[f32],
    gradient: &FloatGradient,
) {
    let m = gradient.factors;
    for (start, x) in sample.active() {
        for row in (start..).take(gradient.tilings) {
            let w = &mut weights.w[row];
            let g = gradient.w * x + gradient.lambda_w * *w;
            let square = if ADAGRAD { Some(&mut squares.w[row]) } else { None };
            *w -= change::<ADAGRAD>(g, square, gradient.rate);
            let factors = &mut weights.v[row * m..][..m];
            let squares = if ADAGRAD { &mut squares.v[row * m..][..m] } else { &mut [] };
            step_factors::<SIGNS, ADAGRAD>(factors, squares, sums, x, gradient);
        }
    }
}

/// Updates the factors of one row.
#[inline(always)]
fn step_factors<const SIGNS: bool, const ADAGRAD: bool>(
    factors: &mut [f32],
    squares: &mut [f32],
    sums: &[f32],
    x: f32,
    gradient: &FloatGradient,
) {
    let FloatGradient { lambda_v, rate, .. } = *gradient;
    let scale = gradient.v * x;
    let g = |v: f32, sum: f32| {
        let used = if SIGNS { if is_positive(v) { 1.0 } else { -1.0 } } else { v };
        let g = scale * (sum - x * used) + lambda_v * used;
        if SIGNS && v.abs() > 1.0 { 0.0 } else { g }
    };
    if ADAGRAD {
        for ((v, square), &sum) in factors.iter_mut().zip(squares).zip(sums) {
            *v = without_tiny::<SIGNS>(*v - change::<true>(g(*v, sum), Some(square), rate));
        }
    } else {
        for (v, &sum) in factors.iter_mut().zip(sums) {
            *v = without_tiny::<SIGNS>(*v - change::<false>(g(*v, sum), None, rate));
        }
    }
}

/// Returns what is subtracted from a weight, after adding g² to its sum of squares.
#[inline(always)]
fn change<const ADAGRAD: bool>(g: f32, square: Option<&mut f32>, rate: f32) -> f32 {
    match square {
        Some(square) if ADAGRAD => {
            *square += g * g;
            rate * g / square.sqrt()
        }
        _ => rate * g,
    }
}

/// Rounds float factors that regularization has all but removed to zero: subnormal numbers are slow and change nothing.
#[inline(always)]
fn without_tiny<const SIGNS: bool>(v: f32) -> f32 {
    if !SIGNS && v.abs() < TINY { 0.0 } else { v }
}
