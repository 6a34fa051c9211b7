//! The guest's root: the agent, its libraries, kernel modules, and orders.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::EnvironmentError;
use super::super::programs::{self, Caller};
use super::cpio::Archive;
use super::guest::{self, Orders};
use super::kernel::Kernel;
use super::library::{libraries, loaded};
use super::modules;

/// Modules that a guest needs beside what is built in: the bus, the agent's port, the path.
const MODULES: [&str; 3] = ["virtio_pci", "virtio_console", "virtio_net"];

/// Tools for a person in a guest with a shell, as far as this machine has them.
const TOOLS: [&str; 14] =
    ["sh", "ls", "cat", "ip", "ping", "ps", "ss", "uname", "free", "taskset", "tcpdump", "iperf3", "mount", "setpriv"];

/// The archive for the kernel; `orders` get the names of the modules that are in it.
pub(super) fn build(
    caller: &Caller,
    program: &Path,
    kernel: &Kernel,
    tools: &[PathBuf],
    orders: &Orders,
) -> Result<Vec<u8>, EnvironmentError> {
    let mut root = Root { caller, archive: Archive::default(), folders: BTreeSet::new(), files: BTreeSet::new() };
    for folder in ["/proc", "/sys", "/dev", "/tmp"] {
        root.folder(folder);
    }
    // The first process has this console as its output before anything is mounted.
    root.archive.device("dev/console", 5, 1);
    root.program(program, guest::PROGRAM)?;
    for name in if orders.shell { &TOOLS[..] } else { &[] } {
        match programs::find(name) {
            Some(tool) => root.program(&tool, &format!("/bin/{name}"))?,
            None if format!("/bin/{name}") == guest::SHELL => {
                return Err(EnvironmentError::program(guest::SHELL.as_ref(), "it is not in PATH"));
            }
            None => {}
        }
    }
    for tool in tools.iter().filter(|_| orders.shell) {
        let name = tool.file_name().unwrap_or_default().to_string_lossy();
        root.program(tool, &format!("/bin/{name}"))?;
    }
    // Kernels of distributions show their configuration in this file alone.
    if let Some(config) = kernel.config() {
        root.file(&format!("/boot/config-{}", kernel.release), &read(&config)?);
    }
    let mut orders = orders.clone();
    if let Some(folder) = &kernel.modules {
        for module in modules::resolve(caller, folder, &MODULES)? {
            let path = format!("/modules/{}.ko", module.name);
            root.file(&path, &module.content);
            orders.modules.push(path);
        }
    }
    let orders = serde_json::to_vec(&orders);
    let unwritten = |error: serde_json::Error| EnvironmentError::program(guest::ORDERS.as_ref(), error.to_string());
    root.file(guest::ORDERS, &orders.map_err(unwritten)?);
    Ok(root.archive.finish())
}

fn read(path: &Path) -> Result<Vec<u8>, EnvironmentError> {
    fs::read(path).map_err(EnvironmentError::file("reading", path))
}

/// An archive that makes the folders of what is put into it.
struct Root<'a> {
    caller: &'a Caller,
    archive: Archive,
    folders: BTreeSet<String>,
    files: BTreeSet<String>,
}

impl Root<'_> {
    fn program(&mut self, program: &Path, target: &str) -> Result<(), EnvironmentError> {
        let content = read(program)?;
        self.file(target, &loaded(&content).map_err(|why| EnvironmentError::program(program, why))?);
        for library in libraries(self.caller, program, &content)? {
            if !self.files.contains(&library.target) {
                self.file(&library.target, &read(&library.source)?);
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &str, content: &[u8]) {
        if let Some((folder, _)) = path.rsplit_once('/') {
            self.folder(folder);
        }
        self.files.insert(path.to_owned());
        self.archive.file(path.trim_start_matches('/'), content);
    }

    fn folder(&mut self, path: &str) {
        if path.is_empty() || !self.folders.insert(path.to_owned()) {
            return;
        }
        if let Some((parent, _)) = path.rsplit_once('/') {
            self.folder(parent);
        }
        self.archive.folder(path.trim_start_matches('/'));
    }
}
