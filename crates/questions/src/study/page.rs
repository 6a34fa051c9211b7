//! Parts of the reports of all studies.

use crate::check::{self, RoundState};
use crate::study::{Claim, Figure, Reason, RoundRecord, StudyRun, Tally};
use crate::sweep::Facts;

use crate::check::page::facts_with;
use crate::check::page::words::{plural, round, state};
use takt_page::significant;
use takt_page::{Cell, Column, Finding, Provenance, Report, ReportAnswer, Row, Table, Unit, Verdict};
use takt_page::{Dot, Look, Point, Reading, Series, Source};

/// The report of a study, without what is its own: sections, and whatever it adds.
pub(crate) fn report(of: &StudyRun, paper: &str) -> Report {
    Report {
        title: format!("{} on {}", command(of), of.about.host.hostname),
        run: of.about.run.clone(),
        facts: facts_with(&of.about, [plural(of.rounds.valid, "round")]),
        verdict: Verdict {
            answer: of.answer.into(),
            headline: headline(of, "the paper's claims"),
            summary: of.summary.clone(),
            ..Verdict::default()
        },
        findings: of.claims.iter().flat_map(claim).collect(),
        not_said: of.caveats.iter().chain(&of.left_out).cloned().collect(),
        records: records(&of.records).into_iter().collect(),
        host: host(of),
        provenance: provenance(of, paper),
        ..Report::default()
    }
}

/// [`report`] with what such a paper says of its setup, and with doubts about the rounds.
pub(crate) fn report_with(of: &StudyRun, paper: &Facts, warnings: &[String]) -> Report {
    let mut report = report(of, &paper.cite);
    report.verdict.summary.extend(warnings.iter().map(|warning| format!("Warning: {warning}")));
    let whose = if paper.own { "with" } else { "the paper's" };
    report.host.extend(paper.setup.iter().map(|setup| (whose.to_owned(), setup.clone())));
    if paper.own {
        report.verdict.headline = headline(of, "the expectations");
    }
    report
}

/// The command that asks for it. A part of a study that is run by itself is an option: `virtual-sdr/share`.
fn command(of: &StudyRun) -> String {
    match of.study.split_once('/') {
        Some((study, part)) => format!("takt paper {study} --{part}"),
        None => format!("takt paper {}", of.study),
    }
}

/// Parts of all claims, by how they came out, and why some could not be judged.
fn headline(of: &StudyRun, whose: &str) -> String {
    let parts = &of.parts;
    let made = match parts.by_construction {
        0 => String::new(),
        1 => " 1 more has a fixed result here, by construction, and is not counted.".to_owned(),
        made => format!(" {made} more have a fixed result here, by construction, and are not counted."),
    };
    let stopped = if of.about.complete { "" } else { " The run was interrupted." };
    let all = plural(parts.counted, "part");
    format!("{}.{made}{stopped}", how(parts, &format!("the {all} of {whose}")))
}

/// `2 of 6 parts hold, 1 fails, 3 could not be judged (guest in software, without KVM)`.
fn how(tally: &Tally, of: &str) -> String {
    let Tally { seen, fails, not_judged, .. } = tally;
    let (hold, fail) = (if *seen == 1 { "holds" } else { "hold" }, if *fails == 1 { "fails" } else { "fail" });
    format!("{seen} of {of} {hold}, {fails} {fail}, {not_judged} could not be judged{}", why(&tally.reasons))
}

/// Reasons that are named, the one with most parts first.
const REASONS: usize = 3;

fn why(reasons: &[Reason]) -> String {
    let others: usize = reasons.iter().skip(REASONS).map(|reason| reason.parts).sum();
    let named = reasons.iter().take(REASONS).map(|reason| format!("{}: {}", reason.parts, reason.why));
    let named: Vec<String> = named.chain((others > 0).then(|| format!("{others}: other reasons"))).collect();
    match (reasons, named.as_slice()) {
        ([], _) => String::new(),
        ([only], _) => format!(" ({})", only.why),
        (_, named) => format!(" ({})", named.join("; ")),
    }
}

