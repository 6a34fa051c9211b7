//! What is done to the host side itself: hosts that are bad by a known amount.

use takt_load::setting::{Setting, Takes};

use super::domains::{Percent, SpanOfPeriod};

/// Of streams and of answers.
pub(super) const STOPS: &[Setting] = &[
    Setting {
        name: "hog",
        takes: Takes::Domain(&SpanOfPeriod),
        default: Some("none"),
        about: "a SCHED_FIFO thread takes that span of every period from each of the host side's cores",
    },
    Setting {
        name: "stall",
        takes: Takes::Domain(&SpanOfPeriod),
        default: Some("none"),
        about: "the host side's process is stopped for that span of every period",
    },
];

/// Of streams alone: what they take without a quota is measured first.
pub(super) const QUOTA: &[Setting] = &[Setting {
    name: "cpu_quota",
    takes: Takes::Domain(&Percent(1000)),
    default: Some("none"),
    about: "what the host side may use of the CPU time that the same stream takes without a quota, per cent",
}];
