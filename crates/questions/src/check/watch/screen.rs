//! The output of `takt stops`.

use crate::check::watch::{ListedStop, WatchOutcome};
use crate::check::{self, StopsBy};
use takt_base::shown::{duration, time};
use takt_base::words::{list, plural};

use crate::check::page::words::radio_at;
use takt_page::screen::table;
use takt_page::{ReportAnswer, Screen, Table};

pub fn screen(outcome: &WatchOutcome) -> Screen {
    let stops = &outcome.stops;
    let priority = if stops.real_time { "threads with real-time priority" } else { "ordinary threads" };
    let cores: Vec<String> = stops.cores.iter().map(usize::to_string).collect();
    let ended = (!outcome.complete).then(|| "ended early".to_owned());
    Screen {
        answer: Some(outcome.answer.into()),
        headline: headline(outcome),
        facts: [
            format!("cores {}", list(&cores)),
            priority.to_owned(),
            format!("watched for {}", duration(stops.streamed_s)),
        ]
        .into_iter()
        .chain(ended)
        .collect(),
        tables: if stops.by.is_empty() { Vec::new() } else { vec![by_cause(&stops.by)] },
        summary: outcome.summary.clone(),
        explained: outcome.caveats.iter().map(|words| ("unseen", words.clone())).collect(),
        detail: if outcome.longest.is_empty() { Vec::new() } else { vec![longest(&outcome.longest)] },
        ..Screen::default()
    }
}

fn headline(outcome: &WatchOutcome) -> String {
    let stops = &outcome.stops;
    let named = |answer| -> Vec<String> {
        let needs = outcome.needs.iter().filter(|need| need.answer == answer);
        needs.map(|need| radio_at(&need.need)).collect()
    };
    let seen = match stops.count {
        0 => format!("this machine did not stand still in {}", duration(stops.streamed_s)),
        _ => format!("this machine stood still for {}", stops.how_long(stops.longest_ms)),
    };
    match ReportAnswer::from(outcome.answer) {
        ReportAnswer::Yes => {
            format!("{seen}; the buffers of {} hold that plus a margin.", list(&named(check::CheckAnswer::Holds)))
        }
        ReportAnswer::No => format!("{seen}; the buffers of {} hold less.", list(&named(check::CheckAnswer::Fails))),
        ReportAnswer::Unknown => format!("{seen}."),
    }
}

fn by_cause(by: &[StopsBy]) -> Table {
    let row = |one: &StopsBy| vec![check::who(one.by).to_owned(), one.count.to_string(), time(one.longest_ms * 1e-3)];
    table("stopped by", &["stops", "longest"], &[], by.iter().map(row))
}

fn longest(stops: &[ListedStop]) -> Table {
    let row = |one: &ListedStop| {
        vec![time(one.after_s), one.core.to_string(), time(one.stop.ms * 1e-3), check::who(one.stop.by).to_owned()]
    };
    let mut longest = table("after", &["core", "lasted"], &["stopped by"], stops.iter().map(row));
    longest.title = format!("The longest {}", plural(stops.len(), "stop"));
    longest
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use takt_page::TextStyle;

    fn outcome(longest_ms: f64, answer: &str) -> WatchOutcome {
        let need = json!({ "model": "n200", "mode": "duplex", "rate_sps": 25e6, "format": "sc16" });
        serde_json::from_value(json!({
            "schema": "takt.stops/1",
            "answer": answer,
            "complete": true,
            "needs": [{ "need": need, "answer": answer, "holds_ms": 10.3, "longer": 1 }],
            "stops": {
                "streamed_s": 600.0, "count": 3, "longest_ms": longest_ms, "cores": [0, 1], "real_time": true, "at": [],
                "by": [{ "by": "machine", "count": 2, "longest_ms": longest_ms }, { "by": "thread", "count": 1, "longest_ms": 1.2 }],
            },
            "longest": [{ "after_s": 12.5, "core": 1, "ms": longest_ms, "by": "machine", "radio_too": true }],
            "says": ["A sentence."],
            "does_not_say": [],
        }))
        .expect("a watch")
    }

    fn text(outcome: &WatchOutcome) -> String {
        screen(outcome).to_text(&TextStyle::default()).replace('\u{a0}', " ")
    }

    #[test]
    fn the_first_line_is_the_answer_and_its_reason() {
        let first = |outcome: &WatchOutcome| text(outcome).lines().next().unwrap_or_default().to_owned();
        assert!(
            first(&outcome(43.0, "fails"))
                .starts_with("No: this machine stood still for up to 43 ms, 3 times in 10 min")
        );
        let yes = text(&outcome(2.0, "holds"));
        assert!(yes.starts_with("Yes: this machine stood still for up to 2 ms, 3 times"), "{yes}");
        assert!(yes.contains("hold that plus a margin") && yes.contains("the hypervisor"), "{yes}");
    }
}
