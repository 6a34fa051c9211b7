//! A program that a run starts, as its record names it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

/// A program, by the file that is executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Program {
    device: u64,
    inode: u64,
}

impl Program {
    pub(crate) fn at(path: &Path) -> io::Result<Program> {
        let meta = fs::metadata(path)?;
        Ok(Program { device: meta.dev(), inode: meta.ino() })
    }

    /// The one that a process executes; `None` if that is not for us to see, or the process has gone.
    pub(crate) fn of(pid: u32) -> Option<Program> {
        Program::at(&executable(pid)).ok()
    }
}

/// Leads to the file even where its path means something else here, or nothing any more.
pub(crate) fn executable(pid: u32) -> PathBuf {
    Path::new("/proc").join(pid.to_string()).join("exe")
}
