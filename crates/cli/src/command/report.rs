//! `takt report`: draw the report of a check or of a study again.

use std::path::{Path, PathBuf};

use miette::Result;
use takt_host::call::{self, quoted};
use takt_host::with_causes;
use takt_lab::store::{Store, StoreError, run_folder};
use takt_lab::{AssembleError, StoredRun};
use takt_page::Report;
use takt_questions::{Answered, QuestionError};

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
    let store = Store::read(&args.runs).map_err(store_problem)?;
    let run = StoredRun::read(&store, &args.run).map_err(unreadable)?;
    let answered = takt_questions::answer(run).map_err(cannot_answer)?;
    show(answered, &args.runs, output)?;
    Ok(Answer::Yes)
}

fn cannot_answer(error: QuestionError) -> miette::Report {
    match error {
        QuestionError::Assemble(error) => unreadable(error),
        error => Problem::caused("the report can't be drawn", error, QuestionError::fix).into(),
    }
}

fn unreadable(error: AssembleError) -> miette::Report {
    match error {
        AssembleError::Store(error) => store_problem(error).into(),
        AssembleError::File { source, .. } => miette::Report::new(source),
        other => miette::miette!("{other}"),
    }
}

/// [Saves](save) the report of an answer, and prints its text, or the document that it was made of. The status is the word that
/// the report begins with.
pub fn show(answered: Answered, runs: &Path, output: &Output) -> Result<Answer> {
    let Answered { mut report, document, stopped, .. } = answered;
    match save(&mut report, &document, runs) {
        // A user who may only read the records gets the text.
        Err(error) if error.is_only_readable() => {
            output.note(format!("No page was written: {}.", with_causes(&error)));
            report.page = None;
        }
        Err(error) => return Err(unwritable(&report, runs, error).into()),
        Ok(()) => {}
    }
    output.drawn_document(&document, || report.to_text(&output.style()));
    if let Some(stopped) = stopped {
        output.note(stopped);
    }
    Ok(report.verdict.answer.into())
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
