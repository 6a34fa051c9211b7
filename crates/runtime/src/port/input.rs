//! [`InPort`]: the packet of the slot, its history, and what is done where it is missing.
#![allow(unsafe_code)]

use std::ops::Deref;

use takt_graph::{Item, PortId};
use takt_link::ring::{Reader, ring};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::packet::{Cell, Header, Room};
use super::{BorrowedPacket, Place, Sample, Warm};

/// Which ring an input reads: of the graph's output, the ring of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) output: PortId,
    pub(crate) ring: usize,
}

/// An input of a component.
pub struct InPort {
    item: Item,
    /// Whether the packet of this slot is in the cell that its reader has open.
    in_ring: bool,
    item_bytes: usize,
    history: usize,
    /// History and packet of this slot.
    packet: BorrowedPacket,
    pub(crate) header: Header,
    reader: Reader<Cell>,
    /// Functional delay of the link, slots.
    pub(crate) delay: u64,
    /// The first slot of the producer whose packets it gets; a link that came with a change has none before.
    pub(crate) first: u64,
    pub(crate) source: Source,
    /// Room of the cells of its ring.
    pub(crate) room: Room,
    /// Place to which the buffer of a read packet goes.
    pub(crate) warm: Place,
    /// The last packet, kept where the producer's policy is to repeat it.
    last: Option<Box<Cell>>,
    /// Hash of what was received so far, if it is wanted.
    pub(crate) hash: Option<u64>,
    /// Packets that should have been there and were not.
    pub(crate) missing: u64,
}

/// The packet of an input.
#[derive(Clone, Copy, Debug)]
pub struct In<'a, T> {
    all: &'a [T],
    history: usize,
    header: Header,
}

impl<'a, T> In<'a, T> {
    /// The items of the history, oldest first, and those of this packet behind them, contiguous.
    #[must_use]
    pub fn with_history(&self) -> &'a [T] {
        self.all
    }

    /// Items of history that [`Self::with_history`] begins with.
    #[must_use]
    pub fn history(&self) -> usize {
        self.history
    }

    /// The items of this packet.
    #[must_use]
    pub fn items(&self) -> &'a [T] {
        self.all.get(self.history..).unwrap_or_default()
    }

    /// Sample index of the first item: how many the output gave before this packet, those of missed slots included where
    /// their number is fixed.
    #[must_use]
    pub fn first_item(&self) -> u64 {
        self.header.first_item
    }

    /// Whether there should be a packet and there is none, because its producer missed the slot.
    #[must_use]
    pub fn missing(&self) -> bool {
        self.header.missing
    }
}

impl<T> Deref for In<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        self.items()
    }
}

impl<'a, T> IntoIterator for In<'a, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;
    fn into_iter(self) -> Self::IntoIter {
        self.items().iter()
    }
}

impl InPort {
    pub(crate) fn new(item: Item, source: Source, delay: u32, history: usize, reader: Reader<Cell>) -> InPort {
        InPort {
            item,
            in_ring: false,
            item_bytes: item.bytes(),
            history,
            packet: BorrowedPacket::NONE,
            header: Header::default(),
            reader,
            delay: delay.into(),
            first: 0,
            source,
            room: Room::default(),
            warm: Place::NONE,
            last: None,
            hash: None,
            missing: 0,
        }
    }

    /// An input without a link, whose packets are placed ([`InPort::place`]).
    pub(crate) fn without_link(item: Item, history: usize) -> InPort {
        let source = Source { output: PortId { component: 0, port: 0 }, ring: 0 };
        let (_, mut readers) = ring([Cell::new(Room::default())], 1);
        InPort::new(item, source, 0, history, readers.remove(0))
    }

    /// Makes these bytes the packet, behind these, in memory of its own ([`InPort::keep_last`]).
    pub(crate) fn place(&mut self, before: &[u8], packet: &[u8], header: Header) {
        (self.packet, self.header) = (BorrowedPacket::NONE, header);
        let Some(cell) = &mut self.last else { return };
        let place = cell.buffer.bytes_mut(packet.len());
        if place.len() == packet.len() && before.len() + packet.len() > 0 {
            place.copy_from_slice(packet);
            cell.buffer.set_history(before);
            self.repeat();
        }
    }

    /// Makes the packet that is kept the one of this slot, of as many items as the header says.
    fn repeat(&mut self) {
        let Some(last) = &self.last else { return };
        // SAFETY: only `remember` and `place` write the memory of `last`, before they lend it; it goes with this port, or
        // `keep_last` or `succeed` replaces it, and both end this first.
        self.packet = unsafe { last.buffer.lend(self.history * self.item_bytes, self.header.items * self.item_bytes) };
    }

    /// The bytes of the history and of the packet behind it.
    pub(crate) fn bytes_with_history(&self) -> &[u8] {
        self.packet.items()
    }

    pub(crate) fn keep_last(&mut self, room: Room) {
        self.take_back();
        self.last = Some(Box::new(Cell::new(room)));
    }

