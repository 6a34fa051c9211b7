//! Screens of `takt udp send` and `serve`; [`search`] has that of `takt udp search`.

pub mod search;
#[cfg(test)]
mod tests;

use crate::{CrossedAs, EndCpu, IMIX, LatencyKind, Progress, ServeSummary, UdpOptions, UdpReport, Way, WayName};
use takt_base::shown::{count, duration, percent, significant, time, time_ns};
use takt_base::words::plural;
use takt_stats::Quantiles;

use takt_page::screen::{known, table};
use takt_page::{ReportAnswer, Screen, Table};

/// With a table of intervals, if `intervals`.
pub fn screen(report: &UdpReport, intervals: bool) -> Screen {
    let ways: Vec<&Way> = std::iter::once(&report.way).chain(&report.from_server).collect();
    let mut tables = vec![traffic(&ways)];
    tables.extend(ways.iter().filter(|_| intervals).map(|way| by_interval(way)));
    let (answer, headline) = verdict(report, &ways);
    let mut summary: Vec<String> = ways.iter().filter_map(|way| crossed(way)).map(str::to_owned).collect();
    summary.dedup();
    summary.extend(queues(report));
    Screen {
        answer: Some(answer),
        headline,
        facts: facts(report),
        tables,
        summary,
        explained: ways.iter().flat_map(|way| details(report, way)).chain(cpu(report)).collect(),
        ..Screen::default()
    }
}

fn facts(report: &UdpReport) -> Vec<String> {
    let options = &report.options;
    let (client, server) = (&report.evidence.client, &report.evidence.server);
    vec![
        options.server.to_string(),
        format!("{} B payload", sizes(options)),
        pace(options),
        plural(options.flows, "flow"),
        format!("engine {} here, {} there", client.engine, server.engine),
        duration(report.way.sent.span_s),
    ]
}

/// Which queues of a card an engine had, and by what.
fn queues(report: &UdpReport) -> impl Iterator<Item = String> {
    let ends = [("here", &report.evidence.client), ("there", &report.evidence.server)];
    ends.into_iter().filter_map(|(end, evidence)| {
        let queues = evidence.engine_queues.as_ref()?;
        Some(format!("Engine {} {end} has {queues}.", evidence.engine))
    })
}

fn sizes(options: &UdpOptions) -> String {
    match options.sizes.as_slice() {
        [] => options.payload_bytes.to_string(),
        sizes if *sizes == IMIX => format!("imix, {:.0}", options.mean_payload_bytes()),
        sizes if sizes.len() <= 4 => sizes.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "),
        sizes => format!("{} sizes, {:.0}", sizes.len(), options.mean_payload_bytes()),
    }
}

fn pace(options: &UdpOptions) -> String {
    let whole = |rate: f64| count(rate.round() as u64);
    let mut pace = match (options.datagrams_per_s, options.ramp_from_per_s) {
        (None, _) => "flat out".to_owned(),
        (Some(rate), None) => format!("{} datagrams/s", whole(rate)),
        (Some(to), Some(from)) => format!("{} to {} datagrams/s", whole(from), whole(to)),
    };
    if options.burst > 1 {
        pace += &format!(" in bursts of {}", options.burst);
    }
    if let Some(datagrams) = options.datagrams {
        pace += &format!(", at most {}", count(datagrams));
    }
    pace
}

fn name(way: &Way) -> &'static str {
    match way.direction {
        WayName::ToServer => "to server",
        WayName::FromServer => "from server",
    }
}

/// A seldom event has a column only if it happened.
fn traffic(ways: &[&Way]) -> Table {
    let seldom = |way: &Way| [way.duplicates, way.reordered, way.unsent];
    let happened = |n: &usize| ways.iter().any(|way| seldom(way)[*n] > 0);
    let happened: Vec<usize> = (0..3).filter(happened).collect();
    let heads = ["sent", "received", "lost"]
        .into_iter()
        .chain(happened.iter().map(|n| ["repeated", "reordered", "unsent"][*n]));
    let heads: Vec<&str> = heads.chain(["received/s", "Mb/s", "p50", "p99.9"]).collect();
    let row = |way: &&Way| {
        let counts = [way.sent.datagrams, way.received.datagrams, way.lost.total];
        let counts = counts.into_iter().chain(happened.iter().map(|n| seldom(way)[*n])).map(count);
        let rates = [count(way.datagrams_per_s as u64), significant(way.throughput_bps / 1e6, 4)];
        let late = [way.latency_us.p50_us, way.latency_us.p99_9_us].map(us);
        std::iter::once(name(way).to_owned()).chain(counts).chain(rates).chain(late).collect()
    };
    table("", &heads, &[], ways.iter().map(row))
}

