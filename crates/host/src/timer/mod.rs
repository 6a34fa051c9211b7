//! Waiting until an instant of `CLOCK_MONOTONIC`, by a method of choice.
//!
//! ```
//! use std::time::Duration;
//! use takt_base::{Clock, Stop, WallClock};
//! use takt_host::timer::{Method, Ticks, Timer, TimerOptions};
//!
//! let options = TimerOptions { method: Method::Nanosleep, ticks: Ticks::of(512), ..TimerOptions::default() };
//! let mut timer = Timer::open(options)?;
//! let due = WallClock.now() + Duration::from_millis(1);
//! let woken = timer.wait_until(due, &Stop::new())?.unwrap();
//! assert!(woken >= Ticks::of(512).unwrap().at_or_after(due));
//! # Ok::<(), takt_host::timer::TimerError>(())
//! ```
//!
//! A wait never ends before its instant, unless it is stopped, and allocates nothing. An instant that has passed is
//! answered at once. Lateness is against the requested instant; nothing here forgives it.
//!
//! [`Ticks`] make a sleep end at the first tick at or after its end, as on a kernel with that `CONFIG_HZ` and without
//! high-resolution timers. They bound sleeping only: a hybrid's sleep ends at a tick, and what is left it spins, so a
//! hybrid with ticks is late exactly when no tick lies within its spin. A thread that never sleeps has no ticks.

mod method;
mod ticks;

use std::io;
use std::marker::PhantomData;
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::io::Errno;
use rustix::thread::{ClockId, clock_nanosleep_absolute};
use rustix::time::{
    Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create, timerfd_settime,
};
use takt_base::{Clock, MonoNs, Stop, WallClock};

pub use method::{Method, MethodError};
pub use ticks::Ticks;

