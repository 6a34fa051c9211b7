//! `takt experiment export`: the rounds of a run for other programs.

#[cfg(feature = "parquet")]
mod parquet;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use miette::{IntoDiagnostic, Result};
use takt_lab::store::{Store, Table};

use super::store_problem;
use crate::streams::{self, Ink};
use crate::{Answer, Output, Problem};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  takt experiment export last --out rounds.csv
  takt experiment export last --format json --out run.json")]
pub struct Args {
    /// The run: its name, a part of it, or `last`.
    run: String,
    /// Format of the output [default: by the extension of --out, else csv, or json with --json].
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// File to write [default: standard output].
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One line per round, one column per leaf of its record (RFC 4180).
    Csv,
    /// The same table in typed columns. Needs --out, and a build with the feature `parquet`.
    Parquet,
    /// The whole run with its histograms, as one document: docs/reference/experiment-export.schema.json.
    Json,
}

impl Args {
    fn format(&self, output: &Output) -> Format {
        let ending = self.out.as_deref().and_then(Path::extension).and_then(|ending| ending.to_str());
        let by_name = || Format::from_str(ending?, true).ok();
        let usual = if output.wants_json() { Format::Json } else { Format::Csv };
        self.format.or_else(by_name).unwrap_or(usual)
    }
}

pub fn run(args: &Args, runs: &Path, output: &Output) -> Result<Answer> {
    let store = Store::read(runs).map_err(store_problem)?;
    let run = store.run(&args.run).map_err(store_problem)?.id;
    match (args.format(output), &args.out) {
        (Format::Json, out) => {
            let document = store.document(&run).map_err(store_problem)?;
            let text = serde_json::to_string_pretty(&document).into_diagnostic()?;
            to(out.as_deref(), &mut |to| writeln!(to, "{text}"))?;
        }
        (Format::Csv, out) => {
            let table = store.table(&run).map_err(store_problem)?;
            to(out.as_deref(), &mut |to| table.write_csv(to))?;
        }
        (Format::Parquet, Some(path)) => parquet(path, &store.table(&run).map_err(store_problem)?)?,
        (Format::Parquet, None) => {
            return Err(Problem::new("a Parquet file can't be printed")
                .fix("give --out rounds.parquet\ngive --format csv")
                .into());
        }
    }
    if let Some(path) = &args.out {
        output.note(format!("{run} is in {}", path.display()));
    }
    Ok(Answer::Yes)
}

fn to(out: Option<&Path>, write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> Result<(), Problem> {
    match out {
        Some(path) => {
            let create = || File::create(path).map(BufWriter::new);
            create().and_then(|mut file| write(&mut file).and_then(|()| file.flush())).map_err(refused(path))
        }
        None => match printed(write) {
            // A reader that has read enough has gone: no error of ours.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            done => done.map_err(|error| Problem::new("the rounds can't be printed").why(error)),
        },
    }
}

/// A file has the records as they are. Printed records may end at a terminal, also by a pipe.
fn printed(write: &mut dyn FnMut(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut bytes = Vec::new();
    write(&mut bytes)?;
    streams::out(&String::from_utf8_lossy(&bytes), Ink::None)
}

#[cfg(feature = "parquet")]
fn parquet(path: &Path, table: &Table) -> Result<(), Problem> {
    File::create(path).and_then(|file| parquet::write(file, table)).map_err(refused(path))
}

#[cfg(not(feature = "parquet"))]
fn parquet(path: &Path, _table: &Table) -> Result<(), Problem> {
    let text = path.with_extension("csv");
    Err(crate::columnar::not_built(path, &format!("give --format csv --out {}", text.display())))
}

fn refused(path: &Path) -> impl Fn(io::Error) -> Problem {
    let path = path.display().to_string();
    move |error| {
        let fix = "name a file in a folder that you may write, on a disk with room";
        Problem::new(format!("{path} can't be written")).why(error).fix(fix)
    }
}
