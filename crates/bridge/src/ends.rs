//! The components at both ends of a stream: one hands a slot's packet to the thread that sends, one takes it from the thread
//! that receives. They are part of the slot loop: no wait, no allocation, no system call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use takt_graph::Value;
use takt_runtime::{Component, Io};

use super::lane::{End, Parcel};
use super::marks::Marks;

/// Fate of a stream's slots. One writer each; read for reports.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Slots handed over, at the sender to the wire, at the receiver to the waveform.
    pub(super) slots: AtomicU64,
    /// Slots for which the thread had no room.
    pub(super) crowded_slots: AtomicU64,
    /// Slots of which nothing, or not all, had come when they were needed.
    pub(super) lost_slots: AtomicU64,
    /// Slots among these that came whole after they were needed.
    pub(super) late_slots: AtomicU64,
    /// Slots that the producer on the other machine had missed.
    pub(super) missed_slots: AtomicU64,
    /// Datagrams sent or received.
    pub(super) datagrams: AtomicU64,
    /// Their UDP payloads.
    pub(super) bytes: AtomicU64,
    /// Datagrams of slots that were over.
    pub(super) late_datagrams: AtomicU64,
    /// Datagrams that nobody could use: cut, or not of this stream's layout.
    pub(super) broken_datagrams: AtomicU64,
    /// Datagrams that the kernel would not send.
    pub(super) unsent_datagrams: AtomicU64,
}

