//! A link's ring of cells: whole slots from one writer to one or more readers, without waiting and without locks.
//!
//! Slots count up from 0 and slot s uses cell `s % n`, n a power of two, so that the remainder is a mask. A writer may leave slots out; a reader may pass them by. Both say
//! how far they are in one word each:
//!
//! - `written`: the writer will never again touch the cell of a slot below it (as that slot);
//! - `read[r]`: reader r will never again touch the cell of a slot below it.
//!
//! The writer touches the cell of slot s only if s >= written and s < `read[r]` + n for all r. Reader r touches the cell
//! of slot s only if `read[r]` <= s < written. So two that touch the same cell at once would be slots s_w = s_r + m·n with
//! m >= 1, and then s_w >= `read[r]` + n: excluded.
//!
//! Orderings, each checked by `tests/loom_link.rs`:
//! - A. `written`: Release by the writer, Acquire by a reader, so that who may take a slot sees all of it;
//! - B. `read`: Release by a reader, Acquire by the writer, so that who may reuse a cell comes after its last reading.
//!
//! No other word is shared. Both ends remember the last word they saw of the other and look again only when it does not
//! suffice: a word that another core writes costs a trip between the cores each time it is looked at. What a cell holds of a slot that was left out is what the ring held before: whoever cares
//! keeps the slot in the cell and compares.
#![allow(unsafe_code)]

use std::cell::Cell;

use crate::sync::{Alone, Arc, AtomicU64, Ordering, UnsafeCell};

struct Shared<C> {
    cells: Box<[UnsafeCell<C>]>,
    written: Alone<AtomicU64>,
    read: Box<[Alone<AtomicU64>]>,
}

// SAFETY: cells are reached through a `Writer` (exclusively) and `Reader`s (shared, or exclusively by a sole one), never
// two at once in conflict: the argument of the module page. Several readers share a cell, hence `Sync`.
unsafe impl<C: Send + Sync> Sync for Shared<C> {}
// SAFETY: as above; the cells themselves move between threads.
unsafe impl<C: Send + Sync> Send for Shared<C> {}

impl<C> Shared<C> {
    #[inline]
    fn cell(&self, slot: u64) -> &UnsafeCell<C> {
        // The mask of a power of two; the cast keeps the bits that count.
        &self.cells[slot as usize & (self.cells.len() - 1)]
    }
}

/// The producing end. Not `Clone`: one writer.
pub struct Writer<C> {
    shared: Arc<Shared<C>>,
    next: u64,
    /// All slots below it were free when last looked.
    free: Cell<u64>,
}

/// A consuming end.
pub struct Reader<C> {
    shared: Arc<Shared<C>>,
    index: usize,
    next: u64,
    /// `written` when last looked.
    seen: Cell<u64>,
}

/// A ring of these cells, a power of two, for so many readers, at least one.
///
/// # Panics
/// With another number of cells, or without readers.
pub fn ring<C: Send + Sync>(cells: impl IntoIterator<Item = C>, readers: usize) -> (Writer<C>, Vec<Reader<C>>) {
    let cells: Box<[UnsafeCell<C>]> = cells.into_iter().map(UnsafeCell::new).collect();
    assert!(cells.len().is_power_of_two() && readers > 0, "a ring has 1, 2, 4, ... cells, and readers");
    let read = (0..readers).map(|_| Alone(AtomicU64::new(0))).collect();
    let shared = Arc::new(Shared { cells, written: Alone(AtomicU64::new(0)), read });
    let reader = |index| Reader { shared: Arc::clone(&shared), index, next: 0, seen: Cell::new(0) };
    (Writer { shared: Arc::clone(&shared), next: 0, free: Cell::new(0) }, (0..readers).map(reader).collect())
}

impl<C> Writer<C> {
    /// Whether the cell of `slot` can be written: it was not handed over yet, and all readers have left it.
    #[inline]
    pub fn free(&self, slot: u64) -> bool {
        if slot >= self.free.get() {
            let read = |read: &Alone<AtomicU64>| read.0.load(Ordering::Acquire); // B
            let slowest = self.shared.read.iter().map(read).min().unwrap_or(0);
            self.free.set(slowest.saturating_add(self.shared.cells.len() as u64));
        }
        self.next <= slot && slot < self.free.get()
    }

