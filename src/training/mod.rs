//! The paper's Algorithm 1: straight-through gradients with Adagrad over the active rows; and the same for floats.
#![allow(clippy::indexing_slicing)] // samples are those of the table, rows and outputs those of the heads

mod balance;
mod batch;
mod batches;
mod centers;
mod cholesky;
mod columns;
mod cost;
mod dropout;
mod encoded;
mod ensemble;
mod examples;
#[cfg(test)]
mod fixture;
mod head;
mod heads;
mod history;
mod init;
mod kept;
pub mod learner;
mod levels;
mod linear;
mod loss;
mod parabolas;
mod params;
mod pass;
mod polish;
mod quiet;
mod refit;
mod rng;
mod round;
mod rows;
mod rule;
mod schedule;
mod screening;
mod selection;
mod softmax;
pub mod state;
mod trainer;
mod training_set;
mod visitors;

pub use centers::centers;
pub use cost::cost;
pub use encoded::{EncodedSamples, StoredSamples, encode_part};
pub use examples::Examples;
pub use history::{EpochReport, HeldOut};
pub use init::Init;
pub use loss::Objective;
pub use params::{Description, Optimizer, Params, ValidParams};
pub use rule::Value;
pub use schedule::Schedule;
pub use selection::{Choice, choose};
pub use trainer::{OnEpoch, Trained, Trainer};
pub use training_set::TrainingSet;

use crate::kernels::Isa;
use crate::threads::{Stop, Threads};

/// Where to run, and the flag that stops it.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    /// Threads to use.
    pub threads: &'a Threads,
    /// Instruction set.
    pub isa: Isa,
    /// Stops the work.
    pub stop: &'a Stop,
}
