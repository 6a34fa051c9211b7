//! All interleavings of a link. `RUSTFLAGS="--cfg loom" cargo test -p takt-link --test loom_link --release`
//!
//! A model that never failed proves nothing. Weakened one at a time in `src/ring.rs` and `src/sleep.rs`, and what failed:
//!
//! | weakened | failed |
//! | --- | --- |
//! | A, Release of `written` to Relaxed | all four |
//! | A, Acquire of `written` to Relaxed | all four |
//! | B, Release of `read` to Relaxed | all four |
//! | B, Acquire of `read` to Relaxed | all four |
//! | `slot < free` (read + cells) to `<=` | in order, in place, slower of two |
//! | `written > slot` to `>=` | all, by the link's own checks |
//! | the slowest reader to the fastest | slower of two |
//! | C, either fence of a sleep to Acquire and Release | slept over |
//! | a slot is written once; a released slot is not read again | none here: one thread alone can do it, and the unit tests of `src/ring.rs` fail |
#![cfg(loom)]

use loom::thread;
use takt_link::ring::{Reader, Writer, ring};
use takt_link::sleep::Sleep;

fn write(tx: &mut Writer<u64>, slot: u64) {
    while !tx.free(slot) {
        thread::yield_now();
    }
    *tx.cell(slot).expect("free") = 10 + slot;
    tx.publish(slot);
}

fn read(rx: &mut Reader<u64>, slot: u64) -> u64 {
    while !rx.ready(slot) {
        thread::yield_now();
    }
    let value = *rx.cell(slot).expect("ready");
    rx.release(slot + 1);
    value
}

#[test]
fn slots_arrive_whole_once_and_in_order() {
    for cells in [1_usize, 2, 4] {
        loom::model(move || {
            let (mut tx, mut rx) = ring(vec![0_u64; cells], 1);
            let mut rx = rx.remove(0);
            let producer = thread::spawn(move || (0..3).for_each(|slot| write(&mut tx, slot)));
            for slot in 0..3 {
                assert_eq!(read(&mut rx, slot), 10 + slot);
            }
            producer.join().expect("no panic");
        });
    }
}

#[test]
fn a_reader_that_passes_slots_by_and_a_writer_that_leaves_them_out_never_meet_in_a_cell() {
    loom::model(|| {
        let (mut tx, mut rx) = ring(vec![0_u64; 2], 1);
        let mut rx = rx.remove(0);
        let producer = thread::spawn(move || {
            for slot in [0, 1, 3, 4] {
                if let Some(cell) = tx.cell(slot) {
                    *cell = 10 + slot;
                    tx.publish(slot);
                }
            }
        });
        for slot in [0, 2, 3] {
            if let Some(&value) = rx.cell(slot) {
                // The slot itself, or what its cell held before it was left out.
                assert!(value == 10 + slot || value == 0 || value == 8 + slot, "slot {slot} holds {value}");
            }
            rx.release(slot + 1);
        }
        producer.join().expect("no panic");
    });
}

#[test]
fn a_cell_changed_in_place_by_its_only_reader_is_the_writers_again_afterwards() {
    loom::model(|| {
        let (mut tx, mut rx) = ring(vec![0_u64; 1], 1);
        let mut rx = rx.remove(0);
        let producer = thread::spawn(move || (0..2).for_each(|slot| write(&mut tx, slot)));
        for slot in 0..2 {
            while !rx.ready(slot) {
                thread::yield_now();
            }
            assert!(rx.open(slot));
            let cell = rx.opened_mut().expect("ready");
            assert_eq!(*cell, 10 + slot);
            *cell = 0;
            rx.release(slot + 1);
        }
        producer.join().expect("no panic");
    });
}

#[test]
fn the_writer_waits_for_the_slower_of_two_readers() {
    loom::model(|| {
        let (mut tx, rx) = ring(vec![0_u64; 1], 2);
        let readers: Vec<_> = rx
            .into_iter()
            .map(|mut rx| {
                thread::spawn(move || {
                    for slot in 0..2 {
                        if let Some(&value) = rx.cell(slot) {
                            assert_eq!(value, 10 + slot);
                        }
                        rx.release(slot + 1);
                    }
                })
            })
            .collect();
        for slot in 0..2 {
            if let Some(cell) = tx.cell(slot) {
                *cell = 10 + slot;
                tx.publish(slot);
            }
        }
        for reader in readers {
            reader.join().expect("no panic");
        }
    });
}

#[test]
fn nothing_is_slept_over() {
    loom::model(|| {
        let (mut tx, mut rx) = ring(vec![0_u64; 2], 1);
        let rx = rx.remove(0);
        let reader_sleeps = loom::sync::Arc::new(Sleep::default());
        let sleep = loom::sync::Arc::clone(&reader_sleeps);
        let producer = thread::spawn(move || {
            write(&mut tx, 0);
            sleep.needs_wake()
        });
        reader_sleeps.begin();
        let found = rx.ready(0);
        let woken = producer.join().expect("no panic");
        assert!(found || woken, "it sleeps, and the writer does not wake it");
    });
}
