//! Everything that can go wrong, each as a sentence for the user.

use alloc::string::{String, ToString};

/// What was given and what is accepted, or what failed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A parameter or an input has a value that is not accepted.
    #[error("{name}: got {given}; accepted {accepted}")]
    Value {
        /// The argument as the user calls it.
        name: &'static str,
        /// What was given.
        given: String,
        /// What is accepted, beginning with "is" or "are".
        accepted: String,
    },
    /// The bytes are no model: damaged, truncated or hostile.
    #[error("not a binfm model: {reason} at byte {offset}")]
    Format {
        /// Where in the file.
        offset: usize,
        /// What is wrong there.
        reason: String,
    },
    /// The operating system refused to read or write.
    #[cfg(feature = "std")]
    #[error("{path}: {source}")]
    Io {
        /// The file in question.
        path: String,
        /// What the system said.
        source: std::io::Error,
    },
    /// The user stopped the work.
    #[error("stopped")]
    Stopped,
    /// A mistake of ours.
    #[error("binfm failed inside; please report this")]
    Internal,
    /// Threads could not be started.
    #[error("n_jobs: {0} threads could not be started")]
    Threads(usize),
}

/// The result of anything that can fail here.
pub type Result<T> = core::result::Result<T, Error>;

impl Error {
    /// A value that is not accepted.
    pub fn value(name: &'static str, given: impl ToString, accepted: impl ToString) -> Self {
        Self::Value { name, given: given.to_string(), accepted: accepted.to_string() }
    }

    /// Bytes that are no model.
    pub fn format(offset: usize, reason: impl ToString) -> Self {
        Self::Format { offset, reason: reason.to_string() }
    }
}