fn host(of: &StudyRun) -> Vec<(String, String)> {
    let host = &of.about.host;
    let rows = [
        ("name", host.hostname.clone()),
        ("kernel", host.kernel.clone()),
        ("CPU", host.cpu_model.clone()),
        ("cores", host.cores.to_string()),
        ("virtualisation", host.virtualisation.clone().unwrap_or_else(|| "not visible".to_owned())),
    ];
    rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn provenance(of: &StudyRun, paper: &str) -> Provenance {
    let r = &of.rounds;
    let depth = if of.about.depth == "quick" { " --quick" } else { "" };
    Provenance {
        started: of.about.started.clone(),
        version: of.about.takt_version.clone(),
        commands: vec![format!("{}{depth}", command(of)), format!("takt experiment show {}", of.about.run)],
        notes: vec![
            format!(
                "Rounds: {} planned; {} counted, {} disturbed by other load, {} with a late emulator, {} not run, {} that takt \
                 could not run, {} run again.",
                r.planned, r.valid, r.disturbed, r.emulator_late, r.skipped, r.failed, r.repeated
            ),
            format!("The paper: {paper}."),
        ],
    }
}

/// A figure with its interval, leading to its first round.
pub(crate) fn cell(figure: &Figure, unit: Unit, factor: f64) -> Cell {
    let figure = figure.scaled(factor);
    let text = match (figure.estimate, figure.value) {
        (Some(estimate), _) => {
            let rounds = figure.rounds.iter().filter(|round| round.counts).map(|round| round.value);
            unit.show_reading(&Reading::amount(unit, estimate, rounds))
        }
        (None, Some(value)) => unit.show(value, 3),
        (None, None) => return Cell::text("–"),
    };
    match figure.rounds.first() {
        Some(first) => Cell::linked(text, round(first.round_id)),
        None => Cell::text(text),
    }
}

/// A claim of the paper under the answer: a line, and one more for each of its parts where it has several. One that could not come
/// out otherwise has no answer, and neither have its parts.
fn claim(claim: &Claim) -> Vec<Finding> {
    let subject = format!("({}) {}", claim.number, claim.claim);
    let line = |answer: check::CheckAnswer, subject: String, measured: String| Finding {
        answer: answer.into(),
        subject,
        measured,
        margin: String::new(),
        record: None,
    };
    match (&claim.by_construction, claim.parts.as_slice()) {
        (Some(why), _) => {
            vec![line(check::CheckAnswer::Unknown, subject, format!("by construction: {why}; {}", claim.measured))]
        }
        (None, [] | [_]) => vec![line(claim.answer, subject, claim.measured.clone())],
        (None, parts) => {
            let tally = claim.tally();
            let whole = line(claim.answer, subject, how(&tally, &plural(tally.counted, "part")));
            let parts = parts
                .iter()
                .map(|part| line(part.verdict.answer(), format!("({}) {}", claim.number, part.part), part.words()));
            std::iter::once(whole).chain(parts).collect()
        }
    }
}

pub(crate) const HOW_MEANS: &str = "Means over rounds with 95 % intervals.";

pub(crate) fn source(of: &StudyRun, query: impl Into<String>) -> Source {
    Source { run: of.about.run.clone(), query: query.into() }
}

/// A value of the paper, or of a model: no rounds behind it.
pub(crate) fn alone(x: f64, y: f64) -> Point {
    Point { x, y: Some(Reading::alone(y)), rounds: Vec::new() }
}

/// Points of a distribution in nanoseconds, in seconds.
pub(crate) fn step(name: &str, slot: usize, points_ns: &[(f64, f64)]) -> Series {
    let points = points_ns.iter().map(|&(ns, share)| alone(ns * 1e-9, share)).collect();
    Series { name: name.to_owned(), look: Look::Step, slot, points }
}

/// A figure of the study as a point of a drawing, in another unit.
pub(crate) fn point(x: f64, figure: &Figure, factor: f64) -> Point {
    let figure = figure.scaled(factor);
    Point {
        x,
        y: figure.estimate.map(|e| Reading::amount(Unit::COUNT, e, [])).or(figure.value.map(Reading::alone)),
        rounds: figure
            .rounds
            .iter()
            .map(|r| Dot { y: r.value, counts: r.counts, record: Some(round(r.round_id)) })
            .collect(),
    }
}

fn records(rounds: &[RoundRecord]) -> Option<Table> {
    let row = |r: &RoundRecord| {
        let answer = (r.state != RoundState::Valid).then_some(ReportAnswer::Unknown);
        let figures: Vec<String> =
            r.figures.iter().map(|(name, value)| format!("{name}\u{a0}{}", significant(*value, 4))).collect();
        Row::Cells {
            id: Some(round(r.round_id)),
            cells: vec![
                Cell::text(r.round_id.to_string()),
                Cell::text(&r.point),
                Cell { answer, ..Cell::text(state(r.state)) },
                Cell::text(figures.join(", ")),
                Cell::text(r.why.clone().unwrap_or_default()),
            ],
        }
    };
    let columns = ["round", "point", "state", "figures", "remark"].map(Column::text).into();
    (!rounds.is_empty()).then(|| Table::new("rounds", "Rounds", columns, rounds.iter().map(row).collect()))
}
