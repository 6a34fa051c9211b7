//! Device time: the free-running counter plus an offset that the host sets.
//!
//! PPS edges are exact multiples of a second of the free-running counter, and the time of the last edge is computed from
//! the same counter: there is no second clock that could disagree by a tick. Setting the time moves the offset; nothing
//! else in the device notices but what compares with device time.

use takt_base::{Tick, Ticks};
use takt_wire::n200::MASTER_CLOCK_HZ;

/// Ticks between two PPS edges.
pub(super) const PPS_TICKS: u64 = MASTER_CLOCK_HZ as u64;

#[derive(Clone, Copy, Debug)]
pub(super) struct Timekeeper {
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
    pub(super) fn power_up(now: Tick) -> Timekeeper {
        let offset = 0u64.wrapping_sub(now.0);
        Timekeeper { offset, before: offset, changed: now, latched: (edge_at(now), 0), pending: None }
    }

    /// Device time at a tick of the free-running counter, not before the change before the last.
    pub(super) fn at(&self, tick: Tick) -> u64 {
        let offset = if tick < self.changed { self.before } else { self.offset };
        tick.0.wrapping_add(offset)
    }

    /// Device time minus free-running counter, modulo 2^64.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// When device time will be `time`, if it is set no more: not before `now`, and `None` if it has passed.
    pub(super) fn when(&self, now: Tick, time: u64) -> Option<Tick> {
        time.checked_sub(self.at(now)).map(|ahead| now + Ticks(ahead))
    }

    /// From `now` on, device time counts from `time`.
    pub(super) fn set_now(&mut self, now: Tick, time: u64) {
        // Word "last PPS" keeps what it latched, whatever is set after the edge (or at it).
        self.latched = (edge_at(now), self.last_pps(now));
        self.before = self.offset;
        self.offset = time.wrapping_sub(now.0);
        self.changed = now;
    }

    /// At the next PPS edge device time becomes `time`.
    pub(super) fn set_at_next_pps(&mut self, now: Tick, time: u64) {
        self.pending = Some((edge_at(now) + Ticks(PPS_TICKS), time));
    }

    /// When [`act`](Self::act) is due.
    pub(super) fn next_event(&self) -> Option<Tick> {
        self.pending.map(|(edge, _)| edge)
    }

    /// Applies a pending time whose edge has come.
    pub(super) fn act(&mut self, now: Tick) {
        if let Some((edge, time)) = self.pending.filter(|(edge, _)| *edge <= now) {
            self.set_now(edge, time);
            self.pending = None;
        }
    }

    /// Device time at the last PPS edge, as it was before anything set at that edge.
    pub(super) fn last_pps(&self, now: Tick) -> u64 {
        let edge = edge_at(now);
        if self.latched.0 == edge { self.latched.1 } else { edge.0.wrapping_add(self.offset) }
    }
}

/// The PPS edge at or before a tick.
fn edge_at(tick: Tick) -> Tick {
    Tick(tick.0 - tick.0 % PPS_TICKS)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = PPS_TICKS;

    #[test]
    fn time_counts_from_power_up_and_from_what_is_set() {
        let mut time = Timekeeper::power_up(Tick(7 * SECOND + 5));
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
        let mut time = Timekeeper::power_up(Tick(0));
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
        let mut time = Timekeeper::power_up(Tick(0));
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
        let mut time = Timekeeper::power_up(Tick(0));
        time.set_at_next_pps(Tick(SECOND), 9);
        assert_eq!(time.next_event(), Some(Tick(2 * SECOND)));
    }
}
