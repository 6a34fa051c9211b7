//! What is seen of the paper's claims: intervals decide, never points.

use super::{Case, Outcome};
use crate::check::Answer;
use crate::paper::Figure;
use crate::paper::claim::Claim;
use crate::paper::sweep::{Judged, Measure, all_above, all_below, surely_more, value};

pub(super) fn claims(outcome: &Outcome) -> Vec<Claim> {
    let claim = |claim: &crate::paper::sweep::ClaimFacts| {
        let Judged { answer, seen } = judge(claim.number, outcome);
        Claim { number: claim.number, claim: claim.says.clone(), answer, covered: true, seen }
    };
    outcome.paper.claims.iter().map(claim).collect()
}

fn judge(number: u32, outcome: &Outcome) -> Judged {
    let paper = &outcome.paper;
    let of =
        |disturbance, scheduling| outcome.case("cases", &[("disturbance", disturbance), ("scheduling", scheduling)]);
    match number {
        1 => one(of("none", "other"), "the undisturbed host", |all| all_below([all], paper.number("few"))),
        2 => one(of("busy:2x", "other"), "the disturbed host", |all| all_above([all], paper.number("most"))),
        3 => one(of("busy:2x", "fifo"), "priority alone", |all| all_above([all], paper.number("few"))),
        4 => caps(outcome),
        5 => timers(outcome),
        6 => together(outcome),
        7 => best(outcome),
        _ => Judged::new(Answer::Unknown, "nothing judges this claim"),
    }
}

fn told(figure: &Figure) -> String {
    value(Measure::Share, figure)
}

fn one(case: Option<&Case>, what: &str, judge: impl Fn(&Figure) -> Answer) -> Judged {
    match case.filter(|case| case.failure.value.is_some()) {
        None => Judged::not_run(what),
        Some(case) => Judged::new(judge(&case.failure), format!("{} failed", told(&case.failure))),
    }
}

/// At each timer: without a cap against the tightest.
fn caps(outcome: &Outcome) -> Judged {
    let mut answers = Vec::new();
    let mut seen = Vec::new();
    for curve in &outcome.figure_6.curves {
        let mut spots = curve.measured();
        let (Some(tight), Some(free)) = (spots.next(), spots.last()) else { continue };
        answers.push(surely_more(&free.figure, &tight.figure));
        let (loose, close) = (told(&free.figure), told(&tight.figure));
        seen.push(format!("{}: {loose} without a cap, {close} at {} %", timer(&curve.name), tight.x));
    }
    Judged::new(every(&answers), seen.join("; "))
}

/// Without a cap: the coarsest timer against the finest of the paper's.
fn timers(outcome: &Outcome) -> Judged {
    let at = |name: &str| outcome.figure_6.curve(name)?.measured().last().map(|spot| spot.figure.clone());
    let (Some(coarse), Some(fine)) = (at("128"), at("1024")) else { return Judged::not_run("128 and 1024 Hz") };
    let seen = format!("without a cap {} at 128 Hz, {} at 1024 Hz", told(&coarse), told(&fine));
    Judged::new(surely_more(&coarse, &fine), seen)
}

fn together(outcome: &Outcome) -> Judged {
    let corner = outcome.figure_6.curve("1024").and_then(|curve| curve.measured().next());
    let Some(corner) = corner.filter(|spot| spot.x <= 10.0) else { return Judged::not_run("10 % at 1024 Hz") };
    let answer = all_below([&corner.figure], outcome.paper.number("few"));
    Judged::new(answer, format!("{} failed at 10 % and 1024 Hz", told(&corner.figure)))
}

/// By the upper bound of the rounds, not by their mean.
fn best(outcome: &Outcome) -> Judged {
    let limit = outcome.paper.number("best");
    let best = outcome.case("best", &[]);
    let Some((case, bound)) = best.and_then(|case| Some((case, case.bound?))) else {
        return Judged::not_run("the best measures in two rounds");
    };
    let answer = match (bound.up_to < limit, bound.ratio > limit) {
        (true, _) => Answer::Holds,
        (_, true) => Answer::Fails,
        _ => Answer::Unknown,
    };
    let seen = format!(
        "{} of {} answers failed under four times more loops than cores, so at most {:.5} do (95 %), where the paper's best is \
         {limit}; {} of the subframes were set aside, with them {} failed",
        bound.failures,
        bound.trials,
        bound.up_to,
        told(&case.aside),
        told(&case.all)
    );
    Judged::new(answer, seen)
}

/// The name of a curve of Figure 6 in words.
pub(super) fn timer(name: &str) -> String {
    if name == "0" { "the kernel's own timers".into() } else { format!("{name} Hz") }
}

/// All must; one that surely is the other way round decides against.
fn every(answers: &[Answer]) -> Answer {
    match answers {
        [] => Answer::Unknown,
        all if all.contains(&Answer::Fails) => Answer::Fails,
        all if all.contains(&Answer::Unknown) => Answer::Unknown,
        _ => Answer::Holds,
    }
}
