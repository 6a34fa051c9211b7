//! Makes a recording that is readable whenever the process may end.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use num_complex::Complex32;

use super::files::{LIMIT_BYTES, pair};
use super::hash::{self, SEALED_BYTES};
use super::samples::MAX_CHANNELS;
use super::{Annotation, Capture, Fields, Global, Metadata};
use crate::file::{Existing, FileError, SampleWriter};

/// A recording being written.
///
/// Ends with [`finish`](Writer::finish); dropped without it, the recording stands as the last
/// [`checkpoint`](Writer::checkpoint) described it.
#[derive(Debug)]
pub struct Writer {
    meta: PathBuf,
    metadata: Metadata,
    /// The metadata file does not say all of it yet.
    news: bool,
    data: SampleWriter,
    /// Samples of all channels in turn, on their way to the file.
    interleaved: Vec<Complex32>,
}

impl Writer {
    /// Creates both files; the name is that of either, or their common part. The samples will be of as many channels as `global`
    /// says, and alone in their file, whatever it says of that.
    ///
    /// # Errors
    /// If the system refuses, either file is there and shall be kept, or takt writes no such datatype.
    pub fn create(path: &Path, global: Global, existing: Existing) -> Result<Writer, FileError> {
        let (meta, data) = pair(path);
        let Some(format) = global.datatype.native() else {
            let found = format!("\"{}\"", global.datatype);
            let fix = "write one of these";
            return Err(FileError::unexpected(&meta, "/global/core:datatype", &found, "ci16_le, ci8 or cf32_le", fix));
        };
        if meta.exists() {
            match existing {
                Existing::Keep => return Err(FileError::Exists { path: meta }),
                Existing::Replace => {
                    may_be_replaced(&data)?;
                    // Before the data go: old metadata must never describe new samples.
                    std::fs::remove_file(&meta).map_err(FileError::io("replacing", &meta))?;
                }
            }
        }
        let data = SampleWriter::create(&data, format, existing)?;
        let (channels, trailing_bytes) = (global.channels.clamp(1, MAX_CHANNELS), 0);
        let data = data.in_groups_of(channels as usize);
        let global = Global { channels, trailing_bytes, dataset: None, metadata_only: false, sha512: None, ..global };
        let captures = vec![Capture { sample_start: global.offset, ..Capture::default() }];
        let metadata = Metadata { global, captures, annotations: vec![], other: Fields::default() };
        let mut writer = Writer { meta, metadata, news: true, data, interleaved: Vec::new() };
        writer.checkpoint()?;
        Ok(writer)
    }

    /// Begins a new run of samples. A run without samples is replaced by its successor. `sample_start` is set here.
    pub fn begin_capture(&mut self, capture: Capture) {
        let sample_start = self.metadata.global.offset.saturating_add(self.samples());
        let captures = &mut self.metadata.captures;
        // In order: only the last ones can have begun here.
        while captures.pop_if(|last| last.sample_start >= sample_start).is_some() {}
        captures.push(Capture { sample_start, header_bytes: 0, ..capture });
        self.news = true;
    }

    /// Sets the recording's rate, in samples a second, if that was not known at first.
    pub fn set_sample_rate(&mut self, sample_rate_sps: f64) {
        self.metadata.global.sample_rate_sps = Some(sample_rate_sps);
        self.news = true;
    }

    /// Sets another field of the recording as a whole: `takt:clock_hz`.
    pub fn set_field(&mut self, name: &str, value: impl Into<serde_json::Value>) {
        self.metadata.global.other.insert(name, value);
        self.news = true;
    }

    /// Adds a remark. Remarks are kept in the order of their first samples.
    pub fn annotate(&mut self, annotation: Annotation) {
        let place = self.metadata.annotations.partition_point(|other| other.sample_start <= annotation.sample_start);
        self.metadata.annotations.insert(place, annotation);
        self.news = true;
    }

