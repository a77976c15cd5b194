//! Training of signs: sums of the signs of the active rows, and steps of their proxies.

use super::float_sum::sum_squares;
use super::floats::Floats;
use super::weights::{RowWeights, is_positive};
use alloc::vec::Vec;

/// The gradient of each active parameter for one sample. It depends on the parameter only through its sign.
#[derive(Clone, Debug, Default)]
pub struct SignGradient {
    /// Gradient of a w whose sign is +, and of one whose sign is −.
    pub w: [f32; 2],
    /// Gradients of factors whose sign is +: m for each of the rows that a start activates.
    pub plus: Vec<f32>,
    /// Gradients of factors whose sign is −.
    pub minus: Vec<f32>,
    /// Learning rate.
    pub rate: f32,
    /// Number of factors m.
    pub factors: usize,
}

/// Sums over the active rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignSums {
    /// Σ w
    pub linear: f64,
    /// Σ s² over the factors, where s is the sum of a factor's signs. Exact, as all terms are whole numbers.
    pub squares: f64,
}

impl SignGradient {
    /// Returns the number of consecutive rows that a start activates.
    #[inline(always)]
    pub fn tilings(&self) -> usize {
        self.plus.len() / self.factors
    }
}

/// Factors whose sums stay in registers.
const BLOCK: usize = 32;
/// Proxies of w that are gathered for one pass over registers.
const GATHERED: usize = 32;

/// See [`sum_signs`](super::sum_signs).
#[inline(always)]
pub fn sum_signs(
    weights: &RowWeights,
    starts: &[u32],
    factors: usize,
    sums: &mut [f32],
) -> SignSums {
    for (i, sums) in sums.chunks_mut(BLOCK).enumerate() {
        if let Ok(sums) = <&mut [f32; BLOCK]>::try_from(&mut *sums) {
            *sums = sum_block(&weights.v, factors, starts, i * BLOCK);
            continue;
        }
        let (eights, rest) = sums.as_chunks_mut::<8>();
        for (j, sums) in eights.iter_mut().enumerate() {
            *sums = sum_block(&weights.v, factors, starts, i * BLOCK + 8 * j);
        }
        for (j, sum) in rest.iter_mut().enumerate() {
            [*sum] = sum_block(&weights.v, factors, starts, i * BLOCK + 8 * eights.len() + j);
        }
    }
    let tilings = sums.len() / factors;
    let (total, others) = sums.split_at_mut(factors);
    for other in others.chunks_exact(factors) {
        total.iter_mut().zip(other).for_each(|(total, sum)| *total += sum);
    }
    let negative = match tilings {
        1 => count_negative::<1>(&weights.w, starts),
        2 => count_negative::<2>(&weights.w, starts),
        4 => count_negative::<4>(&weights.w, starts),
        _ => starts.iter().map(|start| negatives(&weights.w[*start as usize..][..tilings])).sum(),
    };
    let linear = (starts.len() * tilings) as f64 - 2.0 * f64::from(negative);
    SignSums { linear, squares: sum_squares(total) }
}

#[inline(always)]
fn negatives(proxies: &[f32]) -> u32 {
    proxies.iter().map(|proxy| proxy.to_bits() >> 31).sum()
}

/// Counts the negative w, with the number of tilings known at compile time.
#[inline(always)]
fn count_negative<const T: usize>(w: &[f32], starts: &[u32]) -> u32 {
    starts.iter().map(|&start| negatives(&w[start as usize..][..T])).sum()
}

/// Sums the signs of N factors from factor `first` on: the number of rows minus twice the number of negative signs.
#[inline(always)]
fn sum_block<const N: usize>(v: &[f32], factors: usize, starts: &[u32], first: usize) -> [f32; N] {
    let mut negative = [0_u32; N];
    for &start in starts {
        let proxies = &v[start as usize * factors + first..][..N];
        for (negative, proxy) in negative.iter_mut().zip(proxies) {
            *negative += proxy.to_bits() >> 31;
        }
    }
    negative.map(|negative| (starts.len() as i32 - 2 * negative as i32) as f32)
}

/// See [`adagrad`](super::adagrad).
///
/// # Safety
/// The CPU must have the instructions of `F`.
#[inline(always)]
pub unsafe fn adagrad<F: Floats>(
    weights: &mut RowWeights,
    squares: &mut RowWeights,
    starts: &[u32],
    gradient: &SignGradient,
) {
    let (w, w_squares) = (&mut weights.w[..], &mut squares.w[..]);
    // SAFETY: the caller guarantees the instructions of `F`.
    unsafe {
        adagrad_factors::<F>(&mut weights.v, &mut squares.v, starts, gradient);
        match gradient.tilings() {
            1 => adagrad_linear::<F, 1>(w, w_squares, starts, gradient),
            2 => adagrad_linear::<F, 2>(w, w_squares, starts, gradient),
            4 => adagrad_linear::<F, 4>(w, w_squares, starts, gradient),
            tilings => {
                let ([plus, minus], rate) = (gradient.w, gradient.rate);
                for row in starts.iter().flat_map(|&start| (start as usize..).take(tilings)) {
                    adagrad_step(&mut w[row..], &mut w_squares[row..], plus, minus, rate);
                }
            }
        }
    }
}

