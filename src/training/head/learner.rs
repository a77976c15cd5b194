//! What every learner has: scales, an optimizer, and the passes forward and backward.

use crate::Result;
use crate::kernels::{Isa, RowWeights, Sample};
use crate::memory::filled;
use crate::model::RealScale;
use crate::training::{Optimizer, Params};

/// The scales of one output during training.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    /// Score of a sample without active features.
    pub bias: f64,
    /// α = mean |w̃|
    pub alpha: f64,
    /// β = mean |ṽ|
    pub beta: f64,
}

impl Scale {
    /// Returns the score of a sample with these L and Q.
    #[inline]
    pub fn score(self, [linear, pairs]: [f64; 2]) -> f64 {
        self.bias + self.alpha * linear + self.beta * self.beta * pairs
    }

    /// Returns the scales as a model uses them.
    pub fn real(self) -> RealScale {
        RealScale { bias: self.bias, alpha: self.alpha, beta_squared: self.beta * self.beta }
    }
}

/// The weights of one output under training, with their optimizer.
pub trait Learner: Sized + Send {
    /// What a finished model needs of them.
    type Kept: Default + Send + Sync;

    /// Starts with these weights; each start activates `tilings` rows.
    ///
    /// # Errors
    /// If there is not enough memory.
    fn new(init: RowWeights, tilings: usize, params: &Params, isa: Isa) -> Result<Self>;
    /// Returns the current scales.
    fn scale(&self) -> Scale;
    /// Sets the bias.
    fn set_bias(&mut self, bias: f64);
    /// Sets the learning rate.
    fn set_rate(&mut self, rate: f64);
    /// Recomputes the scales from the sizes of the weights.
    fn refresh(&mut self);
    /// Returns L and Q of a sample; [`Learner::step`] may follow.
    fn terms(&mut self, sample: Sample) -> [f64; 2];
    /// Moves the weights that were active in the last sample; `slope` is ℓ' there.
    fn step(&mut self, sample: Sample, slope: f64);
    /// Returns what a model made now would need.
    fn keep(&self) -> Self::Kept;
}

/// Initial value of Adagrad's squares, which keeps its first division finite.
const EPSILON: f32 = 1e-8;

/// Returns the initial squares of an optimizer; none for plain gradients.
pub(super) fn initial_squares(optimizer: Optimizer, weights: &RowWeights) -> Result<RowWeights> {
    Ok(match optimizer {
        Optimizer::Adagrad => RowWeights {
            w: filled(weights.w.len(), EPSILON)?,
            v: filled(weights.v.len(), EPSILON)?,
        },
        Optimizer::Sgd => RowWeights::default(),
    })
}

/// The optimizer of the bias.
pub(super) struct BiasStep {
    optimizer: Optimizer,
    squares: f64,
}

impl BiasStep {
    pub(super) fn new(optimizer: Optimizer) -> Self {
        Self { optimizer, squares: 0.0 }
    }

    /// Returns what to subtract from the bias.
    pub(super) fn step(&mut self, slope: f64, rate: f64) -> f64 {
        self.squares += slope * slope;
        match self.optimizer {
            Optimizer::Adagrad => rate * slope / (self.squares + f64::from(EPSILON)).sqrt(),
            Optimizer::Sgd => rate * slope,
        }
    }
}

/// Returns the mean of |x|: eight sums side by side, in an order that does not depend on the instruction set.
pub(super) fn mean_abs(numbers: &[f32]) -> f64 {
    let mut sums = [0.0_f64; 8];
    for eight in numbers.chunks(sums.len()) {
        sums.iter_mut().zip(eight).for_each(|(sum, number)| *sum += f64::from(number.abs()));
    }
    sums.iter().sum::<f64>() / numbers.len() as f64
}
