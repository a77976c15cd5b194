//! Prefetching of memory that will be read soon.

/// Bytes of a cache line.
const CACHE_LINE: usize = 64;

/// Prefetches a slice.
#[inline(always)]
pub fn prefetch<T>(numbers: &[T]) {
    prefetch_bytes(numbers.as_ptr().cast(), size_of_val(numbers));
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
