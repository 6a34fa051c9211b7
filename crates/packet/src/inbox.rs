//! Messages received and not yet handed out, port by port, and the order in which they are.
//!
//! Each port has a row of messages, handed out by arrival stamp across rows. One rule gives the order that
//! [`crate::Config::ports`] promises. **A message of a later port goes out only once every earlier port, if its row is
//! empty, was found empty by a look that began after the message was read.** Looks are numbered. An engine that reads
//! port by port begins with the last one, so that one round over all ports is enough; an engine whose kernel reads them
//! all looks once more.
//!
//! Without stamps earlier ports come first.

use std::collections::VecDeque;
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

#[derive(Clone, Copy, Debug)]
struct Held {
    message: Message,
    /// First byte of its frame in the arena.
    offset: usize,
    /// The look that read it.
    look: u64,
}

#[derive(Debug)]
struct Row {
    /// Room for all frames of the port, allocated at opening.
    held: VecDeque<Held>,
    /// How many bytes of the first message are out.
    taken: usize,
    /// The last look that found the kernel's queue of this port empty.
    drained: u64,
}

/// Rows of frames, one a port. Frame `f` of port `p` is at `(p * frames + f) * frame_bytes` of the arena.
#[derive(Debug)]
pub(crate) struct Inbox {
    rows: Vec<Row>,
    frames: usize,
    frame_bytes: usize,
    max_payload: usize,
    /// Looks so far.
    look: u64,
}

impl Inbox {
    /// `frames` of `frame_bytes` for each of `ports`; datagrams are handed out with at most `max_payload` bytes.
    pub(crate) fn new(ports: usize, frames: usize, frame_bytes: usize, max_payload: usize) -> Inbox {
        let row = || Row { held: VecDeque::with_capacity(frames), taken: 0, drained: 0 };
        Inbox { rows: (0..ports).map(|_| row()).collect(), frames, frame_bytes, max_payload, look: 0 }
    }

    /// Bytes of arena it describes.
    pub(crate) fn arena_bytes(&self) -> usize {
        self.rows.len() * self.frames * self.frame_bytes
    }

    /// Whether something was read and not yet handed out.
    pub(crate) fn holds_any(&self) -> bool {
        self.rows.iter().any(|row| !row.held.is_empty())
    }

    /// Messages of a port that are here.
    pub(crate) fn len(&self, port: usize) -> usize {
        self.rows.get(port).map_or(0, |row| row.held.len())
    }

    /// Whether a message here lies at `offset` of the arena.
    pub(crate) fn holds(&self, offset: usize) -> bool {
        self.rows.iter().flat_map(|row| &row.held).any(|held| held.offset == offset)
    }

    /// A new look begins: it reads all messages from now on.
    pub(crate) fn look(&mut self) {
        self.look += 1;
    }

    /// Looks at a port whose row is empty: the bytes of the arena that belong to the row, to be filled from the front.
    /// `None` while it still holds something, or for a port that is not there.
    pub(crate) fn free_row(&mut self, port: usize) -> Option<std::ops::Range<usize>> {
        let row = self.rows.get(port)?;
        if !row.held.is_empty() {
            return None;
        }
        self.look();
        let bytes = self.frames * self.frame_bytes;
        Some(port * bytes..(port + 1) * bytes)
    }

    /// The next frame of the row was filled with this. More than a row holds is refused.
    pub(crate) fn filled(&mut self, port: usize, message: Message) {
        let next = self.len(port);
        self.filled_at(port, (port * self.frames + next) * self.frame_bytes, message);
    }

    /// The message was read into the arena at `offset`. More than a row holds is refused.
    pub(crate) fn filled_at(&mut self, port: usize, offset: usize, message: Message) {
        let look = self.look;
        if let Some(row) = self.rows.get_mut(port)
            && row.held.len() < self.frames
        {
            row.held.push_back(Held { message, offset, look });
        }
    }

    /// The look under way found that the kernel has no more for this port.
    pub(crate) fn drained(&mut self, port: usize) {
        if let Some(row) = self.rows.get_mut(port) {
            row.drained = self.look;
        }
    }

