//! Removing what dead runs have left. [`leftovers`](crate::leftovers) records it; only this module knows how each kind is removed.

mod process;
mod remove;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::PathBuf;
use std::time::Duration;

use serde::Serialize;

use self::process::{DeadRun, Marked};
use self::remove::remove;
pub use self::remove::remove_scratch;
use crate::leftovers::{Contents, Leftover, LeftoversError, Registry, lock_folder, parse};
use crate::lock::LockedFile;
use crate::namespace;
use crate::sockets::SocketFolder;
use crate::trusted::{TrustError, TrustedDir};

#[derive(Debug, Default)]
pub struct Cleaned {
    pub removed: Vec<Removed>,
    /// Still there, and why. Its record is kept, so that another try finds it.
    pub kept: Vec<LeftoversError>,
    /// Runs that live, which were left alone: command and process number.
    pub alive: Vec<(String, u32)>,
    /// Network namespaces with a name of takt's form, of a process that has ended, that no record names: another program's,
    /// or of records that were removed. Left alone.
    pub unclaimed: Vec<String>,
    /// Processes that have inherited the mark of a dead run and execute none of its programs, and what they execute. Left
    /// alone.
    pub foreign_processes: Vec<(u32, PathBuf)>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Removed {
    pub leftover: Leftover,
    /// The command of the run, if its record has one.
    pub left_by: Option<String>,
}

/// A run whose record names a thing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Owner {
    pub pid: u32,
    pub alive: bool,
}

impl Registry {
    /// Removes what runs left that are no more; says what was removed, what could not be, and which runs live.
    /// Doing it again finds nothing.
    ///
    /// # Errors
    /// The folder cannot be read. A thing that cannot be removed is in the answer, not an error: the rest is removed.
    pub fn clean(&self) -> Result<Cleaned, LeftoversError> {
        clean(self.found()?.as_ref())
    }

    /// All whose records name such a thing.
    ///
    /// # Errors
    /// The folder can't be read, or a record says what no takt wrote.
    pub fn owners(&self, which: impl Fn(&Leftover) -> bool) -> Result<Vec<Owner>, LeftoversError> {
        self.found()?.map_or(Ok(Vec::new()), |dir| owners(&dir, which))
    }
}

/// A record nobody holds.
struct Dead {
    /// The record's in its folder.
    name: String,
    contents: Contents,
    /// Holds the lock until the record is gone.
    _file: LockedFile,
}

/// `dir`: where records are, if there is such a folder.
fn clean(dir: Option<&TrustedDir>) -> Result<Cleaned, LeftoversError> {
    let mut cleaned = Cleaned::default();
    let mut claimed = BTreeSet::new();
    let mut dead = Vec::new();
    if let Some(dir) = dir {
        let _guard = lock_folder(dir)?;
        for name in records(dir)? {
            match look_patiently(dir, &name) {
                Ok(Look::Alive(contents)) => {
                    claimed.extend(contents.standing.iter().filter_map(namespace_name));
                    cleaned.alive.push((contents.head.what, contents.head.pid));
                }
                Ok(Look::Dead(found)) => dead.push(found),
                Ok(Look::Gone) => {}
                Err(error) => cleaned.kept.push(error),
            }
        }
    }
    // Processes first: what they use goes after them.
    let dead_run =
        |Dead { contents, .. }: &Dead| DeadRun { id: contents.head.id.clone(), programs: contents.programs.clone() };
    let settled = end_all(&dead.iter().map(dead_run).collect::<Vec<_>>(), &mut cleaned);
    if !settled {
        cleaned.kept.push(LeftoversError::Unsettled);
    }
    for run in &dead {
        claimed.extend(run.contents.standing.iter().filter_map(namespace_name));
        let kept = cleaned.kept.len();
        for leftover in &run.contents.standing {
            note(&mut cleaned, remove(leftover), leftover.clone(), Some(&run.contents.head.what));
        }
        if settled
            && cleaned.kept.len() == kept
            && let Some(dir) = dir
        {
            cleaned.kept.extend(dir.remove(&run.name).map_err(LeftoversError::from).err());
        }
    }
    if let Some(dir) = dir {
        let dead = dead_sockets(dir).unwrap_or_else(|error| {
            cleaned.kept.push(error.into());
            Vec::new()
        });
        for name in dead {
            note(&mut cleaned, Ok(true), Leftover::Socket { name }, None);
        }
    }
    let unclaimed = |name: &String| !claimed.contains(name) && owner_is_dead(name);
    cleaned.unclaimed = namespace::named().into_iter().filter(unclaimed).collect();
    Ok(cleaned)
}

/// Removes the sockets of processes that showed themselves and were killed.
fn dead_sockets(dir: &TrustedDir) -> Result<Vec<String>, TrustError> {
    SocketFolder::within(dir)?.map_or(Ok(Vec::new()), |folder| folder.remove_dead())
}

