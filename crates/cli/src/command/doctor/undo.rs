//! `takt doctor --undo`: every setting as it was.

use takt_doctor::journal::{How, JournalError, Scope};
use takt_doctor::{Fixer, Outcome, Undone};
use takt_host::dirs::state_dir;

use super::Args;
use crate::{Answer, Output, Problem};

pub(super) fn run(args: &Args, output: &Output) -> miette::Result<Answer> {
    let mut fixer = Fixer::open(args.host(), &state_dir())
        .map_err(|error| Problem::caused("nothing can be given back", error, JournalError::fix))?;
    let mut undone = fixer.undo(|entry| entry.scope == Scope::Host && args.picks(&entry.rule));
    if let Some(at) = undone.iter().position(|undone| matches!(undone.outcome, Outcome::Refused { .. })) {
        let Undone { setting, was, outcome, .. } = undone.swap_remove(at);
        let problem = Problem::new(format!("{setting} can't be given back its value {was}"));
        let Outcome::Refused { error } = outcome else { return Err(problem.into()) };
        let fix = error.fix().unwrap_or_else(|| setting.command(&was));
        return Err(problem.why(error).fix(fix).into());
    }
    output.answer(
        &undone,
        || text(&undone),
        Answer::of(undone.iter().all(|undone| matches!(undone.outcome, Outcome::Settled { .. }))),
    )
}

fn text(undone: &[Undone]) -> String {
    if undone.is_empty() {
        return "Yes: there is nothing to give back.".into();
    }
    let mut lines: Vec<String> = undone.iter().map(one).collect();
    let left = undone.iter().filter(|undone| matches!(undone.outcome, Outcome::ChangedSince { .. })).count();
    lines.push(match left {
        0 => "Yes: every setting is as it was.".into(),
        _ => "No: settings have been changed since; they are left as they are.".into(),
    });
    lines.join("\n")
}

fn one(Undone { setting, rule, was, outcome }: &Undone) -> String {
    match outcome {
        Outcome::Settled { how: How::Restored } => format!("restored  {rule}  {setting} = {was}"),
        Outcome::Settled { how: How::AlreadyAsBefore | How::NotMade } => format!("as before {rule}  {setting} = {was}"),
        Outcome::Settled { how: How::Rebooted } => format!("rebooted  {rule}  {setting}: the machine has started anew"),
        Outcome::ChangedSince { now, set } => {
            format!(
                "left      {rule}  {setting} is {now}, not the {set} that takt set; before: {}",
                setting.command(was)
            )
        }
        // Reported as an error before.
        Outcome::Refused { error } => format!("refused   {rule}  {setting}: {error}"),
    }
}
