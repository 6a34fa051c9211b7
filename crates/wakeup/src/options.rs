//! Options of a beat.

use std::num::NonZeroU64;
use std::time::Duration;

use serde::{Deserialize, Serialize};
#[cfg(feature = "clap")]
use takt_base::parse_duration;
use takt_host::affinity::own_cpus;
use takt_host::idle::Idle;
use takt_host::policy::PolicySpec;
use takt_host::timer::{self, Method, Ticks};
use takt_host::{Host, kernel};

use crate::WakeupError;

/// The options of a measurement of wake-ups. Start from [`WakeupOptions::default`], which the flags of `takt wakeup` have as well.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[serde(default)]
pub struct WakeupOptions {
    /// How long to measure.
    #[cfg_attr(feature = "clap", arg(long, short = 't', visible_short_alias = 'D', value_name = "TIME", default_value = "10s", value_parser = parse_duration))]
    pub duration: Duration,
    /// How long the threads run before the measurement begins.
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", default_value = "200ms", value_parser = parse_duration))]
    pub warm_up: Duration,
    /// Time from one wake-up to the next.
    #[cfg_attr(feature = "clap", arg(long, short = 'i', value_name = "TIME", default_value = "1ms", value_parser = parse_duration))]
    pub interval: Duration,
    /// Scheduling policy of the threads: other, other:NICE, fifo:PRIORITY, rr:PRIORITY, or deadline:RUNTIME.
    #[cfg_attr(feature = "clap", arg(long, value_name = "POLICY", default_value = "other"))]
    pub policy: PolicySpec,
    /// How the threads wait: nanosleep, timerfd, hybrid (sleeps, then spins; hybrid:50us says how long) or spin.
    #[cfg_attr(feature = "clap", arg(long, value_name = "METHOD", default_value = "nanosleep"))]
    pub timer: Method,
    /// Wake only at the ticks of a clock of this frequency in Hz, like a kernel with that CONFIG_HZ.
    #[cfg_attr(feature = "clap", arg(long, value_name = "HZ"))]
    pub tick_hz: Option<u32>,
    /// Timer slack of the threads [default: the kernel's]. Threads with a real-time policy have none.
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", value_parser = parse_duration))]
    pub slack: Option<Duration>,
    /// State of the cores between two wake-ups: sleep, or poll (holds /dev/cpu_dma_latency at 0).
    #[cfg_attr(feature = "clap", arg(long, value_name = "STATE", default_value = "sleep"))]
    pub idle: Idle,
    /// Cores to measure, with one thread tied to each [default: all].
    // Not tied under DEADLINE, which refuses that.
    #[cfg_attr(feature = "clap", arg(long, short = 'a', value_name = "CORES", value_delimiter = ','))]
    pub cores: Vec<usize>,
    /// Total number of busy loops of ordinary policy, at most 256. They run on --cores if given, else on any core.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N", default_value = "0"))]
    pub load: u32,
    /// Largest lateness allowed. A later wake-up makes the answer no.
    #[cfg_attr(feature = "clap", arg(long, value_name = "TIME", value_parser = parse_duration))]
    pub limit: Option<Duration>,
}

impl Default for WakeupOptions {
    fn default() -> WakeupOptions {
        WakeupOptions {
            duration: Duration::from_secs(10),
            warm_up: Duration::from_millis(200),
            interval: Duration::from_millis(1),
            policy: PolicySpec::default(),
            timer: Method::default(),
            tick_hz: None,
            slack: None,
            idle: Idle::default(),
            cores: Vec::new(),
            load: 0,
            limit: None,
        }
    }
}

