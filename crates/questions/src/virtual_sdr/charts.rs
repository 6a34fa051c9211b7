//! The paper's figures, and what says why they are as they are.

use takt_lab::store::RoundRow;

use crate::study::part;
use crate::sweep::{
    ChartPlan, Measure, Read, cpu_cores, dropped_share, end_busy, from_host, guest_cores, per_datagram, rate,
    stream_busy, to_host,
};

const LINK: ChartPlan = ChartPlan { part: "link", x: "payload_bytes", by: "environment", ..ChartPlan::BLANK };
const RADIO: ChartPlan = ChartPlan { part: "radio", x: "rate_sps", ..LINK };

/// A figure of the radio in one mode.
const fn radio(id: &'static str, number: &'static str, mode: &'static str, measure: Measure, read: Read) -> ChartPlan {
    ChartPlan { id, number, measure, read, only: Some(("mode", mode)), ..RADIO }
}

/// The same quantity over native's.
const fn over_native(plan: ChartPlan) -> ChartPlan {
    ChartPlan { measure: Measure::Times, over: Some("native"), ..plan }
}

pub(super) const CHARTS: [ChartPlan; 15] = [
    ChartPlan { id: "link-received", number: "3a", read: |r| to_host(r, "/throughput_bps"), ..LINK },
    ChartPlan { id: "link-sent", number: "3b", read: sent_bps, ..LINK },
    over_native(ChartPlan { id: "link-relative", number: "3c", read: sent_bps, ..LINK }),
    over_native(ChartPlan { id: "wire-relative", number: "3c", part: "wire", read: sent_bps, ..LINK }),
    ChartPlan { id: "link-cpu", number: "4", measure: Measure::Cores, read: cpu_cores, ..LINK },
    over_native(ChartPlan { id: "link-cpu-relative", number: "4", read: cpu_cores, ..LINK }),
    radio("rx-only", "5a", "rx", Measure::SamplesPerS, |r| rate(r, "/rx/samples")),
    radio("rx-duplex", "5b", "duplex", Measure::SamplesPerS, |r| rate(r, "/rx/samples")),
    radio("dropped", "5c", "duplex", Measure::Share, dropped_share),
    radio("tx-only", "6a", "tx", Measure::SamplesPerS, |r| rate(r, "/tx/samples")),
    radio("tx-duplex", "6b", "duplex", Measure::SamplesPerS, |r| rate(r, "/tx/samples")),
    radio("underruns", "6c", "duplex", Measure::Count, |r| part::at(r, "/tx/underflows")),
    radio("cpu-rx", "7", "rx", Measure::Cores, cpu_cores),
    radio("cpu-tx", "7", "tx", Measure::Cores, cpu_cores),
    radio("cpu-duplex", "7", "duplex", Measure::Cores, cpu_cores),
];

/// Which core was full, and what a datagram cost.
pub(super) const EVIDENCE: [(&str, ChartPlan); 9] = [
    (
        "CPU time of the host's end for a datagram sent or received, without a wire",
        ChartPlan { id: "cost-link", measure: Measure::Seconds, read: per_datagram, ..LINK },
    ),
    (
        "Share of a core that the host's end used while it sent",
        ChartPlan { id: "busy-link", measure: Measure::Share, read: end_busy, ..LINK },
    ),
    ("Sent on a wire of 1 Gb/s", ChartPlan { id: "wire-sent", part: "wire", read: sent_bps, ..LINK }),
    (
        "Share of a core (in a virtual machine, of a virtual CPU) that the busiest thread used, receive only",
        radio("busy-rx", "", "rx", Measure::Share, stream_busy),
    ),
    ("The same, transmit only", radio("busy-tx", "", "tx", Measure::Share, stream_busy)),
    ("The same, full duplex", radio("busy-duplex", "", "duplex", Measure::Share, stream_busy)),
    (
        "Cores of this machine that the CPUs of the virtual machine used, receive only",
        radio("guest-rx", "", "rx", Measure::Cores, guest_cores),
    ),
    ("The same, transmit only", radio("guest-tx", "", "tx", Measure::Cores, guest_cores)),
    ("The same, full duplex", radio("guest-duplex", "", "duplex", Measure::Cores, guest_cores)),
];

fn sent_bps(round: &RoundRow) -> Option<f64> {
    from_host(round, "/throughput_bps")
}
