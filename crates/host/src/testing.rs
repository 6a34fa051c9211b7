//! Doubles for this crate's tests: a host made of files.

use std::fs;
use std::path::Path;

use crate::host::Host;

/// A folder that looks like the root of a host; gone when dropped.
pub(crate) struct Tree(tempfile::TempDir);

impl Tree {
    pub(crate) fn new() -> Tree {
        Tree(tempfile::tempdir().unwrap())
    }

    /// Adds or replaces a file, named as on the host.
    pub(crate) fn with(self, path: &str, content: &str) -> Tree {
        self.put(path, content);
        self
    }

    /// As [`with`](Tree::with), by reference.
    pub(crate) fn put(&self, path: &str, content: &str) {
        self.put_bytes(path, content.as_bytes());
    }

    /// As [`put`](Tree::put), for files that are no text.
    pub(crate) fn put_bytes(&self, path: &str, content: &[u8]) {
        let file = self.0.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }

    pub(crate) fn root(&self) -> &Path {
        self.0.path()
    }

    pub(crate) fn host(&self) -> Host {
        Host::at(self.root())
    }
}
