//! Queues to and from the soft domain: what they promise, and that a tick neither allocates nor waits for a lock.

#[path = "../../../tests/support/allocations.rs"]
mod allocations;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use takt_runtime::soft::{Consumer, Policy, Soft, Step, incoming, outgoing};

/// Takes what there is, one item a step.
fn taking<T>(mut queue: Consumer<T>, mut each: impl FnMut(T)) -> impl FnMut() -> Step {
    move || match queue.pop() {
        Ok(item) => {
            each(item);
            Step::Worked
        }
        Err(_) => Step::Idle,
    }
}

const ITEMS: u64 = if cfg!(miri) { 200 } else { 8000 };

#[test]
fn what_has_no_room_is_dropped_whole_and_counted() {
    let (mut given, mut taken) = outgoing::<u8>(4, Policy::Drop);
    assert!(given.give(&[1, 2, 3]));
    assert!(!given.give(&[4, 5]) && given.give(&[6]) && !given.give(&[7]));
    assert_eq!(given.dropped(), 2);
    assert_eq!(std::iter::from_fn(|| taken.pop().ok()).collect::<Vec<_>>(), [1, 2, 3, 6]);
}

#[test]
fn hold_loses_nothing_and_is_in_order() {
    let (mut given, taken) = outgoing::<u64>(16, Policy::Hold);
    let sum = Arc::new(AtomicU64::new(0));
    let (mut next, total) = (0, Arc::clone(&sum));
    let work = taking(taken, move |item| {
        assert_eq!(item, next);
        next += 1;
        total.fetch_add(item, Ordering::Relaxed);
    });
    let soft = Soft::spawn("test", work).expect("a thread");
    assert!((0..ITEMS / 4).all(|n| given.give(&[4 * n, 4 * n + 1, 4 * n + 2, 4 * n + 3])));
    soft.settle();
    assert_eq!(sum.load(Ordering::Relaxed), ITEMS * (ITEMS - 1) / 2);
    assert!(given.dropped() == 0 && !soft.is_done());
}

#[test]
fn hold_gives_up_what_can_never_be_given() {
    let (mut given, taken) = outgoing::<u8>(4, Policy::Hold);
    assert!(!given.give(&[0; 5]), "more than there are places");
    drop(taken);
    assert!(given.give(&[1, 2, 3, 4]) && !given.give(&[5]), "no one makes room");
    assert_eq!(given.dropped(), 2);
}

#[test]
fn taking_holds_until_there_is_enough_or_the_end() {
    let (mut soft, mut taken) = incoming::<u64>(16, Policy::Hold);
    let mut next = 0;
    let work = move || match soft.push(next) {
        Ok(()) if next + 1 == ITEMS + 3 => Step::Done,
        Ok(()) => {
            next += 1;
            Step::Worked
        }
        Err(_) => Step::Idle,
    };
    let _soft = Soft::spawn("test", work).expect("a thread");
    let mut place = [0; 8];
    for n in 0..ITEMS / 8 {
        assert_eq!(taken.take(&mut place, 1), 8);
        assert!(place.into_iter().eq(8 * n..8 * n + 8));
    }
    assert_eq!((taken.take(&mut place, 1), &place[..3]), (3, &[ITEMS, ITEMS + 1, ITEMS + 2][..]));
    assert_eq!((taken.take(&mut place, 1), taken.starved()), (0, 0), "the end is no want");
}

#[test]
fn taking_less_than_wanted_is_counted_where_time_may_not_give_way() {
    let (mut soft, mut taken) = incoming::<u8>(16, Policy::Drop);
    soft.push_entire_slice(&[1, 2, 3]).expect("room");
    let mut place = [0; 4];
    assert_eq!((taken.take(&mut place, 1), place, taken.starved()), (3, [1, 2, 3, 0], 1));
    assert_eq!((taken.take(&mut place, 1), taken.starved()), (0, 2));
    soft.push_entire_slice(&[4, 5, 6]).expect("room");
    assert_eq!((taken.take(&mut place, 2), &place[..2]), (2, &[4, 5][..]), "half an item is none");
    soft.push(7).expect("room");
    assert_eq!((taken.take(&mut place[..2], 2), &place[..2]), (2, &[6, 7][..]), "and its other half comes");
}

#[test]
fn a_soft_thread_does_what_is_left_before_it_ends() {
    let (mut given, taken) = outgoing::<u8>(1000, Policy::Drop);
    let count = Arc::new(AtomicU64::new(0));
    let total = Arc::clone(&count);
    let work = taking(taken, move |_| _ = total.fetch_add(1, Ordering::Relaxed));
    let soft = Soft::spawn("test", work).expect("a thread");
    assert!(given.give(&[0; 1000]));
    drop(soft);
    assert_eq!(count.load(Ordering::Relaxed), 1000);
}

#[test]
fn a_thread_that_panics_holds_no_component() {
    let (mut given, taken) = outgoing::<u8>(2, Policy::Hold);
    let soft = Soft::spawn("test", taking(taken, |_| panic!("on purpose"))).expect("a thread");
    while given.give(&[1]) {}
    soft.settle();
    assert!(soft.is_done() && given.dropped() == 1);
}

#[test]
fn neither_end_allocates() {
    let (mut given, mut taken) = outgoing::<u8>(64, Policy::Drop);
    let (mut soft, mut incoming) = incoming::<u8>(64, Policy::Drop);
    let before = allocations::count();
    for n in 0..100 {
        given.give(&[n; 7]);
        let _ = (taken.pop(), soft.push(n));
        incoming.take(&mut [0; 3], 1);
    }
    assert_eq!(allocations::count(), before);
}
