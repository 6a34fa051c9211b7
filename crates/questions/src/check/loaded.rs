//! The answer of a host that has other work: how late, how often, and whether a real-time priority mends it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use takt_base::shown::{percent, time};
use takt_stats::{Estimate, mean};

use super::collect::{Levels, duration};
use super::rates::LEVEL;
use takt_lab::store::{RoundRow, RoundState, merged};

/// Answers while processes of takt's own compete for the host side's cores.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Loaded {
    /// The competing load: `busy:2x`.
    pub disturbance: String,
    /// From the samples to the time at which the answer is due, microseconds.
    pub delay_us: f64,
    /// Under `SCHED_OTHER`.
    pub normal: LoadedAnswers,
    pub fifo: LoadedAnswers,
    /// Decrease of the late share with FIFO: differences block by block, 0 to 1; `None` below two blocks.
    pub saved_share: Option<Estimate>,
    /// The same in a sentence, without full stop.
    #[serde(rename = "says")]
    pub summary: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LoadedAnswers {
    pub counted: usize,
    pub answers: u64,
    /// Late, says the radio.
    pub late: u64,
    /// Half of the answers were in the radio after so long, microseconds.
    pub p50_us: Option<f64>,
    pub p99_9_us: Option<f64>,
}

/// From the points of round trips that are disturbed: settings and rounds. `None` unless both policies are there.
pub(super) fn loaded(points: &[(Levels, Vec<&RoundRow>)]) -> Option<Loaded> {
    let of = |policy: &str| {
        points.iter().find(|(levels, _)| levels.get("policy").and_then(Value::as_str).unwrap_or("other") == policy)
    };
    let ((levels, normal_rounds), (_, fifo_rounds)) = (of("other")?, of("fifo")?);
    let (normal, fifo) = (answers(normal_rounds), answers(fifo_rounds));
    if normal.counted == 0 || fifo.counted == 0 {
        return None;
    }
    let late = |rounds: &[&RoundRow]| -> BTreeMap<u32, f64> {
        let counted = rounds.iter().filter(|round| round.state == RoundState::Valid);
        counted.filter_map(|round| Some((round.block, failed(round)? / due(round)?))).collect()
    };
    let (with, without) = (late(fifo_rounds), late(normal_rounds));
    let saved: Vec<f64> = without.iter().filter_map(|(block, share)| Some(share - with.get(block)?)).collect();
    let mut loaded = Loaded {
        disturbance: levels.get("disturbance").and_then(Value::as_str).unwrap_or_default().to_owned(),
        delay_us: duration(levels, "delay").unwrap_or_default().as_secs_f64() * 1e6,
        normal,
        fifo,
        saved_share: mean(&saved, LEVEL),
        summary: String::new(),
    };
    loaded.summary = summary(&loaded);
    Some(loaded)
}

pub(super) fn is_loaded(levels: &Levels) -> bool {
    levels.get("disturbance").is_some_and(|disturbance| disturbance != "none")
}

fn number(round: &RoundRow, name: &str) -> Option<f64> {
    round.record.as_ref()?.result.get(name)?.as_f64()
}

fn due(round: &RoundRow) -> Option<f64> {
    Some(number(round, "answers")? + number(round, "unanswered").unwrap_or(0.0))
}

/// Those that were late or lost.
fn failed(round: &RoundRow) -> Option<f64> {
    let lost = ["unknown", "unanswered"].into_iter().filter_map(|name| number(round, name));
    Some(number(round, "late")? + lost.sum::<f64>())
}

fn answers(rounds: &[&RoundRow]) -> LoadedAnswers {
    let counted: Vec<&RoundRow> = rounds.iter().filter(|round| round.state == RoundState::Valid).copied().collect();
    let sum = |of: fn(&RoundRow) -> Option<f64>| counted.iter().filter_map(|round| of(round)).sum::<f64>() as u64;
    let all = merged(counted.iter().copied(), "/air_to_answer_ns");
    let us = |q: f64| all.quantile(q).map(|ns| ns as f64 / 1e3);
    LoadedAnswers { counted: counted.len(), answers: sum(due), late: sum(failed), p50_us: us(0.5), p99_9_us: us(0.999) }
}

