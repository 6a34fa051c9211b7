//! One channel of a receive stream: what was requested of it, what it says, and whether its silence has a reason.

use std::collections::VecDeque;

use takt_base::{MonoNs, Speed, Tick};
use takt_wire::chdr::{Control, Data};
use takt_wire::x310::registers::message;

use super::credit::Credit;
use super::graph::Channel;
use super::silence::Silence;
use crate::anchor::Anchor;
use crate::rx::{Message, Reading, Run};

/// Commands that a radio queues and this host keeps in mind.
const RUNS: usize = 33;

/// One channel of a stream.
pub(super) struct Lane {
    pub(super) channel: Channel,
    pub(super) credit: Credit,
    /// Requests that have not ended, oldest first: ticks of the first sample, if known, and samples, if there is an
    /// end.
    pub(super) runs: VecDeque<Run>,
    pub(super) stopping: bool,
    /// A message that the radio wants acknowledged.
    pub(super) unacknowledged: Option<Control>,
    pub(super) silence: Silence,
    /// The radio has credit, or says that its run ends where it should not: if it is silent now, it has stopped.
    pub(super) has_no_excuse: bool,
    /// It was silent, and had no excuse.
    pub(super) stopped: bool,
}

impl Lane {
    /// A lane of a radio whose time passes so fast.
    pub(super) fn new(channel: Channel, credit: Credit, speed: Speed) -> Lane {
        let runs = VecDeque::with_capacity(RUNS);
        Lane {
            channel,
            credit,
            runs,
            stopping: false,
            unacknowledged: None,
            silence: Silence::of(speed),
            has_no_excuse: false,
            stopped: false,
        }
    }

    /// It was commanded a run that begins at `first`. A silence that lasts goes on: what is started again and again without a
    /// sample is silent all the time.
    pub(super) fn commanded(&mut self, first: MonoNs, now: MonoNs) {
        if self.silence.ends().is_none_or(|ends| ends < now) {
            self.silence.begin(first.max(now));
        }
        (self.has_no_excuse, self.stopped) = (false, false);
    }

    /// Whether the radio should be given credit anew: it has been silent in the middle of a run for long, which may be for lack
    /// of it. Loss on the way costs credit until the radio's next count of what it has sent, which comes once a
    /// capacity. If more is lost at a time, and the count with it, the radio waits for credit that this host does not
    /// know it lacks; then it overruns, and its report of that may be lost, too (x310.md 9 and 10.2).
    pub(super) fn lacks_credit(&mut self, now: MonoNs, factor: u64, anchor: &Anchor) -> bool {
        let Some(run) = self.runs.front().copied().filter(|_| !self.stopping) else {
            self.silence.end();
            return false;
        };
        if !self.silence.is_too_long(now) {
            return false;
        }
        let at = |tick: u64| anchor.host_at(Tick(tick));
        if let Some(first) = run.first.map(at).filter(|&first| now < first) {
            self.silence.begin(first);
            return false;
        }
        // Nothing is left to be sent.
        if run.end(factor).is_some_and(|end| now >= at(end)) {
            return false;
        }
        self.stopped = self.has_no_excuse;
        !std::mem::take(&mut self.has_no_excuse)
    }

    pub(super) fn samples(&mut self, data: &Data<'_>, datagram_bytes: usize, factor: u64) -> Option<Reading> {
        self.credit.take(datagram_bytes);
        let (tick, count) = (data.head.tick?, data.samples_sc16() as u64);
        if let Some(run) = self.runs.front_mut() {
            run.first = run.first.or(Some(tick));
        }
        let end = tick.saturating_add(count * factor);
        let end_of_burst = data.head.end_of_burst && self.ends(end, factor);
        self.silence.is_broken();
        self.has_no_excuse = data.head.end_of_burst && !end_of_burst;
        Some(Reading::Samples { tick, number: data.head.sequence, end_of_burst, at: data.head.payload_at(), count })
    }

    /// Takes a message of the radio, which it wants acknowledged.
    pub(super) fn message(&mut self, control: Control) -> Option<Reading> {
        if control.is_ack {
            return None;
        }
        self.unacknowledged = Some(control);
        let message = match control.data.first() {
            message::RX_LATE => {
                self.runs.pop_front();
                Message::LateCommand
            }
            message::RX_OVERRUN => Message::Overflow,
            code => Message::Other(code),
        };
        Some(Reading::Message { tick: control.tick.unwrap_or(0), message })
    }

    /// Whether a datagram that ends with `end` and says that its run ends is to be believed. The last one before an overrun
    /// says so, too (x310.md 9), and its run goes on.
    fn ends(&mut self, end: u64, factor: u64) -> bool {
        let Some(run) = self.runs.front() else { return true };
        let ended = self.stopping || run.end(factor).is_some_and(|planned| end >= planned);
        if ended {
            self.runs.pop_front();
            self.stopping = false;
        }
        ended
    }
}
