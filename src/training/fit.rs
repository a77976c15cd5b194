//! From a table and targets to a trained model: encode, hold out, train.

use super::{Course, Examples, Log, OnEpoch, Params, Run, Targets, Trained, Trainer};
use crate::Result;
use crate::encoding::{Cells, Encoder, EncodingParams, Rows, Table};
use crate::error::ask;
use crate::model::Labels;

/// Lists of row numbers that training holds at a time, at most.
const LISTS_OF_ROWS: usize = 6;

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

    /// Begin to train on such rows.
    ///
    /// # Errors
    /// If something is not accepted, or it is stopped.
    pub fn trainer(
        &self,
        labels: Labels,
        encoding: &EncodingParams,
        params: Params,
        run: Run,
    ) -> Result<Trainer> {
        params.check()?;
        Trainer::new(self.encoder(encoding, run)?, &self.targets, labels, params)
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
        let course = Course::of(&self.params);
        let mut trainer = self.data.trainer(self.labels, &self.encoding, self.params, run)?;
        let log =
            trainer.learn(&self.data, self.valid.as_ref(), self.holdout, course, run, on_epoch)?;
        Ok(Trained { model: trainer.model()?, history: log.history, best_epoch: log.best_epoch })
    }
}

impl Trainer {
    /// Encode rows, hold some out and go on with the others.
    ///
    /// # Errors
    /// If the rows are not those of the encoder, or it is stopped.
    pub fn learn(
        &mut self,
        data: &Set,
        valid: Option<&Set>,
        holdout: f64,
        course: Course,
        run: Run,
        on_epoch: &mut OnEpoch,
    ) -> Result<Log> {
        let encode = |name, table: Table| {
            self.encoder().check_width(name, table.columns())?;
            Cells::new(self.encoder(), run.isa, table, run.threads, run.stop)
        };
        let cells = encode("X", data.table)?;
        let given = match valid {
            Some(valid) => Some((encode("eval_set's X", valid.table)?, valid)),
            None => None,
        };
        ask::<[u32; LISTS_OF_ROWS]>(data.table.rows())?;
        let all = Examples::all(&cells, &data.targets, data.weight);
        let (examples, held_out) = match &given {
            Some((cells, valid)) => (all, Some(Examples::all(cells, &valid.targets, valid.weight))),
            None => all.hold_out(holdout, self.seed()),
        };
        self.go_on(&examples, held_out.as_ref(), course, run, on_epoch)
    }
}
