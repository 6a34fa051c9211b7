//! Screen of `takt rate`.

use super::{Radio, RateInterval, RateOutcome, Rx};
use takt_base::shown::{count, duration, percent, significant, time, time_ns};
use takt_base::words::list;

use takt_page::screen::{known, table};
use takt_page::{ReportAnswer, Screen, Table};

pub fn screen(outcome: &RateOutcome) -> Screen {
    let (rx, receives) = (&outcome.rx, outcome.options.rx_sps.is_some());
    let kept_up = receives.then(|| backlog(rx));
    let received = receives.then(|| [("lost", places(rx)), ("buffer", buffer(rx))]);
    let received = received.into_iter().flatten();
    // The places of lost samples are part of the answer.
    let (lines, rest) = received.partition(|(label, _)| *label == "lost" && rx.dropped > 0);
    let mut explained: Vec<(&str, String)> = rest;
    explained.push(("CPU", threads(outcome)));
    explained.extend(outcome.engine.choice.clone().map(|choice| ("engine", choice)));
    Screen {
        answer: Some(answer(outcome)),
        headline: headline(outcome),
        facts: facts(outcome),
        tables: vec![streams(outcome)],
        summary: oddities(outcome)
            .chain(unlocked(outcome))
            .chain(calibrated(outcome))
            .chain(kept_up)
            .chain(cpu(outcome))
            .collect(),
        lines,
        explained,
        ..Screen::default()
    }
}

/// The line of an interval that has ended.
pub fn interval(interval: &RateInterval) -> String {
    let rx = interval.rx.map(|rx| {
        let events = [("O", rx.overflows), ("D", rx.sequence_errors), ("L", rx.late), ("timeouts", rx.timeouts)];
        let (rate, lost) = (significant(rx.rate_sps / 1e6, 4), count(rx.lost_samples));
        format!("receive {rate} MS/s, lost {lost}, {}", counts(events))
    });
    let tx = interval.tx.map(|tx| {
        let events = [("U", tx.underflows), ("S", tx.sequence_errors), ("L", tx.late), ("timeouts", tx.timeouts)];
        format!("transmit {} MS/s, {}", significant(tx.rate_sps / 1e6, 4), counts(events))
    });
    let span = format!("{:.2}-{:.2} s", interval.start_s, interval.end_s);
    std::iter::once(span).chain(rx).chain(tx).collect::<Vec<_>>().join("   ")
}

fn answer(outcome: &RateOutcome) -> ReportAnswer {
    match outcome.held() {
        Some(true) => ReportAnswer::Yes,
        Some(false) => ReportAnswer::No,
        None => ReportAnswer::Unknown,
    }
}

/// ` at 0.1 of real time`; nothing of a radio that ran in real time, or did not say.
fn at_speed(outcome: &RateOutcome) -> String {
    match (outcome.radio_speed, outcome.radio_speed_at_end) {
        (Some(from), Some(to)) if from != to => format!(" at {from} to {to} of real time"),
        (Some(speed), _) if speed != 1.0 => format!(" at {speed} of real time"),
        _ => String::new(),
    }
}

