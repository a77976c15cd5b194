//! A small dataset and heads trained on it, for the tests of this folder.

use super::batches::Batches;
use super::head::{Head, HeadId, Plan};
use super::learner::Pace;
use super::pass::{Pass, Task, Worker};
use super::rows::Rows;
use super::{Context, EncodedSamples, Examples, Params};
use crate::Result;
use crate::data::{Dataset, Labels, Matrix, Schema, Table, Target};
use crate::encoding::Encoder;
use crate::kernels::Isa;
use crate::threads::{Stop, Threads};
use std::sync::Arc;

/// Samples of two features, whose class depends on both.
pub struct Fixture {
    pub encoder: Encoder,
    samples: EncodedSamples<'static>,
}

impl Fixture {
    /// Creates 2,000 samples of `classes` classes, encoded with b bins and T tilings.
    pub fn new(class: impl Fn(&[f32]) -> f64, classes: usize, [b, t]: [usize; 2]) -> Result<Self> {
        let x: Vec<f32> =
            (0..4000).map(|i| ((i * 7919 + 13) % 2003) as f32 / 1001.5 - 1.0).collect();
        let target = Target::classes(&x.chunks_exact(2).map(class).collect::<Vec<_>>(), classes)?;
        let matrix = Matrix::new(&x, 2);
        let dataset = Dataset { table: Table::Dense(&matrix), target, weight: None };
        let schema = Schema::numeric(Labels::counting(classes)?);
        let encoding = Params { b, tilings: t, ..Params::default() }.encoding();
        let (threads, stop) = (Threads::single(), Stop::default());
        let encoder = Encoder::fit(&dataset, &schema, &encoding, &threads, &stop)?;
        let context = Context { threads: &threads, isa: Isa::detect()?, stop: &stop };
        let samples = EncodedSamples::new(&encoder, "X", &dataset, context)?.into_owned()?;
        Ok(Self { encoder, samples })
    }

    /// Returns the samples.
    pub fn examples(&self) -> Examples<'_> {
        self.samples.examples()
    }

    /// Returns a head after some passes.
    pub fn trained(&self, id: HeadId, params: Params, passes: usize) -> Result<Head> {
        let (threads, stop) = (Threads::single(), Stop::default());
        let context = Context { threads: &threads, isa: Isa::detect()?, stop: &stop };
        let examples = &self.examples();
        let (objective, rate) = (params.objective(), params.learning_rate);
        let (params, rows) = (params.check()?, Arc::new(Rows::new(&self.encoder)?));
        let plan = Plan { encoder: &self.encoder, params: &params, objective, rows: &rows, strength: None };
        let mut head = Head::new(plan, examples, id, context)?;
        let (is_softmax, isa) = (false, context.isa);
        let pace = Pace { rate, holds_linear: false };
        let pass = Pass { examples, pace, is_softmax, isa, stop: &stop };
        let shards = examples.shards(1)?;
        let batches = Batches::new(examples, &shards, 1)?;
        for pass_number in 0..passes {
            let task = Task { rules: &head.rules, state: &mut head.state };
            let order = batches.order(0, 0, pass_number as u64)?;
            Worker::default().learn(&mut [task], pass, &batches, &order, None)?;
            head.end_pass()?;
        }
        head.keep(None, None, context)?;
        Ok(head)
    }
}
