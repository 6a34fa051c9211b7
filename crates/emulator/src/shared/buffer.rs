//! A transmit buffer: packets in the order of their arrival.
//!
//! Hardware keeps whole packets in its memory; so a packet takes its length here, and one that does not fit is lost. The
//! samples are kept as they came: what they mean is decided when they are played, and the packet that plays is kept until the
//! next one does. A payload lies in one piece, in an arena a little larger than the buffer: what is kept never exceeds its
//! capacity, so that a piece is always free.

use std::collections::VecDeque;
use std::ops::Range;

use takt_base::Tick;

/// Longest datagram there is.
const LONGEST_BYTES: usize = 1 << 16;

/// A packet that waits; `H` is what its radio knows of it beside its samples.
#[derive(Clone, Debug)]
pub(crate) struct Queued<H> {
    pub(crate) head: H,
    /// Samples of 4 bytes.
    pub(crate) payload_words: usize,
    pub(crate) arrived: Tick,
    /// Its space in the buffer.
    pub(crate) bytes: usize,
    payload: Range<usize>,
}

pub(crate) struct Buffer<H> {
    packets: VecDeque<Queued<H>>,
    capacity_bytes: usize,
    arena: Box<[u8]>,
    next: usize,
    used_bytes: usize,
}

impl<H> Buffer<H> {
    /// For packets of at least `shortest_bytes`, by which their number is bounded. It never allocates again.
    pub(crate) fn new(capacity_bytes: usize, shortest_bytes: usize) -> Buffer<H> {
        Buffer {
            packets: VecDeque::with_capacity(capacity_bytes / shortest_bytes.max(1) + 1),
            capacity_bytes,
            // Room for one payload left unused at the end, and for the one that plays.
            arena: vec![0; capacity_bytes + 2 * LONGEST_BYTES].into(),
            next: 0,
            used_bytes: 0,
        }
    }

    /// A packet that takes `bytes` bytes; `false` if there is no room for it. Without `keep` its samples are forgotten at
    /// once.
    pub(crate) fn push(&mut self, arrived: Tick, head: H, payload: &[u8], bytes: usize, keep: bool) -> bool {
        let full = self.used_bytes + bytes > self.capacity_bytes || self.packets.len() == self.packets.capacity();
        if full || bytes > LONGEST_BYTES || payload.len() > bytes {
            return false;
        }
        let payload_words = payload.len() / 4;
        let payload = if keep { self.store(payload) } else { 0..0 };
        self.used_bytes += bytes;
        self.packets.push_back(Queued { head, payload_words, arrived, bytes, payload });
        true
    }

    fn store(&mut self, payload: &[u8]) -> Range<usize> {
        if self.next + payload.len() > self.arena.len() {
            self.next = 0;
        }
        let place = self.next..self.next + payload.len();
        self.arena[place.clone()].copy_from_slice(payload);
        self.next = place.end;
        place
    }

    pub(crate) fn front(&self) -> Option<&Queued<H>> {
        self.packets.front()
    }

    pub(crate) fn pop(&mut self) -> Option<Queued<H>> {
        let packet = self.packets.pop_front()?;
        self.used_bytes -= packet.bytes;
        Some(packet)
    }

    /// The payload of the last packet that was popped and has one, whatever was pushed since; empty if it was not kept.
    pub(crate) fn payload(&self, packet: &Queued<H>) -> &[u8] {
        &self.arena[packet.payload.clone()]
    }

    /// Drops everything; returns how many packets.
    pub(crate) fn clear(&mut self) -> u64 {
        let dropped = self.packets.len() as u64;
        self.packets.clear();
        self.used_bytes = 0;
        dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CAPACITY: usize = 1 << 20;

    #[test]
    fn it_holds_its_capacity_and_not_a_byte_more() {
        let mut buffer = Buffer::new(CAPACITY, 12);
        let payload = [0; 1452]; // a full packet of an N200 with its time takes 1472 bytes; without, 1464
        let kept = (0..1000).take_while(|&n| buffer.push(Tick(0), n, &payload, 1464, true)).count();
        assert_eq!(kept, CAPACITY / 1464);
        buffer.pop();
        assert!(buffer.push(Tick(0), 0, &payload, 1464, true), "room comes back");
        assert_eq!(buffer.clear(), kept as u64);
    }

    #[test]
    fn payloads_come_back_whole_however_often_the_arena_wraps() {
        let mut buffer = Buffer::new(CAPACITY, 12);
        let mut pushed = 0u32;
        let mut plays: Option<Queued<u32>> = None;
        for popped in 0..20_000u32 {
            loop {
                let payload = [pushed as u8; 1452];
                let payload = &payload[..(pushed as usize * 4) % 1452];
                if !buffer.push(Tick(0), pushed, payload, payload.len() + 12, true) {
                    break;
                }
                pushed += 1;
            }
            let whole = |buffer: &Buffer<u32>, packet: &Queued<u32>| {
                let payload = buffer.payload(packet);
                assert_eq!(payload.len(), (packet.head as usize * 4) % 1452);
                assert!(payload.iter().all(|&byte| byte == packet.head as u8), "{}", packet.head);
            };
            // The one that plays has seen the buffer filled up behind it.
            plays.iter().for_each(|packet| whole(&buffer, packet));
            let packet = buffer.pop().unwrap();
            assert_eq!(packet.head, popped);
            whole(&buffer, &packet);
            plays = Some(packet);
        }
    }
}
