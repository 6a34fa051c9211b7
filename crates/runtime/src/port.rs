//! The ports a component sees while it executes a slot.
//!
//! A port is made when a waveform is opened and holds its end of a link; around each execution the worker points it at
//! the packet of the slot. Nothing here allocates, locks or waits.

use std::ops::{Deref, DerefMut};

use takt_graph::{Item, Length, PortId};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::packet::{Buffer, Cell, Header, Room};
use crate::ring::{Reader, Writer};
use crate::sample::Sample;

/// Items that an output may give this slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grant {
    Fixed(usize),
    UpTo(usize),
    Ratio { num: usize, den: usize, of: usize },
}

/// Which ring an input reads: of the graph's output, the ring of this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Source {
    pub(crate) output: PortId,
    pub(crate) ring: usize,
}

impl Grant {
    pub(crate) fn of(length: Length) -> Grant {
        match length {
            Length::Fixed(items) => Grant::Fixed(items as usize),
            Length::UpTo(items) => Grant::UpTo(items as usize),
            Length::Ratio { num, den, of } => Grant::Ratio { num: num as usize, den: den as usize, of },
        }
    }
}

/// An input of a component.
pub struct InPort {
    item: Item,
    source: Source,
    /// Functional delay of the link, slots.
    delay: u64,
    history: usize,
    reader: Reader<Cell>,
    /// Of the cells of its ring.
    room: Room,
    /// The first slot of the producer that it hears; it came with a change.
    first: u64,
    now: Now,
    header: Header,
    /// The last packet, kept where the producer's policy is to repeat it.
    last: Option<Box<Cell>>,
    /// What was received so far, folded; only where asked for.
    hash: Option<u64>,
    missing: u64,
}

