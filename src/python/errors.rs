//! Each error becomes the Python exception that users expect.

use crate::Error;
use pyo3::create_exception;
use pyo3::exceptions::{
    PyKeyboardInterrupt, PyMemoryError, PyOSError, PyRuntimeError, PyTypeError, PyValueError,
};
use pyo3::prelude::*;

create_exception!(
    binfm,
    ModelFormatError,
    PyValueError,
    "A model file is damaged, truncated or not a model; the message names the byte."
);

impl From<Error> for PyErr {
    fn from(error: Error) -> Self {
        let sentence = error.to_string();
        match error {
            Error::Value { .. } | Error::Diverged => PyValueError::new_err(sentence),
            Error::Type { .. } => PyTypeError::new_err(sentence),
            Error::Format { .. } => ModelFormatError::new_err(sentence),
            Error::Memory(_) => PyMemoryError::new_err(sentence),
            Error::Stopped => PyKeyboardInterrupt::new_err(()),
            Error::Threads(_) | Error::Internal => PyRuntimeError::new_err(sentence),
            // Given the error number and the path, Python picks FileNotFoundError and the like.
            Error::Io { path, source } => match source.raw_os_error() {
                Some(number) => PyOSError::new_err((number, system_text(&source), path)),
                None => PyOSError::new_err(format!("{path}: {source}")),
            },
        }
    }
}

/// Returns the system's message without the error number, which both Rust and Python append.
fn system_text(source: &std::io::Error) -> String {
    let text = source.to_string();
    text.split(" (os error").next().unwrap_or_default().to_owned()
}
