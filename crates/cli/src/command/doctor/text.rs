//! The doctor's findings on the screen: problems in full, then a line for each rule that could not decide, then a count.

use std::fmt::Write as _;

use takt_base::words::plural;
use takt_doctor::{Diagnosis, FixKind, FixOffer, Proof, Verdict};
use takt_host::call;

use super::Findings;

/// The order of the verdicts; the answer is the last line.
const ORDER: [Verdict; 5] =
    [Verdict::Problem, Verdict::Notice, Verdict::NotVisible, Verdict::NotKnownHere, Verdict::Fine];

/// `all`: also rules that are fine or only a notice. `undo`: the call that undoes changes.
pub(super) fn findings(found: &Findings, all: bool, undo: &str) -> String {
    let mut text = String::new();
    let shown = |verdict| all || !matches!(verdict, Verdict::Notice | Verdict::Fine);
    let listed = || found.diagnoses.iter().filter(|one| shown(one.verdict));
    let width = listed().map(|one| one.id.len()).max().unwrap_or(0);
    for verdict in ORDER {
        for diagnosis in listed().filter(|one| one.verdict == verdict) {
            one(&mut text, diagnosis, width);
        }
    }
    if !all {
        rest(&mut text, found);
    }
    if !found.changed.is_empty() {
        let changes = plural(found.changed.len(), "change");
        let _ = writeln!(text, "\n{changes} by takt in force; undo with {undo}.");
    }
    text + &answer(found)
}

fn rest(text: &mut String, found: &Findings) {
    let count = |verdict| found.diagnoses.iter().filter(|one| one.verdict == verdict).count();
    let (notices, fine) = (plural(count(Verdict::Notice), "notice"), count(Verdict::Fine));
    let _ = writeln!(text, "{fine} fine, {notices} for other programs or other radios; --all lists them.");
}

fn one(text: &mut String, diagnosis: &Diagnosis, width: usize) {
    let _ = writeln!(text, "{:<8} {:<width$}  {}", diagnosis.verdict.word(), diagnosis.id, diagnosis.observed);
    let mut row = |label: &str, words: &str| {
        let _ = writeln!(text, "{:9}{label:<7} {words}", "");
    };
    match diagnosis.verdict {
        Verdict::Problem => {
            row("wanted", diagnosis.wanted.as_deref().unwrap_or_default());
            row("why", &diagnosis.why);
            if let Some(cost) = &diagnosis.cost {
                row("costs", cost.measured_here.as_deref().unwrap_or(&cost.known));
            }
        }
        Verdict::Notice => row("note", diagnosis.wanted.as_deref().unwrap_or_default()),
        Verdict::Fine | Verdict::NotVisible | Verdict::NotKnownHere => {}
    }
    if let Some(offer) = &diagnosis.fix {
        for (n, command) in fixes(&diagnosis.id, offer).iter().enumerate() {
            row(if n == 0 { "fix" } else { "or" }, command);
        }
        if let Some(what) = &offer.affects {
            row("affects", what);
        }
        let provable = takt_doctor::rule(&diagnosis.id).is_some_and(|rule| matches!(rule.proof, Proof::By(_)));
        if provable && diagnosis.verdict == Verdict::Problem && !offer.changes.is_empty() {
            row("prove", &call::sudo_takt(format_args!("doctor --prove {}", diagnosis.id)));
        }
    }
}

/// takt's own command first, since takt can undo it; then the same by hand.
fn fixes(id: &str, offer: &FixOffer) -> Vec<String> {
    let own = (offer.kind != FixKind::Advice).then(|| call::sudo_takt(format_args!("doctor --fix --only {id}")));
    own.into_iter().chain(offer.commands.iter().cloned()).collect()
}

fn answer(found: &Findings) -> String {
    let count = |verdict| found.diagnoses.iter().filter(|one| one.verdict == verdict).count();
    let hidden = count(Verdict::NotVisible) + count(Verdict::NotKnownHere);
    let hidden = if hidden == 0 { String::new() } else { format!("; {hidden} could not decide") };
    let rules = plural(found.diagnoses.len(), "rule");
    if found.knows_nothing() {
        return format!("Not known: none of {rules} could decide.");
    }
    if found.problems.is_empty() {
        return format!("Yes: none of {rules} found a problem{hidden}.");
    }
    format!("No: {} of {rules} found a problem: {}{hidden}.", found.problems.len(), found.problems.join(", "))
}
