//! Doubles for tests: a host made of files, a process to be looked at, and the record of what a test makes that outlives it.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::host::Host;
use crate::leftovers::{Leftover, Registration, Registry, Run};
use crate::namespace;

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

/// Records and marks what a test makes, as takt does with its own, so that `takt clean` ends and removes what a killed test left.
#[derive(Debug)]
pub struct TestRun {
    run: Run,
    namespaces: Vec<(String, Registration)>,
}

impl TestRun {
    /// On record where `takt clean` of this user looks.
    #[expect(clippy::new_without_default, reason = "it makes a record")]
    pub fn new() -> TestRun {
        TestRun::at(&Registry::system())
    }

    pub fn at(registry: &Registry) -> TestRun {
        TestRun { run: registry.begin("test").unwrap(), namespaces: Vec::new() }
    }

    /// The name of its network namespace of that label.
    pub fn name(&self, label: &str) -> String {
        self.run.name(label)
    }

    /// Makes that namespace, which takes root; gone on drop.
    pub fn namespace(&mut self, label: &str) -> String {
        let name = self.name(label);
        let registration = self.run.will_create(Leftover::NetworkNamespace { name: name.clone() }).unwrap();
        self.namespaces.push((name.clone(), registration));
        assert!(Command::new("ip").args(["netns", "add", &name]).status().unwrap().success(), "ip netns add {name}");
        name
    }

    /// Marks a process that will execute `program`, by itself or in the end.
    pub fn mark(&self, command: &mut Command, program: &Path) {
        self.run.starts(program).unwrap();
        command.envs([self.run.mark()]);
    }
}

impl Drop for TestRun {
    fn drop(&mut self) {
        for (name, registration) in self.namespaces.drain(..) {
            // Otherwise it stays recorded, and `takt clean` says why.
            if namespace::remove_named(&name).is_ok() {
                let _ = registration.released();
            }
        }
    }
}
