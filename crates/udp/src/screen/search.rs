//! Screen of `takt udp search`.

use crate::search::{Bursts, SearchOutcome, SearchProgress, SearchReport, SetBy, SizeFound, Trial, Verdict};
use takt_base::shown::{count, duration, percent, significant, time};

use super::us;
use takt_page::screen::{known, table};
use takt_page::{ReportAnswer, Screen, Table};

pub fn screen(report: &SearchReport) -> Screen {
    let (answer, headline) = verdict(report);
    let bursts = report.sizes.iter().filter_map(|size| Some(burst(size.payload_bytes, size.bursts.as_ref()?)));
    Screen {
        answer: Some(answer),
        headline,
        facts: facts(report),
        tables: vec![sizes(&report.sizes)],
        summary: bursts.collect(),
        ..Screen::default()
    }
}

fn facts(report: &SearchReport) -> Vec<String> {
    let options = &report.options;
    let goal = match options.loss_share {
        0.0 => "highest rate without loss".to_owned(),
        share => format!("highest rate with at most {} lost", percent(share)),
    };
    let confirm = options.confirm.filter(|&confirm| confirm > options.trial);
    let confirmed = confirm.map(|confirm| format!(", confirmed for {}", duration(confirm.as_secs_f64())));
    let trials = format!("trials of {}{}", time(options.trial.as_secs_f64()), confirmed.unwrap_or_default());
    let repeats = searches(options.repeats as usize);
    vec![options.load.server.to_string(), goal, trials, repeats]
}

fn sizes(sizes: &[SizeFound]) -> Table {
    let heads = ["datagrams/s", "95 %", "Mb/s", "p50", "p99", "flat out/s", "lost there"];
    let rows = sizes.iter().map(|size| {
        let latency = counted(size).map(|trial| trial.latency_us).unwrap_or_default();
        let whole = |value: f64| count(value.max(0.0) as u64);
        vec![
            format!("{} B", size.payload_bytes),
            size.datagrams_per_s.map_or_else(|| "none".to_owned(), whole),
            known(size.estimate, |e| format!("[{}, {}]", whole(e.low()), whole(e.high()))),
            known(size.throughput_bps, |bps| significant(bps / 1e6, 4)),
            us(latency.p50_us),
            us(latency.p99_us),
            whole(size.flat_out.received_per_s),
            percent(size.flat_out.lost_share),
            known(size.set_by, |by| name(by).to_owned()),
        ]
    });
    table("payload", &heads, &["set by"], rows)
}

/// The trial that counts: the last clean one at the value of the last search.
fn counted(size: &SizeFound) -> Option<&Trial> {
    let last: &SearchOutcome = size.searches.last()?;
    last.trials.iter().rfind(|trial| trial.verdict == Verdict::Clean && Some(trial.intended) == last.value)
}

fn name(set_by: SetBy) -> &'static str {
    match set_by {
        SetBy::Path => "path",
        SetBy::Sender => "sender",
        SetBy::Ceiling => "offer",
    }
}

fn burst(payload_bytes: usize, bursts: &Bursts) -> String {
    let Some(datagrams) = bursts.datagrams else {
        return format!("Bursts of {payload_bytes} B: not one datagram passed.");
    };
    let rate = bursts.sent_per_s.map_or_else(String::new, |per_s| format!(" at {} a second", count(per_s as u64)));
    let buffer = match bursts.corrected_buffer_s {
        Some(s) => format!("a buffer of {} (RFC 9004, corrected)", time(s)),
        None => "takt tried no longer burst, so no buffer was full".to_owned(),
    };
    format!("Bursts of {payload_bytes} B: {} datagrams{rate} pass; {buffer}.", count(datagrams as u64))
}

fn verdict(report: &SearchReport) -> (ReportAnswer, String) {
    let all = || report.sizes.iter().flat_map(|size| &size.searches);
    let (none, sender) = (all().filter(|s| s.value.is_none()).count(), all().any(|s| s.set_by == SetBy::Sender));
    let (answer, what) = match none {
        _ if all().count() == 0 => (ReportAnswer::No, "nothing was found.".to_owned()),
        0 if !report.complete => (ReportAnswer::No, "the search did not finish.".to_owned()),
        0 if sender => {
            let more = "takt found rates that hold; where the sender set them, the path may carry more.";
            (ReportAnswer::Yes, more.to_owned())
        }
        0 => (ReportAnswer::Yes, "takt found rates that hold.".to_owned()),
        _ => (ReportAnswer::No, format!("{none} of {} found no rate that holds.", searches(all().count()))),
    };
    let early = if report.complete { "" } else { " Stopped early; this is what takt found until then." };
    (answer, what + early)
}

fn searches(n: usize) -> String {
    if n == 1 { "1 search".to_owned() } else { format!("{n} searches") }
}

/// The line beside the progress bar.
pub fn progress(progress: &SearchProgress) -> String {
    let SearchProgress { payload_bytes, repeat, repeats, burst, intended, trials, round } = progress;
    let what = match (repeat, burst) {
        (0, _) => "flat out".to_owned(),
        (_, false) => format!("{} datagrams/s", count(*intended as u64)),
        (_, true) => format!("a burst of {}", count(*intended as u64)),
    };
    let search = if *repeat == 0 { String::new() } else { format!("search {repeat} of {repeats} · ") };
    format!("{payload_bytes} B · {search}{what} · trial {} · sent {}", trials + 1, count(round.sent))
}
