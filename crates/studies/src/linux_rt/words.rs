//! The sentences of the study.

use std::collections::BTreeMap;

use takt_base::shown::time;
use takt_base::words::{plural, sentence};
use takt_lab::check::Answer;
use takt_lab::summary::FEW_ROUNDS;
use takt_stats::contrast;

use super::claims::Best;
use super::{Case, EffectFacts, Outcome, StageFacts, TraceFacts, claims, why};
use crate::Figure;
use crate::sweep::{Measure, apart, value};

/// What was seen.
pub(super) fn says(outcome: &Outcome) -> Vec<String> {
    let mut says: Vec<String> = Vec::new();
    let effects = |order: fn(usize) -> bool| outcome.effects.iter().filter(move |e| order(e.measures.len()));
    let buys: Vec<String> = effects(|n| n == 1).map(bought).collect();
    if !buys.is_empty() {
        says.push(format!("of the answers under four loops a core, {}", buys.join("; ")));
    }
    says.extend(not_had(outcome));
    let together: Vec<String> = effects(|n| n > 1).filter(|e| is_sure(e)).map(bought).collect();
    if !together.is_empty() {
        says.push(format!("beyond what each does alone: {}", together.join("; ")));
    }
    says.extend(by_slot(outcome));
    says.extend(ticks_alone(outcome));
    says.extend(cap_on_ordinary(outcome));
    says.extend(cap_on_prioritised(outcome));
    says.extend(asleep(outcome));
    says.extend(who(outcome));
    says.extend(both_counts(outcome));
    says.extend(unexplained(outcome));
    says.iter().map(|words| sentence(words)).collect()
}

/// Whether the requested bound was reached, or why there is none: the first thing to know, after "yes" or "no".
pub(super) fn goal(outcome: &Outcome) -> String {
    let limit = outcome.paper.number("best");
    let Some(best) = Best::of(outcome) else {
        let missing = "two rounds with the best measures are missing.";
        return match outcome.of.answer {
            Answer::Holds => {
                format!("what could be judged here holds, but not whether the paper's {limit} is reached: {missing}")
            }
            _ => format!("the paper's {limit} is not reached here: there is no bound, since {missing}"),
        };
    };
    let (own, all, load) = (best.own.up_to, best.all.up_to, best.load());
    let on = format!(
        "under {load}, at most {own:.5} of the answers fail on this host's account and {all:.5} altogether (95 %)."
    );
    // It follows the answer over all claims.
    let but = match (outcome.of.answer, outcome.of.about.complete) {
        (Answer::Holds, _) => "",
        (Answer::Unknown, false) => "the run was interrupted, but ",
        _ => "not every claim was seen, but ",
    };
    match best.is_reached() {
        true => format!("{but}the paper's {limit} is reached here: with the best measures, {on}"),
        false => format!("the paper's {limit} is not reached here: with the best measures, {on}"),
    }
}

fn not_had(outcome: &Outcome) -> Option<String> {
    let measures = &outcome.measures_not_had;
    (!measures.is_empty()).then(|| {
        let why = outcome.cases.iter().filter(|case| case.part == "measures").find_map(|case| case.skipped.clone());
        let why = why.map_or(String::new(), |why| format!(": {why}"));
        format!("what {} buys could not be measured here{why}", measures.join(" and "))
    })
}

/// The share of a case's answers that failed, with its interval.
fn failed(case: &Case) -> String {
    value(Measure::Share, &case.failure)
}

/// Two cases beside each other; where no decimals tell their shares apart, that is what is stated.
fn against(a: &Case, b: &Case, words: impl Fn(&str, &str) -> String) -> String {
    match apart(Measure::Share, &a.failure, &b.failure) {
        Some([a, b]) => words(&a, &b),
        None => format!("in either case {} failed", failed(a)),
    }
}

fn is_sure(effect: &EffectFacts) -> bool {
    effect.estimate.low() > 0.0 || effect.estimate.high() < 0.0
}

fn bought(effect: &EffectFacts) -> String {
    let e = effect.estimate;
    let (verb, sure) = match (e.point() < 0.0, is_sure(effect)) {
        (true, true) => ("saves", ""),
        (false, true) => ("costs", ""),
        _ => ("changes", ", which may be nothing"),
    };
    let points = |value: f64| format!("{:.2}", value.abs() * 100.0);
    let interval = match (e.low() < 0.0, e.high() < 0.0) {
        (true, true) => format!("{} to {}", points(e.high()), points(e.low())),
        (true, false) => format!("-{} to +{}", points(e.low()), points(e.high())),
        (false, _) => format!("{} to {}", points(e.low()), points(e.high())),
    };
    let who = effect.measures.join(" and ");
    format!("{who} {verb} {} % ({interval}){sure}", points(e.point()))
}

