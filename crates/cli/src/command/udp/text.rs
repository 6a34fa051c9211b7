//! The report of a load, as people read it: every zero that was looked at is printed, the answer comes last.

use std::fmt::Write;

use takt_udp::{
    CrossedAs, EndCpu, IMIX, LatencyKind, Options, Progress, Quantiles, ServeSummary, UdpReport, Way, WayName,
};

pub(super) fn report(report: &UdpReport, intervals: bool) -> String {
    let mut out = String::new();
    let _ = headline(&mut out, report);
    let ways = || std::iter::once(&report.way).chain(&report.from_server);
    let _ = writeln!(
        out,
        "  {:<12} {:>14} {:>14} {:>12} {:>12} {:>12} {:>10} {:>10} {:>10}",
        "", "sent", "received", "received/s", "Mb/s", "lost", "repeated", "reordered", "unsent"
    );
    for way in ways() {
        let _ = figures(&mut out, way);
    }
    for way in ways() {
        let _ = details(&mut out, report, way, intervals);
    }
    let _ = cpu(&mut out, report);
    let _ = verdict(&mut out, report);
    out
}

fn headline(out: &mut String, report: &UdpReport) -> std::fmt::Result {
    let options = &report.options;
    let (client, server) = (&report.evidence.client, &report.evidence.server);
    let flows = if options.flows == 1 { "1 flow".to_owned() } else { format!("{} flows", options.flows) };
    writeln!(
        out,
        "{} · {} B payload · {} · {flows} · engines {} and {} there · {:.1} s",
        options.server,
        sizes(options),
        pace(options),
        client.engine,
        server.engine,
        report.way.sent.span_s
    )
}

fn sizes(options: &Options) -> String {
    match options.sizes.as_slice() {
        [] => options.payload_bytes.to_string(),
        sizes if *sizes == IMIX => format!("imix, {:.0}", options.mean_payload_bytes()),
        sizes if sizes.len() <= 4 => sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        sizes => format!("{} sizes, {:.0}", sizes.len(), options.mean_payload_bytes()),
    }
}

fn pace(options: &Options) -> String {
    let mut pace = match (options.datagrams_per_s, options.ramp_from_per_s) {
        (None, _) => "flat out".to_owned(),
        (Some(rate), None) => format!("{rate:.0} datagrams/s"),
        (Some(to), Some(from)) => format!("{from:.0} to {to:.0} datagrams/s"),
    };
    if options.burst > 1 {
        let _ = write!(pace, " in bursts of {}", options.burst);
    }
    if let Some(datagrams) = options.datagrams {
        let _ = write!(pace, ", at most {}", grouped(datagrams));
    }
    pace
}

fn name(way: &Way) -> &'static str {
    match way.direction {
        WayName::ToServer => "to server",
        WayName::FromServer => "from server",
    }
}

fn figures(out: &mut String, way: &Way) -> std::fmt::Result {
    writeln!(
        out,
        "  {:<12} {:>14} {:>14} {:>12} {:>12.1} {:>12} {:>10} {:>10} {:>10}",
        name(way),
        grouped(way.sent.datagrams),
        grouped(way.received.datagrams),
        grouped(way.datagrams_per_s as u64),
        way.throughput_bps / 1e6,
        grouped(way.lost.total),
        grouped(way.duplicates),
        grouped(way.reordered),
        grouped(way.unsent),
    )
}

fn details(out: &mut String, report: &UdpReport, way: &Way, intervals: bool) -> std::fmt::Result {
    if report.from_server.is_some() {
        writeln!(out, " {}", name(way))?;
    }
    if intervals {
        let heads = ["interval s", "sent", "received", "Mb/s", "missing", "longest us"];
        let [span, sent, received, rate, missing, longest] = heads;
        writeln!(out, "  {span:<12} {sent:>12} {received:>12} {rate:>10} {missing:>10} {longest:>12}")?;
        for i in &way.intervals {
            let span = format!("{:.2}-{:.2}", i.start_s, i.end_s);
            let (sent, received) = (grouped(i.sent), grouped(i.datagrams));
            let rate = i.payload_bytes as f64 * 8.0 / (i.end_s - i.start_s) / 1e6;
            let (missing, longest) = (i.lost, i.latency_max_us);
            writeln!(out, "  {span:<12} {sent:>12} {received:>12} {rate:>10.1} {missing:>10} {longest:>12.1}")?;
        }
    }
    let place = way.lost.by_place;
    writeln!(
        out,
        "  where     sender {}   path {}   receiver's buffer {}   application {}       {} of {} placed",
        grouped(place.sender),
        grouped(place.path),
        grouped(place.receiver_buffer),
        grouped(place.application),
        grouped(way.lost.total - way.lost.unplaced),
        grouped(way.lost.total)
    )?;
    let latency = match way.latency_kind {
        LatencyKind::OneWay => "one way, one clock, from the intended send time".to_owned(),
        LatencyKind::OneWayEstimated => {
            let drift = report.clock.drift_ns.map_or(0, i64::unsigned_abs) as f64 / 1e3;
            let uncertainty = report.clock.uncertainty_ns as f64 / 1e3;
            format!("one way, two clocks, known to {uncertainty:.1} us, {drift:.1} us of drift meanwhile")
        }
    };
    writeln!(out, "  latency   {} us   ({latency})", quantiles(&way.latency_us))?;
    match report.options.datagrams_per_s {
        Some(_) => writeln!(out, "  sender    {} us late by its schedule", quantiles(&way.pacing_error_us))?,
        None => writeln!(out, "  sender    flat out: there is no schedule to be late by")?,
    }
    let jitter = way.jitter_us.map_or_else(|| "not known".to_owned(), |us| format!("{us:.2} us"));
    writeln!(out, "  jitter    {jitter}   (RFC 3550)")?;
    if way.reordered > 0 {
        reordering(out, way)?;
    }
    match way.crossed_as {
        CrossedAs::Datagrams => Ok(()),
        CrossedAs::Fragments => {
            writeln!(out, "  note      datagrams are longer than the path's frames: each crossed in pieces")
        }
        CrossedAs::Aggregates => {
            writeln!(out, "  note      several datagrams crossed the path as one frame: datagrams/s are no packets/s")
        }
        CrossedAs::Unknown => writeln!(out, "  note      what crossed the path as one frame is not visible here"),
    }
}