fn summary(loaded: &Loaded) -> String {
    let words = |of: &LoadedAnswers| {
        let most = of.p99_9_us.map(|us| format!(", 99.9 % within {}", time(us * 1e-6))).unwrap_or_default();
        format!("{} of {} late{most}", of.late, of.answers)
    };
    let helps = match loaded.saved_share {
        Some(saved) if saved.low() > 0.0 => {
            let (low, high) = (percent(saved.low()), percent(saved.high().min(1.0)));
            format!("FIFO brings {} of the answers back in time ({low} to {high})", percent(saved.point()))
        }
        Some(saved) if saved.high() < 0.0 => "FIFO makes it worse here".to_owned(),
        _ if loaded.normal.late == 0 && loaded.fifo.late == 0 => "there is nothing to fix".to_owned(),
        _ => "these rounds do not show whether FIFO fixes it".to_owned(),
    };
    format!(
        "under load ({}), answers due after {}: {} at normal priority, {} with FIFO; {helps}",
        loaded.disturbance,
        time(loaded.delay_us * 1e-6),
        words(&loaded.normal),
        words(&loaded.fifo)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use takt_lab::store::{Record, testing};
    use takt_stats::{Histogram, Ns};

    fn round(block: u32, late: u64) -> RoundRow {
        let mut times = Histogram::<Ns>::default();
        (1..=100).for_each(|n| times.record_saturating(n * 10_000));
        let result = json!({ "answers": 100, "late": late, "air_to_answer_ns": times });
        testing::round(block, Record { result, ..Record::default() })
    }

    fn of(normal: &[u64], fifo: &[u64]) -> Option<Loaded> {
        let rows = |late: &[u64]| (0..).zip(late).map(|(block, &late)| round(block, late)).collect::<Vec<_>>();
        let (normal, fifo) = (rows(normal), rows(fifo));
        let settings = |policy: &str| {
            let all = [("policy", policy), ("disturbance", "busy:2x"), ("delay", "1ms")];
            all.into_iter().map(|(name, value)| (name.to_owned(), json!(value))).collect()
        };
        loaded(&[(settings("other"), normal.iter().collect()), (settings("fifo"), fifo.iter().collect())])
    }

    #[test]
    fn a_gain_is_stated_with_its_interval_and_only_if_it_is_sure() {
        let sure = of(&[20, 22, 18], &[0, 1, 0]).unwrap();
        assert_eq!((sure.normal.late, sure.normal.answers, sure.fifo.late), (60, 300, 1));
        assert!(sure.summary.contains("FIFO brings 20 % of the answers back in time"), "{}", sure.summary);
        let open = of(&[0, 30, 0], &[0, 1, 0]).unwrap();
        assert!(open.summary.contains("do not show"), "{}", open.summary);
        assert!(of(&[0, 0], &[0, 0]).unwrap().summary.contains("nothing to fix"));
        assert_eq!(of(&[1], &[]), None);
    }

    #[test]
    fn lost_answers_are_not_punctual() {
        let result = json!({ "answers": 60, "late": 0, "unknown": 50, "unanswered": 40, "air_to_answer_ns": null });
        let round = testing::round(1, Record { result, ..Record::default() });
        assert_eq!((due(&round), failed(&round)), (Some(100.0), Some(90.0)));
    }

    #[test]
    fn what_is_not_disturbed_is_no_answer_under_load() {
        let with = |value: &str| BTreeMap::from([("disturbance".to_owned(), json!(value))]);
        assert!(is_loaded(&with("busy:2x")) && !is_loaded(&with("none")) && !is_loaded(&BTreeMap::new()));
    }
}
