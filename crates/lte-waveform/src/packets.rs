//! IP packets as packets of bytes: each with its length before it. A load of them, and what arrived.

use takt_lte_radio::traffic::{LEAST_PACKET, LoadMeter, LoadSchedule, PacketKind, Stamp, read_packet, write_packet};
use takt_runtime::{component, graph::Value};

use crate::settings::{counts, record_bytes};

/// Bytes of the longest IP packet that the link carries.
const MOST: usize = 1500;

/// The packets of a list; ends at the first that is cut.
pub(crate) struct PacketsOf<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for PacketsOf<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let (len, rest) = self.0.split_first_chunk::<2>()?;
        let (packet, rest) = rest.split_at_checked(u16::from_le_bytes(*len).into())?;
        self.0 = rest;
        Some(packet)
    }
}

/// Makes a list.
pub(crate) struct PacketList<'a> {
    place: &'a mut [u8],
    len: usize,
}

impl<'a> PacketList<'a> {
    pub(crate) fn new(place: &'a mut [u8]) -> PacketList<'a> {
        PacketList { place, len: 0 }
    }

    /// Whether the longest packet fits.
    pub(crate) fn has_room(&self) -> bool {
        self.place.len() - self.len >= 2 + MOST
    }

    /// Adds a packet; one that does not fit is left out.
    pub(crate) fn add(&mut self, packet: &[u8]) {
        let Ok(bytes) = u16::try_from(packet.len()) else { return };
        let Some(place) = self.place.get_mut(self.len..self.len + 2 + packet.len()) else { return };
        let (head, body) = place.split_at_mut(2);
        head.copy_from_slice(&bytes.to_le_bytes());
        body.copy_from_slice(packet);
        self.len += place.len();
    }

    /// Bytes of the list.
    pub(crate) fn finish(self) -> usize {
        self.len
    }
}

struct LtePackets {
    schedule: LoadSchedule,
    packet: Vec<u8>,
    to_terminal: bool,
    /// Due, and not given yet since a slot had no room.
    pending: Option<u64>,
}

/// Gives a load of IPv4 packets, each with its number and the slot that it was made in.
#[component(name = "lte-packets")]
impl LtePackets {
    fn new(
        /// Resource blocks of the carrier, which bound the packets of a slot.
        #[param(range = 6..=100, default = 6)]
        prb: u32,
        /// Bits of IP packets in a second of slots of 1 ms.
        #[param(unit = "bit/s", range = 0.0..=200e6, default = 500e3)]
        rate_bps: f64,
        /// Bytes of a packet.
        #[param(range = LEAST_PACKET..=MOST, default = 280)]
        packet_bytes: usize,
        /// The first slot: packets that come before a terminal is attached are refused.
        #[param(unit = "slots", range = 0..=1_000_000_000, default = 250)]
        from: u64,
        /// For how many slots.
        #[param(unit = "slots", range = 0..=1_000_000_000_000_i64, default = 1_000_000_000_000_i64)]
        slots: u64,
        /// Which way the packets say that they go.
        #[param(choice = ["down", "up"], default = "down")]
        way: String,
    ) -> LtePackets {
        let _ = prb;
        LtePackets {
            schedule: LoadSchedule::new(rate_bps, packet_bytes, from, slots),
            packet: vec![0; packet_bytes],
            to_terminal: way == "down",
            pending: None,
        }
    }

    fn tick(&mut self, #[port(up_to = record_bytes(prb))] mut output: Out<u8>, slot: u64) {
        let mut list = PacketList::new(&mut output);
        while list.has_room() {
            let Some(sequence) = self.pending.take().or_else(|| self.schedule.due(slot)) else { break };
            let stamp = Stamp { kind: PacketKind::Load, sequence, made: slot };
            write_packet(stamp, self.to_terminal, &mut self.packet);
            list.add(&self.packet);
        }
        let bytes = list.finish();
        output.truncate(bytes);
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        counts([("packets", self.schedule.sent())])
    }
}

#[derive(Default)]
struct LtePacketSink {
    meter: LoadMeter,
    /// The number of the first packet that came.
    first: Option<u64>,
    /// One beyond the last.
    next: u64,
    wrong: u64,
}

/// Checks each packet of a load bit by bit, and counts those that are missing, repeated or out of order. The load may have begun
/// before its link came up: packets before the first that came are not missing.
#[component(name = "lte-packet-sink")]
impl LtePacketSink {
    fn new() -> LtePacketSink {
        LtePacketSink::default()
    }

    fn tick(&mut self, input: In<u8>, slot: u64) {
        for packet in PacketsOf(&input) {
            match read_packet(packet) {
                Some(stamp) => {
                    self.first.get_or_insert(stamp.sequence);
                    self.next = self.next.max(stamp.sequence.saturating_add(1));
                    self.meter.take(stamp, packet.len(), slot);
                }
                None => self.wrong += 1,
            }
        }
    }

    fn results(&self) -> Vec<(&'static str, Value)> {
        let figures = self.meter.figures(self.next);
        let expected = self.next.saturating_sub(self.first.unwrap_or_default());
        let mut results = counts([
            ("packets", figures.received),
            ("missing", expected.saturating_sub(figures.received)),
            ("repeated", figures.repeated),
            ("reordered", figures.reordered),
            ("wrong", self.wrong),
        ]);
        results.push(("rate_bps", Value::Float(figures.rate_bps.round())));
        results.push(("jitter_ms", Value::Float((figures.jitter_ms * 100.0).round() / 100.0)));
        results
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_gives_back_what_was_added_and_no_cut_packet() {
        let mut place = [0; 200];
        let mut list = PacketList::new(&mut place);
        list.add(&[1; 60]);
        list.add(&[2; 100]);
        list.add(&[3; 100]);
        let bytes = list.finish();
        let packets: Vec<&[u8]> = PacketsOf(&place[..bytes]).collect();
        assert_eq!(packets, [&[1; 60][..], &[2; 100]]);
        assert_eq!(PacketsOf(&place[..bytes - 1]).count(), 1);
    }
}
