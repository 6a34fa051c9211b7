//! A log of executions as rows of a file.

use std::io::{self, BufWriter, Write};

use takt_graph::Graph;

use crate::{Log, TraceEvent};

/// One execution of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Execution<'a> {
    /// Physical slot.
    pub slot: u64,
    /// Component's name in the waveform.
    pub component: &'a str,
    /// Worker that executed it.
    pub worker: u32,
    /// From the edge of the slot, or from its release under a free clock, ns.
    pub start_ns: u64,
    /// How long it took, ns.
    pub execution_ns: u64,
}

/// Form of such a file.
pub trait ExecutionRows {
    /// Adds a row.
    ///
    /// # Errors
    /// The file takes no more.
    fn push(&mut self, row: &Execution<'_>) -> io::Result<()>;

    /// Writes what is left; nothing follows.
    ///
    /// # Errors
    /// The file takes no more.
    fn finish(&mut self) -> io::Result<()>;
}

/// Rows as comma-separated text, with a line of names above them.
#[derive(Debug)]
pub struct CsvRows<W: Write>(BufWriter<W>);

impl<W: Write> CsvRows<W> {
    /// Begins with the line of names.
    ///
    /// # Errors
    /// The file takes nothing.
    pub fn new(to: W) -> io::Result<CsvRows<W>> {
        let mut to = BufWriter::with_capacity(1 << 20, to);
        writeln!(to, "slot,component,worker,start_ns,execution_ns")?;
        Ok(CsvRows(to))
    }
}

impl<W: Write> ExecutionRows for CsvRows<W> {
    fn push(&mut self, row: &Execution<'_>) -> io::Result<()> {
        let Execution { slot, component, worker, start_ns, execution_ns } = row;
        writeln!(self.0, "{slot},{component},{worker},{start_ns},{execution_ns}")
    }

    fn finish(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Writes what a session's [`Log`] hands over.
pub struct LogWriter {
    names: Vec<String>,
    rows: Box<dyn ExecutionRows>,
}

impl LogWriter {
    /// For the executions of this waveform.
    #[must_use]
    pub fn new(graph: &Graph, rows: Box<dyn ExecutionRows>) -> LogWriter {
        LogWriter { names: graph.components().iter().map(|component| component.name.clone()).collect(), rows }
    }

    /// Writes what has come.
    ///
    /// # Errors
    /// The file takes no more.
    pub fn write(&mut self, log: &mut Log) -> io::Result<()> {
        let mut result = Ok(());
        log.read(|worker, event| {
            // Events behind a failure are read all the same: a worker may wait for it.
            if result.is_ok() {
                result = self.push(worker, event);
            }
        });
        result
    }

    fn push(&mut self, worker: usize, event: TraceEvent) -> io::Result<()> {
        let TraceEvent { slot, component, start_ns, execution_ns } = event;
        let component = self.names.get(component).map_or("", String::as_str);
        let worker = u32::try_from(worker).unwrap_or(u32::MAX);
        self.rows.push(&Execution { slot, component, worker, start_ns, execution_ns })
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// The file takes no more.
    pub fn finish(mut self) -> io::Result<()> {
        self.rows.finish()
    }
}
