//! What is done to the host side itself: hosts that are bad by a known amount.

use takt_load::Kind::{Rate, RoundTrip};

use super::{Setting, Takes};

pub(super) const ROWS: &[Setting] = &[
    Setting {
        name: "hog",
        takes: Takes::Every,
        of: &[Rate, RoundTrip],
        default: Some("none"),
        about: "a SCHED_FIFO thread takes that span of every period from each of the host side's cores",
    },
    Setting {
        name: "stall",
        takes: Takes::Every,
        of: &[Rate, RoundTrip],
        default: Some("none"),
        about: "the host side's process is stopped for that span of every period",
    },
    Setting {
        name: "cpu_quota",
        takes: Takes::Percent(1000),
        of: &[Rate],
        default: Some("none"),
        about: "what the host side may use of the CPU time that the same stream takes without a quota, per cent",
    },
];
