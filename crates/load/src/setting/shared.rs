//! Settings that several workloads have.

use super::{Setting, Takes};

/// How datagrams enter and leave the host side.
pub(crate) const ENGINE: Setting = Setting {
    name: "engine",
    takes: Takes::Word(&["mmsg", "socket"]),
    default: Some("mmsg"),
    about: "how datagrams enter and leave the host side",
};

/// How long it is measured.
pub(crate) const DURATION: Setting = Setting {
    name: "duration",
    takes: Takes::Span,
    default: None,
    about: "what of a round is measured; of a search: its confirmation, a trial takes a quarter",
};

/// What runs before it.
pub(crate) const WARM_UP: Setting = Setting {
    name: "warm_up",
    takes: Takes::SpanOrNone,
    default: Some("500ms"),
    about: "runs before it and is not in the record",
};

/// Policy of threads on a beat.
pub(crate) const SCHEDULING: Setting = Setting {
    name: "scheduling",
    takes: Takes::Word(&["other", "fifo", "rr", "deadline"]),
    default: Some("other"),
    about: "policy of the processes of the exchange, or of the threads that wake up",
};

/// The resolution of their timers.
pub(crate) const TICK_HZ: Setting = Setting {
    name: "tick_hz",
    takes: Takes::Whole(0, 100_000),
    default: Some("0"),
    about: "clock ticks at which a timer's sleeps end; 0: whenever the kernel's own timers can",
};

/// How deep idle CPUs sleep.
pub(crate) const IDLE: Setting = Setting {
    name: "idle",
    takes: Takes::Word(&["sleep", "poll"]),
    default: Some("sleep"),
    about: "what CPUs do while nothing runs on them; a guest's that sleeps is its hypervisor's to wake",
};
