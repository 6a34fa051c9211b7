//! The sending side of a bearer: a bounded queue, segments, polls and repetition. After TS 38.322 sections 5.2.3.1 and 5.3.

use std::collections::{BTreeSet, VecDeque};

use super::RlcConfig;
use super::pdu::{self, Segment, Status, WINDOW, unwrap};
use super::ranges::Ranges;
use crate::{BearerMode, PacketRefused};

/// A segment has at least this many bytes, unless the packet's rest is shorter.
const SHORTEST: usize = 8;

/// Subframes in which a repetition is still under way, as far as HARQ is concerned: a report that misses it is too early.
const UNDER_WAY: u64 = 16;

/// A packet of the queue.
#[derive(Debug)]
struct Outgoing {
    bytes: Vec<u8>,
    /// Bytes sent at least once.
    sent: u16,
    /// Bytes to send again.
    again: Ranges,
    /// Times that it was asked for again.
    repeats: u8,
    /// The last repetition.
    repeated_at: u64,
    acknowledged: bool,
}

/// Sends packets, and repeats what got lost.
#[derive(Debug)]
pub(crate) struct Transmitter {
    mode: BearerMode,
    config: RlcConfig,
    /// Those not acknowledged or not sent, in order.
    queue: VecDeque<Outgoing>,
    /// The number of the first.
    base: u64,
    /// The place in the queue of the first that is not entirely sent.
    fresh: usize,
    /// Bytes not sent yet.
    unsent: usize,
    /// Packets with bytes to send again.
    again: BTreeSet<u64>,
    pdus_since_poll: u32,
    bytes_since_poll: u32,
    poll_wanted: bool,
    /// The highest packet that a poll covered, and when its answer is overdue.
    poll: Option<(u64, u64)>,
    /// Whether a report came before it could know of a repetition.
    too_early: bool,
    failed: bool,
    pub(crate) sent: u64,
    pub(crate) sent_again: u64,
}

impl Transmitter {
    pub(crate) fn new(mode: BearerMode, config: RlcConfig) -> Transmitter {
        Transmitter {
            mode,
            config,
            queue: VecDeque::new(),
            base: 0,
            fresh: 0,
            unsent: 0,
            again: BTreeSet::new(),
            pdus_since_poll: 0,
            bytes_since_poll: 0,
            poll_wanted: false,
            poll: None,
            too_early: false,
            failed: false,
            sent: 0,
            sent_again: 0,
        }
    }

    /// # Errors
    /// If the packet is too long or empty, or the queue is full.
    pub(crate) fn push(&mut self, packet: &[u8]) -> Result<(), PacketRefused> {
        if packet.is_empty() || packet.len() > pdu::PACKET_LEN {
            return Err(PacketRefused::Size);
        }
        let held = self.queue.len() - self.fresh;
        if held >= self.config.queue_packets as usize {
            return Err(PacketRefused::QueueFull);
        }
        self.unsent += packet.len();
        let bytes = packet.to_vec();
        let again = Ranges::default();
        self.queue.push_back(Outgoing { bytes, sent: 0, again, repeats: 0, repeated_at: 0, acknowledged: false });
        Ok(())
    }

    /// Packets taken and not known to have arrived.
    pub(crate) fn packets(&self) -> usize {
        self.queue.iter().filter(|one| !one.acknowledged).count()
    }

    /// Bytes that could be sent now, with the headers of their PDUs.
    pub(crate) fn waiting(&self) -> usize {
        let again: usize = self.again.iter().filter_map(|number| self.at(*number)).map(|one| one.again.len() + 8).sum();
        let new = if self.window_full() { 0 } else { self.unsent + 6 * (self.queue.len() - self.fresh).min(64) };
        again + new
    }

    fn at(&self, number: u64) -> Option<&Outgoing> {
        self.queue.get(number.checked_sub(self.base)? as usize)
    }

    fn window_full(&self) -> bool {
        self.mode == BearerMode::Acknowledged && self.fresh as u64 >= WINDOW
    }

