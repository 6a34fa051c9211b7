//! The receiving side of a bearer: reassembly, order, and reports of what is missing. After TS 38.322 section 5.2.3.2.

use std::collections::VecDeque;

use super::RlcConfig;
use super::pdu::{Gap, Segment, Status, UNKNOWN_END, WINDOW, unwrap};
use super::ranges::Ranges;
use crate::BearerMode;

/// A packet that has more gaps than this is asked for as a whole.
const GAPS_OF_PACKET: usize = 8;

/// How a segment was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    New,
    /// Nothing new in it, or its turn is over.
    Duplicate,
    /// It contradicts what came before, or is out of any window.
    Malformed,
}

/// A packet that is not delivered yet.
#[derive(Debug, Default)]
struct Slot {
    bytes: Vec<u8>,
    have: Ranges,
    len: Option<u16>,
}

impl Slot {
    fn is_whole(&self) -> bool {
        self.len.is_some_and(|len| self.have.is_whole(len))
    }

    /// Whether a byte before the last one received is missing.
    fn has_hole(&self) -> bool {
        !self.have.is_empty() && !self.have.is_whole(self.have.end())
    }

    fn add(&mut self, segment: Segment, bytes: &[u8]) -> Taken {
        let (begin, end) = (segment.offset, segment.offset + bytes.len() as u16);
        let too_long = self.len.is_some_and(|len| end > len || (segment.last && end != len));
        if too_long || (segment.last && self.have.end() > end) {
            return Taken::Malformed;
        }
        if segment.last {
            self.len = Some(end);
        }
        if !self.have.add(begin, end) {
            return Taken::Duplicate;
        }
        if self.bytes.len() < usize::from(end) {
            self.bytes.resize(usize::from(end), 0);
        }
        self.bytes[usize::from(begin)..usize::from(end)].copy_from_slice(bytes);
        Taken::New
    }
}

/// Puts packets together and in order.
#[derive(Debug)]
pub(crate) struct Receiver {
    mode: BearerMode,
    config: RlcConfig,
    /// The next packet to deliver.
    next: u64,
    /// It, and what came of those after it.
    slots: VecDeque<Slot>,
    /// Below this, what is missing is known to be missing, not only late.
    settled: u64,
    /// When what is missing below the number counts as missing.
    reordering: Option<(u64, u64)>,
    /// The highest packet that asked for a status, which is not settled.
    poll: Option<u64>,
    status_wanted: bool,
    prohibited_until: u64,
    /// Packets given up, in unacknowledged mode.
    pub(crate) skipped: u64,
}

impl Receiver {
    pub(crate) fn new(mode: BearerMode, config: RlcConfig) -> Receiver {
        Receiver {
            mode,
            config,
            next: 0,
            slots: VecDeque::new(),
            settled: 0,
            reordering: None,
            poll: None,
            status_wanted: false,
            prohibited_until: 0,
            skipped: 0,
        }
    }

    /// One after the highest packet of which anything came.
    fn end(&self) -> u64 {
        self.next + self.slots.len() as u64
    }

    /// Takes a segment; packets that are complete and in order go to `out`.
    pub(crate) fn data(
        &mut self,
        number: u16,
        poll: bool,
        segment: Segment,
        bytes: &[u8],
        now: u64,
        out: &mut Vec<Vec<u8>>,
    ) -> Taken {
        let number = match unwrap(number, self.next) {
            Some(number) if number >= self.next => number,
            _ => {
                self.status_wanted |= poll;
                return Taken::Duplicate;
            }
        };
        if number >= self.next + WINDOW {
            if self.mode == BearerMode::Acknowledged {
                return Taken::Malformed;
            }
            self.skip_to(number + 1 - WINDOW / 2, out);
        }
        let at = (number - self.next) as usize;
        while self.slots.len() <= at {
            self.slots.push_back(Slot::default());
        }
        let taken = self.slots[at].add(segment, bytes);
        if taken == Taken::New && at == 0 && self.mode == BearerMode::Unacknowledged {
            // The first packet still comes: it has its time anew.
            self.reordering = None;
        }
        if poll {
            self.poll = self.poll.max(Some(number));
        }
        self.deliver(out);
        self.settle(now);
        taken
    }

