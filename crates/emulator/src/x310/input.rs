//! Packets that arrive at a stream endpoint for its transmitter: their numbers, and what is reported to the host of the
//! buffer (x310.md 10.3).
//!
//! Counts are of what the transmitter has **taken**, whose samples were due (15, trap 16): a host that got them earlier would
//! run ahead without limit. The host's own counts come through the buffer in order with its samples, and are adopted where
//! they come out, so that what was lost on the way does not cost credit for ever.

use takt_wire::chdr::{
    MAX_CAPACITY_PACKETS, PacketType, Status, StreamCommand, StreamOperation, StreamStatus, counted_bytes,
};

/// Room for samples, much more than hardware's 64 KiB, since this host is a program that waits for its turn (x310.md 10.5): 2 MiB
/// are 2.6 ms at 200 MS/s. Not more: a host learns of each eighth that was taken, which at 1 MS/s are 66 ms of 2 MiB, and
/// `benchmark_rate` calls a wait of 100 ms a timeout.
pub(super) const CAPACITY_BYTES: usize = 2 << 20;

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Input {
    /// Endpoint id of the host's streamer; `None`: never set up.
    peer: Option<u16>,
    /// How often the host wants a report; 0 for never.
    interval_bytes: u64,
    interval_packets: u64,
    taken_bytes: u64,
    taken_packets: u64,
    reported_bytes: u64,
    reported_packets: u64,
    /// Number of the next packet; the first after a set-up is free.
    expected: Option<u16>,
    status_sequence: u16,
}

impl Input {
    /// The host sets the stream up; what it is answered.
    pub(super) fn init(&mut self, command: &StreamCommand) -> StreamStatus {
        *self = Input {
            peer: Some(command.source),
            interval_bytes: command.bytes,
            interval_packets: command.packets,
            ..Input::default()
        };
        self.status(Status::Okay, 0, command.destination)
    }

    /// A sample packet has arrived; a status if there is one missing before it. `source`: the endpoint's id.
    pub(super) fn arrived(&mut self, sequence: u16, kind: PacketType, source: u16) -> Option<StreamStatus> {
        let expected = self.expected.replace(sequence.wrapping_add(1)).unwrap_or(sequence);
        if self.peer.is_none() || expected == sequence {
            return None;
        }
        let info = u64::from(kind.code()) << 32 | u64::from(expected) << 16 | u64::from(sequence);
        Some(self.status(Status::SequenceError, info, source))
    }

    /// The transmitter has taken a packet; a status if it is time for one.
    pub(super) fn taken(&mut self, length: usize, source: u16) -> Option<StreamStatus> {
        self.taken_bytes = self.taken_bytes.wrapping_add(counted_bytes(length));
        self.taken_packets = self.taken_packets.wrapping_add(1);
        let due = |interval: u64, since: u64| interval > 0 && since >= interval;
        let bytes = due(self.interval_bytes, self.taken_bytes.wrapping_sub(self.reported_bytes));
        let packets = due(self.interval_packets, self.taken_packets.wrapping_sub(self.reported_packets));
        (self.peer.is_some() && (bytes || packets)).then(|| self.status(Status::Okay, 0, source))
    }

    /// The host's counts have come to the front of the buffer; what it is answered.
    pub(super) fn resync(&mut self, bytes: u64, packets: u64, source: u16) -> Option<StreamStatus> {
        (self.taken_bytes, self.taken_packets) = (bytes, packets);
        self.peer.map(|_| self.status(Status::Okay, 0, source))
    }

    /// Status for a host that requests it.
    pub(super) fn ping(&mut self, source: u16) -> Option<StreamStatus> {
        self.peer.map(|_| self.status(Status::Okay, 0, source))
    }