    /// Hands out in order until `out` holds `most`, for which it must have room. `done` gets each message that is
    /// out with its last byte, by its offset.
    pub(crate) fn take(&mut self, out: &mut Vec<RxEntry>, most: usize, mut done: impl FnMut(usize)) {
        let most = most.min(out.capacity());
        while out.len() < most {
            let Some(port) = self.next_port() else { return };
            self.hand_out(port, out, most, &mut done);
        }
    }

    /// The port whose head is due: the earliest stamp, of equal ones the earliest port.
    fn next_port(&self) -> Option<usize> {
        let mut best: Option<(usize, Option<MonoNs>)> = None;
        // A message read by this look or a later one has to wait: the page says why.
        let mut read_before = u64::MAX;
        for (port, row) in self.rows.iter().enumerate() {
            match row.held.front() {
                Some(head) if head.look >= read_before => read_before = 0,
                Some(head) if best.is_none_or(|(_, arrived)| head.message.arrived < arrived) => {
                    best = Some((port, head.message.arrived));
                }
                Some(_) => {}
                None => read_before = read_before.min(row.drained),
            }
        }
        best.map(|(port, _)| port)
    }

    /// The first message of a port, datagram by datagram, as far as there is room. Anything else that could be due
    /// before its second datagram was due before its first: both have one stamp.
    fn hand_out(&mut self, port: usize, out: &mut Vec<RxEntry>, most: usize, done: &mut impl FnMut(usize)) {
        let Some(row) = self.rows.get_mut(port) else { return };
        let Some(&Held { message, offset, .. }) = row.held.front() else { return };
        let index = PortIndex(u8::try_from(port).unwrap_or(u8::MAX));
        while out.len() < most {
            let left = message.len.saturating_sub(row.taken);
            let size = if message.segment == 0 { left } else { left.min(message.segment) };
            out.push(RxEntry {
                port: index,
                source: message.source,
                arrived: message.arrived,
                offset: offset + row.taken,
                len: size.min(self.max_payload),
                truncated: message.cut || size > self.max_payload,
            });
            row.taken += size;
            if row.taken >= message.len {
                row.taken = 0;
                row.held.pop_front();
                return done(offset);
            }
        }
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
        inbox.take(&mut out, room, |_| ());
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
    fn what_one_look_read_from_all_ports_waits_for_a_look_that_finds_the_earlier_ones_empty() {
        let mut inbox = Inbox::new(3, 4, 16, 16);
        inbox.look();
        inbox.filled_at(2, 7 * 16, one(5));
        inbox.filled_at(1, 3 * 16, one(6));
        (0..3).for_each(|port| inbox.drained(port));
        assert_eq!(taken(&mut inbox, 8), [], "a datagram for port 0 may have come while the others were read");
        inbox.look();
        inbox.filled_at(0, 0, one(4));
        (1..3).for_each(|port| inbox.drained(port));
        assert_eq!(taken(&mut inbox, 8), [(0, 4)], "and another");
        inbox.look();
        (0..3).for_each(|port| inbox.drained(port));
        assert!(inbox.holds_any());
        assert_eq!(taken(&mut inbox, 8), [(2, 5), (1, 6)]);
        assert!(!inbox.holds_any());
    }

    #[test]
    fn an_aggregate_is_split_and_may_spread_over_batches() {
        let mut inbox = with(64, &[Message { len: 35, segment: 10, ..one(1) }]);
        let (mut sizes, mut done) = (Vec::new(), Vec::new());
        for _ in 0..3 {
            let mut out = Vec::with_capacity(2);
            inbox.take(&mut out, 2, |offset| done.push(offset));
            sizes.push(out.iter().map(|e| (e.offset, e.len)).collect::<Vec<_>>());
        }
        assert_eq!(sizes, [vec![(0, 10), (10, 10)], vec![(20, 10), (30, 5)], vec![]]);
        assert_eq!(done, [0], "its frame is free once its last datagram is out");
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
        inbox.take(&mut out, 1, |_| ());
        assert_eq!((out[0].len, out[0].truncated), (16, true));
    }
}
