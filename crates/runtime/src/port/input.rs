//! [`InPort`]: the packet of the slot, its history, and what is done where it is missing.

use std::ops::Deref;

use takt_graph::{Item, PortId};
use takt_link::ring::{Reader, ring};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::packet::{Buffer, Cell, Header, Room};
use super::{Lent, Sample};

/// Which ring an input reads: of the graph's output, the ring of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) output: PortId,
    pub(crate) ring: usize,
}

/// An input of a component.
pub struct InPort {
    item: Item,
    pub(crate) source: Source,
    /// Functional delay of the link, slots.
    pub(crate) delay: u64,
    history: usize,
    pub(crate) reader: Reader<Cell>,
    /// Of the cells of its ring.
    pub(crate) room: Room,
    /// The first slot of the producer whose packets it gets; a link that came with a change has none before.
    pub(crate) first: u64,
    now: Now,
    pub(crate) header: Header,
    /// The last packet, kept where the producer's policy is to repeat it.
    last: Option<Box<Cell>>,
    /// What was received so far, folded, where that is wanted.
    pub(crate) hash: Option<u64>,
    /// Packets that should have been there and were not.
    pub(crate) missing: u64,
}

/// Where the packet of this slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Now {
    Nowhere,
    /// In the cell that its reader has open.
    InRing,
    Repeated,
    /// History and packet, in memory that is lent.
    Lent(Lent),
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
            source,
            delay: delay.into(),
            history,
            reader,
            room: Room::default(),
            first: 0,
            now: Now::Nowhere,
            header: Header::default(),
            last: None,
            hash: None,
            missing: 0,
        }
    }

    /// An input without a link, whose packets are lent.
    pub(crate) fn of_lent(item: Item, history: usize) -> InPort {
        let source = Source { output: PortId { component: 0, port: 0 }, ring: 0 };
        let (_, mut readers) = ring([Cell::new(Room::default())], 1);
        InPort::new(item, source, 0, history, readers.remove(0))
    }

    /// The packet of this slot, behind its history, in memory that is lent; until [`InPort::take_back`].
    pub(crate) fn lend(&mut self, memory: Lent, header: Header) {
        (self.now, self.header) = (Now::Lent(memory), header);
    }

    pub(crate) fn take_back(&mut self) {
        (self.now, self.header) = (Now::Nowhere, Header::default());
    }

    /// Makes these bytes the packet, behind these, in memory of its own ([`InPort::keep_last`]).
    pub(crate) fn place(&mut self, before: &[u8], packet: &[u8], header: Header) {
        (self.now, self.header) = (Now::Nowhere, header);
        let Some(cell) = &mut self.last else { return };
        let place = cell.buffer.bytes_mut(packet.len());
        if place.len() == packet.len() && before.len() + packet.len() > 0 {
            place.copy_from_slice(packet);
            cell.buffer.set_history(before);
            self.now = Now::Repeated;
        }
    }

    /// The bytes of the history and of the packet behind it.
    pub(crate) fn bytes_with_history(&self) -> &[u8] {
        let (history, items) = (self.history * self.item.bytes(), self.header.items * self.item.bytes());
        self.buffer().map_or(&[], |buffer| buffer.with_history(history, items))
    }

    pub(crate) fn keep_last(&mut self, room: Room) {
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
        let all = match (self.buffer(), &self.now) {
            (Some(buffer), _) if self.history == 0 => buffer.items().get(..self.header.items).unwrap_or_default(),
            (Some(buffer), _) => buffer.with_history(self.history, self.header.items),
            (None, Now::Lent(memory)) => memory.items(),
            (None, _) => &[],
        };
        let history = if all.is_empty() { 0 } else { self.history };
        In { all, history, header: self.header }
    }

    /// Items in the packet of this slot.
    #[inline]
    pub fn items(&self) -> usize {
        self.header.items
    }

    #[inline]
    fn buffer(&self) -> Option<&Buffer> {
        match self.now {
            Now::Nowhere | Now::Lent(_) => None,
            Now::InRing => self.reader.opened().map(|cell| &cell.buffer),
            Now::Repeated => self.last.as_ref().map(|cell| &cell.buffer),
        }
    }

    /// The packet of this slot, whatever its items.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        let len = self.header.items * self.item.bytes();
        match (self.buffer(), &self.now) {
            (Some(buffer), _) => buffer.bytes(len),
            (None, Now::Lent(memory)) => {
                let all: &[u8] = memory.items();
                all.get(all.len().saturating_sub(len)..).unwrap_or_default()
            }
            (None, _) => &[],
        }
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
    #[inline]
    pub(crate) fn begin(&mut self, slot: u64) {
        self.now = Now::Nowhere;
        self.header = Header::default();
        let Some(wanted) = slot.checked_sub(self.delay).filter(|&wanted| wanted >= self.first) else {
            return self.fold();
        };
        self.reader.open(wanted);
        match self.reader.opened().map(|cell| cell.header) {
            Some(header) if header.is_of(wanted) && !header.missing => {
                (self.now, self.header) = (Now::InRing, header);
                self.remember();
            }
            _ => self.miss(),
        }
        self.fold();
    }

    #[inline]
    fn remember(&mut self) {
        if let (Some(last), Some(cell)) = (&mut self.last, self.reader.opened()) {
            last.header = cell.header;
            last.buffer.copy_from(&cell.buffer, cell.header.items * self.item.bytes());
        }
    }

    #[cold]
    fn miss(&mut self) {
        self.missing += 1;
        self.header.missing = true;
        if let Some(last) = &self.last {
            self.now = Now::Repeated;
            self.header = Header { missing: true, ..last.header };
        }
    }

    #[inline]
    fn fold(&mut self) {
        if let Some(hash) = self.hash {
            let bytes = self.header.items * self.item.bytes();
            let seed = hash.rotate_left(5) ^ bytes as u64;
            self.hash = Some(xxh3_64_with_seed(self.buffer().map_or(&[], |buffer| buffer.bytes(bytes)), seed));
        }
    }

    /// The cell of the packet, for the one output that changes it in place.
    #[inline]
    pub(super) fn cell_to_take(&mut self) -> Option<&mut Cell> {
        match self.now {
            Now::InRing => self.reader.opened_mut(),
            Now::Nowhere | Now::Repeated | Now::Lent(_) => None,
        }
    }

    /// The packet is an output's now.
    #[inline]
    pub(crate) fn taken(&mut self) {
        self.now = Now::Nowhere;
    }

    /// Lets go of the packet for logical slot `slot` and all before it.
    #[inline]
    pub(crate) fn finish(&mut self, slot: u64) {
        self.now = Now::Nowhere;
        if let Some(read) = slot.checked_sub(self.delay) {
            self.reader.release(read + 1);
        }
    }

    /// Takes over what the same input knew before a change at slot `at`. A link that was not there before begins empty.
    pub(crate) fn succeed(&mut self, old: &mut InPort, at: u64) {
        (self.hash, self.missing) = (old.hash, old.missing);
        let is_same_link = (self.source.output, self.delay, self.room) == (old.source.output, old.delay, old.room);
        if is_same_link {
            self.first = old.first;
            if self.last.is_some() && old.last.is_some() {
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
