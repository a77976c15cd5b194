//! Training: the signs of the active rows forward, a step of their proxies backward.

use alloc::vec::Vec;
/// One number for each w and each v of a score function: proxies, or sums of their squared gradients.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Weights {
    /// One a parameter row.
    pub w: Vec<f32>,
    /// m a parameter row.
    pub v: Vec<f32>,
}

/// What one row of data does to each active parameter: the gradient, which depends on the parameter by its sign alone.
#[derive(Clone, Debug, Default)]
pub struct Pull {
    /// Gradient of a w whose sign is +, and of one whose sign is −.
    pub w: [f32; 2],
    /// Gradients of the factors whose sign is +: m for each of the rows that a start activates.
    pub plus: Vec<f32>,
    /// Of those whose sign is −.
    pub minus: Vec<f32>,
    /// Learning rate.
    pub rate: f32,
    /// Number of factors m.
    pub factors: usize,
}

/// What is summed over the active rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sums {
    /// Σ w
    pub linear: f64,
    /// Σ s² over the factors, s being the sum of a factor's signs. Exact, as all numbers here are whole.
    pub squares: f64,
}

impl Pull {
    /// Rows that a start activates.
    #[inline(always)]
    pub fn tilings(&self) -> usize {
        self.plus.len() / self.factors
    }
}

/// Several numbers in a register, worked on one by one; a plain `f32` is the definition.
///
/// As with [`Vector`](super::vector::Vector), functions may be called only where the CPU has the instructions.
pub trait Floats: Copy {
    /// How many there are.
    const LANES: usize;

    /// The same number everywhere.
    fn splat(number: f32) -> Self;
    /// The first [`Floats::LANES`] of a slice.
    fn load(numbers: &[f32]) -> Self;
    /// Into the first of a slice.
    fn store(self, numbers: &mut [f32]);
    /// +
    fn add(self, other: Self) -> Self;
    /// −
    fn sub(self, other: Self) -> Self;
    /// ·
    fn mul(self, other: Self) -> Self;
    /// /
    fn div(self, other: Self) -> Self;
    /// √, correctly rounded
    fn sqrt(self) -> Self;
    /// `plus` where the sign is +, `minus` where it is −.
    fn choose(self, plus: Self, minus: Self) -> Self;
    /// 0 where `size` is not within [−1, 1].
    fn if_within_one(self, size: Self) -> Self;
}

impl Floats for f32 {
    const LANES: usize = 1;

    #[inline(always)]
    fn splat(number: f32) -> Self {
        number
    }

    #[inline(always)]
    fn load(numbers: &[f32]) -> Self {
        numbers[0]
    }

    #[inline(always)]
    fn store(self, numbers: &mut [f32]) {
        numbers[0] = self;
    }

    #[inline(always)]
    fn add(self, other: Self) -> Self {
        self + other
    }

    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        self - other
    }

    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        self * other
    }

    #[inline(always)]
    fn div(self, other: Self) -> Self {
        self / other
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        f32::sqrt(self)
    }

    #[inline(always)]
    fn choose(self, plus: Self, minus: Self) -> Self {
        if positive(self) { plus } else { minus }
    }

    #[inline(always)]
    fn if_within_one(self, size: Self) -> Self {
        if size.abs() <= 1.0 { self } else { 0.0 }
    }
}

/// The bit of a float that is its sign.
pub const SIGN: u32 = 1 << 31;
/// Factors whose sums stay in registers.
const SUMS: usize = 32;
/// Proxies of w that are moved together.
const TOGETHER: usize = 32;

/// Whether the sign of a proxy is +1; that of 0 is.
#[inline(always)]
pub fn positive(proxy: f32) -> bool {
    proxy.to_bits() & SIGN == 0
}

