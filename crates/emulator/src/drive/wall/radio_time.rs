//! How a radio's time lies on the host's clock: where the two stand together, and how fast it has run since.
//!
//! Counted in femtoseconds of the radio, since a speed is a whole number of millionths: a nanosecond of the host adds as many. So
//! ticks and instants are exact, however long ago the two stood together. A change of the speed moves nothing: the new line
//! begins where the old one is.

use std::time::Duration;

use takt_base::{MonoNs, Speed, Tick, TickRate};

const FEMTOSECONDS: u128 = 1_000_000_000_000_000;

/// The radio's time for each instant of the host's monotonic clock. Never goes back, and has no jumps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadioTime {
    now: Line,
    /// The line that held before `now` begins: datagrams that arrived then may still wait.
    before: Line,
}

/// From an instant at which so much of the radio's time had passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Line {
    from: MonoNs,
    at_fs: u128,
    speed: Speed,
}

impl Line {
    fn fs_at(&self, instant: MonoNs) -> u128 {
        let each = u128::from(self.speed.millionths());
        match instant.0.checked_sub(self.from.0) {
            Some(ns) => self.at_fs + u128::from(ns) * each,
            None => self.at_fs.saturating_sub(u128::from(self.from.0 - instant.0) * each),
        }
    }

    /// The first instant at which so many ticks of `hz` have passed, times 10^15; before the line begins, as if it had always
    /// run. One division, so that it is exact.
    fn instant_of(&self, hz: u128, wanted: u128) -> MonoNs {
        let (begun, each) = (self.at_fs * hz, hz * u128::from(self.speed.millionths()));
        let from = u128::from(self.from.0);
        let ns = match wanted.checked_sub(begun) {
            Some(ahead) => from + ahead.div_ceil(each),
            None => from.saturating_sub((begun - wanted) / each),
        };
        MonoNs(u64::try_from(ns).unwrap_or(u64::MAX))
    }
}

impl RadioTime {
    /// Time of a radio that has run at this speed since the host's clock stood at 0. All such radios of a host agree on the second.
    #[must_use]
    pub fn steady(speed: Speed) -> RadioTime {
        let line = Line { from: MonoNs(0), at_fs: 0, speed };
        RadioTime { now: line, before: line }
    }

    /// The same up to `from`, and then another speed.
    #[must_use]
    pub fn changed(self, from: MonoNs, speed: Speed) -> RadioTime {
        RadioTime { before: self.now, now: Line { from, at_fs: self.now.fs_at(from), speed } }
    }

    /// The last speed it is given.
    #[must_use]
    pub fn speed(&self) -> Speed {
        self.now.speed
    }

    /// The tick of a clock of this rate at an instant.
    #[must_use]
    pub fn tick_of(&self, rate: TickRate, instant: MonoNs) -> Tick {
        let ticks = self.fs_at(instant) * u128::from(rate.hz()) / FEMTOSECONDS;
        Tick(u64::try_from(ticks).unwrap_or(u64::MAX))
    }

    /// The first instant at which a tick has come.
    #[must_use]
    pub fn instant_of(&self, rate: TickRate, tick: Tick) -> MonoNs {
        let (hz, wanted) = (u128::from(rate.hz()), u128::from(tick.0) * FEMTOSECONDS);
        let line = if wanted >= self.now.at_fs * hz { &self.now } else { &self.before };
        line.instant_of(hz, wanted)
    }

    /// How much of the radio's time has passed at an instant since its tick 0, rounded down to a nanosecond.
    #[must_use]
    pub fn since_zero(&self, instant: MonoNs) -> Duration {
        let ns = self.fs_at(instant) / u128::from(Speed::WALL.millionths());
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// By how many ticks of a clock it is ahead of one that has always run at its present speed, modulo 2^64.
    #[must_use]
    pub fn offset_ticks(&self, rate: TickRate) -> u64 {
        let Line { from, at_fs, speed } = self.now;
        let steady_fs = u128::from(from.0) * u128::from(speed.millionths());
        // Modulo 2^64, as the sum is that it is part of.
        let ticks = (at_fs.abs_diff(steady_fs) * u128::from(rate.hz()) / FEMTOSECONDS) as u64;
        if at_fs < steady_fs { ticks.wrapping_neg() } else { ticks }
    }

    fn fs_at(&self, instant: MonoNs) -> u128 {
        let line = if instant >= self.now.from { &self.now } else { &self.before };
        line.fs_at(instant)
    }

    /// As words for another thread.
    pub(super) fn words(&self) -> [u64; WORDS] {
        let [a, b, c, d] = self.now.words();
        let [e, f, g, h] = self.before.words();
        [a, b, c, d, e, f, g, h]
    }

    pub(super) fn from_words([a, b, c, d, e, f, g, h]: [u64; WORDS]) -> RadioTime {
        RadioTime { now: Line::from_words([a, b, c, d]), before: Line::from_words([e, f, g, h]) }
    }
}

/// Words of a [`RadioTime`].
pub(super) const WORDS: usize = 8;

impl Line {
    fn words(&self) -> [u64; 4] {
        [self.from.0, (self.at_fs >> 64) as u64, self.at_fs as u64, self.speed.millionths().into()]
    }

