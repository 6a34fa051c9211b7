//! The end of who watches: which processes show themselves, and what one of them sends.

mod lines;

use std::io::Write;
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use takt_host::sockets::SocketFolder;

pub use lines::Lines;

use crate::document::SCHEMA;
use crate::{Hello, Kind, Line, LiveError, Request, SetVariable};

/// A process that does not introduce itself in so long is none of takt's, or stands still.
const PATIENCE: Duration = Duration::from_secs(2);

/// A socket of a process of this user. Whether it still answers shows when it is opened.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Running {
    /// Its number.
    pub pid: u32,
    /// The command that runs.
    pub kind: Kind,
}

impl Running {
    /// Reads `PID-KIND`.
    fn named(name: &str) -> Option<Running> {
        let (pid, kind) = name.split_once('-')?;
        let kind = Kind::ALL.into_iter().find(|one| one.name() == kind)?;
        Some(Running { pid: pid.parse().ok()?, kind })
    }
}

/// Sockets of all processes of this user that show themselves, by their number. That of a killed process is among them until
/// `takt clean`; opening it fails.
///
/// # Errors
/// The folder may not be trusted, or can't be listed.
pub fn running() -> Result<Vec<Running>, LiveError> {
    SocketFolder::find()?.map_or(Ok(Vec::new()), |folder| running_in(&folder))
}

/// The same, in a folder of one's own.
///
/// # Errors
/// The folder can't be listed.
pub fn running_in(folder: &SocketFolder) -> Result<Vec<Running>, LiveError> {
    let mut all: Vec<Running> = folder.names()?.iter().filter_map(|name| Running::named(name)).collect();
    all.sort();
    Ok(all)
}

/// A connection to a process that shows itself: who it is, its lines, and the way to ask it.
#[derive(Debug)]
pub struct Watch {
    /// Its first line.
    pub hello: Hello,
    /// The lines behind that, to be read by any thread.
    pub lines: Lines,
    /// The way to ask it.
    pub asker: Asker,
}

/// The asking side of a connection.
#[derive(Debug)]
pub struct Asker {
    pid: u32,
    stream: UnixStream,
}

impl Watch {
    /// Connects and asks for a snapshot every `every_ms` milliseconds (16 to 1000).
    ///
    /// # Errors
    /// It does not run any more, another user has it, it takes no more readers, or it speaks another version.
    pub fn open(process: &Running, every_ms: u32) -> Result<Watch, LiveError> {
        let folder = SocketFolder::find()?.ok_or(LiveError::Absent { pid: process.pid })?;
        Watch::open_in(&folder, process, every_ms)
    }

    /// The same, in a folder of one's own.
    ///
    /// # Errors
    /// As [`open`](Watch::open).
    pub fn open_in(folder: &SocketFolder, process: &Running, every_ms: u32) -> Result<Watch, LiveError> {
        let pid = process.pid;
        let stream = folder.connect(&format!("{pid}-{}", process.kind.name()))?;
        let failed = |doing| move |source| LiveError::Connection { doing, pid, source };
        stream.set_read_timeout(Some(PATIENCE)).map_err(failed("preparing"))?;
        stream.set_write_timeout(Some(PATIENCE)).map_err(failed("preparing"))?;
        let mut lines = Lines::new(stream.try_clone().map_err(failed("preparing"))?, pid);
        let mut asker = Asker { pid, stream };
        let hello = introduced(&mut lines, pid)?;
        asker.every(every_ms)?;
        // A snapshot may take long where the process stands still: who watches decides how long to wait.
        asker.stream.set_read_timeout(None).map_err(failed("preparing"))?;
        Ok(Watch { hello, lines, asker })
    }
}

fn introduced(lines: &mut Lines, pid: u32) -> Result<Hello, LiveError> {
    let unlike = |found: &str, expected: &str| LiveError::Line { pid, found: found.into(), expected: expected.into() };
    match lines.next_line()? {
        Some(Line::Hello(hello)) if hello.schema == SCHEMA => Ok(hello),
        Some(Line::Hello(hello)) => Err(unlike(&format!("document {}", hello.schema), SCHEMA)),
        Some(Line::End(end)) => Err(LiveError::Refused { pid, why: end.why }),
        Some(_) => Err(unlike("another line first", "hello")),
        None => Err(unlike("nothing", "hello")),
    }
}

impl Asker {
    /// Asks for a snapshot every so many milliseconds (16 to 1000) from now on.
    ///
    /// # Errors
    /// The connection broke.
    pub fn every(&mut self, every_ms: u32) -> Result<(), LiveError> {
        self.send(&Request::EveryMs(every_ms))
    }

    /// Asks to set a variable. The answer is one of the lines.
    ///
    /// # Errors
    /// The connection broke.
    pub fn set(&mut self, variable: SetVariable) -> Result<(), LiveError> {
        self.send(&Request::Set(variable))
    }

    /// Asks to show these outputs from now on, 8 at most. Those asked for before are shown no more.
    ///
    /// # Errors
    /// The connection broke.
    pub fn taps(&mut self, outputs: Vec<String>) -> Result<(), LiveError> {
        self.send(&Request::Taps(outputs))
    }

    fn send(&mut self, request: &Request) -> Result<(), LiveError> {
        let failed = |source| LiveError::Connection { doing: "writing to", pid: self.pid, source };
        let mut line = serde_json::to_vec(request).map_err(|error| failed(error.into()))?;
        line.push(b'\n');
        self.stream.write_all(&line).map_err(failed)
    }

    /// Ends the connection: whoever reads its lines gets the last one.
    pub fn close(&self) {
        // It may be closed already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.close();
    }
}
