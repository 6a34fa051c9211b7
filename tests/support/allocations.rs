//! An allocator that counts, per thread, for the tests which prove that a path allocates nothing. A test binary takes it
//! in by its path, and counts from then on; so it should hold such tests only.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

/// Allocations and releases of the calling thread so far.
pub fn count() -> u64 {
    COUNT.get()
}

/// The system's allocator, counting.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: every call is passed on unchanged; the count is a thread's own cell without destructor, so touching it
// neither allocates nor fails.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        COUNT.set(COUNT.get() + 1);
        // SAFETY: as above, and `ptr` came from `System`, as all of ours do.
        unsafe { System.dealloc(ptr, layout) }
    }
}
