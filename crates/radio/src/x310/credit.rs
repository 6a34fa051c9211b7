//! Counts of what this host has taken of a receive stream, which it tells the radio: its credit (x310.md 6.4).

use takt_wire::chdr::{Status, StreamCommand, StreamOperation, StreamStatus, counted_bytes};

/// How often a receiver tells what it took: this part of its buffer, as UHD does.
const INTERVALS: u64 = 32;
/// Packets are not counted for credit, only bytes.
pub(super) const ANY_PACKETS: u32 = 0xFF_FFFF;

/// Counts of what this host has taken of a stream, which it tells the radio.
pub(super) struct Credit {
    /// Endpoint ids of this end and the radio's.
    pub(super) id: u16,
    pub(super) radio_id: u16,
    /// Crossbar port that manages the radio's end, and how many management packets went there.
    pub(super) crossbar_port: u16,
    pub(super) management_sequence: u16,
    pub(super) capacity_bytes: u64,
    pub(super) interval_bytes: u64,
    pub(super) bytes: u64,
    pub(super) packets: u64,
    /// Bytes in the last status.
    pub(super) reported_bytes: u64,
    /// The radio waits for a status.
    pub(super) status_due: bool,
    pub(super) sequence: u16,
}

impl Credit {
    pub(super) fn new(id: u16, capacity_bytes: u64) -> Credit {
        let interval_bytes = (capacity_bytes / INTERVALS).max(1);
        Credit {
            id,
            radio_id: 0,
            crossbar_port: 0,
            management_sequence: 0,
            capacity_bytes,
            interval_bytes,
            bytes: 0,
            packets: 0,
            reported_bytes: 0,
            status_due: false,
            sequence: 0,
        }
    }

    pub(super) fn take(&mut self, length: usize) {
        // The radio may have said any count.
        self.bytes = self.bytes.wrapping_add(counted_bytes(length));
        self.packets = self.packets.wrapping_add(1);
    }

    /// The radio says what it has sent before this command, which counts itself.
    pub(super) fn command(&mut self, command: &StreamCommand) {
        match command.operation {
            StreamOperation::Init => {
                (self.bytes, self.packets, self.reported_bytes) = (0, 0, 0);
                self.status_due = true;
            }
            StreamOperation::Resync => {
                (self.bytes, self.packets) = (command.bytes, command.packets);
                self.take(StreamCommand::BYTES);
            }
            _ => self.status_due = true,
        }
    }

    /// The status to send now, if one is due.
    pub(super) fn due(&mut self) -> Option<StreamStatus> {
        let due = self.status_due || self.bytes.wrapping_sub(self.reported_bytes) >= self.interval_bytes;
        due.then(|| self.status())
    }

    pub(super) fn status(&mut self) -> StreamStatus {
        self.reported_bytes = self.bytes;
        self.status_due = false;
        self.sequence = self.sequence.wrapping_add(1);
        StreamStatus {
            destination: self.radio_id,
            sequence: self.sequence,
            source: self.id,
            status: Status::Okay,
            capacity_bytes: self.capacity_bytes,
            capacity_packets: ANY_PACKETS,
            taken_packets: self.packets,
            taken_bytes: self.bytes,
            buffer: 0,
            info: 0,
        }
    }
}
