//! Allocation that can fail: running out of memory is an error, never the end of the process.

use crate::{Error, Result};
use alloc::vec::Vec;

/// Returns `count` copies of a value.
///
/// # Errors
/// [`Error::Memory`].
pub fn filled<T: Clone>(count: usize, value: T) -> Result<Vec<T>> {
    let mut values = with_capacity(count)?;
    values.resize(count, value);
    Ok(values)
}

/// Returns an empty vector with room for `count` values.
///
/// # Errors
/// [`Error::Memory`].
pub fn with_capacity<T>(count: usize) -> Result<Vec<T>> {
    let mut values = Vec::new();
    match values.try_reserve_exact(count) {
        Ok(()) => Ok(values),
        Err(_) => Err(out_of_memory::<T>(count)),
    }
}

/// Makes room for `count` more values.
///
/// # Errors
/// [`Error::Memory`].
pub fn reserve<T>(values: &mut Vec<T>, count: usize) -> Result<()> {
    let total = values.len().saturating_add(count);
    values.try_reserve(count).map_err(|_| out_of_memory::<T>(total))
}

/// Changes the number of values; new ones are copies of `value`.
///
/// # Errors
/// [`Error::Memory`].
pub fn resize<T: Clone>(values: &mut Vec<T>, count: usize, value: T) -> Result<()> {
    reserve(values, count.saturating_sub(values.len()))?;
    values.resize(count, value);
    Ok(())
}

/// Returns a copy of a slice.
///
/// # Errors
/// [`Error::Memory`].
pub fn copied<T: Clone>(values: &[T]) -> Result<Vec<T>> {
    let mut copy = with_capacity(values.len())?;
    copy.extend_from_slice(values);
    Ok(copy)
}

/// Checks that `count` values could be allocated now, ahead of many small allocations or of a library that aborts.
///
/// # Errors
/// [`Error::Memory`].
pub fn check_available<T>(count: usize) -> Result<()> {
    let bytes = count.saturating_mul(size_of::<T>()).saturating_add(HEADROOM);
    with_capacity::<u8>(bytes).map(drop)
}

/// Bytes that [`check_available`] asks for on top: many small allocations accompany the large ones.
const HEADROOM: usize = 1 << 20;

fn out_of_memory<T>(count: usize) -> Error {
    Error::Memory(count.saturating_mul(size_of::<T>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_allocation_is_an_error() {
        assert!(matches!(with_capacity::<u64>(usize::MAX / 4), Err(Error::Memory(usize::MAX))));
        // A 32-bit machine may well have a quarter of its address space free.
        let too_many = if usize::BITS == 64 { usize::MAX / 4 } else { usize::MAX };
        assert!(matches!(filled(too_many, 0_u8), Err(Error::Memory(_))));
        assert_eq!(filled(3, 7_u8).ok(), Some(vec![7; 3]));
    }
}