/// Σ w and Σ s²; the sums s of the factors are the first m of `sums`. A start activates `sums.len() / m` rows, which lie
/// side by side and are summed apart first.
#[inline(always)]
pub fn sum_signs(weights: &Weights, starts: &[u32], factors: usize, sums: &mut [f32]) -> Sums {
    for (i, sums) in sums.chunks_mut(SUMS).enumerate() {
        if let Ok(sums) = <&mut [f32; SUMS]>::try_from(&mut *sums) {
            *sums = sum_block(&weights.v, factors, starts, i * SUMS);
            continue;
        }
        let (eights, rest) = sums.as_chunks_mut::<8>();
        for (j, sums) in eights.iter_mut().enumerate() {
            *sums = sum_block(&weights.v, factors, starts, i * SUMS + 8 * j);
        }
        for (j, sum) in rest.iter_mut().enumerate() {
            [*sum] = sum_block(&weights.v, factors, starts, i * SUMS + 8 * eights.len() + j);
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
    Sums { linear, squares: sum_squares(total) }
}

#[inline(always)]
fn negatives(proxies: &[f32]) -> u32 {
    proxies.iter().map(|proxy| proxy.to_bits() >> 31).sum()
}

/// With a number of grids that the compiler knows.
#[inline(always)]
fn count_negative<const T: usize>(w: &[f32], starts: &[u32]) -> u32 {
    starts.iter().map(|&start| negatives(&w[start as usize..][..T])).sum()
}

/// In eight sums side by side.
#[inline(always)]
fn sum_squares(numbers: &[f32]) -> f64 {
    let mut sums = [0.0_f64; 8];
    let (eights, rest) = numbers.as_chunks::<8>();
    for eight in eights {
        for (sum, &number) in sums.iter_mut().zip(eight) {
            *sum += f64::from(number) * f64::from(number);
        }
    }
    for (sum, &number) in sums.iter_mut().zip(rest) {
        *sum += f64::from(number) * f64::from(number);
    }
    sums.iter().sum()
}

/// Sums of the factors from `at` on: each is the number of rows less twice that of the negative ones.
#[inline(always)]
fn sum_block<const N: usize>(v: &[f32], factors: usize, starts: &[u32], at: usize) -> [f32; N] {
    let mut negative = [0_u32; N];
    for &start in starts {
        let proxies = &v[start as usize * factors + at..][..N];
        for (negative, proxy) in negative.iter_mut().zip(proxies) {
            *negative += proxy.to_bits() >> 31;
        }
    }
    negative.map(|negative| (starts.len() as i32 - 2 * negative as i32) as f32)
}

/// Adagrad: squares += g²; proxies −= rate · g / √squares, as many as `F` holds. Squares begin above zero. The gradient is
/// the straight-through one, cut to zero where the proxy has left [−1, 1].
#[inline(always)]
fn adagrad_step<F: Floats>(proxies: &mut [f32], squares: &mut [f32], plus: F, minus: F, rate: F) {
    let proxy = F::load(proxies);
    let gradient = proxy.choose(plus, minus).if_within_one(proxy);
    let square = F::load(squares).add(gradient.mul(gradient));
    square.store(squares);
    proxy.sub(rate.mul(gradient).div(square.sqrt())).store(proxies);
}

/// A step of Adagrad for all that is active.
#[inline(always)]
pub fn adagrad<F: Floats>(
    weights: &mut Weights,
    squares: &mut Weights,
    starts: &[u32],
    pull: &Pull,
) {
    let tile = pull.plus.len();
    let whole = tile - tile % F::LANES;
    let (plus, last_plus) = pull.plus.split_at(whole);
    let (minus, last_minus) = pull.minus[..tile].split_at(whole);
    for &start in starts {
        let first = start as usize * pull.factors;
        let (proxies, last_proxies) = weights.v[first..][..tile].split_at_mut(whole);
        let (sums, last_sums) = squares.v[first..][..tile].split_at_mut(whole);
        let lanes = proxies.chunks_exact_mut(F::LANES).zip(sums.chunks_exact_mut(F::LANES));
        let pulls = plus.chunks_exact(F::LANES).zip(minus.chunks_exact(F::LANES));
        for ((proxies, sums), (plus, minus)) in lanes.zip(pulls) {
            adagrad_step(proxies, sums, F::load(plus), F::load(minus), F::splat(pull.rate));
        }
        for (i, (&plus, &minus)) in last_plus.iter().zip(last_minus).enumerate() {
            adagrad_step(&mut last_proxies[i..], &mut last_sums[i..], plus, minus, pull.rate);
        }
    }
    let (w, squares) = (&mut weights.w[..], &mut squares.w[..]);
    match pull.tilings() {
        1 => adagrad_linear::<F, 1>(w, squares, starts, pull),
        2 => adagrad_linear::<F, 2>(w, squares, starts, pull),
        4 => adagrad_linear::<F, 4>(w, squares, starts, pull),
        tilings => {
            for row in starts.iter().flat_map(|&start| (start as usize..).take(tilings)) {
                adagrad_step(&mut w[row..], &mut squares[row..], pull.w[0], pull.w[1], pull.rate);
            }
        }
    }
}

/// The w of several starts, brought together to fill registers, with a number of grids that the compiler knows.
#[inline(always)]
fn adagrad_linear<F: Floats, const T: usize>(
    w: &mut [f32],
    squares: &mut [f32],
    starts: &[u32],
    pull: &Pull,
) {
    let [plus, minus] = pull.w.map(F::splat);
    for starts in starts.chunks(TOGETHER / T) {
        let (mut proxies, mut sums) = ([0.0; TOGETHER], [1.0; TOGETHER]);
        for (i, &start) in starts.iter().enumerate() {
            proxies[i * T..][..T].copy_from_slice(&w[start as usize..][..T]);
            sums[i * T..][..T].copy_from_slice(&squares[start as usize..][..T]);
        }
        let lanes = proxies.chunks_exact_mut(F::LANES).zip(sums.chunks_exact_mut(F::LANES));
        for (proxies, sums) in lanes.take((starts.len() * T).div_ceil(F::LANES)) {
            adagrad_step(proxies, sums, plus, minus, F::splat(pull.rate));
        }
        for (i, &start) in starts.iter().enumerate() {
            w[start as usize..][..T].copy_from_slice(&proxies[i * T..][..T]);
            squares[start as usize..][..T].copy_from_slice(&sums[i * T..][..T]);
        }
    }
}

/// Plain gradient descent: proxy −= rate · g.
#[inline(always)]
pub fn sgd(weights: &mut Weights, starts: &[u32], pull: &Pull) {
    let tile = pull.plus.len();
    let step = |proxy: &mut f32, plus: f32, minus: f32| {
        *proxy -= pull.rate * proxy.choose(plus, minus).if_within_one(*proxy);
    };
    for &start in starts {
        let first = start as usize * pull.factors;
        let proxies = weights.v[first..][..tile].iter_mut();
        for (proxy, (&plus, &minus)) in proxies.zip(pull.plus.iter().zip(&pull.minus)) {
            step(proxy, plus, minus);
        }
        for proxy in &mut weights.w[start as usize..][..pull.tilings()] {
            step(proxy, pull.w[0], pull.w[1]);
        }
    }
}