fn reordering(out: &mut String, way: &Way) -> std::fmt::Result {
    let r = &way.reordering;
    writeln!(
        out,
        "  order     {:.3} % reordered, {:.1} arrivals late in the mean, {} at most ({:.1} us); {} by three or more   (RFC 4737)",
        r.share * 100.0,
        r.extent_mean.unwrap_or_default(),
        grouped(r.extent_max),
        r.late_max_us,
        grouped(r.three_reordered)
    )
}

pub(super) fn us(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |us| format!("{us:.1}"))
}

fn quantiles(q: &Quantiles) -> String {
    format!("p50 {}   p99 {}   p99.9 {}   max {}", us(q.p50), us(q.p99), us(q.p99_9), us(q.max))
}

fn cpu(out: &mut String, report: &UdpReport) -> std::fmt::Result {
    let ends = [
        ("client", &report.cpu.client, report.cpu.client_ns_per_datagram),
        ("server", &report.cpu.server, report.cpu.server_ns_per_datagram),
    ];
    for (n, (end, cpu, per_datagram)) in ends.into_iter().enumerate() {
        let label = if n == 0 { "CPU" } else { "" };
        writeln!(out, "  {label:<9} {end} {}", end_cpu(cpu, per_datagram))?;
    }
    Ok(())
}

fn end_cpu(cpu: &EndCpu, per_datagram: Option<f64>) -> String {
    let each = per_datagram.map_or_else(|| "-".to_owned(), |ns| format!("{ns:.0}"));
    format!(
        "{each} ns a datagram (process {:.2} s of {:.2}); its machine {:.0} % busy, {:.1} % in soft interrupts",
        cpu.process_s,
        cpu.wall_s,
        cpu.machine_busy_share * 100.0,
        cpu.machine_softirq_share * 100.0
    )
}

fn verdict(out: &mut String, report: &UdpReport) -> std::fmt::Result {
    let ways = || std::iter::once(&report.way).chain(&report.from_server);
    let sum = |of: fn(&Way) -> u64| ways().map(of).sum::<u64>();
    let (sent, lost, unsent) = (sum(|w| w.sent.datagrams), sum(|w| w.lost.total), sum(|w| w.unsent));
    if !report.complete {
        writeln!(out, "Stopped before its time; this is what was measured until then.")?;
    }
    match (sent, lost, unsent) {
        (0, ..) => writeln!(out, "No: nothing was sent."),
        (_, 0, 0) => writeln!(out, "Yes: all {} datagrams arrived.", grouped(sent)),
        (_, 0, _) => {
            writeln!(out, "No: nothing was lost, but {} datagrams could not be sent in time.", grouped(unsent))
        }
        _ => writeln!(
            out,
            "No: {} of {} datagrams lost ({:.3} %).",
            grouped(lost),
            grouped(sent),
            lost as f64 / sent as f64 * 100.0
        ),
    }
}

/// The line beside the progress bar.
pub(super) fn progress(progress: &Progress) -> String {
    let Progress { elapsed, planned, warm_up, sent, received_by_server, received } = progress;
    let phase = if *warm_up { "warm-up " } else { "" };
    format!(
        "{phase}{:.1} of {:.1} s · sent {} · server received {} · received {}",
        elapsed.as_secs_f64(),
        planned.as_secs_f64(),
        grouped(*sent),
        grouped(*received_by_server),
        grouped(*received)
    )
}

pub(super) fn summary(summary: &ServeSummary) -> String {
    format!(
        "{} sessions, {} rounds ({} abandoned): received {} datagrams, sent {}; {} were no business of ours",
        summary.sessions,
        summary.rounds,
        summary.abandoned,
        grouped(summary.received),
        grouped(summary.sent),
        grouped(summary.strangers)
    )
}

/// `1234567` as `1 234 567`.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (n, digit) in digits.chars().enumerate() {
        if n > 0 && (digits.len() - n).is_multiple_of(3) {
            out.push(' ');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let seen: Vec<String> = [0, 999, 1000, 12_345, 1_234_567].into_iter().map(grouped).collect();
        assert_eq!(seen, ["0", "999", "1 000", "12 345", "1 234 567"]);
    }
}
