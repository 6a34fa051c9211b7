//! The way of packets between a worker and the thread that sends and receives: two rings, one of full parcels, one of empty
//! ones. Nobody waits, nothing is allocated once it is made.

use rtrb::{Consumer, Producer, RingBuffer};

/// Parcels of a lane: what may be under way while the other side is late by as many slots.
pub(super) const PARCELS: usize = 8;

/// One slot's packet.
pub(super) struct Parcel {
    /// Logical slot of the producer.
    pub(super) slot: u64,
    /// Bytes of it that count.
    pub(super) len: usize,
    /// Whether the producer made the slot.
    pub(super) valid: bool,
    pub(super) bytes: Box<[u8]>,
}

impl Parcel {
    pub(super) fn items(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

/// One end of a lane: takes parcels of one kind, gives back those of the other.
pub(super) struct End {
    pub(super) from: Consumer<Parcel>,
    pub(super) to: Producer<Parcel>,
}

/// A lane for packets of at most `bytes`: the end that fills parcels, and the end that empties them.
pub(super) fn lane(bytes: usize) -> (End, End) {
    let (full_in, full_out) = RingBuffer::new(PARCELS);
    let (mut empty_in, empty_out) = RingBuffer::new(PARCELS);
    for _ in 0..PARCELS {
        // There is room for all.
        let _ = empty_in.push(Parcel { slot: 0, len: 0, valid: false, bytes: vec![0; bytes].into_boxed_slice() });
    }
    (End { from: empty_out, to: full_in }, End { from: full_out, to: empty_in })
}
