//! The sentences of the study.

use std::collections::BTreeMap;

use crate::check::CheckAnswer;
use takt_base::shown::time;
use takt_base::words::{plural, sentence};
use takt_lab::summary::FEW_ROUNDS;
use takt_stats::contrast;

use super::judge::Best;
use super::{Case, EffectFacts, LinuxRtOutcome, StageFacts, TraceFacts, judge, why};
use crate::study::Figure;
use crate::sweep::{Measure, apart, value};

/// Summary of the evidence.
pub(super) fn summary(outcome: &LinuxRtOutcome) -> Vec<String> {
    let mut summary: Vec<String> = Vec::new();
    let effects = |order: fn(usize) -> bool| outcome.effects.iter().filter(move |e| order(e.measures.len()));
    let buys: Vec<String> = effects(|n| n == 1).map(bought).collect();
    if !buys.is_empty() {
        summary.push(format!("share of failed answers under four loops a core: {}", buys.join("; ")));
    }
    summary.extend(not_had(outcome));
    let together: Vec<String> = effects(|n| n > 1).filter(|e| is_sure(e)).map(bought).collect();
    if !together.is_empty() {
        summary.push(format!("beyond what each does alone: {}", together.join("; ")));
    }
    summary.extend(by_slot(outcome));
    summary.extend(ticks_alone(outcome));
    summary.extend(cap_on_ordinary(outcome));
    summary.extend(cap_on_prioritised(outcome));
    summary.extend(asleep(outcome));
    summary.extend(who(outcome));
    summary.extend(both_counts(outcome));
    summary.extend(unexplained(outcome));
    summary.iter().map(|words| sentence(words)).collect()
}

/// Whether the requested bound was reached, or why there is none: the first thing to know, after "yes" or "no".
pub(super) fn goal(outcome: &LinuxRtOutcome) -> String {
    let limit = outcome.paper.number("best");
    let Some(best) = Best::of(outcome) else {
        let missing = "two rounds with the best measures are missing.";
        return match outcome.of.answer {
            CheckAnswer::Holds => {
                format!(
                    "all that takt could judge here holds, but it is not known whether the paper's {limit} is reached: \
                     {missing}"
                )
            }
            _ => format!("the paper's {limit} is not reached here: there is no bound, because {missing}"),
        };
    };
    let (own, all, load) = (best.own.up_to, best.all.up_to, best.load());
    let on = format!(
        "under {load}, at most {own:.5} of the answers fail because of this host and {all:.5} altogether (95 %)."
    );
    // It follows the answer over all claims.
    let but = match (outcome.of.answer, outcome.of.about.complete) {
        (CheckAnswer::Holds, _) => "",
        (CheckAnswer::Unknown, false) => "the run was interrupted, but ",
        _ => "not every claim was seen, but ",
    };
    match best.is_reached() {
        true => format!("{but}the paper's {limit} is reached here: with the best measures, {on}"),
        false => format!("the paper's {limit} is not reached here: with the best measures, {on}"),
    }
}

