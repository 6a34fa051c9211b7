//! From datagrams to slots: what comes in any order, twice, late, cut or from nobody we know becomes whole packets, in order, each
//! once. Memory is fixed; a slot is given up as soon as a later one is whole.

use std::sync::Arc;

use takt_graph::Item;
use takt_wire::bridge::{BridgeData, BridgeHead};

use super::ends::{Tally, count};
use super::lane::{End, Parcel};
use super::marks::Marks;
use super::order;

/// Slots that may be open at a time.
const OPEN: usize = 4;

/// How a stream's slots are cut into datagrams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    pub(super) item: Item,
    /// Bytes of the longest packet.
    pub(super) most_bytes: usize,
    /// Bytes of items in every datagram but a slot's last.
    pub(super) part_bytes: usize,
}

impl Layout {
    /// `payload_bytes`: of the longest datagram of the engine.
    pub(super) fn new(item: Item, most_items: u64, payload_bytes: usize) -> Layout {
        let room = payload_bytes.saturating_sub(BridgeHead::OVERHEAD_BYTES) & !7;
        let most_bytes = usize::try_from(most_items).unwrap_or(usize::MAX).saturating_mul(item.bytes());
        Layout { item, most_bytes, part_bytes: room.max(8) }
    }

    /// The UDP payload of a datagram with so many bytes of items.
    pub(super) fn datagram_bytes(items: usize) -> usize {
        items.next_multiple_of(4) + BridgeHead::OVERHEAD_BYTES
    }

    /// Bytes of items in the datagram of this number, of a slot of so many.
    pub(super) fn items_bytes(&self, bytes: usize, part: usize) -> usize {
        bytes.saturating_sub(part * self.part_bytes).min(self.part_bytes)
    }

    /// Datagrams of a slot of so many bytes: at least one.
    pub(super) fn parts(&self, bytes: usize) -> usize {
        bytes.div_ceil(self.part_bytes).max(1)
    }
}

/// A slot that is not whole yet.
struct Open {
    parcel: Parcel,
    seen: Box<[bool]>,
    have: usize,
    /// Known once its last datagram is there.
    parts: Option<usize>,
}

/// Puts the slots of one stream together.
pub(super) struct Assembler {
    layout: Layout,
    lane: End,
    tally: Arc<Tally>,
    open: Vec<Open>,
    /// Parcels of slots that were given up.
    free: Vec<Parcel>,
    spare: Vec<Box<[bool]>>,
    /// Slots that are counted as crowded.
    crowded: Marks,
    /// All slots before this one are over.
    next: u64,
}

impl Assembler {
    pub(super) fn new(layout: Layout, lane: End, tally: Arc<Tally>) -> Assembler {
        let parts = layout.parts(layout.most_bytes);
        let spare = (0..OPEN).map(|_| vec![false; parts].into_boxed_slice()).collect();
        Assembler {
            layout,
            lane,
            tally,
            open: Vec::with_capacity(OPEN),
            free: Vec::with_capacity(OPEN),
            spare,
            crowded: Marks::default(),
            next: 0,
        }
    }

    /// Takes one datagram. No producer can have made a slot after `newest`.
    pub(super) fn take(&mut self, data: &BridgeData<'_>, newest: u64) {
        count(&self.tally.datagrams, 1);
        count(&self.tally.bytes, Layout::datagram_bytes(data.payload.len()) as u64);
        // The slot nearest to the newest that ends in these 32 bits. Not to the one expected: a placing that a run has gone over
        // to expects the first slot, whatever slot the run is in.
        let ahead = data.head.slot.wrapping_sub(newest as u32) as i32;
        let Some(slot) = newest.checked_add_signed(ahead.into()).filter(|&slot| slot >= self.next) else {
            return count(&self.tally.late_datagrams, 1);
        };
        let placed = self.place(data).filter(|_| slot <= newest);
        let Some((index, at)) = placed else { return count(&self.tally.broken_datagrams, 1) };
        let Some(open) = self.opened(slot) else { return self.refuse(slot) };
        let slot_is_whole = open.put(data, index, at);
        if slot_is_whole {
            self.hand_over(slot);
        }
    }

    /// Number of the datagram within its slot, and its first byte; `None` if it does not fit the stream.
    fn place(&self, data: &BridgeData<'_>) -> Option<(usize, usize)> {
        let item_bytes = self.layout.item.bytes();
        let at = usize::try_from(data.head.first_item).ok()?.checked_mul(item_bytes)?;
        let end = at.checked_add(data.payload.len())?;
        let whole = data.payload.len().is_multiple_of(item_bytes) && at.is_multiple_of(self.layout.part_bytes);
        let full = data.payload.len() == self.layout.part_bytes || data.head.part.is_last();
        let fits = end <= self.layout.most_bytes && data.payload.len() <= self.layout.part_bytes;
        (whole && full && fits).then_some((at / self.layout.part_bytes, at))
    }

