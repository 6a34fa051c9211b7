//! Where takt keeps what must outlive a run.
//!
//! | folder | root | others | holds |
//! | --- | --- | --- | --- |
//! | state | `/var/lib/takt` | `$XDG_STATE_HOME/takt`, else `~/.local/state/takt` | the journal of changed settings |
//! | run | `/run/takt` | `$XDG_RUNTIME_DIR/takt`, else `/tmp/takt-UID` | a record of what each run has created; `scratch/NAME`: files that only that run needs |
//!
//! `TAKT_STATE_DIR` and `TAKT_RUN_DIR` name others. Both folders are made when first needed, for their owner only. A host
//! recorded in a folder has a state of its own below that folder: what stands there is not what stands here.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::host::Host;
use crate::user::User;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DirError {
    #[error("making folder {path}")]
    Make {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    /// Another user made it: what it says cannot be believed.
    #[error("folder {path} belongs to user {owner}, not to this one ({own})")]
    Foreign { path: PathBuf, owner: u32, own: u32 },
}

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

/// Where runs keep files that only they need, each in a folder of its own: bundles of containers, images of guests.
#[must_use]
pub fn scratch_dir() -> PathBuf {
    run_dir().join("scratch")
}

/// Makes the folder `name` there, for its owner only.
pub fn make_scratch(name: &str) -> Result<PathBuf, DirError> {
    let path = scratch_dir().join(name);
    make(&run_dir())?;
    make(&path)?;
    Ok(path)
}

/// Makes a folder for its owner only, with its parents, and refuses one that belongs to another user.
///
/// # Errors
/// It can't be made, is no folder, or is another user's.
pub fn make(path: &Path) -> Result<(), DirError> {
    let failed = |source| DirError::Make { path: path.to_owned(), source };
    DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(failed)?;
    // Not through a symbolic link, which anybody could have laid in /tmp.
    let meta = fs::symlink_metadata(path).map_err(failed)?;
    if !meta.is_dir() {
        return Err(failed(io::ErrorKind::NotADirectory.into()));
    }
    if meta.uid() != User::own().uid {
        return Err(DirError::Foreign { path: path.to_owned(), owner: meta.uid(), own: User::own().uid });
    }
    Ok(())
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

const STATE: &str = "TAKT_STATE_DIR";
const STATE_OF_ROOT: &str = "/var/lib/takt";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_private_and_making_it_twice_is_fine() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b");
        make(&path).unwrap();
        make(&path).unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_recorded_host_has_a_state_of_its_own() {
        assert_eq!(state_dir_of(&Host::this()), state_dir());
        let named = env_dir(STATE);
        let other = state_dir_of(&Host::at("/other"));
        assert_eq!(other, named.unwrap_or_else(|| "/other/var/lib/takt".into()), "unless the variable names one");
    }

    #[test]
    fn a_link_in_place_of_the_folder_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let link = dir.path().join("takt-0");
        std::os::unix::fs::symlink(dir.path(), &link).unwrap();
        assert!(matches!(make(&link), Err(DirError::Make { .. })));
    }
}
