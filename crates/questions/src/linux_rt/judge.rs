//! Evidence on the paper's claims: intervals decide, never points.

use crate::check::CheckAnswer;
use takt_base::words::plural;
use takt_stats::FailureBound;

use super::{Case, LinuxRtOutcome};
use crate::study::Figure;
use crate::study::claim::Judged;
use crate::sweep::{Curve, Measure, all_above, all_below, surely_more, value};

pub(super) fn judge(number: u32, part: &str, outcome: &LinuxRtOutcome) -> Judged {
    let paper = &outcome.paper;
    let of = |disturbance, scheduling| outcome.case("cases", &[("disturbance", disturbance), ("policy", scheduling)]);
    match number {
        1 => one(of("none", "other"), part, |figure| all_below([figure], paper.number("few"))),
        2 => one(of("busy:2x", "other"), part, |figure| all_above([figure], paper.number("most"))),
        3 => one(of("busy:2x", "fifo"), part, |figure| all_above([figure], paper.number("few"))),
        4 => caps(outcome, part),
        5 => timers(outcome),
        6 => together(outcome, part, of("none", "other")),
        7 => best(outcome),
        _ => Judged::not_here("nothing judges this claim", ""),
    }
}

/// The timers of Figure 6 that a run was to measure.
pub(super) fn points(number: u32, outcome: &LinuxRtOutcome) -> Vec<String> {
    let timers: Vec<String> = match number {
        4 => outcome.figure_6.curves.iter().map(|curve| timer(&curve.name)).collect(),
        _ => Vec::new(),
    };
    if timers.is_empty() { vec!["every timer".to_owned()] } else { timers }
}

fn share(figure: &Figure) -> String {
    value(Measure::Share, figure)
}

fn one(case: Option<&Case>, what: &str, judge: impl Fn(&Figure) -> CheckAnswer) -> Judged {
    match case.filter(|case| case.failure.value.is_some()) {
        None => Judged::without(what, case.is_some_and(|case| !case.failure.rounds.is_empty())),
        Some(case) => Judged::new(judge(&case.failure), format!("{} failed", share(&case.failure))),
    }
}

/// At one timer: without a cap against the tightest.
fn caps(outcome: &LinuxRtOutcome, part: &str) -> Judged {
    let curve = outcome.figure_6.curves.iter().find(|curve| timer(&curve.name) == part);
    let mut spots = curve.into_iter().flat_map(Curve::measured);
    let (Some(tight), Some(free)) = (spots.next(), spots.last()) else {
        return not_of_figure_6(outcome, part);
    };
    let (loose, close) = (share(&free.figure), share(&tight.figure));
    let measured = format!("{loose} without a cap, {close} at {} %", tight.x);
    Judged::new(surely_more(&free.figure, &tight.figure), measured)
}

fn not_of_figure_6(outcome: &LinuxRtOutcome, what: &str) -> Judged {
    let spots = outcome.figure_6.curves.iter().flat_map(|curve| &curve.points);
    let tried = spots.into_iter().any(|spot| spot.figure.value.is_none() && !spot.figure.rounds.is_empty());
    Judged::without(what, tried)
}

/// Without a cap: the coarsest timer against the finest of the paper's.
fn timers(outcome: &LinuxRtOutcome) -> Judged {
    let at = |name: &str| outcome.figure_6.curve(name)?.measured().last().map(|spot| spot.figure.clone());
    let (Some(coarse), Some(fine)) = (at("128"), at("1024")) else {
        return not_of_figure_6(outcome, "128 and 1024 Hz");
    };
    let measured = format!("without a cap {} at 128 Hz, {} at 1024 Hz", share(&coarse), share(&fine));
    Judged::new(surely_more(&coarse, &fine), measured)
}

/// The part of claim 6 that is held against the undisturbed host of the same run.
const UNDISTURBED: &str = "not surely above an undisturbed host";

fn together(outcome: &LinuxRtOutcome, part: &str, undisturbed: Option<&Case>) -> Judged {
    let corner = outcome.figure_6.curve("1024").and_then(|curve| curve.measured().next());
    let Some(corner) = corner.filter(|spot| spot.x <= 10.0).map(|spot| &spot.figure) else {
        return not_of_figure_6(outcome, "10 % at 1024 Hz");
    };
    let failed = format!("{} failed at 10 % and 1024 Hz", share(corner));
    if part != UNDISTURBED {
        return Judged::new(all_below([corner], outcome.paper.number("few")), failed);
    }
    let judged = one(undisturbed, "the undisturbed host", |undisturbed| match surely_more(corner, undisturbed) {
        CheckAnswer::Holds => CheckAnswer::Fails,
        _ if corner.estimate.is_none() || undisturbed.estimate.is_none() => CheckAnswer::Unknown,
        _ => CheckAnswer::Holds,
    });
    match judged.measured.as_str() {
        "" => judged,
        measured => Judged { measured: format!("{failed}, undisturbed {measured}"), ..judged },
    }
}

/// By the upper bounds of both accounts, not by a mean.
fn best(outcome: &LinuxRtOutcome) -> Judged {
    let Some(best) = Best::of(outcome) else {
        let tried = outcome.case("best", &[]).is_some_and(|case| !case.all.rounds.is_empty());
        return Judged::without("the best measures in two rounds", tried);
    };
    let limit = best.limit;
    let answer = match (best.is_reached(), best.own.ratio > limit) {
        (true, _) => CheckAnswer::Holds,
        (_, true) => CheckAnswer::Fails,
        _ => CheckAnswer::Unknown,
    };
    let of = |bound: &FailureBound| {
        format!("{} of {} answers failed, so at most {:.5} do", bound.failures, bound.trials, bound.up_to)
    };
    let measured = format!(
        "under {}, because of this host {} (95 %, a cluster counted as 50 ms at most), with the excluded subframes ({}) {}; \
         the paper's best is {limit}",
        best.load(),
        of(&best.own),
        share(&best.case.excluded),
        of(&best.all)
    );
    Judged::new(answer, measured)
}

pub(super) struct Best<'a> {
    case: &'a Case,
    pub(super) own: FailureBound,
    pub(super) all: FailureBound,
    pub(super) limit: f64,
    cores: usize,
}

impl<'a> Best<'a> {
    pub(super) fn of(outcome: &'a LinuxRtOutcome) -> Option<Best<'a>> {
        let case = outcome.case("best", &[])?;
        let limit = outcome.paper.number("best");
        Some(Best { case, own: case.bound?, all: case.bound_all?, limit, cores: outcome.of.about.host.cores })
    }

    /// Both bounds lie below the paper's figure.
    pub(super) fn is_reached(&self) -> bool {
        self.own.up_to < self.limit && self.all.up_to < self.limit
    }

    /// Load beside it, counted from the processes that ran.
    pub(super) fn load(&self) -> String {
        match self.case.loops {
            Some(loops) => format!("{loops} endless loops on a machine of {}", plural(self.cores, "core")),
            None => "no load".to_owned(),
        }
    }
}

/// The name of a curve of Figure 6 in words.
pub(super) fn timer(name: &str) -> String {
    if name == "0" { "the kernel's own timers".into() } else { format!("{name} Hz") }
}

#[cfg(test)]
mod tests {
    use super::super::facts;
    use super::*;

    #[test]
    fn a_part_that_is_judged_by_its_name_is_named_in_the_file() {
        let named: Vec<String> = facts().claims.into_iter().flat_map(|claim| claim.parts).collect();
        assert_eq!(named.iter().filter(|part| *part == UNDISTURBED).count(), 1);
    }
}
