//! Folders for what must outlive a run.
//!
//! | folder | root | others | holds |
//! | --- | --- | --- | --- |
//! | state | `/var/lib/takt` | `$XDG_STATE_HOME/takt`, else `~/.local/state/takt` | the journal of changed settings |
//! | run | `/run/takt` | `$XDG_RUNTIME_DIR/takt`, else `/tmp/takt-UID` | a record of what each run has created; `scratch/NAME`: files that only that run needs |
//!
//! `TAKT_STATE_DIR` and `TAKT_RUN_DIR` name others. Both folders are made when first needed, for their owner only. A host
//! recorded in a folder has a state of its own below that folder: what stands there is not what stands here.
//!
//! takt ends processes and changes settings on the word of what is in them. So both are opened as [`Trust::Own`]: a folder that
//! another user made, or may write, is refused.

use std::path::{Path, PathBuf};

use crate::host::Host;
use crate::trusted::{Trust, TrustError, TrustedDir};
use crate::user::User;

/// The folder of journals. Not made yet.
#[must_use]
pub fn state_dir() -> PathBuf {
    let home_state = || env_dir("HOME").map(|home| home.join(".local/state"));
    let of_user = || env_dir("XDG_STATE_HOME").or_else(home_state).unwrap_or_else(temporary).join("takt");
    named_or(STATE, STATE_OF_ROOT, of_user)
}

/// The folder of journals of `host`: of a recorded one below its own root. Not made yet.
#[must_use]
pub fn state_dir_of(host: &Host) -> PathBuf {
    if host.is_this() { state_dir() } else { env_dir(STATE).unwrap_or_else(|| host.path(STATE_OF_ROOT)) }
}

/// The folder of run records. Not made yet.
#[must_use]
pub fn run_dir() -> PathBuf {
    let of_user = || env_dir("XDG_RUNTIME_DIR").map_or_else(temporary, |dir| dir.join("takt"));
    named_or("TAKT_RUN_DIR", "/run/takt", of_user)
}

/// Folder of files that only runs need, each in one of its own: bundles of containers, images of guests.
#[must_use]
pub fn scratch_dir() -> PathBuf {
    run_dir().join(SCRATCH)
}

/// Makes the folder `name` there, for its owner only.
pub fn make_scratch(name: &str) -> Result<PathBuf, TrustError> {
    let scratch = TrustedDir::make(&run_dir(), Trust::Own)?.make_folder(SCRATCH)?;
    Ok(scratch.make_folder(name)?.path().to_owned())
}

/// The folder that holds them; `None` if there is none yet.
pub(crate) fn find_scratch() -> Result<Option<TrustedDir>, TrustError> {
    TrustedDir::find(&run_dir(), Trust::Own)?.map_or(Ok(None), |run| run.folder(SCRATCH))
}

/// Makes the folder `dir` of takt's notes about `host`. One below a recorded host's root is found without leaving that.
pub fn make_notes(host: &Host, dir: &Path) -> Result<TrustedDir, TrustError> {
    match below(host, dir) {
        Some(path) => TrustedDir::make_within(host.root(), &path, Trust::Own),
        None => TrustedDir::make(dir, Trust::Own),
    }
}

/// The same to be read, if it is there. Notes about a recorded host may be its recorder's: they are only shown.
pub fn find_notes(host: &Host, dir: &Path) -> Result<Option<TrustedDir>, TrustError> {
    match below(host, dir) {
        Some(path) => TrustedDir::find_within(host.root(), &path),
        None => TrustedDir::find(dir, Trust::Own),
    }
}

/// As the recorded host itself names it.
fn below(host: &Host, dir: &Path) -> Option<PathBuf> {
    if host.is_this() { None } else { dir.strip_prefix(host.root()).ok().map(|path| Path::new("/").join(path)) }
}

fn named_or(variable: &str, of_root: &str, of_user: impl FnOnce() -> PathBuf) -> PathBuf {
    env_dir(variable).unwrap_or_else(|| if User::own().uid == 0 { of_root.into() } else { of_user() })
}

/// An environment variable that holds an absolute path; others are ignored, as the XDG specification demands.
fn env_dir(name: &str) -> Option<PathBuf> {
    std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute())
}

fn temporary() -> PathBuf {
    std::env::temp_dir().join(format!("takt-{}", User::own().uid))
}

const SCRATCH: &str = "scratch";
const STATE: &str = "TAKT_STATE_DIR";
const STATE_OF_ROOT: &str = "/var/lib/takt";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recorded_host_has_a_state_of_its_own() {
        assert_eq!(state_dir_of(&Host::this()), state_dir());
        let named = env_dir(STATE);
        let other = state_dir_of(&Host::at("/other"));
        assert_eq!(other, named.unwrap_or_else(|| "/other/var/lib/takt".into()), "unless the variable names one");
    }
}
