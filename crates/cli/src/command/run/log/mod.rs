//! `--log`: every execution as a row of a file, text or Parquet: slot, component, worker, start, execution time.

#[cfg(feature = "parquet")]
mod parquet;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use takt_graph::Graph;
use takt_runtime::{CsvRows, ExecutionRows, Log, LogWriter};

use crate::Problem;

pub struct LogFile {
    path: PathBuf,
    to: LogWriter,
}

impl LogFile {
    /// Opens a log; `.parquet` is that, everything else text.
    /// Errors: the file can't be made, or this build has no Parquet.
    pub fn create(path: &Path, graph: &Graph) -> Result<LogFile, Problem> {
        let rows = if path.extension().is_some_and(|end| end == "parquet") { parquet(path)? } else { csv(path)? };
        Ok(LogFile { path: path.to_owned(), to: LogWriter::new(graph, rows) })
    }

    /// Writes what has come.
    /// Errors: the file takes no more.
    pub fn write(&mut self, log: &mut Log) -> Result<(), Problem> {
        self.to.write(log).map_err(|error| unwritable(&self.path, error))
    }

    /// Errors: the file takes no more.
    pub fn finish(self) -> Result<(), Problem> {
        self.to.finish().map_err(|error| unwritable(&self.path, error))
    }
}

fn csv(path: &Path) -> Result<Box<dyn ExecutionRows>, Problem> {
    let rows = File::create(path).and_then(CsvRows::new).map_err(|error| unwritable(path, error))?;
    Ok(Box::new(rows))
}

#[cfg(feature = "parquet")]
fn parquet(path: &Path) -> Result<Box<dyn ExecutionRows>, Problem> {
    let rows = File::create(path).and_then(parquet::Rows::new).map_err(|error| unwritable(path, error))?;
    Ok(Box::new(rows))
}

#[cfg(not(feature = "parquet"))]
fn parquet(path: &Path) -> Result<Box<dyn ExecutionRows>, Problem> {
    Err(crate::columnar::not_built(path, &format!("give --log {}", path.with_extension("csv").display())))
}

fn unwritable(path: &Path, error: io::Error) -> Problem {
    Problem::new(format!("the log {} can't be written", path.display()))
        .why(error)
        .fix("name a file on a disk with room, or omit --log")
}
