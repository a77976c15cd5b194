//! An allocator that tracks how much memory each thread has allocated.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct TrackingAllocator;

thread_local! {
    /// Bytes that this thread has allocated and not yet freed.
    static CURRENT: Cell<usize> = const { Cell::new(0) };
    /// The largest value of `CURRENT` since it was last reset.
    static PEAK: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is forwarded to the system allocator.
unsafe impl GlobalAlloc for TrackingAllocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let current = CURRENT.get().wrapping_add(layout.size());
        CURRENT.set(current);
        PEAK.set(PEAK.get().max(current));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // Wraps, because a thread may free what another one allocated.
        CURRENT.set(CURRENT.get().wrapping_sub(layout.size()));
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: TrackingAllocator = TrackingAllocator;

/// Returns the result of `work` and its peak memory in bytes. While a vector grows, both its old and its new buffer
/// count.
pub fn peak_bytes<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = CURRENT.get();
    PEAK.set(before);
    let result = work();
    (result, PEAK.get() - before)
}
