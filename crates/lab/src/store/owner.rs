//! Ownership of a run that is being written.

use std::path::Path;

use takt_host::lock::LockedFile;
use takt_host::trusted::{Trust, TrustedDir};

use super::name::expect_run_name;
use super::{Store, StoreError};

/// The right to write one run. The kernel gives it back when the process ends, however it ends.
#[derive(Debug)]
pub struct RunLock(#[expect(dead_code, reason = "held, not read: dropping it gives the lock back")] LockedFile);

impl Store {
    /// Takes the right to write `run`, so that two processes never continue the same one.
    ///
    /// # Errors
    /// [`StoreError::Busy`] if another process has it; [`StoreError::Directory`] if the run's directory can't be
    /// made, [`StoreError::OtherOwner`] if it is another user's, [`StoreError::Untrusted`] if what is there may not be opened.
    pub fn lock_run(&self, run: &str) -> Result<RunLock, StoreError> {
        expect_run_name(run)?;
        let directory = self.directory();
        let failed = |error| StoreError::untrusted(directory, error);
        let file = self.folder()?.make_folder(run).and_then(|folder| folder.kept("lock")).map_err(failed)?;
        let failed = |source| StoreError::directory(directory, &directory.join(run).join("lock"), source);
        let locked = LockedFile::try_now(file).map_err(failed)?;
        locked.map(RunLock).map_err(|_| StoreError::Busy { what: format!("run {run}") })
    }
}

/// The folder of a run in the runs directory, where its report goes; made if there is none.
///
/// # Errors
/// As [`Store::lock_run`]'s.
pub fn run_folder(runs: &Path, run: &str) -> Result<TrustedDir, StoreError> {
    expect_run_name(run)?;
    let folder = TrustedDir::make(runs, Trust::Operator).and_then(|runs| runs.make_folder(run));
    folder.map_err(|error| StoreError::untrusted(runs, error))
}
