//! The answer: headline, what it rests on, what to change.

use takt_lab::check::{self, FixKind, HighestClean, NeedVerdict, Outcome, RoundState, RoundTripPoint};

use super::{rates, replies, waveforms, words};
use crate::figure::Reading;
use crate::{Answer, Finding, Fix, Unit, Verdict, count};

impl From<check::Answer> for Answer {
    fn from(answer: check::Answer) -> Self {
        match answer {
            check::Answer::Holds => Self::Yes,
            check::Answer::Fails => Self::No,
            check::Answer::Unknown => Self::Unknown,
        }
    }
}

pub(super) fn verdict(verdict: &check::Verdict) -> Verdict {
    Verdict {
        answer: verdict.answer.into(),
        headline: headline(verdict),
        says: verdict.says.clone(),
        also: verdict.also.clone(),
    }
}

/// Names the needs that decide: those that fail, else those that could not be judged, else all.
fn headline(verdict: &check::Verdict) -> String {
    let deciding = verdict.needs.iter().filter(|n| n.answer == verdict.answer);
    let needs: Vec<String> = deciding.map(|n| words::radio_at(&n.need)).collect();
    let needs = if needs.is_empty() { "the rates that were measured".to_owned() } else { words::list(&needs) };
    match verdict.answer {
        check::Answer::Holds => format!("this host keeps up with {needs}."),
        check::Answer::Fails => format!("this host does not keep up with {needs}."),
        check::Answer::Unknown => format!("whether this host keeps up with {needs}."),
    }
}

/// The needs, then how fast an answer may be asked for, then which slot is held.
pub(super) fn findings(outcome: &Outcome) -> Vec<Finding> {
    let needs = outcome.verdict.needs.iter().map(|n| need(outcome, n));
    needs.chain(reply(&outcome.round_trips)).chain(waveforms::finding(outcome)).collect()
}

fn need(outcome: &Outcome, n: &NeedVerdict) -> Finding {
    let rounds = words::plural(n.counted, "round");
    let measured = match (n.answer, n.lost_share) {
        (check::Answer::Holds, _) => format!("0 lost samples in {rounds}"),
        // Few rounds, of which some were clean: an interval down to nothing would read as if nothing was lost.
        (check::Answer::Fails, Some(share)) if share.low() <= 0.0 => {
            format!("{} of {rounds} not clean", n.counted - n.clean)
        }
        (check::Answer::Fails, Some(share)) => {
            format!("{} lost", Unit::SHARE.show_reading(&Reading::share(share)))
        }
        _ => n.why.clone(),
    };
    let same = |h: &&HighestClean| h.mode == n.need.mode && h.format == n.need.format;
    let highest = outcome.verdict.highest.iter().find(same);
    Finding {
        answer: n.answer.into(),
        subject: words::need(&n.need),
        measured,
        margin: highest.map(|h| margin(n, h)).unwrap_or_default(),
        record: outcome
            .rates
            .iter()
            .find(|p| p.mode == n.need.mode && p.format == n.need.format && p.rate_sps == n.need.rate_sps)
            .map(rates::anchor),
    }
}

/// How far from the edge: headroom where it was measured at that very rate, else the highest clean rate.
fn margin(n: &NeedVerdict, highest: &HighestClean) -> String {
    match (highest.rate_sps, highest.headroom) {
        (None, _) => "no rate was clean".to_owned(),
        (Some(rate), Some(headroom)) if rate == n.need.rate_sps && n.answer == check::Answer::Holds => {
            format!("headroom {}", Unit::TIMES.show_reading(&headroom.into()))
        }
        (Some(rate), _) => format!("clean up to {}", words::rate(rate)),
    }
}

/// The shortest delay at which no answer was late; if there is none, the longest that was tried.
fn reply(points: &[RoundTripPoint]) -> Option<Finding> {
    let mut judged: Vec<(&RoundTripPoint, u64, u64)> = points.iter().filter_map(totals).collect();
    judged.sort_by(|a, b| a.0.delay_us.total_cmp(&b.0.delay_us));
    let clean_from = judged.iter().rposition(|(_, late, _)| *late > 0).map_or(0, |i| i + 1);
    let (point, late, answers) = judged.get(clean_from).or(judged.last())?;
    let delay = |p: &RoundTripPoint| Unit::SECONDS.show(p.delay_us * 1e-6, 3);
    let below = clean_from.checked_sub(1).and_then(|i| judged.get(i)).filter(|(p, ..)| p.delay_us < point.delay_us);
    Some(Finding {
        answer: if *late == 0 { Answer::Yes } else { Answer::No },
        subject: format!("answer after {} at {}", delay(point), words::rate(point.rate_sps)),
        measured: format!("{} of {} late", count(*late), count(*answers)),
        margin: below
            .map(|(p, late, answers)| format!("after {}: {} of {} late", delay(p), count(*late), count(*answers)))
            .unwrap_or_default(),
        record: Some(replies::anchor(point)),
    })
}

/// Late answers and all answers of the rounds that count; `None` without one.
fn totals(point: &RoundTripPoint) -> Option<(&RoundTripPoint, u64, u64)> {
    let rounds = || point.rounds.iter().filter(|r| r.state == RoundState::Valid);
    let answers: u64 = rounds().map(|r| r.answers).sum();
    (answers > 0).then(|| (point, rounds().map(|r| r.late).sum(), answers))
}

pub(super) fn fix(fix: &check::Fix) -> Fix {
    Fix {
        what: fix.what.clone(),
        gain: fix.gain.clone(),
        how: fix.how.clone(),
        is_command: fix.kind != FixKind::Advice,
    }
}