    fn from_words([from, high, low, millionths]: [u64; 4]) -> Line {
        let speed = u32::try_from(millionths).ok().and_then(Speed::from_millionths);
        // Only words of `words` come here.
        Line { from: MonoNs(from), at_fs: u128::from(high) << 64 | u128::from(low), speed: speed.unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use takt_base::Ticks;

    use super::*;

    const N200: TickRate = TickRate::from_hz(100_000_000).unwrap();
    const NS: TickRate = TickRate::from_hz(1_000_000_000).unwrap();
    const YEAR_NS: u64 = 365 * 86_400 * 1_000_000_000;

    fn speed(text: &str) -> Speed {
        text.parse().unwrap()
    }

    #[test]
    fn at_the_walls_speed_nothing_changes() {
        let time = RadioTime::steady(Speed::WALL);
        let odd = TickRate::from_hz(99_999_850).unwrap();
        for ns in [0, 1, 9, 10, 1_000_003, YEAR_NS + 7] {
            assert_eq!(time.tick_of(odd, MonoNs(ns)), Tick(odd.ticks_in_ns(ns.into()).0));
        }
        for tick in [0, 1, 99_999_850, u64::MAX] {
            assert_eq!(time.instant_of(odd, Tick(tick)), MonoNs(odd.ns_of(Ticks(tick))));
        }
        assert_eq!(time.offset_ticks(N200), 0);
    }

    /// Ten years on, to the tick and to the nanosecond.
    #[test]
    fn a_slow_radio_never_drifts() {
        for (text, tick, at) in [
            ("0.1", 10_000_000, 1_000_000_000),
            ("0.5", 50_000_000, 1_000_000_000),
            ("2", 200_000_000, 1_000_000_000),
            ("0.333333", 33_333_300, 1_000_000_000),
        ] {
            let time = RadioTime::steady(speed(text));
            let years = 10 * YEAR_NS / 1_000_000_000;
            for times in [1, years] {
                assert_eq!(time.tick_of(N200, MonoNs(at * times)), Tick(tick * times), "{text}");
                assert_eq!(time.instant_of(N200, Tick(tick * times)), MonoNs(at * times), "{text}");
            }
        }
    }

    #[test]
    fn a_change_of_the_speed_moves_nothing_and_all_clocks_change_together() {
        let at = MonoNs(7 * YEAR_NS + 3);
        let slow = RadioTime::steady(speed("0.1"));
        let time = slow.changed(at, speed("0.4"));
        for rate in [N200, NS] {
            assert_eq!(time.tick_of(rate, at), slow.tick_of(rate, at));
            let before = MonoNs(at.0 - 1_000_001);
            assert_eq!(time.tick_of(rate, before), slow.tick_of(rate, before), "what waits since then keeps its tick");
            let earlier = slow.tick_of(rate, before);
            assert_eq!(time.instant_of(rate, earlier), slow.instant_of(rate, earlier));
            let later = time.tick_of(rate, MonoNs(at.0 + 1_000_000_000));
            let passed = later.0 - time.tick_of(rate, at).0;
            assert!(passed.abs_diff(u64::from(rate.hz()) * 4 / 10) <= 1, "{passed}");
        }
        assert_eq!(time.speed(), speed("0.4"));
        assert_eq!(RadioTime::from_words(time.words()), time);
        // A host computes this if it knows the speed and the offset alone.
        let host = MonoNs(at.0 + 123_456_789);
        let told = speed("0.4").ticks_in_ns(N200, host.0.into()).0.wrapping_add(time.offset_ticks(N200));
        assert!(told.abs_diff(time.tick_of(N200, host).0) <= 1);
    }

    #[test]
    fn seconds_are_those_of_the_radio() {
        let time = RadioTime::steady(speed("0.1"));
        assert_eq!(time.since_zero(MonoNs(12_345_678_901)), Duration::from_nanos(1_234_567_890));
    }

    proptest! {
        /// The instant of a tick is the first at which it has come: a nanosecond before it has not.
        #[test]
        fn ticks_and_instants_are_inverse(
            from in 0..20 * YEAR_NS, [first, then] in [1_000_u32..=100_000_000, 1_000_u32..=100_000_000],
            hz in 1_000_000_u32..1_000_000_000, around in -2_000_000_000_i64..2_000_000_000,
        ) {
            let [first, then] = [first, then].map(|millionths| Speed::from_millionths(millionths).unwrap());
            let rate = TickRate::from_hz(hz).unwrap();
            let time = RadioTime::steady(first).changed(MonoNs(from), then);
            let instant = MonoNs(from.saturating_add_signed(around));
            let tick = time.tick_of(rate, instant);
            let begun = time.instant_of(rate, tick);
            prop_assert!(begun <= instant);
            prop_assert_eq!(time.tick_of(rate, begun), tick);
            if let Some(before) = begun.0.checked_sub(1).filter(|_| tick > Tick(0)) {
                prop_assert!(time.tick_of(rate, MonoNs(before)) < tick);
            }
            // It never goes back.
            prop_assert!(time.tick_of(rate, MonoNs(instant.0 + 1)) >= tick);
        }
    }
}
