//! The report of `takt check`: from its outcome to a document.
//!
//! The sentences that judge (what limits, what to change, what is not said) are part of the outcome, so that page,
//! terminal and JSON share them; here they get their place, beside the figures and tables that show why.

mod answer;
mod figures;
mod path;
mod rates;
mod records;
mod replies;
mod self_test;
mod waveforms;
mod words;

pub use self_test::self_test;
use takt_lab::check::{DoctorFinding, Outcome, RadioSetup};

use crate::{Answer, Cell, Column, Provenance, Report, Row, Section, Table, count, duration};

/// The whole report of a check. Set [`Report::page`] where the page was written, before showing it on a terminal.
pub fn report(outcome: &Outcome) -> Report {
    let sections = [
        rates::section(outcome),
        path::section(outcome),
        replies::section(outcome),
        waveforms::section(outcome),
        doctor(outcome),
    ];
    let verdict = &outcome.verdict;
    Report {
        title: format!("takt check on {}", outcome.about.host.hostname),
        run: outcome.about.run.clone(),
        facts: facts(outcome),
        verdict: answer::verdict(verdict),
        findings: answer::findings(outcome),
        brief: rates::brief(outcome),
        fixes: verdict.fixes.iter().map(answer::fix).collect(),
        not_said: verdict.does_not_say.iter().chain(&outcome.left_out).cloned().collect(),
        sections: sections.into_iter().flatten().collect(),
        records: records::tables(outcome),
        host: host(outcome),
        provenance: provenance(outcome),
        page: None,
    }
}

/// `lab-7 · 4 cores · Linux 6.18 · radio emulated on this host · 3 rounds · 1 min 52 s`.
fn facts(outcome: &Outcome) -> Vec<String> {
    let setup = &outcome.setup;
    let radio = match &setup.radio {
        RadioSetup::Emulated { .. } => "radio emulated on this host".to_owned(),
        RadioSetup::Given { model, addr, serial, emulator } => {
            let serial = serial.as_ref().map(|s| format!(", serial {s}")).unwrap_or_default();
            match emulator {
                true => format!("radio at {addr} (takt's emulator){serial}"),
                false => format!("{} at {addr}{serial}", words::model(model)),
            }
        }
    };
    let rounds = outcome.rates.iter().map(|p| p.counted).max().unwrap_or(0);
    let mut facts = vec![
        outcome.about.host.hostname.clone(),
        words::plural(outcome.about.host.cores, "core"),
        outcome.about.host.kernel.clone(),
        radio,
        format!("path {}", setup.path),
        format!("engine {}", setup.engine),
    ];
    if rounds > 0 {
        facts.push(words::plural(rounds, "round"));
    }
    facts.push(duration(outcome.about.duration_s));
    if !outcome.about.complete {
        facts.push("interrupted".to_owned());
    }
    facts
}

fn host(outcome: &Outcome) -> Vec<(String, String)> {
    let (host, setup) = (&outcome.about.host, &outcome.setup);
    let cores = |list: &[usize]| list.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let mut rows = vec![
        ("name", host.hostname.clone()),
        ("kernel", host.kernel.clone()),
        ("processor", host.cpu_model.clone()),
        ("cores", host.cores.to_string()),
        ("memory", format!("{:.1}\u{a0}GiB", host.memory_bytes as f64 / (1_u64 << 30) as f64)),
        ("virtualisation", host.virtualisation.clone().unwrap_or_else(|| "could not be seen".to_owned())),
        ("environment", setup.environment.clone()),
        ("cores of the host side", cores(&setup.host_cores)),
    ];
    if !setup.radio_cores.is_empty() {
        rows.push(("cores of the emulator", cores(&setup.radio_cores)));
    }
    let mut rows: Vec<(String, String)> = rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    rows.extend(host.more.iter().map(|(name, value)| (name.clone(), value.clone())));
    rows
}

fn provenance(outcome: &Outcome) -> Provenance {
    let r = &outcome.rounds;
    let parts = [
        (r.valid, "counted"),
        (r.disturbed, "disturbed by other load"),
        (r.emulator_late, "in which the emulator was late itself"),
        (r.failed, "that could not be run"),
        (r.skipped, "skipped, since a lower rate had failed clearly"),
        (r.repeated, "run again"),
    ];
    let parts: Vec<String> = parts.iter().map(|(n, what)| format!("{} {what}", count(*n as u64))).collect();
    Provenance {
        started: outcome.about.started.clone(),
        version: outcome.about.takt_version.clone(),
        commands: vec![format!("takt report {}", outcome.about.run)],
        notes: vec![
            format!("Rounds: {} planned; {}.", count(r.planned as u64), parts.join(", ")),
            "They lie in the store under this run; the command draws this page again from them.".to_owned(),
        ],
    }
}

/// Nothing that a reader of this page has to know.
fn passed(finding: &DoctorFinding) -> bool {
    matches!(finding.finding.as_str(), "fine" | "notice")
}

/// What the doctor saw before the first round.
fn doctor(outcome: &Outcome) -> Option<Section> {
    let row = |f: &DoctorFinding| {
        let (word, answer) = match f.finding.as_str() {
            "stands" => ("stands", Some(Answer::No)),
            _ => ("not visible", Some(Answer::Unknown)),
        };
        let seen = match &f.wanted {
            Some(wanted) => format!("{}; wanted {wanted}", f.seen),
            None => f.seen.clone(),
        };
        let why = match &f.cost {
            Some(cost) => format!("{} Here: {cost}.", f.mechanism),
            None => f.mechanism.clone(),
        };
        let finding = Cell { text: word.to_owned(), answer, record: None };
        let fix = Cell::text(f.fix.clone().unwrap_or_default());
        Row::Cells { id: None, cells: vec![Cell::text(&f.id), finding, Cell::text(seen), Cell::text(why), fix] }
    };
    let table = Table {
        id: "doctor-rules".into(),
        title: "Rules and what they saw".into(),
        columns: ["rule", "finding", "seen", "why it matters", "what mends it"].map(Column::text).into(),
        rows: outcome.doctor.iter().filter(|finding| !passed(finding)).map(row).collect(),
        note: match outcome.doctor.iter().filter(|finding| passed(finding)).count() {
            0 => String::new(),
            fine => format!("Fine, or of no account for a radio of this kind: {fine} more."),
        },
    };
    let section = Section {
        id: "doctor".into(),
        title: "What in this host stands in the way".into(),
        lead: "Looked at before the first round. takt doctor --explain RULE tells more.".into(),
        drawings: Vec::new(),
        figures: Vec::new(),
        tables: vec![table],
    };
    (!outcome.doctor.is_empty()).then_some(section)
}
