//! Packets that say which they are, and what came of them.

use std::collections::BTreeSet;

use super::chance::Chance;

/// One direction between the base station and a terminal.
#[derive(Default)]
pub struct Flow {
    next: u64,
    last_delivered: Option<u64>,
    /// Accepted and not delivered.
    open: BTreeSet<u64>,
    /// Packets among them that an end took with it when it was restarted.
    excused: BTreeSet<u64>,
    /// Whether an end still works for one that is gone: what it sends may be lost too.
    pub is_unsettled: bool,
    pub accepted: u64,
    pub delivered: u64,
}

fn content(id: u64, tag: u8, len: usize) -> Vec<u8> {
    let mut chance = Chance::new(id << 8 | u64::from(tag));
    let mut packet = id.to_be_bytes().to_vec();
    packet.push(tag);
    packet.extend_from_slice(&(len as u16).to_be_bytes());
    packet.extend((packet.len()..len).map(|_| chance.next() as u8));
    packet
}

impl Flow {
    /// A packet for the direction that `tag` names, given to `send`.
    pub fn send(&mut self, tag: u8, chance: &mut Chance, send: impl FnOnce(&[u8]) -> bool) {
        let len = match chance.below(3) {
            0 => 11 + chance.below(60) as usize,
            1 => 1500,
            _ => 11 + chance.below(1490) as usize,
        };
        let id = self.next;
        if send(&content(id, tag, len)) {
            self.open.insert(id);
            if self.is_unsettled {
                self.excused.insert(id);
            }
            self.accepted += 1;
            self.next += 1;
        }
    }

    /// Fails unless the packet is what was sent, once, and after all before it.
    pub fn delivered(&mut self, tag: u8, packet: &[u8]) {
        assert!(packet.len() >= 11, "a packet of {} bytes", packet.len());
        let id = u64::from_be_bytes(packet[..8].try_into().unwrap());
        assert!(packet == content(id, tag, packet.len()), "packet {id} was changed");
        assert_eq!(usize::from(u16::from_be_bytes([packet[9], packet[10]])), packet.len());
        assert!(self.last_delivered < Some(id), "packet {id} after {:?}", self.last_delivered);
        assert!(self.open.remove(&id), "packet {id} was never sent, or delivered before");
        self.last_delivered = Some(id);
        self.delivered += 1;
    }

    /// An end forgets: what is under way may be lost.
    pub fn excuse(&mut self) {
        self.excused.extend(&self.open);
        self.is_unsettled = true;
    }

    /// Packets that are missing.
    pub fn missing(&self) -> usize {
        self.open.len()
    }

    /// Packets that are missing without an excuse.
    pub fn lost(&self) -> Vec<u64> {
        self.open.difference(&self.excused).copied().collect()
    }
}