impl WakeupOptions {
    /// Whether such a beat can be tried.
    ///
    /// # Errors
    /// Nothing to measure, an interval shorter than 10 µs, a clock tick out of range, a slack of nothing, or more ticks or
    /// busy loops than are worth it.
    pub fn check(&self) -> Result<(), WakeupError> {
        if self.interval < SHORTEST {
            return Err(WakeupError::Interval { got: self.interval });
        }
        if self.load > MOST_LOAD {
            return Err(WakeupError::Load { got: self.load });
        }
        if self.slack.is_some_and(|slack| slack.is_zero()) {
            return Err(WakeupError::NoSlack);
        }
        match self.beats(self.duration) {
            0 => return Err(WakeupError::NoTime),
            1..=MOST_TICKS => {}
            ticks => return Err(WakeupError::TooLong { ticks }),
        }
        self.waiting().map(|_| ())
    }

    pub(crate) fn beats(&self, span: Duration) -> u64 {
        let beats = span.as_nanos().checked_div(self.interval.as_nanos()).unwrap_or(0);
        u64::try_from(beats).unwrap_or(u64::MAX)
    }

    /// The clock to whose ticks wake-ups are compared: the one requested, else the kernel's own; `None`: it does not report one.
    pub(crate) fn clock(&self) -> Option<Ticks> {
        self.tick_hz.or_else(|| kernel::tick_hz(&Host::this())).and_then(Ticks::of)
    }

    pub(crate) fn waiting(&self) -> Result<timer::TimerOptions, WakeupError> {
        let ticks = self.tick_hz.map(|hz| Ticks::of(hz).ok_or(WakeupError::TickHz { got: hz })).transpose()?;
        let slack_ns = self.slack.and_then(|slack| NonZeroU64::new(nanoseconds(slack)));
        Ok(timer::TimerOptions { method: self.timer, ticks, slack_ns })
    }

    /// The CPU of each thread; `None`: it is tied to none.
    pub(crate) fn places(&self) -> Vec<Option<usize>> {
        match (self.cores.is_empty(), self.policy) {
            (false, _) => self.cores.iter().copied().map(Some).collect(),
            (true, PolicySpec::Deadline(_)) => vec![None; own_cpus().len()],
            (true, _) => own_cpus().into_iter().map(Some).collect(),
        }
    }
}

/// A span that 64 bits do not hold counts as the most that they do.
pub(crate) fn nanoseconds(span: Duration) -> u64 {
    u64::try_from(span.as_nanos()).unwrap_or(u64::MAX)
}

/// Below it the threads would do nothing but wake up.
const SHORTEST: Duration = Duration::from_micros(10);
/// Eleven days at a millisecond.
const MOST_TICKS: u64 = 1_000_000_000;
/// As many as a disturbance has at most. `--load 100000` took a machine from its owner, who could not even end it.
pub(crate) const MOST_LOAD: u32 = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_measured_is_refused_before_a_thread_is_started() {
        let good = WakeupOptions::default();
        assert!(good.check().is_ok());
        let of = |change: fn(&mut WakeupOptions)| {
            let mut options = WakeupOptions::default();
            change(&mut options);
            options.check().unwrap_err()
        };
        assert!(matches!(of(|o| o.interval = Duration::from_micros(9)), WakeupError::Interval { .. }));
        assert!(matches!(of(|o| o.duration = Duration::from_micros(999)), WakeupError::NoTime));
        assert!(matches!(of(|o| o.duration = Duration::MAX), WakeupError::TooLong { .. }));
        assert!(matches!(of(|o| o.tick_hz = Some(0)), WakeupError::TickHz { got: 0 }));
        assert!(matches!(of(|o| o.load = 257), WakeupError::Load { got: 257 }));
        assert!(matches!(of(|o| o.slack = Some(Duration::ZERO)), WakeupError::NoSlack));
    }

    #[test]
    fn deadline_threads_are_tied_to_no_cpu_unless_cores_are_given() {
        let options = WakeupOptions { policy: "deadline:100us".parse().unwrap(), ..WakeupOptions::default() };
        assert!(options.places().iter().all(Option::is_none));
        assert_eq!(WakeupOptions { cores: vec![0], ..options }.places(), [Some(0)]);
    }
}
