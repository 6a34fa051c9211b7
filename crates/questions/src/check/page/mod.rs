//! The report of `takt check`: from its outcome to a document.
//!
//! The sentences that judge (what limits, what to change, what is left open) are part of the outcome, so that page,
//! terminal and JSON share them; here they get their place, beside the figures and tables that show why.

mod answer;
mod engines;
mod figures;
mod path;
mod rates;
mod records;
mod replies;
mod stops;
mod waveforms;
pub(crate) mod words;

pub(crate) use waveforms::component_or_host;

use crate::check::{CheckOutcome, DoctorFinding, RadioSetup};
use takt_lab::About;

use takt_page::Reading;
use takt_page::{Cell, Column, Figure, Provenance, Report, ReportAnswer, Row, Section, Table, Unit, count, duration};

/// The whole report of a check. Set [`Report::page`] where the page was written, before showing it on a terminal.
pub fn report(outcome: &CheckOutcome) -> Report {
    let sections = [
        rates::section(outcome),
        path::section(outcome),
        replies::section(outcome),
        waveforms::section(outcome),
        doctor(outcome),
    ];
    let verdict = &outcome.verdict;
    let findings = answer::findings(outcome);
    Report {
        title: format!("takt check on {}", outcome.about.host.hostname),
        run: outcome.about.run.clone(),
        facts: facts(outcome),
        verdict: answer::verdict(outcome, &findings),
        findings,
        brief: rates::brief(outcome),
        fixes: verdict.fixes.iter().map(answer::fix).collect(),
        not_said: verdict.caveats.iter().chain(&outcome.left_out).cloned().collect(),
        sections: sections.into_iter().flatten().collect(),
        records: records::tables(outcome),
        host: host(outcome),
        provenance: provenance(outcome),
        page: None,
    }
}

/// `lab-7 · 4 cores · Linux 6.18 · radio emulated on this host · 3 rounds · 1 min 52 s`.
fn facts(outcome: &CheckOutcome) -> Vec<String> {
    let setup = &outcome.setup;
    let radio = match &setup.radio {
        RadioSetup::Emulated { .. } => "radio emulated on this host".to_owned(),
        RadioSetup::Given { addr, device: true, emulator, .. } => {
            let software = if *emulator { " (takt's emulator)" } else { "" };
            format!("radio behind {addr}{software}")
        }
        RadioSetup::Given { model, addr, serial, emulator, .. } => {
            let serial = serial.as_ref().map(|s| format!(", serial {s}")).unwrap_or_default();
            match emulator {
                true => format!("radio at {addr} (takt's emulator){serial}"),
                false => format!("{model} at {addr}{serial}"),
            }
        }
    };
    let rounds = outcome.rates.iter().map(|p| p.counted).max().unwrap_or(0);
    // Without a record of a round neither is known.
    let known = [("path", &setup.path), ("engine", &setup.engine)].into_iter().filter(|(_, name)| !name.is_empty());
    let way = known.map(|(what, name)| format!("{what} {name}"));
    let rounds = (rounds > 0).then(|| words::plural(rounds, "round"));
    facts_with(&outcome.about, std::iter::once(radio).chain(way).chain(rounds))
}

/// The machine, `more`, how long it took, and whether that was all.
pub(crate) fn facts_with(about: &About, more: impl IntoIterator<Item = String>) -> Vec<String> {
    let host = [about.host.hostname.clone(), words::plural(about.host.cores, "core"), about.host.kernel.clone()];
    let end = (!about.complete).then(|| "interrupted".to_owned());
    host.into_iter().chain(more).chain([duration(about.duration_s)]).chain(end).collect()
}

/// Tables without rows are left out; `None` where nothing is left.
fn section_of<const N: usize>(
    id: &str,
    title: &str,
    lead: &str,
    figures: Vec<Figure>,
    tables: [Table; N],
) -> Option<Section> {
    Section::shown(id, title, lead, figures, tables.into_iter().filter(|table| !table.rows.is_empty()).collect())
}

