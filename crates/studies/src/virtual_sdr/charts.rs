//! The paper's figures, and what says why they are as they are.

use takt_lab::store::RoundRow;

use crate::part;
use crate::sweep::{
    ChartPlan, Measure, cpu_cores, end_busy, from_host, guest_cores, per_datagram, rate, stream_busy, to_host,
};

const LINK: ChartPlan = ChartPlan {
    id: "",
    number: "",
    part: "link",
    x: "payload_bytes",
    by: "environment",
    only: None,
    measure: Measure::BitsPerS,
    read: |_| None,
    over: None,
    boxes: false,
};

const RADIO: ChartPlan = ChartPlan { part: "radio", x: "rate_sps", measure: Measure::SamplesPerS, ..LINK };

pub(super) const CHARTS: [ChartPlan; 15] = [
    ChartPlan { id: "link-received", number: "3a", read: |r| to_host(r, "/throughput_bps"), ..LINK },
    ChartPlan { id: "link-sent", number: "3b", read: |r| from_host(r, "/throughput_bps"), ..LINK },
    ChartPlan {
        id: "link-relative",
        number: "3c",
        measure: Measure::Times,
        read: |r| from_host(r, "/throughput_bps"),
        over: Some("native"),
        ..LINK
    },
    ChartPlan {
        id: "wire-relative",
        number: "3c",
        part: "wire",
        measure: Measure::Times,
        read: |r| from_host(r, "/throughput_bps"),
        over: Some("native"),
        ..LINK
    },
    ChartPlan { id: "link-cpu", number: "4", measure: Measure::Cores, read: cpu_cores, ..LINK },
    ChartPlan {
        id: "link-cpu-relative",
        number: "4",
        measure: Measure::Times,
        read: cpu_cores,
        over: Some("native"),
        ..LINK
    },
    ChartPlan { id: "rx-only", number: "5a", only: Some(("mode", "rx")), read: |r| rate(r, "/rx/samples"), ..RADIO },
    ChartPlan {
        id: "rx-duplex",
        number: "5b",
        only: Some(("mode", "duplex")),
        read: |r| rate(r, "/rx/samples"),
        ..RADIO
    },
    ChartPlan {
        id: "dropped",
        number: "5c",
        only: Some(("mode", "duplex")),
        measure: Measure::Share,
        read: dropped_share,
        ..RADIO
    },
    ChartPlan { id: "tx-only", number: "6a", only: Some(("mode", "tx")), read: |r| rate(r, "/tx/samples"), ..RADIO },
    ChartPlan {
        id: "tx-duplex",
        number: "6b",
        only: Some(("mode", "duplex")),
        read: |r| rate(r, "/tx/samples"),
        ..RADIO
    },
    ChartPlan {
        id: "underruns",
        number: "6c",
        only: Some(("mode", "duplex")),
        measure: Measure::Count,
        read: |r| part::at(r, "/tx/underflows"),
        ..RADIO
    },
    ChartPlan {
        id: "cpu-rx",
        number: "7",
        only: Some(("mode", "rx")),
        measure: Measure::Cores,
        read: cpu_cores,
        ..RADIO
    },
    ChartPlan {
        id: "cpu-tx",
        number: "7",
        only: Some(("mode", "tx")),
        measure: Measure::Cores,
        read: cpu_cores,
        ..RADIO
    },
    ChartPlan {
        id: "cpu-duplex",
        number: "7",
        only: Some(("mode", "duplex")),
        measure: Measure::Cores,
        read: cpu_cores,
        ..RADIO
    },
];

/// Whose processor was full, and what a datagram cost.
pub(super) const EVIDENCE: [(&str, ChartPlan); 9] = [
    (
        "Processor time of the host's end for a datagram sent or received, no wire in the way",
        ChartPlan { id: "cost-link", measure: Measure::Seconds, read: per_datagram, ..LINK },
    ),
    (
        "Share of a processor that the host's end used while it sent",
        ChartPlan { id: "busy-link", measure: Measure::Share, read: end_busy, ..LINK },
    ),
    (
        "Sent on a wire of 1 Gb/s",
        ChartPlan { id: "wire-sent", part: "wire", read: |r| from_host(r, "/throughput_bps"), ..LINK },
    ),
    (BUSY, ChartPlan { id: "busy-rx", only: Some(("mode", "rx")), ..BUSIEST }),
    (BUSY_TX, ChartPlan { id: "busy-tx", only: Some(("mode", "tx")), ..BUSIEST }),
    (BUSY_DUPLEX, ChartPlan { id: "busy-duplex", only: Some(("mode", "duplex")), ..BUSIEST }),
    (GUEST, ChartPlan { id: "guest-rx", only: Some(("mode", "rx")), ..GUEST_CORES }),
    (GUEST_TX, ChartPlan { id: "guest-tx", only: Some(("mode", "tx")), ..GUEST_CORES }),
    (GUEST_DUPLEX, ChartPlan { id: "guest-duplex", only: Some(("mode", "duplex")), ..GUEST_CORES }),
];

const BUSIEST: ChartPlan = ChartPlan { measure: Measure::Share, read: stream_busy, ..RADIO };
const GUEST_CORES: ChartPlan = ChartPlan { measure: Measure::Cores, read: guest_cores, ..RADIO };
const BUSY: &str =
    "Share of a processor, of the guest's in a virtual machine, that the busiest thread used, receive only";
const BUSY_TX: &str = "The same, transmit only";
const BUSY_DUPLEX: &str = "The same, full duplex";
const GUEST: &str = "Cores of this machine that the processors of the virtual machine used, receive only";
const GUEST_TX: &str = "The same, transmit only";
const GUEST_DUPLEX: &str = "The same, full duplex";

fn dropped_share(round: &RoundRow) -> Option<f64> {
    let of = |pointer| part::at(round, pointer);
    let (dropped, samples) = (of("/rx/dropped")?, of("/rx/samples")?);
    (dropped + samples > 0.0).then(|| dropped / (dropped + samples))
}
