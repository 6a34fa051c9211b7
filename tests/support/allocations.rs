//! An allocator that counts, per thread, for the tests which prove that a path allocates nothing. A test binary takes it
//! in by its path, and counts from then on; so it should hold such tests only.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
}

static EVERYWHERE: AtomicU64 = AtomicU64::new(0);

/// Allocations and releases of the calling thread so far.
#[allow(dead_code, reason = "a test counts a thread of its own or all")]
pub fn count() -> u64 {
    COUNT.get()
}

/// Those of all threads of the process.
#[allow(dead_code, reason = "a test counts a thread of its own or all")]
pub fn count_everywhere() -> u64 {
    EVERYWHERE.load(Ordering::Relaxed)
}

fn counted() {
    COUNT.set(COUNT.get() + 1);
    EVERYWHERE.fetch_add(1, Ordering::Relaxed);
}

/// The system's allocator, counting.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: every call is passed on unchanged; the counts are an atomic and a thread's own cell without destructor, so
// touching them neither allocates nor fails.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        counted();
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        counted();
        // SAFETY: as above, and `ptr` came from `System`, as all of ours do.
        unsafe { System.dealloc(ptr, layout) }
    }
}
