//! `takt doctor --undo`: restores every setting.

use takt_doctor::journal::{How, JournalError};
use takt_doctor::{Fixer, UndoOutcome, Undone};
use takt_host::dirs::state_dir_of;
use takt_host::with_causes;

use super::Args;
use crate::{Answer, Output, Problem};

pub(super) fn run(args: &Args, output: &Output) -> miette::Result<Answer> {
    let host = args.host();
    let state = state_dir_of(&host);
    let mut fixer = Fixer::open(host, &state)
        .map_err(|error| Problem::caused("takt can't undo anything", error, JournalError::fix))?;
    let mut undone = fixer.undo(|entry| args.picks(&entry.rule));
    let Some(at) = undone.iter().position(|undone| matches!(undone.outcome, UndoOutcome::Refused { .. })) else {
        let good = |undone: &Undone| matches!(undone.outcome, UndoOutcome::Settled { .. } | UndoOutcome::Gone);
        return output.answer(&undone, || text(&undone), Answer::of(undone.iter().all(good)));
    };
    output.result(&undone, || text(&undone))?;
    // The document says what was refused; an error would print a second one.
    if output.wants_json() { Ok(Answer::Unknown) } else { Err(refused(undone.swap_remove(at)).into()) }
}

/// The first refusal; the list has all of them.
fn refused(Undone { setting, was, outcome, .. }: Undone) -> Problem {
    let problem = Problem::new(format!("takt can't set {setting} back to {was}"));
    let UndoOutcome::Refused { error } = outcome else { return problem };
    let fix = error.fix().unwrap_or_else(|| setting.command(&was));
    problem.why(error).fix(fix)
}

fn text(undone: &[Undone]) -> String {
    if undone.is_empty() {
        return "Yes: there is nothing to undo.".into();
    }
    let mut lines: Vec<String> = undone.iter().map(one).collect();
    let any = |is: fn(&UndoOutcome) -> bool| undone.iter().any(|undone| is(&undone.outcome));
    lines.push(if any(|outcome| matches!(outcome, UndoOutcome::Refused { .. })) {
        "No: takt could not restore every setting.".into()
    } else if any(|outcome| matches!(outcome, UndoOutcome::ChangedSince { .. })) {
        "No: other programs have changed settings since; takt left those as they are.".into()
    } else if any(|outcome| matches!(outcome, UndoOutcome::Gone)) {
        "Yes: every setting that still exists is as it was.".into()
    } else {
        "Yes: every setting is as it was.".into()
    });
    lines.join("\n")
}

fn one(Undone { setting, rule, was, outcome }: &Undone) -> String {
    match outcome {
        UndoOutcome::Settled { how: How::Restored } => format!("restored  {rule}  {setting} = {was}"),
        UndoOutcome::Settled { how: How::AlreadyAsBefore | How::NotMade } => {
            format!("as before {rule}  {setting} = {was}")
        }
        UndoOutcome::Settled { how: How::Rebooted } => {
            format!("rebooted  {rule}  {setting}: the host has rebooted since")
        }
        UndoOutcome::Gone => {
            format!("gone      {rule}  {setting}: does not exist now; if it returns, --undo sets it to {was}")
        }
        UndoOutcome::ChangedSince { now, set } => {
            format!(
                "left      {rule}  {setting} is {now}, not the {set} that takt set; before: {}",
                setting.command(was)
            )
        }
        UndoOutcome::Refused { error } => format!("refused   {rule}  {setting}: {}", with_causes(error)),
    }
}