/// What it buys to hand samples over as they come, and what cores do when idle besides; everything else being alike.
fn by_slot(outcome: &Outcome) -> Option<String> {
    let alike = [("disturbance", "busy:4x"), ("policy", "fifo"), ("cores", "any"), ("cap", "none")];
    let whole = outcome.case("measures", &alike)?;
    let slots = outcome.case("best", &[("handover", "slot")])?;
    let physical_us = |case: &Case| case.stages.iter().find(|stage| stage.name == "physical")?.p50_us;
    Some(format!(
        "a physical layer that is given each slot as it comes has {} of work left when the last samples are in, instead of \
         {}; so, and with cores that {} when idle, {}",
        time(physical_us(slots)? * 1e-6),
        time(physical_us(whole)? * 1e-6),
        slots.level("idle").unwrap_or_else(|| "sleep".to_owned()),
        against(slots, whole, |a, b| format!("{a} failed instead of {b}"))
    ))
}

/// What the timers of Figure 6 cost with nothing to disturb.
fn ticks_alone(outcome: &Outcome) -> Option<String> {
    let cases = outcome.cases.iter().filter(|case| case.part == "timers" && case.failure.value.is_some());
    let timer = |case: &Case| claims::timer(&case.level("tick_hz").unwrap_or_default());
    let each: Vec<String> = cases.map(|case| format!("{} with {}", failed(case), timer(case))).collect();
    (!each.is_empty()).then(|| {
        format!(
            "without any load the timers of Figure 6 let fail: {}; a tick of 1024 Hz ends a sleep up to 0.98 ms late, and 0.75 ms \
             are left when the samples are in",
            each.join(", ")
        )
    })
}

/// Whether a cap on the disturbance helps or harms processes without a priority.
fn cap_on_ordinary(outcome: &Outcome) -> Option<String> {
    let free = outcome.case("why", &[("cap", "none")])?;
    let capped: Vec<&Case> =
        outcome.cases.iter().filter(|c| c.part == "why" && c.level("cap") != free.level("cap")).collect();
    let does = does(free, &capped)?;
    let at = |case: &&Case| format!("{} at {} %", failed(case), case.level("cap").unwrap_or_default());
    let capped = capped.iter().map(at).collect::<Vec<_>>().join(", ");
    let free = failed(free);
    Some(format!("a cap on the disturbance {does} ordinary processes here: {free} failed without, {capped}"))
}

/// The same for processes with a priority, on cores that they share with the disturbance, and what took longer.
fn cap_on_prioritised(outcome: &Outcome) -> Option<String> {
    let with = |cap| outcome.case("measures", &[("policy", "fifo"), ("cores", "any"), ("cap", cap)]);
    let (free, capped) = (with("none")?, with("10")?);
    let does = does(free, &[capped])?;
    let pairs = free.stages.iter().zip(&capped.stages);
    let grew = pairs.filter_map(|(a, b)| Some((b.p99_9_us? - a.p99_9_us?, a, b))).max_by(|a, b| a.0.total_cmp(&b.0));
    let (_, before, after) = grew?;
    let us = |stage: &StageFacts| Some(format!("{} and {}", time(stage.p50_us? * 1e-6), time(stage.p99_9_us? * 1e-6)));
    Some(format!(
        "it {does} processes with a priority on the same cores: {}; what grew most is the stage \
         {}, in which 50 and 99.9 % of the answers are for up to {} without, {} with it",
        against(free, capped, |a, b| format!("{a} failed without, {b} at 10 %")),
        before.name,
        us(before)?,
        us(after)?
    ))
}

/// What it is worth that idle cores do not sleep.
fn asleep(outcome: &Outcome) -> Option<String> {
    let of = |disturbance: &str, words: &str| {
        let with = |idle| outcome.case("idle", &[("disturbance", disturbance), ("idle", idle)]);
        let of = |a: &str, b: &str| format!("{a} failed with cores that sleep when idle, {b} with cores that poll");
        Some(format!("{words} {}", against(with("sleep")?, with("poll")?, of)))
    };
    let (free, loaded) = (of("none", "undisturbed")?, of("busy:4x", "under loops capped at 10 %")?);
    Some(format!("with priority, {free}; {loaded}"))
}

/// Whether fewer answers fail in these cases than without.
fn does(free: &Case, with: &[&Case]) -> Option<&'static str> {
    let counted =
        |figure: &Figure| -> Vec<f64> { figure.rounds.iter().filter(|r| r.counts).map(|r| r.value).collect() };
    let all: Vec<f64> = with.iter().flat_map(|case| counted(&case.failure)).collect();
    let change = contrast(&counted(&free.failure), &all, 0.95)?;
    Some(match (change.is_change(), change.estimate().point()) {
        (false, _) => "neither surely helps nor surely harms",
        (true, point) if point < change_free(&change) => "helps",
        _ => "harms",
    })
}

