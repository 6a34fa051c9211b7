//! `takt report`: draw the report of a check or of a study again.

use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, Result};
use serde::Serialize;
use takt_host::call::{self, quoted};
use takt_host::with_causes;
use takt_lab::check::{AssembleError, assemble, self_test};
use takt_lab::store::{Store, StoreError, run_folder};
use takt_page::Report;

use super::experiment::store_problem;
use crate::{Answer, Output, Problem};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt report last                          a check or a study
  takt report 2026-11-21T100412-check --json

Exit status: 0 the report is shown, whatever its verdict; 2 the command failed.")]
pub struct Args {
    /// The run: its name, a part of it, or `last`.
    run: String,
    /// Directory of the records and reports.
    #[arg(long, value_name = "DIR", default_value = "takt-runs")]
    runs: PathBuf,
}

/// Judges the records again, writes page and document, prints the text. Its status says whether it could, not what the answer is.
pub fn run(args: Args, output: &Output) -> Result<Answer> {
    again(args, output).map(|_| Answer::Yes)
}

fn again(args: Args, output: &Output) -> Result<Answer> {
    let store = Store::read(&args.runs).map_err(store_problem)?;
    if super::paper::is_study(&store, &args.run)? {
        return super::paper::again(&store, &args.run, &args.runs, output);
    }
    if self_test::is_self_test(&store.run(&args.run).map_err(store_problem)?) {
        let outcome = self_test::assemble(&store, &args.run).map_err(unreadable)?;
        return super::check::show_self_test(&outcome, &args.runs, output);
    }
    let outcome = assemble(&store, &args.run).map_err(unreadable)?;
    show(takt_report::check::report(&outcome), &outcome, &args.runs, output)?;
    Ok(Answer::Yes)
}

fn unreadable(error: AssembleError) -> miette::Report {
    match error {
        AssembleError::Store(error) => store_problem(error).into(),
        AssembleError::File { source, .. } => miette::Report::new(source),
        other => miette::miette!("{other}"),
    }
}

/// [Saves](save) a report and prints its text, or the document that it was made of.
pub fn show(mut report: Report, outcome: &impl Serialize, runs: &Path, output: &Output) -> Result<()> {
    let document = serde_json::to_string_pretty(outcome).into_diagnostic()?;
    match save(&mut report, &document, runs) {
        // A user who may only read the records gets the text.
        Err(error) if error.is_only_readable() => {
            output.note(format!("No page was written: {}.", with_causes(&error)));
            report.page = None;
        }
        Err(error) => return Err(unwritable(&report, runs, error).into()),
        Ok(()) => {}
    }
    output.drawn(outcome, || report.to_text(&output.style()))
}

/// Writes `report.html` and `outcome.json` beside the records, and notes in the report where the page is.
fn save(report: &mut Report, document: &str, runs: &Path) -> std::result::Result<(), StoreError> {
    let folder = run_folder(runs, &report.run)?;
    report.page = Some(folder.path().join(PAGE).display().to_string());
    let files = [(PAGE, report.to_html()), ("outcome.json", document.to_owned())];
    for (name, content) in files {
        folder
            .replace(name, content.as_bytes())
            .map_err(|error| StoreError::unwritable(&folder.path().join(name), error))?;
    }
    Ok(())
}

const PAGE: &str = "report.html";

fn unwritable(report: &Report, runs: &Path, error: StoreError) -> Problem {
    let again = call::takt(format_args!("report {} --runs {}", report.run, quoted(&runs.to_string_lossy())));
    let again = format!("{again}   (once that is mended; the records are safe)");
    let fix = error.fix().into_iter().chain([again]).collect::<Vec<_>>().join("\n");
    Problem::new(format!("the report can't be written to {}", runs.join(&report.run).display())).why(error).fix(fix)
}
