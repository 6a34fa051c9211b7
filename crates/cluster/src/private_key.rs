//! Files with private keys: a key that others can read proves nothing.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use takt_host::user::User;

use crate::ClusterError;

/// Bytes of a file of the folder at most.
pub(crate) const MOST_BYTES: u64 = 64 << 10;

/// Contents of such a file, if nobody but its owner may read it, and its owner is this process's user, root, or who
/// called sudo.
///
/// # Errors
/// It can't be read; others may read it; another user owns it, who can put another key there.
pub(crate) fn read(path: &Path) -> Result<String, ClusterError> {
    let unreadable = |source| ClusterError::File { path: path.to_owned(), source };
    // The check is of the file that is read, whatever has its name by then.
    let file = File::open(path).map_err(unreadable)?;
    let facts = file.metadata().map_err(unreadable)?;
    // systemd lets the service read its credentials by an access list, which looks like a right of the group; their folder is
    // closed to everybody else.
    let is_credential = path.parent().is_some_and(|folder| credentials().is_some_and(|own| own == folder));
    if !is_credential {
        let users = [Some(0), Some(User::own().uid), User::behind_sudo().map(|user| user.uid)];
        check(path, facts.permissions().mode(), facts.uid(), &users)?;
    }
    let mut text = String::new();
    file.take(MOST_BYTES).read_to_string(&mut text).map_err(unreadable)?;
    Ok(text)
}

fn credentials() -> Option<PathBuf> {
    std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from)
}

fn check(path: &Path, mode: u32, owner: u32, users: &[Option<u32>]) -> Result<(), ClusterError> {
    let exposed = |why, fix| Err(ClusterError::Settings { path: path.to_owned(), why, fix });
    if !users.contains(&Some(owner)) {
        let why = format!("user {owner} owns this private key, and can replace it");
        return exposed(why, format!("take a copy of your own, with mode 0600, in place of {}", path.display()));
    }
    if mode & 0o077 != 0 {
        let why = format!("mode {:04o} lets others than its owner have this private key", mode & 0o7777);
        return exposed(why, format!("chmod 600 {}", path.display()));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs::Permissions;

    use super::*;

    #[test]
    fn a_key_that_others_may_read_or_write_is_refused_with_what_mends_that() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("node.key");
        std::fs::write(&path, "secret").unwrap();
        for mode in [0o640, 0o604, 0o660, 0o644, 0o620, 0o777] {
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            let refused = read(&path).unwrap_err();
            let says = format!(": mode {mode:04o} lets others than its owner have this private key");
            assert!(refused.to_string().ends_with(&says), "{refused}");
            assert_eq!(refused.fix(), Some(format!("chmod 600 {}", path.display())));
        }
        for mode in [0o600, 0o400] {
            std::fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            assert_eq!(read(&path).unwrap(), "secret");
        }
    }

    #[test]
    fn a_key_that_another_user_owns_is_refused() {
        let path = Path::new("node.key");
        let of = |owner| check(path, 0o100_600, owner, &[Some(0), Some(1000), None]);
        assert!(of(0).is_ok() && of(1000).is_ok());
        let refused = of(1001).unwrap_err();
        assert_eq!(refused.to_string(), "node.key: user 1001 owns this private key, and can replace it");
    }
}