    /// Appends samples to the data file; of several channels, one of each in turn.
    ///
    /// # Errors
    /// If the system refuses; what was written before stays readable.
    pub fn write(&mut self, samples: &[Complex32]) -> Result<(), FileError> {
        self.data.write(samples)
    }

    /// Appends samples that lie channel by channel, as many of each.
    ///
    /// # Errors
    /// As [`write`](Writer::write).
    pub fn write_channels(&mut self, channels: &[&[Complex32]]) -> Result<(), FileError> {
        if let [only] = channels {
            return self.write(only);
        }
        let length = channels.iter().map(|samples| samples.len()).min().unwrap_or(0);
        let mut interleaved = std::mem::take(&mut self.interleaved);
        interleaved.clear();
        interleaved.extend((0..length).flat_map(|n| channels.iter().map(move |samples| samples[n])));
        let written = self.write(&interleaved);
        self.interleaved = interleaved;
        written
    }

    /// Brings the samples to disk, then the metadata that describe them, if there is news of them. Waits for the disk: call it now
    /// and then.
    ///
    /// # Errors
    /// If the system refuses; then the metadata of the checkpoint before hold.
    pub fn checkpoint(&mut self) -> Result<(), FileError> {
        self.data.sync()?;
        if self.news {
            replace(&self.meta, &self.metadata)?;
            self.news = false;
        }
        Ok(())
    }

    /// The last checkpoint. Answers what the recording says of itself.
    ///
    /// # Errors
    /// As [`checkpoint`](Writer::checkpoint).
    pub fn finish(mut self) -> Result<Metadata, FileError> {
        // Whatever became of the file meanwhile.
        self.news = true;
        self.checkpoint()?;
        Ok(self.metadata)
    }

    /// As [`finish`](Writer::finish), with `core:sha512` of a data file of up to 256 MiB. It reads that back once all samples are
    /// written, so that no hash delays the disk.
    ///
    /// # Errors
    /// As [`checkpoint`](Writer::checkpoint). A file that can't be read back gets no hash.
    pub fn seal(mut self) -> Result<Metadata, FileError> {
        let path = self.data.path();
        let about = File::open(path).and_then(|file| Ok((file.metadata()?.len(), file)));
        if let Some((bytes, file)) = about.ok().filter(|(bytes, _)| *bytes <= SEALED_BYTES) {
            self.metadata.global.sha512 = hash::sha512(&file, 0, bytes, path).ok();
        }
        self.finish()
    }

    /// Samples written, of each channel.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.data.samples() / self.metadata.global.channels
    }

    /// Samples of all channels that were beyond full scale.
    #[must_use]
    pub fn clipped(&self) -> u64 {
        self.data.clipped()
    }

    /// The recording's future metadata.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }
}

/// Whether the data file, if there is one, may be written: who may not keeps its description, too.
fn may_be_replaced(data: &Path) -> Result<(), FileError> {
    match File::options().write(true).open(data) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(FileError::io("replacing", data)(error)),
        _ => Ok(()),
    }
}

/// A reader finds the old file or the new one, whole.
fn replace(path: &Path, metadata: &Metadata) -> Result<(), FileError> {
    let mut text = Limited(Vec::new());
    let described = serde_json::to_writer_pretty(&mut text, metadata).map_err(io::Error::from);
    let described = described.and_then(|()| text.write_all(b"\n"));
    let Limited(text) = text;
    if described.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::FileTooLarge) {
        let (found, expected) = ("more than 64 MiB", "what a reader takes: the checkpoint before holds");
        let fix = "record less at a time: each burst is a capture of its own";
        return Err(FileError::unexpected(path, "the length of its metadata", found, expected, fix));
    }
    described.map_err(FileError::io("describing", path))?;
    takt_base::replace_file(path, &text).map_err(FileError::io("writing", path))
}

/// A text that ends where a reader would not take it any more.
struct Limited(Vec<u8>);

impl Write for Limited {
    fn write(&mut self, more: &[u8]) -> io::Result<usize> {
        if (self.0.len() + more.len()) as u64 > LIMIT_BYTES {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(more);
        Ok(more.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
