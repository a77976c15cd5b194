//! The ways in which long work leaves the interpreter and Ctrl-C stops it.
//!
//! Only the interpreter's own thread sees signals. So the work runs on another thread, while the caller's thread waits,
//! lets the interpreter check for signals twenty times a second, and calls back into Python when the work sends news.
//!
//! A search has threads of its own, which see no signals: they do the work themselves, until the thread that started them
//! sets a flag.

use crate::threads::Stop;
use crate::{Error, Result, panics};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::Builder;
use std::time::Duration;

/// Time between two checks for signals.
const SIGNAL_INTERVAL: Duration = Duration::from_millis(50);

/// News, and the channel for the reply to it.
type Message<N, R> = (N, SyncSender<R>);

/// Sends news from the work to the caller.
pub struct Progress<N, R>(Sender<Message<N, R>>);

impl<N, R> Progress<N, R> {
    /// Sends news and waits for the reply; there is none if the caller is gone.
    pub fn send(&self, news: N) -> Option<R> {
        let (reply, replied) = sync_channel(1);
        self.0.send((news, reply)).ok()?;
        replied.recv().ok()
    }
}

/// A flag by which one thread stops the work of others.
#[pyclass(frozen, module = "binfm._core", name = "Stop")]
#[derive(Default)]
pub struct PyStop(Stop);

#[pymethods]
impl PyStop {
    #[new]
    fn new() -> Self {
        Self::default()
    }

    /// Asks all work that was given this flag to end.
    fn set(&self) {
        self.0.set();
    }
}

/// Runs work without the interpreter on the caller's thread, until the flag is set.
pub fn detach_until<T: Send>(
    py: Python<'_>,
    stop: &Bound<'_, PyStop>,
    work: impl FnOnce(&Stop) -> Result<T> + Send,
) -> PyResult<T> {
    let stop = &stop.get().0;
    Ok(py.detach(|| panics::catch(|| work(stop)))?)
}

/// Runs work without the interpreter.
pub fn detach<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Stop) -> Result<T> + Send,
) -> PyResult<T> {
    detach_with_progress(
        py,
        |stop, _: Progress<(), ()>| work(stop),
        |()| Ok(()),
    )
}

/// Runs work without the interpreter; `on_news` runs with it, on the caller's thread.
pub fn detach_with_progress<N: Send, R: Send, T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Stop, Progress<N, R>) -> Result<T> + Send,
    on_news: impl FnMut(N) -> PyResult<R>,
) -> PyResult<T> {
    let stop = Stop::default();
    std::thread::scope(|scope| {
        let (sender, messages) = channel();
        let worker = Builder::new()
            .spawn_scoped(scope, || work(&stop, Progress(sender)))
            .map_err(|_| Error::Threads(1))?;
        let waited = wait(py, messages, on_news);
        if waited.is_err() {
            stop.set();
        }
        let finished = py.detach(|| worker.join());
        waited?;
        finished.unwrap_or_else(|_| Err(Error::Internal)).map_err(PyErr::from)
    })
}

/// Replies to news and checks for signals until the work is over.
fn wait<N: Send, R: Send>(
    py: Python<'_>,
    mut messages: Receiver<Message<N, R>>,
    mut on_news: impl FnMut(N) -> PyResult<R>,
) -> PyResult<()> {
    loop {
        let message;
        (messages, message) = py.detach(move || {
            let message = messages.recv_timeout(SIGNAL_INTERVAL);
            (messages, message)
        });
        match message {
            Ok((news, reply)) => {
                let answer = on_news(news)?;
                reply.send(answer).map_err(|_| PyRuntimeError::new_err("the work ended early"))?;
            }
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}
