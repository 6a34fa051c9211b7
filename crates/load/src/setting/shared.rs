//! Settings that several workloads have.

use serde::{Deserialize, Serialize};

use super::{Setting, Takes, words};

pub(crate) const ENGINE: Setting =
    Setting::new("engine", Takes::Word(&["mmsg", "socket", "uring", "xdp", "xdp-generic", "dpdk", "auto"]), "mmsg")
        .about("how datagrams enter and leave the host side");
pub(crate) const DURATION: Setting = Setting::required("duration", Takes::Span)
    .about("what of a round is measured; of a search: its confirmation, a trial takes a quarter");
pub(crate) const WARM_UP: Setting =
    Setting::new("warm_up", Takes::SpanOrNone, "500ms").about("runs before it and is not in the record");
pub(crate) const POLICY: Setting = Setting::new("policy", Takes::Word(&["other", "fifo", "rr", "deadline"]), "other")
    .about("scheduling policy of the processes of the exchange, or of the threads that wake up");

/// A scheduling policy by its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyName {
    #[default]
    Other,
    Fifo,
    Rr,
    /// No thread can have cores of its own then.
    Deadline,
}

words! {
    PolicyName: "other" => PolicyName::Other, "fifo" => PolicyName::Fifo, "rr" => PolicyName::Rr,
        "deadline" => PolicyName::Deadline;
}

pub(crate) const TICK_HZ: Setting = Setting::new("tick_hz", Takes::Whole(0, 100_000), "0")
    .about("clock ticks at which a timer's sleeps end; 0: whenever the kernel's own timers can");
pub(crate) const IDLE: Setting = Setting::new("idle", Takes::Word(&["sleep", "poll"]), "sleep")
    .about("what CPUs do while nothing runs on them; a guest's that sleeps is its hypervisor's to wake");
