//! Everything that can go wrong, each as a sentence for the user.

use alloc::string::{String, ToString};

/// A failure, worded for the user.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An argument has a value that it must not have.
    #[error("{name} must {must}, got {got}")]
    Value {
        /// The argument, as the user knows it.
        name: &'static str,
        /// What must hold, as it follows "must".
        must: String,
        /// What was given instead.
        got: String,
    },
    /// An argument has the wrong type.
    #[error("{name} must {must}, got {got}")]
    Type {
        /// The argument, as the user knows it.
        name: &'static str,
        /// What must hold, as it follows "must".
        must: String,
        /// What was given instead.
        got: String,
    },
    /// The bytes are not a model: damaged, truncated or hostile.
    #[error("not a binfm model: {reason} at byte {offset}")]
    Format {
        /// Position in the file.
        offset: usize,
        /// What is wrong there.
        reason: String,
    },
    /// The operating system refused to read or write.
    #[cfg(feature = "std")]
    #[error("{path}: {source}")]
    Io {
        /// The file.
        path: String,
        /// The system's own error.
        source: std::io::Error,
    },
    /// A weight or a score is no longer finite.
    #[error(
        "training diverged: weights or scores are no longer finite; try a smaller learning_rate, or rescale y"
    )]
    Diverged,
    /// The caller stopped the work.
    #[error("stopped")]
    Stopped,
    /// An allocation failed.
    #[error("out of memory: cannot allocate {0} bytes")]
    Memory(usize),
    /// Threads could not be started.
    #[error("cannot start {0} threads; try a smaller n_jobs")]
    Threads(usize),
    /// A bug in this crate.
    #[error("internal error in binfm; please report it")]
    Internal,
}

/// The result of anything that can fail here.
pub type Result<T> = core::result::Result<T, Error>;

impl Error {
    /// A value that breaks a requirement: "`name` must `must`, got `got`".
    pub fn value(name: &'static str, must: impl ToString, got: impl ToString) -> Self {
        Self::Value { name, must: must.to_string(), got: got.to_string() }
    }

    /// A value of the wrong type: "`name` must `must`, got `got`".
    pub fn type_of(name: &'static str, must: impl ToString, got: impl ToString) -> Self {
        Self::Type { name, must: must.to_string(), got: got.to_string() }
    }

    /// Bytes that are not a model.
    pub fn format(offset: usize, reason: impl ToString) -> Self {
        Self::Format { offset, reason: reason.to_string() }
    }
}