fn not_had(outcome: &LinuxRtOutcome) -> Option<String> {
    let measures = &outcome.measures_not_had;
    (!measures.is_empty()).then(|| {
        let why = outcome.cases.iter().filter(|case| case.part == "measures").find_map(|case| case.skipped.clone());
        let why = why.map_or(String::new(), |why| format!(": {why}"));
        format!("takt could not measure the effect of {} here{why}", measures.join(" and "))
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
        _ => ("changes", ", perhaps by nothing"),
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

/// Gain from handing samples over as they come, and from what cores do when idle besides; everything else being alike.
fn by_slot(outcome: &LinuxRtOutcome) -> Option<String> {
    let alike = [("disturbance", "busy:4x"), ("policy", "fifo"), ("cores", "any"), ("cap", "none")];
    let whole = outcome.case("measures", &alike)?;
    let slots = outcome.case("best", &[("handover", "slot")])?;
    let physical_us = |case: &Case| case.stages.iter().find(|stage| stage.name == "physical")?.p50_us;
    Some(format!(
        "a physical layer that gets each slot when it arrives has {} of work left when the last samples are in, instead of {}; \
         with this, and with cores that {} when idle, {}",
        time(physical_us(slots)? * 1e-6),
        time(physical_us(whole)? * 1e-6),
        slots.level("idle").unwrap_or_else(|| "sleep".to_owned()),
        against(slots, whole, |a, b| format!("{a} failed instead of {b}"))
    ))
}

/// Cost of the timers of Figure 6 with nothing to disturb.
fn ticks_alone(outcome: &LinuxRtOutcome) -> Option<String> {
    let cases = outcome.cases.iter().filter(|case| case.part == "timers" && case.failure.value.is_some());
    let timer = |case: &Case| judge::timer(&case.level("tick_hz").unwrap_or_default());
    let each: Vec<String> = cases.map(|case| format!("{} with {}", failed(case), timer(case))).collect();
    (!each.is_empty()).then(|| {
        format!(
            "failures with the timers of Figure 6 without any load: {}; a tick of 1024 Hz ends a sleep up to 0.98 ms late, and \
             0.75 ms are left when the samples are in",
            each.join(", ")
        )
    })
}

/// Whether a cap on the disturbance helps or harms processes without a priority.
fn cap_on_ordinary(outcome: &LinuxRtOutcome) -> Option<String> {
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
fn cap_on_prioritised(outcome: &LinuxRtOutcome) -> Option<String> {
    let with = |cap| outcome.case("measures", &[("policy", "fifo"), ("cores", "any"), ("cap", cap)]);
    let (free, capped) = (with("none")?, with("10")?);
    let does = does(free, &[capped])?;
    let pairs = free.stages.iter().zip(&capped.stages);
    let grew = pairs.filter_map(|(a, b)| Some((b.p99_9_us? - a.p99_9_us?, a, b))).max_by(|a, b| a.0.total_cmp(&b.0));
    let (_, before, after) = grew?;
    let us = |stage: &StageFacts| Some(format!("{} and {}", time(stage.p50_us? * 1e-6), time(stage.p99_9_us? * 1e-6)));
    Some(format!(
        "it {does} processes with a priority on the same cores: {}; the stage {} grew most, with 50 and 99.9 % of the answers \
         within {} without the cap, {} with it",
        against(free, capped, |a, b| format!("{a} failed without, {b} at 10 %")),
        before.name,
        us(before)?,
        us(after)?
    ))
}

/// Gain if idle cores do not sleep.
fn asleep(outcome: &LinuxRtOutcome) -> Option<String> {
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
        (false, _) => "neither clearly helps nor clearly harms",
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
fn who(outcome: &LinuxRtOutcome) -> Vec<String> {
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
                "{with}, {late} of {} traced rounds have a late answer; while the worst waited, its core ran {}",
                traces.len(),
                names.join(", ")
            )
        })
    };
    [false, true].into_iter().filter_map(of).collect()
}

/// The host's count of late answers beside the radio's.
fn both_counts(outcome: &LinuxRtOutcome) -> Option<String> {
    let mean = |of: fn(&Case) -> Option<f64>| {
        let values: Vec<f64> = outcome.cases.iter().filter_map(of).collect();
        (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
    };
    let (host, radio) = (mean(|case| case.all.value)?, mean(|case| case.radio_late.value)?);
    Some(format!(
        "over all points and subframes {:.2} % failed by this host's clock; the radio reported {:.2} % late (it can't know those \
         that were never given)",
        host * 100.0,
        radio * 100.0
    ))
}

fn unexplained(outcome: &LinuxRtOutcome) -> Option<String> {
    let undecoded = outcome.cases.iter().filter(|case| case.decoded.value.is_some_and(|share| share < 1.0)).count();
    (undecoded > 0).then(|| {
        format!("at {undecoded} points some blocks were not decoded; takt answered them with NACK and counts them")
    })
}

pub(super) fn warnings(outcome: &LinuxRtOutcome) -> Vec<String> {
    let mut warnings = Vec::new();
    let measured = || outcome.cases.iter().filter(|case| case.failure.value.is_some());
    let few = measured().filter(|case| case.failure.counted() < FEW_ROUNDS).count();
    if few > 0 {
        let all = measured().count();
        warnings
            .push(format!("{few} of {all} points rest on fewer than {FEW_ROUNDS} rounds, so their intervals are wide"));
    }
    let rounds = &outcome.of.rounds;
    let (not, ran) = (rounds.disturbed + rounds.emulator_late, rounds.valid + rounds.disturbed + rounds.emulator_late);
    if not > 0 {
        warnings.push(format!(
            "{not} of {ran} rounds do not count: in {} the host had other work, in {} the radio itself was late",
            rounds.disturbed, rounds.emulator_late
        ));
    }
    if rounds.failed > 0 {
        let words = plural(rounds.failed, "round");
        warnings.push(format!("takt could not run {words}, and counts every answer in them as failed"));
    }
    let excluded: Vec<f64> = measured().filter_map(|case| case.excluded.value).collect();
    if excluded.iter().any(|&share| share > 0.0) {
        let mean = excluded.iter().sum::<f64>() / excluded.len() as f64;
        let all = |of: fn(&Case) -> f64| takt_stats::sum(measured().filter(|case| case.unwatched.is_none()).map(of));
        warnings.push(format!(
            "takt excluded {:.1} % of the subframes, however they ended: the radio sent their samples late, or the hypervisor \
             stopped a core before their limit (for {:.0} ms in all, while the kernel counts {:.0} ms of steal time)",
            mean * 100.0,
            all(|case| case.stalls_ms),
            all(|case| case.steal_ms)
        ));
    }
    warnings.iter().map(|words| sentence(words)).collect()
}

pub(super) fn caveats(outcome: &LinuxRtOutcome) -> Vec<String> {
    let mut words = vec![
        "timers of 128, 512 and 1024 Hz are this kernel's own, with sleeps that takt makes end at such ticks; the scheduler's \
         tick stays as the kernel was built"
            .to_owned(),
        "the radio is takt's emulator on its own core, with only the kernel in between: no USB, no cable".to_owned(),
    ];
    words.extend(unwatched(outcome));
    words.extend(outcome.of.limits());
    words.extend(outcome.sites.iter().flat_map(|site| site.notes.iter().cloned()));
    let open = outcome.of.parts.open;
    if open > 0 && outcome.of.about.depth == "quick" {
        words.push(format!(
            "takt could not judge {} of claims at this depth; the full run has more and longer rounds",
            plural(open, "part")
        ));
    }
    words.iter().map(|words| sentence(words)).collect()
}

/// Cases in which failures that the hypervisor caused could not be separated from the host's own.
fn unwatched(outcome: &LinuxRtOutcome) -> Vec<String> {
    let mut reasons: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for case in &outcome.cases {
        if let Some(why) = &case.unwatched {
            reasons.entry(why).or_default().push(label(case));
        }
    }
    let all = outcome.cases.iter().filter(|case| case.failure.value.is_some()).count();
    let words = |(why, cases): (&str, Vec<String>)| {
        let at = if cases.len() == all { "nowhere".to_owned() } else { format!("not at \"{}\"", cases.join("\", \"")) };
        format!("takt watched {at} whether the hypervisor stopped a core: {why}")
    };
    reasons.into_iter().map(words).collect()
}

#[must_use]
pub fn label(case: &Case) -> String {
    let is = |name: &str, level: &str| case.level(name).as_deref() == Some(level);
    let unusual = |name: &str, usual: &str| case.level(name).filter(|level| level != usual);
    let disturbance = if is("disturbance", "none") { Some("undisturbed".into()) } else { case.level("disturbance") };
    let alone = if is("scheduled", "interface") { " for the interface" } else { "" };
    let timer = || judge::timer(&case.level("tick_hz").unwrap_or_default());
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
    use crate::study::part::Point;
    use crate::sweep::testing;
    use takt_lab::store::{Record, RoundRow, testing::round};

    /// Sentence on rounds of the best measures, of as many segments, the first with so many failures.
    fn goal_of(answer: CheckAnswer, rounds: usize, segments: usize, failed: u64) -> String {
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
        goal(&LinuxRtOutcome {
            of: crate::study::StudyRun { answer, ..testing::outcome(&paper).of },
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
        let reached = goal_of(CheckAnswer::Holds, 10, 600, 0);
        assert!(
            reached.starts_with("the paper's 0.00056 is reached here: with the best measures, under no load, at most")
        );
        assert!(reached.contains("at most 0.00050 of the answers fail because of this host and 0.00050 altogether"));
        let few = goal_of(CheckAnswer::Unknown, 2, 60, 0);
        assert!(
            few.starts_with("the paper's 0.00056 is not reached here: with the best measures") && few.contains("0.02")
        );
        assert!(goal_of(CheckAnswer::Fails, 10, 600, 10).starts_with("the paper's 0.00056 is not reached here"));
        let but = goal_of(CheckAnswer::Fails, 10, 600, 0);
        assert!(but.starts_with("not every claim was seen, but the paper's 0.00056 is reached here"), "{but}");
        let unasked = goal_of(CheckAnswer::Holds, 0, 0, 0);
        assert!(
            unasked
                .starts_with("all that takt could judge here holds, but it is not known whether the paper's 0.00056")
        );
        for none in [goal_of(CheckAnswer::Unknown, 1, 600, 0), goal_of(CheckAnswer::Unknown, 0, 0, 0)] {
            assert!(none.starts_with("the paper's 0.00056 is not reached here: there is no bound"), "{none}");
        }
    }
}
