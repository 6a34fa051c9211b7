//! The end of the process that is watched: one thread, which sleeps until a reader is there.

mod peer;
mod turns;

use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::thread::{self, JoinHandle};

use takt_base::utc_ns_now;
use takt_host::sockets::SocketFolder;

use crate::document::SCHEMA;
use crate::{Hello, Kind, LiveError, SetVariable, Snapshot};

/// Counts of a process, read by the thread that publishes them. It must not wait for the threads that stream.
pub trait Source: Send + 'static {
    /// The counts now. [`Snapshot::t_ns`] is filled in by the publisher.
    fn snapshot(&mut self) -> Snapshot;

    /// Sets a variable that the last snapshot declared settable.
    ///
    /// # Errors
    /// Why it was not set, for people.
    fn set(&mut self, variable: &SetVariable) -> Result<(), String> {
        Err(format!("nothing sets {} in this process", variable.name))
    }

    /// Called before each snapshot: the outputs that readers want to see, of those that snapshots name. All readers see them.
    fn show(&mut self, _outputs: &[String]) {}

    /// Called about once a second while nobody looks, if [`IDLES`](Source::IDLES): for what has to be taken from rings in time.
    fn idle(&mut self) {}

    /// Whether [`idle`](Source::idle) is called. If not, the thread sleeps until a reader comes.
    const IDLES: bool = false;
}

/// A [`Source`] of any type.
trait AnySource: Send {
    fn snapshot(&mut self) -> Snapshot;
    fn set(&mut self, variable: &SetVariable) -> Result<(), String>;
    fn show(&mut self, outputs: &[String]);
    /// Whether it wants to be called again.
    fn idle(&mut self) -> bool;
}

impl<S: Source> AnySource for S {
    fn snapshot(&mut self) -> Snapshot {
        Source::snapshot(self)
    }

    fn set(&mut self, variable: &SetVariable) -> Result<(), String> {
        Source::set(self, variable)
    }

    fn show(&mut self, outputs: &[String]) {
        Source::show(self, outputs);
    }

    fn idle(&mut self) -> bool {
        if S::IDLES {
            Source::idle(self);
        }
        S::IDLES
    }
}

impl<F: FnMut() -> Snapshot + Send + 'static> Source for F {
    fn snapshot(&mut self) -> Snapshot {
        self()
    }
}

/// Shows this process to readers until it is dropped.
#[derive(Debug)]
pub struct Publisher {
    path: PathBuf,
    /// Its end wakes the thread.
    alive: Option<UnixStream>,
    thread: Option<JoinHandle<()>>,
}

impl Publisher {
    /// Opens the socket `PID-KIND.sock` of this process and answers its readers. `title` says what it works on, and `command` is
    /// its command line.
    ///
    /// # Errors
    /// The folder or the socket can't be made, as for a user without a folder of its own, or the thread does not start.
    pub fn start(kind: Kind, title: &str, command: &str, source: impl Source) -> Result<Publisher, LiveError> {
        Publisher::start_in(SocketFolder::make()?, hello(kind, title, command), source)
    }

    /// The same in a folder of one's own, for tests.
    ///
    /// # Errors
    /// As [`start`](Publisher::start).
    pub fn start_in(folder: SocketFolder, hello: Hello, source: impl Source) -> Result<Publisher, LiveError> {
        let socket = folder.listen(&format!("{}-{}", hello.pid, hello.kind.name()))?;
        let path = socket.path();
        let (alive, ended) = UnixStream::pair().map_err(LiveError::Thread)?;
        let turns = turns::Turns::new(socket, ended, &hello.bounded(), Box::new(source)).map_err(LiveError::Thread)?;
        let thread = thread::Builder::new().name("takt-live".to_owned()).spawn(move || turns.run());
        Ok(Publisher { path, alive: Some(alive), thread: Some(thread.map_err(LiveError::Thread)?) })
    }

    /// The socket's path, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        drop(self.alive.take());
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has said so, and a run does not fail for its view.
            let _ = thread.join();
        }
    }
}

/// The first line of this process.
#[must_use]
pub fn hello(kind: Kind, title: &str, command: &str) -> Hello {
    Hello {
        schema: SCHEMA.to_owned(),
        pid: std::process::id(),
        kind,
        title: title.to_owned(),
        command: command.to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        begun_unix_ns: utc_ns_now(),
    }
}
