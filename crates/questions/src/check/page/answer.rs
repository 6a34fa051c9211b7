//! The answer: headline, what it rests on, what to change.

use std::fmt;

use crate::check::{
    self, CheckOutcome, FixKind, Format, Ground, HighestClean, Mode, NeedVerdict, RoundState, RoundTripPoint,
    RoundTripRound,
};
use takt_base::words::list;

use super::{rates, replies, waveforms, words};
use takt_page::{Finding, Fix, Reading, ReportAnswer, Unit, Verdict, count};

pub(super) fn verdict(outcome: &CheckOutcome, findings: &[Finding]) -> Verdict {
    let verdict = &outcome.verdict;
    Verdict {
        answer: verdict.answer.into(),
        headline: headline(outcome, &findings[verdict.needs.len()..]),
        summary: verdict.summary.clone(),
        also: verdict.also.clone(),
    }
}

/// The sum of the page: the needs that decide, and whatever else fails beside needs that hold.
fn headline(outcome: &CheckOutcome, beside: &[Finding]) -> String {
    let verdict = &outcome.verdict;
    let named = |answer| -> Vec<String> {
        verdict.needs.iter().filter(|n| n.answer == answer).map(|n| words::radio_at(&n.need)).collect()
    };
    match verdict.answer {
        check::CheckAnswer::Holds => {
            let fails = beside.iter().filter(|finding| finding.answer == ReportAnswer::No);
            let fails: String = fails.map(|f| format!("; {} fails: {}", f.subject, f.measured)).collect();
            format!("this host keeps up with {}{fails}.", list(&named(check::CheckAnswer::Holds)))
        }
        check::CheckAnswer::Fails => {
            let holds = named(check::CheckAnswer::Holds);
            let holds = if holds.is_empty() { String::new() } else { format!(" It keeps up with {}.", list(&holds)) };
            format!("{}{holds}", why_not(verdict))
        }
        check::CheckAnswer::Unknown => {
            let open = named(check::CheckAnswer::Unknown);
            let open = if open.is_empty() { "a radio: no rate was asked for".to_owned() } else { list(&open) };
            let ran = outcome.other_speed().map(|speed| format!(" The radio ran at {speed} of real time."));
            format!("whether this host keeps up with {open}.{}", ran.unwrap_or_default())
        }
    }
}

/// Why a host does not keep up, by what decided about the first need that fails.
fn why_not(verdict: &check::Verdict) -> String {
    let fails = || verdict.needs.iter().filter(|n| n.answer == check::CheckAnswer::Fails);
    let needs: Vec<String> = fails().map(|n| words::radio_at(&n.need)).collect();
    let fails_with = |ground| fails().find(|n| n.decided_by == ground);
    if let Some(n) = fails_with(Ground::BusyHost) {
        return format!("{}.", n.why);
    }
    if let Some(n) = fails_with(Ground::Stops).filter(|_| fails().all(|n| n.decided_by == Ground::Stops)) {
        let stream = words::stream(n.need.mode, n.need.format, n.need.rate_sps);
        return format!("{} of {stream}. A real {} does not stop with it.", n.why, n.need.model);
    }
    match fails_with(Ground::PartOfStream).filter(|_| needs.len() == 1) {
        Some(n) => format!("this host does not keep up with {}: {}.", list(&needs), n.why),
        None => format!("this host does not keep up with {}.", list(&needs)),
    }
}

/// The needs, then how fast an answer may be requested, then which slot is held.
pub(super) fn findings(outcome: &CheckOutcome) -> Vec<Finding> {
    let needs = outcome.verdict.needs.iter().map(|n| need(outcome, n));
    needs.chain(reply(outcome)).chain(waveforms::finding(outcome)).collect()
}

fn need(outcome: &CheckOutcome, n: &NeedVerdict) -> Finding {
    let rounds = words::plural(n.counted, "round");
    let measured = match (n.answer, n.lost_share) {
        (check::CheckAnswer::Fails, _) if n.decided_by != Ground::Rounds => n.why.clone(),
        (check::CheckAnswer::Holds, _) => format!("0 lost samples in {rounds}"),
        // Few rounds, of which some were clean: an interval down to nothing would read as if nothing was lost.
        (check::CheckAnswer::Fails, Some(share)) if share.low() <= 0.0 => {
            format!("{} of {rounds} not clean", n.counted - n.clean)
        }
        (check::CheckAnswer::Fails, Some(share)) => {
            format!("{} lost", Unit::SHARE.show_reading(&Reading::share(share)))
        }
        _ => n.why.clone(),
    };
    let of_need = |mode: Mode, format: Format| (mode, format) == (n.need.mode, n.need.format);
    let highest = outcome.verdict.highest.iter().find(|h| of_need(h.mode, h.format));
    Finding {
        answer: n.answer.into(),
        subject: words::need(&n.need),
        measured,
        margin: highest.filter(|_| n.decided_by == Ground::Rounds).map(|h| margin(n, h)).unwrap_or_default(),
        record: outcome
            .rates
            .iter()
            .find(|p| of_need(p.mode, p.format) && p.rate_sps == n.need.rate_sps)
            .map(rates::anchor),
    }
}