    /// A data PDU of at most `room` bytes.
    pub(crate) fn build(&mut self, room: usize, now: u64) -> Option<Vec<u8>> {
        let (number, begin, end) = self.repeat(room, now).or_else(|| self.begin(room))?;
        let poll = self.mode == BearerMode::Acknowledged && self.polls(usize::from(end - begin), now);
        let one = self.at(number)?;
        let segment = Segment { offset: begin, last: usize::from(end) == one.bytes.len() };
        let pdu = pdu::data(number as u16, poll, segment, &one.bytes[usize::from(begin)..usize::from(end)]);
        self.forget_sent();
        Some(pdu)
    }

    /// Bytes of a segment that begins at `offset`, has `rest` before it, and fits.
    fn fitting(room: usize, offset: u16, rest: usize) -> Option<usize> {
        let fits = room.checked_sub(Segment::header_len(offset))?.min(rest);
        (fits > 0 && fits >= SHORTEST.min(rest)).then_some(fits)
    }

    fn repeat(&mut self, room: usize, now: u64) -> Option<(u64, u16, u16)> {
        let number = *self.again.first()?;
        let one = self.queue.get_mut((number - self.base) as usize)?;
        let (begin, end) = one.again.first()?;
        let fits = Self::fitting(room, begin, usize::from(end - begin))?;
        let (begin, end) = one.again.take(fits)?;
        one.repeated_at = now;
        if one.again.is_empty() {
            self.again.remove(&number);
        }
        self.sent_again += 1;
        Some((number, begin, end))
    }

    fn begin(&mut self, room: usize) -> Option<(u64, u16, u16)> {
        if self.window_full() || !self.again.is_empty() {
            return None;
        }
        let one = self.queue.get_mut(self.fresh)?;
        let begin = one.sent;
        let fits = Self::fitting(room, begin, one.bytes.len() - usize::from(begin))?;
        one.sent += fits as u16;
        self.unsent -= fits;
        let number = self.base + self.fresh as u64;
        if usize::from(one.sent) == one.bytes.len() {
            self.fresh += 1;
        }
        self.sent += 1;
        Some((number, begin, begin + fits as u16))
    }

    /// In unacknowledged mode a packet is forgotten once it is sent.
    fn forget_sent(&mut self) {
        if self.mode == BearerMode::Unacknowledged {
            self.queue.drain(..self.fresh);
            self.base += self.fresh as u64;
            self.fresh = 0;
        }
    }

    /// Whether the PDU that was just cut asks for a status: TS 38.322 section 5.3.3.2.
    fn polls(&mut self, bytes: usize, now: u64) -> bool {
        self.pdus_since_poll += 1;
        self.bytes_since_poll += bytes as u32;
        let nothing_left = self.again.is_empty() && (self.fresh == self.queue.len() || self.window_full());
        let often = self.pdus_since_poll >= self.config.poll_pdus || self.bytes_since_poll >= self.config.poll_bytes;
        let polls = nothing_left || often || self.poll_wanted;
        if polls {
            (self.pdus_since_poll, self.bytes_since_poll, self.poll_wanted) = (0, 0, false);
            self.poll = Some((self.highest_sent(), now + u64::from(self.config.poll_retransmit)));
        }
        polls
    }

    fn highest_sent(&self) -> u64 {
        let begun = self.queue.get(self.fresh).is_some_and(|one| one.sent > 0);
        (self.base + self.fresh as u64 + u64::from(begun)).saturating_sub(1)
    }

    /// Time passes.
    pub(crate) fn tick(&mut self, now: u64) {
        if self.poll.is_some_and(|(_, due)| due <= now) {
            self.poll = None;
            self.poll_again();
        }
    }

    /// Asks for a status, with a packet that is sent again if there is nothing else to send.
    fn poll_again(&mut self) {
        self.poll_wanted = true;
        if !self.again.is_empty() || (self.fresh < self.queue.len() && !self.window_full()) {
            return;
        }
        let last = self.queue.iter().take(self.fresh + 1).rposition(|one| one.sent > 0 && !one.acknowledged);
        if let Some(at) = last {
            let sent = self.queue[at].sent;
            self.ask_again(at, &[(0, sent)]);
        }
    }

