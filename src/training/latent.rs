//! The real-valued proxies behind the signs.
//!
//! A parameter row has m + 1 proxies: w̃ and ṽ_1 … ṽ_m. Forward, each is used through its sign:
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
//! Both depend on the parameter by its sign alone: the kernels take the two cases.

use super::{Optimizer, Params};
use crate::Result;
use crate::error::filled;
use crate::kernels::{self, Isa, Pull, Sums, Weights};
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
    /// The score of a row with these L and Q.
    #[inline]
    pub fn score(self, [linear, pairs]: [f64; 2]) -> f64 {
        self.bias + self.alpha * linear + self.beta * self.beta * pairs
    }

    /// As the model uses them.
    pub fn real(self) -> Real {
        Real { bias: self.bias, alpha: self.alpha, beta_squared: self.beta * self.beta }
    }
}

/// Where the squares of Adagrad begin: keeps its first division finite.
const EPSILON: f32 = 1e-8;

/// The proxies of one score function and their optimizer.
pub struct Latent {
    isa: Isa,
    proxies: Weights,
    squares: Weights,
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
    /// Begin with these proxies; each start activates `tilings` rows.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(proxies: Weights, tilings: usize, params: &Params, isa: Isa) -> Result<Self> {
        let squares = match params.optimizer {
            Optimizer::Adagrad => Weights {
                w: filled(proxies.w.len(), EPSILON)?,
                v: filled(proxies.v.len(), EPSILON)?,
            },
            Optimizer::Sgd => Weights::default(),
        };
        let tile = vec![0.0; tilings * params.m];
        let mut latent = Self {
            isa,
            proxies,
            squares,
            sums: tile.clone(),
            pull: Pull { plus: tile.clone(), minus: tile, factors: params.m, ..Pull::default() },
            scale: Scale { bias: 0.0, alpha: 1.0, beta: 1.0 },
            bias_squares: 0.0,
            scaling: params.scaling,
            optimizer: params.optimizer,
            lambda_w: params.lambda_w,
            lambda_v: params.lambda_v,
        };
        latent.refresh();
        Ok(latent)
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

    /// The proxies.
    pub fn proxies(&self) -> &Weights {
        &self.proxies
    }

    /// α = mean |w̃| and β = mean |ṽ|.
    pub fn refresh(&mut self) {
        if self.scaling && !self.proxies.w.is_empty() {
            self.scale.alpha = mean_size(&self.proxies.w);
            self.scale.beta = mean_size(&self.proxies.v);
        }
    }

    /// L and Q of a row of data; [`Latent::step`] may follow.
    pub fn terms(&mut self, starts: &[u32]) -> [f64; 2] {
        let Sums { linear, squares } =
            kernels::sum_signs(self.isa, &self.proxies, starts, self.pull.factors, &mut self.sums);
        let active = (starts.len() * self.sums.len()) as f64;
        [linear, (squares - active) / 2.0]
    }

    /// The score of a row of data; [`Latent::step`] may follow.
    pub fn score(&mut self, starts: &[u32]) -> f64 {
        let terms = self.terms(starts);
        self.scale.score(terms)
    }

    /// Move what was active in the row that was scored last; `slope` is ℓ' there.
    pub fn step(&mut self, starts: &[u32], slope: f64) {
        self.aim(slope);
        let Self { isa, proxies, squares, pull, .. } = self;
        match self.optimizer {
            Optimizer::Adagrad => kernels::adagrad(*isa, proxies, squares, starts, pull),
            Optimizer::Sgd => kernels::sgd(*isa, proxies, starts, pull),
        }
        self.step_bias(slope);
    }

    /// Set the gradients, the same for each of the rows that a start activates.
    fn aim(&mut self, slope: f64) {
        let Scale { alpha, beta, .. } = self.scale;
        let (all, own) = ((slope * alpha) as f32, (self.lambda_w * alpha) as f32);
        self.pull.w = [all + own, all - own];
        let factor = (slope * beta * beta) as f32;
        let own = factor - (self.lambda_v * beta) as f32;
        let Pull { plus, minus, factors, .. } = &mut self.pull;
        for ((plus, minus), sum) in plus.iter_mut().zip(&mut *minus).zip(&self.sums[..*factors]) {
            (*plus, *minus) = (factor * sum - own, factor * sum + own);
        }
        for lane in (*factors..plus.len()).step_by(*factors) {
            plus.copy_within(..*factors, lane);
            minus.copy_within(..*factors, lane);
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

/// The mean of |x|: eight sums side by side, in an order that does not depend on the instruction set.
pub(super) fn mean_size(numbers: &[f32]) -> f64 {
    let mut sums = [0.0_f64; 8];
    for eight in numbers.chunks(sums.len()) {
        sums.iter_mut().zip(eight).for_each(|(sum, number)| *sum += f64::from(number.abs()));
    }
    sums.iter().sum::<f64>() / numbers.len() as f64
}
