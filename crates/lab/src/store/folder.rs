//! Folders and files of the runs directory.
//!
//! What a call by `sudo` makes there belongs to the user who typed it, so that the same program without `sudo` can go on with
//! it. What is there already keeps its owner: root may have meant it.

use std::fs;
use std::io;
use std::os::unix::fs::lchown;
use std::path::Path;

use takt_host::user::User;

/// Makes a folder with its parents.
pub fn make_folder(path: &Path) -> io::Result<()> {
    match fs::create_dir(path) {
        Ok(()) => {}
        Err(_) if path.is_dir() => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let parent = path.parent().filter(|parent| *parent != Path::new("")).ok_or(error)?;
            make_folder(parent)?;
            fs::create_dir(path)?;
        }
        Err(error) => return Err(error),
    }
    give(path);
    Ok(())
}

/// Writes a whole file.
pub fn write_file(path: &Path, content: impl AsRef<[u8]>) -> io::Result<()> {
    let new = !path.exists();
    fs::write(path, content)?;
    if new {
        give(path);
    }
    Ok(())
}

/// Gives what was just made to the user behind sudo. A file system without owners keeps its own, which is no reason to measure
/// nothing.
pub(super) fn give(path: &Path) {
    let Some(User { uid, gid }) = User::behind_sudo() else { return };
    // Not through a symbolic link: the folder is that user's to change.
    if let Err(error) = lchown(path, Some(uid), Some(gid)) {
        tracing::warn!("{} stays root's: {error}", path.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_made_with_its_parents_and_twice_is_fine() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a/b/c");
        make_folder(&path).unwrap();
        make_folder(&path).unwrap();
        assert!(path.is_dir());
        write_file(&path.join("x"), "1").unwrap();
        assert_eq!(make_folder(&path.join("x/y")).unwrap_err().kind(), io::ErrorKind::NotADirectory);
        assert!(make_folder(&path.join("x")).is_err(), "a file is no folder");
    }
}