    fn ask_again(&mut self, at: usize, parts: &[(u16, u16)]) {
        let Some(one) = self.queue.get_mut(at) else { return };
        let mut asked = false;
        for &(begin, end) in parts {
            asked |= begin < one.sent;
            one.again.add(begin, end.min(one.sent));
        }
        if asked {
            one.repeats = one.repeats.saturating_add(1);
            self.failed |= one.repeats > self.config.most_repeats;
            self.again.insert(self.base + at as u64);
        }
    }

    /// Takes a status; false if it speaks of what was never sent.
    pub(crate) fn status(&mut self, status: &Status, now: u64) -> bool {
        let Some(before) = unwrap(status.number, self.base) else { return true };
        if before < self.base {
            return true;
        }
        // A packet of which only a part is sent can be spoken of, as a gap.
        let fresh = self.base + self.fresh as u64;
        let has_gap = |number| status.gaps.iter().any(|gap| gap.number == number as u16);
        let begun = self.queue.get(self.fresh).is_some_and(|one| one.sent > 0);
        if before > fresh + u64::from(begun) || (before > fresh && !has_gap(fresh)) {
            return false;
        }
        let mut missing = BTreeSet::new();
        for gap in &status.gaps {
            let Some(number) = unwrap(gap.number, self.base).filter(|number| (self.base..before).contains(number))
            else {
                continue;
            };
            let first = missing.insert(number);
            self.take_gap((number - self.base) as usize, (gap.begin, gap.end), first, now);
        }
        for number in self.base..before {
            if !missing.contains(&number) {
                let one = &mut self.queue[(number - self.base) as usize];
                (one.acknowledged, one.bytes) = (true, Vec::new());
                one.again.clear();
                self.again.remove(&number);
            }
        }
        if self.poll.is_some_and(|(highest, _)| highest < before) {
            self.poll = None;
        }
        if std::mem::take(&mut self.too_early) && self.poll.is_none() {
            self.poll = Some((self.highest_sent(), now + u64::from(self.config.poll_retransmit)));
        }
        self.forget_acknowledged();
        true
    }

    fn take_gap(&mut self, at: usize, gap: (u16, u16), first: bool, now: u64) {
        match self.queue.get_mut(at) {
            Some(one) if one.acknowledged => {}
            Some(one) if one.repeated_at > 0 && now < one.repeated_at + UNDER_WAY => self.too_early = true,
            Some(_) if first => self.ask_again(at, &[gap]),
            Some(one) => {
                one.again.add(gap.0, gap.1.min(one.sent));
            }
            None => {}
        }
    }

    fn forget_acknowledged(&mut self) {
        while self.queue.front().is_some_and(|one| one.acknowledged) {
            self.queue.pop_front();
            self.base += 1;
            self.fresh -= 1;
        }
    }

    /// Whether a packet was asked for too often.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed
    }

    /// Only with nothing sent: after [`Self::restart`].
    pub(crate) fn set_mode(&mut self, mode: BearerMode) {
        self.mode = mode;
    }

    /// The same session goes on: what may have got lost is asked for.
    pub(crate) fn resume(&mut self) {
        self.failed = false;
        self.poll = None;
        self.queue.iter_mut().for_each(|one| one.repeats = 0);
        self.poll_again();
    }

    /// The other end starts from nothing: so do the numbers. Packets that were begun are lost; says how many.
    ///
    /// Acknowledged ones behind a gap are among them: the other end may have held them until the gap was filled.
    pub(crate) fn restart(&mut self) -> u64 {
        let begun = self.queue.iter().filter(|one| one.sent > 0).count();
        let (mode, config) = (self.mode, self.config);
        let queue: VecDeque<Outgoing> = self.queue.drain(..).filter(|one| one.sent == 0).collect();
        let unsent = queue.iter().map(|one| one.bytes.len()).sum();
        let (sent, sent_again) = (self.sent, self.sent_again);
        *self = Transmitter { queue, unsent, sent, sent_again, ..Transmitter::new(mode, config) };
        begun as u64
    }
}