    /// The packet of this slot.
    ///
    /// # Panics
    /// If the port carries items of another type: a mistake in the component, which its first test finds.
    #[must_use]
    #[inline]
    pub fn read<T: Sample>(&self) -> In<'_, T> {
        assert!(self.item == T::ITEM, "an input of {} read as {}", self.item, T::ITEM);
        let all: &[T] = self.packet.items();
        let history = if all.is_empty() { 0 } else { self.history };
        In { all, history, header: self.header }
    }

    /// Whether the packet of this slot is missing.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.header.missing
    }

    /// Items in the packet of this slot.
    #[inline]
    pub fn items(&self) -> usize {
        self.header.items
    }

    /// The packet of this slot, whatever its items.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        let all: &[u8] = self.packet.items();
        all.get(all.len().saturating_sub(self.header.items * self.item_bytes)..).unwrap_or_default()
    }

    /// The first logical slot whose packet can't be taken; from it on something is to be waited for. Looked up anew unless
    /// it is beyond `slot`, as far as is known.
    #[inline]
    pub(crate) fn ready_until(&self, slot: u64) -> u64 {
        // The packets before slot 0 are nowhere, and not waited for.
        let wanted = slot.checked_sub(self.delay);
        wanted.map_or(self.delay, |wanted| self.reader.ready_until(wanted).saturating_add(self.delay))
    }

    /// Points at the packet for logical slot `slot`, or at nothing.
    #[inline(always)]
    pub(crate) fn begin(&mut self, slot: u64) {
        match slot.checked_sub(self.delay) {
            Some(wanted) if wanted >= self.first => self.look(wanted),
            _ => (self.packet, self.header, self.in_ring) = (BorrowedPacket::NONE, Header::default(), false),
        }
        if self.hash.is_some() {
            self.fold();
        }
    }

    /// Points at the packet that was made in slot `wanted`.
    #[inline(always)]
    fn look(&mut self, wanted: u64) {
        self.reader.open(wanted);
        match self.reader.opened() {
            Some(cell) if cell.header.is_of(wanted) && !cell.header.missing => {
                (self.header, self.in_ring) = (cell.header, true);
                let (history, bytes) = (self.history * self.item_bytes, cell.header.items * self.item_bytes);
                // SAFETY: the writer stays away from the cell until `finish` or `release` releases it, and both end this
                // first; `cell_to_take` lends its buffer to who then calls `taken`.
                self.packet = unsafe { cell.buffer.lend(history, bytes) };
                if self.last.is_some() {
                    self.remember();
                }
            }
            _ => self.miss(),
        }
    }

    #[inline(never)]
    fn remember(&mut self) {
        if let (Some(last), Some(cell)) = (&mut self.last, self.reader.opened()) {
            last.header = cell.header;
            last.buffer.copy_from(&cell.buffer, cell.header.items * self.item_bytes);
        }
    }

    #[cold]
    fn miss(&mut self) {
        self.missing += 1;
        (self.packet, self.in_ring) = (BorrowedPacket::NONE, false);
        let last = self.last.as_ref().map_or(Header::default(), |last| last.header);
        self.header = Header { missing: true, ..last };
        self.repeat();
    }

    #[inline(never)]
    fn fold(&mut self) {
        if let Some(hash) = self.hash {
            let bytes = self.header.items * self.item_bytes;
            let seed = hash.rotate_left(5) ^ bytes as u64;
            self.hash = Some(xxh3_64_with_seed(self.bytes(), seed));
        }
    }

    /// The cell of the packet, for the one output that changes it in place.
    #[inline]
    pub(super) fn cell_to_take(&mut self) -> Option<&mut Cell> {
        if self.in_ring { self.reader.opened_mut() } else { None }
    }

    /// The packet was read: its memory is for the next to write.
    #[inline(always)]
    pub(crate) fn leave(&mut self, warm: &mut Warm) {
        let place = self.warm;
        if place != Place::NONE
            && let Some(cell) = self.cell_to_take()
        {
            warm.exchange(place, &mut cell.buffer);
            self.taken();
        }
    }

    /// The packet is an output's now.
    #[inline(always)]
    pub(crate) fn taken(&mut self) {
        (self.packet, self.in_ring) = (BorrowedPacket::NONE, false);
    }

    /// The component has its packet no more.
    #[inline(always)]
    pub(super) fn take_back(&mut self) {
        self.packet.end();
    }

    /// Lets go of the packet for logical slot `slot` and all before it.
    #[inline(always)]
    pub(crate) fn finish(&mut self, slot: u64) {
        self.taken();
        if let Some(read) = slot.checked_sub(self.delay) {
            self.reader.release(read + 1);
        }
    }

    /// Lets go of all packets that were made in slots below `made`.
    pub(crate) fn release(&mut self, made: u64) {
        self.taken();
        self.reader.release(made);
    }

    /// Takes over what the same input knew before a change at slot `at`. A link that was not there before begins empty.
    pub(crate) fn succeed(&mut self, old: &mut InPort, at: u64) {
        (self.hash, self.missing) = (old.hash, old.missing);
        let is_same_link = (self.source.output, self.delay, self.room) == (old.source.output, old.delay, old.room);
        if is_same_link {
            self.first = old.first;
            if self.last.is_some() && old.last.is_some() {
                self.take_back();
                old.take_back();
                std::mem::swap(&mut self.last, &mut old.last);
            }
        } else {
            self.first = at;
        }
    }

    /// The packet its producer made in `slot`, if the ring holds it for this input.
    pub(crate) fn peek(&self, slot: u64) -> Option<&Cell> {
        self.reader.cell(slot).filter(|cell| cell.header.is_of(slot))
    }
}
