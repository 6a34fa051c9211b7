//! [`OutPort`]: the packet to fill, and its way to all consumers.
#![allow(unsafe_code)]

use std::ops::{Deref, DerefMut};

use serde::Serialize;
use takt_graph::{Item, Length};
use takt_link::ring::Writer;

use super::packet::{Cell, Header, Room};
use super::tap::PortTap;
use super::{BorrowedPacket, InPort, Place, Sample, Warm};

/// Items that an output may give this slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grant {
    Fixed(usize),
    UpTo(usize),
    /// As many as an input's packet has.
    Same {
        of: usize,
    },
    Ratio {
        num: usize,
        den: usize,
        of: usize,
    },
}

impl Grant {
    pub(crate) fn of(length: Length) -> Grant {
        match length {
            Length::Fixed(items) => Grant::Fixed(items as usize),
            Length::UpTo(items) => Grant::UpTo(items as usize),
            Length::Ratio { num, den, of } if num == den => Grant::Same { of },
            Length::Ratio { num, den, of } => Grant::Ratio { num: num as usize, den: den as usize, of },
        }
    }
}

/// Items that an output may give in one slot.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Granted {
    pub(crate) items: usize,
    pub(crate) first_item: u64,
    /// Whether an empty packet is a lost one.
    pub(crate) lost: bool,
}

/// A packet with a number of items that the shape of its output does not allow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct BrokenPacket {
    /// Logical slot.
    pub slot: u64,
    /// Items that the component gave.
    pub items: u64,
    /// Items that the shape says, or allows at most.
    pub declared_items: u64,
}

/// Packets of an output that did not come to its consumers as its shape says. Plain numbers: its worker alone counts.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Losses {
    /// A consumer was behind.
    pub(crate) dropped: u64,
    /// The shape does not allow so many items: consumers got an empty packet.
    pub(crate) broken: u64,
    pub(crate) first_broken: Option<BrokenPacket>,
}

/// An output of a component.
pub struct OutPort {
    item: Item,
    /// Whether an empty packet is a lost one, because an input is, or the component says so.
    pub(crate) lost: bool,
    item_bytes: usize,
    /// All the memory of the packet to fill.
    place: BorrowedPacket,
    /// Items of the packet; of one that is to be refused, as many as the component wanted.
    granted: usize,
    /// Items that the shape says of this slot's packet, or allows at most.
    declared: usize,
    /// Sample index of the first item.
    pub(crate) first_item: u64,
    slot: u64,
    /// One for each worker that has consumers, and one for each component that changes packets in place.
    rings: Box<[Writer<Cell>]>,
    /// Place from which the buffer of the packet to fill comes.
    pub(crate) warm: Place,
    grant: Grant,
    /// The last bytes of the last packets, for the history of the next.
    tail: Box<[u8]>,
    /// Written instead of the first ring while that is full, or without a consumer.
    scratch: Box<Cell>,
    pub(crate) losses: Losses,
    /// Shows packets to who watches.
    pub(crate) tap: Option<Box<PortTap>>,
}

/// The packet to fill. It holds what the memory held before: write every item you publish.
#[derive(Debug)]
pub struct Out<'a, T> {
    items: &'a mut [T],
    granted: &'a mut usize,
    lost: &'a mut bool,
    first_item: u64,
}

