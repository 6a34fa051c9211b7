//! From a root down to a folder, name by name, on descriptors.
//!
//! The kernel can do this alone (`openat2` with `RESOLVE_IN_ROOT`), but neither verifies the owner of each folder on the way, nor
//! is known to the emulator under which the tests for 64-bit ARM run.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{CWD, FileType, Mode, OFlags, Stat, fstat, mkdirat, openat, readlinkat};
use rustix::io::Errno;

use super::TrustError;
use super::error::{expect_kind, io};
use super::judge::Judge;

/// As many links as the kernel follows.
const LINKS_MAX: u32 = 40;

pub(super) struct Walked {
    pub(super) folder: OwnedFd,
    pub(super) about: Stat,
}

struct Step {
    walked: Walked,
    path: PathBuf,
}

pub(super) struct Walk<'a> {
    /// Judges what leads to the last folder.
    judge: &'a Judge,
    /// Makes what is missing.
    maker: Option<&'a Judge>,
    /// The folders from the root to where the walk is: `..` never leads above the first.
    steps: Vec<Step>,
    ahead: VecDeque<OsString>,
    links: u32,
}

/// The kinds of entry that the last name may lead to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Last {
    Folder,
    /// And no link to one.
    FolderItself,
    /// Anything but a link, or nothing.
    Entry,
}

impl<'a> Walk<'a> {
    pub(super) fn from(root: &Path, judge: &'a Judge) -> Result<Walk<'a>, TrustError> {
        let failed = |errno: Errno| io("opening", root)(errno.into());
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = openat(CWD, root, flags, Mode::empty()).map_err(failed)?;
        let about = fstat(&folder).map_err(failed)?;
        let root = Step { walked: Walked { folder, about }, path: root.to_owned() };
        Ok(Walk { judge, maker: None, steps: vec![root], ahead: VecDeque::new(), links: 0 })
    }

    pub(super) fn making(self) -> Walk<'a> {
        let judge = self.judge;
        self.making_for(judge)
    }

    pub(super) fn making_for(self, maker: &'a Judge) -> Walk<'a> {
        Walk { maker: Some(maker), ..self }
    }

    /// To a folder; `None` if it is not there, and not to be made.
    pub(super) fn reach_folder(self, path: &Path) -> Result<Option<Walked>, TrustError> {
        self.to(path, Last::Folder).map(|walk| walk.map(|(walked, _)| walked))
    }

    pub(super) fn reach_folder_itself(self, path: &Path) -> Result<Option<Walked>, TrustError> {
        self.to(path, Last::FolderItself).map(|walk| walk.map(|(walked, _)| walked))
    }

    /// To the folder of an entry, and its name there, which is no link; `.` if it is that folder.
    pub(super) fn reach_entry(self, path: &Path) -> Result<(Walked, OsString), TrustError> {
        let walked = self.to(path, Last::Entry)?;
        walked.ok_or_else(|| io("opening", path)(io::ErrorKind::NotFound.into()))
    }

    fn to(mut self, path: &Path, last: Last) -> Result<Option<(Walked, OsString)>, TrustError> {
        self.look_ahead(path);
        while let Some(name) = self.ahead.pop_front() {
            if name == ".." {
                if self.steps.len() > 1 {
                    self.steps.pop();
                }
                continue;
            }
            let last = self.ahead.is_empty().then_some(last);
            match self.step(&name, last)? {
                Next::On => {}
                Next::Entry => return Ok(self.steps.pop().map(|step| (step.walked, name))),
                Next::Missing => return Ok(None),
            }
        }
        Ok(self.steps.pop().map(|step| (step.walked, ".".into())))
    }

    fn step(&mut self, name: &OsStr, last: Option<Last>) -> Result<Next, TrustError> {
        let Some(at) = self.steps.last() else { return Ok(Next::Missing) };
        self.judge.on_the_way(&at.walked.about, &at.path)?;
        let path = at.path.join(name);
        let failed = |errno: Errno| io("opening", &path)(errno.into());
        let open = || openat(&at.walked.folder, name, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty());
        let opened = match (open(), self.maker) {
            (Err(Errno::NOENT), _) if last == Some(Last::Entry) => return Ok(Next::Entry),
            (Err(Errno::NOENT), Some(maker)) => {
                make(&at.walked.folder, name, &path, maker).and_then(|()| open().map_err(failed))?
            }
            (Err(Errno::NOENT), None) => return Ok(Next::Missing),
            (opened, _) => opened.map_err(failed)?,
        };
        let about = fstat(&opened).map_err(failed)?;
        match FileType::from_raw_mode(about.st_mode) {
            FileType::Directory => self.steps.push(Step { walked: Walked { folder: opened, about }, path }),
            FileType::Symlink if last != Some(Last::FolderItself) => {
                self.judge.link(&about, &path)?;
                self.links += 1;
                let target = readlinkat(&opened, "", Vec::new()).map_err(failed)?;
                if self.links > LINKS_MAX {
                    return Err(failed(Errno::LOOP));
                }
                self.look_ahead(Path::new(&OsString::from_vec(target.into_bytes())));
            }
            _ if last == Some(Last::Entry) => return Ok(Next::Entry),
            _ => expect_kind(&about, FileType::Directory, &path)?,
        }
        Ok(Next::On)
    }

    /// Puts the names of a path, or of a link's target, before those that are still ahead.
    fn look_ahead(&mut self, path: &Path) {
        if path.is_absolute() {
            self.steps.truncate(1);
        }
        for part in path.components().rev() {
            match part {
                Component::Normal(name) => self.ahead.push_front(name.to_owned()),
                Component::ParentDir => self.ahead.push_front("..".into()),
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
            }
        }
    }
}

enum Next {
    On,
    /// The last name is of something in the folder where the walk is.
    Entry,
    Missing,
}

fn make(at: &OwnedFd, name: &OsStr, path: &Path, maker: &Judge) -> Result<(), TrustError> {
    let failed = |errno: Errno| io("making", path)(errno.into());
    match mkdirat(at, name, maker.folder_mode()) {
        // Another made it in between: it is judged like any other.
        Err(Errno::EXIST) => return Ok(()),
        made => made.map_err(failed)?,
    }
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let made = openat(at, name, flags, Mode::empty()).map_err(failed)?;
    maker.give(&made, path);
    Ok(())
}
