//! From a table and targets to a trained model: encode, hold out, train.

use super::{Examples, OnEpoch, Params, Run, Targets, Trained, train};
use crate::Result;
use crate::encoding::{Cells, Encoder, EncodingParams, Rows, Table};
use crate::model::Labels;

/// A table with what is wanted of it.
pub struct Set<'a> {
    /// The rows.
    pub table: Table<'a>,
    /// What the score functions shall say of them.
    pub targets: Targets,
    /// Weight of each; None is 1.
    pub weight: Option<&'a [f64]>,
}

impl Set<'_> {
    /// How to encode such rows.
    ///
    /// # Errors
    /// If something is not accepted, or it is stopped.
    pub fn encoder(&self, params: &EncodingParams, run: Run) -> Result<Encoder> {
        params.check()?;
        let rows = Rows { table: self.table, truth: self.targets.truth(), weight: self.weight };
        Encoder::fit(rows, params, run.threads, run.stop)
    }
}

/// All that training needs to know.
pub struct Request<'a> {
    /// What to learn from.
    pub data: Set<'a>,
    /// What to measure the loss on, if not on rows held out of the data.
    pub valid: Option<Set<'a>>,
    /// The class labels.
    pub labels: Labels,
    /// How to encode.
    pub encoding: EncodingParams,
    /// How to train.
    pub params: Params,
    /// Share of the rows to hold out.
    pub holdout: f64,
}

impl Request<'_> {
    /// Do it.
    ///
    /// # Errors
    /// If something is not accepted, or it is stopped.
    pub fn fit(self, run: Run, on_epoch: &mut OnEpoch) -> Result<Trained> {
        self.params.check()?;
        let Set { table, targets, weight } = &self.data;
        let encoder = self.data.encoder(&self.encoding, run)?;
        let encode = |table| Cells::new(&encoder, run.isa, table, run.threads, run.stop);
        let cells = encode(*table)?;
        let given = match &self.valid {
            Some(valid) => {
                encoder.check_width("eval_set's X", valid.table.columns())?;
                Some((encode(valid.table)?, valid))
            }
            None => None,
        };
        let all = Examples::all(&cells, targets, *weight);
        let (examples, held_out) = match &given {
            Some((cells, valid)) => (all, Some(Examples::all(cells, &valid.targets, valid.weight))),
            None => all.hold_out(self.holdout, self.params.seed),
        };
        train(
            encoder.clone(),
            &examples,
            held_out.as_ref(),
            self.labels,
            &self.params,
            run,
            on_epoch,
        )
    }
}
