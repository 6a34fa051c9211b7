//! `takt report`: draw the report of a check or of a study again, beside another one, or its figures for print.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, Result};
use serde_json::Value as Json;
use takt_base::words::plural;
use takt_host::call::{self, quoted};
use takt_host::with_causes;
use takt_lab::store::{Store, StoreError, run_folder};
use takt_lab::{AssembleError, StoredRun};
use takt_page::{Beside, Figure, PngError, Report};
use takt_questions::{Answered, QuestionError};

use super::experiment::store_problem;
use crate::{Answer, Output, Problem};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt report last                          a check or a study
  takt report 2026-11-21T100412-check --json
  takt report 2026-11-21T100412-check last  two runs side by side
  takt report last --figures paper/figures  each figure as SVG for print and as CSV
  takt report last --figures wide --width 181

The page of two runs is report-beside.html in the folder of the first.

Exit status: 0 the report is shown, whatever its verdict; 2 the command failed.")]
pub struct Args {
    /// The run: its name, a part of it, or `last`. With two, both side by side.
    #[arg(value_name = "RUN", required = true, num_args = 1..=2)]
    names: Vec<String>,
    /// Write each figure into this folder, for print: as SVG, light, with 8-point text; and its values as CSV.
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Width of the figures for print, mm: 60 to 297. One column of IEEE journals has 88.9, both have 181.
    #[arg(long, value_name = "MM", default_value_t = 88.9, requires = "figures", value_parser = width_mm)]
    width: f64,
    /// Write each figure as PNG too, at 300 dpi. Needs a build with the feature png.
    #[arg(long, requires = "figures")]
    png: bool,
    /// Directory of the records and reports.
    #[arg(long, value_name = "DIR", default_value = "takt-runs")]
    runs: PathBuf,
}

/// Judges the records again, writes page and document, prints the text. Its status says whether it could, not what the answer is.
pub fn run(args: Args, output: &Output) -> Result<Answer> {
    let store = Store::read(&args.runs).map_err(store_problem)?;
    let answered = |name: &String| -> Result<Answered> {
        let run = StoredRun::read(&store, name).map_err(unreadable)?;
        takt_questions::answer(run).map_err(cannot_answer)
    };
    let mut all = args.names.iter().map(answered).collect::<Result<Vec<_>>>()?;
    if let Some(folder) = &args.figures {
        let runs: BTreeSet<&str> = all.iter().map(|one| one.report.run.as_str()).collect();
        for one in &all {
            let folder = if runs.len() > 1 { folder.join(&one.report.run) } else { folder.clone() };
            let written = write_figures(&one.report, &folder, args.width, args.png)?;
            output.note(format!("figures   {} in {}", plural(written, "figure"), folder.display()));
        }
    }
    match (all.pop(), all.pop()) {
        (Some(second), Some(first)) => show_both(first, second, &args.runs, output),
        (Some(only), None) => show(only, &args.runs, output).map(|_| Answer::Yes),
        (None, _) => Err(Problem::new("no run is named").fix("takt report last").into()),
    }
}

fn width_mm(text: &str) -> Result<f64, String> {
    let (least, most) = (Figure::PRINT_MM.start(), Figure::PRINT_MM.end());
    let width = text.parse::<f64>().ok().filter(|mm| Figure::PRINT_MM.contains(mm));
    width.ok_or_else(|| format!("\"{text}\" is not {least} to {most} mm"))
}

/// Writes each figure as SVG and CSV, and as PNG if it is to be. Answers how many there are.
fn write_figures(report: &Report, folder: &Path, width_mm: f64, png: bool) -> Result<u64, Problem> {
    let unwritten = |path: &Path, error: std::io::Error| {
        let what = format!("can't write {}", path.display());
        Problem::new(what).why(error).fix("give --figures a folder that you may write")
    };
    fs::create_dir_all(folder).map_err(|error| unwritten(folder, error))?;
    let mut written = 0;
    for figure in report.figures() {
        let mut files =
            vec![("svg", figure.to_print_svg(width_mm).into_bytes()), ("csv", figure.to_csv().into_bytes())];
        if png {
            files.push(("png", figure.to_print_png(width_mm).map_err(undrawn)?));
        }
        for (kind, content) in files {
            let path = folder.join(format!("{}.{kind}", figure.file_name()));
            takt_base::replace_file(&path, &content).map_err(|error| unwritten(&path, error))?;
        }
        written += 1;
    }
    Ok(written)
}

fn undrawn(error: PngError) -> Problem {
    let fix = match error {
        PngError::NotBuilt => {
            "cargo build --release --features png\n\
             leave --png out, and convert each: rsvg-convert --dpi-x 300 --dpi-y 300 F.svg -o F.png"
        }
        PngError::NoFont => "install a font: sudo apt-get install fonts-dejavu-core",
        _ => "leave --png out: the SVG has the same figure",
    };
    Problem::new("can't draw a figure as PNG").why(error).fix(fix)
}

/// Both reports side by side, as a page, a text or a document of both.
fn show_both(first: Answered, second: Answered, runs: &Path, output: &Output) -> Result<Answer> {
    let read = |text: &str| serde_json::from_str::<Json>(text).into_diagnostic();
    let document = serde_json::json!({ "first": read(&first.document)?, "second": read(&second.document)? });
    let mut beside = Beside { first: first.report, second: second.report, page: None };
    match save_beside(&beside, runs) {
        Err(error) if error.is_only_readable() => {
            output.note(format!("No page was written: {}.", with_causes(&error)));
        }
        Err(error) => return Err(unwritable(&beside.first, runs, error).into()),
        Ok(path) => beside.page = Some(path.display().to_string()),
    }
    output.answer(&document, || beside.to_text(&output.style()), Answer::Yes)
}

fn save_beside(beside: &Beside, runs: &Path) -> std::result::Result<PathBuf, StoreError> {
    let folder = run_folder(runs, &beside.first.run)?;
    let path = folder.path().join(BESIDE);
    folder.replace(BESIDE, beside.to_html().as_bytes()).map_err(|error| StoreError::unwritable(&path, error))?;
    Ok(path)
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
const BESIDE: &str = "report-beside.html";

fn unwritable(report: &Report, runs: &Path, error: StoreError) -> Problem {
    let again = call::takt(format_args!("report {} --runs {}", report.run, quoted(&runs.to_string_lossy())));
    let again = format!("{again}   (once that is mended; the records are safe)");
    let fix = error.fix().into_iter().chain([again]).collect::<Vec<_>>().join("\n");
    Problem::new(format!("the report can't be written to {}", runs.join(&report.run).display())).why(error).fix(fix)
}
