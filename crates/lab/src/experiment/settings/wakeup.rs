//! Threads that should wake up once a period: `wakeup`.

use takt_load::Kind::Wakeup;

use super::{Setting, Takes};

pub(super) const ROWS: &[Setting] = &[
    Setting {
        name: "interval",
        takes: Takes::Span,
        of: &[Wakeup],
        default: Some("1ms"),
        about: "from one tick to the next",
    },
    Setting {
        name: "wait",
        takes: Takes::Word(&["nanosleep", "timerfd", "hybrid", "spin"]),
        of: &[Wakeup],
        default: Some("nanosleep"),
        about: "how the threads wait for a tick",
    },
    Setting {
        name: "timer_slack",
        takes: Takes::SpanOrNone,
        of: &[Wakeup],
        default: Some("0s"),
        about: "how late the kernel may wake them on purpose; 0s: as late as everybody",
    },
];