    /// The slot, opened if it is new. The oldest gives way where there are too many, if it is older.
    fn opened(&mut self, slot: u64) -> Option<&mut Open> {
        if let Some(at) = self.open.iter().position(|open| open.parcel.slot == slot) {
            return self.open.get_mut(at);
        }
        if self.open.len() >= OPEN {
            let (at, oldest) = self.open.iter().enumerate().min_by_key(|(_, open)| open.parcel.slot)?;
            if oldest.parcel.slot > slot {
                return None;
            }
            self.close(at);
        }
        let mut parcel = self.free.pop().or_else(|| self.lane.from.pop().ok())?;
        let mut seen = self.spare.pop()?;
        seen.fill(false);
        (parcel.slot, parcel.len, parcel.valid) = (slot, 0, true);
        self.open.push(Open { parcel, seen, have: 0, parts: None });
        self.open.last_mut()
    }

    /// Counts a slot without room, once for all of its datagrams.
    fn refuse(&mut self, slot: u64) {
        if self.crowded.mark(slot) {
            count(&self.tally.crowded_slots, 1);
        }
    }

    /// Gives up an open slot; what it took is used for another.
    fn close(&mut self, at: usize) {
        let open = self.open.swap_remove(at);
        self.spare.push(open.seen);
        self.free.push(open.parcel);
    }

    /// Hands over a whole slot, and gives up those before it.
    fn hand_over(&mut self, slot: u64) {
        while let Some(at) = self.open.iter().position(|open| open.parcel.slot < slot) {
            self.close(at);
        }
        let Some(at) = self.open.iter().position(|open| open.parcel.slot == slot) else { return };
        let mut open = self.open.swap_remove(at);
        self.spare.push(open.seen);
        let len = open.parcel.len;
        order::take(self.layout.item, open.parcel.bytes.get_mut(..len).unwrap_or_default());
        let _ = self.lane.to.push(open.parcel);
        self.next = slot + 1;
    }
}

