//! Recording is done in the real-time path: it must not allocate. Counted, not promised.

#[path = "../../../tests/support/allocations.rs"]
mod allocations;

use takt_stats::{Histogram, Jitter, Ns};

fn counted(work: impl FnOnce()) -> u64 {
    let before = allocations::count();
    work();
    allocations::count() - before
}

#[test]
fn recording_merging_and_clearing_allocate_nothing() {
    assert!(counted(|| drop(vec![0_u8; 100])) > 0, "the counter counts");
    let (mut h, mut other) = (Histogram::<Ns>::default(), Histogram::<Ns>::default());
    let mut jitter = Jitter::default();
    let counted = counted(|| {
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
