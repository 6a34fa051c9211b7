//! Device time: the free-running counter plus an offset that the host sets.
//!
//! PPS edges are exact multiples of a second of the free-running counter, and the time of the last edge is computed from
//! the same counter: there is no second clock that could disagree by a tick. Setting the time moves the offset; nothing
//! else in the device notices but what compares with device time.

use takt_base::{Tick, Ticks};

/// PPS edges on the free-running counter: at the first, and then each second, which need not be whole ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Pps {
    first: Tick,
    /// Ticks in so many seconds: 200 MHz is 200 000 000 in 1.
    ticks: u64,
    seconds: u64,
}

impl Pps {
    /// `ticks` ticks in `seconds` seconds, neither of them 0, and an edge at `first`.
    pub(crate) const fn new(first: Tick, ticks: u64, seconds: u64) -> Pps {
        Pps { first, ticks, seconds }
    }

    /// The last edge at or before a tick; the first one if there is none.
    pub(crate) fn before(&self, tick: Tick) -> Tick {
        let since = u128::from(tick.0.saturating_sub(self.first.0));
        let edges = ((since + 1) * u128::from(self.seconds) - 1) / u128::from(self.ticks);
        self.edge(edges)
    }

    /// The first edge after a tick that is not before the first edge.
    fn after(&self, tick: Tick) -> Tick {
        let since = u128::from(tick.0.saturating_sub(self.first.0));
        self.edge(((since + 1) * u128::from(self.seconds) - 1) / u128::from(self.ticks) + 1)
    }

