//! The paper's Algorithm 1: straight-through gradients with Adagrad over the active rows.

mod data;
mod fit;
mod history;
mod latent;
mod loss;
mod machine;
pub mod params;
mod random;
mod start;

pub use data::{Examples, Targets};
pub use fit::{Request, Set};
pub use history::Epoch;
pub use latent::{Latent, Scale};
pub use machine::Machine;
pub use params::{Optimizer, Params};
pub use start::Start;

use crate::Result;
use crate::encoding::Encoder;
use crate::kernels::Isa;
use crate::model::{Labels, Model, Scales, SignRows};
use crate::threads::{Stop, Threads};
use history::History;
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
    params.check()?;
    let mut order = examples.counted_rows();
    let mut rng = random::stream(params.seed, random::SHUFFLE);
    let functions = 0..examples.targets.functions();
    let begin = |(): &mut (), function| Machine::new(&encoder, examples, function, params, run);
    let mut machines = run.threads.map(functions, || (), begin)?;
    let mut history = History::new(params, valid.is_some());
    for epoch in 1..=params.epochs {
        random::shuffle(&mut order, &mut rng);
        let losses = run.threads.map(
            &mut machines,
            || (),
            |(), machine: &mut Machine| machine.epoch(epoch, examples, &order, valid, run.stop),
        )?;
        let record = Epoch::mean(epoch, &losses);
        if history.push(record) {
            machines.iter_mut().for_each(Machine::keep);
        }
        if on_epoch(&record).is_break() || history.is_over() {
            break;
        }
    }
    let model = finish(encoder, &machines, labels, params)?;
    Ok(Trained { model, best_epoch: history.best(), history: history.into_records() })
}

/// The kept signs and scales of all score functions as a model.
fn finish(
    encoder: Encoder,
    machines: &[Machine],
    labels: Labels,
    params: &Params,
) -> Result<Model> {
    let rows = encoder.rows() as usize;
    let signs = SignRows::new(rows, machines.len(), params.m, |function, row, column| match column
        .checked_sub(1)
    {
        None => machines[function].kept_w(row),
        Some(factor) => machines[function].kept_v(row * params.m + factor),
    });
    let real: Vec<_> = machines.iter().map(Machine::kept_scale).collect();
    Model::new(encoder, signs, Scales::new(&real), params.loss, labels)
}
