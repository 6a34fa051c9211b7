//! The owner and the mode that a folder or a file must have.

use std::os::fd::AsFd;
use std::path::Path;

use rustix::fs::{Gid, Mode, Stat, Uid, fchmod};

use super::TrustError;
use crate::accounts::{Accounts, User};

/// The users that may own and write a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// This user's, and nobody else may write it: records that takt acts upon. Not even the last name may be a link.
    Own,
    /// For root: root's, or of the user who typed `sudo`, and nobody else may write it. For other users everybody's, since no
    /// link leads them elsewhere and they can lose only what they may write.
    Operator,
    /// Everybody's: what is only read, or is all of one recorded host.
    Anyone,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Judge {
    trust: Trust,
    own: User,
    behind_sudo: Option<User>,
    /// Whether this process has root's rights over others' files.
    is_root: bool,
}

impl Judge {
    pub(super) fn of(trust: Trust) -> Judge {
        let own = User::own();
        Judge { trust, own, behind_sudo: User::behind_sudo(), is_root: own.uid == 0 && is_first_user_namespace() }
    }

    /// A folder that was named, or one below it.
    pub(super) fn folder(&self, about: &Stat, path: &Path) -> Result<(), TrustError> {
        self.owned(about, path)?;
        if self.is_strict() { self.closed(about, path) } else { Ok(()) }
    }

    pub(super) fn file(&self, about: &Stat, path: &Path) -> Result<(), TrustError> {
        self.folder(about, path)
    }

    /// A folder that leads to the one that was named: who may write it decides what the next name means. In one that is sticky
    /// only the owner of an entry does.
    pub(super) fn on_the_way(&self, about: &Stat, path: &Path) -> Result<(), TrustError> {
        if !self.is_root || self.trust == Trust::Anyone {
            return Ok(());
        }
        self.roots(about, path)?;
        if Mode::from_raw_mode(about.st_mode).contains(Mode::SVTX) { Ok(()) } else { self.closed(about, path) }
    }

    /// A link that leads there.
    pub(super) fn link(&self, about: &Stat, path: &Path) -> Result<(), TrustError> {
        if self.is_root && self.trust != Trust::Anyone { self.roots(about, path) } else { Ok(()) }
    }

    fn is_strict(&self) -> bool {
        match self.trust {
            Trust::Own => true,
            Trust::Operator => self.is_root,
            Trust::Anyone => false,
        }
    }

    fn owned(&self, about: &Stat, path: &Path) -> Result<(), TrustError> {
        match self.trust {
            Trust::Own if about.st_uid != self.own.uid => Err(self.foreign(about, path)),
            Trust::Operator if self.is_root => self.roots(about, path),
            _ => Ok(()),
        }
    }

    /// Root's, or of the user behind `sudo`.
    fn roots(&self, about: &Stat, path: &Path) -> Result<(), TrustError> {
        let is_behind = self.behind_sudo.is_some_and(|user| user.uid == about.st_uid);
        if about.st_uid == 0 || is_behind { Ok(()) } else { Err(self.foreign(about, path)) }
    }

    fn foreign(&self, about: &Stat, path: &Path) -> TrustError {
        let owner = accounts().name(about.st_uid);
        TrustError::Owner { path: path.to_owned(), owner, expected: self.expected() }
    }

    fn expected(&self) -> String {
        let accounts = accounts();
        let name = |uid| accounts.name(uid);
        match self.behind_sudo {
            Some(user) if self.trust != Trust::Own => format!("{} or {}", name(self.own.uid), name(user.uid)),
            _ => name(self.own.uid),
        }
    }

    /// Nobody else may write it. A group that holds nobody but its user is nobody else: distributions that give each user such a
    /// group let it write whatever the user makes.
    fn closed(&self, about: &Stat, path: &Path) -> Result<(), TrustError> {
        let (mode, accounts) = (Mode::from_raw_mode(about.st_mode), accounts());
        let owner = User { uid: about.st_uid, gid: about.st_gid };
        let who = if mode.contains(Mode::WOTH) {
            "everybody".to_owned()
        } else if mode.contains(Mode::WGRP) && !accounts.is_alone_in_its_group(owner) {
            format!("group {}", about.st_gid)
        } else {
            return Ok(());
        };
        let mode = about.st_mode & 0o7777;
        Err(TrustError::Writable { path: path.to_owned(), mode, who, expected: accounts.name(about.st_uid) })
    }

    pub(super) fn folder_mode(&self) -> Mode {
        Mode::from_raw_mode(if self.trust == Trust::Own {
            0o700
        } else if self.is_strict() {
            0o755
        } else {
            0o777
        })
    }

    pub(super) fn file_mode(&self) -> Mode {
        Mode::from_raw_mode(if self.trust == Trust::Own {
            0o600
        } else if self.is_strict() {
            0o644
        } else {
            0o666
        })
    }

    /// Gives to the user behind `sudo` a file that was made among that user's own.
    pub(super) fn give(&self, made: impl AsFd, path: &Path) {
        if let (Trust::Operator, Some(user)) = (self.trust, self.behind_sudo) {
            hand_over(made, user, path);
        }
    }

