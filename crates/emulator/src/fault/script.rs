//! One fault at work: which datagrams it has seen, which it strikes, how often it struck.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use takt_base::{Tick, Ticks};

use super::spec::{Fault, Kind, Moment, When};
use super::stream::Stream;

/// When something begins, on the device's counter.
#[derive(Clone, Copy)]
enum Start {
    At(Tick),
    /// So long after the first sample packet, which has not come yet.
    AfterSamples(Ticks),
}

impl Start {
    fn tick(self) -> Option<Tick> {
        match self {
            Start::At(tick) => Some(tick),
            Start::AfterSamples(_) => None,
        }
    }

    fn passed(self, now: Tick) -> bool {
        self.tick().is_some_and(|at| at <= now)
    }

    fn samples_began(&mut self, at: Tick) {
        if let Start::AfterSamples(span) = *self {
            *self = Start::At(at + span);
        }
    }
}

pub(super) struct Script {
    pub(super) fault: Fault,
    /// Ticks of the fault's times, on the device's counter.
    quiet_until: Start,
    at: Option<Start>,
    span: Ticks,
    rng: ChaCha8Rng,
    observed: u64,
    /// Datagrams of a run still to be struck.
    run: u64,
    /// Datagrams in a ring that nobody empties.
    waiting: u64,
    /// The single shot of [`When::At`] is spent.
    spent: bool,
    pub(super) injected: u64,
}

impl Script {
    /// For a device switched on at `born`, whose counter runs at `ticks_of` a duration.
    pub(super) fn new(fault: Fault, born: Tick, ticks_of: impl Fn(std::time::Duration) -> Ticks) -> Script {
        let start = |moment| match moment {
            Moment::AfterPowerOn(time) => Start::At(born + ticks_of(time)),
            Moment::AfterSamples(time) => Start::AfterSamples(ticks_of(time)),
        };
        let at = match fault.when {
            When::At(moment) => Some(start(moment)),
            _ => None,
        };
        let span = match fault.kind {
            Kind::Delay { by: span }
            | Kind::Overflow { span }
            | Kind::Stall { span }
            | Kind::Ring { span, .. }
            | Kind::Reboot { span } => ticks_of(span),
            _ => Ticks(0),
        };
        Script {
            quiet_until: start(fault.quiet),
            at,
            span,
            rng: ChaCha8Rng::seed_from_u64(fault.seed),
            observed: 0,
            run: 0,
            waiting: 0,
            spent: false,
            injected: 0,
            fault,
        }
    }

    /// How long a delay, a blockage, a stall or an absence lasts.
    pub(super) fn span(&self) -> Ticks {
        self.span
    }

    /// It counts from the first sample packet, which has not come yet.
    pub(super) fn awaits_samples(&self) -> bool {
        let starts = [Some(self.quiet_until), self.at];
        starts.into_iter().flatten().any(|start| start.tick().is_none())
    }

    pub(super) fn samples_began(&mut self, at: Tick) {
        self.quiet_until.samples_began(at);
        if let Some(start) = &mut self.at {
            start.samples_began(at);
        }
    }

    /// When a reboot begins that is still to come; `None` too while nothing says when.
    pub(super) fn reboots_at(&self) -> Option<Tick> {
        let still = matches!(self.fault.kind, Kind::Reboot { .. }) && !self.spent;
        self.at.filter(|_| still).and_then(Start::tick)
    }

    /// Its reboot begins, if it is due: when it ends.
    pub(super) fn reboot(&mut self, now: Tick) -> Option<Tick> {
        let begin = self.reboots_at().filter(|&at| at <= now)?;
        self.spent = true;
        self.injected += 1;
        Some(begin + self.span)
    }

    /// When a ring that nobody empties is emptied again.
    pub(super) fn emptied_at(&self) -> Option<Tick> {
        let ring = matches!(self.fault.kind, Kind::Ring { .. });
        self.at.filter(|_| ring).and_then(Start::tick).map(|at| at + self.span)
    }

    /// A datagram wants to wait in the ring; `false`: it is full.
    pub(super) fn waits(&mut self, frames: u64) -> bool {
        let room = self.waiting < frames;
        self.waiting += u64::from(room);
        room
    }

    /// A datagram of this stream passes: is it struck?
    pub(super) fn strikes(&mut self, now: Tick, stream: Stream) -> bool {
        if !self.fault.stream.holds(stream) {
            return false;
        }
        let begin = self.at.and_then(Start::tick);
        match self.fault.kind {
            Kind::Stall { .. } => return self.count(begin.is_some_and(|at| (at..at + self.span).contains(&now))),
            // A datagram that leaves just when it is emptied comes behind those that wait.
            Kind::Ring { .. } => return self.count(begin.is_some_and(|at| (at..=at + self.span).contains(&now))),
            Kind::Reboot { .. } => return false,
            _ if !self.quiet_until.passed(now) => return false,
            _ => {}
        }
        self.observed += 1;
        let Some(nth) = self.observed.checked_sub(self.fault.skip).filter(|&nth| nth > 0) else { return false };
        // Random numbers are drawn for each datagram, so that a run does not shift the ones after it.
        let hit = match self.fault.when {
            When::Every(every) => nth % every == 0,
            When::Nth(which) => nth == which,
            When::At(_) => !self.spent && self.at.is_some_and(|at| at.passed(now)),
            When::Chance(p) => self.rng.random_bool(p),
        };
        if hit && self.injected < self.fault.limit {
            self.spent = true;
            self.run = match self.fault.kind {
                Kind::Lose { run } => run,
                _ => 1,
            };
        }
        let struck = self.run > 0;
        self.run -= u64::from(struck);
        self.count(struck)
    }

    fn count(&mut self, struck: bool) -> bool {
        self.injected += u64::from(struck);
        struck
    }

    /// A random number below `end`; 0 if that is 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { self.rng.random_range(0..end) }
    }
}
