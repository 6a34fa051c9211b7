//! Answers: how long they take, and how many are late.

use crate::check::{CheckOutcome, RoundTripPoint, RoundTripRound};

use super::{HOW_MEANS, lines, point, source};
use crate::check::page::words::time;
use takt_page::Unit;
use takt_page::{Axis, Figure, Look, Point, Reading, Series};

/// Distribution of the time to an answer, and late answers against the requested delay.
pub(in crate::check::page) fn replies(outcome: &CheckOutcome) -> Vec<Figure> {
    let points: Vec<&RoundTripPoint> = outcome.round_trips.iter().filter(|p| !p.ecdf_us.is_empty()).collect();
    let mut figures = Vec::new();
    if !points.is_empty() {
        figures.push(latency(outcome, &points));
    }
    if outcome.round_trips.iter().any(|p| !p.rounds.is_empty()) {
        figures.push(late(outcome));
    }
    figures
}

fn latency(outcome: &CheckOutcome, points: &[&RoundTripPoint]) -> Figure {
    let series = |(slot, p): (usize, &&RoundTripPoint)| Series {
        name: format!("after {}", time(p.delay_us)),
        look: Look::Step,
        slot,
        points: p
            .ecdf_us
            .iter()
            .map(|&(us, share)| Point { x: us * 1e-6, y: Some(Reading::alone(share)), rounds: Vec::new() })
            .collect(),
    };
    // the same six colours would come again: the shortest delays decide
    let shown = points.iter().take(takt_page::SLOTS).enumerate();
    let finding = points.first().and_then(|p| {
        let reach = |q: f64| p.ecdf_us.iter().find(|(_, share)| *share >= q).map(|(us, _)| time(*us));
        Some(format!("Half of the answers are ready after {}, 99.9 % after {}", reach(0.5)?, reach(0.999)?))
    });
    Figure {
        id: "latency".into(),
        finding: finding.unwrap_or_else(|| "Time until an answer is ready".into()),
        how_to_read:
            "The share of answers that were ready by then. Each further nine takes the same height, because the last \
                      answers in a thousand are those that come too late."
                .into(),
        x: Axis::log("time from the sample to its answer", Unit::SECONDS),
        y: Axis::nines("answers ready by then"),
        series: shown.map(series).collect(),
        source: source(outcome, "all answers of the rounds that count, by requested delay"),
        ..Figure::default()
    }
}

fn late(outcome: &CheckOutcome) -> Figure {
    let share = RoundTripRound::late_share;
    let at = |p: &RoundTripPoint| {
        let rounds = p.rounds.iter().map(|r| (r.state, r.round_id, share(r)));
        point(p.delay_us * 1e-6, p.late_share.map(Reading::share), rounds)
    };
    let series =
        lines([("late answers", outcome.round_trips.iter().filter(|p| !p.rounds.is_empty()).map(at).collect())]);
    let points = series.iter().flat_map(|line| &line.points).collect::<Vec<_>>();
    let clean = points.iter().rposition(|p| p.rounds.iter().any(|d| d.counts && d.y > 0.0)).map_or(0, |i| i + 1);
    let show = |seconds: f64| Unit::SECONDS.show(seconds, 3);
    let finding = match (points.get(clean), clean.checked_sub(1).and_then(|i| points.get(i))) {
        (Some(p), Some(worse)) => {
            let lost = worse.y.map(|r| Unit::SHARE.show(r.point, 2)).unwrap_or_default();
            format!("No answer was late from {} on; at {}, {lost} were", show(p.x), show(worse.x))
        }
        (Some(p), None) => format!("No answer was late, from {} on", show(p.x)),
        (None, _) => "Answers were late at every delay that was tried".to_owned(),
    };
    Figure {
        id: "late".into(),
        finding,
        how_to_read: format!("{HOW_MEANS} Zero has a place of its own, below the break."),
        x: Axis::log("requested delay", Unit::SECONDS).with_ticks(points.iter().map(|p| p.x).collect::<Vec<_>>()),
        y: Axis::log_and_zero("share of answers late", Unit::SHARE),
        series,
        source: source(outcome, "answers the radio called late over all answers, by round of the answers"),
        ..Figure::default()
    }
}
