//! Everything that can go wrong, each as a sentence for the user.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

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
    /// The system has not that much memory to give.
    #[error("{0} bytes of memory could not be had")]
    Memory(usize),
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

/// Room for `count` values, all the same; unlike `vec!` it does not end the process where memory does.
///
/// # Errors
/// [`Error::Memory`].
pub fn filled<T: Clone>(count: usize, value: T) -> Result<Vec<T>> {
    let mut values = room(count)?;
    values.resize(count, value);
    Ok(values)
}

/// Room for `count` values.
///
/// # Errors
/// [`Error::Memory`].
pub fn room<T>(count: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    match values.try_reserve_exact(count) {
        Ok(()) => Ok(values),
        Err(_) => Err(Error::Memory(count.saturating_mul(size_of::<T>()))),
    }
}

/// Whether there is room for `count` values now; for what comes in pieces, or from a library that does not ask.
///
/// # Errors
/// [`Error::Memory`].
pub fn ask<T>(count: usize) -> Result<()> {
    room::<u8>(count.saturating_mul(size_of::<T>()).saturating_add(SPARE)).map(drop)
}

/// Bytes that are asked for beyond what is known to be needed: many small things come with the large ones.
const SPARE: usize = 1 << 20;

/// Room for `count` values more in a list that grows.
///
/// # Errors
/// [`Error::Memory`].
pub fn more_room<T>(values: &mut Vec<T>, count: usize) -> Result<()> {
    let total = values.len().saturating_add(count).saturating_mul(size_of::<T>());
    values.try_reserve(count).map_err(|_| Error::Memory(total))
}

/// Do work; a panic in it is a mistake of ours, and an error like any other.
///
/// # Errors
/// Those of the work, or [`Error::Internal`].
#[cfg(feature = "std")]
pub fn guard<T, E: From<Error>>(
    work: impl FnOnce() -> core::result::Result<T, E>,
) -> core::result::Result<T, E> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(work))
        .unwrap_or_else(|_| Err(Error::Internal.into()))
}

#[cfg(test)]
#[allow(clippy::panic)] // one is wanted
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let broken = || -> Result<()> { panic!("a test's own") };
        assert!(matches!(guard(broken), Err(Error::Internal)));
        assert!(matches!(guard(|| Ok::<_, Error>(3)), Ok(3)));
    }

    #[test]
    fn memory_that_is_not_there_is_an_error() {
        assert!(matches!(room::<u64>(usize::MAX / 4), Err(Error::Memory(usize::MAX))));
        // A quarter of what 32 bits can name may well be there.
        let much = if usize::BITS == 64 { usize::MAX / 4 } else { usize::MAX };
        assert!(matches!(filled(much, 0_u8), Err(Error::Memory(_))));
        assert_eq!(filled(3, 7_u8).ok(), Some(vec![7; 3]));
    }
}
