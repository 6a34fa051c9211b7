//! One fault at work: which datagrams it has seen, which it strikes, how often it struck.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use takt_base::{Tick, Ticks};

use super::spec::{Fault, Kind, When};
use super::stream::Stream;

pub(super) struct Script {
    pub(super) fault: Fault,
    /// Ticks of the fault's times, on the device's counter.
    quiet_until: Tick,
    at: Option<Tick>,
    span: Ticks,
    rng: ChaCha8Rng,
    seen: u64,
    /// Datagrams of a run still to be struck.
    run: u64,
    /// The single shot of [`When::At`] is spent.
    spent: bool,
    pub(super) injected: u64,
}

impl Script {
    /// For a device switched on at `born`, whose counter runs at `ticks_of` a duration.
    pub(super) fn new(fault: Fault, born: Tick, ticks_of: impl Fn(std::time::Duration) -> Ticks) -> Script {
        let at = match fault.when {
            When::At(time) => Some(born + ticks_of(time)),
            _ => None,
        };
        let span = match fault.kind {
            Kind::Delay { by: span } | Kind::Overflow { span } | Kind::Stall { span } | Kind::Reboot { span } => {
                ticks_of(span)
            }
            _ => Ticks(0),
        };
        Script {
            quiet_until: born + ticks_of(fault.quiet),
            at,
            span,
            rng: ChaCha8Rng::seed_from_u64(fault.seed),
            seen: 0,
            run: 0,
            spent: false,
            injected: 0,
            fault,
        }
    }

    /// How long a delay, a blockage, a stall or an absence lasts.
    pub(super) fn span(&self) -> Ticks {
        self.span
    }

    /// When a stall or a reboot begins.
    pub(super) fn begins(&self) -> Option<Tick> {
        self.at
    }

    /// A datagram of this stream passes: is it struck?
    pub(super) fn strikes(&mut self, now: Tick, stream: Stream) -> bool {
        if !self.fault.stream.holds(stream) {
            return false;
        }
        if let Kind::Stall { .. } = self.fault.kind {
            return self.count(self.at.is_some_and(|at| (at..at + self.span).contains(&now)));
        }
        if matches!(self.fault.kind, Kind::Reboot { .. }) || now < self.quiet_until {
            return false;
        }
        self.seen += 1;
        let Some(nth) = self.seen.checked_sub(self.fault.skip).filter(|&nth| nth > 0) else { return false };
        // Random numbers are drawn for each datagram, so that a run does not shift the ones after it.
        let hit = match self.fault.when {
            When::Every(every) => nth % every == 0,
            When::Nth(which) => nth == which,
            When::At(_) => !self.spent && self.at.is_some_and(|at| now >= at),
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
