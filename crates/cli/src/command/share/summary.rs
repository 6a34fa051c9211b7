//! Text of a share's summary.

use std::fmt::Write;

use takt_base::shown::{count, duration};
use takt_share::{Band, FrontEndReport, ShareReport, SharedRadioSummary};

/// A band in MHz.
pub fn edges(band: Band) -> String {
    format!("{:.6} to {:.6} MHz", band.low_hz() / 1e6, band.high_hz() / 1e6)
}

pub fn text(report: &ShareReport) -> String {
    let mut out = String::new();
    let FrontEndReport { radio, band, policy, moves, sum, .. } = &report.front_end;
    let front_end = &report.front_end;
    let _ = writeln!(out, "front end {radio}, {}, {}", edges(*band), duration(report.duration_s));
    let _ = writeln!(
        out,
        "  receive     {:>16}   O {}  lost {}",
        count(front_end.samples),
        front_end.overflows,
        front_end.lost_samples
    );
    let _ = writeln!(
        out,
        "  transmit    {:>16}   U {}  L {}  S {}  clipped {}  no room {}",
        count(sum.samples),
        front_end.underflows,
        front_end.late,
        front_end.sequence_errors,
        sum.clipped_samples,
        front_end.unsent_samples
    );
    let _ = writeln!(
        out,
        "  policy      {}, moved {moves} times; latency {} us; {:.0} % busy",
        policy.name(),
        report.latency_us,
        report.busy * 100.0
    );
    report.radios.iter().for_each(|radio| describe(&mut out, radio));
    out
}

fn describe(out: &mut String, summary: &SharedRadioSummary) {
    let SharedRadioSummary { shared, datagrams, unsent_datagrams } = summary;
    let _ = writeln!(out, "{} {}, serial {}", shared.name, shared.addr, shared.serial);
    for (n, rx) in shared.radio.rx.iter().enumerate().filter(|(n, rx)| *n == 0 || rx.commands > 0) {
        let _ = writeln!(
            out,
            "  receive {n}   {:>16}   O {}  L {}  broken chains {}",
            count(rx.samples),
            rx.overflows,
            rx.late,
            rx.broken_chains
        );
    }
    let tx = &shared.radio.tx;
    let _ = writeln!(
        out,
        "  transmit    {:>16}   U {}  L {}  S {}  overruns {}  bursts {}",
        count(tx.samples),
        tx.underflows,
        tx.late,
        tx.sequence_errors,
        tx.overrun_packets,
        tx.bursts
    );
    if let Some(band) = shared.band {
        let _ = writeln!(
            out,
            "  band        {}; samples outside the front end's {}, partly outside {}, not allowed {}",
            edges(band),
            count(shared.outside_samples),
            count(shared.partly_samples),
            count(shared.forbidden_samples)
        );
    }
    if shared.tx_outside_samples + shared.tx_forbidden_samples + shared.tx_overlapping_samples > 0 {
        let _ = writeln!(
            out,
            "  not sent    outside the front end's band {}, not allowed {}, beside another radio {}",
            count(shared.tx_outside_samples),
            count(shared.tx_forbidden_samples),
            count(shared.tx_overlapping_samples)
        );
    }
    let _ = writeln!(out, "  way         {}", shared.receive_way);
    let _ = writeln!(
        out,
        "  hosts       {} lost; datagrams lost in this host's receive buffers {}, send buffers {unsent_datagrams}",
        shared.radio.hosts.lost,
        datagrams.receive_buffer_drops.map_or_else(|| "not known".to_owned(), |n| n.to_string())
    );
}
