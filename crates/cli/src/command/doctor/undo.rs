//! `takt doctor --undo`: every setting as it was.

use takt_doctor::journal::{How, JournalError};
use takt_doctor::{Fixer, Outcome, Undone};
use takt_host::dirs::state_dir_of;
use takt_host::with_causes;

use super::Args;
use crate::{Answer, Output, Problem};

pub(super) fn run(args: &Args, output: &Output) -> miette::Result<Answer> {
    let host = args.host();
    let state = state_dir_of(&host);
    let mut fixer = Fixer::open(host, &state)
        .map_err(|error| Problem::caused("nothing can be given back", error, JournalError::fix))?;
    let mut undone = fixer.undo(|entry| args.picks(&entry.rule));
    let Some(at) = undone.iter().position(|undone| matches!(undone.outcome, Outcome::Refused { .. })) else {
        let good = |undone: &Undone| matches!(undone.outcome, Outcome::Settled { .. } | Outcome::Gone);
        return output.answer(&undone, || text(&undone), Answer::of(undone.iter().all(good)));
    };
    output.result(&undone, || text(&undone))?;
    // The document says what was refused; an error would print a second one.
    if output.wants_json() { Ok(Answer::Unknown) } else { Err(refused(undone.swap_remove(at)).into()) }
}

/// Of several that were refused the list has all.
fn refused(Undone { setting, was, outcome, .. }: Undone) -> Problem {
    let problem = Problem::new(format!("{setting} can't be given back its value {was}"));
    let Outcome::Refused { error } = outcome else { return problem };
    let fix = error.fix().unwrap_or_else(|| setting.command(&was));
    problem.why(error).fix(fix)
}

fn text(undone: &[Undone]) -> String {
    if undone.is_empty() {
        return "Yes: there is nothing to give back.".into();
    }
    let mut lines: Vec<String> = undone.iter().map(one).collect();
    let any = |is: fn(&Outcome) -> bool| undone.iter().any(|undone| is(&undone.outcome));
    lines.push(if any(|outcome| matches!(outcome, Outcome::Refused { .. })) {
        "No: not every setting could be given back.".into()
    } else if any(|outcome| matches!(outcome, Outcome::ChangedSince { .. })) {
        "No: settings have been changed since; they are left as they are.".into()
    } else if any(|outcome| matches!(outcome, Outcome::Gone)) {
        "Yes: every setting that is there is as it was.".into()
    } else {
        "Yes: every setting is as it was.".into()
    });
    lines.join("\n")
}

fn one(Undone { setting, rule, was, outcome }: &Undone) -> String {
    match outcome {
        Outcome::Settled { how: How::Restored } => format!("restored  {rule}  {setting} = {was}"),
        Outcome::Settled { how: How::AlreadyAsBefore | How::NotMade } => format!("as before {rule}  {setting} = {was}"),
        Outcome::Settled { how: How::Rebooted } => format!("rebooted  {rule}  {setting}: the machine has started anew"),
        Outcome::Gone => format!("gone      {rule}  {setting}: not there; were it back, it would be given {was} again"),
        Outcome::ChangedSince { now, set } => {
            format!(
                "left      {rule}  {setting} is {now}, not the {set} that takt set; before: {}",
                setting.command(was)
            )
        }
        Outcome::Refused { error } => format!("refused   {rule}  {setting}: {}", with_causes(error)),
    }
}
