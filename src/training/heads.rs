//! The heads of all outputs and ensemble members, and passes over them.

use super::head::{FloatLearner, Head, HeadId, Learner, SignLearner};
use super::{Context, Examples, ValidParams, softmax};
use crate::Result;
use crate::encoding::Encoder;
use crate::model::{Loss, Method};

/// One head for each output of each member of the ensemble, output by output within a member; none before the first
/// pass.
pub enum Heads {
    /// Every weight is a bit.
    Sign(Vec<Head<SignLearner>>),
    /// Some or all weights are floats.
    Float(Vec<Head<FloatLearner>>),
}

/// What heads are initialized from.
#[derive(Clone, Copy)]
pub struct HeadInit<'a> {
    /// How samples are encoded.
    pub encoder: &'a Encoder,
    /// The samples.
    pub examples: &'a Examples<'a>,
    /// The parameters.
    pub params: &'a ValidParams,
    /// What is minimized.
    pub loss: Loss,
}

/// One pass over the samples.
#[derive(Clone, Copy)]
pub struct Pass<'a> {
    /// Factor of the learning rate.
    pub rate_factor: f64,
    /// The samples.
    pub examples: &'a Examples<'a>,
    /// The order in which to visit them.
    pub order: &'a [u32],
    /// Samples to evaluate on afterwards.
    pub valid: Option<&'a Examples<'a>>,
    /// Number of heads that learn from each other.
    pub together: usize,
}

impl Heads {
    /// Creates the heads of a method, without any yet.
    pub fn new(method: Method) -> Self {
        match method {
            Method::Bfm => Self::Sign(Vec::new()),
            Method::Sefm | Method::Dfm | Method::Fm => Self::Float(Vec::new()),
        }
    }

    /// Initializes the heads, if that has not been done; returns whether it has now.
    ///
    /// # Errors
    /// If there is not enough memory, or it is stopped.
    pub fn init(&mut self, outputs: usize, init: HeadInit, context: Context) -> Result<bool> {
        match self {
            Self::Sign(heads) if heads.is_empty() => *heads = init.heads(outputs, context)?,
            Self::Float(heads) if heads.is_empty() => *heads = init.heads(outputs, context)?,
            Self::Sign(_) | Self::Float(_) => return Ok(false),
        }
        Ok(true)
    }

    /// Makes a pass, and returns training and held-out loss of each group of heads.
    ///
    /// # Errors
    /// If it is stopped.
    pub fn run(&mut self, pass: Pass, context: Context) -> Result<Vec<(f64, Option<f64>)>> {
        match self {
            Self::Sign(heads) => pass.run(heads, context),
            Self::Float(heads) => pass.run(heads, context),
        }
    }

    /// Keeps the current weights and scales of all heads.
    pub fn keep(&mut self) {
        match self {
            Self::Sign(heads) => heads.iter_mut().for_each(Head::keep),
            Self::Float(heads) => heads.iter_mut().for_each(Head::keep),
        }
    }
}

impl HeadInit<'_> {
    fn heads<L: Learner>(self, outputs: usize, context: Context) -> Result<Vec<Head<L>>> {
        let Self { encoder, examples, params, loss } = self;
        let init = |(): &mut (), i| {
            let id = HeadId { output: i % outputs, member: i / outputs };
            Head::new(encoder, examples, id, loss, params, context)
        };
        context.threads.map(0..outputs * params.ensemble, || (), init)
    }
}

impl Pass<'_> {
    fn run<L: Learner>(
        self,
        heads: &mut [Head<L>],
        context: Context,
    ) -> Result<Vec<(f64, Option<f64>)>> {
        let Pass { rate_factor, examples, order, valid, together } = self;
        context.threads.map(
            heads.chunks_mut(together),
            || (),
            |(), heads: &mut [Head<L>]| match heads {
                [head] => head.epoch(rate_factor, examples, order, valid, context.stop),
                all => softmax::epoch(all, rate_factor, examples, order, valid, context.stop),
            },
        )
    }
}
