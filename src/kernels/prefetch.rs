//! Prefetching of memory that will be read soon.

#[cfg(feature = "std")]
use super::batch::Touched;
#[cfg(feature = "std")]
use super::weights::RowWeights;

/// Bytes of a cache line.
const CACHE_LINE: usize = 64;

/// Prefetches a slice.
#[inline(always)]
pub fn prefetch<T>(numbers: &[T]) {
    prefetch_bytes(numbers.as_ptr().cast(), size_of_val(numbers));
}

/// Numbers that a core's own caches hold, about: a table of fewer needs no prefetching.
#[cfg(feature = "std")]
const CACHED: usize = 1 << 17;
/// Distance, in touched cells, between the one being read and the one being prefetched.
#[cfg(feature = "std")]
const CELLS_AHEAD: usize = 4;

/// Returns the touched cell to prefetch while the i-th is read; `None` if the core's caches hold all weights.
#[cfg(feature = "std")]
#[inline(always)]
pub fn cell_ahead<'a>(weights: &RowWeights, touched: &'a [Touched], i: usize) -> Option<&'a Touched> {
    if weights.v.len() < CACHED { None } else { touched.get(i + CELLS_AHEAD) }
}

/// Prefetches `count` parts of a table from the given one on; the table has `parts` in all.
#[cfg(feature = "std")]
#[inline(always)]
pub fn prefetch_parts(table: &[f32], parts: usize, first: usize, count: usize) {
    let size = table.len() / parts.max(1);
    prefetch(table.get(first * size..(first + count) * size).unwrap_or_default());
}

/// Prefetches the weights of rows.
#[cfg(feature = "std")]
#[inline(always)]
pub fn prefetch_rows(weights: &RowWeights, first: usize, count: usize) {
    let rows = weights.w.len();
    prefetch_parts(&weights.w, rows, first, count);
    prefetch_parts(&weights.v, rows, first, count);
}

/// Prefetches `bytes` bytes from an address on, which need not be valid. Does nothing except on x86-64: other
/// architectures have no stable intrinsic.
#[inline(always)]
pub fn prefetch_bytes(first: *const u8, bytes: usize) {
    #[cfg(all(target_arch = "x86_64", target_feature = "sse"))]
    for line in 0..bytes.div_ceil(CACHE_LINE) {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = first.wrapping_add(line * CACHE_LINE);
        // SAFETY: a prefetch never faults, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address.cast()) }
    }
    #[cfg(not(all(target_arch = "x86_64", target_feature = "sse")))]
    let _ = (first, bytes, CACHE_LINE);
}