/// How far from the edge: headroom where it was measured at that very rate, else the highest clean rate.
fn margin(n: &NeedVerdict, highest: &HighestClean) -> String {
    match (highest.rate_sps, highest.headroom) {
        (None, _) => "no rate was clean".to_owned(),
        (Some(rate), Some(headroom)) if rate == n.need.rate_sps && n.answer == check::CheckAnswer::Holds => {
            format!("headroom {}", Unit::TIMES.show_reading(&headroom.into()))
        }
        (Some(rate), _) => format!("clean up to {}", words::rate(rate)),
    }
}

/// The shortest delay at and above which no answer was late, and no stop of this machine would have made one late; if there is none,
/// the longest that was tried.
fn reply(outcome: &CheckOutcome) -> Option<Finding> {
    let judged = outcome.round_trips.iter().map(|point| (point, Answers::of(point)));
    let mut judged: Vec<(&RoundTripPoint, Answers)> = judged.filter(|(_, answers)| answers.due > 0).collect();
    judged.sort_by(|a, b| a.0.delay_us.total_cmp(&b.0.delay_us));
    let stops_at =
        |point: &RoundTripPoint| outcome.stops.as_ref().filter(|stops| !stops.leave_time_for(point.delay_us));
    let fails = |(point, answers): &(&RoundTripPoint, Answers)| answers.late > 0 || stops_at(point).is_some();
    let clean_from = judged.iter().rposition(fails).map_or(0, |i| i + 1);
    let (point, answers) = judged.get(clean_from).or(judged.last())?;
    let delay = |p: &RoundTripPoint| words::time(p.delay_us);
    let below = clean_from.checked_sub(1).and_then(|i| judged.get(i)).filter(|(p, _)| p.delay_us < point.delay_us);
    let stopped = stops_at(point).filter(|_| answers.answer() != ReportAnswer::No);
    let at = outcome.other_speed().map(|speed| format!(" at {speed} of real time")).unwrap_or_default();
    let measured = match stopped {
        Some(stops) => format!("this machine stood still for up to {}", words::time(stops.longest_ms * 1e3)),
        None => format!("{answers} late{at}"),
    };
    Some(Finding {
        answer: if stopped.is_some() { ReportAnswer::No } else { answers.answer_of(outcome) },
        subject: format!("reply after {} at {}", delay(point), words::rate(point.rate_sps)),
        measured,
        margin: below.map(|(p, answers)| format!("after {}: {answers} late", delay(p))).unwrap_or_default(),
        record: Some(replies::anchor(point)),
    })
}

/// Answers of the rounds that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answers {
    due: u64,
    /// Those not in time.
    late: u64,
    /// Those not in time, and not for their radio's lateness.
    own_late: u64,
}

impl Answers {
    pub(super) fn of(point: &RoundTripPoint) -> Answers {
        let sum = |of: fn(&RoundTripRound) -> u64| {
            point.rounds.iter().filter(|r| r.state == RoundState::Valid).map(of).sum::<u64>()
        };
        Answers { due: sum(|r| r.answers), late: sum(|r| r.late), own_late: sum(RoundTripRound::own_late) }
    }

    /// The same of a check whose radio may have run at another speed than the wall's: then no answer was in time in real time.
    pub(super) fn answer_of(self, outcome: &CheckOutcome) -> ReportAnswer {
        let answer = self.answer();
        if outcome.other_speed().is_some() && answer == ReportAnswer::Yes { ReportAnswer::Unknown } else { answer }
    }

    /// "Yes" and "no" are for what holds both for all answers and for those that a late radio did not spoil.
    pub(super) fn answer(self) -> ReportAnswer {
        match self {
            Answers { due: 0, .. } => ReportAnswer::Unknown,
            Answers { late: 0, .. } => ReportAnswer::Yes,
            Answers { own_late: 0, .. } => ReportAnswer::Unknown,
            _ => ReportAnswer::No,
        }
    }
}

impl fmt::Display for Answers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of {}", count(self.late), count(self.due))?;
        match self.late - self.own_late {
            0 => Ok(()),
            excluded => write!(f, " ({} while the radio was late)", count(excluded)),
        }
    }
}

pub(super) fn fix(fix: &check::Fix) -> Fix {
    Fix {
        what: fix.what.clone(),
        gain: fix.gain.clone(),
        how: fix.how.clone(),
        is_command: fix.kind != FixKind::Advice,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_that_only_a_late_radio_spoilt_are_neither_yes_nor_no() {
        let said = |due, late, own_late| {
            let answers = Answers { due, late, own_late };
            (answers.answer(), answers.to_string())
        };
        assert_eq!(said(400, 0, 0), (ReportAnswer::Yes, "0 of 400".to_owned()));
        assert_eq!(said(400, 3, 3), (ReportAnswer::No, "3 of 400".to_owned()));
        assert_eq!(said(400, 3, 1), (ReportAnswer::No, "3 of 400 (2 while the radio was late)".to_owned()));
        assert_eq!(said(400, 3, 0), (ReportAnswer::Unknown, "3 of 400 (3 while the radio was late)".to_owned()));
        assert_eq!(said(0, 0, 0).0, ReportAnswer::Unknown);
    }
}
