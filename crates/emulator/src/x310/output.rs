//! Packets that leave a stream endpoint: its set-up, and how much credit its receiver gives (x310.md 10.1 and 10.2).
//!
//! ```text
//!   configure ── command "init" ──▶ pending ── status "okay" ──▶ open: samples while sent - taken < capacity
//!                                      └────── any other ──▶ failed      command "resync" each capacity bytes
//! ```
//!
//! Lengths count rounded up to 8, and commands count like samples, after they were sent (15, trap 9).

use takt_wire::chdr::{Status, StreamCommand, StreamOperation, StreamStatus, counted_bytes};
use takt_wire::x310::registers::endpoint;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum State {
    /// Never set up.
    #[default]
    Off,
    Pending,
    Failed,
    Open,
}

/// Bytes and packets since the stream was set up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Count {
    bytes: u64,
    packets: u64,
}

impl Count {
    fn add(&mut self, length: usize) {
        self.bytes += counted_bytes(length);
        self.packets += 1;
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Output {
    state: State,
    /// As the host wrote it to the control register.
    control: u32,
    pub(super) destination: u16,
    /// How often the receiver shall say what it took.
    interval_bytes: u64,
    interval_packets: u32,
    capacity_bytes: u64,
    capacity_packets: u32,
    sent: Count,
    taken: Count,
    /// Bytes sent since the receiver last got a count.
    unreported_bytes: u64,
    sequence: u16,
    command_sequence: u16,
}

impl Output {
    /// A register of the endpoint; a command if one is to be sent now. `source`: the endpoint's id.
    pub(super) fn write(&mut self, address: u16, data: u32, source: u16) -> Option<StreamCommand> {
        let low = |word: u64| word & !0xFFFF_FFFF | u64::from(data);
        match address {
            endpoint::OUTPUT_DESTINATION => self.destination = data as u16,
            a if a == endpoint::INTERVAL_BYTES[0] => self.interval_bytes = low(self.interval_bytes),
            a if a == endpoint::INTERVAL_BYTES[1] => {
                self.interval_bytes = self.interval_bytes & 0xFFFF_FFFF | u64::from(data) << 32;
            }
            endpoint::INTERVAL_PACKETS => self.interval_packets = data,
            endpoint::OUTPUT => {
                self.control = data;
                if data & endpoint::OUTPUT_CONFIGURE != 0 {
                    return Some(self.configure(source));
                }
            }
            _ => {}
        }
        None
    }

    pub(super) fn read(&self, address: u16) -> Option<u32> {
        Some(match address {
            endpoint::OUTPUT => self.status(),
            endpoint::OUTPUT_DESTINATION => self.destination.into(),
            a if a == endpoint::CAPACITY_BYTES[0] => self.capacity_bytes as u32,
            a if a == endpoint::CAPACITY_BYTES[1] => (self.capacity_bytes >> 32) as u32,
            endpoint::CAPACITY_PACKETS => self.capacity_packets,
            _ => return None,
        })
    }

    fn status(&self) -> u32 {
        let kept = self.control & !(endpoint::OUTPUT_CONFIGURE | 7 << 29);
        kept | match self.state {
            State::Off => 0,
            State::Pending => endpoint::OUTPUT_PENDING,
            State::Failed => endpoint::OUTPUT_FAILED,
            State::Open if self.has_flow_control() => endpoint::OUTPUT_FLOW_CONTROL,
            State::Open => 0,
        }
    }

    fn configure(&mut self, source: u16) -> StreamCommand {
        *self = Output {
            state: State::Pending,
            control: self.control,
            destination: self.destination,
            interval_bytes: self.interval_bytes,
            interval_packets: self.interval_packets,
            ..Output::default()
        };
        self.command(source, StreamOperation::Init, self.interval_packets.into(), self.interval_bytes)
    }

    fn command(&self, source: u16, operation: StreamOperation, packets: u64, bytes: u64) -> StreamCommand {
        StreamCommand {
            destination: self.destination,
            sequence: self.command_sequence,
            source,
            operation,
            operation_data: 0,
            packets,
            bytes,
        }
    }

    fn has_flow_control(&self) -> bool {
        self.interval_bytes > 0 || self.interval_packets > 0
    }

    /// Takes a status of its receiver.
    pub(super) fn status_arrived(&mut self, status: &StreamStatus) {
        self.capacity_bytes = status.capacity_bytes;
        self.capacity_packets = status.capacity_packets;
        self.taken = Count { bytes: status.taken_bytes, packets: status.taken_packets };
        if self.state == State::Pending {
            self.state = if status.status == Status::Okay { State::Open } else { State::Failed };
        }
    }

    /// Its receiver is none that takes samples of it.
    pub(super) fn refused(&mut self) {
        self.state = State::Failed;
    }

    pub(super) fn is_open(&self) -> bool {
        self.state == State::Open
    }

    /// Whether its receiver has room for another packet.
    pub(super) fn has_credit(&self) -> bool {
        let bytes = self.sent.bytes.saturating_sub(self.taken.bytes);
        let packets = self.sent.packets.saturating_sub(self.taken.packets);
        !self.has_flow_control() || bytes < self.capacity_bytes && packets < u64::from(self.capacity_packets)
    }

    /// The number of the next sample packet.
    pub(super) fn sequence(&self) -> u16 {
        self.sequence
    }

    /// A sample packet has left; a command if the receiver is to get the count now.
    pub(super) fn sent(&mut self, length: usize, source: u16) -> Option<StreamCommand> {
        self.sequence = self.sequence.wrapping_add(1);
        self.sent.add(length);
        self.unreported_bytes += counted_bytes(length);
        let lossy = self.control & endpoint::OUTPUT_LOSSY != 0;
        if !lossy || !self.has_flow_control() || self.unreported_bytes <= self.capacity_bytes {
            return None;
        }
        let Count { bytes, packets } = self.sent;
        let command = self.command(source, StreamOperation::Resync, packets, bytes);
        self.sent.add(StreamCommand::BYTES);
        self.unreported_bytes = 0;
        self.command_sequence = self.command_sequence.wrapping_add(1);
        Some(command)
    }

    /// Nobody is there any more.
    pub(super) fn close(&mut self) {
        self.state = State::Off;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Set up towards endpoint 3 with this capacity.
    fn open(capacity_bytes: u64) -> Output {
        let mut output = Output::default();
        for (address, data) in [(0x0C, 3), (0x10, 1000), (0x14, 0), (0x18, 0xFF_FFFF), (0x1C, 0)] {
            assert_eq!(output.write(address, data, 2), None);
        }
        let init = output.write(0x08, 0x0B, 2).expect("an init");
        assert_eq!((init.operation, init.destination, init.source), (StreamOperation::Init, 3, 2));
        assert_eq!((init.bytes, init.packets), (1000, 0xFF_FFFF));
        assert_eq!(output.read(0x08), Some(0x2000_000A));
        output.status_arrived(&status(capacity_bytes, 0, 0));
        output
    }

    fn status(capacity_bytes: u64, taken_bytes: u64, taken_packets: u64) -> StreamStatus {
        StreamStatus {
            destination: 2,
            sequence: 0,
            source: 3,
            status: Status::Okay,
            capacity_bytes,
            capacity_packets: 0xFF_FFFF,
            taken_packets,
            taken_bytes,
            buffer: 0,
            info: 0,
        }
    }

    #[test] // x310.md 17: 8000000a, 00400000, 0, 00ffffff
    fn an_answered_set_up_reads_as_the_host_expects() {
        let output = open(4 << 20);
        let read = [0x08, 0x20, 0x24, 0x28].map(|address| output.read(address).unwrap());
        assert_eq!(read, [0x8000_000A, 0x40_0000, 0, 0xFF_FFFF]);
        assert_eq!(open(5 << 32).read(0x24), Some(5));
    }

    #[test]
    fn a_receiver_that_refuses_gets_nothing() {
        let mut output = open(100);
        output.write(0x08, 0x0B, 2);
        output.status_arrived(&StreamStatus { status: Status::CommandError, ..status(100, 0, 0) });
        assert_eq!((output.is_open(), output.read(0x08)), (false, Some(0x4000_000A)));
    }

    #[test]
    fn credit_is_used_up_by_rounded_lengths_and_given_back_by_counts() {
        let mut output = open(32);
        assert!(output.has_credit());
        assert_eq!(output.sent(12, 2), None); // counts 16
        assert!(output.has_credit());
        assert_eq!(output.sent(12, 2), None);
        assert!(!output.has_credit(), "32 of 32");
        output.status_arrived(&status(32, 16, 1));
        assert!(output.has_credit());
        output.status_arrived(&status(32, u64::MAX, u64::MAX >> 24));
        assert!(output.has_credit(), "a claim to have taken more than was sent is no overflow");
    }

    #[test] // x310.md 17: 525 packets of 8000 bytes are 0x401640 after 4 MiB
    fn after_its_capacity_the_receiver_gets_the_count() {
        let mut output = open(4 << 20);
        let resync = (1..).find_map(|_| output.sent(8000, 2)).expect("a resync");
        assert_eq!((resync.operation, resync.packets, resync.bytes), (StreamOperation::Resync, 525, 0x40_1640));
        assert_eq!(output.sent, Count { bytes: 0x40_1640 + 24, packets: 526 }, "the command counts, once it is sent");
        assert_eq!((output.sequence(), resync.sequence), (525, 0), "commands have numbers of their own");
        let next = (1..).find_map(|_| output.sent(8000, 2)).expect("another");
        assert_eq!((next.sequence, next.packets), (1, 1051));
    }
}