    /// A file that takes the place of another has its owner and its mode.
    pub(super) fn make_alike(&self, new: impl AsFd, old: &Stat, path: &Path) {
        if self.is_root {
            hand_over(&new, User { uid: old.st_uid, gid: old.st_gid }, path);
        }
        if let Err(errno) = fchmod(new, Mode::from_raw_mode(old.st_mode & 0o777)) {
            tracing::warn!("{} does not keep its mode: {errno}", path.display());
        }
    }
}

/// A file system without owners keeps its own, which is no reason to measure nothing.
fn hand_over(made: impl AsFd, user: User, path: &Path) {
    let (uid, gid) = (Uid::from_raw(user.uid), Gid::from_raw(user.gid));
    // By the descriptor alone, which may be one that only marks a place.
    if let Err(errno) = rustix::fs::chownat(made, "", Some(uid), Some(gid), rustix::fs::AtFlags::EMPTY_PATH) {
        tracing::warn!("{} stays root's: {errno}", path.display());
    }
}

/// Users and groups of this machine.
fn accounts() -> Accounts {
    Accounts::read(read)
}

/// Read without [`Host`](crate::Host), which reads a recorded machine by this module.
fn read(path: &str) -> Option<String> {
    std::fs::read(path).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

/// Root of another one has the rights of the user who made it, and sees the true root as nobody.
fn is_first_user_namespace() -> bool {
    let map = read("/proc/self/uid_map");
    // Without /proc nothing says so, and root is taken at his word.
    map.is_none_or(|map| map.split_whitespace().eq(["0", "0", "4294967295"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ADA: User = User { uid: 1000, gid: 1000 };
    const ROOT: User = User { uid: 0, gid: 0 };

    /// Nobody of these has a name on the machine of the test, so no group is a user's alone but root's.
    fn about(uid: u32, gid: u32, mode: u32) -> Stat {
        let mut about = rustix::fs::stat("/").expect("every machine has it");
        (about.st_uid, about.st_gid, about.st_mode) = (uid, gid, (about.st_mode & !0o7777) | mode);
        about
    }

    fn judge(trust: Trust, own: User, behind_sudo: Option<User>, is_root: bool) -> Judge {
        Judge { trust, own, behind_sudo, is_root }
    }

    #[test]
    fn root_believes_root_and_who_typed_sudo() {
        let path = Path::new("/x");
        let root = judge(Trust::Operator, ROOT, None, true);
        let by_sudo = judge(Trust::Operator, ROOT, Some(ADA), true);
        let of_ada = about(1000, 4_000_000, 0o755);
        assert!(root.folder(&about(0, 0, 0o755), path).is_ok() && root.folder(&of_ada, path).is_err());
        assert!(by_sudo.folder(&of_ada, path).is_ok() && by_sudo.folder(&about(1001, 1001, 0o755), path).is_err());
        for mode in [0o757, 0o775, 0o1777] {
            assert!(by_sudo.folder(&about(1000, 4_000_000, mode), path).is_err(), "{mode:o}");
        }
        assert!(root.folder(&about(0, 0, 0o775), path).is_ok(), "root's group is root");
        assert!(
            root.on_the_way(&about(0, 0, 0o1777), path).is_ok() && root.on_the_way(&about(0, 0, 0o777), path).is_err()
        );
        assert!(root.on_the_way(&about(1000, 0, 0o1755), path).is_err(), "its owner may exchange what is in it");
        assert!(by_sudo.link(&about(1000, 0, 0o777), path).is_ok() && root.link(&about(1000, 0, 0o777), path).is_err());
        let text = by_sudo.folder(&about(1001, 1001, 0o755), path).unwrap_err().to_string();
        assert!(text.starts_with("/x belongs to ") && text.contains("expected: root or "), "{text}");
    }

    #[test]
    fn other_users_notice_nothing_in_folders_of_runs() {
        for (own, is_root) in [(ADA, false), (ROOT, false)] {
            let user = judge(Trust::Operator, own, None, is_root);
            for (uid, mode) in [(0, 0o755), (1001, 0o777), (1000, 0o1777)] {
                let about = about(uid, 4_000_000, mode);
                let path = Path::new("/x");
                assert!(user.folder(&about, path).is_ok() && user.on_the_way(&about, path).is_ok());
            }
        }
    }

    #[test]
    fn records_are_believed_if_they_are_ones_own_alone() {
        let (user, path) = (judge(Trust::Own, ADA, None, false), Path::new("/x"));
        assert!(user.folder(&about(1000, 4_000_000, 0o755), path).is_ok());
        assert!(user.folder(&about(0, 0, 0o755), path).is_err(), "not even root's");
        assert!(user.folder(&about(1000, 4_000_000, 0o775), path).is_err());
        let by_sudo = judge(Trust::Own, ROOT, Some(ADA), true);
        assert!(by_sudo.folder(&about(1000, 1000, 0o755), path).is_err(), "nor of who typed sudo");
    }
}
