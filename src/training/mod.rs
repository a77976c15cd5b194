//! The paper's Algorithm 1: straight-through gradients with Adagrad over the active rows; and the same for floats.
#![allow(clippy::indexing_slicing)] // samples are those of the table, rows and outputs those of the heads

mod dropout;
mod ensemble;
mod examples;
#[cfg(test)]
mod fixture;
pub mod head;
mod heads;
mod history;
mod init;
mod loss;
mod params;
mod polish;
mod refit;
mod rng;
mod rule;
mod schedule;
mod softmax;
mod trainer;
mod visitors;

pub use examples::Examples;
pub use history::EpochReport;
pub use init::Init;
pub use params::{Description, Optimizer, Params, ValidParams};
pub use rule::Value;
pub use schedule::Schedule;
pub use trainer::{OnEpoch, Trained, Trainer};

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
