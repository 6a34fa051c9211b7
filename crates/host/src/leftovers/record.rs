//! One run's record: a file of JSON lines, locked while the run lives.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use super::program::Program;
use super::{Leftover, LeftoversError, own};
use crate::host::Host;
use crate::lock::LockedFile;
use crate::trusted::TrustedDir;

/// A run that lives. Clones are the same run; the record goes when the last one is dropped and everything was released.
#[derive(Clone, Debug)]
pub struct Run(Arc<Inner>);

/// One thing recorded. Dropping it without [`released`](Registration::released) leaves it to `takt clean`.
#[derive(Debug)]
#[must_use = "call `released` when the thing is gone"]
pub struct Registration {
    run: Arc<Inner>,
    number: u64,
}

#[derive(Debug)]
struct Inner {
    dir: TrustedDir,
    /// The record's in it.
    name: String,
    head: Head,
    state: Mutex<State>,
}

#[derive(Debug)]
pub(crate) struct Contents {
    pub(crate) head: Head,
    /// Things that were created and not released, newest first.
    pub(crate) standing: Vec<Leftover>,
    /// Programs that the run's processes execute.
    pub(crate) programs: Vec<Program>,
}

#[derive(Debug)]
struct State {
    file: LockedFile,
    next: u64,
    standing: usize,
    programs: Vec<Program>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Line {
    TaktRun(Head),
    Creates { number: u64, leftover: Leftover },
    Released { number: u64 },
    Starts(Program),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Head {
    pub(crate) version: u32,
    pub(crate) id: String,
    pub(crate) what: String,
    pub(crate) pid: u32,
}

pub(super) const VERSION: u32 = 1;
/// The environment variable that marks a run's processes.
pub(crate) const MARK: &str = "TAKT_RUN";

impl Run {
    /// Records that `leftover` is about to be created. Create it only after this returns.
    ///
    /// # Errors
    /// The record cannot be written (then do not create it), or the name is not takt's own.
    pub fn will_create(&self, leftover: Leftover) -> Result<Registration, LeftoversError> {
        leftover.name().map_or(Ok(()), own)?;
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        let number = state.next;
        self.0.write(&mut state, &Line::Creates { number, leftover })?;
        state.next += 1;
        state.standing += 1;
        Ok(Registration { run: Arc::clone(&self.0), number })
    }

    /// Records that processes of this run will execute the file `program`: those that carry its [`mark`](Run::mark) and do so
    /// are its own. Start it only after this returns.
    ///
    /// # Errors
    /// There is no such file, or the record cannot be written.
    pub fn starts(&self, program: &Path) -> Result<(), LeftoversError> {
        let failed = |source| LeftoversError::Program { path: program.to_owned(), source };
        let program = Program::at(program).map_err(failed)?;
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.programs.contains(&program) {
            self.0.write(&mut state, &Line::Starts(program))?;
            state.programs.push(program);
        }
        Ok(())
    }

    /// A name for something of this run: `takt-PID-LABEL`.
    #[must_use]
    pub fn name(&self, label: &str) -> String {
        format!("takt-{}-{label}", self.0.head.pid)
    }

    /// The environment variable and its value that every child process of this run must be given, so that `clean` finds
    /// it if this process is killed. Its program is to be recorded first: [`starts`](Run::starts).
    #[must_use]
    pub fn mark(&self) -> (&'static str, &str) {
        (MARK, &self.0.head.id)
    }
}

impl Registration {
    /// Records that the thing is gone.
    ///
    /// # Errors
    /// The record cannot be written; `clean` will then look for the thing once more and find nothing.
    pub fn released(self) -> Result<(), LeftoversError> {
        let mut state = self.run.state.lock().unwrap_or_else(PoisonError::into_inner);
        self.run.write(&mut state, &Line::Released { number: self.number })?;
        state.standing -= 1;
        Ok(())
    }
}

impl Inner {
    fn write(&self, state: &mut State, line: &Line) -> Result<(), LeftoversError> {
        // One write call for one line: a killed run leaves whole lines or, at the end, a part of one.
        let written = serde_json::to_string(line).map_err(io::Error::from).and_then(|mut text| {
            text.push('\n');
            state.file.write_all(text.as_bytes())
        });
        written.map_err(|source| LeftoversError::Record {
            doing: "writing",
            path: self.dir.path().join(&self.name),
            source,
        })
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if state.standing == 0 {
            // If this fails the record is an empty promise, and the next `clean` removes it.
            let _ = self.dir.remove(&self.name);
        }
    }
}

/// Makes the record of a new run. The folder's lock keeps `clean` from seeing it before it is locked.
pub(super) fn begin(dir: TrustedDir, what: &str) -> Result<Run, LeftoversError> {
    let _guard = lock_folder(&dir)?;
    let pid = std::process::id();
    let (name, file) = new_record(&dir, pid)?;
    let failed = |source| LeftoversError::Record { doing: "making", path: dir.path().join(&name), source };
    let locked = LockedFile::try_now(file).map_err(failed)?;
    // It is new, and who cleans has no turn before the folder is unlocked.
    let file = locked.map_err(|_| failed(io::ErrorKind::WouldBlock.into()))?;
    let head = Head { version: VERSION, id: unique_id(pid), what: what.to_owned(), pid };
    let state = Mutex::new(State { file, next: 0, standing: 0, programs: Vec::new() });
    let inner = Inner { head, state, dir, name };
    {
        let mut state = inner.state.lock().unwrap_or_else(PoisonError::into_inner);
        inner.write(&mut state, &Line::TaktRun(inner.head.clone()))?;
    }
    Ok(Run(Arc::new(inner)))
}

/// The first name that is free.
fn new_record(dir: &TrustedDir, pid: u32) -> Result<(String, File), LeftoversError> {
    let mut n = 0u32;
    loop {
        let name = format!("run-{pid}-{n}.jsonl");
        match dir.growing(&name) {
            Err(error) if error.kind() == Some(io::ErrorKind::AlreadyExists) => n += 1,
            made => return Ok((name, made?)),
        }
    }
}

/// Never given twice: the kernel's random numbers, or, in a chroot without them, number and time.
fn unique_id(pid: u32) -> String {
    let random = Host::this().read_opt("/proc/sys/kernel/random/uuid");
    random.unwrap_or_else(|| format!("{pid}-{:?}", std::time::SystemTime::now()))
}

/// Taken for moments only, by who makes a record and by who cleans.
pub(crate) fn lock_folder(dir: &TrustedDir) -> Result<LockedFile, LeftoversError> {
    let failed = |source| LeftoversError::Record { doing: "locking", path: dir.path().join("lock"), source };
    LockedFile::wait(dir.kept("lock")?).map_err(failed)
}

/// Contents of a record. A part of a line at the end was being written when the run was killed, and what it names was
/// neither created nor started. `None`: the head itself is such a part.
pub(crate) fn parse(path: &Path, text: &str) -> Result<Option<Contents>, LeftoversError> {
    let corrupt = |line| LeftoversError::Corrupt { path: path.to_owned(), line };
    let mut head = None;
    let mut standing: HashMap<u64, Leftover> = HashMap::new();
    let mut programs = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let Some(whole) = line.strip_suffix('\n') else { break };
        match (serde_json::from_str::<Line>(whole), index) {
            (Ok(Line::TaktRun(found)), 0) if found.version == VERSION => head = Some(found),
            (Ok(Line::Creates { number, leftover }), 1..) => {
                standing.insert(number, leftover);
            }
            (Ok(Line::Released { number }), 1..) => {
                standing.remove(&number);
            }
            (Ok(Line::Starts(program)), 1..) => programs.push(program),
            _ => return Err(corrupt(index + 1)),
        }
    }
    let mut standing: Vec<(u64, Leftover)> = standing.into_iter().collect();
    standing.sort_by_key(|&(number, _)| std::cmp::Reverse(number));
    let standing = standing.into_iter().map(|(_, leftover)| leftover).collect();
    Ok(head.map(|head| Contents { head, standing, programs }))
}
