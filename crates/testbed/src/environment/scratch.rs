//! A folder that lives as long as an environment.

use std::fs;
use std::path::{Path, PathBuf};

use takt_host::cleaning::remove_scratch;
use takt_host::dirs::make_scratch;
use takt_host::leftovers::{Leftover, Registration, Run};

use super::EnvironmentError;

/// The folder `takt-PID-LABEL` below the run directory, registered before it exists, removed on drop.
#[derive(Debug)]
pub struct Scratch {
    name: String,
    path: PathBuf,
    registration: Option<Registration>,
}

impl Scratch {
    pub fn create(run: &Run, label: &str) -> Result<Scratch, EnvironmentError> {
        let name = run.name(label);
        let registration = Some(run.will_create(Leftover::Scratch { name: name.clone() })?);
        let path = make_scratch(&name)?;
        Ok(Scratch { name, path, registration })
    }

    /// Its name, which other things of the same environment may share.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file into it; its path.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> Result<PathBuf, EnvironmentError> {
        let path = self.path.join(name);
        fs::write(&path, content).map_err(EnvironmentError::file("writing", &path))?;
        Ok(path)
    }

    /// Makes a folder in it; its path.
    pub(super) fn folder(&self, name: &str) -> Result<PathBuf, EnvironmentError> {
        let path = self.path.join(name);
        fs::create_dir_all(&path).map_err(EnvironmentError::file("making", &path))?;
        Ok(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // A folder that can't be removed now stays registered, and `takt clean` says why.
        if remove_scratch(&self.name).is_ok() {
            let _ = self.registration.take().map(Registration::released);
        }
    }
}
