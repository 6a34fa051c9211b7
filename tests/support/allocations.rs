//! An allocator that counts, per thread, for the tests which prove that a path allocates nothing. A test binary takes it
//! in by its path, and counts from then on; so it should hold such tests only.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static COUNT: Cell<u64> = const { Cell::new(0) };
    /// Bytes that the thread allocated less those it released, and the most that it ever was.
    static HELD: Cell<(i64, i64)> = const { Cell::new((0, 0)) };
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

/// The most bytes that the calling thread held at once while it did this, beside those it held before.
#[allow(dead_code, reason = "a test counts allocations or bytes")]
pub fn most_bytes<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let before = HELD.get().0;
    HELD.set((before, before));
    let done = work();
    (done, HELD.get().1.saturating_sub(before).unsigned_abs())
}

fn holds(bytes: i64) {
    let (held, most) = HELD.get();
    HELD.set((held + bytes, most.max(held + bytes)));
}

fn counted() {
    COUNT.set(COUNT.get() + 1);
    EVERYWHERE.fetch_add(1, Ordering::Relaxed);
}

/// The system's allocator, counting.
struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: every call is passed on unchanged; the counts are an atomic and a thread's own cells without destructors, so
// touching them neither allocates nor fails.
#[allow(unsafe_code)]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        counted();
        holds(layout.size() as i64);
        // SAFETY: the caller's promise about `layout` is passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, ptr: *mut u8, layout: Layout) {
        counted();
        holds(-(layout.size() as i64));
        // SAFETY: as above, and `ptr` came from `System`, as all of ours do.
        unsafe { System.dealloc(ptr, layout) }
    }
}
