//! `binfm._core.Trainer`: training that can go on.

use super::arrays::Arrays;
use super::door;
use super::train::{Labelled, Numbers, Outcome, Settings, Valid};
use super::train::{call, outcome, read_labels, slice, targets, with_optional};
use crate::kernels::Isa;
use crate::threads::{Stop, Threads};
use crate::training::{Course, Epoch, Log, Run, Set, Trained, Trainer};
use crate::{Error, Result};
use pyo3::prelude::*;
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};
use std::time::Duration;

/// Encoder, proxies, optimizer and order of rows, between two passes.
#[pyclass(frozen, module = "binfm._core", name = "Trainer")]
pub struct PyTrainer {
    trainer: Mutex<Trainer>,
    /// The process that used it last, or zero.
    user: AtomicU32,
    names: Option<Vec<String>>,
}

/// How long to wait before looking again whether another thread is done.
const TURN: Duration = Duration::from_millis(1);

impl PyTrainer {
    /// Wait until no other thread uses it; one that was in use when its process was forked never comes free.
    fn wait(&self, stop: &Stop) -> Result<MutexGuard<'_, Trainer>> {
        let process = std::process::id();
        loop {
            match self.trainer.try_lock() {
                Ok(trainer) => {
                    self.user.store(process, Ordering::Relaxed);
                    return Ok(trainer);
                }
                Err(TryLockError::Poisoned(_)) => return Err(Error::Internal),
                Err(TryLockError::WouldBlock) => stop.check()?,
            }
            if ![0, process].contains(&self.user.load(Ordering::Relaxed)) {
                let given = "an estimator that was learning while its process was forked";
                return Err(Error::value("partial_fit", given, "is one made in this process"));
            }
            std::thread::sleep(TURN);
        }
    }
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
            Ok(Self { trainer: Mutex::new(trainer), user: AtomicU32::new(0), names })
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
                        let mut trainer = self.wait(stop)?;
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