    /// The cell of `slot` to fill; `None` unless it is free.
    #[inline]
    pub fn cell(&mut self, slot: u64) -> Option<&mut C> {
        if !self.free(slot) {
            return None;
        }
        // SAFETY: `free`: slot >= written and all readers have left the cell, until `publish`, which needs this borrow
        // to have ended. One writer, which is borrowed exclusively.
        Some(self.shared.cell(slot).with_mut(|cell| unsafe { &mut *cell }))
    }

    /// Hands over `slot` and gives up all before it. Does nothing for a slot handed over already.
    #[inline]
    pub fn publish(&mut self, slot: u64) {
        if slot >= self.next {
            self.next = slot.saturating_add(1);
            self.shared.written.0.store(self.next, Ordering::Release); // A
        }
    }

    /// The first slot that was not handed over.
    pub fn next(&self) -> u64 {
        self.next
    }
}

impl<C> Reader<C> {
    /// Whether `slot` was handed over, or left out for a later one that was.
    #[inline]
    pub fn ready(&self, slot: u64) -> bool {
        if self.seen.get() <= slot {
            self.seen.set(self.shared.written.0.load(Ordering::Acquire)); // A
        }
        self.seen.get() > slot
    }

    /// The cell of `slot`; `None` unless it was handed over and not released.
    #[inline]
    pub fn cell(&self, slot: u64) -> Option<&C> {
        if slot < self.next || !self.ready(slot) {
            return None;
        }
        // SAFETY: read <= slot < written: the writer stays away until `release`, which needs this borrow to have ended.
        // Other readers have shared references as well: a sole reader alone gets exclusive ones.
        Some(self.shared.cell(slot).with(|cell| unsafe { &*cell }))
    }

    /// The cell of `slot`, to change in place; `None` unless this is the only reader, and as [`Reader::cell`].
    #[inline]
    pub fn cell_mut(&mut self, slot: u64) -> Option<&mut C> {
        if slot < self.next || self.shared.read.len() != 1 || !self.ready(slot) {
            return None;
        }
        // SAFETY: as in `cell`; there is no other reader, and this one is borrowed exclusively.
        Some(self.shared.cell(slot).with_mut(|cell| unsafe { &mut *cell }))
    }

    /// Gives up all slots below `slot`. Never goes back.
    #[inline]
    pub fn release(&mut self, slot: u64) {
        if slot > self.next {
            self.next = slot;
            self.shared.read[self.index].0.store(slot, Ordering::Release); // B
        }
    }

    /// The first slot that was not released.
    pub fn next(&self) -> u64 {
        self.next
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_slow_reader_blocks_the_writer_and_none_else() {
        let (mut tx, mut rx) = ring([0_u64; 4], 2);
        for slot in 0..4 {
            *tx.cell(slot).expect("free") = 10 + slot;
            tx.publish(slot);
        }
        assert!(tx.cell(4).is_none());
        rx[0].release(4);
        assert!(tx.cell(4).is_none(), "the other reader is still there");
        assert_eq!(rx[1].cell(0), Some(&10));
        rx[1].release(1);
        assert!(tx.cell(4).is_some() && tx.cell(5).is_none());
        assert!(rx[1].cell(0).is_none(), "what was released is not had again");
        assert!(rx[1].cell_mut(1).is_none(), "not the only reader");
    }

    #[test]
    fn a_slot_left_out_holds_what_was_there_before() {
        let (mut tx, mut rx) = ring([u64::MAX; 2], 1);
        tx.publish(4);
        assert_eq!(rx[0].cell(4), Some(&u64::MAX));
        *rx[0].cell_mut(4).expect("sole reader") = 7;
        assert_eq!(rx[0].cell(2), Some(&7), "slots 2 and 4 share a cell");
        rx[0].release(9);
        assert!(tx.cell(3).is_none(), "handed over already");
        assert!(tx.cell(10).is_some() && tx.cell(11).is_none());
    }

    #[test]
    fn two_threads_pass_every_slot_in_order() {
        let slots = if cfg!(miri) { 50 } else { 100_000 };
        let (mut tx, mut rx) = ring([0_u64; 4], 1);
        let mut rx = rx.remove(0);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for slot in 0..slots {
                    while !tx.free(slot) {
                        std::thread::yield_now();
                    }
                    *tx.cell(slot).expect("free") = slot * 3;
                    tx.publish(slot);
                }
            });
            for slot in 0..slots {
                while !rx.ready(slot) {
                    std::thread::yield_now();
                }
                assert_eq!(rx.cell(slot), Some(&(slot * 3)));
                rx.release(slot + 1);
            }
        });
    }
}
