//! Arrow's C data interface: structures of another library, moved out of Python capsules.
//!
//! <https://arrow.apache.org/docs/format/CDataInterface.html>. Pointers and lengths are trusted, as the interface
//! intends; what they describe is checked. Whoever owns a structure calls its release callback, once, when it is dropped.
#![allow(unsafe_code)] // the pointers are another library's
#![warn(clippy::undocumented_unsafe_blocks)]

use crate::data::{ColumnPart, NumberKind};
use crate::memory::collect;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};
use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

#[repr(C)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const u8,
    flags: i64,
    n_children: i64,
    children: *const *const ArrowSchema,
    dictionary: *const ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

#[repr(C)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const u8,
    children: *const *const ArrowArray,
    dictionary: *const ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

#[repr(C)]
pub struct ArrowStream {
    get_schema: Option<unsafe extern "C" fn(*mut ArrowStream, *mut ArrowSchema) -> c_int>,
    get_next: Option<unsafe extern "C" fn(*mut ArrowStream, *mut ArrowArray) -> c_int>,
    get_last_error: Option<unsafe extern "C" fn(*mut ArrowStream) -> *const c_char>,
    release: Option<unsafe extern "C" fn(*mut ArrowStream)>,
    private_data: *mut c_void,
}

/// A structure that its owner releases.
trait Exported {
    /// The name of its capsules.
    const NAME: &'static CStr;
    /// Returns the structure that means "released": all zeros.
    fn released() -> Self;
    fn is_released(&self) -> bool;
}

macro_rules! exported {
    ($($type:ident $name:literal;)*) => {$(
        impl Exported for $type {
            const NAME: &'static CStr = $name;

            fn released() -> Self {
                // SAFETY: null pointers, absent functions and zeros are valid in each field.
                unsafe { std::mem::zeroed() }
            }

            fn is_released(&self) -> bool {
                self.release.is_none()
            }
        }

        impl Drop for $type {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: the structure is ours and has not been released; the callback marks it as released.
                    unsafe { release(self) }
                }
            }
        }

        // SAFETY: the interface lets any thread use and release a structure, and `&` gives no way to change one.
        unsafe impl Send for $type {}
        // SAFETY: as above.
        unsafe impl Sync for $type {}
    )*};
}

exported! {
    ArrowSchema c"arrow_schema";
    ArrowArray c"arrow_array";
    ArrowStream c"arrow_array_stream";
}

/// What a schema says about a column.
pub struct Field {
    pub name: String,
    /// `None` if the values are not plain numbers.
    pub kind: Option<NumberKind>,
}

/// Returns the columns of a stream, which stays in its capsule and can still be read.
pub fn stream_fields(capsule: &Bound<PyAny>) -> PyResult<Vec<Field>> {
    let stream = pointer::<ArrowStream>(capsule)?;
    let mut schema = ArrowSchema::released();
    // SAFETY: the capsule holds a stream that has not been released, and we hold the capsule.
    let (stream, code) = unsafe {
        let stream = &mut *stream;
        let code = stream.get_schema.map_or(-1, |get| get(stream, &raw mut schema));
        (stream, code)
    };
    stream.check(code)?;
    fields(&schema)
}

/// Returns the columns that the schema in a capsule describes.
pub fn schema_fields(capsule: &Bound<PyAny>) -> PyResult<Vec<Field>> {
    // SAFETY: the capsule holds a schema that has not been released, and we hold the capsule.
    fields(unsafe { &*pointer::<ArrowSchema>(capsule)? })
}

/// Moves a batch out of its capsule.
pub fn take_batch(capsule: &Bound<PyAny>) -> PyResult<ArrowArray> {
    take(capsule)
}

/// Moves a stream out of its capsule.
pub fn take_stream(capsule: &Bound<PyAny>) -> PyResult<ArrowStream> {
    take(capsule)
}

/// Moves a structure out of its capsule, which from then on owns nothing.
fn take<T: Exported>(capsule: &Bound<PyAny>) -> PyResult<T> {
    let held = pointer::<T>(capsule)?;
    // SAFETY: the capsule holds a structure that has not been released; a copy of its fields may replace it.
    Ok(unsafe { ptr::replace(held, T::released()) })
}

fn pointer<T: Exported>(capsule: &Bound<PyAny>) -> PyResult<*mut T> {
    let held = capsule.cast::<PyCapsule>()?.pointer_checked(Some(T::NAME))?.cast::<T>().as_ptr();
    // SAFETY: a capsule of this name holds this structure.
    if unsafe { (*held).is_released() } {
        return Err(PyValueError::new_err("an Arrow stream that has been read already"));
    }
    Ok(held)
}

