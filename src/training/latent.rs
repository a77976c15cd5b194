//! The real-valued proxies behind the signs.
//!
//! A parameter row has m + 1 proxies: w̃ and then ṽ_1 … ṽ_m. Forward, each is used through its sign:
//!
//! ```text
//! score = bias + α·L + β²·Q      L = Σ w      Q = ½ ( Σ_f s_f² − nnz·m ),  s_f = Σ v_f     over the active rows
//! ```
//!
//! and backward as if the sign were not there, as long as the proxy is within [−1, 1]:
//!
//! ```text
//! g_w = ℓ'·α + λ1·α·w              g_v = ℓ'·β²·(s_f − v_f) + λ2·β·v_f
//! ```
//!
//! Both have the form `base` − `own`·sign, which is what the kernels take.

use super::{Optimizer, Params};
use crate::kernels::{self, Isa, Pull};
use crate::model::Real;

/// The scales of one score function while it learns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Score of a row without active features.
    pub bias: f64,
    /// α = mean |w̃|
    pub alpha: f64,
    /// β = mean |ṽ|
    pub beta: f64,
}

impl Scale {
    /// As the model uses them.
    pub fn real(self) -> Real {
        Real { bias: self.bias, alpha: self.alpha, beta_squared: self.beta * self.beta }
    }
}

/// Keeps the first division of Adagrad finite.
const EPSILON: f32 = 1e-8;

/// The proxies of one score function and their optimizer.
pub struct Latent {
    isa: Isa,
    columns: usize,
    proxies: Vec<f32>,
    squares: Vec<f32>,
    sums: Vec<f32>,
    pull: Pull,
    scale: Scale,
    bias_squares: f64,
    scaling: bool,
    optimizer: Optimizer,
    lambda_w: f64,
    lambda_v: f64,
}

impl Latent {
    /// Begin with these proxies, `params.m` + 1 a row; each start activates `tilings` rows.
    pub fn new(proxies: Vec<f32>, tilings: usize, params: &Params, isa: Isa) -> Self {
        let columns = params.m + 1;
        let squares = match params.optimizer {
            Optimizer::Adagrad => vec![0.0; proxies.len()],
            Optimizer::Sgd => Vec::new(),
        };
        let tile = vec![0.0; tilings * columns];
        let mut latent = Self {
            isa,
            columns,
            proxies,
            squares,
            sums: tile.clone(),
            pull: Pull { base: tile.clone(), own: tile, rate: 0.0, epsilon: EPSILON },
            scale: Scale { bias: 0.0, alpha: 1.0, beta: 1.0 },
            bias_squares: 0.0,
            scaling: params.scaling,
            optimizer: params.optimizer,
            lambda_w: params.lambda_w,
            lambda_v: params.lambda_v,
        };
        latent.refresh();
        latent
    }

    /// The scales now in use.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// Set the bias.
    pub fn set_bias(&mut self, bias: f64) {
        self.scale.bias = bias;
    }

    /// Set the learning rate.
    pub fn set_rate(&mut self, rate: f64) {
        self.pull.rate = rate as f32;
    }

    /// The proxies, m + 1 a row.
    pub fn proxies(&self) -> &[f32] {
        &self.proxies
    }

    /// α = mean |w̃| and β = mean |ṽ|.
    pub fn refresh(&mut self) {
        if !self.scaling || self.proxies.is_empty() {
            return;
        }
        let mut sums = vec![0.0_f64; self.columns];
        for row in self.proxies.chunks_exact(self.columns) {
            sums.iter_mut().zip(row).for_each(|(sum, &proxy)| *sum += f64::from(proxy.abs()));
        }
        let rows = (self.proxies.len() / self.columns) as f64;
        let factors: f64 = sums[1..].iter().sum();
        self.scale.alpha = sums[0] / rows;
        self.scale.beta = factors / (rows * (self.columns - 1) as f64);
    }

    /// The score of a row of data; [`Latent::step`] may follow.
    pub fn score(&mut self, starts: &[u32]) -> f64 {
        kernels::sum_signs(self.isa, &self.proxies, self.columns, starts, &mut self.sums);
        let tilings = self.sums.len() / self.columns;
        let (total, others) = self.sums.split_at_mut(self.columns);
        for other in others.chunks_exact(self.columns) {
            total.iter_mut().zip(other).for_each(|(total, sum)| *total += sum);
        }
        let squares: i64 =
            total[1..].iter().map(|&sum| i64::from(sum as i32) * i64::from(sum as i32)).sum();
        let active = (starts.len() * tilings * (self.columns - 1)) as i64;
        let pairs = (squares - active) as f64 / 2.0;
        let Real { bias, alpha, beta_squared } = self.scale.real();
        bias + alpha * f64::from(total[0]) + beta_squared * pairs
    }

    /// Move what was active in the row that was scored last; `slope` is ℓ' there.
    pub fn step(&mut self, starts: &[u32], slope: f64) {
        self.aim(slope);
        let Self { isa, columns, proxies, squares, pull, .. } = self;
        match self.optimizer {
            Optimizer::Adagrad => kernels::adagrad(*isa, proxies, squares, *columns, starts, pull),
            Optimizer::Sgd => kernels::sgd(*isa, proxies, *columns, starts, pull),
        }
        self.step_bias(slope);
    }

    /// Set `base` and `own` of every column, the same for each of the rows that a start activates.
    fn aim(&mut self, slope: f64) {
        let Scale { alpha, beta, .. } = self.scale;
        let factor = (slope * beta * beta) as f32;
        let own = factor - (self.lambda_v * beta) as f32;
        for (base, sum) in self.pull.base[..self.columns].iter_mut().zip(&self.sums) {
            *base = factor * sum;
        }
        self.pull.own[..self.columns].fill(own);
        self.pull.base[0] = (slope * alpha) as f32;
        self.pull.own[0] = -(self.lambda_w * alpha) as f32;
        for lane in (self.columns..self.pull.base.len()).step_by(self.columns) {
            self.pull.base.copy_within(..self.columns, lane);
            self.pull.own.copy_within(..self.columns, lane);
        }
    }

    fn step_bias(&mut self, slope: f64) {
        let rate = f64::from(self.pull.rate);
        self.bias_squares += slope * slope;
        self.scale.bias -= match self.optimizer {
            Optimizer::Adagrad => rate * slope / (self.bias_squares + f64::from(EPSILON)).sqrt(),
            Optimizer::Sgd => rate * slope,
        };
    }
}