fn facts(outcome: &RateOutcome) -> Vec<String> {
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
fn engine(outcome: &RateOutcome) -> String {
    let RateOutcome { engine: evidence, options, tx, .. } = outcome;
    let (name, path, sent) = (options.engine, evidence.path.as_str(), tx.engine_path.as_str());
    let path = match path {
        _ if !sent.is_empty() && sent != path => format!("received: {path}; sent: {sent}"),
        "" | "kernel sockets" => return format!("engine {name}"),
        _ => path.to_owned(),
    };
    let queues = evidence.queues.as_ref().map(|queues| format!(", {queues}")).unwrap_or_default();
    format!("engine {name} ({path}{queues})")
}

fn streams(outcome: &RateOutcome) -> Table {
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

fn headline(outcome: &RateOutcome) -> String {
    let took = duration(outcome.wall_s) + &at_speed(outcome);
    if outcome.clean {
        return format!("nothing was lost in {took}.");
    }
    if !outcome.complete {
        return format!("stopped early, after {took}.");
    }
    let (rx, tx) = (&outcome.rx, &outcome.tx);
    let faults = [
        (rx.dropped, "samples lost"),
        (rx.unsent_samples, "samples not sent by the radio"),
        (rx.overflows, "overflows"),
        (rx.late + tx.late, "late packets or commands"),
        (rx.timeouts, "receive time-outs"),
        (tx.underflows, "underflows"),
        (tx.sequence_errors, "sequence errors at the radio"),
        (tx.timeouts, "transmit time-outs"),
        (rx.unknown_messages + tx.unknown_reports, "unknown messages"),
        (rx.retimed, "changes of the radio's clock"),
        (rx.expected_samples.abs_diff(rx.samples + rx.dropped + rx.unsent_samples), "samples unaccounted for"),
    ];
    let mut reasons: Vec<String> =
        faults.into_iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{} {what}", count(n))).collect();
    reasons.extend(falls_behind(rx));
    reasons.extend((rx.backlog.stuck && rx.dropped == 0).then(|| NOT_CAUGHT_UP.to_owned()));
    format!("{} in {took}.", list(&reasons))
}

/// Events that are no fault by themselves, and seldom happen.
fn oddities(outcome: &RateOutcome) -> impl Iterator<Item = String> {
    let rx = &outcome.rx;
    let all = [
        ("datagrams were malformed", rx.bad_datagrams),
        ("datagrams arrived out of order and were put back in order", rx.reordered_datagrams),
        ("datagrams arrived twice or too late", rx.stale_datagrams),
        ("gaps contradict the numbers of their datagrams", rx.uncorroborated_gaps),
        ("messages are unknown", rx.unknown_messages + outcome.tx.unknown_reports),
        ("datagrams were given up after the radio's buffer ran empty", outcome.tx.given_up_datagrams),
        ("commands to the radio had to be repeated", outcome.radio.repeated_commands),
    ];
    all.into_iter().filter(|(_, n)| *n > 0).map(|(what, n)| format!("{} {what}.", count(n)))
}

/// Clocks and oscillators of the radio that were not locked.
fn unlocked(outcome: &RateOutcome) -> impl Iterator<Item = String> {
    let radio = &outcome.radio;
    let all = [
        (radio.reference_locked, "The radio's clock is not locked to its reference, so its true rate is not known."),
        (radio.rx_lo_locked, "The receive oscillator is not locked."),
        (radio.tx_lo_locked, "The transmit oscillator is not locked."),
    ];
    all.into_iter().filter(|(locked, _)| *locked == Some(false)).map(|(_, what)| what.to_owned())
}

/// The files of corrections that were applied or could not be.
fn calibrated(outcome: &RateOutcome) -> impl Iterator<Item = String> {
    outcome.radio.calibration.iter().map(|table| format!("Calibration: {table}."))
}

fn cpu(outcome: &RateOutcome) -> Option<String> {
    let ms = outcome.cpu.host_ms_per_msample?;
    Some(format!("A million samples took {} of CPU time.", time(ms * 1e-3)))
}

fn threads(outcome: &RateOutcome) -> String {
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

/// By how much the reader is too slow, and what will come of it. If samples were lost, the buffer was full, and how
/// fast the backlog grew says less than they do.
fn falls_behind(rx: &Rx) -> Option<String> {
    let slope = rx.backlog.slope.filter(|_| rx.backlog.growing && rx.dropped == 0)?;
    let after = rx.backlog.time_to_loss_s.map(|after| format!(", and loses samples after {}", time(after)));
    Some(format!("the reader falls behind by {} of the stream{}", percent(slope), after.unwrap_or_default()))
}

const NOT_CAUGHT_UP: &str = "the reader had not caught up when it ended";

#[cfg(test)]
mod tests {
    use crate::rate::{RxInterval, TxInterval};

    use super::*;

    #[test]
    fn a_round_at_another_speed_says_so_and_is_no_yes() {
        let of = |clean, speeds: [Option<f64>; 2]| {
            let [radio_speed, radio_speed_at_end] = speeds;
            let outcome =
                RateOutcome { clean, complete: true, radio_speed, radio_speed_at_end, ..RateOutcome::default() };
            let Screen { answer, headline, .. } = screen(&outcome);
            (answer, headline.contains(" at 0.1 of real time"))
        };
        assert_eq!(of(true, [Some(1.0); 2]), (Some(ReportAnswer::Yes), false));
        assert_eq!(of(true, [None; 2]), (Some(ReportAnswer::Yes), false));
        assert_eq!(of(true, [Some(0.1); 2]), (Some(ReportAnswer::Unknown), true));
        assert_eq!(of(false, [Some(0.1); 2]), (Some(ReportAnswer::No), true));
        let changed = RateOutcome { radio_speed: Some(0.1), radio_speed_at_end: Some(0.2), ..RateOutcome::default() };
        assert_eq!(at_speed(&changed), " at 0.1 to 0.2 of real time");
    }

    #[test]
    fn the_line_of_an_interval_has_the_rate_and_every_count_of_each_direction() {
        let rx = RxInterval { rate_sps: 999_637.0, lost_samples: 726, sequence_errors: 1, ..RxInterval::default() };
        let tx = TxInterval { rate_sps: 1e6, underflows: 2, ..TxInterval::default() };
        let both = RateInterval { start_s: 2.0, end_s: 4.0, rx: Some(rx), tx: Some(tx) };
        let receive = "2.00-4.00 s   receive 0.9996 MS/s, lost 726, O 0, D 1, L 0, timeouts 0";
        assert_eq!(interval(&both), format!("{receive}   transmit 1 MS/s, U 2, S 0, L 0, timeouts 0"));
        assert_eq!(interval(&RateInterval { tx: None, ..both }), receive);
    }
}