fn owners(dir: &TrustedDir, which: impl Fn(&Leftover) -> bool) -> Result<Vec<Owner>, LeftoversError> {
    let mut owners = Vec::new();
    let _guard = lock_folder(dir)?;
    for name in records(dir)? {
        // Patiently: one that is just being cleaned up is locked, too, and does not live.
        let (alive, contents) = match look_patiently(dir, &name)? {
            Look::Alive(contents) => (true, contents),
            Look::Dead(Dead { contents, .. }) => (false, contents),
            Look::Gone => continue,
        };
        if contents.standing.iter().any(&which) {
            owners.push(Owner { pid: contents.head.pid, alive });
        }
    }
    Ok(owners)
}

/// Ends the processes of dead runs, until there are none any more. One that watches over another may start a third
/// when that ends: hence the older first, and then again. One that is just becoming another program shows no mark for a
/// moment: hence several looks that find nothing. `false` if there were never so many in a row.
fn end_all(runs: &[DeadRun], cleaned: &mut Cleaned) -> bool {
    if runs.is_empty() {
        return true;
    }
    let (mut quiet, mut immortal) = (0, BTreeSet::new());
    for _ in 0..LOOKS {
        let Marked { mut own, foreign, becoming } = process::marked(runs);
        cleaned.foreign_processes = foreign;
        own.retain(|process| !immortal.contains(process));
        own.sort_by_key(|&(_, start_ticks)| start_ticks);
        quiet = if own.is_empty() && !becoming { quiet + 1 } else { 0 };
        if quiet == QUIET_LOOKS {
            return true;
        }
        for (pid, start_ticks) in own {
            let ended = process::end_own(pid, runs);
            if ended.is_err() {
                immortal.insert((pid, start_ticks));
            }
            note(cleaned, ended, Leftover::Process { pid, start_ticks }, None);
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    false
}

/// How often processes, and a lock's end, are looked for, at most.
const LOOKS: usize = 100;
/// Looks in a row that find none.
const QUIET_LOOKS: usize = 3;
/// Longer than a process takes from one program to the next.
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

enum Look {
    Alive(Contents),
    Dead(Dead),
    Gone,
}

/// A child that a killed run was just starting shares the record's lock until it has become its own program. So a record that
/// is locked without the process that took the lock is read again. A run in another number space has no process here: it lives.
fn look_patiently(dir: &TrustedDir, name: &str) -> Result<Look, LeftoversError> {
    for _ in 1..LOOKS {
        match look(dir, name)? {
            Look::Alive(contents) if !process::exists(contents.head.pid) => std::thread::sleep(BETWEEN_LOOKS),
            found => return Ok(found),
        }
    }
    look(dir, name)
}

/// Reads a record and finds out, by its lock, whether its run lives.
fn look(dir: &TrustedDir, name: &str) -> Result<Look, LeftoversError> {
    let Some(file) = dir.file(name)? else { return Ok(Look::Gone) };
    let failed = |source| LeftoversError::Record { doing: "reading", path: dir.path().join(name), source };
    match LockedFile::try_now(file).map_err(failed)? {
        Ok(file) => match read(dir, name, &file)? {
            Some(contents) => Ok(Look::Dead(Dead { name: name.to_owned(), contents, _file: file })),
            // Killed while the first line was being written: nothing had been created.
            None => Ok(dir.remove(name).map(|()| Look::Gone)?),
        },
        Err(file) => Ok(read(dir, name, &file)?.map_or(Look::Gone, Look::Alive)),
    }
}

fn read(dir: &TrustedDir, name: &str, mut file: &File) -> Result<Option<Contents>, LeftoversError> {
    let path = dir.path().join(name);
    let failed = |source| LeftoversError::Record { doing: "reading", path: path.clone(), source };
    let mut text = String::new();
    file.read_to_string(&mut text).map_err(failed)?;
    parse(&path, &text)
}

fn records(dir: &TrustedDir) -> Result<Vec<String>, LeftoversError> {
    let mut names = dir.names()?;
    names.retain(|name| name.starts_with("run-") && name.ends_with(".jsonl"));
    Ok(names)
}

/// Records the result of a removal. A thing that was not there needs no report.
fn note(cleaned: &mut Cleaned, result: Result<bool, LeftoversError>, leftover: Leftover, left_by: Option<&str>) {
    match result {
        Ok(true) => cleaned.removed.push(Removed { leftover, left_by: left_by.map(str::to_owned) }),
        Ok(false) => {}
        Err(error) => cleaned.kept.push(error),
    }
}

fn namespace_name(leftover: &Leftover) -> Option<String> {
    match leftover {
        Leftover::NetworkNamespace { name } => Some(name.clone()),
        _ => None,
    }
}

/// `takt-PID-LABEL` with no process of that number. A process that lives may be making a thing that its record did not name
/// yet when it was read.
fn owner_is_dead(name: &str) -> bool {
    let pid = name.strip_prefix("takt-").and_then(|rest| rest.split_once('-')).and_then(|(pid, _)| pid.parse().ok());
    pid.is_some_and(|pid: u32| !process::exists(pid))
}
