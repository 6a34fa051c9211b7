//! `takt doctor --prove RULE`: measures whether a change helps on this host, with it and without it in alternation.

use std::cell::RefCell;
use std::io::{self, IsTerminal, stdin};
use std::process::Command;

use takt_doctor::Fix;
use takt_doctor::prove::{self, Claim, Guard, Progress, ProveAnswer, ProveError, ProveOptions, ProveOutcome, Size};
use takt_host::Host;
use takt_host::call;
use takt_host::dirs::state_dir;
use takt_page::Unit;

use super::Args;
use super::fix::yes;
use crate::{Answer, Bar, Output, Problem, stop_on_signal};

pub(super) fn run(id: &str, args: &Args, output: &Output) -> miette::Result<Answer> {
    let rule = takt_doctor::rule(id).expect("the rule was found before");
    let host = args.host();
    let state = state_dir();
    let claim = Claim {
        host: &host,
        state: &state,
        rule,
        options: ProveOptions { pairs: args.pairs, round: args.round },
        guard: &guard,
    };
    let bar = RefCell::new(Some(Bar::new(output)));
    let mut progressed = |progress: Progress| {
        if let (1, Fix::Consent { affects, .. }) = (progress.round, &rule.fix) {
            output.note(format!("During the measurement, the change affects {affects}"));
        }
        if let Some(bar) = &*bar.borrow() {
            bar.show(args.round * (progress.round - 1), args.round * progress.of);
        }
    };
    let mut keep = |outcome: &ProveOutcome| {
        bar.take();
        args.keep || ask(args, output, outcome)
    };
    let proved = prove::prove(&claim, &mut progressed, &mut keep, &stop_on_signal()?);
    bar.take();
    let outcome = proved.map_err(|error| refused(id, error))?;
    output.answer(&outcome, || text(&outcome), Answer::of(outcome.gain.answer == ProveAnswer::Helps))
}

/// Starts this program again, as the guard that undoes what a killed proof leaves.
fn guard(proof: &str) -> io::Result<Guard> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["doctor", "--guard", proof]);
    Guard::start(command)
}

/// The guard's own work; see [`prove::wait_and_undo`].
pub(super) fn stand_guard(proof: &str) -> miette::Result<Answer> {
    // Closing the terminal stops the proof, which then undoes its change itself; the guard outlives it.
    let _stop = stop_on_signal()?;
    prove::wait_and_undo(Host::this(), &state_dir(), proof, &mut stdin().lock())
        .map_err(|error| Problem::new("takt can't undo what a killed proof left").why(error))?;
    Ok(Answer::Yes)
}

fn ask(args: &Args, output: &Output, outcome: &ProveOutcome) -> bool {
    let may_ask =
        outcome.gain.answer == ProveAnswer::Helps && !args.yes && !output.wants_json() && stdin().is_terminal();
    may_ask && yes(&format!("{}\nKeep it? [y/N] ", figures(outcome)))
}

fn refused(id: &str, error: ProveError) -> Problem {
    Problem::caused(format!("{id} can't be proved"), error, |error| match error {
        ProveError::NotProvable { .. } | ProveError::NotVisible { .. } => {
            Some(format!("{}   (explains the rule)", call::takt(format_args!("doctor --explain {id}"))))
        }
        ProveError::NothingToChange { .. } => {
            Some(format!("{}   (lists every rule on this host)", call::takt("doctor --all")))
        }
        error => error.fix(),
    })
}

fn text(outcome: &ProveOutcome) -> String {
    let verdict = match outcome.gain.answer {
        ProveAnswer::Helps => "Yes: the change helps here",
        ProveAnswer::Harms => "No: the change harms here",
        ProveAnswer::Nothing => "No: the change does nothing here",
        ProveAnswer::Unknown => "No: these rounds do not show that the change helps here; try more (--pairs)",
    };
    let stays = match outcome.kept {
        true => format!("it stays until a reboot or {}", call::sudo_takt("doctor --undo")),
        false => "takt undid the change".to_owned(),
    };
    let stopped = if outcome.stopped { " It was stopped early." } else { "" };
    format!("{}\n{verdict}; {stays}.{stopped}", figures(outcome))
}

fn figures(outcome: &ProveOutcome) -> String {
    let mut lines: Vec<String> = Vec::new();
    for change in &outcome.changes {
        lines.push(format!("change   {} {} -> {}", change.setting, change.was, change.becomes));
    }
    let (pairs, round) = (outcome.pairs.len(), outcome.round_s);
    lines.push(format!("measured {}; {pairs} pairs of rounds of {round} s, alternating", outcome.measured));
    let of = |pick: fn(&prove::Pair) -> f64| spread(outcome, &outcome.pairs.iter().map(pick).collect::<Vec<_>>());
    lines.push(format!("without  {}", of(|pair| pair.without)));
    lines.push(format!("with     {}", of(|pair| pair.with)));
    lines.push(format!("gain     {}", gain(&outcome.gain.size)));
    lines.join("\n")
}

/// The median of the rounds, and their range.
fn spread(outcome: &ProveOutcome, rounds: &[f64]) -> String {
    let mut ascending = rounds.to_vec();
    ascending.sort_by(f64::total_cmp);
    let show = |value: f64| {
        if outcome.unit == "share" { Unit::SHARE.show(value, 2) } else { Unit::SECONDS.show(value / 1e9, 3) }
    };
    let at = |q| takt_stats::sample_quantile(&ascending, q).map_or("unknown".to_owned(), show);
    format!("{} ({} to {})", at(0.5), at(0.0), at(1.0)).replace('\u{a0}', " ")
}

fn gain(size: &Size) -> String {
    let percent = |x: f64| format!("{:+.1}", x * 100.0);
    let (what, [point, low, high]) = match size {
        Size::Ratio { estimate } => {
            ("%", [estimate.point(), estimate.low(), estimate.high()].map(|x| percent(x - 1.0)))
        }
        Size::Difference { estimate } => {
            ("percentage points", [estimate.point(), estimate.low(), estimate.high()].map(percent))
        }
    };
    format!("{point} {what} [{low}, {high}], 95 %; less is better")
}
