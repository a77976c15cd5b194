//! The one door through which long work leaves the interpreter, and hears Ctrl-C.
//!
//! Signals are seen only by the interpreter's own thread. So the work runs on another, and the caller's thread waits,
//! lets the interpreter look for signals twenty times a second, and calls back into Python when the work has news.

use crate::threads::Stop;
use crate::{Error, Result};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::thread::Builder;
use std::time::Duration;

/// How long not to look for signals.
const GLANCE: Duration = Duration::from_millis(50);

/// News, and where its answer is waited for.
type Letter<N> = (N, SyncSender<ControlFlow<()>>);

/// Lets the work tell the caller something and hear whether to go on.
pub struct Teller<N>(Sender<Letter<N>>);

impl<N> Teller<N> {
    /// Tell, and wait for the answer; a caller that has gone away wants nothing more.
    pub fn tell(&self, news: N) -> ControlFlow<()> {
        let (answer, heard) = sync_channel(1);
        if self.0.send((news, answer)).is_err() {
            return ControlFlow::Break(());
        }
        heard.recv().unwrap_or(ControlFlow::Break(()))
    }
}

/// Do work without the interpreter; `on_news` runs with it, on the caller's thread.
pub fn leave<N: Send, T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Stop, Teller<N>) -> Result<T> + Send,
    on_news: impl FnMut(N) -> PyResult<ControlFlow<()>>,
) -> PyResult<T> {
    let stop = Stop::default();
    std::thread::scope(|scope| {
        let (sender, letters) = channel();
        let worker = Builder::new()
            .spawn_scoped(scope, || work(&stop, Teller(sender)))
            .map_err(|_| Error::Threads(1))?;
        let heard = wait(py, letters, on_news);
        if heard.is_err() {
            stop.set();
        }
        let ended = py.detach(|| worker.join());
        heard?;
        ended.unwrap_or_else(|_| Err(Error::Internal)).map_err(PyErr::from)
    })
}

/// Until the work is over: answer its news and look for signals.
fn wait<N: Send>(
    py: Python<'_>,
    mut letters: Receiver<Letter<N>>,
    mut on_news: impl FnMut(N) -> PyResult<ControlFlow<()>>,
) -> PyResult<()> {
    loop {
        let letter;
        (letters, letter) = py.detach(move || {
            let letter = letters.recv_timeout(GLANCE);
            (letters, letter)
        });
        match letter {
            Ok((news, answer)) => {
                let reply = on_news(news)?;
                answer.send(reply).map_err(|_| PyRuntimeError::new_err("the work ended early"))?;
            }
            Err(RecvTimeoutError::Timeout) => py.check_signals()?,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        }
    }
}
