//! A process beside the proof that undoes what a killed proof left.
//!
//! It waits on a pipe. A word on the pipe means that all is well. If the pipe ends without the word, the proof was killed, and
//! the guard undoes the proof's entries in the journal. It leaves the entries of other runs alone. Another run may get the
//! journal first, since it is free as soon as the killed proof is gone.

use std::io::{self, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use takt_host::Host;

use crate::journal::{JournalError, Scope};
use crate::{Fixer, Undone};

const WELL: &[u8] = b"well\n";
/// How often a guard asks for the journal, which the killed proof may still lock for a moment.
const PATIENCE: u32 = 200;

/// The proof's end of the guard. Dropped without [`release`](Guard::release), it lets the guard act.
#[derive(Debug)]
pub struct Guard(Child);

impl Guard {
    /// Starts `command`, which has to call [`wait_and_undo`]. It gets its own process group, so that Ctrl-C does not reach it.
    pub fn start(mut command: Command) -> io::Result<Guard> {
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
        command.spawn().map(Guard)
    }

    /// All is well: the guard ends and changes nothing.
    pub fn release(mut self) {
        if let Some(pipe) = &mut self.0.stdin {
            // A guard that has gone needs no word.
            let _ = pipe.write_all(WELL);
        }
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

/// Waits for the word on `pipe`. If the pipe ends without it, undoes this run's entries in the journal in `state`.
pub fn wait_and_undo(host: Host, state: &Path, run: &str, pipe: &mut dyn Read) -> Result<Vec<Undone>, JournalError> {
    let mut said = Vec::new();
    // An end by error is an end without the word.
    let _ = pipe.take(WELL.len() as u64).read_to_end(&mut said);
    if said == WELL {
        return Ok(Vec::new());
    }
    let own = Scope::Run { id: run.to_owned() };
    let mut tries = 0;
    loop {
        match Fixer::open(host.clone(), state) {
            Ok(mut fixer) => return Ok(fixer.undo(|entry| entry.scope == own)),
            Err(JournalError::Busy { .. }) if tries < PATIENCE => {
                tries += 1;
                thread::sleep(Duration::from_millis(50));
            }
            Err(error) => return Err(error),
        }
    }
}