/// Where the packet of this slot is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Now {
    Nowhere,
    InRing(u64),
    Repeated,
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
        let (now, header, last, hash) = (Now::Nowhere, Header::default(), None, None);
        InPort {
            item,
            source,
            delay: delay.into(),
            history,
            reader,
            room: Room::default(),
            first: 0,
            now,
            header,
            last,
            hash,
            missing: 0,
        }
    }

    pub(crate) fn keep_last(&mut self, room: Room) {
        self.last = Some(Box::new(Cell::new(room)));
    }

    pub(crate) fn hash_all(&mut self) {
        self.hash = Some(0);
    }

    /// The packet of this slot.
    ///
    /// # Panics
    /// If the port carries items of another type: a mistake in the component, which its first test finds.
    #[must_use]
    #[inline]
    pub fn read<T: Sample>(&self) -> In<'_, T> {
        assert!(self.item == T::ITEM, "an input of {} read as {}", self.item, T::ITEM);
        let all = match self.buffer() {
            Some(buffer) if self.history == 0 => buffer.items().get(..self.header.items).unwrap_or_default(),
            Some(buffer) => buffer.with_history(self.history, self.header.items),
            None => &[],
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
            Now::Nowhere => None,
            Now::InRing(slot) => self.reader.cell(slot).map(|cell| &cell.buffer),
            Now::Repeated => self.last.as_ref().map(|cell| &cell.buffer),
        }
    }

    /// The packet of this slot, whatever its items.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        let len = self.header.items * self.item.bytes();
        self.buffer().map_or(&[], |buffer| buffer.bytes(len))
    }

    /// Whether the packet for logical slot `slot` can be taken, or nothing is to be waited for.
    #[inline]
    pub(crate) fn ready(&self, slot: u64) -> bool {
        slot.checked_sub(self.delay).is_none_or(|wanted| self.reader.ready(wanted))
    }

    /// Points at the packet for logical slot `slot`, or at nothing.
    #[inline]
    pub(crate) fn begin(&mut self, slot: u64) {
        self.now = Now::Nowhere;
        self.header = Header::default();
        let Some(wanted) = slot.checked_sub(self.delay).filter(|&wanted| wanted >= self.first) else {
            return self.fold();
        };
        match self.reader.cell(wanted).map(|cell| cell.header) {
            Some(header) if header.is_of(wanted) && !header.missing => {
                (self.now, self.header) = (Now::InRing(wanted), header);
                self.remember(wanted);
            }
            _ => self.miss(),
        }
        self.fold();
    }

    #[inline]
    fn remember(&mut self, slot: u64) {
        if let (Some(last), Some(cell)) = (&mut self.last, self.reader.cell(slot)) {
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

    /// Lets go of the packet for logical slot `slot` and all before it.
    #[inline]
    pub(crate) fn finish(&mut self, slot: u64) {
        self.now = Now::Nowhere;
        if let Some(read) = slot.checked_sub(self.delay) {
            self.reader.release(read + 1);
        }
    }

    /// Packets that should have been there and were not.
    pub(crate) fn missing(&self) -> u64 {
        self.missing
    }

    pub(crate) fn hash(&self) -> Option<u64> {
        self.hash
    }

    /// Takes over what the same input knew before a change at slot `at`. A link that was not there before begins empty.
    pub(crate) fn succeed(&mut self, old: &mut InPort, at: u64) {
        (self.hash, self.missing) = (old.hash, old.missing);
        if self.is_link_of(old) {
            self.first = old.first;
            if self.last.is_some() && old.last.is_some() {
                std::mem::swap(&mut self.last, &mut old.last);
            }
        } else {
            self.first = at;
        }
    }

    /// Whether it is the same link as before a change.
    fn is_link_of(&self, old: &InPort) -> bool {
        (self.source.output, self.delay, self.room) == (old.source.output, old.delay, old.room)
    }

    /// It was not there before slot `at`.
    pub(crate) fn begin_at(&mut self, at: u64) {
        self.first = at;
    }

    pub(crate) fn set_room(&mut self, room: Room) {
        self.room = room;
    }

    pub(crate) fn room(&self) -> Room {
        self.room
    }

    pub(crate) fn reader(&mut self) -> &mut Reader<Cell> {
        &mut self.reader
    }

    pub(crate) fn delay(&self) -> u64 {
        self.delay
    }

    pub(crate) fn source(&self) -> Source {
        self.source
    }

    /// The packet its producer made in `slot`, if the ring holds it for this input.
    pub(crate) fn peek(&self, slot: u64) -> Option<&Cell> {
        self.reader.cell(slot).filter(|cell| cell.header.is_of(slot))
    }
}

/// An output of a component.
pub struct OutPort {
    item: Item,
    grant: Grant,
    /// One for each worker that hears it, and one for each component that changes it in place.
    rings: Box<[Writer<Cell>]>,
    /// Written instead of the first ring while that is full, or where nobody listens.
    scratch: Box<Cell>,
    /// The last bytes of the last packets, for the history of the next.
    tail: Box<[u8]>,
    slot: u64,
    in_first: bool,
    granted: usize,
    missing: bool,
    first_item: u64,
    dropped: u64,
    broken: u64,
}

/// The packet to fill. It holds what the memory held before: write every item you publish.
#[derive(Debug)]
pub struct Out<'a, T> {
    items: &'a mut [T],
    granted: &'a mut usize,
    first_item: u64,
}

impl<T> Out<'_, T> {
    /// Publishes the first `items` only. More than there are is all there are.
    pub fn truncate(&mut self, items: usize) {
        *self.granted = items.min(self.items.len());
    }

    /// Sample index of the first item, as [`In::first_item`].
    #[must_use]
    pub fn first_item(&self) -> u64 {
        self.first_item
    }

    /// The items, for as long as the port is borrowed.
    pub fn items_mut(&mut self) -> &mut [T] {
        self.items
    }
}

impl<T> Deref for Out<'_, T> {
    type Target = [T];
    fn deref(&self) -> &[T] {
        self.items
    }
}

impl<T> DerefMut for Out<'_, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        self.items
    }
}

