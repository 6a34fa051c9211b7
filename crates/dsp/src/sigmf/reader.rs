//! Opens a recording and reads its samples.

use std::path::{Path, PathBuf};

use num_complex::Complex32;

use super::files::Found;
use super::hash::CHECKED_BYTES;
use super::{Capture, Checksum, Metadata, Samples};
use crate::file::FileError;

/// A recording being read, one channel of it, in bounded memory.
#[derive(Debug)]
pub struct Reader {
    /// For errors.
    meta: PathBuf,
    metadata: Metadata,
    data: Samples,
}

impl Reader {
    /// Opens the first channel of a recording: by the name of either file, their common part, or an archive.
    ///
    /// # Errors
    /// As [`open_channel`](Reader::open_channel).
    pub fn open(path: &Path) -> Result<Reader, FileError> {
        Reader::open_channel(path, 0)
    }

    /// Opens a channel of a recording, counted from 0.
    ///
    /// # Errors
    /// If a file is missing or unreadable, the metadata are not as SigMF has them, the recording lacks the channel, or the data end
    /// within a sample or before the last capture begins.
    pub fn open_channel(path: &Path, channel: u64) -> Result<Reader, FileError> {
        let found = Found::at(path)?;
        let metadata = Metadata::parse(&found.meta, &found.text)?;
        let meta = found.meta.clone();
        let data = Samples::of(found.dataset(&metadata.global)?, &metadata, &meta, channel)?;
        Ok(Reader { meta, metadata, data })
    }

    /// The recording's own metadata.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Samples in the file.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.data.samples()
    }

    /// The first sample of the first capture, by its place in the file. The metadata say nothing of those before.
    #[must_use]
    pub fn begins(&self) -> u64 {
        let first = self.metadata.captures.first().map_or(0, |first| first.sample_start);
        first.saturating_sub(self.metadata.global.offset).min(self.samples())
    }

    /// Refuses a recording without a sample in any capture.
    ///
    /// # Errors
    /// If there is none.
    pub fn require_samples(&self) -> Result<(), FileError> {
        let data = self.data.path();
        match (self.samples(), self.begins()) {
            (0, _) => {
                let fix = "name another recording, or record this one again";
                Err(FileError::unexpected(data, "it", "empty", "a file with samples", fix))
            }
            (samples, begins) if begins == samples => {
                let found = begins.saturating_add(self.metadata.global.offset).to_string();
                let expected = format!("one of the {samples} samples of {}", data.display());
                let fix = "restore the whole data file, or correct the field";
                Err(FileError::unexpected(&self.meta, "/captures/0/core:sample_start", &found, &expected, fix))
            }
            _ => Ok(()),
        }
    }

    /// Holds the data against `core:sha512`, if the recording has it. Reads all of up to 1 GiB.
    ///
    /// # Errors
    /// If they are other data, or the system refuses.
    pub fn check(&self) -> Result<Checksum, FileError> {
        let Some(expected) = &self.metadata.global.sha512 else { return Ok(Checksum::Absent) };
        let Some(hash) = self.data.sha512(CHECKED_BYTES)? else { return Ok(Checksum::Unchecked) };
        if hash.eq_ignore_ascii_case(expected) {
            return Ok(Checksum::Matches);
        }
        let short = |hash: &str| hash.chars().take(16).collect::<String>();
        let of_data = format!("{}..., that of {}", short(&hash), self.data.path().display());
        let fix = "restore the data file; if it was changed on purpose, take the field away";
        let found = format!("{}...", short(expected));
        Err(FileError::unexpected(&self.meta, "/global/core:sha512", &found, &of_data, fix))
    }

    /// The capture that the sample at this place in the file belongs to; `None` before the first.
    #[must_use]
    pub fn capture_at(&self, sample: u64) -> Option<&Capture> {
        let index = sample.checked_add(self.metadata.global.offset)?;
        let next = self.metadata.captures.partition_point(|capture| capture.sample_start <= index);
        self.metadata.captures[..next].last()
    }

    /// Goes to a sample, counted from 0 at the beginning of the file.
    pub fn seek(&mut self, sample: u64) {
        self.data.seek(sample);
    }

    /// Reads the next samples; fewer than fit only at the end, where it answers 0. It begins with the first of the file.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn read(&mut self, out: &mut [Complex32]) -> Result<usize, FileError> {
        self.data.read(out)
    }

    /// The samples alone, from the first of the first capture on, which is their number 0.
    #[must_use]
    pub fn into_data(mut self) -> Samples {
        self.data.begin_at(self.begins());
        self.data
    }
}
