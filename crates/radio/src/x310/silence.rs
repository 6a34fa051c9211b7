//! How long a radio has said nothing although something should have come of it.

use std::time::Duration;

use takt_base::{MonoNs, Speed};

/// How long that may last, of a slow radio longer; twice as long each time after.
const FIRST: Duration = Duration::from_millis(100);
/// Doublings at most: 1.6 s.
const DOUBLINGS: u32 = 4;

/// It begins when the radio is asked for something, and anew with each thing that comes.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Silence {
    /// How fast the radio's time passes.
    speed: Speed,
    /// `None`: nothing should come.
    ends: Option<MonoNs>,
    /// How often in a row it has lasted too long.
    times: u32,
    broken: bool,
}

impl Silence {
    /// The silence of a radio whose time passes so fast. Nothing should come yet.
    pub(super) fn of(speed: Speed) -> Silence {
        Silence { speed, ..Silence::default() }
    }

    /// From now on something should come.
    pub(super) fn begin(&mut self, now: MonoNs) {
        *self = Silence { ends: Some(now + self.first()), ..Silence::of(self.speed) };
    }

    /// Nothing should come any more.
    pub(super) fn end(&mut self) {
        *self = Silence::of(self.speed);
    }

    fn first(&self) -> Duration {
        self.speed.patience(FIRST)
    }

    /// Until when it may last.
    pub(super) fn ends(&self) -> Option<MonoNs> {
        self.ends
    }

    /// Something came.
    pub(super) fn is_broken(&mut self) {
        self.broken = true;
    }

    /// Whether it has lasted too long; then it may last twice as long again.
    pub(super) fn is_too_long(&mut self, now: MonoNs) -> bool {
        if self.broken {
            self.begin(now);
        }
        let first = self.first();
        if now < *self.ends.get_or_insert(now + first) {
            return false;
        }
        self.times += 1;
        self.ends = Some(now + first * (1 << self.times.min(DOUBLINGS)));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// When a silence from 0 is too long, within 5 s, if something comes at these times; ms.
    fn too_long(comes: &[u64]) -> Vec<u64> {
        let mut silence = Silence::default();
        silence.begin(MonoNs(0));
        let mut at = |ms: u64| {
            if comes.contains(&ms) {
                silence.is_broken();
            }
            silence.is_too_long(MonoNs(ms * 1_000_000))
        };
        (0..5000).filter(|&ms| at(ms)).collect()
    }

    #[test]
    fn it_may_last_longer_each_time_and_begins_anew_with_each_thing_that_comes() {
        assert_eq!(too_long(&[]), [100, 300, 700, 1500, 3100, 4700]);
        assert_eq!(too_long(&[90, 180, 400])[..4], [280, 500, 700, 1100]);
    }

    #[test]
    fn a_slow_radio_may_be_silent_for_longer_and_a_fast_one_for_no_less() {
        let ends = |speed: &str| {
            let mut silence = Silence::of(speed.parse().unwrap());
            silence.begin(MonoNs(0));
            silence.ends()
        };
        assert_eq!(["0.1", "1", "10"].map(ends), [1_000, 100, 100].map(|ms| Some(MonoNs(ms * 1_000_000))));
    }

    #[test]
    fn one_that_nobody_waits_for_begins_when_it_is_looked_at() {
        let mut silence = Silence::default();
        assert_eq!(silence.ends(), None);
        assert!(!silence.is_too_long(MonoNs(5_000_000_000)));
        assert_eq!(silence.ends(), Some(MonoNs(5_100_000_000)));
    }
}
