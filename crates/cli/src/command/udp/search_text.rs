//! What a search found, as people read it.

use std::fmt::Write;
use std::time::Duration;

use takt_udp::search::{Bursts, Found, SearchProgress, SearchReport, SetBy, SizeFound, Trial, Verdict};

use super::text::{grouped, us};

pub(super) fn report(report: &SearchReport) -> String {
    let mut out = String::new();
    let _ = headline(&mut out, report);
    let _ = table(&mut out, &report.sizes);
    for size in &report.sizes {
        if let Some(bursts) = &size.bursts {
            let _ = burst(&mut out, size.payload_bytes, bursts);
        }
    }
    let _ = verdict(&mut out, report);
    out
}

fn headline(out: &mut String, report: &SearchReport) -> std::fmt::Result {
    let options = &report.options;
    let goal = if options.loss_share == 0.0 {
        "highest rate without loss".to_owned()
    } else {
        format!("highest rate with at most {} % lost", options.loss_share * 100.0)
    };
    let confirm = options.confirm.filter(|&confirm| confirm > options.trial);
    let confirmed = confirm.map_or_else(String::new, |confirm| format!(", confirmed for {confirm:?}"));
    let searches = if options.repeats == 1 { "1 search".to_owned() } else { format!("{} searches", options.repeats) };
    writeln!(out, "{} · {goal} · trials of {:?}{confirmed} · {searches}", options.load.server, options.trial)
}

fn table(out: &mut String, sizes: &[SizeFound]) -> std::fmt::Result {
    writeln!(
        out,
        "  {:>7} {:>13} {:>23} {:>9}   {:<8} {:>9} {:>9} {:>14} {:>10}",
        "payload", "datagrams/s", "95 %", "Mb/s", "set by", "p50 us", "p99 us", "flat out/s", "lost there"
    )?;
    for size in sizes {
        let interval = size.estimate.map_or_else(
            || "-".to_owned(),
            |e| format!("[{}, {}]", grouped(e.low().max(0.0) as u64), grouped(e.high() as u64)),
        );
        let latency = counted(size).map(|trial| trial.latency_us).unwrap_or_default();
        writeln!(
            out,
            "  {:>7} {:>13} {:>23} {:>9}   {:<8} {:>9} {:>9} {:>14} {:>10}",
            size.payload_bytes,
            size.datagrams_per_s.map_or_else(|| "none".to_owned(), |per_s| grouped(per_s as u64)),
            interval,
            size.throughput_bps.map_or_else(|| "-".to_owned(), |bps| format!("{:.1}", bps / 1e6)),
            size.set_by.map_or("-", name),
            us(latency.p50),
            us(latency.p99),
            grouped(size.flat_out.received_per_s as u64),
            format!("{:.2} %", size.flat_out.lost_share * 100.0),
        )?;
    }
    Ok(())
}

/// The trial that counts: the last clean one at the value of the last search.
fn counted(size: &SizeFound) -> Option<&Trial> {
    let last: &Found = size.searches.last()?;
    last.trials.iter().rfind(|trial| trial.verdict == Verdict::Clean && Some(trial.asked) == last.value)
}

fn name(set_by: SetBy) -> &'static str {
    match set_by {
        SetBy::Path => "path",
        SetBy::Sender => "sender",
        SetBy::Ceiling => "offer",
    }
}

fn burst(out: &mut String, payload_bytes: usize, bursts: &Bursts) -> std::fmt::Result {
    let Some(datagrams) = bursts.datagrams else {
        return writeln!(out, "  burst     {payload_bytes} B: not one datagram passed");
    };
    let rate = bursts.sent_per_s.map_or_else(String::new, |per_s| format!(" at {} a second", grouped(per_s as u64)));
    let buffer = match bursts.corrected_buffer_s {
        Some(s) => format!("a buffer of {:.3} ms (RFC 9004, corrected)", s * 1e3),
        None => "no longer one was tried: the end of a buffer was not seen".to_owned(),
    };
    writeln!(out, "  burst     {payload_bytes} B: {} datagrams{rate}; {buffer}", grouped(datagrams as u64))
}

fn verdict(out: &mut String, report: &SearchReport) -> std::fmt::Result {
    if !report.complete {
        writeln!(out, "Stopped before its time; this is what was found until then.")?;
    }
    let all = || report.sizes.iter().flat_map(|size| &size.searches);
    let (none, sender) = (all().filter(|s| s.value.is_none()).count(), all().any(|s| s.set_by == SetBy::Sender));
    match none {
        _ if all().count() == 0 => writeln!(out, "No: nothing was found."),
        0 if sender => {
            writeln!(out, "Yes: rates that hold were found; where the sender set them, the path may carry more.")
        }
        0 => writeln!(out, "Yes: rates that hold were found."),
        _ => writeln!(out, "No: {none} of {} searches found no rate that holds.", all().count()),
    }
}

/// The line beside the progress bar.
pub(super) fn progress(progress: &SearchProgress) -> String {
    let SearchProgress { payload_bytes, repeat, repeats, burst, asked, trials, round } = progress;
    let what = match (repeat, burst) {
        (0, _) => "flat out".to_owned(),
        (_, false) => format!("{} datagrams/s", grouped(*asked as u64)),
        (_, true) => format!("a burst of {}", grouped(*asked as u64)),
    };
    let search = if *repeat == 0 { String::new() } else { format!("search {repeat} of {repeats} · ") };
    format!("{payload_bytes} B · {search}{what} · trial {} · sent {}", trials + 1, grouped(round.sent))
}

/// A span as one says it: `40 s`, `12 min`.
pub(super) fn rough(span: Duration) -> String {
    match span.as_secs() {
        seconds @ 0..=119 => format!("{} s", seconds.max(1)),
        seconds @ 120..=7199 => format!("{} min", seconds / 60),
        seconds => format!("{} h", seconds / 3600),
    }
}
