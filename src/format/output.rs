//! Writing the primitives of a file, or only counting the bytes that they take.

use crate::Result;
use crate::memory::extend;
use alloc::vec::Vec;

/// A file under construction. An allocation that fails is reported at the end, so that writers need not look.
pub struct Output {
    /// None if bytes are only counted.
    bytes: Option<Vec<u8>>,
    len: usize,
    result: Result<()>,
}

impl Output {
    /// Begins a file.
    pub fn writing() -> Self {
        Self { bytes: Some(Vec::new()), len: 0, result: Ok(()) }
    }

    /// Begins a count, which needs no memory.
    pub fn counting() -> Self {
        Self { bytes: None, len: 0, result: Ok(()) }
    }

    /// Returns the number of bytes so far.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Appends bytes.
    pub fn put(&mut self, bytes: impl IntoIterator<Item = u8>) {
        let bytes = bytes.into_iter();
        match &mut self.bytes {
            Some(all) if self.result.is_ok() => {
                self.result = extend(all, bytes);
                self.len = all.len();
            }
            _ => self.len += bytes.count(),
        }
    }

    /// Appends a byte.
    pub fn push(&mut self, byte: u8) {
        self.put([byte]);
    }

    /// Writes a count as [`Reader::count`](super::bytes::Reader::count) reads it.
    pub fn put_count(&mut self, count: usize) {
        let mut rest = count;
        while rest >= 0x80 {
            self.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        self.push(rest as u8);
    }

    /// Writes a number in a given number of bytes.
    pub fn put_int(&mut self, value: i64, size: usize) {
        self.put(value.to_le_bytes().into_iter().take(size));
    }

    /// Writes a text as [`Reader::text`](super::bytes::Reader::text) reads it.
    pub fn put_text(&mut self, text: &str) {
        self.put_count(text.len());
        self.put(text.bytes());
    }

    /// Returns the file.
    ///
    /// # Errors
    /// If there was not enough memory.
    pub fn finish(self) -> Result<Vec<u8>> {
        self.result.map(|()| self.bytes.unwrap_or_default())
    }
}
