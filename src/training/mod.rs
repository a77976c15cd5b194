//! The paper's Algorithm 1: straight-through gradients with Adagrad over the active rows; and the same for floats.
#![allow(clippy::indexing_slicing)] // rows are those of the table, functions those of the machine

mod data;
mod dropout;
mod ensemble;
#[cfg(test)]
mod example;
mod fit;
mod history;
mod latent;
mod learner;
mod loss;
mod machine;
pub mod params;
mod polish;
mod random;
mod reals;
mod refit;
mod sample;
mod softmax;
mod start;
mod trainer;

pub use data::{Examples, Targets};
pub use fit::{Request, Set};
pub use history::Epoch;
pub use latent::{Latent, Scale};
pub use learner::Learner;
pub use machine::Machine;
pub use params::{Optimizer, Params};
pub use reals::RealLatent;
pub use start::Start;
pub use trainer::{Course, Log, Trainer};

use crate::Result;
use crate::encoding::Encoder;
use crate::kernels::Isa;
use crate::model::{Labels, Model};
use crate::threads::{Stop, Threads};
use std::ops::ControlFlow;

/// What training gives.
pub struct Trained {
    /// The model of the best epoch.
    pub model: Model,
    /// A record of each epoch.
    pub history: Vec<Epoch>,
    /// The epoch whose model it is, counted from 1.
    pub best_epoch: usize,
}

/// Where to run and when to end.
#[derive(Clone, Copy)]
pub struct Run<'a> {
    /// Threads for the score functions.
    pub threads: &'a Threads,
    /// Instruction set.
    pub isa: Isa,
    /// Ends the work at once.
    pub stop: &'a Stop,
}

/// Told of each epoch; may end training after it.
pub type OnEpoch<'a> = dyn FnMut(&Epoch) -> ControlFlow<()> + 'a;

/// Train one score function a target on the same examples, side by side.
///
/// # Errors
/// If the parameters are not accepted, the model would be too large, or it is stopped.
pub fn train(
    encoder: Encoder,
    examples: &Examples,
    valid: Option<&Examples>,
    labels: Labels,
    params: &Params,
    run: Run,
    on_epoch: &mut OnEpoch,
) -> Result<Trained> {
    let mut trainer = Trainer::new(encoder, examples.targets, labels, params.clone())?;
    let log = trainer.go_on(examples, valid, Course::of(params), run, on_epoch)?;
    Ok(Trained { model: trainer.model()?, history: log.history, best_epoch: log.best_epoch })
}
