//! Radio link control of the default bearer: packets in order, never twice, never changed.
//!
//! In acknowledged mode nothing is lost either, while both ends remember: a new attachment of the same two ends goes on where
//! the old one stopped. If one end has forgotten, packets that were begun count as lost, since nobody knows what arrived.

mod pdu;
mod ranges;
mod receiver;
#[cfg(test)]
mod tests;
mod transmitter;

use serde::{Deserialize, Serialize};

use self::pdu::Pdu;
use self::receiver::{Receiver, Taken};
use self::transmitter::Transmitter;
use crate::{BearerMode, LinkCounters, PacketRefused};

/// The timers and bounds of a bearer. Times are subframes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RlcConfig {
    /// How long a gap may be late rather than lost. HARQ needs 8 for each repetition.
    pub reordering: u16,
    /// Between two reports.
    pub status_prohibit: u16,
    /// After a poll without an answer, it polls again.
    pub poll_retransmit: u16,
    /// PDUs from one poll to the next.
    pub poll_pdus: u32,
    /// Bytes from one poll to the next.
    pub poll_bytes: u32,
    /// Times that a packet is asked for again before the link counts as lost.
    pub most_repeats: u8,
    /// Packets that wait at most, those not counted that are sent and not acknowledged.
    pub queue_packets: u32,
}

impl Default for RlcConfig {
    fn default() -> Self {
        RlcConfig {
            reordering: 35,
            status_prohibit: 10,
            poll_retransmit: 50,
            poll_pdus: 32,
            poll_bytes: 25_000,
            most_repeats: 16,
            queue_packets: 512,
        }
    }
}

/// Panics if a PDU of any bytes is read as something else than it would be written as.
#[cfg(any(test, fuzzing))]
pub(crate) fn check_any_pdu(bytes: &[u8]) {
    match pdu::parse(bytes) {
        Ok(Pdu::Data { number, poll, segment, bytes: payload }) => {
            assert!(usize::from(segment.offset) + payload.len() <= pdu::PACKET_LEN);
            assert_eq!(pdu::data(number, poll, segment, payload), bytes);
        }
        Ok(Pdu::Status(status)) => assert_eq!(status.bytes(), bytes),
        Err(_) => {}
    }
}

/// Both directions of a bearer, at one end.
#[derive(Debug)]
pub(crate) struct Bearer {
    mode: BearerMode,
    config: RlcConfig,
    transmitter: Transmitter,
    receiver: Receiver,
    delivered: Vec<Vec<u8>>,
}

impl Bearer {
    pub(crate) fn new(mode: BearerMode, config: RlcConfig) -> Bearer {
        Bearer {
            mode,
            config,
            transmitter: Transmitter::new(mode, config),
            receiver: Receiver::new(mode, config),
            delivered: Vec::new(),
        }
    }

    /// # Errors
    /// If the packet is refused; counted here.
    pub(crate) fn push(&mut self, packet: &[u8], counters: &mut LinkCounters) -> Result<(), PacketRefused> {
        let taken = self.transmitter.push(packet);
        match taken {
            Ok(()) => counters.packets_accepted += 1,
            Err(PacketRefused::Size) => counters.packets_refused_size += 1,
            Err(_) => counters.packets_refused_full += 1,
        }
        taken
    }

    /// Bytes that could be sent now.
    pub(crate) fn waiting(&self, now: u64) -> usize {
        self.transmitter.waiting() + if self.receiver.has_status(now) { 20 } else { 0 }
    }

    pub(crate) fn mode(&self) -> BearerMode {
        self.mode
    }

    /// Packets taken and not known to have arrived.
    pub(crate) fn packets(&self) -> usize {
        self.transmitter.packets()
    }

    /// The most urgent PDU of at most `room` bytes.
    pub(crate) fn build(&mut self, room: usize, now: u64, counters: &mut LinkCounters) -> Option<Vec<u8>> {
        if let Some(status) = self.receiver.status(room, now) {
            counters.rlc_statuses_sent += 1;
            return Some(status.bytes());
        }
        let pdu = self.transmitter.build(room, now);
        (counters.rlc_sent, counters.rlc_sent_again) = (self.transmitter.sent, self.transmitter.sent_again);
        pdu
    }

    /// Takes a PDU from the other end.
    pub(crate) fn take(&mut self, bytes: &[u8], now: u64, counters: &mut LinkCounters) {
        match pdu::parse(bytes) {
            Ok(Pdu::Data { number, poll, segment, bytes }) => {
                counters.rlc_received += 1;
                match self.receiver.data(number, poll, segment, bytes, now, &mut self.delivered) {
                    Taken::New => {}
                    Taken::Duplicate => counters.rlc_duplicates += 1,
                    Taken::Malformed => counters.malformed += 1,
                }
            }
            Ok(Pdu::Status(status)) if self.mode == BearerMode::Acknowledged => {
                counters.rlc_statuses_received += 1;
                if !self.transmitter.status(&status, now) {
                    counters.malformed += 1;
                }
            }
            Ok(Pdu::Status(_)) | Err(_) => counters.malformed += 1,
        }
        counters.packets_skipped = self.receiver.skipped;
    }

    /// Time passes, with a link or without.
    pub(crate) fn tick(&mut self, has_link: bool, now: u64, counters: &mut LinkCounters) {
        if has_link {
            self.transmitter.tick(now);
        }
        self.receiver.tick(now, &mut self.delivered);
        counters.packets_skipped = self.receiver.skipped;
    }

    /// Packets that are complete and in order.
    pub(crate) fn delivered(&mut self) -> std::vec::Drain<'_, Vec<u8>> {
        self.delivered.drain(..)
    }

    /// Whether a packet was asked for too often.
    pub(crate) fn has_failed(&self) -> bool {
        self.transmitter.has_failed()
    }

    /// A new attachment of the same two ends, both of which remember.
    pub(crate) fn resume(&mut self, counters: &mut LinkCounters) {
        match self.mode {
            BearerMode::Acknowledged => {
                self.transmitter.resume();
                self.receiver.want_status();
            }
            BearerMode::Unacknowledged => self.restart(self.mode, counters),
        }
    }

    /// A new attachment, and the other end has forgotten.
    pub(crate) fn restart(&mut self, mode: BearerMode, counters: &mut LinkCounters) {
        counters.packets_lost += self.transmitter.restart();
        self.transmitter.set_mode(mode);
        self.mode = mode;
        let skipped = self.receiver.skipped;
        self.receiver = Receiver::new(mode, self.config);
        self.receiver.skipped = skipped;
    }
}
