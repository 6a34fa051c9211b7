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

/// Memory of a lane for packets of at most `bytes`.
pub(super) fn lane_bytes(bytes: usize) -> u64 {
    (PARCELS as u64).saturating_mul(bytes as u64)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lane_takes_as_much_as_is_said_before_it_is_made() {
        let (mut fill, _empty) = lane(1000);
        let parcels = std::iter::from_fn(|| fill.from.pop().ok());
        assert_eq!(parcels.map(|parcel| parcel.bytes.len() as u64).sum::<u64>(), lane_bytes(1000));
    }
}
