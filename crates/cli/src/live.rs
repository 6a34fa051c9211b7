//! Shows this process to `takt top` and the live page, while it streams or runs.

use clap::Args;
use takt_host::call::quoted;
use takt_live::{Board, Kind, Publisher, Snapshot, Source, board};

use crate::Output;

/// The flag of a command that can be watched.
#[derive(Clone, Debug, Default, Args)]
pub struct LiveArgs {
    /// Do not let takt top and the live page watch this process.
    #[arg(long = "no-live")]
    no_live: bool,
}

impl LiveArgs {
    /// Whether the process may be watched.
    pub fn wanted(&self) -> bool {
        !self.no_live
    }

    /// Opens the process to who watches. The caller keeps the snapshots.
    pub fn board(&self, kind: Kind, title: &str, output: &Output) -> Option<OpenBoard> {
        let (board, source) = board();
        self.publish(kind, title, source, output).map(|publisher| OpenBoard { board, _publisher: publisher })
    }

    /// Opens the process to who watches, until the value is dropped. A process that can't open a socket notes that and runs on.
    pub fn publish(&self, kind: Kind, title: &str, source: impl Source, output: &Output) -> Option<Publisher> {
        if !self.wanted() {
            return None;
        }
        match Publisher::start(kind, title, &command_line(), source) {
            Ok(publisher) => Some(publisher),
            Err(error) => {
                output.note(format!("note      takt top can't watch this process: {}   (--no-live)", reasons(&error)));
                None
            }
        }
    }
}

/// A process that keeps its own snapshot for who watches.
#[derive(Debug)]
pub struct OpenBoard {
    board: Board,
    _publisher: Publisher,
}

impl OpenBoard {
    /// Whether somebody looks.
    pub fn is_watched(&self) -> bool {
        self.board.is_watched()
    }

    /// Keeps a snapshot for who looks next.
    pub fn keep(&self, snapshot: Snapshot) {
        self.board.keep(snapshot);
    }
}

fn reasons(error: &takt_live::LiveError) -> String {
    takt_host::with_causes(error)
}

/// As a person can type it.
fn command_line() -> String {
    let words = std::env::args_os().map(|word| quoted(&word.to_string_lossy()));
    words.collect::<Vec<_>>().join(" ")
}