    fn edge(&self, number: u128) -> Tick {
        // As far as counters reach: 2^64 ticks.
        self.first + Ticks((number * u128::from(self.ticks) / u128::from(self.seconds)) as u64)
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Timekeeper {
    pps: Pps,
    /// Device time minus free-running counter, modulo 2^64.
    offset: u64,
    /// The offset that held before `changed`.
    before: u64,
    changed: Tick,
    /// Device time at an edge after which the offset changed: the edge, the time.
    latched: (Tick, u64),
    /// A new time, and the edge from which it holds.
    pending: Option<(Tick, u64)>,
}

impl Timekeeper {
    /// Device time is 0 at power-up.
    pub(crate) fn power_up(now: Tick, pps: Pps) -> Timekeeper {
        let offset = 0u64.wrapping_sub(now.0);
        Timekeeper { pps, offset, before: offset, changed: now, latched: (pps.before(now), 0), pending: None }
    }

    /// From now on edges lie elsewhere: the clock has another rate.
    pub(crate) fn set_pps(&mut self, now: Tick, pps: Pps) {
        let last = self.last_pps(now);
        self.pps = pps;
        self.latched = (pps.before(now), last);
        self.pending = self.pending.map(|(_, time)| (pps.after(now), time));
    }

    /// Device time at a tick of the free-running counter, not before the change before the last.
    pub(crate) fn at(&self, tick: Tick) -> u64 {
        let offset = if tick < self.changed { self.before } else { self.offset };
        tick.0.wrapping_add(offset)
    }

    /// Device time minus free-running counter, modulo 2^64.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// When device time will be `time`, if it is set no more: not before `now`, and `None` if it has passed.
    pub(crate) fn when(&self, now: Tick, time: u64) -> Option<Tick> {
        time.checked_sub(self.at(now)).map(|ahead| now + Ticks(ahead))
    }

    /// From `now` on, device time counts from `time`.
    pub(crate) fn set_now(&mut self, now: Tick, time: u64) {
        // Word "last PPS" keeps what it latched, whatever is set after the edge (or at it).
        self.latched = (self.pps.before(now), self.last_pps(now));
        self.before = self.offset;
        self.offset = time.wrapping_sub(now.0);
        self.changed = now;
    }

    /// At the next PPS edge device time becomes `time`.
    pub(crate) fn set_at_next_pps(&mut self, now: Tick, time: u64) {
        self.pending = Some((self.pps.after(now), time));
    }

    /// When [`act`](Self::act) is due.
    pub(crate) fn next_event(&self) -> Option<Tick> {
        self.pending.map(|(edge, _)| edge)
    }

    /// Applies a pending time whose edge has come.
    pub(crate) fn act(&mut self, now: Tick) {
        if let Some((edge, time)) = self.pending.filter(|(edge, _)| *edge <= now) {
            self.set_now(edge, time);
            self.pending = None;
        }
    }

    /// Device time at the last PPS edge, as it was before anything set at that edge.
    pub(crate) fn last_pps(&self, now: Tick) -> u64 {
        let edge = self.pps.before(now);
        if self.latched.0 == edge { self.latched.1 } else { edge.0.wrapping_add(self.offset) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 100_000_000;
    const PPS: Pps = Pps::new(Tick(0), SECOND, 1);

    #[test]
    fn time_counts_from_power_up_and_from_what_is_set() {
        let mut time = Timekeeper::power_up(Tick(7 * SECOND + 5), PPS);
        assert_eq!(time.at(Tick(7 * SECOND + 15)), 10);
        time.set_now(Tick(7 * SECOND + 20), 1000);
        assert_eq!(time.at(Tick(7 * SECOND + 21)), 1001);
        assert_eq!(time.at(Tick(7 * SECOND + 19)), 14, "a sample before the change keeps the old time");
        assert_eq!(time.when(Tick(7 * SECOND + 21), 1011), Some(Tick(7 * SECOND + 31)));
        assert_eq!(time.when(Tick(7 * SECOND + 21), 1001), Some(Tick(7 * SECOND + 21)));
        assert_eq!(time.when(Tick(7 * SECOND + 21), 1000), None);
        assert_eq!(time.when(Tick(7 * SECOND + 21), u64::MAX), Some(Tick(u64::MAX)));
    }

    #[test]
    fn a_time_set_for_the_next_pps_holds_from_exactly_that_edge() {
        let mut time = Timekeeper::power_up(Tick(0), PPS);
        time.set_at_next_pps(Tick(SECOND / 2), 50 * SECOND);
        assert_eq!(time.next_event(), Some(Tick(SECOND)));
        // The driver comes late; the edge does not.
        time.act(Tick(SECOND + 777));
        assert_eq!(time.at(Tick(SECOND + 777)), 50 * SECOND + 777);
        assert_eq!(time.at(Tick(SECOND - 1)), SECOND - 1);
        assert_eq!(time.next_event(), None);
    }

    #[test]
    fn the_last_pps_is_latched_with_the_time_before_the_change() {
        let mut time = Timekeeper::power_up(Tick(0), PPS);
        time.set_at_next_pps(Tick(10), 50 * SECOND);
        time.act(Tick(SECOND));
        assert_eq!(time.last_pps(Tick(SECOND)), SECOND, "the old time");
        assert_eq!(time.last_pps(Tick(2 * SECOND + 9)), 51 * SECOND, "the new one from the next edge on");
        time.set_now(Tick(2 * SECOND + 10), 0);
        time.set_now(Tick(2 * SECOND + 20), 5);
        assert_eq!(time.last_pps(Tick(2 * SECOND + 30)), 51 * SECOND, "what is set after an edge leaves it alone");
    }

    #[test]
    fn set_at_an_edge_means_the_one_after() {
        let mut time = Timekeeper::power_up(Tick(0), PPS);
        time.set_at_next_pps(Tick(SECOND), 9);
        assert_eq!(time.next_event(), Some(Tick(2 * SECOND)));
    }

    #[test] // 192 MHz * 476 / 481, which is 190 003 950.1 Hz
    fn seconds_that_are_no_whole_ticks_do_not_drift() {
        let pps = Pps::new(Tick(1000), 91_392_000_000, 481);
        assert_eq!(pps.before(Tick(999)), Tick(1000), "before the first edge there is none");
        let second = |n: u64| 1000 + n * 91_392_000_000 / 481;
        for n in [1, 2, 3, 480, 481, 962, 10_000_000] {
            assert_eq!(pps.before(Tick(second(n))), Tick(second(n)));
            assert_eq!(pps.before(Tick(second(n) - 1)), Tick(second(n - 1)));
            assert_eq!(pps.after(Tick(second(n) - 1)), Tick(second(n)));
        }
        assert_eq!(pps.before(Tick(second(481))), Tick(1000 + 91_392_000_000), "whole again");
    }

    #[test]
    fn another_clock_rate_leaves_time_alone_and_moves_the_edges() {
        let mut time = Timekeeper::power_up(Tick(0), PPS);
        time.set_at_next_pps(Tick(SECOND + 5), 7);
        time.set_pps(Tick(SECOND + 9), Pps::new(Tick(SECOND), 92_160_000, 1));
        assert_eq!(time.last_pps(Tick(SECOND + 9)), SECOND);
        assert_eq!(time.at(Tick(SECOND + 9)), SECOND + 9);
        assert_eq!(time.next_event(), Some(Tick(SECOND + 92_160_000)));
    }
}
