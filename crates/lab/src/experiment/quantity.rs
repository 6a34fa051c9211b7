//! What a workload's result says, as numbers that can be averaged over rounds.

use serde_json::Value;
use takt_load::Kind;

/// One number of a result.
#[derive(Clone, Copy, Debug)]
pub struct Quantity {
    /// Its name, unit included.
    pub name: &'static str,
    /// The workload that has it.
    pub of: Kind,
    /// Where it stands in the result document, as a JSON pointer (RFC 6901).
    pub at: &'static str,
    /// What it means.
    pub about: &'static str,
}

/// All of them.
pub const QUANTITIES: &[Quantity] = &[
    Quantity { name: "datagrams_per_s", of: Kind::Udp, at: "/datagrams_per_s", about: "datagrams received" },
    Quantity { name: "throughput_bps", of: Kind::Udp, at: "/throughput_bps", about: "payload bits received" },
    Quantity { name: "lost_share", of: Kind::Udp, at: "/lost/share", about: "of the sent" },
    Quantity { name: "jitter_us", of: Kind::Udp, at: "/jitter_us", about: "RFC 3550" },
    Quantity { name: "latency_p50_us", of: Kind::Udp, at: "/latency_us/p50", about: "one way" },
    Quantity { name: "latency_p99_9_us", of: Kind::Udp, at: "/latency_us/p99_9", about: "one way" },
    Quantity { name: "rx_samples", of: Kind::Rate, at: "/rx/samples", about: "samples received" },
    Quantity { name: "rx_dropped", of: Kind::Rate, at: "/rx/dropped", about: "samples missing by the time stamps" },
    Quantity { name: "tx_samples", of: Kind::Rate, at: "/tx/samples", about: "samples handed to the kernel" },
    Quantity { name: "tx_underflows", of: Kind::Rate, at: "/tx/underflows", about: "times the radio ran dry" },
    Quantity {
        name: "cpu_ms_per_msample",
        of: Kind::Rate,
        at: "/cpu/host_ms_per_msample",
        about: "CPU of the host side",
    },
    Quantity { name: "answers", of: Kind::RoundTrip, at: "/answers", about: "answers given" },
    Quantity { name: "late", of: Kind::RoundTrip, at: "/late", about: "answers the radio called late" },
    Quantity {
        name: "air_to_answer_p50_us",
        of: Kind::RoundTrip,
        at: "/delays/0/air_to_answer/p50_us",
        about: "from the air to the answer's leaving the host",
    },
    Quantity {
        name: "air_to_answer_p99_9_us",
        of: Kind::RoundTrip,
        at: "/delays/0/air_to_answer/p99_9_us",
        about: "the same",
    },
    Quantity { name: "misses", of: Kind::Waveform, at: "/misses", about: "slots of components missed" },
    Quantity { name: "used_share", of: Kind::Waveform, at: "/used_share", about: "of a slot, in 99.9 % of slots" },
    Quantity { name: "lateness_p99_9_ns", of: Kind::Waveform, at: "/lateness/p99_9_ns", about: "edge to release" },
    Quantity {
        name: "overhead_ns_per_slot",
        of: Kind::Waveform,
        at: "/overhead_ns_per_slot",
        about: "neither waiting nor executing",
    },
    Quantity { name: "throughput_bps", of: Kind::Waveform, at: "/throughput_bps", about: "source bits" },
    Quantity {
        name: "private_bytes",
        of: Kind::Waveform,
        at: "/memory/running/private_bytes",
        about: "of the process",
    },
    Quantity {
        name: "failure_ratio",
        of: Kind::Deadline,
        at: "/failure_ratio",
        about: "answers over 3.45 ms, and subframes without one",
    },
    Quantity {
        name: "own_failure_ratio",
        of: Kind::Deadline,
        at: "/own/failure_ratio",
        about: "the same without subframes that a late radio or a stopped core spoilt",
    },
    Quantity { name: "radio_late", of: Kind::Deadline, at: "/radio/late", about: "answers the radio called late" },
    Quantity { name: "decoded", of: Kind::Deadline, at: "/decoded", about: "blocks decoded without an error" },
    Quantity { name: "items", of: Kind::LongestPacket, at: "/items", about: "longest packet held" },
    Quantity { name: "throughput_bps", of: Kind::LongestPacket, at: "/throughput_bps", about: "source bits" },
    Quantity { name: "mean_ns", of: Kind::Interface, at: "/mean_ns", about: "write, hand-over and read" },
    Quantity { name: "hand_over_ns", of: Kind::Interface, at: "/hand_over_mean_ns", about: "hand-over alone" },
    Quantity { name: "over_floor", of: Kind::Interface, at: "/over_floor", about: "over two copies" },
    Quantity { name: "throughput_bps", of: Kind::Interface, at: "/throughput_bps", about: "packet bits over latency" },
    Quantity { name: "lateness_p50_us", of: Kind::Wakeup, at: "/lateness/p50_us", about: "tick to awake" },
    Quantity { name: "lateness_p99_9_us", of: Kind::Wakeup, at: "/lateness/p99_9_us", about: "the same" },
    Quantity { name: "lateness_max_us", of: Kind::Wakeup, at: "/lateness/max_us", about: "the same" },
    Quantity {
        name: "on_tick_share",
        of: Kind::Wakeup,
        at: "/on_tick_share",
        about: "awake within 1/8 tick after one",
    },
    Quantity { name: "unsampled", of: Kind::Wakeup, at: "/unsampled", about: "ticks slept over" },
    Quantity { name: "variable_ns", of: Kind::Roles, at: "/variable_ns", about: "a variable set and read" },
    Quantity {
        name: "load_ns_per_component",
        of: Kind::Roles,
        at: "/load_ns_per_component",
        about: "opening a waveform, once",
    },
];

impl Quantity {
    /// Between which it lies for certain, in its own unit.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        match self.name {
            "lost_share" | "failure_ratio" | "own_failure_ratio" | "on_tick_share" => (0.0, 1.0),
            // A difference of two times.
            "variable_ns" => (f64::NEG_INFINITY, f64::INFINITY),
            // Counts, times and rates; more than a slot can be used.
            _ => (0.0, f64::INFINITY),
        }
    }

    /// Its value in a result; `None` where the result has none.
    #[must_use]
    pub fn read(&self, result: &Value) -> Option<f64> {
        result.pointer(self.at).and_then(Value::as_f64)
    }
}

/// Those of a workload.
pub fn quantities(kind: Kind) -> impl Iterator<Item = &'static Quantity> {
    QUANTITIES.iter().filter(move |quantity| quantity.of == kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_a_whole_ends_at_one_and_one_of_a_slot_does_not() {
        let ends_at_one = |quantity: &&Quantity| quantity.range() == (0.0, 1.0);
        let shares = |quantity: &&Quantity| quantity.name.ends_with("_share") || quantity.name.ends_with("_ratio");
        let named = QUANTITIES.iter().filter(shares).filter(|quantity| quantity.name != "used_share");
        assert_eq!(named.count(), QUANTITIES.iter().filter(ends_at_one).count());
    }
}
