//! Numbers that begin at a cache line, so that no vector of a row of 16, 32, … factors crosses from one line to the next.

use crate::Result;
use crate::memory::with_capacity;
use alloc::vec::Vec;
use core::fmt;
use core::ops::{Deref, DerefMut};

/// Bytes of a cache line.
const LINE: usize = 64;

/// A list of numbers that begins at a cache line.
pub struct Aligned<T> {
    storage: Vec<T>,
    begin: usize,
    len: usize,
}

impl<T: Copy + Default> Aligned<T> {
    /// Returns `count` copies of a number.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn filled(count: usize, number: T) -> Result<Self> {
        let mut storage: Vec<T> = with_capacity(count.saturating_add(LINE / size_of::<T>()))?;
        let begin = storage.as_ptr().align_offset(LINE).min(LINE / size_of::<T>());
        storage.resize(begin + count, number);
        Ok(Self { storage, begin, len: count })
    }

    /// Returns a copy of a slice.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn copied(numbers: &[T]) -> Result<Self> {
        let mut copy = Self::filled(numbers.len(), T::default())?;
        copy.copy_from_slice(numbers);
        Ok(copy)
    }

    /// Makes room for at least `count` numbers. What was there is lost if there was less room.
    ///
    /// # Errors
    /// If there is not enough memory.
    pub fn make_room(&mut self, count: usize) -> Result<()> {
        if self.len < count {
            *self = Self::default();
            *self = Self::filled(count, T::default())?;
        }
        Ok(())
    }
}

impl<T> Default for Aligned<T> {
    fn default() -> Self {
        Self { storage: Vec::new(), begin: 0, len: 0 }
    }
}

impl<T> Deref for Aligned<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        self.storage.get(self.begin..self.begin + self.len).unwrap_or(&[])
    }
}

impl<T> DerefMut for Aligned<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        self.storage.get_mut(self.begin..self.begin + self.len).unwrap_or(&mut [])
    }
}

impl<T: PartialEq> PartialEq for Aligned<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for Aligned<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_at_a_line() -> Result<()> {
        for count in [0, 1, 3, 16, 1000] {
            let mut numbers = Aligned::filled(count, 1.0_f32)?;
            assert_eq!(*numbers, vec![1.0; count]);
            assert!(count == 0 || numbers.as_ptr().align_offset(LINE) == 0);
            assert_eq!(Aligned::copied(&numbers)?, numbers);
            numbers.make_room(2)?;
            assert!(numbers.len() >= 2);
        }
        Ok(())
    }
}
