//! Contents of a link's cell: the header that travels with every packet, and its items in aligned memory.

use bytemuck::{Pod, Zeroable};

use super::Sample;

/// Bytes of a [`Line`]; every type of item divides it.
pub(crate) const LINE: usize = 128;

/// A pair of cache lines: packets never share one.
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(128))]
pub(crate) struct Line([u8; LINE]);

/// Header that travels with every packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Logical slot of the producer, plus 1; 0 in a cell that never held a packet.
    pub(crate) stamp: u64,
    /// Sample index of the first item.
    pub first_item: u64,
    /// Items in this packet.
    pub items: usize,
    /// The producer missed the slot: nothing is in here.
    pub missing: bool,
}

impl Header {
    pub(crate) fn new(slot: u64, first_item: u64, items: usize, missing: bool) -> Header {
        Header { stamp: slot + 1, first_item, items, missing }
    }

    /// Whether this is the packet of `slot`.
    pub(crate) fn is_of(&self, slot: u64) -> bool {
        self.stamp == slot + 1
    }
}

/// Room for the items of a packet, behind a margin for the items that came before.
#[derive(Clone, Debug)]
pub(crate) struct Buffer {
    lines: Box<[Line]>,
    margin: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Room {
    pub(crate) bytes: usize,
    pub(crate) margin_bytes: usize,
}

impl Room {
    pub(crate) fn lines(self) -> usize {
        self.bytes.div_ceil(LINE) + self.margin_bytes.div_ceil(LINE)
    }

    pub(crate) fn or(self, other: Room) -> Room {
        Room { bytes: self.bytes.max(other.bytes), margin_bytes: self.margin_bytes.max(other.margin_bytes) }
    }
}

impl Buffer {
    pub(crate) fn new(room: Room) -> Buffer {
        let lines = vec![Line([0; LINE]); room.lines()].into_boxed_slice();
        Buffer { lines, margin: room.margin_bytes.div_ceil(LINE) }
    }

    /// All items there is room for.
    #[inline]
    pub(crate) fn items<T: Sample>(&self) -> &[T] {
        bytemuck::cast_slice(&self.lines[self.margin..])
    }

    #[inline]
    pub(crate) fn items_mut<T: Sample>(&mut self) -> &mut [T] {
        bytemuck::cast_slice_mut(&mut self.lines[self.margin..])
    }

    #[inline]
    pub(super) fn margin_bytes(&self) -> usize {
        self.margin * LINE
    }

    #[inline]
    pub(super) fn room_bytes(&self) -> usize {
        (self.lines.len() - self.margin) * LINE
    }

    /// Start of the margin, and the room behind it.
    #[inline]
    pub(super) fn start(&self) -> *const u8 {
        self.lines.as_ptr().cast()
    }

    #[inline]
    pub(super) fn start_mut(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast()
    }

    #[inline]
    pub(crate) fn bytes(&self, len: usize) -> &[u8] {
        self.items::<u8>().get(..len).unwrap_or_default()
    }

    #[inline]
    pub(crate) fn bytes_mut(&mut self, len: usize) -> &mut [u8] {
        self.items_mut::<u8>().get_mut(..len).unwrap_or_default()
    }

    /// Writes what came before the items.
    pub(crate) fn set_history(&mut self, tail: &[u8]) {
        let end = self.margin * LINE;
        let all: &mut [u8] = bytemuck::cast_slice_mut(&mut self.lines);
        if let Some(place) = end.checked_sub(tail.len()).and_then(|start| all.get_mut(start..end)) {
            place.copy_from_slice(tail);
        }
    }

    /// Takes over margin and the first bytes of another buffer of the same room.
    pub(crate) fn copy_from(&mut self, other: &Buffer, bytes: usize) {
        let lines = self.margin.saturating_add(bytes.div_ceil(LINE)).min(self.lines.len()).min(other.lines.len());
        self.lines[..lines].copy_from_slice(&other.lines[..lines]);
    }
}

/// A cell of a link; on cache lines of its own, as one core fills a cell while another reads the next.
#[derive(Clone, Debug)]
#[repr(align(128))]
pub(crate) struct Cell {
    pub(crate) header: Header,
    pub(crate) buffer: Buffer,
}

impl Cell {
    pub(crate) fn new(room: Room) -> Cell {
        Cell { header: Header::default(), buffer: Buffer::new(room) }
    }

    /// Takes over a packet, margin included, as far as there is room.
    pub(crate) fn copy_from(&mut self, other: &Cell) {
        self.header = other.header;
        self.buffer.copy_from(&other.buffer, usize::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_are_aligned() {
        let mut buffer = Buffer::new(Room { bytes: 10, margin_bytes: 6 });
        buffer.items_mut::<u8>()[..3].copy_from_slice(&[7, 8, 9]);
        assert_eq!(buffer.bytes(3), [7, 8, 9]);

        assert_eq!(buffer.items::<f32>().as_ptr().align_offset(LINE), 0);
        assert_eq!(buffer.bytes(1000), [0; 0], "more than there is, is nothing");
    }
}
