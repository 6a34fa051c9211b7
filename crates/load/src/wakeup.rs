//! `wakeup`, as a workload of experiments: threads on a beat by `takt-wakeup`.

use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;
use takt_host::policy::PolicySpec;
use takt_wakeup::WakeupOptions;

use crate::lent::LentRule::{Any, Cores};
use crate::lent::{Lent, LentOptions};
use crate::quantity::Quantity;
use crate::setting::{DURATION, IDLE, POLICY, Setting, Settings, TICK_HZ, Takes, WARM_UP};
use crate::workload::{Facts, Peer, Target, Workload, read, write};

const SETTINGS: &[Setting] = &[
    DURATION,
    WARM_UP,
    POLICY,
    TICK_HZ,
    IDLE,
    Setting::new("interval", Takes::Span, "1ms").about("from one tick to the next"),
    Setting::new("timer", Takes::Word(&["nanosleep", "timerfd", "hybrid", "spin"]), "nanosleep")
        .about("how the threads wait for a tick"),
    Setting::new("timer_slack", Takes::SpanOrNone, "0s")
        .about("how late the kernel may wake them on purpose; 0s: as late as everybody"),
];

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
        Facts { peer: Peer::None, settings: SETTINGS, quantities: QUANTITIES }
    }

    /// On the cores that the agent may use: inside a guest they have other numbers than outside.
    fn options(&self, settings: &Settings, _: &Target<'_>) -> Result<Value, Failure> {
        let interval = settings.span("interval");
        let policies = [
            ("other", PolicySpec::default()),
            ("fifo", PolicySpec::Fifo(BEAT_PRIORITY)),
            ("rr", PolicySpec::RoundRobin(BEAT_PRIORITY)),
            ("deadline", PolicySpec::Deadline(interval / 5)),
        ];
        write(&WakeupOptions {
            duration: settings.span("duration"),
            warm_up: settings.span("warm_up"),
            interval,
            policy: settings.choice("policy", &policies)?,
            timer: settings.parsed("timer")?,
            tick_hz: settings.number("tick_hz").filter(|&hz| hz > 0.0).map(|hz| hz as u32),
            slack: Some(settings.span("timer_slack")).filter(|slack| !slack.is_zero()),
            idle: settings.parsed("idle")?,
            ..WakeupOptions::default()
        })
    }

    fn lent(&self) -> Option<Lent> {
        Some(Lent::without_waveform(LENT))
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: WakeupOptions = read("wake-up options", options)?;
        let done = takt_wakeup::run(&options, &mut |_| (), stop);
        write(&done.map_err(|error| Failure::of(&error, error.fix()))?)
    }
}

/// Priority of threads on a beat under `fifo` and `rr`.
const BEAT_PRIORITY: u8 = 50;