    fn status(&mut self, status: Status, info: u64, source: u16) -> StreamStatus {
        (self.reported_bytes, self.reported_packets) = (self.taken_bytes, self.taken_packets);
        let sequence = self.status_sequence;
        self.status_sequence = sequence.wrapping_add(1);
        StreamStatus {
            destination: self.peer.unwrap_or_default(),
            sequence,
            source,
            status,
            capacity_bytes: CAPACITY_BYTES as u64,
            capacity_packets: MAX_CAPACITY_PACKETS,
            taken_packets: self.taken_packets,
            taken_bytes: self.taken_bytes,
            buffer: 0,
            info,
        }
    }

    pub(super) fn reset(&mut self) {
        *self = Input::default();
    }
}

/// A stream command that waits between samples, until it comes to the front of the buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Resync { bytes: u64, packets: u64 },
    Ping,
}

impl Mark {
    /// `None` for what does not wait, or means nothing.
    pub(super) fn of(command: &StreamCommand) -> Option<Mark> {
        match command.operation {
            StreamOperation::Resync => Some(Mark::Resync { bytes: command.bytes, packets: command.packets }),
            StreamOperation::Ping => Some(Mark::Ping),
            StreamOperation::Init | StreamOperation::Other(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(operation: StreamOperation, bytes: u64, packets: u64) -> StreamCommand {
        StreamCommand { destination: 2, sequence: 0, source: 4, operation, operation_data: 0, packets, bytes }
    }

    #[test]
    fn the_first_number_is_free_and_a_gap_is_reported_at_once() {
        let mut input = Input::default();
        input.init(&command(StreamOperation::Init, 0, 0));
        assert_eq!(input.arrived(7, PacketType::Data, 2), None);
        assert_eq!(input.arrived(8, PacketType::Data, 2), None);
        let status = input.arrived(11, PacketType::TimedData, 2).expect("a gap");
        assert_eq!((status.status, status.info), (Status::SequenceError, 7 << 32 | 9 << 16 | 11));
        assert_eq!(input.arrived(12, PacketType::Data, 2), None, "reported once");
        let mut wraps = Input { expected: Some(0xFFFF), ..input };
        assert_eq!(wraps.arrived(0xFFFF, PacketType::Data, 2), None);
        assert_eq!(wraps.arrived(0, PacketType::Data, 2), None);
    }

    #[test]
    fn a_status_leaves_each_interval_and_never_without_one() {
        let mut input = Input::default();
        let answer = input.init(&command(StreamOperation::Init, 0, 0));
        assert_eq!((answer.destination, answer.source, answer.capacity_bytes), (4, 2, CAPACITY_BYTES as u64));
        assert!((0..1000).all(|_| input.taken(8000, 2).is_none()));
        input.init(&command(StreamOperation::Init, 524_288, 1 << 21));
        let status = (1..).find_map(|_| input.taken(7992, 2)).expect("a status");
        // x310.md 17: after 66 packets; the first with its time is 8 bytes longer.
        assert_eq!((status.taken_packets, status.taken_bytes), (66, 66 * 7992));
        input.init(&command(StreamOperation::Init, 0, 3));
        assert_eq!([(); 4].map(|()| input.taken(12, 2).is_some()), [false, false, true, false]);
    }

    #[test]
    fn the_hosts_counts_replace_ours() {
        let mut input = Input::default();
        assert_eq!(input.resync(1, 1, 2), None, "nobody to tell");
        input.init(&command(StreamOperation::Init, 0, 0));
        input.taken(8000, 2);
        let status = input.resync(0x40_05D8, 525, 2).expect("an answer");
        assert_eq!((status.taken_bytes, status.taken_packets), (0x40_05D8, 525));
    }

    #[test]
    fn marks_are_what_waits() {
        assert_eq!(Mark::of(&command(StreamOperation::Resync, 8, 1)), Some(Mark::Resync { bytes: 8, packets: 1 }));
        assert_eq!(Mark::of(&command(StreamOperation::Ping, 8, 1)), Some(Mark::Ping));
        assert_eq!(Mark::of(&command(StreamOperation::Init, 8, 1)), None);
    }
}
