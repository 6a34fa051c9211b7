//! What was received and not yet handed out, port by port, and the order in which it is.
//!
//! Each port has a row of frames. A row is filled from the kernel when it is empty, later ports before earlier ones, and
//! handed out by arrival stamp across rows. Two rules give the order that [`crate::Config::ports`] promises:
//!
//! 1. Later ports are read first, so whatever reached an earlier port before a datagram of a later one is read with it.
//! 2. While an earlier port may still hold something unread (its row was full), later ports wait once its row is empty.
//!
//! Without stamps rule 1 alone orders: earlier ports first.

use std::net::SocketAddr;

use takt_base::MonoNs;

use crate::{PortIndex, RxEntry};

/// One message as the kernel delivered it: a datagram, or an aggregate of datagrams of equal size (the last may be
/// shorter).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Message {
    pub(crate) source: SocketAddr,
    pub(crate) arrived: Option<MonoNs>,
    /// Bytes in its frame.
    pub(crate) len: usize,
    /// Bytes of each datagram in an aggregate; 0 = one datagram.
    pub(crate) segment: usize,
    /// Whether the kernel cut it to the frame.
    pub(crate) cut: bool,
}

#[derive(Debug)]
struct Row {
    /// Room for one row, allocated at opening.
    messages: Vec<Message>,
    /// The message to hand out next, and how many of its bytes are out.
    next: usize,
    taken: usize,
    /// Whether the kernel had no more when the row was filled.
    drained: bool,
}

/// Rows of frames, one a port. Frame `f` of port `p` is at `(p * frames + f) * frame_bytes` of the arena.
#[derive(Debug)]
pub(crate) struct Inbox {
    rows: Vec<Row>,
    frames: usize,
    frame_bytes: usize,
    max_payload: usize,
}

impl Inbox {
    /// `frames` of `frame_bytes` for each of `ports`; datagrams are handed out with at most `max_payload` bytes.
    pub(crate) fn new(ports: usize, frames: usize, frame_bytes: usize, max_payload: usize) -> Inbox {
        let row = || Row { messages: Vec::with_capacity(frames), next: 0, taken: 0, drained: true };
        Inbox { rows: (0..ports).map(|_| row()).collect(), frames, frame_bytes, max_payload }
    }

    /// Bytes of arena it describes.
    pub(crate) fn arena_bytes(&self) -> usize {
        self.rows.len() * self.frames * self.frame_bytes
    }

    /// The bytes of the arena that belong to a port's row, to be filled from the front; `None` while it still holds
    /// something, or for a port that is not there.
    pub(crate) fn free_row(&mut self, port: usize) -> Option<std::ops::Range<usize>> {
        let row = self.rows.get_mut(port)?;
        row.drained = false;
        if row.next < row.messages.len() {
            return None;
        }
        row.messages.clear();
        (row.next, row.taken) = (0, 0);
        let bytes = self.frames * self.frame_bytes;
        Some(port * bytes..(port + 1) * bytes)
    }

    /// The next frame of the row was filled with this. More than a row holds is refused.
    pub(crate) fn filled(&mut self, port: usize, message: Message) {
        if let Some(row) = self.rows.get_mut(port)
            && row.messages.len() < self.frames
        {
            row.messages.push(message);
        }
    }

    /// The kernel had no more for this port.
    pub(crate) fn drained(&mut self, port: usize) {
        if let Some(row) = self.rows.get_mut(port) {
            row.drained = true;
        }
    }

    /// Hands out in order until `out` holds `most`, for which it must have room.
    pub(crate) fn take(&mut self, out: &mut Vec<RxEntry>, most: usize) {
        while out.len() < most.min(out.capacity()) {
            let Some(port) = self.next_port() else { return };
            let Some(entry) = self.pop(port) else { return };
            out.push(entry);
        }
    }

    /// The port whose head is due: the earliest stamp, of equal ones the earliest port.
    fn next_port(&self) -> Option<usize> {
        let mut best: Option<(usize, Option<MonoNs>)> = None;
        for (port, row) in self.rows.iter().enumerate() {
            match row.messages.get(row.next) {
                Some(head) if best.is_none_or(|(_, arrived)| head.arrived < arrived) => {
                    best = Some((port, head.arrived));
                }
                None if !row.drained => break, // rule 2
                _ => {}
            }
        }
        best.map(|(port, _)| port)
    }

