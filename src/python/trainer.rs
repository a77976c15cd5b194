//! `binfm._core.Trainer`: training that can go on.

use super::arrays::Arrays;
use super::door;
use super::train::{Labelled, Numbers, Outcome, Settings, Valid};
use super::train::{call, outcome, read_labels, slice, targets, with_optional};
use crate::Error;
use crate::kernels::Isa;
use crate::threads::Threads;
use crate::training::{Course, Epoch, Log, Run, Set, Trained, Trainer};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;

/// Encoder, proxies, optimizer and order of rows, between two passes.
#[pyclass(frozen, module = "binfm._core", name = "Trainer")]
pub struct PyTrainer {
    trainer: Mutex<Trainer>,
    names: Option<Vec<String>>,
}

#[pymethods]
impl PyTrainer {
    /// Learn how to encode; nothing is trained yet.
    #[new]
    #[allow(clippy::too_many_arguments)] // one call from one place, which has names for them
    pub fn new(
        py: Python<'_>,
        #[allow(non_snake_case)] X: Arrays,
        y: Numbers,
        weight: Option<Numbers>,
        labels: Labelled,
        vocabularies: BTreeMap<usize, Vec<String>>,
        names: Option<Vec<String>>,
        settings: Settings,
    ) -> PyResult<Self> {
        let (params, encoding) = (settings.params()?, settings.encoding(vocabularies)?);
        let threads = Threads::new(settings.n_jobs)?;
        let labels = read_labels(&labels.0, &labels.1)?;
        let weight = slice(weight.as_ref())?;
        let targets = targets(y.as_slice()?, weight, &labels);
        X.with(|table| {
            let set = Set { table, targets, weight };
            let trainer = door::leave(
                py,
                |stop, _: door::Teller<()>| {
                    let run = Run { threads: &threads, isa: Isa::detect()?, stop };
                    set.trainer(labels, &encoding, params, run)
                },
                |()| Ok(ControlFlow::Continue(())),
            )?;
            Ok(Self { trainer: Mutex::new(trainer), names })
        })
    }

    /// Go on with rows; a steady learning rate does not decay.
    #[allow(clippy::too_many_arguments)] // one call from one place, which has names for them
    pub fn go_on<'py>(
        &self,
        py: Python<'py>,
        #[allow(non_snake_case)] X: Arrays,
        y: Numbers,
        weight: Option<Numbers>,
        valid: Option<Valid>,
        settings: Settings,
        steady: bool,
        on_epoch: Option<Bound<'py, PyAny>>,
    ) -> PyResult<Outcome<'py>> {
        let course = Course { steady, ..Course::of(&settings.params()?) };
        let threads = Threads::new(settings.n_jobs)?;
        let (y, weight) = (y.as_slice()?, slice(weight.as_ref())?);
        let valid_y = valid.as_ref().map(|(_, y, _)| y.as_slice()).transpose()?;
        let valid_weight = slice(valid.as_ref().and_then(|(_, _, weight)| weight.as_ref()))?;
        let tells = on_epoch.is_some();
        let trained = X.with(|table| {
            with_optional(valid.as_ref().map(|(arrays, _, _)| arrays), |valid_table| {
                door::leave(
                    py,
                    |stop, teller| {
                        let mut trainer = self.trainer.lock().map_err(|_| Error::Internal)?;
                        let data = Set { table, targets: trainer.targets(y), weight };
                        let valid = valid_table.zip(valid_y).map(|(table, y)| Set {
                            table,
                            targets: trainer.targets(y),
                            weight: valid_weight,
                        });
                        let mut tell = |epoch: &Epoch| {
                            if tells { teller.tell(*epoch) } else { ControlFlow::Continue(()) }
                        };
                        let run = Run { threads: &threads, isa: Isa::detect()?, stop };
                        let holdout = settings.holdout;
                        let valid = valid.as_ref();
                        let Log { history, best_epoch } =
                            trainer.learn(&data, valid, holdout, course, run, &mut tell)?;
                        Ok(Trained { model: trainer.model()?, history, best_epoch })
                    },
                    |epoch| call(on_epoch.as_ref(), &epoch),
                )
            })
        })?;
        outcome(py, trained, self.names.clone())
    }
}
