//! Allocation that can fail: running out of memory is an error, never the end of the process.

use crate::{Error, Result};
use alloc::{borrow::Cow, string::String, vec::Vec};

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

/// Returns the values, copied if they are borrowed.
///
/// # Errors
/// [`Error::Memory`].
pub fn owned<T: Clone>(values: Cow<[T]>) -> Result<Vec<T>> {
    match values {
        Cow::Borrowed(values) => copied(values),
        Cow::Owned(values) => Ok(values),
    }
}

/// Returns a copy of a text.
///
/// # Errors
/// [`Error::Memory`].
pub fn copied_text(text: &str) -> Result<String> {
    let mut copy = String::new();
    copy.try_reserve_exact(text.len()).map_err(|_| out_of_memory::<u8>(text.len()))?;
    copy.push_str(text);
    Ok(copy)
}

/// Returns the values of an iterator.
///
/// # Errors
/// [`Error::Memory`].
pub fn collect<T>(values: impl IntoIterator<Item = T>) -> Result<Vec<T>> {
    let mut all = Vec::new();
    extend(&mut all, values)?;
    Ok(all)
}

/// Returns the values of an iterator over results.
///
/// # Errors
/// The first error, or [`Error::Memory`].
pub fn try_collect<T>(results: impl IntoIterator<Item = Result<T>>) -> Result<Vec<T>> {
    let results = results.into_iter();
    let mut all = with_capacity(results.size_hint().0)?;
    for value in results {
        push(&mut all, value?)?;
    }
    Ok(all)
}

/// Appends the values of an iterator.
///
/// # Errors
/// [`Error::Memory`].
pub fn extend<T>(all: &mut Vec<T>, values: impl IntoIterator<Item = T>) -> Result<()> {
    let mut values = values.into_iter();
    let (least, most) = values.size_hint();
    reserve(all, least)?;
    if most == Some(least) {
        all.extend(values.take(least)); // a loop over a known number of values, without a test for room in each
        return Ok(());
    }
    values.try_for_each(|value| push(all, value))
}

/// Appends a value.
///
/// # Errors
/// [`Error::Memory`].
#[inline]
pub fn push<T>(all: &mut Vec<T>, value: T) -> Result<()> {
    if all.len() == all.capacity() {
        reserve(all, 1)?;
    }
    all.push(value);
    Ok(())
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
        assert!(matches!(collect(0..usize::MAX / 4), Err(Error::Memory(_))));
    }

    #[test]
    fn values_of_unknown_number_are_collected() -> Result<()> {
        let odd = || (0..100).filter(|i| i % 2 == 1);
        let mut all = collect(odd())?;
        assert_eq!(all, odd().collect::<Vec<_>>());
        extend(&mut all, odd())?;
        assert_eq!(all.len(), 100);
        assert_eq!(try_collect(odd().map(Ok))?, odd().collect::<Vec<_>>());
        assert!(matches!(try_collect([Ok(1), Err(Error::Internal)]), Err(Error::Internal)));
        Ok(())
    }
}
