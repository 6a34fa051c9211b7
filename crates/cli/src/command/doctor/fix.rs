//! `takt doctor --fix`: the changes that mend what stands, after a question.

use std::io::{IsTerminal, Write, stderr, stdin};

use serde::Serialize;
use takt_base::words::plural;
use takt_doctor::journal::Scope;
use takt_doctor::{Change, Diagnosis, FixError, FixKind, FixOffer, Fixer, Verdict};
use takt_host::call::{self, WITH_SUDO};
use takt_host::dirs::state_dir;

use super::{Args, Findings};
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
    if !agreed.is_empty() {
        let mut fixer = Fixer::open(host.clone(), &state_dir()).map_err(|error| refused(error.into()))?;
        for (diagnosis, offer) in agreed {
            let changes = fixer.apply(&diagnosis.id, &Scope::Host, &offer.changes).map_err(refused)?;
            made.extend(changes.into_iter().map(|change| Made { rule: diagnosis.id.clone(), change }));
        }
    }
    let fixed = Fixed { made, left, stands: Findings::of(args, &host).stands };
    output.answer(&fixed, || text(&fixed), Answer::of(fixed.stands.is_empty()))
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
    let mut err = stderr().lock();
    let mut line = String::new();
    let printed = err.write_all(question.as_bytes()).and_then(|()| err.flush());
    printed.is_ok() && stdin().read_line(&mut line).is_ok() && matches!(line.trim(), "y" | "Y" | "yes")
}

fn refused(error: FixError) -> Problem {
    Problem::caused("the host can't be mended", error, |error| match (error.fix(), error) {
        (Some(fix), _) => fix,
        (None, FixError::Setting(_)) => {
            format!("{}   (gives back what was changed before it)", call::sudo_takt("doctor --undo"))
        }
        (None, _) => WITH_SUDO.into(),
    })
}

fn text(fixed: &Fixed) -> String {
    let mut lines = Vec::new();
    for Made { rule, change } in &fixed.made {
        lines.push(format!("changed  {rule}  {} {} -> {}", change.setting, change.was, change.becomes));
    }
    for Left { rule, why } in &fixed.left {
        lines.push(format!("left     {rule}  {why}"));
    }
    if !fixed.made.is_empty() {
        let made = plural(fixed.made.len(), "change");
        lines.push(format!("\n{made} made, until a reboot or {}.", call::sudo_takt("doctor --undo")));
    }
    lines.push(match fixed.stands.as_slice() {
        [] => "Yes: nothing stands in the way of a radio any more.".into(),
        stands => format!("No: still in the way of a radio: {}.", stands.join(", ")),
    });
    lines.join("\n")
}