fn change_free(change: &takt_stats::Contrast) -> f64 {
    match change {
        takt_stats::Contrast::Ratio { .. } => 1.0,
        _ => 0.0,
    }
}

/// Which processes the worst answers waited for, without a cap and with one.
fn who(outcome: &Outcome) -> Vec<String> {
    let limit_ms = outcome.paper.number("limit_ms");
    let of = |capped: bool| {
        let shown = outcome.traces.iter().filter(|trace| (trace.cap != "none") == capped && trace.hidden.is_none());
        let traces: Vec<TraceFacts> = shown.cloned().collect();
        let late = traces.iter().filter(|trace| trace.total_ms > limit_ms).count();
        let culprits = why::culprits(&traces, limit_ms);
        let all: f64 = culprits.iter().map(|(_, ms, _)| ms).sum();
        let names: Vec<String> = culprits
            .iter()
            .filter(|(_, ms, _)| *ms >= all / 100.0)
            .take(3)
            .map(|(name, ms, longest)| format!("{name} {:.0} % (up to {longest:.1} ms in a turn)", ms / all * 100.0))
            .collect();
        let with = if capped { "with a cap" } else { "without a cap" };
        (!names.is_empty()).then(|| {
            format!(
                "{with}, {late} of {} traced rounds have a late answer; the core on which the worst waited was meanwhile used by {}",
                traces.len(),
                names.join(", ")
            )
        })
    };
    [false, true].into_iter().filter_map(of).collect()
}

