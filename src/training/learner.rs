//! How an output learns from a batch.
//!
//! A parameter row has m + 1 weights: w and v_1 … v_m. Each is used as its value, a sign or the number itself:
//!
//! ```text
//! score = bias + α·L + β²·Q      L = Σ x·w      Q = ½ ( Σ_f s_f² − Σ x²·v² ),  s_f = Σ x·v_f     over the active rows
//! ```
//!
//! and learned as if the sign were not there, while its proxy is within [−1, 1] (straight through). A batch adds up the
//! gradients of its samples and then takes one step with every row that it touched; a batch of one sample is the paper's
//! Algorithm 1.

use super::quiet::Quiet;
use super::state::State;
use super::{Optimizer, Params};
use crate::Result;
use crate::kernels::{self, Batch, CellGradients, CellSums, Isa, Kind, SampleSums, Step};
use crate::model::Method;

/// The rules by which a state changes; it has none of its own.
#[derive(Debug)]
pub struct Learner {
    isa: Isa,
    factors: usize,
    tilings: usize,
    /// What w and v are used as.
    kinds: [Kind; 2],
    scaling: bool,
    optimizer: Optimizer,
    /// L2 penalties of w and v, where nothing pulls towards rest.
    lambda: [f64; 2],
    quiet: Option<Quiet>,
}

/// How far a step goes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// Learning rate.
    pub rate: f64,
    /// Whether w and the bias stay, because they are solved.
    pub holds_linear: bool,
}

/// Buffers of one output for one batch.
#[derive(Debug, Default)]
pub struct Workspace {
    cells: CellSums,
    samples: SampleSums,
    gradients: CellGradients,
}

/// How much faster numbers learn than proxies of signs.
const LEVEL_RATE: f64 = 5.0 / 3.0;
/// Samples over which the mean of Q is taken, about.
const MEAN_SAMPLES: f64 = 1000.0;

/// Initial sums of Adagrad, in mean squared gradients of a visit.
const FIRST_SUMS: f64 = 10.0;

impl Workspace {
    /// Returns L and Q of each sample of the last batch.
    pub fn terms(&self) -> &[[f64; 2]] {
        &self.samples.terms
    }
}

impl Learner {
    /// Creates the rules that the parameters ask for; each cell activates `tilings` rows.
    pub fn new(params: &Params, tilings: usize, quiet: Option<Quiet>, isa: Isa) -> Self {
        let has_levels = quiet.as_ref().is_some_and(|quiet| quiet.strength().levels.is_some());
        let kinds = match params.method {
            Method::Bfm if has_levels => [Kind::Float, Kind::Level],
            Method::Bfm if params.w_bits == 1 => [Kind::Sign; 2],
            Method::Bfm | Method::Dfm => [Kind::Float, Kind::Sign],
            Method::Sefm | Method::Fm => [Kind::Float; 2],
        };
        Self {
            isa,
            factors: params.factors_per_member(),
            tilings,
            kinds,
            scaling: params.scaling,
            optimizer: params.optimizer,
            lambda: [params.lambda_w, params.lambda_v],
            quiet,
        }
    }

