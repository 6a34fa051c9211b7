//! The TD-SCDMA exchange: `deadline`.

use takt_load::Kind::{Deadline, Wakeup};

use super::{Setting, Takes};

pub(super) const ROWS: &[Setting] = &[
    Setting {
        name: "scheduling",
        takes: Takes::Word(&["other", "fifo", "rr", "deadline"]),
        of: &[Deadline, Wakeup],
        default: Some("other"),
        about: "policy of the processes of the exchange, or of the threads that wake up",
    },
    Setting {
        name: "scheduled",
        takes: Takes::Word(&["all", "interface"]),
        of: &[Deadline],
        default: Some("all"),
        about: "which processes have that policy; the study gave it to the data interface alone",
    },
    Setting {
        name: "timer",
        takes: Takes::Word(&["arrival", "nanosleep", "timerfd", "hybrid", "spin"]),
        of: &[Deadline],
        default: Some("arrival"),
        about: "what wakes the interface: the samples themselves, or a timer set to when they are due",
    },
    Setting {
        name: "tick_hz",
        takes: Takes::Whole(0, 100_000),
        of: &[Deadline, Wakeup],
        default: Some("0"),
        about: "clock ticks at which a timer's sleeps end; 0: whenever the kernel's own timers can",
    },
    Setting {
        name: "handover",
        takes: Takes::Word(&["subframe", "slot"]),
        of: &[Deadline],
        default: Some("subframe"),
        about: "when the interface hands samples over: a whole subframe, or each slot as soon as it is there",
    },
    Setting {
        name: "idle",
        takes: Takes::Word(&["sleep", "poll"]),
        of: &[Deadline, Wakeup],
        default: Some("sleep"),
        about: "what CPUs do while nothing runs on them; a guest's that sleeps is its hypervisor's to wake",
    },
    Setting {
        name: "cores",
        takes: Takes::Word(&["any", "pinned", "isolated"]),
        of: &[Deadline],
        default: Some("any"),
        about: "any core of the host side, one for each process, or one that the disturbance is kept off",
    },
    Setting {
        name: "codes",
        takes: Takes::Whole(1, 16),
        of: &[Deadline],
        default: Some("16"),
        about: "channelisation codes of the downlink: how much the physical layer has to do",
    },
    Setting {
        name: "trace",
        takes: Takes::Word(&["no", "worst"]),
        of: &[Deadline],
        default: Some("no"),
        about: "who ran where around the worst subframe (the kernel's sched_switch; costs what it traces)",
    },
];
