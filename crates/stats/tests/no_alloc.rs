//! Recording is done in the real-time path: it must not allocate. Counted, not promised.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use takt_stats::{Histogram, Jitter, Ns};

struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: both calls are handed unchanged to the system's allocator, which keeps the contract; the counter is a
// thread-local without destructor and does not allocate.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|n| n.set(n.get() + 1));
        // SAFETY: the caller keeps `GlobalAlloc::alloc`'s contract, which is `System`'s.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: `pointer` came from `alloc` above, hence from `System`, with this layout.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    work();
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn recording_merging_and_clearing_allocate_nothing() {
    assert!(allocations(|| drop(vec![0_u8; 100])) > 0, "the counter counts");
    let (mut h, mut other) = (Histogram::<Ns>::default(), Histogram::<Ns>::default());
    let mut jitter = Jitter::default();
    let counted = allocations(|| {
        for i in 0..100_000_u64 {
            h.record_saturating(i * 777);
            other.record_n_saturating(u64::MAX - i, 3);
            jitter.record(i, 2 * i);
        }
        h.merge(&other).expect("alike");
        other.clear();
        assert!(h.quantile(0.1).is_some());
    });
    assert_eq!(counted, 0);
}
