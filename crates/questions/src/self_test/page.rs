//! The report of `takt check --self-test`: the table of confusion, and every trial behind it.

use super::{Answers, ErrorRate, GOALS, SelfTest, TableRow, Trial};

use crate::check::page::{facts_with, words};
use takt_page::{Cell, Column, Finding, Provenance, Report, ReportAnswer, Row, Section, Table, Unit, Verdict, count};

/// The whole report of a self-test. Set [`Report::page`] where the page was written, before showing it on a terminal.
pub fn report(outcome: &SelfTest) -> Report {
    let about = &outcome.about;
    let table = confusion_table(&outcome.table);
    Report {
        title: format!("takt check --self-test on {}", about.host.hostname),
        run: about.run.clone(),
        facts: facts_with(about, [words::plural(outcome.trials.len(), "trial")]),
        verdict: verdict(outcome),
        findings: findings(outcome),
        brief: Some(table.clone()),
        fixes: Vec::new(),
        not_said: outcome.not_tried.iter().map(|one| format!("{}: not tried, {}", one.done, one.why)).collect(),
        sections: vec![confusion(table)],
        records: vec![trials(&outcome.trials)],
        host: about.host.more.iter().map(|(name, value)| (name.clone(), value.clone())).collect(),
        provenance: Provenance {
            started: about.started.clone(),
            version: about.takt_version.clone(),
            commands: vec![format!("takt report {}", about.run)],
            notes: vec![
                "The store keeps the rounds under this run. To draw this page again from them, run the command below."
                    .into(),
            ],
        },
        page: None,
    }
}

fn verdict(outcome: &SelfTest) -> Verdict {
    let answer = ReportAnswer::from(outcome.answer);
    let contradicts = outcome.trials.iter().any(|trial| trial.truth.accounts_differ > 0);
    let headline = match answer {
        ReportAnswer::Yes => "you can rely on the verdict of takt check here.",
        ReportAnswer::No if contradicts => "the self-test contradicts itself, so it proves nothing.",
        ReportAnswer::No => "the verdict of takt check errs more often here than allowed.",
        ReportAnswer::Unknown => "whether you can rely on the verdict of takt check here.",
    };
    // The three shares are findings; what else must be known follows them.
    Verdict {
        answer,
        headline: headline.into(),
        summary: outcome.summary.iter().skip(3).cloned().collect(),
        also: Vec::new(),
    }
}

fn findings(outcome: &SelfTest) -> Vec<Finding> {
    let (rates, goals) = (&outcome.error_rates, GOALS.on(outcome.about.host.cores));
    let finding = |subject: &str, rate: &ErrorRate, most: f64| Finding {
        answer: match (rate.trials, rate.errors as f64 <= most * rate.trials as f64) {
            (0, _) => ReportAnswer::Unknown,
            (_, true) => ReportAnswer::Yes,
            (_, false) => ReportAnswer::No,
        },
        subject: subject.to_owned(),
        measured: format!("{} of {}", count(rate.errors as u64), words::plural(rate.trials, "trial")),
        margin: rate.share.map_or_else(String::new, |share| {
            let [most, high] = [most, share.high()].map(|share| Unit::SHARE.show(share, 2));
            format!("allowed: at most {most}; with 95\u{a0}% confidence at most {high}")
        }),
        record: None,
    };
    vec![
        finding("\"yes\" for a host that loses", &rates.wrong_yes, goals.wrong_yes_max),
        finding("\"no\" for a host that keeps up", &rates.wrong_no, goals.wrong_no_max),
        finding("\"not known\"", &rates.not_known, goals.not_known_max),
    ]
}

fn confusion_table(rows: &[TableRow]) -> Table {
    let numbers = ["loses: no", "not known", "yes", "keeps up: yes", "not known", "no"];
    let columns = Column::row("done to the host", &numbers, &[]);
    let title = "Answers for hosts that lose and for hosts that keep up";
    Table::new("confusion-table", title, columns, rows.iter().map(confusion_row).collect()).with_note(
        "A trial is three rounds on one host. The samples' own numbers and the radio's report show whether a host loses; \
         the verdict uses neither.",
    )
}

fn confusion(table: Table) -> Section {
    Section { id: "confusion".into(), title: "Verdict against truth".into(), tables: vec![table], ..Section::default() }
}

fn confusion_row(row: &TableRow) -> Row {
    let number = |n: usize, wrong: bool| Cell {
        text: if n == 0 { "·".into() } else { count(n as u64) },
        answer: (wrong && n > 0).then_some(ReportAnswer::No),
        record: None,
    };
    let Answers { yes, no, not_known } = row.loses;
    let loses = [number(no, false), number(not_known, false), number(yes, true)];
    let Answers { yes, no, not_known } = row.keeps_up;
    let keeps_up = [number(yes, false), number(not_known, false), number(no, true)];
    Row::plain(std::iter::once(Cell::text(&row.done)).chain(loses).chain(keeps_up))
}

fn trials(trials: &[Trial]) -> Table {
    let mut columns = Vec::from(["done to the host", "stream", "answer"].map(Column::text));
    let numbers = ["samples missing", "lost by the radio", "rounds that count"];
    columns.extend(Column::row("loses", &numbers, &["why"]));
    let row = |trial: &Trial| {
        let stream = format!("{} {}", words::mode(trial.mode), words::rate(trial.rate_sps));
        let answer = ReportAnswer::from(trial.answer);
        Row::plain([
            Cell::text(&trial.done),
            Cell::text(stream),
            Cell::answered(answer.verdict_word().to_lowercase(), answer),
            Cell::text(if trial.loses { "yes" } else { "no" }),
            Cell::text(count(trial.truth.missing_samples)),
            Cell::text(count(trial.truth.radio_missed)),
            Cell::text(count(trial.counted as u64)),
            Cell::text(&trial.why),
        ])
    };
    Table::new("trials", "Trials", columns, trials.iter().map(row).collect())
}
