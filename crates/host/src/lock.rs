//! A file with a lock that ends when its owner lets go of it.
//!
//! A lock of `flock` belongs to the open file, and a child has a copy of that between its fork and its exec. Closing the
//! file therefore ends the lock only once every such child has become its own program; [`LockedFile`] unlocks, which
//! ends it for all copies at once. When the process is killed the kernel closes the file.

use std::fs::File;
use std::io;
use std::ops::{Deref, DerefMut};

use rustix::fs::{FlockOperation, flock};

/// A file whose exclusive lock is ours until this is dropped.
#[derive(Debug)]
pub struct LockedFile(File);

impl LockedFile {
    /// Waits until nobody else has the lock.
    pub fn wait(file: File) -> io::Result<LockedFile> {
        rustix::io::retry_on_intr(|| flock(&file, FlockOperation::LockExclusive))?;
        Ok(LockedFile(file))
    }

    /// Takes the lock, or gives the file back if another has it.
    pub fn try_now(file: File) -> io::Result<Result<LockedFile, File>> {
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => Ok(Ok(LockedFile(file))),
            Err(rustix::io::Errno::WOULDBLOCK) => Ok(Err(file)),
            Err(errno) => Err(errno.into()),
        }
    }
}

impl Deref for LockedFile {
    type Target = File;

    fn deref(&self) -> &File {
        &self.0
    }
}

impl DerefMut for LockedFile {
    fn deref_mut(&mut self) -> &mut File {
        &mut self.0
    }
}

impl Drop for LockedFile {
    fn drop(&mut self) {
        // If this fails, closing the file unlocks it, a moment later perhaps.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_with_its_owner_though_a_copy_of_the_file_is_open() {
        let folder = tempfile::tempdir().unwrap();
        let open = || File::create(folder.path().join("lock")).unwrap();
        let locked = LockedFile::try_now(open()).unwrap().unwrap();
        // A child has this until it becomes its own program.
        let copy = locked.try_clone().unwrap();
        assert!(LockedFile::try_now(open()).unwrap().is_err(), "locked");
        drop(locked);
        assert!(LockedFile::try_now(open()).unwrap().is_ok(), "unlocked");
        LockedFile::wait(open()).unwrap();
        drop(copy);
    }
}