    fn deliver(&mut self, out: &mut Vec<Vec<u8>>) {
        while self.slots.front().is_some_and(Slot::is_whole) {
            out.extend(self.slots.pop_front().map(|slot| slot.bytes));
            self.next += 1;
        }
    }

    /// Gives up all before `number` that is not complete.
    fn skip_to(&mut self, number: u64, out: &mut Vec<Vec<u8>>) {
        while self.next < number {
            match self.slots.pop_front() {
                Some(slot) if slot.is_whole() => out.push(slot.bytes),
                _ => self.skipped += 1,
            }
            self.next += 1;
        }
    }

    fn first_incomplete_from(&self, number: u64) -> u64 {
        let from = number.max(self.next);
        let whole = self.slots.iter().skip((from - self.next) as usize).take_while(|slot| slot.is_whole()).count();
        from + whole as u64
    }

    fn settle(&mut self, now: u64) {
        self.settled = self.first_incomplete_from(self.settled);
        if self.poll.is_some_and(|poll| poll < self.settled) {
            self.poll = None;
            self.status_wanted = true;
        }
        let hole = self.slots.front().is_some_and(Slot::has_hole);
        if self.reordering.is_some_and(|(below, _)| below <= self.next || (below == self.next + 1 && !self.waits(hole)))
        {
            self.reordering = None;
        }
        if self.reordering.is_none() && (self.slots.len() > 1 || self.waits(hole)) {
            self.reordering = Some((self.end(), now + u64::from(self.config.reordering)));
        }
    }

    /// Whether the first packet alone is worth a timer: a hole, or any part where nobody would send it again.
    fn waits(&self, hole: bool) -> bool {
        hole || (self.mode == BearerMode::Unacknowledged && !self.slots.is_empty())
    }

    /// Time passes.
    pub(crate) fn tick(&mut self, now: u64, out: &mut Vec<Vec<u8>>) {
        let Some((below, _)) = self.reordering.filter(|&(_, due)| due <= now) else { return };
        self.reordering = None;
        match self.mode {
            BearerMode::Acknowledged => {
                self.settled = self.first_incomplete_from(below);
                self.status_wanted = true;
                let open = self.end().saturating_sub(self.settled);
                if open > 1 {
                    self.reordering = Some((self.end(), now + u64::from(self.config.reordering)));
                }
                self.poll = self.poll.filter(|&poll| poll >= self.settled);
            }
            BearerMode::Unacknowledged => {
                self.skip_to(below, out);
                self.deliver(out);
                self.settle(now);
            }
        }
    }

    /// Whether a status is due.
    pub(crate) fn has_status(&self, now: u64) -> bool {
        self.mode == BearerMode::Acknowledged && self.status_wanted && now >= self.prohibited_until
    }

    /// A status of at most `room` bytes.
    pub(crate) fn status(&mut self, room: usize, now: u64) -> Option<Status> {
        if !self.has_status(now) || room < Status::len(GAPS_OF_PACKET.min(1)) {
            return None;
        }
        self.status_wanted = false;
        self.prohibited_until = now + u64::from(self.config.status_prohibit);
        let (mut gaps, mut number) = (Vec::new(), self.settled);
        for (at, slot) in (self.next..self.settled).zip(&self.slots) {
            if slot.is_whole() {
                continue;
            }
            let mut missing = slot.have.gaps(slot.len.unwrap_or(UNKNOWN_END));
            if missing.len() > GAPS_OF_PACKET || Status::len(gaps.len() + missing.len()) > room {
                missing = vec![(0, UNKNOWN_END)];
            }
            if Status::len(gaps.len() + missing.len()) > room {
                number = at;
                break;
            }
            gaps.extend(missing.into_iter().map(|(begin, end)| Gap { number: at as u16, begin, end }));
        }
        Some(Status { number: number as u16, gaps })
    }

    /// Asks for a report at the next chance.
    pub(crate) fn want_status(&mut self) {
        self.status_wanted = true;
        self.prohibited_until = 0;
    }
}