/// The host's count of late answers beside the radio's.
fn both_counts(outcome: &Outcome) -> Option<String> {
    let mean = |of: fn(&Case) -> Option<f64>| {
        let values: Vec<f64> = outcome.cases.iter().filter_map(of).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let (host, radio) = (mean(|case| case.all.value)?, mean(|case| case.radio_late.value)?);
    Some(format!(
        "over all points and subframes {:.2} % failed by this host's clock; the radio called {:.2} % late (those never given it can't know)",
        host * 100.0,
        radio * 100.0
    ))
}

fn unexplained(outcome: &Outcome) -> Option<String> {
    let undecoded = outcome.cases.iter().filter(|case| case.decoded.value.is_some_and(|share| share < 1.0)).count();
    (undecoded > 0)
        .then(|| format!("at {undecoded} points some blocks were not decoded: they were answered with NACK, and count"))
}

pub(super) fn warnings(outcome: &Outcome) -> Vec<String> {
    let mut warnings = Vec::new();
    let measured = || outcome.cases.iter().filter(|case| case.failure.value.is_some());
    let few = measured().filter(|case| case.failure.counted() < FEW_ROUNDS).count();
    if few > 0 {
        let all = measured().count();
        warnings
            .push(format!("{few} of {all} points rest on fewer than {FEW_ROUNDS} rounds: their intervals are wide"));
    }
    let rounds = &outcome.of.rounds;
    let (not, ran) = (rounds.disturbed + rounds.emulator_late, rounds.valid + rounds.disturbed + rounds.emulator_late);
    if not > 0 {
        warnings.push(format!(
            "{not} of {ran} rounds do not count: in {} the host had other work, in {} the radio was late itself",
            rounds.disturbed, rounds.emulator_late
        ));
    }
    if rounds.failed > 0 {
        let words = plural(rounds.failed, "round");
        warnings.push(format!("{words} could not be run, and stand with every answer failed"));
    }
    let excluded: Vec<f64> = measured().filter_map(|case| case.excluded.value).collect();
    if excluded.iter().any(|&share| share > 0.0) {
        let mean = excluded.iter().sum::<f64>() / excluded.len() as f64;
        let all = |of: fn(&Case) -> f64| measured().filter(|case| case.unwatched.is_none()).map(of).sum::<f64>();
        warnings.push(format!(
            "{:.1} % of the subframes were set aside, however they ended: the radio sent their samples late, or the hypervisor \
             stopped a core before their limit (for {:.0} ms in all, while the kernel says that {:.0} ms were stolen)",
            mean * 100.0,
            all(|case| case.stalls_ms),
            all(|case| case.steal_ms)
        ));
    }
    warnings.iter().map(|words| sentence(words)).collect()
}

pub(super) fn does_not_say(outcome: &Outcome) -> Vec<String> {
    let mut words = vec![
        "timers of 128, 512 and 1024 Hz are this kernel's own, whose sleeps are made to end at such ticks; its scheduler ticks as it was built"
            .to_owned(),
        "the radio is software on a core of its own, with nothing but the kernel between: no USB, no cable".to_owned(),
    ];
    words.extend(unwatched(outcome));
    words.extend(outcome.of.limits());
    words.extend(outcome.sites.iter().flat_map(|site| site.notes.iter().cloned()));
    let open = outcome.of.parts.open;
    if open > 0 && outcome.of.about.depth == "quick" {
        words.push(format!(
            "{} of claims could not be judged at this depth; the full run has more rounds and longer ones",
            plural(open, "part")
        ));
    }
    words.iter().map(|words| sentence(words)).collect()
}

/// Where failures that the hypervisor caused could not be separated from the host's own.
fn unwatched(outcome: &Outcome) -> Vec<String> {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for case in &outcome.cases {
        if let Some(why) = &case.unwatched {
            reasons.entry(why).or_default().push(label(case));
        }
    }
    let all = outcome.cases.iter().filter(|case| case.failure.value.is_some()).count();
    let words = |(why, cases): (&str, Vec<String>)| {
        let at = if cases.len() == all { "nowhere".to_owned() } else { format!("not at \"{}\"", cases.join("\", \"")) };
        format!("whether the hypervisor stopped a core was watched {at}: {why}")
    };
    reasons.into_iter().map(words).collect()
}

#[must_use]
pub fn label(case: &Case) -> String {
    let is = |name: &str, level: &str| case.level(name).as_deref() == Some(level);
    let unusual = |name: &str, usual: &str| case.level(name).filter(|level| level != usual);
    let disturbance = if is("disturbance", "none") { Some("undisturbed".into()) } else { case.level("disturbance") };
    let alone = if is("scheduled", "interface") { " for the interface" } else { "" };
    let timer = || claims::timer(&case.level("tick_hz").unwrap_or_default());
    let words = [
        Some(disturbance.unwrap_or_default()),
        unusual("policy", "other").map(|policy| format!("{policy}{alone}")),
        unusual("cap", "none").map(|cap| format!("capped at {cap} %")),
        is("timer", "nanosleep").then(timer),
        unusual("cores", "any"),
        is("idle", "poll").then(|| "cores that poll".to_owned()),
        is("handover", "slot").then(|| "slot by slot".to_owned()),
    ];
    words.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{case, facts};
    use super::*;
    use crate::part::Point;
    use crate::sweep::testing;
    use takt_lab::store::{Record, RoundRow, testing::round};

    /// What rounds of the best measures say, of as many segments, the first with so many failures.
    fn goal_of(answer: Answer, rounds: usize, segments: usize, failed: u64) -> String {
        let counts: Vec<(u64, u64)> = (0..segments).map(|n| (if n == 0 { failed } else { 0 }, 10)).collect();
        let ratio = failed as f64 / (segments * 10) as f64;
        let result = json!({
            "failure_ratio": ratio,
            "own": { "failure_ratio": ratio },
            "segments": { "subframes": 10, "own": counts, "all": counts },
        });
        let rows: Vec<RoundRow> =
            (0..rounds).map(|_| round(0, Record { result: result.clone(), ..Record::default() })).collect();
        let cases = case::of("best", &[Point { settings: BTreeMap::new(), rounds: rows.iter().collect() }]);
        let paper = facts();
        goal(&Outcome {
            of: crate::StudyRun { answer, ..testing::outcome(&paper).of },
            sites: Vec::new(),
            figure_6: testing::chart("figure-6", "cap", Measure::Share, &[]),
            cases,
            paper,
            effects: Vec::new(),
            measures_not_had: Vec::new(),
            traces: Vec::new(),
            goal: String::new(),
            warnings: Vec::new(),
        })
    }

    #[test]
    fn whether_the_papers_figure_is_reached_is_stated_with_the_bound_or_that_there_is_none() {
        let reached = goal_of(Answer::Holds, 10, 600, 0);
        assert!(
            reached.starts_with("the paper's 0.00056 is reached here: with the best measures, under no load, at most")
        );
        assert!(reached.contains("at most 0.00050 of the answers fail on this host's account and 0.00050 altogether"));
        let few = goal_of(Answer::Unknown, 2, 60, 0);
        assert!(
            few.starts_with("the paper's 0.00056 is not reached here: with the best measures") && few.contains("0.02")
        );
        assert!(goal_of(Answer::Fails, 10, 600, 10).starts_with("the paper's 0.00056 is not reached here"));
        let but = goal_of(Answer::Fails, 10, 600, 0);
        assert!(but.starts_with("not every claim was seen, but the paper's 0.00056 is reached here"), "{but}");
        let unasked = goal_of(Answer::Holds, 0, 0, 0);
        assert!(unasked.starts_with("what could be judged here holds, but not whether the paper's 0.00056 is reached"));
        for none in [goal_of(Answer::Unknown, 1, 600, 0), goal_of(Answer::Unknown, 0, 0, 0)] {
            assert!(none.starts_with("the paper's 0.00056 is not reached here: there is no bound"), "{none}");
        }
    }
}
