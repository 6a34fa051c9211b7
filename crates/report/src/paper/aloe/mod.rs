//! The report of `takt paper aloe`: from its outcome to a document.
//!
//! The sentences are part of the outcome, so that page, terminal and JSON share them; here figures and tables get their
//! place, the paper's figures always beside ours and drawn hollow.

mod execution;
mod figures;
mod tables;

use takt_lab::check;
use takt_lab::paper::aloe::Outcome;

use super::common;
use crate::{Provenance, Report, Verdict, count, duration};

/// The whole report. Set [`Report::page`] where the page was written, before showing it on a terminal.
pub fn report(outcome: &Outcome) -> Report {
    let sections = [
        common::section(
            "execution",
            "Table I and Figure 1: execution times",
            EXECUTION,
            execution::figures(outcome),
            execution::tables(outcome),
        ),
        common::section(
            "longest",
            "Figure 2: the longest packet of a slot",
            LONGEST,
            figures::longest(outcome),
            tables::longest(outcome),
        ),
        common::section(
            "interface",
            "Figures 3 and 4: interfaces",
            INTERFACE,
            figures::interface(outcome),
            tables::interface(outcome),
        ),
        common::section(
            "overhead",
            "Figures 5 and 6: overhead",
            OVERHEAD,
            figures::overhead(outcome),
            tables::overhead(outcome),
        ),
        common::section("roles", "Table II: by role", ROLES, Vec::new(), tables::roles(outcome)),
        common::section("memory", "Table III: memory", MEMORY, Vec::new(), tables::memory(outcome)),
    ];
    Report {
        title: format!("takt paper aloe on {}", outcome.host.hostname),
        run: outcome.run.clone(),
        facts: facts(outcome),
        verdict: Verdict { answer: outcome.answer.into(), headline: headline(outcome), says: outcome.says.clone() },
        findings: outcome.claims.iter().map(common::claim).collect(),
        fixes: Vec::new(),
        not_said: outcome.does_not_say.iter().chain(&outcome.left_out).cloned().collect(),
        sections: sections.into_iter().flatten().collect(),
        records: common::records(&outcome.records).into_iter().collect(),
        host: host(outcome),
        provenance: provenance(outcome),
        page: None,
    }
}

const EXECUTION: &str = "The 384 kb/s channel of UTRA FDD on one core, on the beat: 3840 information bits a slot, transmitter and \
                         receiver, with a modulator, noise and a demodulator between them that are not in the table. Each \
                         execution is timed by the runtime, in every slot.";
const LONGEST: &str = "Source, modulator (bits to 16-bit samples), demodulator, sink. The packet is raised until slots are \
                       missed, narrowed, and confirmed; most of three trials must pass. A round is one search.";
const INTERFACE: &str = "Write, hand-over and read of a packet on the runtime's own links. takt hands the memory of a packet \
                         over without a copy: the two copies are those of an application that copies in and out, as ALOE's \
                         send and receive do, and the floor is the same two copies without a link.";
const OVERHEAD: &str = "Chains of components that do nothing, as fast as slots go: what is neither waiting nor execution, and \
                        the line through it, fitted in each block of rounds.";
const ROLES: &str = "ALOE runs a daemon a role; takt does their work in one program, mostly outside real time.";
const MEMORY: &str = "What a process of its own has written (Private_Dirty), before a waveform is there and with it.";

fn facts(outcome: &Outcome) -> Vec<String> {
    let host = &outcome.host;
    let mut facts = vec![
        host.hostname.clone(),
        format!("{}\u{a0}cores", host.cores),
        host.kernel.clone(),
        match outcome.real_time {
            Some(true) => "real-time priority".to_owned(),
            _ => "normal priority".to_owned(),
        },
        format!("{}\u{a0}rounds", count(outcome.rounds.valid as u64)),
        duration(outcome.duration_s),
    ];
    if !outcome.complete {
        facts.push("interrupted".to_owned());
    }
    facts
}

fn headline(outcome: &Outcome) -> String {
    let with = |answer| outcome.claims.iter().filter(|claim| claim.answer == answer).count();
    let (seen, not, open) = (with(check::Answer::Holds), with(check::Answer::Fails), with(check::Answer::Unknown));
    format!(
        "{seen} of the paper's {} claims were seen here, {not} were not, {open} could not be looked at.",
        outcome.claims.len()
    )
}

fn host(outcome: &Outcome) -> Vec<(String, String)> {
    let host = &outcome.host;
    let floors = &outcome.floors;
    let ns = |value: f64| crate::Unit::SECONDS.show(value * 1e-9, 3);
    let rows = [
        ("name", host.hostname.clone()),
        ("kernel", host.kernel.clone()),
        ("processor", host.cpu_model.clone()),
        ("cores", host.cores.to_string()),
        ("virtualisation", host.virtualisation.clone().unwrap_or_else(|| "could not be seen".to_owned())),
        ("floor: reading the clock", ns(floors.clock_read_ns)),
        ("floor: a call through a pointer", ns(floors.null_call_ns)),
        ("floor: such a call, measured", ns(floors.measured_call_ns)),
        ("floor: multiply-accumulates", format!("{} a second", crate::Unit::prefixed("MAC").show(floors.mac_per_s, 3))),
        ("floor: copying 16 KiB", format!("{}/s", crate::Unit::prefixed("B").show(floors.memcpy_bytes_per_s, 3))),
    ];
    rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn provenance(outcome: &Outcome) -> Provenance {
    let r = &outcome.rounds;
    let depth = if outcome.depth == "quick" { " --quick" } else { "" };
    Provenance {
        started: outcome.started.clone(),
        version: outcome.takt_version.clone(),
        commands: vec![format!("takt paper aloe{depth}"), format!("takt experiment show {}", outcome.run)],
        notes: vec![
            format!(
                "Rounds: {} planned; {} counted, {} disturbed by other load, {} that could not be run, {} run again.",
                r.planned, r.valid, r.disturbed, r.failed, r.repeated
            ),
            "The paper: I. Gomez, V. Marojevic, J. Bracke, A. Gelonch, Performance and overhead analysis of the ALOE \
             middleware for SDR. Its figures are hollow in every figure and have columns of their own in tables."
                .to_owned(),
        ],
    }
}
