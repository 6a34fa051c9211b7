//! Who writes a run.

use std::fs::File;

use takt_host::lock::LockedFile;

use super::{Store, StoreError, make_folder, write_file};

/// The right to write one run. The kernel gives it back when the process ends, however it ends.
#[derive(Debug)]
pub struct RunLock(#[expect(dead_code, reason = "held, not read: dropping it gives the lock back")] LockedFile);

impl Store {
    /// Takes the right to write `run`, so that two processes never continue the same one.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if another process has it; [`StoreError::Directory`] if the run's directory can't be
    /// made, [`StoreError::OtherOwner`] if it is another user's.
    pub fn lock_run(&self, run: &str) -> Result<RunLock, StoreError> {
        let directory = self.directory().join(run);
        let failed = |source| StoreError::directory(self.directory(), &directory, source);
        make_folder(&directory).map_err(failed)?;
        let path = directory.join("lock");
        write_file(&path, []).map_err(failed)?;
        let file = File::options().write(true).open(&path).map_err(failed)?;
        let locked = LockedFile::try_now(file).map_err(failed)?;
        locked.map(RunLock).map_err(|_| StoreError::Busy { what: format!("run {run}") })
    }
}
