//! Reading the primitives of a file. Nothing is read, and nothing allocated, beyond its end.

use crate::memory::{collect, copied, copied_text};
use crate::{Error, Result};
use alloc::{string::String, vec::Vec};

/// Returns a format error at an offset.
pub fn wrong<T>(at: usize, reason: &str) -> Result<T> {
    Err(Error::format(at, reason))
}

/// Reads a file from front to back.
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns the current offset.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Returns the number of bytes left.
    pub fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    pub fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let Some(taken) = self.bytes.get(self.at..).and_then(|rest| rest.get(..count)) else {
            return wrong(self.bytes.len(), "the file ends early");
        };
        self.at += count;
        Ok(taken)
    }

    pub fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    pub fn u8(&mut self) -> Result<u8> {
        self.array().map(|[byte]| byte)
    }

    pub fn u16(&mut self) -> Result<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub fn f32(&mut self) -> Result<f32> {
        self.array().map(f32::from_le_bytes)
    }

    /// Reads bytes into a vector of their own.
    pub fn bytes(&mut self, count: usize) -> Result<Vec<u8>> {
        copied(self.take(count)?)
    }

    /// Reads float32 numbers; checks that they exist before it allocates.
    pub fn f32s(&mut self, count: usize) -> Result<Vec<f32>> {
        let bytes = self.take(count.saturating_mul(4))?;
        let (numbers, _) = bytes.as_chunks();
        collect(numbers.iter().copied().map(f32::from_le_bytes))
    }

    /// Reads an unsigned number of 1 to 8 bytes.
    pub fn uint(&mut self, size: usize) -> Result<u64> {
        Ok(self.take(size)?.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    /// Reads a signed number of 1 to 8 bytes.
    pub fn int(&mut self, size: usize) -> Result<i64> {
        let spare = 64 - 8 * size as u32;
        Ok((self.uint(size)? << spare) as i64 >> spare)
    }

    /// Reads the count of items of at least `item_size` bytes each: seven bits per byte, low ones first.
    pub fn count(&mut self, item_size: usize) -> Result<usize> {
        let first = self.at;
        let mut value = 0_u64;
        for shift in (0..35).step_by(7) {
            let byte = self.u8()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                if byte == 0 && shift > 0 {
                    return wrong(first, "a count takes more bytes than it needs");
                }
                if value.saturating_mul(item_size as u64) > self.left() as u64 {
                    return wrong(first, "a count is larger than the rest of the file can hold");
                }
                return match usize::try_from(value) {
                    Ok(count) => Ok(count),
                    Err(_) => wrong(first, "a count is too large for this machine"),
                };
            }
        }
        wrong(first, "a count has more than five bytes")
    }

    pub fn text(&mut self) -> Result<String> {
        let size = self.count(1)?;
        let at = self.at;
        match core::str::from_utf8(self.take(size)?) {
            Ok(text) => copied_text(text),
            Err(_) => wrong(at, "a text is not UTF-8"),
        }
    }
}

/// Returns the smallest of 1, 2, 4 and 8 bytes that holds all of these numbers.
pub fn int_size(values: &[i64]) -> usize {
    let holds = |bits: u32| values.iter().all(|&v| v >> (bits - 1) == 0 || v >> (bits - 1) == -1);
    [1, 2, 4].into_iter().find(|size| holds(8 * size)).unwrap_or(8) as usize
}