use crate::slack::{set_timer_slack_ns, timer_slack_ns};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimerOptions {
    pub method: Method,
    /// Ticks at which sleeps end; `None`: whenever the kernel's own timers can.
    pub ticks: Option<Ticks>,
    /// Timer slack of the thread while the timer is open, nanoseconds; `None`: as it is. A real-time thread has none,
    /// whatever is requested.
    pub slack_ns: Option<NonZeroU64>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TimerError {
    #[error("a thread that spins never sleeps, so it can't use a clock tick of {hz} Hz")]
    TicksWithoutSleep { hz: u32 },
    #[error("{doing} with {method} failed")]
    Io {
        doing: &'static str,
        method: Method,
        #[source]
        source: io::Error,
    },
}

/// Waits, for the thread that opened it.
#[derive(Debug)]
pub struct Timer {
    options: TimerOptions,
    /// Only [`Method::TimerFd`] has one.
    fd: Option<OwnedFd>,
    slack_before_ns: Option<NonZeroU64>,
    /// Slack belongs to a thread, so the timer stays with it.
    _of_this_thread: PhantomData<*const ()>,
}

impl Timer {
    /// Prepares the calling thread to wait. Its slack is set here and given back when the timer is dropped.
    ///
    /// # Errors
    /// Ticks with [`Method::Spin`], or no descriptor is left for a [`Method::TimerFd`].
    pub fn open(options: TimerOptions) -> Result<Timer, TimerError> {
        let method = options.method;
        if let (Method::Spin, Some(ticks)) = (method, options.ticks) {
            return Err(TimerError::TicksWithoutSleep { hz: ticks.hz() });
        }
        let fd = (method == Method::TimerFd)
            .then(|| timerfd_create(TimerfdClockId::Monotonic, TimerfdFlags::CLOEXEC))
            .transpose()
            .map_err(|errno| TimerError::Io { doing: "opening a timer", method, source: errno.into() })?;
        // A real-time thread says 0, and has nothing to be given back.
        let slack_before_ns = options.slack_ns.and_then(|_| NonZeroU64::new(timer_slack_ns()));
        if let Some(slack_ns) = options.slack_ns {
            set_timer_slack_ns(slack_ns);
        }
        Ok(Timer { options, fd, slack_before_ns, _of_this_thread: PhantomData })
    }

    #[must_use]
    pub fn options(&self) -> TimerOptions {
        self.options
    }

    /// Waits until `due`; the time seen then, never before `due`. `None`: `stop` was raised, which is looked at before
    /// and after each sleep and every 100 ms of a long one.
    pub fn wait_until(&mut self, due: MonoNs, stop: &Stop) -> Result<Option<MonoNs>, TimerError> {
        let sleep_until = self.sleep_until(due);
        loop {
            let now = WallClock.now();
            if stop.requested() {
                return Ok(None);
            }
            if now >= due {
                return Ok(Some(now));
            }
            match sleep_until {
                Some(end) if now < end => self.sleep(end.min(now + LOOK))?,
                _ => std::hint::spin_loop(),
            }
        }
    }

    /// When the sleep before `due` is to end; `None`: there is no sleep.
    fn sleep_until(&self, due: MonoNs) -> Option<MonoNs> {
        let spin_ns = u64::try_from(self.options.method.awake_before()?.as_nanos()).unwrap_or(u64::MAX);
        let end = MonoNs(due.0.saturating_sub(spin_ns));
        Some(self.options.ticks.map_or(end, |ticks| ticks.at_or_after(end)))
    }

    fn sleep(&self, until: MonoNs) -> Result<(), TimerError> {
        let slept = match &self.fd {
            Some(fd) => expire(fd, until),
            None => clock_nanosleep_absolute(ClockId::Monotonic, &timespec(until)),
        };
        match slept {
            // A signal: the caller looks at the clock, and at the flag that the signal may have raised.
            Ok(()) | Err(Errno::INTR) => Ok(()),
            Err(errno) => Err(TimerError::Io { doing: "sleeping", method: self.options.method, source: errno.into() }),
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        if let Some(slack_ns) = self.slack_before_ns {
            set_timer_slack_ns(slack_ns);
        }
    }
}

/// Longest sleep without a look at the stop flag.
const LOOK: Duration = Duration::from_millis(100);

/// Arms a timer for an instant and reads it, which blocks until then.
fn expire(fd: &OwnedFd, until: MonoNs) -> Result<(), Errno> {
    let never_again = Timespec { tv_sec: 0, tv_nsec: 0 };
    let once = Itimerspec { it_interval: never_again, it_value: timespec(until) };
    timerfd_settime(fd, TimerfdTimerFlags::ABSTIME, &once)?;
    let mut expirations = [0; 8];
    rustix::io::read(fd, &mut expirations).map(|_| ())
}

fn timespec(instant: MonoNs) -> Timespec {
    let (seconds, nanos) = (instant.0 / 1_000_000_000, instant.0 % 1_000_000_000);
    // 1.8e10 seconds at most. A timerfd takes an instant of 0 for "disarm", which no clock that runs ever reaches.
    Timespec { tv_sec: i64::try_from(seconds).unwrap_or(i64::MAX), tv_nsec: nanos as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const METHODS: [Method; 4] =
        [Method::Nanosleep, Method::TimerFd, Method::Hybrid { spin: Duration::from_micros(200) }, Method::Spin];

    fn open(method: Method, ticks: Option<Ticks>) -> Timer {
        Timer::open(TimerOptions { method, ticks, slack_ns: None }).unwrap()
    }

    #[test]
    fn no_method_ends_before_its_instant() {
        for method in METHODS {
            let mut timer = open(method, None);
            for span_us in [0, 1, 50, 300, 2_000] {
                let due = WallClock.now() + Duration::from_micros(span_us);
                assert!(timer.wait_until(due, &Stop::new()).unwrap().unwrap() >= due, "{method}");
            }
        }
    }

    #[test]
    fn an_instant_that_has_passed_is_answered_at_once() {
        for method in METHODS {
            let mut timer = open(method, None);
            for due in [MonoNs(0), WallClock.now()] {
                assert!(timer.wait_until(due, &Stop::new()).unwrap().is_some(), "{method}");
            }
        }
    }

    #[test]
    fn a_sleep_ends_at_a_tick_or_later() {
        let ticks = Ticks::of(128).unwrap();
        for method in [Method::Nanosleep, Method::TimerFd] {
            let mut timer = open(method, Some(ticks));
            let due = WallClock.now() + Duration::from_micros(100);
            assert!(timer.wait_until(due, &Stop::new()).unwrap().unwrap() >= ticks.at_or_after(due), "{method}");
        }
    }

    #[test]
    fn ticks_bound_the_sleep_of_a_hybrid_and_not_its_spin() {
        let ticks = Ticks::of(100).unwrap();
        let timer = open(Method::Hybrid { spin: Duration::from_millis(4) }, Some(ticks));
        let ms = |ms: u64| MonoNs(ms * 1_000_000);
        assert_eq!(timer.sleep_until(ms(1003)), Some(ms(1000)), "awake in time: the tick at 1000 ms, then spinning");
        assert_eq!(timer.sleep_until(ms(1009)), Some(ms(1010)), "no tick within the spin: 1 ms late");
    }

    #[test]
    fn ticks_without_a_sleep_are_refused() {
        let options = TimerOptions { method: Method::Spin, ticks: Ticks::of(512), slack_ns: None };
        let error = Timer::open(options).unwrap_err();
        assert!(matches!(error, TimerError::TicksWithoutSleep { hz: 512 }), "{error}");
    }

    #[test]
    fn a_raised_flag_ends_a_wait_without_end() {
        for method in METHODS {
            let stop = Stop::new();
            let raises = stop.clone();
            let raiser = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(20));
                raises.request();
            });
            assert_eq!(open(method, None).wait_until(MonoNs::NEVER, &stop).unwrap(), None, "{method}");
            raiser.join().unwrap();
        }
    }

    #[test]
    fn slack_is_given_back() {
        std::thread::spawn(|| {
            let before = timer_slack_ns();
            let timer = Timer::open(TimerOptions { slack_ns: NonZeroU64::new(7), ..TimerOptions::default() }).unwrap();
            assert_eq!(timer_slack_ns(), 7);
            drop(timer);
            assert_eq!(timer_slack_ns(), before);
        })
        .join()
        .unwrap();
    }
}
