//! `takt doctor --fix`: fixes the problems, after a question.

use std::io::{IsTerminal, stdin};

use serde::Serialize;
use takt_base::words::plural;
use takt_doctor::journal::Scope;
use takt_doctor::{Applied, Change, Diagnosis, FixError, FixKind, FixOffer, Fixer, SettingError, Verdict};
use takt_host::call::WITH_SUDO;
use takt_host::dirs::state_dir_of;
use takt_host::with_causes;

use super::{Args, Findings};
use crate::streams::{self, Ink};
use crate::{Answer, Output, Problem};

#[derive(Serialize)]
struct Fixed {
    made: Vec<Made>,
    /// Rules with a problem, or named by the user, that were not fixed, and why.
    left: Vec<Left>,
    problems: Vec<String>,
}

#[derive(Serialize)]
struct Made {
    rule: String,
    #[serde(flatten)]
    change: Change,
}

#[derive(Serialize)]
struct Left {
    rule: String,
    why: String,
}

pub(super) fn run(args: &Args, output: &Output) -> miette::Result<Answer> {
    let host = args.host();
    let before = Findings::of(args, &host);
    let mut left = Vec::new();
    let mut agreed: Vec<(&Diagnosis, &FixOffer)> = Vec::new();
    // A notice is fixed only if the user names the rule.
    let requested = |diagnosis: &&Diagnosis| match diagnosis.verdict {
        Verdict::Problem => true,
        Verdict::Notice => args.names(&diagnosis.id),
        Verdict::Fine | Verdict::NotVisible | Verdict::NotKnownHere => false,
    };
    for diagnosis in before.diagnoses.iter().filter(requested) {
        match &diagnosis.fix {
            Some(offer) if !offer.changes.is_empty() => match agree(args, output, diagnosis, offer)? {
                Ok(()) => agreed.push((diagnosis, offer)),
                Err(why) => left.push(Left { rule: diagnosis.id.clone(), why }),
            },
            Some(offer) => left.push(Left { rule: diagnosis.id.clone(), why: offer.commands.join("; or ") }),
            None => left.push(Left { rule: diagnosis.id.clone(), why: "takt has no fix for it on this host".into() }),
        }
    }
    let mut made = Vec::new();
    // The first failure, and whether the journal has an entry of this call then.
    let (mut failed, mut noted) = (None, false);
    if !agreed.is_empty() {
        let opened = Fixer::open(host.clone(), &state_dir_of(&host));
        let mut fixer = opened.map_err(|error| refused(error.into(), None))?;
        let before = fixer.standing().len();
        for (diagnosis, offer) in agreed {
            let rule = &diagnosis.id;
            match make(&mut fixer, rule, offer, &mut made) {
                Ok(kept) => left.extend(kept.iter().map(|kept| Left { rule: rule.clone(), why: kept.to_string() })),
                Err(error) => {
                    left.push(Left { rule: rule.clone(), why: with_causes(&error) });
                    failed = failed.or(Some(error));
                }
            }
        }
        noted = fixer.standing().len() > before;
    }
    let fixed = Fixed { made, left, problems: Findings::of(args, &host).problems };
    let undo = args.undo_call();
    let Some(error) = failed else {
        return output.answer(&fixed, || text(&fixed, &undo), Answer::of(fixed.problems.is_empty()));
    };
    output.result(&fixed, || text(&fixed, &undo))?;
    // The document says what was refused; an error would print a second one.
    if output.wants_json() { Ok(Answer::Unknown) } else { Err(refused(error, noted.then_some(undo.as_str())).into()) }
}

/// Makes a rule's changes, in order, and stops at the first that fails; `made` has those before it. Returns the changes that
/// the kernel allows nobody to make.
fn make(fixer: &mut Fixer, rule: &str, offer: &FixOffer, made: &mut Vec<Made>) -> Result<Vec<SettingError>, FixError> {
    let mut all_kept = Vec::new();
    for change in &offer.changes {
        let Applied { made: changes, kept } = fixer.apply(rule, &Scope::Host, std::slice::from_ref(change))?;
        made.extend(changes.into_iter().map(|change| Made { rule: rule.to_owned(), change }));
        all_kept.extend(kept);
    }
    Ok(all_kept)
}

/// Whether this rule's changes may be made; otherwise why not.
fn agree(args: &Args, output: &Output, diagnosis: &Diagnosis, offer: &FixOffer) -> miette::Result<Result<(), String>> {
    let has_side_effects = offer.kind == FixKind::Consent;
    if args.yes {
        let free = !has_side_effects || args.names(&diagnosis.id);
        let name_it = || format!("it has side effects; agree to them with --only {}", diagnosis.id);
        return Ok(if free { Ok(()) } else { Err(name_it()) });
    }
    if output.wants_json() || !stdin().is_terminal() {
        return Err(Problem::new("takt doctor --fix asks before it changes anything, and nobody can answer here")
            .fix("give --yes to agree to all changes without side effects, and to the rules named with --only")
            .into());
    }
    let mut question = format!("{}: {}\n", diagnosis.id, diagnosis.observed);
    for change in &offer.changes {
        question += &format!("  {} {} -> {}\n", change.setting, change.was, change.becomes);
    }
    if let Some(what) = &offer.affects {
        question += &format!("  affects: {what}\n");
    }
    Ok(if yes(&format!("{question}Change it? [y/N] ")) { Ok(()) } else { Err("you did not agree".into()) })
}

pub(super) fn yes(question: &str) -> bool {
    let mut line = String::new();
    streams::err(question, Ink::None);
    stdin().read_line(&mut line).is_ok() && matches!(line.trim(), "y" | "Y" | "yes")
}

/// `undo`: the call that undoes the changes that were made.
fn refused(error: FixError, undo: Option<&str>) -> Problem {
    let what = if undo.is_some() { "takt could not fix everything" } else { "takt can't fix this host" };
    Problem::caused(what, error, |error| {
        let without_fix = matches!(error, FixError::Journal(_)).then(|| WITH_SUDO.to_owned());
        let undo = undo.map(|undo| format!("{undo}   (undoes the changes)"));
        let ways: Vec<String> = error.fix().or(without_fix).into_iter().chain(undo).collect();
        (!ways.is_empty()).then(|| ways.join("\n"))
    })
}

fn text(fixed: &Fixed, undo: &str) -> String {
    let mut lines = Vec::new();
    for Made { rule, change } in &fixed.made {
        lines.push(format!("changed  {rule}  {} {} -> {}", change.setting, change.was, change.becomes));
    }
    for Left { rule, why } in &fixed.left {
        lines.push(format!("left     {rule}  {why}"));
    }
    if !fixed.made.is_empty() {
        let made = plural(fixed.made.len(), "change");
        lines.push(format!("\n{made} made, in force until a reboot or {undo}."));
    }
    lines.push(match fixed.problems.as_slice() {
        [] => "Yes: no problem is left.".into(),
        problems => format!("No: problems left: {}.", problems.join(", ")),
    });
    lines.join("\n")
}
