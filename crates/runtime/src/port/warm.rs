//! [`Warm`]: a buffer beside those of the cells, which a component has just let go of.
//!
//! Inside a worker the packet that a component has read is of no use any more, and its memory is in the first-level cache; that of
//! the packet which the next component writes was last touched a slot ago, and is not. So the two change places: a reader leaves
//! its buffer here for the one that lay here, and the next writer takes it for its own. However long a chain of components, what
//! it touches in a burst are then the packets of one link and a buffer more, instead of those of all its links.
//!
//! A cell always has a buffer; which one it is does not matter, since a packet is written anew as a whole.

use super::packet::{Buffer, Room};

/// The buffers of a worker, one for each size of packet.
#[derive(Debug, Default)]
pub(crate) struct Warm(Vec<Buffer>);

/// Which of them a port exchanges its own with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place(usize);

impl Place {
    /// None: the port keeps its own.
    pub(crate) const NONE: Place = Place(usize::MAX);
}

impl Warm {
    pub(crate) fn of(rooms: &[Room]) -> Warm {
        Warm(rooms.iter().map(|&room| Buffer::new(room)).collect())
    }

    #[inline(always)]
    pub(super) fn exchange(&mut self, place: Place, own: &mut Buffer) {
        if let Some(buffer) = self.0.get_mut(place.0) {
            std::mem::swap(buffer, own);
        }
    }
}

/// The sizes of which a worker has a buffer, in the order in which ports name them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Sizes(pub(crate) Vec<Room>);

impl Sizes {
    pub(crate) fn place(&self, room: Room) -> Place {
        self.0.iter().position(|&size| size == room).map_or(Place::NONE, Place)
    }
}