/// The mean over rounds, or the value of the only one, leading to the rounds.
fn mean(unit: Unit, values: impl Iterator<Item = f64>, rounds: &str) -> Cell {
    let values: Vec<f64> = values.collect();
    match (takt_stats::mean(&values, 0.95), values.first()) {
        (Some(e), _) => Cell::linked(unit.show_reading(&Reading::amount(unit, e, values.iter().copied())), rounds),
        (None, Some(one)) => Cell::linked(unit.show(*one, 3), rounds),
        (None, None) => Cell::default(),
    }
}

fn host(outcome: &CheckOutcome) -> Vec<(String, String)> {
    let (host, setup) = (&outcome.about.host, &outcome.setup);
    let cores = |list: &[usize]| list.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
    let mut rows = vec![
        ("name", host.hostname.clone()),
        ("kernel", host.kernel.clone()),
        ("CPU", host.cpu_model.clone()),
        ("cores", host.cores.to_string()),
        ("memory", format!("{:.1}\u{a0}GiB", host.memory_bytes as f64 / (1_u64 << 30) as f64)),
        ("virtualisation", host.virtualisation.clone().unwrap_or_else(|| "not visible".to_owned())),
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

fn provenance(outcome: &CheckOutcome) -> Provenance {
    let r = &outcome.rounds;
    let parts = [
        (r.valid, "counted"),
        (r.disturbed, "disturbed by other load"),
        (r.emulator_late, "in which the emulator itself was late"),
        (r.failed, "that takt could not run"),
        (r.skipped, "skipped, because a lower rate had clearly failed"),
        (r.repeated, "run again"),
    ];
    let parts: Vec<String> = parts.iter().map(|(n, what)| format!("{} {what}", count(*n as u64))).collect();
    Provenance {
        started: outcome.about.started.clone(),
        version: outcome.about.takt_version.clone(),
        commands: vec![format!("takt report {}", outcome.about.run)],
        notes: vec![
            format!("Rounds: {} planned; {}.", count(r.planned as u64), parts.join(", ")),
            "The store keeps them under this run. To draw this page again from them, run the command below.".to_owned(),
        ],
    }
}

/// Nothing that a reader of this page has to know.
fn passed(finding: &DoctorFinding) -> bool {
    matches!(finding.finding.as_str(), "fine" | "notice")
}

fn doctor(outcome: &CheckOutcome) -> Option<Section> {
    let row = |f: &DoctorFinding| {
        let finding = match f.finding.as_str() {
            "problem" | "stands" => Cell::answered("problem", ReportAnswer::No),
            _ => Cell::answered("not visible", ReportAnswer::Unknown),
        };
        let observed = match &f.wanted {
            Some(wanted) => format!("{}; wanted {wanted}", f.observed),
            None => f.observed.clone(),
        };
        let why = match &f.cost {
            Some(cost) => format!("{} Here: {cost}.", f.mechanism),
            None => f.mechanism.clone(),
        };
        let fix = Cell::text(f.fix.clone().unwrap_or_default());
        Row::plain([Cell::text(&f.id), finding, Cell::text(observed), Cell::text(why), fix])
    };
    let columns = ["rule", "finding", "observed", "why it matters", "fix"].map(Column::text).into();
    let rows = outcome.doctor.iter().filter(|finding| !passed(finding)).map(row).collect();
    let note = match outcome.doctor.iter().filter(|finding| passed(finding)).count() {
        0 => String::new(),
        fine => format!("Fine, or not relevant to this kind of radio: {fine} more."),
    };
    (!outcome.doctor.is_empty()).then(|| Section {
        id: "doctor".into(),
        title: "Problems of this host".into(),
        lead: "takt checked these rules before the first round. takt doctor --explain RULE explains one.".into(),
        tables: vec![Table::new("doctor-rules", "Rules and what they saw", columns, rows).with_note(note)],
        ..Section::default()
    })
}
