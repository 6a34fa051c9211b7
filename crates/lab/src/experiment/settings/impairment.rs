//! Impairments of the host side itself: hosts that are bad by a known amount.

use takt_load::setting::{Setting, Takes};

use super::domains::{Percent, SPAN_OF_PERIOD};

/// Settings of workloads that stops hurt: streams and answers.
pub(super) const STOPS: &[Setting] = &[
    Setting::new("hog", Takes::Domain(&SPAN_OF_PERIOD), "none")
        .about("a SCHED_FIFO thread takes that span of every period from each of the host side's cores"),
    Setting::new("freeze", Takes::Domain(&SPAN_OF_PERIOD), "none")
        .about("SCHED_FIFO threads take that span of every period from all cores at once, the radio's too"),
    Setting::new("stall", Takes::Domain(&SPAN_OF_PERIOD), "none")
        .about("the host side's process is stopped for that span of every period"),
];

/// Settings of workloads that take a quota, streams alone: what they take without a quota is measured first.
pub(super) const QUOTA: &[Setting] = &[Setting::new("cpu_quota", Takes::Domain(&Percent(1000)), "none")
    .about("what the host side may use of the CPU time that the same stream takes without a quota, per cent")];
