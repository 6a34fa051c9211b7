//! `takt doctor --fix`: the changes that mend what stands, after a question.

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
    /// Rules that stand, or were named, and were not mended, and why.
    left: Vec<Left>,
    stands: Vec<String>,
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
    // What is only noted is changed if the user names it.
    let requested = |diagnosis: &&Diagnosis| match diagnosis.verdict {
        Verdict::Stands => true,
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
            None => left.push(Left { rule: diagnosis.id.clone(), why: "takt knows no way to mend it here".into() }),
        }
    }
    let mut made = Vec::new();
    // The first failure, and whether anything of this call's is in the journal then.
    let (mut failed, mut noted) = (None, false);
    if !agreed.is_empty() {
        let opened = Fixer::open(host.clone(), &state_dir_of(&host));
        let mut fixer = opened.map_err(|error| refused(error.into(), None))?;
        let stood = fixer.standing().len();
        for (diagnosis, offer) in agreed {
            let rule = &diagnosis.id;
            match mend(&mut fixer, rule, offer, &mut made) {
                Ok(kept) => left.extend(kept.iter().map(|kept| Left { rule: rule.clone(), why: kept.to_string() })),
                Err(error) => {
                    left.push(Left { rule: rule.clone(), why: with_causes(&error) });
                    failed = failed.or(Some(error));
                }
            }
        }
        noted = fixer.standing().len() > stood;
    }
    let fixed = Fixed { made, left, stands: Findings::of(args, &host).stands };
    let undo = args.undo_call();
    let Some(error) = failed else {
        return output.answer(&fixed, || text(&fixed, &undo), Answer::of(fixed.stands.is_empty()));
    };
    output.result(&fixed, || text(&fixed, &undo))?;
    // The document says what was refused; an error would print a second one.
    if output.wants_json() { Ok(Answer::Unknown) } else { Err(refused(error, noted.then_some(undo.as_str())).into()) }
}

/// Makes a rule's changes, in order. The first that fails ends it; what was made before it is among `made`. Answers those that
/// the kernel allows nobody.
fn mend(fixer: &mut Fixer, rule: &str, offer: &FixOffer, made: &mut Vec<Made>) -> Result<Vec<SettingError>, FixError> {
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
    let others_pay = offer.kind == FixKind::Consent;
    if args.yes {
        let free = !others_pay || args.names(&diagnosis.id);
        let name_it = || format!("others may pay for it; --only {} says that they may", diagnosis.id);
        return Ok(if free { Ok(()) } else { Err(name_it()) });
    }
    if output.wants_json() || !stdin().is_terminal() {
        return Err(Problem::new("takt doctor --fix asks before it changes anything, and nobody can answer here")
            .fix("--yes agrees to everything for which nobody else pays, and to the rules named with --only")
            .into());
    }
    let mut question = format!("{}: {}\n", diagnosis.id, diagnosis.observed);
    for change in &offer.changes {
        question += &format!("  {} {} -> {}\n", change.setting, change.was, change.becomes);
    }
    if let Some(who) = &offer.who_may_pay {
        question += &format!("  who pays: {who}\n");
    }
    Ok(if yes(&format!("{question}Change it? [y/N] ")) { Ok(()) } else { Err("not agreed to".into()) })
}

pub(super) fn yes(question: &str) -> bool {
    let mut line = String::new();
    streams::err(question, Ink::None);
    stdin().read_line(&mut line).is_ok() && matches!(line.trim(), "y" | "Y" | "yes")
}

/// `undo`: the call that gives back what was changed all the same.
fn refused(error: FixError, undo: Option<&str>) -> Problem {
    let what = if undo.is_some() { "not all of the host can be mended" } else { "the host can't be mended" };
    Problem::caused(what, error, |error| {
        let without_fix = matches!(error, FixError::Journal(_)).then(|| WITH_SUDO.to_owned());
        let undo = undo.map(|undo| format!("{undo}   (gives back what was changed)"));
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
        lines.push(format!("\n{made} made, until a reboot or {undo}."));
    }
    lines.push(match fixed.stands.as_slice() {
        [] => "Yes: nothing stands in the way of a radio any more.".into(),
        stands => format!("No: still in the way of a radio: {}.", stands.join(", ")),
    });
    lines.join("\n")
}
