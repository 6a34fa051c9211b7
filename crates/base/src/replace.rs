//! Replacing a file whole, also in a folder that others may write.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::hash::{BuildHasher, RandomState};
use std::io::{self, Write};
use std::path::Path;

/// Replaces a file: a reader or a crash finds the old bytes or the new ones, which are on the disk when this returns.
///
/// The bytes first go into a file beside it. Nobody can lay a link where that file will be, since its name is random and it is
/// opened only if nothing has the name.
///
/// # Errors
/// The path names no file, or the system refuses. Then the old file stands.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let beside = folder.join(temporary_name(name));
    let mut file = File::options().write(true).create_new(true).open(&beside)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&beside, path));
    if let Err(error) = written {
        // If this fails, too, a hidden file stays that nothing reads.
        let _ = fs::remove_file(&beside);
        return Err(error);
    }
    // The name is in the folder, which has to reach the disk as well.
    File::open(folder)?.sync_all()
}

/// A name that nobody can foresee, for a file that is to become `name`: `.name.0123456789abcdef.tmp`.
#[must_use]
pub fn temporary_name(name: &OsStr) -> OsString {
    // The keys of a hash map's hasher come from the kernel's random numbers.
    let random = RandomState::new().hash_one(std::process::id());
    let mut hidden = OsString::from(".");
    hidden.push(name);
    hidden.push(format!(".{random:016x}.tmp"));
    hidden
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_whole_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("x");
        for content in ["old", "new"] {
            replace_file(&file, content.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&file).unwrap(), content);
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(replace_file(&folder.path().join(".."), b"").is_err(), "no file's name");
    }

    #[test]
    fn a_link_in_place_of_the_file_is_replaced_and_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let [file, elsewhere] = ["x", "elsewhere"].map(|name| folder.path().join(name));
        fs::write(&elsewhere, "mine").unwrap();
        std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
        replace_file(&file, b"new").unwrap();
        assert_eq!(fs::read_to_string(&elsewhere).unwrap(), "mine");
        assert_eq!(fs::read_to_string(&file).unwrap(), "new");
    }

    #[test]
    fn a_file_that_cannot_be_replaced_leaves_nothing_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("x")).unwrap();
        assert!(replace_file(&folder.path().join("x"), b"").is_err(), "a folder");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn no_two_temporary_names_are_the_same() {
        let names: std::collections::BTreeSet<OsString> = (0..1000).map(|_| temporary_name(OsStr::new("x"))).collect();
        assert_eq!(names.len(), 1000);
    }
}