    fn pop(&mut self, port: usize) -> Option<RxEntry> {
        let base = port * self.frames * self.frame_bytes;
        let row = self.rows.get_mut(port)?;
        let message = *row.messages.get(row.next)?;
        let left = message.len.saturating_sub(row.taken);
        let size = if message.segment == 0 { left } else { left.min(message.segment) };
        let entry = RxEntry {
            port: PortIndex(u8::try_from(port).unwrap_or(u8::MAX)),
            source: message.source,
            arrived: message.arrived,
            offset: base + row.next * self.frame_bytes + row.taken,
            len: size.min(self.max_payload),
            truncated: message.cut || size > self.max_payload,
        };
        row.taken += size;
        if row.taken >= message.len {
            (row.next, row.taken) = (row.next + 1, 0);
        }
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: SocketAddr = SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 7);

    fn one(at: u64) -> Message {
        Message { source: SOURCE, arrived: Some(MonoNs(at)), len: 10, segment: 0, cut: false }
    }

    /// One port's row, drained, with these messages.
    fn with(frame_bytes: usize, messages: &[Message]) -> Inbox {
        let mut inbox = Inbox::new(1, 2, frame_bytes, 16);
        inbox.free_row(0).unwrap();
        messages.iter().for_each(|&message| inbox.filled(0, message));
        inbox.drained(0);
        inbox
    }

    /// Fills an empty row and says whether it was drained; `false` when the row was not empty.
    fn fill(inbox: &mut Inbox, port: usize, stamps: &[u64], drained: bool) -> bool {
        if inbox.free_row(port).is_none() {
            return false;
        }
        for &at in stamps {
            inbox.filled(port, one(at));
        }
        if drained {
            inbox.drained(port);
        }
        true
    }

    fn taken(inbox: &mut Inbox, room: usize) -> Vec<(u8, u64)> {
        let mut out = Vec::with_capacity(room);
        inbox.take(&mut out, room);
        out.iter().map(|e| (e.port.0, e.arrived.unwrap().0)).collect()
    }

    #[test]
    fn datagrams_of_several_ports_come_out_by_arrival_and_of_equal_ones_the_earlier_port_first() {
        let mut inbox = Inbox::new(2, 4, 16, 16);
        fill(&mut inbox, 1, &[2, 3, 5], true);
        fill(&mut inbox, 0, &[1, 3, 6], true);
        assert_eq!(taken(&mut inbox, 8), [(0, 1), (1, 2), (0, 3), (1, 3), (1, 5), (0, 6)]);
    }

    #[test]
    fn a_later_port_waits_while_an_earlier_one_may_hold_something_older() {
        let mut inbox = Inbox::new(2, 2, 16, 16);
        fill(&mut inbox, 1, &[4, 9], false);
        fill(&mut inbox, 0, &[1, 2], false); // two frames, both full: a third, stamped 3, is still in the kernel
        assert_eq!(taken(&mut inbox, 8), [(0, 1), (0, 2)]);
        assert!(!fill(&mut inbox, 1, &[], true), "what was not handed out stays");
        fill(&mut inbox, 0, &[3], true);
        assert_eq!(taken(&mut inbox, 8), [(0, 3), (1, 4), (1, 9)]);
    }

    #[test]
    fn an_earlier_port_never_waits_for_a_later_one() {
        let mut inbox = Inbox::new(2, 2, 16, 16);
        fill(&mut inbox, 1, &[1, 2], false);
        fill(&mut inbox, 0, &[7], true);
        assert_eq!(taken(&mut inbox, 8), [(1, 1), (1, 2), (0, 7)]);
    }

    #[test]
    fn an_aggregate_is_split_and_may_spread_over_batches() {
        let mut inbox = with(64, &[Message { len: 35, segment: 10, ..one(1) }]);
        let mut sizes = Vec::new();
        for _ in 0..3 {
            let mut out = Vec::with_capacity(2);
            inbox.take(&mut out, 2);
            sizes.push(out.iter().map(|e| (e.offset, e.len)).collect::<Vec<_>>());
        }
        assert_eq!(sizes, [vec![(0, 10), (10, 10)], vec![(20, 10), (30, 5)], vec![]]);
    }

    #[test]
    fn an_empty_datagram_is_a_datagram() {
        let mut inbox = with(16, &[Message { len: 0, ..one(1) }, Message { len: 0, segment: 8, ..one(2) }]);
        assert_eq!(taken(&mut inbox, 4), [(0, 1), (0, 2)]);
    }

    #[test]
    fn a_long_datagram_in_a_long_frame_is_cut_and_marked() {
        let mut inbox = with(64, &[Message { len: 20, ..one(1) }]);
        let mut out = Vec::with_capacity(1);
        inbox.take(&mut out, 1);
        assert_eq!((out[0].len, out[0].truncated), (16, true));
    }
}
