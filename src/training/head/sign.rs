//! Signs, learned by the real-valued proxies behind them.
//!
//! A parameter row has m + 1 proxies: w̃ and ṽ_1 … ṽ_m. Forward, each is used through its sign:
//!
//! ```text
//! score = bias + α·L + β²·Q      L = Σ w      Q = ½ ( Σ_f s_f² − nnz·m ),  s_f = Σ v_f     over the active rows
//! ```
//!
//! and backward as if the sign were not there, while the proxy is within [−1, 1]:
//!
//! ```text
//! g_w = ℓ'·α + λ1·α·w              g_v = ℓ'·β²·(s_f − v_f) + λ2·β·v_f
//! ```
//!
//! Both depend on the parameter only through its sign, so the kernels take the two cases.

use super::Head;
use super::learner::{BiasStep, Learner, Scale, initial_squares, mean_abs};
use crate::Result;
use crate::kernels::{self, Isa, RowWeights, Sample, SignGradient, SignSums};
use crate::memory::filled;
use crate::model::RealScale;
use crate::training::{Optimizer, Params};

/// The proxies of one output and their optimizer.
pub struct SignLearner {
    isa: Isa,
    proxies: RowWeights,
    squares: RowWeights,
    sums: Vec<f32>,
    gradient: SignGradient,
    scale: Scale,
    bias_step: BiasStep,
    scaling: bool,
    optimizer: Optimizer,
    lambda_w: f64,
    lambda_v: f64,
}

/// The signs of w and v, one bit each.
#[derive(Clone, Debug, Default)]
pub struct KeptSigns {
    rows: usize,
    w: Vec<u64>,
    factors: usize,
    v: Vec<u64>,
}

impl KeptSigns {
    /// Packs the signs of w and of m factors per row.
    fn new(w: &[f32], v: &[f32]) -> Self {
        let factors = v.len() / w.len().max(1);
        Self { rows: w.len(), w: pack(w), factors, v: pack(v) }
    }
}

/// Packs signs into bits; a set one is +1.
fn pack(proxies: &[f32]) -> Vec<u64> {
    let word = |proxies: &[f32]| {
        let bit = |&proxy: &f32| u64::from(kernels::is_positive(proxy));
        proxies.iter().rev().fold(0, |bits, proxy| bits << 1 | bit(proxy))
    };
    proxies.chunks(64).map(word).collect()
}

fn bit(words: &[u64], index: usize) -> bool {
    words[index / 64] >> (index % 64) & 1 == 1
}

impl Learner for SignLearner {
    type Kept = KeptSigns;

    fn new(init: RowWeights, tilings: usize, params: &Params, isa: Isa) -> Result<Self> {
        let squares = initial_squares(params.optimizer, &init)?;
        let m = params.factors_per_member();
        let tile = vec![0.0; tilings * m];
        let gradient = SignGradient {
            plus: tile.clone(),
            minus: tile.clone(),
            factors: m,
            ..SignGradient::default()
        };
        let mut learner = Self {
            isa,
            proxies: init,
            squares,
            sums: tile,
            gradient,
            scale: Scale { bias: 0.0, alpha: 1.0, beta: 1.0 },
            bias_step: BiasStep::new(params.optimizer),
            scaling: params.scaling,
            optimizer: params.optimizer,
            lambda_w: params.lambda_w,
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

    /// Sets α = mean |w̃| and β = mean |ṽ|.
    fn refresh(&mut self) {
        if self.scaling && !self.proxies.w.is_empty() {
            self.scale.alpha = mean_abs(&self.proxies.w);
            self.scale.beta = mean_abs(&self.proxies.v);
        }
    }

    fn terms(&mut self, sample: Sample) -> [f64; 2] {
        let Self { isa, proxies, gradient, sums, .. } = self;
        let SignSums { linear, squares } =
            kernels::sum_signs(*isa, proxies, sample.starts, gradient.factors, sums);
        let active = (sample.starts.len() * self.sums.len()) as f64;
        [linear, (squares - active) / 2.0]
    }

    fn step(&mut self, sample: Sample, slope: f64) {
        self.set_gradient(slope);
        let Self { isa, proxies, squares, gradient, .. } = self;
        match self.optimizer {
            Optimizer::Adagrad => {
                kernels::adagrad(*isa, proxies, squares, sample.starts, gradient);
            }
            Optimizer::Sgd => kernels::sgd(*isa, proxies, sample.starts, gradient),
        }
        self.scale.bias -= self.bias_step.step(slope, f64::from(self.gradient.rate));
    }

    fn keep(&self) -> KeptSigns {
        KeptSigns::new(&self.proxies.w, &self.proxies.v)
    }
}

impl SignLearner {
    /// Returns the proxies.
    pub fn proxies(&self) -> &RowWeights {
        &self.proxies
    }

    /// Sets the gradients, which are the same for each of the rows that a start activates.
    fn set_gradient(&mut self, slope: f64) {
        let Scale { alpha, beta, .. } = self.scale;
        let (all, own) = ((slope * alpha) as f32, (self.lambda_w * alpha) as f32);
        self.gradient.w = [all + own, all - own];
        let factor = (slope * beta * beta) as f32;
        let own = factor - (self.lambda_v * beta) as f32;
        let SignGradient { plus, minus, factors, .. } = &mut self.gradient;
        for ((plus, minus), sum) in plus.iter_mut().zip(&mut *minus).zip(&self.sums[..*factors]) {
            (*plus, *minus) = (factor * sum - own, factor * sum + own);
        }
        for lane in (*factors..plus.len()).step_by(*factors) {
            plus.copy_within(..*factors, lane);
            minus.copy_within(..*factors, lane);
        }
    }
}

impl Head<SignLearner> {
    /// Returns whether the kept sign of w is +1.
    pub fn kept_w(&self, row: usize) -> bool {
        bit(&self.kept.w, row)
    }

    /// Returns whether a kept sign of v is +1; `index` counts through all rows.
    pub fn kept_v(&self, index: usize) -> bool {
        bit(&self.kept.v, index)
    }

    /// Returns the kept signs of w and v, ±1.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn kept_signs(&self) -> Result<(Vec<f32>, Vec<f32>)> {
        let KeptSigns { rows, factors, .. } = self.kept;
        let (mut w, mut v) = (filled(rows, -1.0)?, filled(rows * factors, -1.0)?);
        (0..w.len()).filter(|&row| self.kept_w(row)).for_each(|row| w[row] = 1.0);
        (0..v.len()).filter(|&index| self.kept_v(index)).for_each(|index| v[index] = 1.0);
        Ok((w, v))
    }

    /// Keeps other signs and scales instead.
    pub fn keep_signs(&mut self, w: &[f32], v: &[f32], scale: Scale) {
        self.kept = KeptSigns::new(w, v);
        self.kept_scale = scale;
    }

    /// Returns scales in the units of the target.
    pub fn in_target_units(&self, scale: Scale) -> RealScale {
        let RealScale { bias, alpha, beta_squared } = scale.real();
        let (center, spread) = self.units;
        RealScale {
            bias: center + spread * bias,
            alpha: spread * alpha,
            beta_squared: spread * beta_squared,
        }
    }
}