impl OutPort {
    pub(crate) fn new(item: Item, grant: Grant, rings: Vec<Writer<Cell>>, room: Room, history: usize) -> OutPort {
        OutPort {
            item,
            grant,
            rings: rings.into_boxed_slice(),
            scratch: Box::new(Cell::new(room)),
            tail: vec![0; history * item.bytes()].into_boxed_slice(),
            slot: 0,
            in_first: false,
            granted: 0,
            missing: false,
            first_item: 0,
            dropped: 0,
            broken: 0,
        }
    }

    /// The packet of this slot: as many items as the shape says for the packets that came in.
    ///
    /// # Panics
    /// If the port carries items of another type: a mistake in the component, which its first test finds.
    #[inline]
    pub fn write<T: Sample>(&mut self) -> Out<'_, T> {
        assert!(self.item == T::ITEM, "an output of {} written as {}", self.item, T::ITEM);
        let first_item = self.first_item;
        let buffer = match self.rings.first_mut() {
            Some(ring) if self.in_first => ring.cell(self.slot).map(|cell| &mut cell.buffer),
            _ => None,
        };
        let buffer = match buffer {
            Some(buffer) => buffer,
            None => &mut self.scratch.buffer,
        };
        let items = buffer.items_mut().get_mut(..self.granted).unwrap_or_default();
        Out { items, granted: &mut self.granted, first_item }
    }

    #[inline]
    fn cell(&mut self) -> &mut Cell {
        match self.rings.first_mut() {
            Some(ring) if self.in_first => ring.cell(self.slot).unwrap_or(&mut self.scratch),
            _ => &mut self.scratch,
        }
    }

    /// Makes these bytes the packet.
    pub(crate) fn fill_bytes(&mut self, bytes: &[u8], item_bytes: usize) {
        self.cell().buffer.bytes_mut(bytes.len()).copy_from_slice(bytes);
        self.granted = bytes.len() / item_bytes;
    }

    /// Fills the memory of the next packet, so that what is left unwritten shows.
    pub(crate) fn poison(&mut self, slot: u64) {
        self.begin(slot, &[]);
        self.cell().buffer.items_mut::<u8>().fill(0xa5);
    }

    /// Whether all rings have room for logical slot `slot`.
    #[inline]
    pub(crate) fn ready(&self, slot: u64) -> bool {
        self.rings.iter().all(|ring| ring.free(slot))
    }

    /// Points at the cell of logical slot `slot`.
    #[inline]
    pub(crate) fn begin(&mut self, slot: u64, inputs: &[InPort]) {
        self.slot = slot;
        self.in_first = self.rings.first().is_some_and(|ring| ring.free(slot));
        self.missing = false;
        match self.grant {
            // Slots that were missed had their items, too: the sample index says where a packet belongs.
            Grant::Fixed(items) => (self.granted, self.first_item) = (items, slot.saturating_mul(items as u64)),
            Grant::UpTo(items) => self.granted = items,
            Grant::Ratio { num, den, of } => self.follow(inputs.get(of), num, den),
        }
        if !self.tail.is_empty() {
            let tail = std::mem::take(&mut self.tail);
            self.cell().buffer.set_history(&tail);
            self.tail = tail;
        }
    }

    /// Takes length and sample index from an input's packet. What is made of a missing packet is missing as well.
    #[inline]
    fn follow(&mut self, input: Option<&InPort>, num: usize, den: usize) {
        let header = input.map_or(Header::default(), |input| input.header);
        self.granted = header.items * num / den;
        self.missing = header.missing && header.items == 0;
        if header.items > 0 {
            self.first_item = header.first_item.saturating_mul(num as u64) / den as u64;
        }
    }

    /// Zeroes the packet: an input is empty, and a loop over both ends early.
    #[cold]
    pub(crate) fn blank(&mut self) {
        let bytes = self.granted * self.item.bytes();
        self.cell().buffer.bytes_mut(bytes).fill(0);
    }

    /// Takes the packet of an input, to change it in place. Without one: an empty packet.
    #[inline]
    pub(crate) fn take(&mut self, input: &mut InPort) {
        if let Now::InRing(slot) = input.now
            && let Some(theirs) = input.reader.cell_mut(slot)
        {
            let ours = match self.rings.first_mut() {
                Some(ring) if self.in_first => ring.cell(self.slot).unwrap_or(&mut self.scratch),
                _ => &mut self.scratch,
            };
            std::mem::swap(&mut ours.buffer, &mut theirs.buffer);
            if !self.tail.is_empty() {
                ours.buffer.set_history(&self.tail);
            }
            input.now = Now::Nowhere;
            return;
        }
        self.granted = 0;
    }

    /// Hands the packet over to all that hear it; `missing`: nothing, because the component missed the slot.
    #[inline]
    pub(crate) fn finish(&mut self, missing: bool) {
        let missing = missing || self.missing;
        let items = if missing { 0 } else { self.checked() };
        let header = Header::new(self.slot, self.first_item, items, missing);
        self.first_item += items as u64;
        let slot = self.slot;
        self.cell().header = header;
        let bytes = items * self.item.bytes();
        self.copy_to_others(bytes);
        if !self.tail.is_empty() && bytes > 0 {
            self.keep_tail(bytes);
        }
        for (index, ring) in self.rings.iter_mut().enumerate() {
            let filled = if index == 0 { self.in_first } else { ring.free(slot) };
            if filled {
                ring.publish(slot);
            } else {
                self.dropped += 1;
            }
        }
    }

    /// Items to publish; none if the component broke its word about them.
    #[inline]
    fn checked(&mut self) -> usize {
        if let Grant::Fixed(items) = self.grant
            && self.granted != items
            && self.granted != 0
        {
            self.broken += 1;
            return 0;
        }
        self.granted
    }

    #[inline]
    fn copy_to_others(&mut self, bytes: usize) {
        let Some((first, others)) = self.rings.split_first_mut() else { return };
        if others.is_empty() {
            return;
        }
        let slot = self.slot;
        let source =
            if self.in_first { first.cell(slot).map_or(&*self.scratch, |cell| &*cell) } else { &*self.scratch };
        for cell in others.iter_mut().filter_map(|ring| ring.cell(slot)) {
            cell.header = source.header;
            cell.buffer.copy_from(&source.buffer, bytes);
        }
    }

    fn keep_tail(&mut self, bytes: usize) {
        let mut tail = std::mem::take(&mut self.tail);
        let keep = tail.len();
        if bytes >= keep {
            let packet = self.cell().buffer.bytes(bytes);
            tail.copy_from_slice(packet.get(bytes - keep..).unwrap_or_default());
        } else {
            tail.copy_within(bytes.., 0);
            tail[keep - bytes..].copy_from_slice(self.cell().buffer.bytes(bytes));
        }
        self.tail = tail;
    }

    /// Packets that a listener did not get because it was behind.
    pub(crate) fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Packets refused because a fixed output gave another number of items.
    pub(crate) fn broken(&self) -> u64 {
        self.broken
    }

    pub(crate) fn take_rings(&mut self) -> Box<[Writer<Cell>]> {
        std::mem::take(&mut self.rings)
    }

    pub(crate) fn give_rings(&mut self, rings: Box<[Writer<Cell>]>) {
        self.rings = rings;
    }

    /// Takes over what the same output knew before a change.
    pub(crate) fn succeed(&mut self, old: &mut OutPort) {
        (self.first_item, self.dropped, self.broken) = (old.first_item, old.dropped, old.broken);
        // Both keep the end of what was given: the shorter is the end of the longer.
        let kept = self.tail.len().min(old.tail.len());
        let (ours, theirs) = (self.tail.len() - kept, old.tail.len() - kept);
        self.tail[ours..].copy_from_slice(&old.tail[theirs..]);
    }
}
