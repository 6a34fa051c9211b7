//! A host as files: what `/proc` and `/sys` say, from this machine or from a tree that looks like one.
//!
//! Everything takt reads about a host goes through [`Host`], so that a rule, a fingerprint or an accounting snapshot
//! can be tried on a recorded machine. Only [`Host::this`] does what files cannot say (asking the scheduler, reading a
//! clock); a tree answers such questions with what its builder was given.

use std::cell::Cell;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::error::ReadError;
use crate::scheduling::PolicyError;
use crate::trusted::{self, TrustedDir};

/// The most bytes read from one file. `/proc/interrupts` of a large machine stays far below.
const FILE_LIMIT_BYTES: u64 = 8 << 20;

/// Asks whether `SCHED_FIFO` of this priority may be had, without keeping it.
pub type FifoAttempt = fn(u8) -> Result<(), PolicyError>;

/// A view of one host. The doctor alone writes through it.
#[derive(Clone, Debug)]
pub struct Host {
    root: PathBuf,
    later: Option<PathBuf>,
    waited: Cell<bool>,
    fifo_answer: Option<FifoAttempt>,
    hypervisor: Option<String>,
    interface: Option<String>,
}

impl Host {
    #[must_use]
    pub fn this() -> Host {
        Host { hypervisor: crate::sys::cpuid::hypervisor_signature(), ..Host::at("/") }
    }

    /// A host recorded under `root`, which holds `proc/` and `sys/`.
    #[must_use]
    pub fn at(root: impl Into<PathBuf>) -> Host {
        Host {
            root: root.into(),
            later: None,
            waited: Cell::new(false),
            fifo_answer: None,
            hypervisor: None,
            interface: None,
        }
    }

    /// The same recorded host some time later: after the first [`wait`](Host::wait) files are read from `root`.
    #[must_use]
    pub fn and_later(mut self, root: impl Into<PathBuf>) -> Host {
        self.later = Some(root.into());
        self
    }

    /// Sets a recorded host's answer to a request for `SCHED_FIFO`.
    #[must_use]
    pub fn answering_fifo(mut self, attempt: FifoAttempt) -> Host {
        self.fifo_answer = Some(attempt);
        self
    }

    /// The processor's hypervisor signature (CPUID leaf `0x4000_0000`) of a recorded host.
    #[must_use]
    pub fn under_hypervisor(mut self, signature: &str) -> Host {
        self.hypervisor = Some(signature.to_owned());
        self
    }

    /// The same host, with this network interface only, because the radio is behind it.
    #[must_use]
    pub fn for_interface(mut self, interface: &str) -> Host {
        self.interface = Some(interface.to_owned());
        self
    }

    #[must_use]
    pub fn interface(&self) -> Option<&str> {
        self.interface.as_deref()
    }

    /// True for the machine this program runs on: only there may anything be measured.
    #[must_use]
    pub fn is_this(&self) -> bool {
        self.root == Path::new("/")
    }

    #[must_use]
    pub fn hypervisor(&self) -> Option<&str> {
        self.hypervisor.as_deref()
    }

    /// A recorded host's answer to a request for `SCHED_FIFO`.
    pub(crate) fn fifo_answer(&self) -> Option<FifoAttempt> {
        self.fifo_answer
    }

    /// Lets `span` pass. A recorded host does not wait; it turns to its later tree.
    pub fn wait(&self, span: Duration) {
        if self.is_this() {
            thread::sleep(span);
        }
        self.waited.set(true);
    }

    /// Path on this host of `path` (absolute, as on the host itself). On a recorded host its links may lead out of
    /// there: what is read and written goes through [`read`](Host::read) and [`write`](Host::write), which stay inside.
    #[must_use]
    pub fn path(&self, path: &str) -> PathBuf {
        self.tree().join(path.trim_start_matches('/'))
    }

    /// The folder with this host's files.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// The one in which they are now.
    fn tree(&self) -> &Path {
        match &self.later {
            Some(later) if self.waited.get() => later,
            _ => &self.root,
        }
    }

    /// The text of a file, bytes that are no UTF-8 replaced.
    ///
    /// # Errors
    /// The file is not there, may not be read, or is longer than 8 MiB.
    pub fn read(&self, path: &str) -> Result<String, ReadError> {
        Ok(String::from_utf8_lossy(&self.read_bytes(path)?).into_owned())
    }

    /// The bytes of a file that is no text.
    pub fn read_bytes(&self, path: &str) -> Result<Vec<u8>, ReadError> {
        let bytes = self.read_start(path, FILE_LIMIT_BYTES)?;
        if bytes.len() as u64 == FILE_LIMIT_BYTES {
            let source = io::Error::new(io::ErrorKind::FileTooLarge, "longer than 8 MiB");
            return Err(ReadError::Io { path: path.to_owned(), source });
        }
        Ok(bytes)
    }

    /// At most the first `bytes` of a file that need not end, such as a device.
    pub fn read_start(&self, path: &str, bytes: u64) -> Result<Vec<u8>, ReadError> {
        let mut start = Vec::new();
        let read = self.open(path).and_then(|file| file.take(bytes).read_to_end(&mut start));
        read.map_err(|source| ReadError::Io { path: path.to_owned(), source })?;
        Ok(start)
    }

    fn open(&self, path: &str) -> io::Result<fs::File> {
        if self.is_this() {
            return fs::File::open(self.path(path));
        }
        trusted::recorded_file(self.tree(), Path::new(path)).map_err(io::Error::from)
    }

    /// The text of a file without white space around it; `None` if it cannot be read.
    #[must_use]
    pub fn read_opt(&self, path: &str) -> Option<String> {
        self.read(path).ok().map(|text| text.trim().to_owned())
    }

    /// One number from a file that holds one number.
    ///
    /// # Errors
    /// As [`read`](Host::read), or the content is no whole number.
    pub fn read_number(&self, path: &str) -> Result<i64, ReadError> {
        let text = self.read(path)?;
        text.trim().parse().map_err(|_| ReadError::malformed(path, "one whole number", &text))
    }

    /// Writes a setting whole or not at all, whatever ends this program: the kernel takes one `write` as one, and the file
    /// of a recorded host is replaced. Not so `vm.nr_hugepages`: a signal has the kernel stop at the pages that it had by
    /// then.
    ///
    /// # Errors
    /// There is no such setting, or it may not be changed.
    pub fn write(&self, path: &str, text: &str) -> io::Result<()> {
        if self.is_this() {
            return fs::OpenOptions::new().write(true).open(self.path(path))?.write_all(text.as_bytes());
        }
        let (folder, name) = trusted::recorded_place(self.tree(), Path::new(path))?;
        // Fails where the setting is not there or may not be changed.
        folder.may_write(&name)?;
        Ok(folder.replace(&name, text.as_bytes())?)
    }

    /// Names in a folder, sorted; empty if it is not there.
    #[must_use]
    pub fn list(&self, path: &str) -> Vec<String> {
        if !self.is_this() {
            let folder = TrustedDir::find_within(self.tree(), Path::new(path));
            return folder.ok().flatten().and_then(|folder| folder.names().ok()).unwrap_or_default();
        }
        let entries = fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }
}