/// Late datagrams have a column only where there were some.
fn by_interval(way: &Way) -> Table {
    let some_late = way.intervals.iter().any(|i| i.late > 0);
    let rows = way.intervals.iter().map(|i| {
        let bps = i.payload_bytes as f64 * 8.0 / (i.end_s - i.start_s);
        let [sent, received, missing, late] = [i.sent, i.datagrams, i.lost, i.late].map(count);
        let span = format!("{:.2}-{:.2} s", i.start_s, i.end_s);
        let late = some_late.then_some(late);
        let longest = time(i.latency_max_us * 1e-6);
        let counts = [span, sent, received, significant(bps / 1e6, 4), missing].into_iter();
        counts.chain(late).chain([longest]).collect::<Vec<String>>()
    });
    let late = some_late.then_some("late");
    let heads: Vec<&str> = ["sent", "received", "Mb/s", "missing"].into_iter().chain(late).chain(["longest"]).collect();
    let mut table = table("interval", &heads, &[], rows);
    table.title = format!("By interval, {}", name(way));
    table
}

/// Facts of one way besides the table.
fn details(report: &UdpReport, way: &Way) -> Vec<(&'static str, String)> {
    let place = way.lost.by_place;
    let [sender, path, buffer, application] =
        [place.sender, place.path, place.receiver_buffer, place.application].map(count);
    let [placed, lost] = [way.lost.total - way.lost.unplaced, way.lost.total].map(count);
    let latency = match way.latency_kind {
        LatencyKind::OneWay => "one way, one clock, from the intended send time".to_owned(),
        LatencyKind::OneWayEstimated => {
            let drift = time_ns(report.clock.drift_ns.map_or(0, i64::unsigned_abs));
            format!("one way, two clocks, accurate to {}, with {drift} of drift", time_ns(report.clock.uncertainty_ns))
        }
    };
    let schedule = match report.options.datagrams_per_s {
        Some(_) => format!("late against its schedule: {}", quantiles(&way.pacing_error_us)),
        None => "flat out, so it has no schedule".to_owned(),
    };
    let mut details = vec![
        (
            "lost",
            format!(
                "{}: sender {sender}, path {path}, receiver's buffer {buffer}, application {application}; {placed} of {lost} \
                 placed",
                name(way)
            ),
        ),
        ("latency", format!("{} ({latency})", quantiles(&way.latency_us))),
        ("sender", schedule),
        ("jitter", format!("{} (RFC 3550)", way.jitter_us.map_or_else(|| "not known".to_owned(), |j| us(Some(j))))),
    ];
    details.push(match way.reordered {
        0 => ("order", format!("none reordered, {} repeated, {} unsent", count(way.duplicates), count(way.unsent))),
        _ => ("order", reordering(way)),
    });
    details
}

/// Sentence for a path that carried more or less than one frame a datagram.
fn crossed(way: &Way) -> Option<&'static str> {
    match way.crossed_as {
        CrossedAs::Datagrams => None,
        CrossedAs::Fragments => Some("Datagrams are longer than the path's frames, so each crossed in fragments."),
        CrossedAs::Aggregates => {
            Some("Several datagrams crossed the path as one frame, so datagrams/s are not packets/s.")
        }
        CrossedAs::Unknown => Some("takt can't see here how many datagrams crossed the path as one frame."),
    }
}

