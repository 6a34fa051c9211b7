//! [`Sleeper`]: sleeps until shortly before an instant, then watches the clock. It learns how shortly.
//!
//! A sleep ends late by what the kernel, an idle core and a hypervisor need to get a thread going. A thread may watch
//! the clock for as long as all but one sleep in a thousand need. Then it is as punctual as one that never sleeps, and
//! costs a core no more than that.

use std::time::Duration;

use rustix::thread::{ClockId, Timespec, clock_nanosleep_absolute};
use takt_base::{Clock, MonoNs, Stop, WallClock};

/// Longest sleep without a look at the stop flag.
const LOOK: Duration = Duration::from_millis(100);
/// Sleeps before anything is learned from them: meanwhile the clock is watched for as long as it may be.
const FIRST: u32 = 64;
/// No sleep ends closer to its instant than that.
const LEAST_NS: u64 = 1_000;

/// How one thread waits for instants, and what it knows of its sleeps.
#[derive(Clone, Debug)]
pub struct Sleeper {
    most_ns: u64,
    spin_ns: u64,
    slept: u32,
    latest_ns: u64,
    watched_ns: u64,
}

impl Sleeper {
    /// One that watches the clock for `most` before an instant, at most.
    #[must_use]
    pub fn new(most: Duration) -> Sleeper {
        let most_ns = u64::try_from(most.as_nanos()).unwrap_or(u64::MAX);
        Sleeper { most_ns, spin_ns: most_ns, slept: 0, latest_ns: 0, watched_ns: 0 }
    }

    /// The longest it watches the clock before an instant.
    #[must_use]
    pub fn most(&self) -> Duration {
        Duration::from_nanos(self.most_ns)
    }

    /// How long it watches the clock before an instant, at present.
    #[must_use]
    pub fn spin_ns(&self) -> u64 {
        self.spin_ns
    }

    /// How long it has watched the clock, in all.
    #[must_use]
    pub fn watched_ns(&self) -> u64 {
        self.watched_ns
    }

    /// Answers the time it is at `due` or behind it, or `None` if asked to stop.
    ///
    /// The sleep is the only system call of a worker's slot; the clock is read through the vDSO.
    pub fn wait_until(&mut self, due: MonoNs, stop: &Stop) -> Option<MonoNs> {
        let wake = MonoNs(due.0.saturating_sub(self.spin_ns));
        let mut now = WallClock.now();
        if now < wake {
            now = sleep_until(wake, now, stop)?;
            self.woke(now.0 - wake.0);
        }
        let begun = now;
        while now < due {
            if stop.requested() {
                return None;
            }
            std::hint::spin_loop();
            now = WallClock.now();
        }
        self.watched_ns += now.0 - begun.0;
        (!stop.requested()).then_some(now)
    }

    /// A sleep ended so late. The watch grows by half where it was too short, and shrinks by 1/2048 where it was not.
    /// It is at rest where one sleep in a thousand outlasts it (Robbins and Monro 1951, on a logarithmic scale).
    fn woke(&mut self, late_ns: u64) {
        if self.slept < FIRST {
            self.slept += 1;
            self.latest_ns = self.latest_ns.max(late_ns);
            if self.slept == FIRST {
                self.spin_ns = self.within(self.latest_ns.saturating_mul(2));
            }
            return;
        }
        self.spin_ns = self.within(match late_ns >= self.spin_ns {
            true => self.spin_ns + self.spin_ns / 2,
            false => self.spin_ns - self.spin_ns / 2048,
        });
    }

    fn within(&self, ns: u64) -> u64 {
        ns.max(LEAST_NS).min(self.most_ns)
    }
}

/// Sleeps until an instant, without watching the clock. Answers the time it is then, or `None` if asked to stop.
pub fn wait_until(due: MonoNs, stop: &Stop) -> Option<MonoNs> {
    let now = sleep_until(due, WallClock.now(), stop)?;
    (!stop.requested()).then_some(now)
}

/// Answers the time it is then, or `None` if asked to stop.
fn sleep_until(wake: MonoNs, mut now: MonoNs, stop: &Stop) -> Option<MonoNs> {
    while now < wake {
        if stop.requested() {
            return None;
        }
        nap_until(wake.min(now + LOOK));
        now = WallClock.now();
    }
    Some(now)
}

fn nap_until(instant: MonoNs) {
    let (seconds, nanos) = (instant.0 / 1_000_000_000, instant.0 % 1_000_000_000);
    // Below 2^63 for the next 292 years of uptime. A signal ends the sleep early: the caller looks again.
    let at = Timespec { tv_sec: i64::try_from(seconds).unwrap_or(i64::MAX), tv_nsec: nanos as i64 };
    let _ = clock_nanosleep_absolute(ClockId::Monotonic, &at);
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Duration = Duration::from_micros(100);

    /// How late sleeps end: by a few microseconds, and one in so many by many more.
    fn lateness(sleeps: u64, rare: u64) -> impl Iterator<Item = u64> {
        let scramble = |n: u64| n.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (0..sleeps).map(move |n| if scramble(n) % rare == 0 { 30_000 } else { 2_000 + scramble(n) % 4_000 })
    }

    #[test]
    fn it_watches_as_long_as_all_but_one_sleep_in_a_thousand_need() {
        for (rare, least, most) in [(200, 30_000, 70_000), (50_000, 5_500, 9_500)] {
            let mut sleeper = Sleeper::new(MOST);
            let mut missed = 0;
            let mut longest = Vec::new();
            for (n, late) in lateness(100_000, rare).enumerate() {
                missed += u64::from(n >= 50_000 && late >= sleeper.spin_ns());
                longest.push(sleeper.spin_ns());
                sleeper.woke(late);
            }
            longest.drain(..50_000);
            longest.sort_unstable();
            assert!((10..=150).contains(&missed), "{missed} of 50 000");
            let middle = longest[25_000];
            assert!((least..=most).contains(&middle), "{middle} ns where one in {rare} is late by 30 µs");
        }
    }

    #[test]
    fn it_learns_from_its_first_sleeps_and_never_watches_longer_than_it_may() {
        let mut sleeper = Sleeper::new(MOST);
        (1..FIRST).for_each(|_| sleeper.woke(3_000));
        assert_eq!(sleeper.spin_ns(), 100_000);
        sleeper.woke(3_500);
        assert_eq!(sleeper.spin_ns(), 7_000);
        (0..100).for_each(|_| sleeper.woke(5_000_000));
        assert_eq!(sleeper.spin_ns(), 100_000);
        let mut shy = Sleeper::new(Duration::ZERO);
        (0..=FIRST).for_each(|_| shy.woke(10));
        assert_eq!(shy.spin_ns(), 0, "it may not watch at all");
    }

    #[test]
    fn a_wait_ends_at_its_time_or_when_asked_to_stop() {
        let stop = Stop::new();
        let mut sleeper = Sleeper::new(MOST);
        for after in [Duration::ZERO, Duration::from_micros(50), Duration::from_millis(2)] {
            let due = WallClock.now() + after;
            assert!(sleeper.wait_until(due, &stop).is_some_and(|now| now >= due && WallClock.now() >= now));
        }
        stop.request();
        assert_eq!(sleeper.wait_until(MonoNs(u64::MAX), &stop), None);
    }
}
