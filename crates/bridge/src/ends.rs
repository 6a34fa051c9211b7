//! The components at both ends of a stream: one hands a slot's packet to the thread that sends, one takes it from the thread
//! that receives. They are part of the slot loop: no wait, no allocation, no system call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use takt_graph::Value;
use takt_runtime::{Component, Io};

use super::lane::{End, Parcel};

/// What became of the slots of a stream. One writer each; read for reports.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Slots handed over, at the sender to the wire, at the receiver to the waveform.
    pub(super) slots: AtomicU64,
    /// Slots for which the thread had no room.
    pub(super) crowded_slots: AtomicU64,
    /// Slots of which nothing, or not all, had come when they were needed.
    pub(super) lost_slots: AtomicU64,
    /// Of these, slots that came whole after they were needed.
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
    pub(super) lane: End,
    /// Of a later slot than the last one wanted.
    pub(super) pending: Option<Parcel>,
    pub(super) item_bytes: usize,
    pub(super) tally: Arc<Tally>,
}

impl Receive {
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
            count(&self.tally.late_slots, 1);
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
        let Some(parcel) = self.parcel(io.slot) else {
            count(&self.tally.lost_slots, 1);
            return io.lose();
        };
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