fn reordering(way: &Way) -> String {
    let r = &way.reordering;
    format!(
        "{} reordered, {} arrivals late on average, {} at most ({}); {} by three or more (RFC 4737)",
        percent(r.share),
        significant(r.extent_mean.unwrap_or_default(), 2),
        count(r.extent_max),
        us(Some(r.late_max_us)),
        count(r.three_reordered)
    )
}

pub(super) fn us(value: Option<f64>) -> String {
    known(value, |us| time(us * 1e-6))
}

fn quantiles(q: &Quantiles) -> String {
    format!("p50 {}, p99 {}, p99.9 {}, max {}", us(q.p50_us), us(q.p99_us), us(q.p99_9_us), us(q.max_us))
}

fn cpu(report: &UdpReport) -> [(&'static str, String); 2] {
    let cpu = &report.cpu;
    [
        ("CPU", format!("client {}", end_cpu(&cpu.client, cpu.client_ns_per_datagram))),
        ("", format!("server {}", end_cpu(&cpu.server, cpu.server_ns_per_datagram))),
    ]
}

fn end_cpu(cpu: &EndCpu, per_datagram_ns: Option<f64>) -> String {
    format!(
        "{} per datagram (process {} of {}); its machine {} busy, {} in soft interrupts",
        known(per_datagram_ns, |ns| time(ns * 1e-9)),
        time(cpu.process_s),
        time(cpu.wall_s),
        percent(cpu.machine_busy_share),
        percent(cpu.machine_softirq_share)
    )
}

fn verdict(report: &UdpReport, ways: &[&Way]) -> (ReportAnswer, String) {
    let sum = |of: fn(&Way) -> u64| ways.iter().map(|way| of(way)).sum::<u64>();
    let (sent, lost, unsent) = (sum(|w| w.sent.datagrams), sum(|w| w.lost.total), sum(|w| w.unsent));
    let (answer, what) = match (sent, lost, unsent) {
        (0, ..) => (ReportAnswer::No, "nothing was sent.".to_owned()),
        (_, 0, 0) => (ReportAnswer::Yes, format!("all {} datagrams arrived.", count(sent))),
        (_, 0, _) => {
            (ReportAnswer::No, format!("nothing was lost, but {} datagrams could not be sent in time.", count(unsent)))
        }
        _ => {
            let share = percent(lost as f64 / sent as f64);
            (ReportAnswer::No, format!("{} of {} datagrams lost ({share}){}.", count(lost), count(sent), worst(ways)))
        }
    };
    let early = if report.complete { "" } else { " Stopped early; this is what takt measured until then." };
    (answer, what + early)
}

/// Place where most were lost.
fn worst(ways: &[&Way]) -> String {
    let sum = |of: fn(&crate::Places) -> u64| ways.iter().map(|way| of(&way.lost.by_place)).sum::<u64>();
    let places = [
        (sum(|p| p.sender), "at the sender"),
        (sum(|p| p.path), "on the path"),
        (sum(|p| p.receiver_buffer), "in the receiver's buffer"),
        (sum(|p| p.application), "in the application"),
    ];
    let most = places.into_iter().max_by_key(|(n, _)| *n).filter(|(n, _)| *n > 0);
    let all: u64 = ways.iter().map(|way| way.lost.total).sum();
    most.map_or(String::new(), |(n, place)| match n {
        n if n == all => format!(", all {place}"),
        n => format!(", {} of them {place}", count(n)),
    })
}

/// The line beside the progress bar.
pub fn progress(progress: &Progress) -> String {
    let Progress { elapsed, planned, warm_up, sent, received_by_server, received } = progress;
    let phase = if *warm_up { "warm-up " } else { "" };
    format!(
        "{phase}{:.1} of {:.1} s · sent {} · server received {} · received {}",
        elapsed.as_secs_f64(),
        planned.as_secs_f64(),
        count(*sent),
        count(*received_by_server),
        count(*received)
    )
}

pub fn served(summary: &ServeSummary) -> String {
    format!(
        "{}, {} ({} abandoned): received {} datagrams, sent {}; {} came from unknown senders",
        plural(summary.sessions, "session"),
        plural(summary.rounds, "round"),
        summary.abandoned,
        count(summary.received),
        count(summary.sent),
        count(summary.strangers)
    )
}
