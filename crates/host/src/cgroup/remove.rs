//! Removing a control group of takt's own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::mounts;
use crate::host::Host;
use crate::leftovers::{LeftoversError, own};
use crate::patience::removed_in_time;

/// Removes the control group `name` at the top of each hierarchy; `false` if there is none. Its processes must have
/// ended; the kernel may take a moment to notice.
///
/// # Errors
/// The name is not takt's own, or a process of the group lives.
pub fn remove_control_group(name: &str) -> Result<bool, LeftoversError> {
    own(name)?;
    let mut found = false;
    for folder in control_groups().into_iter().map(|top| top.join(name)) {
        let failed = |source| LeftoversError::Remove { what: "control group", path: folder.clone(), source };
        found |= remove_group(&folder).map_err(failed)?;
    }
    Ok(found)
}

fn remove_group(folder: &Path) -> io::Result<bool> {
    let mut found = false;
    // The folder itself comes last, and the answer is about it.
    for group in with_inner(folder.to_owned()) {
        found = removed_in_time(io::ErrorKind::ResourceBusy, || fs::remove_dir(&group))?;
    }
    Ok(found)
}

/// A group and those in it, the innermost first: engines make a group of their own for what they start.
pub(crate) fn with_inner(folder: PathBuf) -> Vec<PathBuf> {
    let entries = fs::read_dir(&folder).into_iter().flatten().flatten();
    let inner = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())).map(|entry| entry.path());
    inner.flat_map(with_inner).chain([folder.clone()]).collect()
}

/// Mount points of hierarchies of control groups.
pub(crate) fn control_groups() -> Vec<PathBuf> {
    let table = Host::this().read("/proc/self/mountinfo").unwrap_or_default();
    mounts(&table).map(|mount| PathBuf::from(mount.point)).collect()
}
