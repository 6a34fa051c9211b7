//! What is seen of the paper's claims: intervals decide, never points.

use takt_base::words::plural;
use takt_lab::check::Answer;
use takt_stats::FailureBound;

use super::{Case, Outcome};
use crate::Figure;
use crate::claim::every;
use crate::sweep::{Judged, Measure, all_above, all_below, surely_more, value};

pub(super) fn judge(number: u32, outcome: &Outcome) -> Judged {
    let paper = &outcome.paper;
    let of = |disturbance, scheduling| outcome.case("cases", &[("disturbance", disturbance), ("policy", scheduling)]);
    match number {
        1 => one(of("none", "other"), "the undisturbed host", |figure| all_below([figure], paper.number("few"))),
        2 => one(of("busy:2x", "other"), "the disturbed host", |figure| all_above([figure], paper.number("most"))),
        3 => one(of("busy:2x", "fifo"), "priority alone", |figure| all_above([figure], paper.number("few"))),
        4 => caps(outcome),
        5 => timers(outcome),
        6 => together(outcome, of("none", "other")),
        7 => best(outcome),
        _ => Judged::new(Answer::Unknown, "nothing judges this claim"),
    }
}

fn share(figure: &Figure) -> String {
    value(Measure::Share, figure)
}

fn one(case: Option<&Case>, what: &str, judge: impl Fn(&Figure) -> Answer) -> Judged {
    match case.filter(|case| case.failure.value.is_some()) {
        None => Judged::not_run(what),
        Some(case) => Judged::new(judge(&case.failure), format!("{} failed", share(&case.failure))),
    }
}

/// At each timer: without a cap against the tightest.
fn caps(outcome: &Outcome) -> Judged {
    let mut answers = Vec::new();
    let mut measured = Vec::new();
    for curve in &outcome.figure_6.curves {
        let mut spots = curve.measured();
        let (Some(tight), Some(free)) = (spots.next(), spots.last()) else { continue };
        answers.push(surely_more(&free.figure, &tight.figure));
        let (loose, close) = (share(&free.figure), share(&tight.figure));
        measured.push(format!("{}: {loose} without a cap, {close} at {} %", timer(&curve.name), tight.x));
    }
    Judged::new(every(answers), measured.join("; "))
}

/// Without a cap: the coarsest timer against the finest of the paper's.
fn timers(outcome: &Outcome) -> Judged {
    let at = |name: &str| outcome.figure_6.curve(name)?.measured().last().map(|spot| spot.figure.clone());
    let (Some(coarse), Some(fine)) = (at("128"), at("1024")) else { return Judged::not_run("128 and 1024 Hz") };
    let measured = format!("without a cap {} at 128 Hz, {} at 1024 Hz", share(&coarse), share(&fine));
    Judged::new(surely_more(&coarse, &fine), measured)
}

/// Against the undisturbed host of the same run.
fn together(outcome: &Outcome, undisturbed: Option<&Case>) -> Judged {
    let corner = outcome.figure_6.curve("1024").and_then(|curve| curve.measured().next());
    let corner = corner.filter(|spot| spot.x <= 10.0).map(|spot| &spot.figure);
    let undisturbed = undisturbed.map(|case| &case.failure).filter(|figure| figure.value.is_some());
    let Some((corner, undisturbed)) = corner.zip(undisturbed) else {
        return Judged::not_run("10 % at 1024 Hz beside the undisturbed host");
    };
    let few = all_below([corner], outcome.paper.number("few"));
    let answer = if surely_more(corner, undisturbed) == Answer::Holds { Answer::Fails } else { few };
    let measured = format!("{} failed at 10 % and 1024 Hz, {} undisturbed", share(corner), share(undisturbed));
    Judged::new(answer, measured)
}

/// By the upper bounds of both accounts, not by a mean.
fn best(outcome: &Outcome) -> Judged {
    let Some(best) = Best::of(outcome) else { return Judged::not_run("the best measures in two rounds") };
    let limit = best.limit;
    let answer = match (best.is_reached(), best.own.ratio > limit) {
        (true, _) => Answer::Holds,
        (_, true) => Answer::Fails,
        _ => Answer::Unknown,
    };
    let of = |bound: &FailureBound| {
        format!("{} of {} answers failed, so at most {:.5} do", bound.failures, bound.trials, bound.up_to)
    };
    let measured = format!(
        "under {}, on this host's account {} (95 %, a cluster taken for 50 ms at most), with all that is set aside ({}) {}; \
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
    pub(super) fn of(outcome: &'a Outcome) -> Option<Best<'a>> {
        let case = outcome.case("best", &[])?;
        let limit = outcome.paper.number("best");
        Some(Best { case, own: case.bound?, all: case.bound_all?, limit, cores: outcome.of.about.host.cores })
    }

    /// Both bounds lie below the paper's figure.
    pub(super) fn is_reached(&self) -> bool {
        self.own.up_to < self.limit && self.all.up_to < self.limit
    }

    /// What ran beside it, counted from the processes that did.
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
