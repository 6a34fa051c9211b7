//! A link's ring of cells: whole slots from one writer to one or more readers, without waiting and without locks.
//!
//! Slots count up from 0, and slot s uses cell `s % n`; n is a power of two, so that the remainder is a mask. A writer may
//! leave slots out; a reader may pass them by. A cell of a slot that was left out holds what the ring held before. A
//! user that cares keeps the slot in the cell and compares. Both say how far they are in one word each:
//!
//! - `written`: the writer will never again touch the cell of a slot below it (as that slot);
//! - `read[r]`: reader r will never again touch the cell of a slot below it.
//!
//! The writer touches the cell of slot s only if s >= written and s < `read[r]` + n for all r. Reader r touches the cell
//! of slot s only if `read[r]` <= s < written. So two that touch the same cell at once would be slots s_w = s_r + m·n with
//! m >= 1, and then s_w >= `read[r]` + n: excluded.
//!
//! A side that touches a cell more than once opens it: whether it may is checked once, and remembered until the slot is
//! handed over or released.
//!
//! Orderings, each checked by `tests/loom_link.rs`:
//! - A. `written`: Release by the writer, Acquire by a reader, so that a reader that may take a slot reads all of it;
//! - B. `read`: Release by a reader, Acquire by the writer, so that a writer that may reuse a cell comes after its last reading.
//!
//! No other word is shared. Both ends remember the last word they saw of the other and look again only when it does not
//! suffice: a word that another core writes costs a trip between the cores each time it is looked at.
#![allow(unsafe_code)]

use std::cell::Cell;

use crate::sync::{Arc, AtomicU64, CachePadded, Ordering, UnsafeCell};

struct Shared<C> {
    cells: Box<[UnsafeCell<C>]>,
    written: CachePadded<AtomicU64>,
    read: Box<[CachePadded<AtomicU64>]>,
}

// SAFETY: cells are reached through a `Writer` (exclusively) and `Reader`s (shared, or exclusively by a sole one), never
// two at once in conflict: the argument of the module page. Several readers share a cell, hence `Sync`.
unsafe impl<C: Send + Sync> Sync for Shared<C> {}
// SAFETY: as above; the cells themselves move between threads.
unsafe impl<C: Send + Sync> Send for Shared<C> {}

impl<C> Shared<C> {
    #[inline]
    fn index(&self, slot: u64) -> usize {
        // The mask of a power of two; the cast keeps the bits that count.
        slot as usize & (self.cells.len() - 1)
    }

    #[inline]
    fn cell(&self, slot: u64) -> &UnsafeCell<C> {
        &self.cells[self.index(slot)]
    }
}

/// The index of no cell.
const NONE: usize = usize::MAX;

/// The producing end. Not `Clone`: one writer.
pub struct Writer<C> {
    shared: Arc<Shared<C>>,
    next: u64,
    /// All slots below it were free when last looked.
    free: Cell<u64>,
    /// The cell of a slot that was free; `NONE` once anything was handed over.
    open: usize,
}

/// A consuming end.
pub struct Reader<C> {
    shared: Arc<Shared<C>>,
    index: usize,
    next: u64,
    /// `written` when last looked.
    written: Cell<u64>,
    /// The cell of a slot that was handed over; `NONE` once anything was released.
    open: usize,
}

/// A ring of these cells, a power of two, for so many readers, at least one.
///
/// # Panics
/// With another number of cells, or without readers.
pub fn ring<C: Send + Sync>(cells: impl IntoIterator<Item = C>, readers: usize) -> (Writer<C>, Vec<Reader<C>>) {
    let cells: Box<[UnsafeCell<C>]> = cells.into_iter().map(UnsafeCell::new).collect();
    assert!(cells.len().is_power_of_two() && readers > 0, "a ring has 1, 2, 4, ... cells, and readers");
    let read = (0..readers).map(|_| CachePadded(AtomicU64::new(0))).collect();
    let shared = Arc::new(Shared { cells, written: CachePadded(AtomicU64::new(0)), read });
    let reader = |index| Reader { shared: Arc::clone(&shared), index, next: 0, written: Cell::new(0), open: NONE };
    let writer = Writer { shared: Arc::clone(&shared), next: 0, free: Cell::new(0), open: NONE };
    (writer, (0..readers).map(reader).collect())
}

impl<C> Writer<C> {
    /// The first slot that can't be written; looked up anew unless `slot` can, as far as is known.
    #[inline]
    pub fn free_until(&self, slot: u64) -> u64 {
        if slot >= self.free.get() {
            let read = |read: &CachePadded<AtomicU64>| read.0.load(Ordering::Acquire); // B
            let slowest = self.shared.read.iter().map(read).min().unwrap_or(0);
            self.free.set(slowest.saturating_add(self.shared.cells.len() as u64));
        }
        self.free.get()
    }

    /// Whether the cell of `slot` can be written: it was not handed over yet, and all readers have left it.
    #[inline]
    pub fn free(&self, slot: u64) -> bool {
        self.next <= slot && slot < self.free_until(slot)
    }

    /// Opens the cell of `slot` to fill, until the next `publish`; `false`: it is not free, and none is open.
    #[inline]
    pub fn open(&mut self, slot: u64) -> bool {
        let free = self.free(slot);
        self.open = if free { self.shared.index(slot) } else { NONE };
        free
    }

