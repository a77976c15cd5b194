//! Float weights: sums over the active rows forward, a step of each active weight backward.
//!
//! An active row has a value x: that of its feature, or 1 where the row stands for a bin or a category.

#[cfg(feature = "std")]
use super::steps::{Weights, positive};

/// What multiplies each part of a gradient.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, Default)]
pub struct RealPull {
    /// ℓ', of w.
    pub w: f32,
    /// ℓ'·β², of v; β is 1 where factors are floats.
    pub v: f32,
    /// Regularization of w.
    pub lambda_w: f32,
    /// Regularization of v, times β.
    pub lambda_v: f32,
    /// Learning rate.
    pub rate: f32,
    /// Number of factors m.
    pub factors: usize,
    /// Rows that a start activates.
    pub tilings: usize,
    /// Factors are used through their signs, and move while they are within [−1, 1].
    pub signs: bool,
}

/// Sums side by side, so that registers are filled; their number is part of the definition.
const LANES: usize = 8;

/// Float factors below this are zero; so small that their products are still ordinary numbers.
#[cfg(feature = "std")]
const NOTHING: f32 = 1e-12;

/// Σ x·v over the active rows for each of `width` columns; where `values` is empty, x is 1.
#[inline(always)]
pub fn sum_reals(
    numbers: &[f32],
    width: usize,
    tilings: usize,
    starts: &[u32],
    values: &[f32],
    sums: &mut [f32],
) {
    sum_used(numbers, width, tilings, starts, values, sums, |x, v| x * v);
}

/// The same with the signs of the numbers.
#[cfg(feature = "std")]
#[inline(always)]
pub fn sum_real_signs(
    numbers: &[f32],
    width: usize,
    tilings: usize,
    starts: &[u32],
    values: &[f32],
    sums: &mut [f32],
) {
    let signed = |x: f32, v: f32| if positive(v) { x } else { -x };
    sum_used(numbers, width, tilings, starts, values, sums, signed);
}

/// The sum over the active rows of what each number brings, times its row's value.
#[inline(always)]
fn sum_used(
    numbers: &[f32],
    width: usize,
    tilings: usize,
    starts: &[u32],
    values: &[f32],
    sums: &mut [f32],
    brings: impl Fn(f32, f32) -> f32,
) {
    sums.fill(0.0);
    for (i, &start) in starts.iter().enumerate() {
        let x = value(values, i);
        let rows = &numbers[start as usize * width..][..tilings * width];
        for row in rows.chunks_exact(width) {
            sums.iter_mut().zip(row).for_each(|(sum, &v)| *sum += brings(x, v));
        }
    }
}

/// Σ v²
#[inline(always)]
pub fn sum_squares(numbers: &[f32]) -> f64 {
    let square = |v: f32| f64::from(v) * f64::from(v);
    let mut sums = [0.0_f64; LANES];
    let eights = numbers.chunks_exact(LANES);
    let rest = eights.remainder();
    for eight in eights {
        sums.iter_mut().zip(eight).for_each(|(sum, &v)| *sum += square(v));
    }
    sums.iter_mut().zip(rest).for_each(|(sum, &v)| *sum += square(v));
    sums.iter().sum()
}

/// Move the active weights, by Adagrad where there are `squares` and else by the plain gradient.
///
/// ```text
/// g_w = ℓ'·x + λ1·w        g_v = ℓ'·β²·x·(s_f − x·v) + λ2·β·v
/// ```
#[cfg(feature = "std")]
#[inline(always)]
pub fn step_reals(
    weights: &mut Weights,
    squares: &mut Weights,
    starts: &[u32],
    values: &[f32],
    sums: &[f32],
    pull: &RealPull,
) {
    match (pull.signs, squares.w.is_empty()) {
        (false, false) => step_all::<false, true>(weights, squares, starts, values, sums, pull),
        (true, false) => step_all::<true, true>(weights, squares, starts, values, sums, pull),
        (false, true) => step_all::<false, false>(weights, squares, starts, values, sums, pull),
        (true, true) => step_all::<true, false>(weights, squares, starts, values, sums, pull),
    }
}

#[cfg(feature = "std")]
#[inline(always)]
fn step_all<const SIGNS: bool, const ADAGRAD: bool>(
    weights: &mut Weights,
    squares: &mut Weights,
    starts: &[u32],
    values: &[f32],
    sums: &[f32],
    pull: &RealPull,
) {
    let m = pull.factors;
    let mut none = [];
    for (i, &start) in starts.iter().enumerate() {
        let x = value(values, i);
        for row in (start as usize..).take(pull.tilings) {
            let w = &mut weights.w[row];
            let g = pull.w * x + pull.lambda_w * *w;
            let own = if ADAGRAD { Some(&mut squares.w[row]) } else { None };
            *w -= moved::<ADAGRAD>(g, own, pull.rate);
            let factors = &mut weights.v[row * m..][..m];
            let squares = if ADAGRAD { &mut squares.v[row * m..][..m] } else { &mut none[..] };
            step_factors::<SIGNS, ADAGRAD>(factors, squares, sums, x, pull);
        }
    }
}

#[cfg(feature = "std")]
#[inline(always)]
fn step_factors<const SIGNS: bool, const ADAGRAD: bool>(
    factors: &mut [f32],
    squares: &mut [f32],
    sums: &[f32],
    x: f32,
    pull: &RealPull,
) {
    let scale = pull.v * x;
    let gradient = |v: f32, sum: f32| {
        let used = if SIGNS { if positive(v) { 1.0 } else { -1.0 } } else { v };
        let g = scale * (sum - x * used) + pull.lambda_v * used;
        if SIGNS && v.abs() > 1.0 { 0.0 } else { g }
    };
    if ADAGRAD {
        for ((v, square), &sum) in factors.iter_mut().zip(squares).zip(sums) {
            *v = settled::<SIGNS>(*v - moved::<true>(gradient(*v, sum), Some(square), pull.rate));
        }
    } else {
        for (v, &sum) in factors.iter_mut().zip(sums) {
            *v = settled::<SIGNS>(*v - moved::<false>(gradient(*v, sum), None, pull.rate));
        }
    }
}

#[cfg(feature = "std")]
#[inline(always)]
fn moved<const ADAGRAD: bool>(gradient: f32, squares: Option<&mut f32>, rate: f32) -> f32 {
    match squares {
        Some(squares) if ADAGRAD => {
            *squares += gradient * gradient;
            rate * gradient / squares.sqrt()
        }
        _ => rate * gradient,
    }
}

/// A float factor that regularization has all but removed is zero: denormal numbers are slow, and say nothing more.
#[cfg(feature = "std")]
#[inline(always)]
fn settled<const SIGNS: bool>(v: f32) -> f32 {
    if !SIGNS && v.abs() < NOTHING { 0.0 } else { v }
}

#[inline(always)]
fn value(values: &[f32], i: usize) -> f32 {
    values.get(i).copied().unwrap_or(1.0)
}
