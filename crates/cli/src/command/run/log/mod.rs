//! `--log`: every execution as a row of a file, text or Parquet: slot, component, worker, start, execution time.

#[cfg(feature = "parquet")]
mod parquet;

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use takt_graph::Graph;
use takt_runtime::{Log, TraceEvent};

use crate::Problem;

pub struct LogFile {
    path: PathBuf,
    names: Vec<String>,
    to: Form,
}

enum Form {
    Csv(BufWriter<File>),
    #[cfg(feature = "parquet")]
    Parquet(Box<parquet::Rows>),
}

pub struct Row<'a> {
    pub slot: u64,
    pub component: &'a str,
    pub worker: u32,
    /// From the edge of the slot, or from its release under a free clock.
    pub start_ns: u64,
    pub execution_ns: u64,
}

/// The first line of a text log; the columns of the other form have these names.
const HEAD: &str = "slot,component,worker,start_ns,execution_ns";

impl LogFile {
    /// Opens a log; `.parquet` is that, everything else text.
    /// Errors: the file can't be made, or this build has no Parquet.
    pub fn create(path: &Path, graph: &Graph) -> Result<LogFile, Problem> {
        let names = graph.components().iter().map(|component| component.name.clone()).collect();
        let to = if path.extension().is_some_and(|end| end == "parquet") { parquet(path)? } else { csv(path)? };
        Ok(LogFile { path: path.to_owned(), names, to })
    }

    /// Writes what has come.
    /// Errors: the file takes no more.
    pub fn write(&mut self, log: &mut Log) -> Result<(), Problem> {
        let mut result = Ok(());
        log.read(|worker, event| {
            // Events behind a failure are read all the same: a worker may wait for it.
            if result.is_ok() {
                result = self.row(worker, event);
            }
        });
        result.map_err(|error| unwritable(&self.path, error))
    }

    fn row(&mut self, worker: usize, event: TraceEvent) -> io::Result<()> {
        let TraceEvent { slot, component, start_ns, execution_ns } = event;
        let component = self.names.get(component).map_or("", String::as_str);
        let row = Row { slot, component, worker: u32::try_from(worker).unwrap_or(u32::MAX), start_ns, execution_ns };
        match &mut self.to {
            Form::Csv(to) => {
                let Row { slot, component, worker, start_ns, execution_ns } = row;
                writeln!(to, "{slot},{component},{worker},{start_ns},{execution_ns}")
            }
            #[cfg(feature = "parquet")]
            Form::Parquet(to) => to.push(&row),
        }
    }

    /// Errors: the file takes no more.
    pub fn finish(self) -> Result<(), Problem> {
        let LogFile { path, to, .. } = self;
        let ended = match to {
            Form::Csv(mut to) => to.flush(),
            #[cfg(feature = "parquet")]
            Form::Parquet(to) => to.finish(),
        };
        ended.map_err(|error| unwritable(&path, error))
    }
}

fn csv(path: &Path) -> Result<Form, Problem> {
    let mut to = BufWriter::with_capacity(1 << 20, File::create(path).map_err(|error| unwritable(path, error))?);
    writeln!(to, "{HEAD}").map_err(|error| unwritable(path, error))?;
    Ok(Form::Csv(to))
}

#[cfg(feature = "parquet")]
fn parquet(path: &Path) -> Result<Form, Problem> {
    let rows = File::create(path).and_then(parquet::Rows::new).map_err(|error| unwritable(path, error))?;
    Ok(Form::Parquet(Box::new(rows)))
}

#[cfg(not(feature = "parquet"))]
fn parquet(path: &Path) -> Result<Form, Problem> {
    Err(crate::columnar::not_built(path, &format!("--log {}", path.with_extension("csv").display())))
}

fn unwritable(path: &Path, error: io::Error) -> Problem {
    Problem::new(format!("the log {} can't be written", path.display()))
        .why(error)
        .fix("a place with room, or no --log")
}
