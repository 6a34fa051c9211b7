//! Writes samples one after the other.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use num_complex::Complex32;

use super::{FileError, SampleFormat};

/// Treatment of a file of the same name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Existing {
    /// Leave it, and say so.
    Keep,
    /// Begin anew.
    Replace,
}

/// A file of samples that grows. A sample is written whole or not at all, as far as the disk goes.
#[derive(Debug)]
pub struct SampleWriter {
    path: PathBuf,
    file: File,
    format: SampleFormat,
    /// Samples that belong together: one of each channel.
    group: usize,
    samples: u64,
    clipped: u64,
    buffer: Vec<u8>,
}

impl SampleWriter {
    /// Creates a file.
    ///
    /// # Errors
    /// If the system refuses, or there is one and it shall be kept.
    pub fn create(path: &Path, format: SampleFormat, existing: Existing) -> Result<SampleWriter, FileError> {
        let mut options = OpenOptions::new();
        match existing {
            Existing::Keep => options.write(true).create_new(true),
            Existing::Replace => options.write(true).create(true).truncate(true),
        };
        let file = options.open(path).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => FileError::Exists { path: path.to_owned() },
            _ => FileError::Io { action: "creating", path: path.to_owned(), source },
        })?;
        let (path, buffer) = (path.to_owned(), vec![0; BUFFER_BYTES]);
        Ok(SampleWriter { path, file, format, group: 1, samples: 0, clipped: 0, buffer })
    }

    /// So many samples belong together, one of each channel: none of them is written without the others.
    #[must_use]
    pub(crate) fn in_groups_of(self, group: usize) -> SampleWriter {
        SampleWriter { group: group.max(1), ..self }
    }

    /// Appends samples. Each piece goes to the system before the call ends, so nothing is lost with this process.
    ///
    /// # Errors
    /// If the system refuses, a full disk for one. Then the file ends with the last whole sample that was written.
    pub fn write(&mut self, samples: &[Complex32]) -> Result<(), FileError> {
        let most = BUFFER_BYTES / self.format.sample_bytes();
        // Samples that belong together go to the system together, as far as they fit.
        let most = (most / self.group * self.group).max(1);
        for samples in samples.chunks(most) {
            let bytes = &mut self.buffer[..samples.len() * self.format.sample_bytes()];
            let clipped = self.format.encode(samples, bytes);
            if let Err(source) = self.file.write_all(bytes) {
                self.cut_to_whole_samples();
                return Err(FileError::Io { action: "writing", path: self.path.clone(), source });
            }
            self.samples += samples.len() as u64;
            self.clipped += clipped;
        }
        Ok(())
    }

    /// Waits until all samples are on the disk.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn sync(&mut self) -> Result<(), FileError> {
        self.file.sync_data().map_err(FileError::io("writing to disk", &self.path))
    }

    /// Samples in the file.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// Samples among these that were beyond full scale.
    #[must_use]
    pub fn clipped(&self) -> u64 {
        self.clipped
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// After a write that got stuck half way: counts what did arrive and takes the torn sample off, and those
    /// that belong to it.
    fn cut_to_whole_samples(&mut self) {
        let group = self.group as u64;
        let group_bytes = self.format.sample_bytes() as u64 * group;
        if let Ok(about) = self.file.metadata() {
            let whole = about.len() / group_bytes;
            // If even this is refused, opening the file will name the place and the cure.
            let end = SeekFrom::Start(whole * group_bytes);
            if self.file.set_len(whole * group_bytes).and_then(|()| self.file.seek(end)).is_ok() {
                self.samples = whole * group;
            }
        }
    }
}

const BUFFER_BYTES: usize = 1 << 16;
