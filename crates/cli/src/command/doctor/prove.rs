//! `takt doctor --prove RULE`: what a change is worth on this host, measured with it and without it in turns.

use std::cell::RefCell;
use std::io::{self, IsTerminal, stdin};
use std::process::Command;

use takt_doctor::Fix;
use takt_doctor::prove::{self, Answer as Worth, Claim, Guard, Options, Outcome, Progress, ProveError, Size};
use takt_host::Host;
use takt_host::call;
use takt_host::dirs::state_dir;
use takt_report::Unit;

use super::Args;
use super::fix::yes;
use crate::{Answer, Bar, Output, Problem, stop_on_signal};

pub(super) fn run(id: &str, args: &Args, output: &Output) -> miette::Result<Answer> {
    let rule = takt_doctor::rule(id).expect("the parser takes only rules there are");
    let host = args.host();
    let state = state_dir();
    let claim = Claim {
        host: &host,
        state: &state,
        rule,
        options: Options { pairs: args.pairs, round: args.round },
        guard: &guard,
    };
    let bar = RefCell::new(Some(Bar::new(output)));
    let mut progressed = |progress: Progress| {
        if let (1, Fix::Consent { who_may_pay, .. }) = (progress.round, &rule.fix) {
            output.note(format!("While it is measured, others may pay: {who_may_pay}"));
        }
        if let Some(bar) = &*bar.borrow() {
            bar.show(args.round * (progress.round - 1), args.round * progress.of);
        }
    };
    let mut keep = |outcome: &Outcome| {
        bar.take();
        args.keep || ask(args, output, outcome)
    };
    let proved = prove::prove(&claim, &mut progressed, &mut keep, &stop_on_signal()?);
    bar.take();
    let outcome = proved.map_err(|error| refused(id, error))?;
    output.answer(&outcome, || text(&outcome), Answer::of(outcome.gain.answer == Worth::Helps))
}

/// What a killed proof leaves is given back by this program, started anew.
fn guard(proof: &str) -> io::Result<Guard> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["doctor", "--guard", proof]);
    Guard::start(command)
}

/// The guard's own work; see [`prove::wait_and_undo`].
pub(super) fn stand_guard(proof: &str) -> miette::Result<Answer> {
    // Whoever closes the terminal means the proof, which then ends in good order; the guard outlives it.
    let _stop = stop_on_signal()?;
    prove::wait_and_undo(Host::this(), &state_dir(), proof, &mut stdin().lock())
        .map_err(|error| Problem::new("what a killed proof left can't be given back").why(error))?;
    Ok(Answer::Yes)
}

fn ask(args: &Args, output: &Output, outcome: &Outcome) -> bool {
    let may_ask = outcome.gain.answer == Worth::Helps && !args.yes && !output.wants_json() && stdin().is_terminal();
    may_ask && yes(&format!("{}\nKeep it? [y/N] ", figures(outcome)))
}

fn refused(id: &str, error: ProveError) -> Problem {
    Problem::caused(format!("{id} can't be proved"), error, |error| match error {
        ProveError::NotProvable { .. } | ProveError::NotVisible { .. } => {
            Some(format!("{}   (what it looks at)", call::takt(format_args!("doctor --explain {id}"))))
        }
        ProveError::NothingToChange { .. } => {
            Some(format!("{}   (lists what could be changed here)", call::takt("doctor --all")))
        }
        error => error.fix(),
    })
}

fn text(outcome: &Outcome) -> String {
    let verdict = match outcome.gain.answer {
        Worth::Helps => "Yes: the change helps here",
        Worth::Harms => "No: the change harms here",
        Worth::Nothing => "No: the change does nothing here",
        Worth::Unknown => "No: these rounds do not show that the change helps here; more may (--pairs)",
    };
    let stays = match outcome.kept {
        true => format!("it stays until a reboot or {}", call::sudo_takt("doctor --undo")),
        false => "everything is as it was".to_owned(),
    };
    let stopped = if outcome.stopped { " It was stopped early." } else { "" };
    format!("{}\n{verdict}; {stays}.{stopped}", figures(outcome))
}

fn figures(outcome: &Outcome) -> String {
    let mut lines: Vec<String> = Vec::new();
    for change in &outcome.changes {
        lines.push(format!("change   {} {} -> {}", change.setting, change.was, change.becomes));
    }
    let (pairs, round) = (outcome.pairs.len(), outcome.round_s);
    lines.push(format!("measured {}; {pairs} pairs of rounds of {round} s, in turns", outcome.measured));
    let of = |pick: fn(&prove::Pair) -> f64| spread(outcome, &outcome.pairs.iter().map(pick).collect::<Vec<_>>());
    lines.push(format!("without  {}", of(|pair| pair.without)));
    lines.push(format!("with     {}", of(|pair| pair.with)));
    lines.push(format!("gain     {}", gain(&outcome.gain.size)));
    lines.join("\n")
}

/// The middle of the rounds, and their ends.
fn spread(outcome: &Outcome, rounds: &[f64]) -> String {
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
            ("points of a hundred", [estimate.point(), estimate.low(), estimate.high()].map(percent))
        }
    };
    format!("{point} {what} [{low}, {high}], 95 %; less is better")
}