    /// Returns a copy.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(&self) -> Result<Self> {
        Ok(Self { quiet: self.quiet.as_ref().map(Quiet::copied).transpose()?, ..*self })
    }

    /// Returns the pull towards rest.
    pub fn quiet(&self) -> Option<&Quiet> {
        self.quiet.as_ref()
    }

    /// Returns the pull towards rest.
    pub fn quiet_mut(&mut self) -> Option<&mut Quiet> {
        self.quiet.as_mut()
    }

    /// Starts Adagrad's sums from the gradients of a first batch, so that rare rows do not take a full step at their
    /// first visit. `slopes` are ℓ' of its samples.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn start_sums(
        &self,
        state: &mut State,
        batch: Batch,
        slopes: &[f32],
        workspace: &mut Workspace,
    ) -> Result<()> {
        let Some(quiet) = &self.quiet else { return Ok(()) };
        let Workspace { cells, samples, gradients } = workspace;
        gradients.make_room(batch.touched.len(), self.factors)?;
        let alone = self.has_levels().then_some(&*cells);
        kernels::backward(self.isa, batch, &mut samples.s, slopes, self.factors, alone, gradients);
        let (step, pull) = (self.step(state, Pace::default()), quiet.pull());
        let means = kernels::gradient_squares(
            self.isa, &state.weights, batch.touched, gradients, step, pull,
        );
        let [w, v] = means.map(|mean| ((FIRST_SUMS * mean) as f32).max(f32::MIN_POSITIVE));
        state.squares.w.fill(w);
        state.squares.v.fill(v);
        Ok(())
    }

    /// Returns whether factors are numbers that will be rounded.
    pub fn has_levels(&self) -> bool {
        self.kinds[1] == Kind::Level
    }

    /// Returns what w is used as.
    pub fn w_kind(&self) -> Kind {
        self.kinds[0]
    }

    /// Recomputes the scales of signs, α = mean |w̃| and β = mean |ṽ|.
    pub fn refresh(&self, state: &mut State) {
        if !self.scaling || state.weights.w.is_empty() {
            return;
        }
        if self.kinds[0] == Kind::Sign {
            state.scale.alpha = kernels::mean_size(self.isa, &state.weights.w);
        }
        if self.kinds[1] == Kind::Sign {
            let loudness = self.quiet.as_ref().map_or(1.0, |quiet| quiet.strength().pairs);
            let before = state.scale.beta * state.scale.beta;
            state.scale.beta = loudness * kernels::mean_size(self.isa, &state.weights.v);
            if self.quiet.is_some() {
                // The mean score stays.
                let after = state.scale.beta * state.scale.beta;
                state.scale.bias -= (after - before) * state.mean_pairs;
            }
        }
    }

    /// Computes L and Q of each sample of a batch; [`Learner::backward`] may follow.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn forward(&self, state: &State, batch: Batch, workspace: &mut Workspace) -> Result<()> {
        let Self { isa, factors, tilings, kinds, .. } = *self;
        let Workspace { cells, samples, .. } = workspace;
        cells.make_room(batch.touched.len(), factors)?;
        samples.make_room(batch.len(), factors)?;
        kernels::sum_cells(isa, &state.weights, kinds, tilings, batch, cells);
        kernels::forward(isa, batch, cells, kinds[1], tilings, factors, samples);
        Ok(())
    }

    /// Takes a step with the rows of the last forward batch; `slopes` are ℓ' of its samples.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn backward(
        &self,
        state: &mut State,
        batch: Batch,
        slopes: &[f32],
        pace: Pace,
        workspace: &mut Workspace,
    ) -> Result<()> {
        let Workspace { cells, samples, gradients } = workspace;
        let pairs = samples.terms.iter().map(|[_, pairs]| pairs - state.mean_pairs);
        state.mean_pairs += pairs.sum::<f64>() / MEAN_SAMPLES.max(batch.len() as f64);
        gradients.make_room(batch.touched.len(), self.factors)?;
        let alone = self.has_levels().then_some(&*cells);
        kernels::backward(self.isa, batch, &mut samples.s, slopes, self.factors, alone, gradients);
        let step = self.step(state, pace);
        let State { weights, squares, .. } = state;
        let pull = self.quiet.as_ref().map(Quiet::pull);
        kernels::step(self.isa, weights, squares, batch.touched, gradients, step, pull);
        if !pace.holds_linear {
            self.step_bias(state, slopes, pace.rate);
        }
        Ok(())
    }

    fn step(&self, state: &State, pace: Pace) -> Step {
        let (alpha, beta) = (state.scale.alpha, state.scale.beta);
        // The T rows of a cell move together.
        let share = if self.has_levels() { LEVEL_RATE / self.tilings as f64 } else { 1.0 };
        Step {
            rate: (share * pace.rate) as f32,
            alpha: alpha as f32,
            pair_scale: if self.quiet.is_some() { beta } else { beta * beta } as f32,
            decay: [(self.lambda[0] * alpha) as f32, (self.lambda[1] * beta) as f32],
            kinds: self.kinds,
            tilings: self.tilings,
            holds_w: pace.holds_linear,
        }
    }

    fn step_bias(&self, state: &mut State, slopes: &[f32], rate: f64) {
        let slope: f64 = slopes.iter().copied().map(f64::from).sum();
        state.bias_squares += slope * slope;
        state.scale.bias -= match self.optimizer {
            Optimizer::Adagrad => rate * slope / state.bias_squares.sqrt(),
            Optimizer::Sgd => rate * slope,
        };
    }
}
