//! The weights of the methods in which not all is bits, under training.
//!
//! Forward and backward are those of a factorization machine; where factors are signs (DFM) each is used through its
//! sign, with the scale β, and moves as in [`super::latent`].

use super::latent::mean_size;
use super::{Optimizer, Params, Scale};
use crate::Result;
use crate::error::filled;
use crate::kernels::{self, Isa, RealPull, Weights};

/// Where the squares of Adagrad begin: keeps its first division finite.
const EPSILON: f32 = 1e-8;

/// The weights of one score function and their optimizer.
pub struct RealLatent {
    isa: Isa,
    weights: Weights,
    /// Empty for plain gradients.
    squares: Weights,
    sums: Vec<f32>,
    pull: RealPull,
    scale: Scale,
    bias_squares: f64,
    scaling: bool,
    lambda_v: f64,
}

impl RealLatent {
    /// Begin with these weights; each start activates `tilings` rows.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn new(weights: Weights, tilings: usize, params: &Params, isa: Isa) -> Result<Self> {
        let squares = match params.optimizer {
            Optimizer::Adagrad => {
                let squares = |count| filled(count, EPSILON);
                Weights { w: squares(weights.w.len())?, v: squares(weights.v.len())? }
            }
            Optimizer::Sgd => Weights::default(),
        };
        let pull = RealPull {
            lambda_w: params.lambda_w as f32,
            factors: params.m,
            tilings,
            signs: params.method.has_signs(),
            ..RealPull::default()
        };
        let mut latent = Self {
            isa,
            weights,
            squares,
            sums: vec![0.0; params.m],
            pull,
            scale: Scale { bias: 0.0, alpha: 1.0, beta: 1.0 },
            bias_squares: 0.0,
            scaling: params.scaling,
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

    /// The weights.
    pub fn weights(&self) -> &Weights {
        &self.weights
    }

    /// β = mean |v| where factors are signs.
    pub fn refresh(&mut self) {
        if self.pull.signs && self.scaling && !self.weights.v.is_empty() {
            self.scale.beta = mean_size(&self.weights.v);
        }
    }

    /// L and Q of a row of data; [`RealLatent::step`] may follow.
    pub fn terms(&mut self, starts: &[u32], values: &[f32]) -> [f64; 2] {
        let Self { isa, weights, sums, pull, .. } = self;
        let (m, tilings) = (pull.factors, pull.tilings);
        if pull.signs {
            kernels::sum_real_signs(*isa, &weights.v, m, tilings, starts, values, sums);
        } else {
            kernels::sum_reals(*isa, &weights.v, m, tilings, starts, values, sums);
        }
        let (mut linear, mut own) = (0.0, 0.0);
        for (i, &start) in starts.iter().enumerate() {
            let x = values.get(i).map_or(1.0, |&value| f64::from(value));
            for row in (start as usize..).take(tilings) {
                linear += x * f64::from(weights.w[row]);
                let factors = &weights.v[row * m..][..m];
                own += x * x * if pull.signs { m as f64 } else { kernels::sum_squares(factors) };
            }
        }
        [linear, (kernels::sum_squares(sums) - own) / 2.0]
    }

    /// The score of a row of data; [`RealLatent::step`] may follow.
    pub fn score(&mut self, starts: &[u32], values: &[f32]) -> f64 {
        let terms = self.terms(starts, values);
        self.scale.score(terms)
    }

    /// Move what was active in the row that was scored last; `slope` is ℓ' there.
    pub fn step(&mut self, starts: &[u32], values: &[f32], slope: f64) {
        let beta = self.scale.beta;
        self.pull.w = slope as f32;
        self.pull.v = (slope * beta * beta) as f32;
        self.pull.lambda_v = (self.lambda_v * if self.pull.signs { beta } else { 1.0 }) as f32;
        let Self { isa, weights, squares, sums, pull, .. } = self;
        kernels::step_reals(*isa, weights, squares, starts, values, sums, pull);
        let rate = f64::from(self.pull.rate);
        self.bias_squares += slope * slope;
        self.scale.bias -= if self.squares.w.is_empty() {
            rate * slope
        } else {
            rate * slope / (self.bias_squares + f64::from(EPSILON)).sqrt()
        };
    }
}
