//! A folder whose owner was verified, and its files, always reached by descriptor.
//!
//! A path means whatever its folders say at that moment, and whoever may write one of them can lay a link there. So takt opens
//! the folders of its records once, verifies who owns them and who may write them, and keeps the descriptor. Everything below
//! is opened through it, one name at a time:
//!
//! - no link below the folder is followed;
//! - only folders and regular files are opened, and nothing is waited for, so that a FIFO cannot stop takt;
//! - what is opened to be locked is never truncated, and what is written replaces the old file whole.
//!
//! ```
//! use takt_host::trusted::{Trust, TrustedDir};
//! # let place = tempfile::tempdir()?;
//! # let path = place.path().join("takt-runs");
//! let runs = TrustedDir::make(&path, Trust::Operator)?;
//! let run = runs.make_folder("2026-11-21T100412-check")?;
//! run.replace("outcome.json", b"{}")?;
//! assert_eq!(run.read("outcome.json")?.unwrap(), b"{}");
//! assert!(runs.make_folder("../elsewhere").is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod judge;
#[cfg(test)]
mod tests;
mod walk;

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, renameat, statat, unlinkat};
use rustix::io::Errno;
use takt_base::temporary_name;

pub use error::TrustError;
pub use judge::Trust;

use self::judge::Judge;
use self::walk::{Walk, Walked};

/// A folder that [`Trust`] accepts.
#[derive(Debug)]
pub struct TrustedDir {
    /// Opened for its place alone (`O_PATH`), which takes no right to list it.
    folder: OwnedFd,
    /// As it was named: for messages.
    path: PathBuf,
    judge: Judge,
}

/// The purpose for which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum For {
    Reading,
    /// Made if it is not there.
    Keeping,
    /// Only one that is there.
    Writing,
    /// Only one that is not there.
    Making,
    /// The same, and every write goes to its end.
    Growing,
}

impl TrustedDir {
    /// Opens a folder.
    ///
    /// # Errors
    /// There is none, or it may not be trusted.
    pub fn open(path: &Path, trust: Trust) -> Result<TrustedDir, TrustError> {
        TrustedDir::find(path, trust)?.ok_or_else(|| error::io("opening", path)(io::ErrorKind::NotFound.into()))
    }

    /// Opens a folder; `None` if there is none.
    ///
    /// # Errors
    /// It may not be trusted.
    pub fn find(path: &Path, trust: Trust) -> Result<Option<TrustedDir>, TrustError> {
        let (judge, whole) = (Judge::of(trust), absolute(path)?);
        let walk = Walk::from(Path::new("/"), &judge)?;
        let walked = if trust == Trust::Own { walk.reach_folder_itself(&whole) } else { walk.reach_folder(&whole) }?;
        walked.map(|walked| TrustedDir::of(walked, path, judge)).transpose()
    }

    /// Opens a folder, and makes it with its parents if there is none.
    ///
    /// # Errors
    /// It can't be made, or may not be trusted.
    pub fn make(path: &Path, trust: Trust) -> Result<TrustedDir, TrustError> {
        let (judge, whole) = (Judge::of(trust), absolute(path)?);
        let walk = Walk::from(Path::new("/"), &judge)?.making();
        let walked = if trust == Trust::Own { walk.reach_folder_itself(&whole) } else { walk.reach_folder(&whole) }?;
        let walked = walked.ok_or_else(|| error::io("making", path)(io::ErrorKind::NotFound.into()))?;
        TrustedDir::of(walked, path, judge)
    }

    /// As [`make`](TrustedDir::make), of the folder that `path` names on a host recorded in `root`: no link leads out of there, so
    /// whose the folders on the way are does not matter.
    pub(crate) fn make_within(root: &Path, path: &Path, trust: Trust) -> Result<TrustedDir, TrustError> {
        let (judge, on_the_way) = (Judge::of(trust), Judge::of(Trust::Anyone));
        let shown = shown(root, path);
        let walked = Walk::from(root, &on_the_way)?.making_for(&judge).reach_folder(path)?;
        let walked = walked.ok_or_else(|| error::io("making", &shown)(io::ErrorKind::NotFound.into()))?;
        TrustedDir::of(walked, &shown, judge)
    }

    /// As [`find`](TrustedDir::find), of such a folder, whoever has it.
    pub(crate) fn find_within(root: &Path, path: &Path) -> Result<Option<TrustedDir>, TrustError> {
        let judge = Judge::of(Trust::Anyone);
        let walked = Walk::from(root, &judge)?.reach_folder(path)?;
        walked.map(|walked| TrustedDir::of(walked, &shown(root, path), judge)).transpose()
    }

    fn of(walked: Walked, path: &Path, judge: Judge) -> Result<TrustedDir, TrustError> {
        judge.folder(&walked.about, path)?;
        Ok(TrustedDir { folder: walked.folder, path: path.to_owned(), judge })
    }