impl<T> Out<'_, T> {
    /// Publishes the first `items` only. A number that the port's shape does not allow breaks the packet: consumers get an
    /// empty one, and the report says so.
    pub fn truncate(&mut self, items: usize) {
        *self.granted = items;
    }

    /// Gives no packet, and says that there should be one: consumers find it [`missing`](super::In::missing). That
    /// holds without this call for a component that gives nothing in a slot where an input is missing.
    pub fn lose(&mut self) {
        (*self.granted, *self.lost) = (0, true);
    }

    /// Gives no packet, and says that none is due in this slot, even where an input is missing: a component that collects
    /// several packets for one of its own gives nothing meanwhile.
    pub fn withhold(&mut self) {
        (*self.granted, *self.lost) = (0, false);
    }

    /// Sample index of the first item, as [`In::first_item`](super::In::first_item).
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
            lost: false,
            item_bytes: item.bytes(),
            place: BorrowedPacket::NONE,
            granted: 0,
            declared: 0,
            first_item: 0,
            slot: 0,
            rings: rings.into_boxed_slice(),
            warm: Place::NONE,
            grant,
            tail: vec![0; history * item.bytes()].into_boxed_slice(),
            scratch: Box::new(Cell::new(room)),
            losses: Losses::default(),
            tap: None,
        }
    }

    /// The packet of this slot: as many items as the shape says for the packets that came in.
    ///
    /// # Panics
    /// If the port carries items of another type: a mistake in the component, which its first test finds.
    #[inline]
    pub fn write<T: Sample>(&mut self) -> Out<'_, T> {
        assert!(self.item == T::ITEM, "an output of {} written as {}", self.item, T::ITEM);
        let items = self.place.items_mut().get_mut(..self.granted).unwrap_or_default();
        Out { items, granted: &mut self.granted, lost: &mut self.lost, first_item: self.first_item }
    }

    /// The packet to fill.
    #[inline(always)]
    fn cell(&mut self) -> &mut Cell {
        self.rings.first_mut().and_then(Writer::opened).unwrap_or(&mut self.scratch)
    }

    /// The bytes of the packet to fill: those of all items it may have. None of a packet that is to be refused.
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        let items = if self.granted > self.declared { 0 } else { self.granted };
        self.place.items_mut().get_mut(..items * self.item_bytes).unwrap_or_default()
    }

    /// Publishes the first `items` only, as [`Out::truncate`].
    pub fn truncate(&mut self, items: usize) {
        self.granted = items;
    }

    /// Items of the packet to fill.
    #[must_use]
    pub fn items(&self) -> usize {
        self.granted
    }

    /// # Panics
    /// If there is no room for so many.
    pub(crate) fn fill_bytes(&mut self, bytes: &[u8]) {
        self.place.items_mut()[..bytes.len()].copy_from_slice(bytes);
        self.granted = bytes.len() / self.item_bytes;
    }

    /// Fills the memory of the next packet, so that what is left unwritten shows.
    pub(crate) fn poison(&mut self, slot: u64) {
        self.begin(slot, &[], &mut Warm::default());
        self.place.items_mut::<u8>().fill(0xa5);
        self.take_back();
    }

    /// The first logical slot that not all rings have room for. Looked up anew unless it is beyond `slot`, as far as is
    /// known.
    #[inline]
    pub(crate) fn free_until(&self, slot: u64) -> u64 {
        self.rings.iter().fold(u64::MAX, |until, ring| until.min(ring.free_until(slot)))
    }

    /// Points at the cell of logical slot `slot`.
    #[inline(always)]
    pub(crate) fn begin(&mut self, slot: u64, inputs: &[InPort], warm: &mut Warm) {
        self.reckon(slot, inputs);
        self.point_at(slot, warm);
    }

    /// Items that may be given in logical slot `slot`, for whoever fills the packet later. `followed`: the inputs whose
    /// losses count.
    pub(crate) fn grant(&mut self, slot: u64, inputs: &[InPort], followed: &[InPort]) -> Granted {
        self.reckon(slot, inputs);
        self.follow_losses(followed);
        Granted { items: self.granted, first_item: self.first_item, lost: self.lost }
    }

    /// Points at the cell of logical slot `slot`, for what was granted then.
    pub(crate) fn resume(&mut self, slot: u64, granted: Granted) {
        (self.granted, self.first_item, self.lost) = (granted.items, granted.first_item, granted.lost);
        self.declared = granted.items;
        self.point_at(slot, &mut Warm::default());
    }

    #[inline(always)]
    fn reckon(&mut self, slot: u64, inputs: &[InPort]) {
        self.lost = false;
        match self.grant {
            // Slots that were missed had their items, too: the sample index says where a packet belongs.
            Grant::Fixed(items) => (self.granted, self.first_item) = (items, slot.saturating_mul(items as u64)),
            Grant::UpTo(items) => self.granted = items,
            Grant::Same { of } => self.follow(inputs.get(of), |items| items),
            Grant::Ratio { num, den, of } => {
                self.follow(inputs.get(of), |items| items.saturating_mul(num as u64) / den as u64);
            }
        }
        self.declared = self.granted;
    }

    #[inline(always)]
    fn point_at(&mut self, slot: u64, warm: &mut Warm) {
        self.slot = slot;
        let cell = self.rings.first_mut().and_then(|ring| ring.cell(slot)).unwrap_or(&mut *self.scratch);
        warm.exchange(self.warm, &mut cell.buffer);
        if !self.tail.is_empty() {
            cell.buffer.set_history(&self.tail);
        }
        // SAFETY: readers stay away from the cell until `hand_over`, and `finish` before it ends this; the scratch cell is
        // this port's. Until then the memory is written through `place` alone, or by `take`, which lends anew.
        self.place = unsafe { cell.buffer.lend_mut() };
    }

    /// Takes length and sample index from an input's packet.
    #[inline]
    fn follow(&mut self, input: Option<&InPort>, scale: impl Fn(u64) -> u64) {
        let header = input.map_or(Header::default(), |input| input.header);
        // No packet has more than 16 Mi items.
        self.granted = scale(header.items as u64) as usize;
        if header.items > 0 {
            self.first_item = scale(header.first_item);
        }
    }

    /// Zeroes the packet: an input is empty, and a loop over both ends early.
    #[cold]
    pub(crate) fn blank(&mut self) {
        self.bytes_mut().fill(0);
    }

    /// Notes that an input is lost, if any of these is: what the component makes nothing of is lost as well. An output as long
    /// as an input's packet goes by that input alone where its packet is empty: nothing is due then.
    #[cold]
    pub(crate) fn follow_losses(&mut self, inputs: &[InPort]) {
        let lost = |input: &InPort| input.is_missing() && input.items() == 0;
        let measure = match self.grant {
            Grant::Same { of } | Grant::Ratio { of, .. } => inputs.get(of).filter(|input| input.items() == 0),
            Grant::Fixed(_) | Grant::UpTo(_) => None,
        };
        self.lost = measure.map_or_else(|| inputs.iter().any(lost), lost);
    }

    /// Takes the packet of an input, to change it in place. Without one: an empty packet.
    #[inline]
    pub(crate) fn take(&mut self, input: &mut InPort) {
        if let Some(theirs) = input.cell_to_take() {
            let ours = self.rings.first_mut().and_then(Writer::opened).unwrap_or(&mut self.scratch);
            std::mem::swap(&mut ours.buffer, &mut theirs.buffer);
            if !self.tail.is_empty() {
                ours.buffer.set_history(&self.tail);
            }
            // SAFETY: as in `point_at`.
            self.place = unsafe { ours.buffer.lend_mut() };
            input.taken();
            return;
        }
        (self.granted, self.declared) = (0, 0);
    }

    /// The component has its packet no more.
    #[inline(always)]
    pub(super) fn take_back(&mut self) {
        self.place.end();
    }

    /// Completes the packet, for [`OutPort::hand_over`]; `missing`: nothing, because the component missed the slot.
    #[inline(always)]
    pub(crate) fn finish(&mut self, missing: bool) {
        self.take_back();
        let missing = missing || (self.lost && self.granted == 0);
        let items = if missing { 0 } else { self.checked() };
        let header = Header::new(self.slot, self.first_item, items, missing);
        self.first_item += items as u64;
        self.cell().header = header;
        let bytes = items * self.item_bytes;
        if self.rings.len() > 1 {
            self.copy_to_others(bytes);
        }
        if !self.tail.is_empty() && bytes > 0 {
            self.keep_tail(bytes);
        }
    }

    /// Hands the packets of all slots that were finished over to all consumers.
    #[inline]
    pub(crate) fn hand_over(&mut self) {
        self.take_back();
        if self.tap.is_some() {
            self.show();
        }
        for ring in &mut self.rings {
            if ring.is_open() {
                ring.publish(self.slot);
            } else {
                self.losses.dropped += 1;
            }
        }
    }

    /// Offers the packet, the last of several slots, to who watches.
    #[inline(never)]
    fn show(&mut self) {
        let cell = self.rings.first_mut().and_then(Writer::opened).map_or(&*self.scratch, |cell| cell);
        if let Some(tap) = &mut self.tap {
            tap.offer(self.item, cell);
        }
    }

    /// Items to publish; none of a packet that the shape does not allow.
    #[inline(always)]
    fn checked(&mut self) -> usize {
        if self.granted == self.declared { self.granted } else { self.allowed() }
    }

    /// [`OutPort::checked`], of another number than declared: none is always allowed, fewer where the shape says up to.
    fn allowed(&mut self) -> usize {
        let fewer = self.granted < self.declared && matches!(self.grant, Grant::UpTo(_));
        if self.granted == 0 || fewer {
            return self.granted;
        }
        let (items, declared_items) = (self.granted as u64, self.declared as u64);
        self.losses.broken += 1;
        self.losses.first_broken.get_or_insert(BrokenPacket { slot: self.slot, items, declared_items });
        0
    }

    #[inline(never)]
    fn copy_to_others(&mut self, bytes: usize) {
        let Some((first, others)) = self.rings.split_first_mut() else { return };
        let source = first.opened().unwrap_or(&mut self.scratch);
        for cell in others.iter_mut().filter_map(|ring| ring.cell(self.slot)) {
            cell.header = source.header;
            cell.buffer.copy_from(&source.buffer, bytes);
        }
    }

    #[inline(never)]
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

    /// Takes its rings out, for who puts packets into them.
    pub(crate) fn take_rings(&mut self) -> Box<[Writer<Cell>]> {
        self.take_back();
        std::mem::take(&mut self.rings)
    }

    /// Puts them back.
    pub(crate) fn put_rings(&mut self, rings: Box<[Writer<Cell>]>) {
        self.rings = rings;
    }

    /// Takes over what the same output knew before a change.
    pub(crate) fn succeed(&mut self, old: &mut OutPort) {
        (self.first_item, self.losses) = (old.first_item, old.losses);
        self.tap = old.tap.take();
        // Both keep the end of what was given: the shorter is the end of the longer.
        let kept = self.tail.len().min(old.tail.len());
        let (ours, theirs) = (self.tail.len() - kept, old.tail.len() - kept);
        self.tail[ours..].copy_from_slice(&old.tail[theirs..]);
    }
}