impl Open {
    /// Whether all of the slot is there now.
    fn put(&mut self, data: &BridgeData<'_>, index: usize, at: usize) -> bool {
        let (Some(seen), Some(room)) =
            (self.seen.get_mut(index), self.parcel.bytes.get_mut(at..at + data.payload.len()))
        else {
            return false;
        };
        if !std::mem::replace(seen, true) {
            room.copy_from_slice(data.payload);
            self.have += 1;
            self.parcel.valid &= data.head.valid;
        }
        if data.head.part.is_last() {
            self.parts = Some(index + 1);
            self.parcel.len = at + data.payload.len();
        }
        self.parts == Some(self.have)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use takt_wire::bridge::Part;

    use super::super::lane::lane;
    use super::*;

    const LAYOUT: Layout = Layout { item: Item::Byte, most_bytes: 40, part_bytes: 8 };

    fn datagrams(slot: u64, bytes: &[u8]) -> Vec<(BridgeHead, Vec<u8>)> {
        let parts = LAYOUT.parts(bytes.len());
        let head = |index: usize| BridgeHead {
            count: 0,
            stream_id: 1,
            slot: slot as u32,
            first_item: (index * LAYOUT.part_bytes) as u64,
            part: Part::of(index, parts),
            valid: true,
        };
        let piece = |index: usize| bytes.chunks(LAYOUT.part_bytes).nth(index).unwrap_or_default().to_vec();
        (0..parts).map(|index| (head(index), piece(index))).collect()
    }

    fn assembler() -> (Assembler, End, Arc<Tally>) {
        let (fill, empty) = lane(LAYOUT.most_bytes);
        let tally = Arc::new(Tally::default());
        (Assembler::new(LAYOUT, fill, Arc::clone(&tally)), empty, tally)
    }

    fn received(worker: &mut End) -> Vec<(u64, Vec<u8>)> {
        let mut all = Vec::new();
        while let Ok(parcel) = worker.from.pop() {
            all.push((parcel.slot, parcel.items().to_vec()));
            assert!(worker.to.push(parcel).is_ok(), "room for all");
        }
        all
    }

    fn feed(assembler: &mut Assembler, datagrams: &[(BridgeHead, Vec<u8>)]) {
        for (head, payload) in datagrams {
            assembler.take(&BridgeData { head: *head, payload }, 1000);
        }
    }

    #[test]
    fn a_slot_is_given_up_when_a_later_one_is_whole_and_what_comes_after_is_late() {
        let (mut assembler, mut worker, tally) = assembler();
        let (first, second) = (datagrams(0, &[1; 20]), datagrams(1, &[2; 20]));
        feed(&mut assembler, &first[..2]);
        feed(&mut assembler, &second);
        feed(&mut assembler, &first[2..]);
        assert_eq!(received(&mut worker), [(1, vec![2; 20])]);
        assert_eq!(tally.late_datagrams.load(std::sync::atomic::Ordering::Relaxed), 1);
    }

    #[test]
    fn what_no_producer_can_have_made_moves_nothing() {
        let (mut assembler, mut worker, tally) = assembler();
        feed(&mut assembler, &datagrams(1001, &[9; 3]));
        feed(&mut assembler, &datagrams(0, &[1; 3]));
        assert_eq!(received(&mut worker), [(0, vec![1; 3])]);
        assert_eq!(tally.broken_datagrams.load(std::sync::atomic::Ordering::Relaxed), 1);
    }

    #[test]
    fn a_placing_that_begins_late_in_a_long_run_receives_its_slots() {
        for first in [1 << 31, (1 << 32) - 1, 1 << 32, (7 << 32) + 5] {
            let (mut assembler, mut worker, tally) = assembler();
            for slot in first..first + 3 {
                for (head, payload) in datagrams(slot, &[slot as u8; 20]) {
                    assembler.take(&BridgeData { head, payload: &payload }, slot + 1);
                }
                assert_eq!(received(&mut worker), [(slot, vec![slot as u8; 20])]);
            }
            assert_eq!(tally.late_datagrams.load(std::sync::atomic::Ordering::Relaxed), 0);
        }
    }

    #[test]
    fn a_worker_that_takes_nothing_costs_slots_and_no_more() {
        let (mut assembler, mut worker, tally) = assembler();
        for slot in 0..100 {
            feed(&mut assembler, &datagrams(slot, &[slot as u8]));
        }
        assert_eq!(received(&mut worker).len(), super::super::lane::PARCELS);
        assert_eq!(tally.crowded_slots.load(std::sync::atomic::Ordering::Relaxed), 92);
        feed(&mut assembler, &datagrams(100, &[7]));
        assert_eq!(received(&mut worker), [(100, vec![7])]);
    }

    #[test]
    fn a_slot_without_room_counts_once_however_many_datagrams_it_has_and_in_whatever_order_they_come() {
        let slots = || (0..100).map(|slot| datagrams(slot, &[slot as u8; 20]));
        let in_turn: Vec<_> = slots().flatten().collect();
        // The first eight, which the lane has room for; of the others first datagram after first datagram, then the second.
        let first = slots().take(super::super::lane::PARCELS).flatten();
        let others = |part: usize| slots().skip(super::super::lane::PARCELS).map(move |slot| slot[part].clone());
        let mixed: Vec<_> = first.chain((0..3).flat_map(others)).collect();
        for all in [in_turn, mixed] {
            assert_eq!(all.len(), 300);
            let (mut assembler, mut worker, tally) = assembler();
            feed(&mut assembler, &all);
            assert_eq!(received(&mut worker).len(), super::super::lane::PARCELS);
            assert_eq!(tally.crowded_slots.load(std::sync::atomic::Ordering::Relaxed), 92);
        }
    }

    proptest! {
        #[test]
        fn a_slot_comes_whole_or_not_at_all_and_in_order(
            lengths in prop::collection::vec(0..=40_usize, 1..12),
            moves in prop::collection::vec((0..3_i8, 0..10_usize), 60),
        ) {
            let (mut assembler, mut worker, _) = assembler();
            let slots: Vec<Vec<u8>> = lengths.iter().enumerate()
                .map(|(slot, &len)| (0..len).map(|at| (slot * 41 + at) as u8).collect()).collect();
            let mut all: Vec<_> = slots.iter().enumerate().flat_map(|(slot, bytes)| datagrams(slot as u64, bytes)).collect();
            // Lost, doubled, or moved by some places.
            for (index, (what, by)) in moves.into_iter().enumerate() {
                if all.is_empty() { break; }
                let at = index * 7 % all.len();
                match what {
                    0 => { all.remove(at); }
                    1 => all.insert(at, all[at].clone()),
                    _ => { let to = (at + by) % all.len(); all.swap(at, to); }
                }
            }
            let mut last = None;
            for one in &all {
                feed(&mut assembler, std::slice::from_ref(one));
                for (slot, bytes) in received(&mut worker) {
                    prop_assert!(last < Some(slot));
                    prop_assert_eq!(&bytes, &slots[slot as usize]);
                    last = Some(slot);
                }
            }
        }

        #[test]
        fn no_datagram_breaks_anything(
            heads in prop::collection::vec((any::<u32>(), 0..60_u64, 0..4_usize, any::<bool>(), 0..60_usize), 0..60)
        ) {
            let (mut assembler, mut worker, _) = assembler();
            for (slot, first_item, part, valid, len) in heads {
                let part = [Part::Whole, Part::First, Part::Middle, Part::Final][part];
                let head = BridgeHead { count: 0, stream_id: 1, slot: slot % 40, first_item, part, valid };
                assembler.take(&BridgeData { head, payload: &vec![7; len] }, 1000);
                prop_assert!(received(&mut worker).iter().all(|(_, bytes)| bytes.len() <= LAYOUT.most_bytes));
            }
        }
    }
}