fn fields(schema: &ArrowSchema) -> PyResult<Vec<Field>> {
    // SAFETY: a schema has a format.
    if unsafe { CStr::from_ptr(schema.format) } != c"+s" {
        return Err(PyValueError::new_err("an Arrow array that has no columns"));
    }
    let field = |i| {
        // SAFETY: a schema has `n_children` children, each with a format, and a name or null.
        unsafe {
            let child = &**schema.children.add(i);
            let name = if child.name.is_null() { c"" } else { CStr::from_ptr(child.name) };
            Field { name: name.to_string_lossy().into_owned(), kind: child.kind() }
        }
    };
    Ok(collect((0..schema.n_children as usize).map(field))?)
}

impl ArrowSchema {
    fn kind(&self) -> Option<NumberKind> {
        if !self.dictionary.is_null() || self.is_extension() {
            return None;
        }
        // SAFETY: a schema has a format.
        match unsafe { CStr::from_ptr(self.format) }.to_bytes() {
            b"b" => Some(NumberKind::Bool),
            b"c" => Some(NumberKind::I8),
            b"C" => Some(NumberKind::U8),
            b"s" => Some(NumberKind::I16),
            b"S" => Some(NumberKind::U16),
            b"i" => Some(NumberKind::I32),
            b"I" => Some(NumberKind::U32),
            b"l" => Some(NumberKind::I64),
            b"L" => Some(NumberKind::U64),
            b"f" => Some(NumberKind::F32),
            b"g" => Some(NumberKind::F64),
            _ => None,
        }
    }

    /// Returns whether the metadata, pairs of texts with their lengths, says that numbers stand for something else.
    fn is_extension(&self) -> bool {
        if self.metadata.is_null() {
            return false;
        }
        // SAFETY: the metadata begins with the number of pairs.
        let pairs = unsafe { self.metadata.cast::<i32>().read_unaligned() };
        let mut next = self.metadata.wrapping_add(4);
        (0..2 * pairs).any(|i| {
            // SAFETY: `next` is where another text begins: its length and its bytes.
            let text = unsafe {
                let length = next.cast::<i32>().read_unaligned() as usize;
                let text = std::slice::from_raw_parts(next.add(4), length);
                next = next.add(4 + length);
                text
            };
            i % 2 == 0 && text == b"ARROW:extension:name"
        })
    }
}

impl ArrowStream {
    /// Returns the next batch, unless the stream has ended.
    pub fn next(&mut self) -> PyResult<Option<ArrowArray>> {
        let mut batch = ArrowArray::released();
        // SAFETY: the stream is ours and has not been released.
        let code = unsafe { self.get_next.map_or(-1, |get| get(self, &raw mut batch)) };
        self.check(code)?;
        Ok(Some(batch).filter(|batch| !batch.is_released()))
    }

    fn check(&mut self, code: c_int) -> PyResult<()> {
        if code == 0 {
            return Ok(());
        }
        // SAFETY: after an error the stream has a message or null, valid until it is used again.
        let message = unsafe {
            let text = self.get_last_error.map_or(ptr::null(), |get| get(self));
            if text.is_null() { c"an Arrow stream that failed" } else { CStr::from_ptr(text) }
        };
        Err(PyValueError::new_err(message.to_string_lossy().into_owned()))
    }
}

impl ArrowArray {
    /// Returns the number of samples.
    pub fn samples(&self) -> usize {
        self.length as usize
    }

    /// Checks that a batch has these columns, with numbers in them.
    pub fn check(&self, fields: &[Field]) -> PyResult<()> {
        let has_numbers = |i| {
            // SAFETY: an array has `n_children` children.
            let child = unsafe { &**self.children.add(i) };
            child.n_buffers == 2 && (self.length == 0 || !child.buffer(1).is_null())
        };
        let fits = self.n_children as usize == fields.len() && self.length >= 0 && self.offset >= 0;
        let is_complete = self.null_count == 0 || self.n_buffers == 0 || self.buffer(0).is_null();
        if fits && is_complete && (0..fields.len()).all(has_numbers) {
            return Ok(());
        }
        Err(PyValueError::new_err("an Arrow batch that does not fit its schema"))
    }

    /// Returns the numbers of a column of a checked batch.
    pub fn column(&self, index: usize, kind: NumberKind) -> ColumnPart<'_> {
        // SAFETY: a checked batch has as many children as the table has columns.
        let child = unsafe { &**self.children.add(index) };
        let first = (self.offset + child.offset) as usize;
        let end = first + self.samples();
        let bytes = |buffer: *const u8, count: usize| {
            if buffer.is_null() || self.length == 0 {
                return &[][..];
            }
            // SAFETY: buffers hold that many bytes until the batch is released, and nobody changes them.
            unsafe { std::slice::from_raw_parts(buffer, count) }
        };
        let valid = child.buffer(0);
        let has_missing = child.null_count != 0 && !valid.is_null();
        ColumnPart {
            kind,
            bytes: bytes(child.buffer(1), kind.bytes(end)),
            first,
            valid: has_missing.then(|| bytes(valid, end.div_ceil(8))),
        }
    }

    fn buffer(&self, index: usize) -> *const u8 {
        // SAFETY: an array has `n_buffers` pointers to buffers, which callers have checked.
        unsafe { *self.buffers.add(index) }
    }
}
