//! Instants at which a kernel with a slower clock tick could wake a thread.

use takt_base::MonoNs;

/// The ticks of a clock of N Hz. Tick k is at `phase_ns` + k/N seconds of `CLOCK_MONOTONIC`, rounded down to nanoseconds.
///
/// With a phase of 0 the ticks of all threads of a machine coincide, and lie where the kernel's own would: it aligns its
/// tick to the zero of that clock on every CPU (unless started with `skew_tick=1`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ticks {
    hz: u32,
    phase_ns: u64,
}

impl Ticks {
    /// Ticks of `hz`, 1 to 1 000 000 a second, with phase 0; `None` outside that range.
    #[must_use]
    pub fn of(hz: u32) -> Option<Ticks> {
        (1..=1_000_000).contains(&hz).then_some(Ticks { hz, phase_ns: 0 })
    }

    /// The same ticks, each `phase_ns` later; a whole tick later is the same again.
    #[must_use]
    pub fn with_phase_ns(self, phase_ns: u64) -> Ticks {
        Ticks { phase_ns: phase_ns % self.longest_ns(), ..self }
    }

    #[must_use]
    pub fn hz(self) -> u32 {
        self.hz
    }

    /// How far tick 0 lies behind the zero of `CLOCK_MONOTONIC`.
    #[must_use]
    pub fn phase_ns(self) -> u64 {
        self.phase_ns
    }

    /// The longest time between two ticks, nanoseconds: how late a tick may make a wake-up, plus one.
    #[must_use]
    pub fn longest_ns(self) -> u64 {
        SECOND_NS.div_ceil(u64::from(self.hz))
    }

    #[must_use]
    pub fn at_or_after(self, instant: MonoNs) -> MonoNs {
        // Before tick 0 there is none: the clock was not running.
        let since = u128::from(instant.0.saturating_sub(self.phase_ns));
        let (hz, second) = (u128::from(self.hz), u128::from(SECOND_NS));
        // floor(k s / N) >= t exactly if k >= t N / s, since t is whole.
        let k = (since * hz).div_ceil(second);
        let at = u64::try_from(k * second / hz).unwrap_or(u64::MAX);
        MonoNs(at.saturating_add(self.phase_ns))
    }
}

const SECOND_NS: u64 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ticks_of_1024_hz_do_not_drift() {
        let ticks = Ticks::of(1024).unwrap();
        assert_eq!(ticks.at_or_after(MonoNs(0)), MonoNs(0));
        assert_eq!(ticks.at_or_after(MonoNs(1)), MonoNs(976_562));
        assert_eq!(ticks.at_or_after(MonoNs(976_563)), MonoNs(1_953_125));
        let year_ns = 365 * 86_400 * SECOND_NS;
        assert_eq!(ticks.at_or_after(MonoNs(year_ns)), MonoNs(year_ns));
        assert_eq!(ticks.longest_ns(), 976_563);
    }

    #[test]
    fn the_end_of_time_is_no_panic_and_zero_hz_no_clock() {
        assert_eq!(Ticks::of(3).unwrap().at_or_after(MonoNs::NEVER), MonoNs::NEVER);
        assert!(Ticks::of(0).is_none() && Ticks::of(1_000_001).is_none());
    }

    proptest! {
        #[test]
        fn a_tick_is_the_first_of_its_kind(hz in 1u32..=1_000_000, phase in any::<u64>(), at in 2_000_000_000u64..1 << 60) {
            let ticks = Ticks::of(hz).unwrap().with_phase_ns(phase);
            let tick = ticks.at_or_after(MonoNs(at));
            prop_assert!(tick.0 >= at && tick.0 - at < ticks.longest_ns());
            prop_assert_eq!(ticks.at_or_after(tick), tick, "a tick is itself");
            // None lies between the instant and the answer.
            if tick.0 > at {
                prop_assert_eq!(ticks.at_or_after(MonoNs(tick.0 - 1)), tick);
            }
        }
    }
}
