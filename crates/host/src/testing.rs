//! Doubles for tests: a host made of files, and a process to be looked at.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::host::Host;

/// A folder that looks like the root of a host; gone when dropped.
#[derive(Debug)]
pub struct Tree(tempfile::TempDir);

impl Tree {
    #[expect(clippy::new_without_default, reason = "each has a folder of its own")]
    pub fn new() -> Tree {
        Tree(tempfile::tempdir().unwrap())
    }

    /// Adds or replaces a file, named as on the host.
    #[must_use]
    pub fn with(self, path: &str, content: &str) -> Tree {
        self.put(path, content);
        self
    }

    /// As [`with`](Tree::with), by reference.
    pub fn put(&self, path: &str, content: &str) {
        self.put_bytes(path, content.as_bytes());
    }

    /// As [`put`](Tree::put), for files that are no text.
    pub fn put_bytes(&self, path: &str, content: &[u8]) {
        let file = self.0.path().join(path.trim_start_matches('/'));
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, content).unwrap();
    }

    pub fn root(&self) -> &Path {
        self.0.path()
    }

    pub fn host(&self) -> Host {
        Host::at(self.root())
    }
}

pub struct Killed(pub Child);

impl Killed {
    pub fn start(script: &str) -> Killed {
        Killed(Command::new("sh").args(["-c", script]).stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Killed {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
