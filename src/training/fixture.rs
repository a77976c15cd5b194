//! A small dataset and heads trained on it, for the tests of this folder.

use super::head::{Head, HeadId, SignLearner};
use super::{Context, Examples, Params};
use crate::Result;
use crate::data::{Dataset, Labels, Matrix, Schema, Table, Target};
use crate::encoding::{Encoder, PackedTable};
use crate::kernels::Isa;
use crate::threads::{Stop, Threads};

/// Samples of two features, whose class depends on both.
pub struct Fixture {
    pub encoder: Encoder,
    target: Target,
    table: PackedTable,
}

impl Fixture {
    /// Creates 2,000 samples of `classes` classes, encoded with b bins and T tilings.
    pub fn new(class: impl Fn(&[f32]) -> f64, classes: usize, [b, t]: [usize; 2]) -> Result<Self> {
        let x: Vec<f32> =
            (0..4000).map(|i| ((i * 7919 + 13) % 2003) as f32 / 1001.5 - 1.0).collect();
        let target = Target::classes(&x.chunks_exact(2).map(class).collect::<Vec<_>>(), classes);
        let matrix = Matrix::new(&x, 2);
        let dataset = Dataset { table: Table::Dense(&matrix), target, weight: None };
        let schema = Schema::numeric(Labels::counting(classes));
        let encoding = Params { b, tilings: t, ..Params::default() }.encoding();
        let (threads, stop) = (Threads::single(), Stop::default());
        let encoder = Encoder::fit(&dataset, &schema, &encoding, &threads, &stop)?;
        let table = PackedTable::new(&encoder, Isa::detect()?, dataset.table, &threads, &stop)?;
        Ok(Self { encoder, target: dataset.target, table })
    }

    /// Returns the samples.
    pub fn examples(&self) -> Examples<'_> {
        Examples::all(&self.table, &self.target, None)
    }

    /// Returns a head after some passes.
    pub fn trained(&self, id: HeadId, params: Params, passes: usize) -> Result<Head<SignLearner>> {
        let (threads, stop) = (Threads::single(), Stop::default());
        let context = Context { threads: &threads, isa: Isa::detect()?, stop: &stop };
        let examples = self.examples();
        let loss = params.loss;
        let mut head = Head::new(&self.encoder, &examples, id, loss, &params.check()?, context)?;
        for _ in 0..passes {
            head.epoch(1.0, &examples, &examples.samples, None, &stop)?;
        }
        head.keep();
        Ok(head)
    }
}