/// Adds one. Each counter has one writer, so a load and a store are enough.
pub(super) fn count(counter: &AtomicU64, more: u64) {
    counter.store(counter.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}

impl Tally {
    fn results(&self, names: &[(&'static str, &AtomicU64)]) -> Vec<(&'static str, Value)> {
        let value = |count: &AtomicU64| Value::Int(i64::try_from(count.load(Ordering::Relaxed)).unwrap_or(i64::MAX));
        names.iter().map(|(name, count)| (*name, value(count))).collect()
    }
}

/// Hands each packet to the thread that sends.
pub(super) struct Send {
    pub(super) lane: End,
    pub(super) tally: Arc<Tally>,
}

impl Component for Send {
    fn tick(&mut self, io: &mut Io<'_>) {
        let Ok(mut parcel) = self.lane.from.pop() else { return count(&self.tally.crowded_slots, 1) };
        let input = &io.inputs[0];
        let bytes = input.bytes();
        parcel.slot = io.slot;
        parcel.valid = !input.is_missing();
        parcel.len = 0;
        if let Some(room) = parcel.bytes.get_mut(..bytes.len()) {
            room.copy_from_slice(bytes);
            parcel.len = bytes.len();
        }
        // As many places as parcels.
        let _ = self.lane.to.push(parcel);
        count(&self.tally.slots, 1);
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        let tally = &self.tally;
        tally.results(&[
            ("sent_slots", &tally.slots),
            ("crowded_slots", &tally.crowded_slots),
            ("sent_datagrams", &tally.datagrams),
            ("unsent_datagrams", &tally.unsent_datagrams),
        ])
    }
}

/// Gives what the thread that receives has put together; where a slot is not there, nothing.
pub(super) struct Receive {
    lane: End,
    /// Parcel of a later slot than the last one wanted.
    pending: Option<Parcel>,
    item_bytes: usize,
    tally: Arc<Tally>,
    /// Slots that are counted as lost and may still come.
    lost: Marks,
}

impl Receive {
    pub(super) fn new(lane: End, item_bytes: usize, tally: Arc<Tally>) -> Receive {
        Receive { lane, pending: None, item_bytes, tally, lost: Marks::default() }
    }

    /// The packet of a slot, counted as lost if it is not there.
    fn wanted(&mut self, slot: u64) -> Option<Parcel> {
        let parcel = self.parcel(slot);
        if parcel.is_none() {
            count(&self.tally.lost_slots, 1);
            self.lost.mark(slot);
        }
        parcel
    }

    /// The packet of a slot, if it is there; those of earlier ones go back.
    fn parcel(&mut self, slot: u64) -> Option<Parcel> {
        loop {
            let parcel = self.pending.take().or_else(|| self.lane.from.pop().ok())?;
            if parcel.slot == slot {
                return Some(parcel);
            }
            if parcel.slot > slot {
                self.pending = Some(parcel);
                return None;
            }
            // A slot that the worker passed by was not needed: its packet may have come in time.
            if self.lost.unmark(parcel.slot) {
                count(&self.tally.late_slots, 1);
            }
            self.give_back(parcel);
        }
    }

    fn give_back(&mut self, parcel: Parcel) {
        // As many places as parcels.
        let _ = self.lane.to.push(parcel);
    }
}

impl Component for Receive {
    fn tick(&mut self, io: &mut Io<'_>) {
        let Some(parcel) = self.wanted(io.slot) else { return io.lose() };
        let output = &mut io.outputs[0];
        output.truncate(parcel.len / self.item_bytes);
        let room = output.bytes_mut();
        if parcel.valid && room.len() == parcel.len {
            room.copy_from_slice(parcel.items());
            count(&self.tally.slots, 1);
        } else {
            count(&self.tally.missed_slots, 1);
            io.lose();
        }
        self.give_back(parcel);
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        let tally = &self.tally;
        tally.results(&[
            ("received_slots", &tally.slots),
            ("lost_slots", &tally.lost_slots),
            ("late_slots", &tally.late_slots),
            ("missed_by_producer_slots", &tally.missed_slots),
            ("crowded_slots", &tally.crowded_slots),
            ("received_datagrams", &tally.datagrams),
            ("late_datagrams", &tally.late_datagrams),
            ("broken_datagrams", &tally.broken_datagrams),
        ])
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::super::lane::lane;
    use super::*;

    fn receive() -> (End, Receive) {
        let (fill, empty) = lane(8);
        (fill, Receive::new(empty, 1, Arc::new(Tally::default())))
    }

    /// A whole slot comes; `false` if the lane has no room.
    fn come(fill: &mut End, slot: u64) -> bool {
        let Ok(parcel) = fill.from.pop() else { return false };
        fill.to.push(Parcel { slot, valid: true, ..parcel }).is_ok()
    }

    /// As a slot of the worker has it: whether the packet is there.
    fn tick(receive: &mut Receive, slot: u64) -> bool {
        let parcel = receive.wanted(slot);
        parcel.map(|parcel| receive.give_back(parcel)).is_some()
    }

    /// Slots lost, and of these late.
    fn lost(receive: &Receive) -> (u64, u64) {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        (read(&receive.tally.lost_slots), read(&receive.tally.late_slots))
    }

    #[test]
    fn what_came_for_slots_that_the_worker_passed_by_is_not_late() {
        let (mut fill, mut receive) = receive();
        assert!((0..5).all(|slot| come(&mut fill, slot)));
        assert!(!tick(&mut receive, 5));
        assert_eq!(lost(&receive), (1, 0));
    }

    #[test]
    fn what_comes_after_its_slot_was_lost_is_late() {
        let (mut fill, mut receive) = receive();
        assert!(!tick(&mut receive, 0));
        assert!(come(&mut fill, 0) && come(&mut fill, 1));
        assert!(tick(&mut receive, 1));
        assert_eq!(lost(&receive), (1, 1));
        // However many slots pass by before anybody sees it.
        assert!(!tick(&mut receive, 2));
        assert!((2..8).all(|slot| come(&mut fill, slot)));
        assert!(!tick(&mut receive, 1_000_000));
        assert_eq!(lost(&receive), (3, 2));
    }

    proptest! {
        #[test]
        fn late_slots_are_those_lost_ones_that_come_afterwards(
            steps in prop::collection::vec((any::<bool>(), prop_oneof![9 => 1..4_u64, 1 => 1..20_u64]), 0..200)
        ) {
            let (mut fill, mut receive) = receive();
            let (mut next_come, mut next_tick) = (0, 0);
            let (mut missing, mut late) = (BTreeSet::new(), BTreeSet::new());
            for (comes, by) in steps {
                if comes {
                    // Like the assembler: in order, some left out.
                    if come(&mut fill, next_come) && missing.contains(&next_come) { late.insert(next_come); }
                    next_come += by;
                } else {
                    next_tick += by;
                    if !tick(&mut receive, next_tick) { missing.insert(next_tick); }
                    let (lost_slots, late_slots) = lost(&receive);
                    prop_assert_eq!(lost_slots, missing.len() as u64);
                    // All that has come for slots before this one is seen by now.
                    prop_assert_eq!(late_slots, late.range(..next_tick).count() as u64);
                    prop_assert!(late_slots <= lost_slots);
                }
            }
        }
    }
}
