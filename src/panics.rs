//! Panics are bugs of ours, and errors like any other to the caller.

use crate::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs `work` and turns a panic into [`Error::Internal`].
///
/// # Errors
/// Those of the work, or [`Error::Internal`].
pub fn catch<T, E: From<Error>>(work: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(Error::Internal.into()))
}

#[cfg(test)]
#[allow(clippy::panic)] // on purpose
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error() {
        let broken = || -> crate::Result<()> { panic!("raised by the test") };
        assert!(matches!(catch(broken), Err(Error::Internal)));
        assert!(matches!(catch(|| Ok::<_, Error>(3)), Ok(3)));
    }
}
