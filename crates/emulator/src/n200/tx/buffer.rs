//! The transmit buffer: 1 MiB of packets in the order of their arrival.
//!
//! Hardware keeps whole packets in its memory; so a packet takes its length here, and one that does not fit is lost. The
//! samples are kept as they came: what they mean is decided when they are played. A payload lies in one piece, in an
//! arena a little larger than the buffer: what is kept never exceeds 1 MiB, so that a piece is always free.

use std::collections::VecDeque;
use std::ops::Range;

use takt_base::Tick;
use takt_wire::n200::{TX_BUFFER_BYTES, TxData, TxHead};

/// Shortest packet, by which the number of packets is bounded: sequence number, header, trailer.
const SHORTEST_BYTES: usize = 12;
/// Longest datagram there is.
const LONGEST_BYTES: usize = 1 << 16;
/// The buffer, and room for one payload left unused at the end and one being written.
const ARENA_BYTES: usize = TX_BUFFER_BYTES + 2 * LONGEST_BYTES;

#[derive(Clone, Debug)]
pub(super) struct Queued {
    pub(super) head: TxHead,
    /// Samples of 4 bytes.
    pub(super) payload_words: usize,
    pub(super) arrived: Tick,
    payload: Range<usize>,
    bytes: usize,
}

pub(super) struct Buffer {
    packets: VecDeque<Queued>,
    arena: Box<[u8]>,
    next: usize,
    used_bytes: usize,
}

impl Buffer {
    pub(super) fn new() -> Buffer {
        Buffer {
            packets: VecDeque::with_capacity(TX_BUFFER_BYTES / SHORTEST_BYTES + 1),
            arena: vec![0; ARENA_BYTES].into(),
            next: 0,
            used_bytes: 0,
        }
    }

    /// `false` if there is no room for it. Without `keep` its samples are forgotten at once.
    pub(super) fn push(&mut self, arrived: Tick, packet: &TxData<'_>, keep: bool) -> bool {
        let bytes = packet.head.payload_at() + packet.payload.len() + 4;
        if bytes > LONGEST_BYTES || self.used_bytes + bytes > TX_BUFFER_BYTES {
            return false;
        }
        let payload = if keep { self.store(packet.payload) } else { 0..0 };
        self.used_bytes += bytes;
        let payload_words = packet.payload.len() / 4;
        self.packets.push_back(Queued { head: packet.head, payload_words, arrived, payload, bytes });
        true
    }

    fn store(&mut self, payload: &[u8]) -> Range<usize> {
        if self.next + payload.len() > ARENA_BYTES {
            self.next = 0;
        }
        let place = self.next..self.next + payload.len();
        self.arena[place.clone()].copy_from_slice(payload);
        self.next = place.end;
        place
    }

    pub(super) fn front(&self) -> Option<&Queued> {
        self.packets.front()
    }

    pub(super) fn pop(&mut self) -> Option<Queued> {
        let packet = self.packets.pop_front()?;
        self.used_bytes -= packet.bytes;
        Some(packet)
    }

    /// The payload of a packet just popped; empty if it was not kept.
    pub(super) fn payload(&self, packet: &Queued) -> &[u8] {
        &self.arena[packet.payload.clone()]
    }

    /// Drops everything; returns how many packets.
    pub(super) fn clear(&mut self) -> u64 {
        let dropped = self.packets.len() as u64;
        self.packets.clear();
        self.used_bytes = 0;
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(sequence: u32, payload: &[u8]) -> TxData<'_> {
        let head = TxHead { sequence, count: 0, tick: None, start_of_burst: false, end_of_burst: false, odd: false };
        TxData { head, payload }
    }

    #[test]
    fn it_holds_a_mebibyte_and_not_a_byte_more() {
        let mut buffer = Buffer::new();
        let payload = [0; 1452]; // a full packet with its time takes 1472 bytes; without, 1464
        let kept = (0..1000).take_while(|&n| buffer.push(Tick(0), &packet(n, &payload), true)).count();
        assert_eq!(kept, TX_BUFFER_BYTES / 1464);
        buffer.pop();
        assert!(buffer.push(Tick(0), &packet(0, &payload), true), "room comes back");
        assert_eq!(buffer.clear(), kept as u64);
    }

    #[test]
    fn payloads_come_back_whole_however_often_the_arena_wraps() {
        let mut buffer = Buffer::new();
        let mut pushed = 0u32;
        for popped in 0..20_000u32 {
            loop {
                let payload = [pushed as u8; 1452];
                if !buffer.push(Tick(0), &packet(pushed, &payload[..(pushed as usize * 4) % 1452]), true) {
                    break;
                }
                pushed += 1;
            }
            let packet = buffer.pop().unwrap();
            assert_eq!(packet.head.sequence, popped);
            let payload = buffer.payload(&packet);
            assert_eq!(payload.len(), (popped as usize * 4) % 1452);
            assert!(payload.iter().all(|&byte| byte == popped as u8));
        }
    }
}
