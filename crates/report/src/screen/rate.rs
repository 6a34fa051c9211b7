//! What `takt rate` prints.

use takt_base::shown::{count, duration, percent, significant, time, time_ns};
use takt_base::words::list;
use takt_load::rate::{Outcome, Radio, Rx};

use super::{known, table};
use crate::{Answer, Screen, Table};

pub fn screen(outcome: &Outcome) -> Screen {
    let (rx, receives) = (&outcome.rx, outcome.options.rx_sps.is_some());
    let kept_up = receives.then(|| backlog(rx));
    let received = receives.then(|| [("lost", places(rx)), ("buffer", buffer(rx))]);
    let received = received.into_iter().flatten();
    // Where samples were lost is part of the answer.
    let (lines, rest) = received.partition(|(label, _)| *label == "lost" && rx.dropped > 0);
    let mut explained: Vec<(&str, String)> = rest;
    explained.push(("CPU", threads(outcome)));
    explained.extend(outcome.engine.choice.clone().map(|choice| ("engine", choice)));
    Screen {
        answer: Some(if outcome.clean { Answer::Yes } else { Answer::No }),
        headline: headline(outcome),
        facts: facts(outcome),
        tables: vec![streams(outcome)],
        says: oddities(outcome).chain(unlocked(outcome)).chain(kept_up).chain(cpu(outcome)).collect(),
        lines,
        explained,
        ..Screen::default()
    }
}

fn facts(outcome: &Outcome) -> Vec<String> {
    let options = &outcome.options;
    let way = |(way, sps): (&str, Option<f64>)| Some(format!("{way} {} MS/s", significant(sps? / 1e6, 7)));
    let ways = [("receive", options.rx_sps), ("transmit", options.tx_sps)].into_iter().filter_map(way);
    let per_datagram = outcome.rx.samples_per_datagram.max(outcome.tx.samples_per_datagram);
    let Radio { model, serial, .. } = &outcome.radio;
    std::iter::once(format!("{model} serial {serial}"))
        .chain(ways)
        .chain([
            format!("{}, {per_datagram} samples a datagram", options.format.name()),
            engine(outcome),
            duration(outcome.wall_s),
        ])
        .collect()
}

/// `engine xdp (native XDP, copied, queue 0 of eth0 by its rules)`; of sockets, which most are, the name alone.
fn engine(outcome: &Outcome) -> String {
    let Outcome { engine: evidence, options, tx, .. } = outcome;
    let (name, path, sent) = (options.engine, evidence.path.as_str(), tx.engine_path.as_str());
    let path = match path {
        _ if !sent.is_empty() && sent != path => format!("received: {path}; sent: {sent}"),
        "" | "kernel sockets" => return format!("engine {name}"),
        _ => path.to_owned(),
    };
    let queues = evidence.queues.as_ref().map(|queues| format!(", {queues}")).unwrap_or_default();
    format!("engine {name} ({path}{queues})")
}

fn streams(outcome: &Outcome) -> Table {
    let (rx, tx) = (&outcome.rx, &outcome.tx);
    let mut rows = Vec::new();
    if outcome.options.rx_sps.is_some() {
        let events = [("O", rx.overflows), ("D", rx.sequence_errors), ("L", rx.late), ("timeouts", rx.timeouts)];
        let [samples, datagrams, lost] = [rx.samples, rx.datagrams, rx.dropped].map(count);
        rows.push(vec!["receive".to_owned(), samples, datagrams, lost, counts(events)]);
    }
    if outcome.options.tx_sps.is_some() {
        let events = [("U", tx.underflows), ("S", tx.sequence_errors), ("L", tx.late), ("timeouts", tx.timeouts)];
        let [samples, datagrams] = [tx.samples, tx.datagrams].map(count);
        rows.push(vec!["transmit".to_owned(), samples, datagrams, known(None, count), counts(events)]);
    }
    table("", &["samples", "datagrams", "lost samples"], &["events"], rows)
}

fn counts(events: [(&str, u64); 4]) -> String {
    events.map(|(name, n)| format!("{name} {}", count(n))).join(", ")
}

fn headline(outcome: &Outcome) -> String {
    let took = duration(outcome.wall_s);
    if outcome.clean {
        return format!("nothing was lost in {took}.");
    }
    if !outcome.complete {
        return format!("ended after {took}, before its time.");
    }
    let (rx, tx) = (&outcome.rx, &outcome.tx);
    let faults = [
        (rx.dropped, "samples lost"),
        (rx.unsent_samples, "samples not sent by the radio"),
        (rx.overflows, "overflows"),
        (rx.late + tx.late, "late"),
        (rx.timeouts, "times nothing came"),
        (tx.underflows, "underflows"),
        (tx.sequence_errors, "datagrams missed by the radio"),
        (tx.timeouts, "times the radio took nothing"),
        (rx.unknown_messages + tx.unknown_reports, "messages without a name"),
        (rx.retimed, "times the radio's clock was set"),
        (rx.expected_samples.abs_diff(rx.samples + rx.dropped + rx.unsent_samples), "samples unaccounted for"),
    ];
    let mut reasons: Vec<String> =
        faults.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(n))).collect();
    reasons.extend(falls_behind(rx));
    reasons.extend((rx.backlog.stuck && rx.dropped == 0).then(|| NOT_CAUGHT_UP.to_owned()));
    format!("{} in {took}.", list(&reasons))
}