    /// As it was named, for messages; what is opened by it may be something else.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A path that leads to this folder wherever its names lead now, as long as this value lives: for what can't be given a
    /// descriptor.
    #[must_use]
    pub fn by_descriptor(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.folder.as_raw_fd()).into()
    }

    /// The folder `name` in this one; `None` if there is none.
    ///
    /// # Errors
    /// It is a link or no folder, or may not be trusted.
    pub fn folder(&self, name: &str) -> Result<Option<TrustedDir>, TrustError> {
        let path = self.path_of(name)?;
        let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let folder = match openat(&self.folder, name, flags, Mode::empty()) {
            Err(Errno::NOENT) => return Ok(None),
            opened => opened.map_err(|errno| error::io("opening", &path)(errno.into()))?,
        };
        let about = fstat(&folder).map_err(|errno| error::io("opening", &path)(errno.into()))?;
        error::expect_kind(&about, FileType::Directory, &path)?;
        self.judge.folder(&about, &path)?;
        Ok(Some(TrustedDir { folder, path, judge: self.judge }))
    }

    /// The same, and makes it if there is none.
    ///
    /// # Errors
    /// As [`folder`](TrustedDir::folder), or it can't be made.
    pub fn make_folder(&self, name: &str) -> Result<TrustedDir, TrustError> {
        let path = self.path_of(name)?;
        let failed = |errno: Errno| error::io("making", &path)(errno.into());
        let is_new = match mkdirat(&self.folder, name, self.judge.folder_mode()) {
            Ok(()) => true,
            Err(Errno::EXIST) => false,
            Err(errno) => return Err(failed(errno)),
        };
        let folder = self.folder(name)?.ok_or_else(|| failed(Errno::NOENT))?;
        if is_new {
            self.judge.give(&folder.folder, &path);
        }
        Ok(folder)
    }

    /// The whole file `name`; `None` if there is none.
    ///
    /// # Errors
    /// It is no regular file, may not be trusted, or can't be read.
    pub fn read(&self, name: &str) -> Result<Option<Vec<u8>>, TrustError> {
        let Some(mut file) = self.file(name)? else { return Ok(None) };
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(error::io("reading", &self.path.join(name)))?;
        Ok(Some(bytes))
    }

    /// The file `name`, to be read; `None` if there is none.
    ///
    /// # Errors
    /// It is no regular file, or may not be trusted.
    pub fn file(&self, name: &str) -> Result<Option<File>, TrustError> {
        match self.opened(name, For::Reading) {
            Err(TrustError::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
            opened => opened.map(Some),
        }
    }

    /// How long the file `name` is; `None` if there is none. It is not opened, which matters where closing it would end locks that
    /// others of this process have on it.
    ///
    /// # Errors
    /// As [`file`](TrustedDir::file).
    pub fn file_bytes(&self, name: &str) -> Result<Option<u64>, TrustError> {
        let path = self.path_of(name)?;
        let Some(about) = self.about(name)? else { return Ok(None) };
        error::expect_kind(&about, FileType::RegularFile, &path)?;
        self.judge.file(&about, &path)?;
        Ok(Some(u64::try_from(about.st_size).unwrap_or(0)))
    }

    /// The file `name`, to be read and written; an empty one is made if there is none. Its content stays.
    ///
    /// # Errors
    /// As [`file`](TrustedDir::file), or it can't be made.
    pub fn kept(&self, name: &str) -> Result<File, TrustError> {
        self.opened(name, For::Keeping)
    }

    /// The file `name`, which was not there before. Every write goes to its end.
    ///
    /// # Errors
    /// Something has that name, or it can't be made.
    pub fn growing(&self, name: &str) -> Result<File, TrustError> {
        self.opened(name, For::Growing)
    }

    /// Whether the file `name` is there and may be written. It is not changed.
    ///
    /// # Errors
    /// It is not there, may not be written, or is no regular file.
    pub fn may_write(&self, name: &str) -> Result<(), TrustError> {
        self.opened(name, For::Writing).map(|_file| ())
    }

    /// Replaces the file `name`: a reader or a crash finds the old bytes or the new ones. One that was there keeps its owner and
    /// its mode.
    ///
    /// # Errors
    /// The name is that of no regular file or of one that may not be trusted, or the system refuses.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> Result<(), TrustError> {
        let path = self.path_of(name)?;
        let failed = error::io("writing", &path);
        let old = match self.about(name)? {
            Some(about) => {
                error::expect_kind(&about, FileType::RegularFile, &path)?;
                self.judge.file(&about, &path)?;
                Some(about)
            }
            None => None,
        };
        let beside = temporary_name(name.as_ref());
        let beside = beside.to_str().ok_or_else(|| TrustError::Name { name: name.to_owned() })?;
        let mut file = self.opened(beside, For::Making)?;
        if let Some(old) = &old {
            self.judge.make_alike(&file, old, &path);
        }
        let rename = || renameat(&self.folder, beside, &self.folder, name).map_err(io::Error::from);
        let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| rename());
        if let Err(source) = written {
            // If this fails, too, a hidden file stays that nothing reads.
            let _ = unlinkat(&self.folder, beside, AtFlags::empty());
            return Err(failed(source));
        }
        self.sync()
    }

    /// Removes the file `name`, whatever it is; of a link the link.
    ///
    /// # Errors
    /// There is none, or it is a folder.
    pub fn remove(&self, name: &str) -> Result<(), TrustError> {
        let path = self.path_of(name)?;
        let removed = unlinkat(&self.folder, name, AtFlags::empty());
        removed.map_err(|errno| error::io("removing", &path)(errno.into()))
    }

    /// The names in it that are UTF-8, sorted.
    pub fn names(&self) -> Result<Vec<String>, TrustError> {
        let failed = |errno: Errno| error::io("listing", &self.path)(errno.into());
        let mut names = Vec::new();
        for entry in Dir::new(self.listable().map_err(failed)?).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name().to_str().map(str::to_owned);
            names.extend(name.ok().filter(|name| name != "." && name != ".."));
        }
        names.sort();
        Ok(names)
    }

    /// Waits until the names in it are on the disk.
    pub fn sync(&self) -> Result<(), TrustError> {
        let synced = self.listable().and_then(rustix::fs::fsync);
        synced.map_err(|errno| error::io("syncing", &self.path)(errno.into()))
    }

    /// Looks at the entry `name`, and follows no link; `None` if there is none.
    pub(crate) fn about(&self, name: &str) -> Result<Option<Stat>, TrustError> {
        let path = self.path_of(name)?;
        match statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(about) => Ok(Some(about)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(error::io("looking at", &path)(errno.into())),
        }
    }

    fn listable(&self) -> Result<OwnedFd, Errno> {
        openat(&self.folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
    }

    fn opened(&self, name: &str, what_for: For) -> Result<File, TrustError> {
        let path = self.path_of(name)?;
        let safe = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        let (flags, doing) = match what_for {
            For::Reading => (OFlags::RDONLY, "opening"),
            For::Writing => (OFlags::WRONLY, "opening"),
            For::Keeping => (OFlags::RDWR, "opening"),
            For::Making => (OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, "making"),
            For::Growing => (OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | OFlags::EXCL, "making"),
        };
        let open = |flags| openat(&self.folder, name, flags | safe, self.judge.file_mode());
        let mut is_new = flags.contains(OFlags::CREATE);
        let mut opened = open(flags);
        if what_for == For::Keeping && matches!(opened, Err(Errno::NOENT)) {
            opened = open(flags | OFlags::CREATE | OFlags::EXCL);
            is_new = opened.is_ok();
            if matches!(opened, Err(Errno::EXIST)) {
                // Another made it in between.
                opened = open(flags);
            }
        }
        let file = match opened {
            Ok(file) => file,
            Err(errno) => {
                // A link, a folder, a socket, a FIFO that nobody reads: say so.
                if let Some(about) = self.about(name)? {
                    error::expect_kind(&about, FileType::RegularFile, &path)?;
                }
                return Err(error::io(doing, &path)(errno.into()));
            }
        };
        let about = fstat(&file).map_err(|errno| error::io(doing, &path)(errno.into()))?;
        error::expect_kind(&about, FileType::RegularFile, &path)?;
        if is_new {
            self.judge.give(file.as_fd(), &path);
        } else {
            self.judge.file(&about, &path)?;
        }
        Ok(file.into())
    }

    /// For messages; refuses what is not one name.
    fn path_of(&self, name: &str) -> Result<PathBuf, TrustError> {
        let mut parts = Path::new(name).components();
        match (parts.next(), parts.next()) {
            (Some(Component::Normal(only)), None) if only.as_bytes() == name.as_bytes() => Ok(self.path.join(name)),
            _ => Err(TrustError::Name { name: name.to_owned() }),
        }
    }
}

/// Opens the file that `path` names on a host recorded in `root`, to be read. No link leads out of there.
///
/// # Errors
/// It is not there, or is no regular file: a device of a recorded host is one of this host.
pub(crate) fn recorded_file(root: &Path, path: &Path) -> Result<File, TrustError> {
    let (folder, name) = recorded_place(root, path)?;
    folder.opened(&name, For::Reading)
}

/// The folder of such a file, and the file's name there.
///
/// # Errors
/// The folder is not there.
pub(crate) fn recorded_place(root: &Path, path: &Path) -> Result<(TrustedDir, String), TrustError> {
    let judge = Judge::of(Trust::Anyone);
    let (walked, name) = Walk::from(root, &judge)?.reach_entry(path)?;
    let folder = TrustedDir::of(walked, shown(root, path).parent().unwrap_or(root), judge)?;
    let name = name.into_string().map_err(|name| TrustError::Name { name: name.to_string_lossy().into_owned() })?;
    Ok((folder, name))
}

/// The place of a recorded host's file, for messages.
fn shown(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn absolute(path: &Path) -> Result<PathBuf, TrustError> {
    std::path::absolute(path).map_err(error::io("finding", path))
}