/// Updates the factors of all active rows.
///
/// # Safety
/// The CPU must have the instructions of `F`.
#[inline(always)]
unsafe fn adagrad_factors<F: Floats>(
    v: &mut [f32],
    squares: &mut [f32],
    starts: &[u32],
    gradient: &SignGradient,
) {
    let tile = gradient.plus.len();
    let whole = tile - tile % F::LANES;
    let (plus, last_plus) = gradient.plus.split_at(whole);
    let (minus, last_minus) = gradient.minus[..tile].split_at(whole);
    for &start in starts {
        let first = start as usize * gradient.factors;
        let (proxies, last_proxies) = v[first..][..tile].split_at_mut(whole);
        let (squares, last_squares) = squares[first..][..tile].split_at_mut(whole);
        let lanes = proxies.chunks_exact_mut(F::LANES).zip(squares.chunks_exact_mut(F::LANES));
        let gradients = plus.chunks_exact(F::LANES).zip(minus.chunks_exact(F::LANES));
        // SAFETY: the caller guarantees the instructions of `F`.
        unsafe {
            for ((proxies, squares), (plus, minus)) in lanes.zip(gradients) {
                let (plus, minus) = (F::load(plus), F::load(minus));
                adagrad_step(proxies, squares, plus, minus, F::splat(gradient.rate));
            }
            for (i, (&plus, &minus)) in last_plus.iter().zip(last_minus).enumerate() {
                let (proxies, squares) = (&mut last_proxies[i..], &mut last_squares[i..]);
                adagrad_step(proxies, squares, plus, minus, gradient.rate);
            }
        }
    }
}

/// Updates the w of all active rows. The w of several starts are gathered to fill registers, with the number of tilings
/// known at compile time.
///
/// # Safety
/// The CPU must have the instructions of `F`.
#[inline(always)]
unsafe fn adagrad_linear<F: Floats, const T: usize>(
    w: &mut [f32],
    squares: &mut [f32],
    starts: &[u32],
    gradient: &SignGradient,
) {
    for starts in starts.chunks(GATHERED / T) {
        let (mut proxies, mut sums) = ([0.0; GATHERED], [1.0; GATHERED]);
        for (i, &start) in starts.iter().enumerate() {
            proxies[i * T..][..T].copy_from_slice(&w[start as usize..][..T]);
            sums[i * T..][..T].copy_from_slice(&squares[start as usize..][..T]);
        }
        let lanes = proxies.chunks_exact_mut(F::LANES).zip(sums.chunks_exact_mut(F::LANES));
        for (proxies, sums) in lanes.take((starts.len() * T).div_ceil(F::LANES)) {
            // SAFETY: the caller guarantees the instructions of `F`.
            unsafe {
                let [plus, minus] = [F::splat(gradient.w[0]), F::splat(gradient.w[1])];
                adagrad_step(proxies, sums, plus, minus, F::splat(gradient.rate));
            }
        }
        for (i, &start) in starts.iter().enumerate() {
            w[start as usize..][..T].copy_from_slice(&proxies[i * T..][..T]);
            squares[start as usize..][..T].copy_from_slice(&sums[i * T..][..T]);
        }
    }
}

/// Updates as many proxies as `F` holds: squares += g², proxies −= rate · g / √squares. The gradient g is the
/// straight-through one, zero where the proxy has left [−1, 1].
///
/// # Safety
/// The CPU must have the instructions of `F`.
#[inline(always)]
unsafe fn adagrad_step<F: Floats>(
    proxies: &mut [f32],
    squares: &mut [f32],
    plus: F,
    minus: F,
    rate: F,
) {
    // SAFETY: the caller guarantees the instructions of `F`.
    unsafe {
        let proxy = F::load(proxies);
        let gradient = proxy.select_by_sign(plus, minus).where_within_one(proxy);
        let square = F::load(squares).add(gradient.mul(gradient));
        square.store(squares);
        proxy.sub(rate.mul(gradient).div(square.sqrt())).store(proxies);
    }
}

/// See [`sgd`](super::sgd).
#[inline(always)]
pub fn sgd(weights: &mut RowWeights, starts: &[u32], gradient: &SignGradient) {
    let tile = gradient.plus.len();
    let step = |proxy: &mut f32, plus: f32, minus: f32| {
        let g = if is_positive(*proxy) { plus } else { minus };
        *proxy -= gradient.rate * if proxy.abs() <= 1.0 { g } else { 0.0 };
    };
    for &start in starts {
        let first = start as usize * gradient.factors;
        let proxies = weights.v[first..][..tile].iter_mut();
        for (proxy, (&plus, &minus)) in proxies.zip(gradient.plus.iter().zip(&gradient.minus)) {
            step(proxy, plus, minus);
        }
        for proxy in &mut weights.w[start as usize..][..gradient.tilings()] {
            step(proxy, gradient.w[0], gradient.w[1]);
        }
    }
}