    /// Whether a cell is open.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.open != NONE
    }

    /// The open cell.
    #[inline]
    pub fn opened(&mut self) -> Option<&mut C> {
        let cell = self.shared.cells.get(self.open)?;
        // SAFETY: `open` found its slot free: slot >= written and all readers have left the cell, until `publish`, which
        // closes it and needs this borrow to have ended. One writer, which is borrowed exclusively.
        Some(cell.with_mut(|cell| unsafe { &mut *cell }))
    }

    /// The cell of `slot` to fill; `None` unless it is free.
    #[inline]
    pub fn cell(&mut self, slot: u64) -> Option<&mut C> {
        if self.open(slot) { self.opened() } else { None }
    }

    /// Hands over `slot` and gives up all before it. Does nothing for a slot handed over already.
    #[inline]
    pub fn publish(&mut self, slot: u64) {
        self.open = NONE;
        if slot >= self.next {
            self.next = slot.saturating_add(1);
            self.shared.written.0.store(self.next, Ordering::Release); // A
        }
    }

    /// The first slot that was not handed over.
    #[inline]
    pub fn next(&self) -> u64 {
        self.next
    }
}

impl<C> Reader<C> {
    /// The first slot that was not handed over; looked up anew unless `slot` was, as far as is known.
    #[inline]
    pub fn ready_until(&self, slot: u64) -> u64 {
        if self.written.get() <= slot {
            self.written.set(self.shared.written.0.load(Ordering::Acquire)); // A
        }
        self.written.get()
    }

    /// Whether `slot` was handed over, or left out for a later one that was.
    #[inline]
    pub fn ready(&self, slot: u64) -> bool {
        self.ready_until(slot) > slot
    }

    /// Opens the cell of `slot`, until the next `release`; `false`: it was not handed over, or released, and none is open.
    #[inline]
    pub fn open(&mut self, slot: u64) -> bool {
        let there = slot >= self.next && self.ready(slot);
        self.open = if there { self.shared.index(slot) } else { NONE };
        there
    }

    /// The open cell.
    #[inline]
    pub fn opened(&self) -> Option<&C> {
        let cell = self.shared.cells.get(self.open)?;
        // SAFETY: `open` found read <= slot < written: the writer stays away until `release`, which closes it and needs
        // this borrow to have ended. Other readers have shared references as well: a sole reader alone gets exclusive ones.
        Some(cell.with(|cell| unsafe { &*cell }))
    }

    /// The open cell, to change in place; `None` unless this is the only reader.
    #[inline]
    pub fn opened_mut(&mut self) -> Option<&mut C> {
        if self.shared.read.len() != 1 {
            return None;
        }
        let cell = self.shared.cells.get(self.open)?;
        // SAFETY: as in `opened`; there is no other reader, and this one is borrowed exclusively.
        Some(cell.with_mut(|cell| unsafe { &mut *cell }))
    }

    /// The cell of `slot`; `None` unless it was handed over and not released.
    #[inline]
    pub fn cell(&self, slot: u64) -> Option<&C> {
        if slot < self.next || !self.ready(slot) {
            return None;
        }
        // SAFETY: as in `opened`; the borrow ends before `release` as well.
        Some(self.shared.cell(slot).with(|cell| unsafe { &*cell }))
    }

    /// Gives up all slots below `slot`. Never goes back.
    #[inline]
    pub fn release(&mut self, slot: u64) {
        self.open = NONE;
        if slot > self.next {
            self.next = slot;
            self.shared.read[self.index].0.store(slot, Ordering::Release); // B
        }
    }

    /// The first slot that was not released.
    #[inline]
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
        assert!(rx[1].open(1) && rx[1].opened_mut().is_none(), "not the only reader");
    }

    #[test]
    fn a_slot_left_out_holds_what_was_there_before() {
        let (mut tx, mut rx) = ring([u64::MAX; 2], 1);
        tx.publish(4);
        assert_eq!(rx[0].cell(4), Some(&u64::MAX));
        assert!(rx[0].open(4));
        *rx[0].opened_mut().expect("sole reader") = 7;
        assert_eq!(rx[0].cell(2), Some(&7), "slots 2 and 4 share a cell");
        rx[0].release(9);
        assert!(tx.cell(3).is_none(), "handed over already");
        assert!(tx.cell(10).is_some() && tx.cell(11).is_none());
    }

    #[test]
    fn a_cell_is_open_from_when_it_was_free_until_it_is_handed_over_or_released() {
        let (mut tx, mut rx) = ring([0_u64; 2], 1);
        let mut rx = rx.remove(0);
        assert!(tx.opened().is_none() && !rx.open(0) && rx.opened().is_none());
        assert!(tx.open(0));
        *tx.opened().expect("open") = 7;
        tx.publish(0);
        assert!(!tx.is_open() && tx.opened().is_none(), "handed over");
        assert!(rx.open(0) && rx.opened() == Some(&7));
        assert!(tx.open(1) && !tx.open(2) && tx.opened().is_none(), "not free: the one before is closed as well");
        rx.release(0);
        assert!(rx.opened().is_none() && rx.open(0));
        rx.release(1);
        assert!(rx.opened().is_none() && !rx.open(0));
    }

    #[test]
    fn two_threads_pass_every_slot_in_order() {
        let slots = if cfg!(miri) { 50 } else { 2000 };
        let (mut tx, mut rx) = ring([0_u64; 4], 1);
        let mut rx = rx.remove(0);
        std::thread::scope(|scope| {
            scope.spawn(move || {
                for slot in 0..slots {
                    until(|| tx.free(slot));
                    *tx.cell(slot).expect("free") = slot * 3;
                    tx.publish(slot);
                }
            });
            for slot in 0..slots {
                until(|| rx.ready(slot));
                assert_eq!(rx.cell(slot), Some(&(slot * 3)));
                rx.release(slot + 1);
            }
        });
    }

    /// Looks a while before it leaves the processor to others: a yield to busy ones costs a turn of theirs.
    fn until(ready: impl Fn() -> bool) {
        while !ready() {
            if (0..1000).all(|_| {
                std::hint::spin_loop();
                !ready()
            }) {
                std::thread::yield_now();
            }
        }
    }
}
