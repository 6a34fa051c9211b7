//! The report of `takt paper aloe`: from its outcome to a document.
//!
//! The sentences are part of the outcome, so that page, terminal and JSON share them; here figures and tables get their
//! place, the paper's figures always beside ours and drawn hollow.

mod execution;
mod figures;
mod tables;

use crate::aloe::AloeOutcome;

use crate::study::page as common;
use takt_page::{Report, Section, Unit};

/// The whole report. Set [`Report::page`] where the page was written, before showing it on a terminal.
pub fn report(outcome: &AloeOutcome) -> Report {
    let execution = (execution::figures(outcome), execution::tables(outcome));
    let longest = (figures::longest(outcome), tables::longest(outcome));
    let split = (Vec::new(), tables::split(outcome));
    let interface = (figures::interface(outcome), tables::interface(outcome));
    let overhead = (figures::overhead(outcome), tables::overhead(outcome));
    let sections = [
        ("execution", "Table I and Figure 1: execution times", EXECUTION, execution),
        ("longest", "Figure 2: the longest packet of a slot", LONGEST, longest),
        ("split", "Two nodes: the UTRAN chain split", SPLIT, split),
        ("interface", "Figures 3 and 4: interfaces", INTERFACE, interface),
        ("overhead", "Figures 5 and 6: overhead", OVERHEAD, overhead),
        ("roles", "Table II: by role", ROLES, (Vec::new(), tables::roles(outcome))),
        ("memory", "Table III: memory", MEMORY, (Vec::new(), tables::memory(outcome))),
    ];
    let sections =
        sections.map(|(id, title, lead, (figures, tables))| Section::shown(id, title, lead, figures, tables));
    let priority = if outcome.real_time == Some(true) { "real-time priority" } else { "normal priority" };
    let mut report = common::report(&outcome.of, &outcome.paper.cite);
    report.facts.insert(3, priority.to_owned());
    report.host.extend(floors(outcome));
    let hollow = "The paper's figures are hollow in every figure and have columns of their own in tables.";
    report.provenance.notes.push(hollow.to_owned());
    report.sections = sections.into_iter().flatten().collect();
    report
}

const EXECUTION: &str = "The 384 kb/s channel of UTRA FDD on one core, slot by slot: 3840 information bits a slot, transmitter \
                         and receiver, with a modulator, noise and a demodulator between them that are not in the table. The \
                         runtime times each execution, in every slot. Beside the paper's ARM is an aarch64 in user emulation: \
                         the same program in another instruction set, on a slower and different kind of CPU. Its times do \
                         not show how fast an ARM machine is.";
const LONGEST: &str = "Source, modulator (bits to 16-bit samples), demodulator, sink. takt raises the packet until slots \
                       are missed, narrows it down, and confirms it; most of three trials must pass. A round is one search. \
                       Two nodes are two namespaces of this machine, joined by a cable of the paper's rate. The samples cross \
                       it, 16 bits for each bit of the source.";
const SPLIT: &str = "Each node has one worker and executes its share. Data between them cross the cable in datagrams, with a \
                     slot to travel. Every slot begins at one instant of the first node's clock. Both nodes are on one machine, \
                     so takt sees how far the second node is off that clock.";
const INTERFACE: &str = "Write, hand-over and read of a packet on the runtime's own links. takt hands the memory of a packet \
                         over without a copy. The two copies are those of an application that copies in and out, as ALOE's \
                         send and receive do. The floor is the same two copies without a link.";
const OVERHEAD: &str = "Chains of components that do nothing, with slots as fast as they go. Overhead is neither waiting nor \
                        execution. The line through it is fitted in each block of rounds.";
const ROLES: &str =
    "ALOE runs one daemon for each role. takt does their work in one program, mostly outside real time.";
const MEMORY: &str = "What a process of its own has written (Private_Dirty), before a waveform is there and with it.";

/// Lower limits for everything measured here.
fn floors(outcome: &AloeOutcome) -> impl Iterator<Item = (String, String)> {
    let floors = &outcome.floors;
    let ns = |value: f64| Unit::SECONDS.show(value * 1e-9, 3);
    let rows = [
        ("reading the clock", ns(floors.clock_read_ns)),
        ("a call through a pointer", ns(floors.null_call_ns)),
        ("such a call, measured", ns(floors.measured_call_ns)),
        ("multiply-accumulates", format!("{} a second", Unit::prefixed("MAC").show(floors.mac_per_s, 3))),
        ("copying 16 KiB", format!("{}/s", Unit::prefixed("B").show(floors.memcpy_bytes_per_s, 3))),
    ];
    rows.into_iter().map(|(of, value)| (format!("floor: {of}"), value))
}
