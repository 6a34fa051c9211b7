//! What the doctor found, for people: first and in full what stands, in a line what could not be examined, the rest as a number.

use std::fmt::Write as _;

use takt_base::words::plural;
use takt_doctor::{Diagnosis, FixKind, FixOffer, Proof, Verdict};
use takt_host::call;

use super::Findings;

/// The order of the page; the answer is the last line.
const ORDER: [Verdict; 5] =
    [Verdict::Stands, Verdict::Notice, Verdict::NotVisible, Verdict::NotKnownHere, Verdict::Fine];

/// `all`: also what is fine or only noted. `undo`: the call that gives changes back.
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
        let _ = writeln!(text, "\n{changes} of takt's own in force; {undo} gives them back.");
    }
    text + &answer(found)
}

fn rest(text: &mut String, found: &Findings) {
    let count = |verdict| found.diagnoses.iter().filter(|one| one.verdict == verdict).count();
    let (noted, fine) = (count(Verdict::Notice), count(Verdict::Fine));
    let _ = writeln!(text, "{fine} fine, {noted} noted for other programs or other radios; --all lists them.");
}

fn one(text: &mut String, diagnosis: &Diagnosis, width: usize) {
    let _ = writeln!(text, "{:<8} {:<width$}  {}", diagnosis.verdict.word(), diagnosis.id, diagnosis.observed);
    let mut row = |label: &str, words: &str| {
        let _ = writeln!(text, "{:9}{label:<7} {words}", "");
    };
    match diagnosis.verdict {
        Verdict::Stands => {
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
        for (n, way) in ways(&diagnosis.id, offer).iter().enumerate() {
            row(if n == 0 { "fix" } else { "or" }, way);
        }
        if let Some(who) = &offer.who_may_pay {
            row("pays", who);
        }
        let provable = takt_doctor::rule(&diagnosis.id).is_some_and(|rule| matches!(rule.proof, Proof::By(_)));
        if provable && diagnosis.verdict == Verdict::Stands && !offer.changes.is_empty() {
            row("prove", &call::sudo_takt(format_args!("doctor --prove {}", diagnosis.id)));
        }
    }
}

/// takt's own command first, since it can be undone; then the same by hand.
fn ways(id: &str, offer: &FixOffer) -> Vec<String> {
    let own = (offer.kind != FixKind::Advice).then(|| call::sudo_takt(format_args!("doctor --fix --only {id}")));
    own.into_iter().chain(offer.commands.iter().cloned()).collect()
}

fn answer(found: &Findings) -> String {
    let count = |verdict| found.diagnoses.iter().filter(|one| one.verdict == verdict).count();
    let hidden = count(Verdict::NotVisible) + count(Verdict::NotKnownHere);
    let hidden = if hidden == 0 { String::new() } else { format!(", {hidden} could not be judged") };
    if found.knows_nothing() {
        return format!("Not known: none of {} could be judged.", plural(found.diagnoses.len(), "rule"));
    }
    if found.stands.is_empty() {
        return format!("Yes: nothing stands in the way of a radio ({} looked at{hidden}).", found.diagnoses.len());
    }
    let stands = if found.stands.len() == 1 { "stands" } else { "stand" };
    let names = found.stands.join(", ");
    format!("No: {} of {} {stands} in the way of a radio{hidden}: {names}.", found.stands.len(), found.diagnoses.len())
}
