//! `wakeup`, as a workload of experiments: threads on a beat by `takt-wakeup`.

use std::time::Duration;

use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;
use takt_host::idle::Idle;
use takt_host::policy::PolicySpec;
use takt_host::timer::Method;
use takt_wakeup::WakeupOptions;

use crate::lent::LentRule::{Any, Cores};
use crate::lent::{Lent, LentOptions};
use crate::quantity::Quantity;
use crate::setting::{
    DURATION, IDLE, POLICY, PolicyName, Setting, Settings, TICK_HZ, Takes, UnknownLevel, WARM_UP, settings,
};
use crate::workload::{Facts, Peer, PointWorkload, Target, Workload, read, write};

settings! {
    /// A point of `wakeup`.
    struct WakeupSettings {
        duration: Duration = DURATION,
        warm_up: Duration = WARM_UP,
        policy: PolicyName = POLICY,
        tick_hz: Option<u32> = TICK_HZ,
        idle: Idle = IDLE,
        interval: Duration = Setting::new("interval", Takes::Span, "1ms").about("from one tick to the next"),
        timer: Method =
            Setting::new("timer", Takes::Word(&["nanosleep", "timerfd", "hybrid", "spin"]), "nanosleep")
                .about("how the threads wait for a tick"),
        timer_slack: Duration = Setting::new("timer_slack", Takes::SpanOrNone, "0s")
            .about("how late the kernel may wake them on purpose; 0s: as late as everybody"),
    }
}

const QUANTITIES: &[Quantity] = &[
    Quantity::amount("lateness_p50_us", "/lateness/p50_us", "tick to awake"),
    Quantity::amount("lateness_p99_9_us", "/lateness/p99_9_us", "the same"),
    Quantity::amount("lateness_max_us", "/lateness/max_us", "the same"),
    Quantity::share("on_tick_share", "/on_tick_share", "awake within 1/8 tick after one"),
    Quantity::amount("unsampled", "/unsampled", "ticks slept over"),
];

const LENT: LentOptions = &[
    ("duration", Any),
    ("warm_up", Any),
    ("interval", Any),
    ("policy", Any),
    ("timer", Any),
    ("tick_hz", Any),
    ("slack", Any),
    ("idle", Any),
    ("cores", Cores),
    ("load", Any),
    ("limit", Any),
];

pub(crate) struct Wakeup;

impl Workload for Wakeup {
    fn facts(&self) -> Facts {
        Facts {
            lent: Some(Lent::without_waveform(LENT)),
            ..Facts::of(Peer::None, WakeupSettings::SETTINGS, QUANTITIES)
        }
    }

    fn at(&self, settings: &Settings) -> Result<Box<dyn PointWorkload>, UnknownLevel> {
        Ok(Box::new(WakeupSettings::read(settings)?))
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: WakeupOptions = read("wake-up options", options)?;
        let done = takt_wakeup::run(&options, &mut |_| (), stop);
        write(&done.map_err(|error| Failure::of(&error, error.fix()))?)
    }
}

impl PointWorkload for WakeupSettings {
    /// On the cores that the agent may use: inside a guest they have other numbers than outside.
    fn options(&self, _: &Target<'_>) -> Result<Value, Failure> {
        write(&WakeupOptions {
            duration: self.duration,
            warm_up: self.warm_up,
            interval: self.interval,
            policy: match self.policy {
                PolicyName::Other => PolicySpec::default(),
                PolicyName::Fifo => PolicySpec::Fifo(BEAT_PRIORITY),
                PolicyName::Rr => PolicySpec::RoundRobin(BEAT_PRIORITY),
                PolicyName::Deadline => PolicySpec::Deadline(self.interval / 5),
            },
            timer: self.timer,
            tick_hz: self.tick_hz,
            slack: Some(self.timer_slack).filter(|slack| !slack.is_zero()),
            idle: self.idle,
            ..WakeupOptions::default()
        })
    }

    fn about(&self) -> Duration {
        self.duration + self.warm_up
    }
}

/// Priority of threads on a beat under `fifo` and `rr`.
const BEAT_PRIORITY: u8 = 50;
