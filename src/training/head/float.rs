//! Weights of the methods in which not every weight is a bit.
//!
//! Forward and backward are those of a factorization machine; where factors are signs (DFM), each is used through its
//! sign with the scale β, and learned as in [`super::sign`].

use super::Head;
use super::learner::{BiasStep, Learner, Scale, initial_squares, mean_abs};
use crate::Result;
use crate::kernels::{self, FloatGradient, FloatRows, Isa, RowWeights, Sample};
use crate::model::FloatOutput;
use crate::training::Params;

/// The weights of one output and their optimizer.
pub struct FloatLearner {
    isa: Isa,
    weights: RowWeights,
    /// Empty for plain gradients.
    squares: RowWeights,
    sums: Vec<f32>,
    gradient: FloatGradient,
    scale: Scale,
    bias_step: BiasStep,
    scaling: bool,
    lambda_v: f64,
}

/// The weights of w and v.
#[derive(Clone, Debug, Default)]
pub struct KeptFloats {
    weights: RowWeights,
    /// Factors are used through their signs.
    signs: bool,
}

impl Learner for FloatLearner {
    type Kept = KeptFloats;

    fn new(init: RowWeights, tilings: usize, params: &Params, isa: Isa) -> Result<Self> {
        let gradient = FloatGradient {
            lambda_w: params.lambda_w as f32,
            factors: params.m,
            tilings,
            signs: params.method.has_sign_factors(),
            ..FloatGradient::default()
        };
        let mut learner = Self {
            isa,
            squares: initial_squares(params.optimizer, &init)?,
            weights: init,
            sums: vec![0.0; params.m],
            gradient,
            scale: Scale { bias: 0.0, alpha: 1.0, beta: 1.0 },
            bias_step: BiasStep::new(params.optimizer),
            scaling: params.scaling,
            lambda_v: params.lambda_v,
        };
        learner.refresh();
        Ok(learner)
    }

    fn scale(&self) -> Scale {
        self.scale
    }

    fn set_bias(&mut self, bias: f64) {
        self.scale.bias = bias;
    }

    fn set_rate(&mut self, rate: f64) {
        self.gradient.rate = rate as f32;
    }

    /// Sets β = mean |v| where factors are signs.
    fn refresh(&mut self) {
        if self.gradient.signs && self.scaling && !self.weights.v.is_empty() {
            self.scale.beta = mean_abs(&self.weights.v);
        }
    }

    fn terms(&mut self, sample: Sample) -> [f64; 2] {
        let Self { isa, weights, sums, gradient, .. } = self;
        let (m, tilings) = (gradient.factors, gradient.tilings);
        let rows = FloatRows { numbers: &weights.v, width: m, tilings };
        if gradient.signs {
            kernels::sum_float_signs(*isa, rows, sample, sums);
        } else {
            kernels::sum_floats(*isa, rows, sample, sums);
        }
        let (mut linear, mut own) = (0.0, 0.0);
        for (i, &start) in sample.starts.iter().enumerate() {
            let x = sample.values.get(i).map_or(1.0, |&value| f64::from(value));
            for row in (start as usize..).take(tilings) {
                linear += x * f64::from(weights.w[row]);
                let factors = &weights.v[row * m..][..m];
                let squares =
                    if gradient.signs { m as f64 } else { kernels::sum_squares(factors) };
                own += x * x * squares;
            }
        }
        [linear, (kernels::sum_squares(sums) - own) / 2.0]
    }

    fn step(&mut self, sample: Sample, slope: f64) {
        let beta = self.scale.beta;
        self.gradient.w = slope as f32;
        self.gradient.v = (slope * beta * beta) as f32;
        let own = if self.gradient.signs { beta } else { 1.0 };
        self.gradient.lambda_v = (self.lambda_v * own) as f32;
        let Self { isa, weights, squares, sums, gradient, .. } = self;
        kernels::step_floats(*isa, weights, squares, sample, sums, gradient);
        self.scale.bias -= self.bias_step.step(slope, f64::from(self.gradient.rate));
    }

    fn keep(&self) -> KeptFloats {
        KeptFloats { weights: self.weights.clone(), signs: self.gradient.signs }
    }
}

impl FloatLearner {
    /// Returns the weights.
    pub fn weights(&self) -> &RowWeights {
        &self.weights
    }
}

impl Head<FloatLearner> {
    /// Returns what the output has learned, in the units of the target.
    pub fn kept_output(&self) -> FloatOutput {
        let KeptFloats { weights, signs } = &self.kept;
        let (center, spread) = self.units;
        let (root, Scale { bias, alpha, beta }) = (spread.sqrt(), self.kept_scale);
        let own = if *signs { 1.0 } else { beta };
        let scaled = |numbers: &[f32], by: f64| {
            numbers.iter().map(|&number| (f64::from(number) * by) as f32).collect()
        };
        FloatOutput {
            bias: center + spread * bias,
            beta: root * beta,
            w: scaled(&weights.w, spread * alpha),
            v: scaled(&weights.v, root * own),
        }
    }
}