/// What is not a fault by itself, and seldom happens.
fn oddities(outcome: &Outcome) -> impl Iterator<Item = String> {
    let rx = &outcome.rx;
    let all = [
        ("datagrams made no sense", rx.bad_datagrams),
        ("datagrams came out of order and were put back", rx.reordered_datagrams),
        ("datagrams came twice or too late", rx.stale_datagrams),
        ("gaps contradict the 4-bit count", rx.uncorroborated_gaps),
        ("messages have no name", rx.unknown_messages + outcome.tx.unknown_reports),
        ("datagrams were given up when the radio had run dry", outcome.tx.given_up_datagrams),
        ("commands to the radio had to be repeated", outcome.radio.repeated_commands),
    ];
    all.into_iter().filter(|(_, n)| *n > 0).map(|(what, n)| format!("{} {what}.", count(n)))
}

/// What of the radio was not locked.
fn unlocked(outcome: &Outcome) -> impl Iterator<Item = String> {
    let radio = &outcome.radio;
    let all = [
        (radio.reference_locked, "The radio's clock does not follow its reference: its rate is not what it says."),
        (radio.rx_lo_locked, "The receive oscillator is not locked."),
        (radio.tx_lo_locked, "The transmit oscillator is not locked."),
    ];
    all.into_iter().filter(|(locked, _)| *locked == Some(false)).map(|(_, what)| what.to_owned())
}

fn cpu(outcome: &Outcome) -> Option<String> {
    let ms = outcome.cpu.host_ms_per_msample?;
    Some(format!("A million samples took {} of CPU time.", time(ms * 1e-3)))
}

fn threads(outcome: &Outcome) -> String {
    let streaming = outcome.cpu.threads.iter().filter(|thread| thread.name.starts_with("takt-"));
    let share = |seconds: f64| percent(seconds / outcome.wall_s.max(1e-9));
    let threads: Vec<String> = streaming.map(|of| format!("{} {}", of.name, share(of.seconds))).collect();
    format!("{} of a core", list(&threads))
}

fn places(rx: &Rx) -> String {
    let places = &rx.lost_by_place;
    let [radio, path, takt, lost] =
        [places.radio_samples, places.path_datagrams, places.takt_datagrams, rx.lost_datagrams].map(count);
    let buffer = places.receive_buffer_datagrams.map_or("not visible".to_owned(), count);
    format!(
        "radio {radio} samples; of {lost} datagrams: path {path}, receive buffer of this host {buffer}, takt {takt}"
    )
}

fn buffer(rx: &Rx) -> String {
    format!(
        "{} KiB hold {} of this stream; the reader's longest pause was {}",
        count(rx.recv_buffer_bytes as u64 / 1024),
        time(rx.recv_buffer_s),
        time_ns(rx.longest_pause_ns)
    )
}

fn backlog(rx: &Rx) -> String {
    let trend = match (falls_behind(rx), rx.backlog.slope) {
        (Some(sentence), _) => sentence,
        (None, _) if rx.backlog.stuck => NOT_CAUGHT_UP.to_owned(),
        (None, Some(_)) if rx.backlog.growing => "it grew until the buffer was full".to_owned(),
        (None, Some(_)) => "it did not grow".to_owned(),
        (None, None) => "too little was read to say whether it grew".to_owned(),
    };
    let [most, at_end] = [rx.backlog.largest_ns, rx.backlog.at_end_ns].map(time_ns);
    format!("The reader was at most {most} behind the radio, {at_end} at the end; {trend}.")
}

/// By how much the reader is too slow, and what will come of it. Where samples were lost, the buffer was full, and how fast
/// the backlog grew says less than they do.
fn falls_behind(rx: &Rx) -> Option<String> {
    let slope = rx.backlog.slope.filter(|_| rx.backlog.growing && rx.dropped == 0)?;
    let after = rx.backlog.time_to_loss_s.map(|after| format!(", and loses samples after {}", time(after)));
    Some(format!("the reader falls behind by {} of the stream{}", percent(slope), after.unwrap_or_default()))
}

const NOT_CAUGHT_UP: &str = "the reader had not caught up when it ended";
