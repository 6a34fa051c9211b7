//! The places of samples in the data of a recording, and reading those of one channel.
//!
//! ```text
//!   core:header_bytes                                                     core:trailing_bytes
//!   ┌────────┬───────────────┬───────────────┬─ ... ─┬────────┬─ ... ─┬──────────┐
//!   │ header │ sample 0      │ sample 1      │       │ header │       │ trailer  │
//!   └────────┴ channel 0 | 1 ┴ channel 0 | 1 ┴─ ... ─┴────────┴─ ... ─┴──────────┘
//!   └─ of the first capture                          └─ of the next
//! ```

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use num_complex::Complex32;

use super::Metadata;
use super::hash;
use crate::file::{Datatype, FileError};

/// Channels that a recording may have. A sample of all of them fits the buffer.
pub(super) const MAX_CHANNELS: u64 = 1024;

const BUFFER_BYTES: usize = 1 << 16;

/// A file of data, or the part of an archive that is one.
pub(super) struct Dataset {
    /// For errors: in an archive, the archive's path and the member's name.
    pub(super) path: PathBuf,
    pub(super) file: File,
    /// Its first byte in the file.
    pub(super) base: u64,
    pub(super) bytes: u64,
}

/// The samples of one channel of a recording, in bounded memory.
///
/// It is read at places and never sought in: nothing else that has the file open moves it.
#[derive(Debug)]
pub struct Samples {
    path: PathBuf,
    file: File,
    base: u64,
    bytes: u64,
    layout: Layout,
    datatype: Datatype,
    /// The first byte of the channel in a sample of all channels.
    channel_at: usize,
    /// The sample of the file that is number 0 here.
    first: u64,
    next: u64,
    buffer: Vec<u8>,
}

impl Samples {
    /// The samples of a channel of the recording that `meta` describes.
    ///
    /// # Errors
    /// If it lacks the channel, or its captures do not fit its data.
    pub(super) fn of(data: Dataset, metadata: &Metadata, meta: &Path, channel: u64) -> Result<Samples, FileError> {
        let global = &metadata.global;
        if channel >= global.channels {
            let (found, expected) = (global.channels.to_string(), format!("enough for a channel {channel}"));
            let fix = format!("name a channel from 0 to {}", global.channels - 1);
            return Err(FileError::unexpected(meta, "/global/core:num_channels", &found, &expected, &fix));
        }
        let layout = Layout::of(&data, metadata, meta)?;
        let sample_bytes = global.datatype.sample_bytes();
        let Dataset { path, file, base, bytes } = data;
        Ok(Samples {
            path,
            file,
            base,
            bytes,
            layout,
            datatype: global.datatype,
            channel_at: channel as usize * sample_bytes,
            first: 0,
            next: 0,
            buffer: vec![0; BUFFER_BYTES],
        })
    }

    /// From now on sample `first` of the file is number 0.
    pub(super) fn begin_at(&mut self, first: u64) {
        self.first = first.min(self.layout.frames);
        self.next = 0;
    }

    /// How many there are.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.layout.frames - self.first
    }

    /// How one lies in the file, and in what [`load`](Samples::load) answers.
    #[must_use]
    pub fn datatype(&self) -> Datatype {
        self.datatype
    }

    /// The file; in an archive, the archive's path and the member's name.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The sample that the next [`read`](Samples::read) begins with.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.next
    }

    /// Goes to a sample; beyond the end there is nothing to read.
    pub fn seek(&mut self, sample: u64) {
        self.next = sample.min(self.samples());
    }

    /// Reads the next samples: as many as fit, fewer only at the end, where it answers 0.
    ///
    /// # Errors
    /// If the system refuses, or the file has become shorter since it was opened.
    pub fn read(&mut self, out: &mut [Complex32]) -> Result<usize, FileError> {
        let count = (out.len() as u64).min(self.samples() - self.next) as usize;
        let (sample_bytes, mut done) = (self.datatype.sample_bytes(), 0);
        while done < count {
            let fetched = self.fetch((count - done) as u64)?;
            self.datatype.decode(&self.buffer[..fetched * sample_bytes], &mut out[done..done + fetched]);
            done += fetched;
        }
        Ok(count)
    }

    /// The bytes of all samples of the channel, one after the other, if there are at most `limit`.
    ///
    /// # Errors
    /// As [`read`](Samples::read).
    pub fn load(&mut self, limit: u64) -> Result<Option<Vec<u8>>, FileError> {
        let sample_bytes = self.datatype.sample_bytes();
        let bytes = self.samples() * sample_bytes as u64;
        if bytes > limit {
            return Ok(None);
        }
        let mut all = Vec::with_capacity(bytes as usize);
        self.seek(0);
        while self.next < self.samples() {
            let fetched = self.fetch(u64::MAX)?;
            all.extend_from_slice(&self.buffer[..fetched * sample_bytes]);
        }
        Ok(Some(all))
    }

    /// The SHA-512 of the whole file, in hexadecimal; `None` if it has more than `limit` bytes.
    ///
    /// # Errors
    /// As [`read`](Samples::read).
    pub(super) fn sha512(&self, limit: u64) -> Result<Option<String>, FileError> {
        let within = self.bytes <= limit;
        within.then(|| hash::sha512(&self.file, self.base, self.bytes, &self.path)).transpose()
    }

    /// Reads the next samples of the channel to the front of the buffer: at most `most`, which lie together and fit. Answers how
    /// many; there must be one left.
    fn fetch(&mut self, most: u64) -> Result<usize, FileError> {
        let frame_bytes = self.layout.frame_bytes;
        let (at, together) = self.layout.place(self.first + self.next);
        let count = together.min(most).min((BUFFER_BYTES / frame_bytes) as u64) as usize;
        let bytes = &mut self.buffer[..count * frame_bytes];
        self.file.read_exact_at(bytes, self.base + at).map_err(FileError::io("reading", &self.path))?;
        let sample_bytes = self.datatype.sample_bytes();
        if frame_bytes > sample_bytes {
            for n in 0..count {
                let from = n * frame_bytes + self.channel_at;
                bytes.copy_within(from..from + sample_bytes, n * sample_bytes);
            }
        }
        self.next += count as u64;
        Ok(count)
    }
}

/// The places of samples of all channels in a dataset.
#[derive(Debug)]
struct Layout {
    /// Samples without anything between them: the first, and its place in bytes. In order; that of sample 0 is there.
    pieces: Vec<(u64, u64)>,
    /// Samples in the file.
    frames: u64,
    /// Bytes of a sample of all channels; at most [`BUFFER_BYTES`].
    frame_bytes: usize,
}

impl Layout {
    fn of(data: &Dataset, metadata: &Metadata, meta: &Path) -> Result<Layout, FileError> {
        let global = &metadata.global;
        let frame_bytes = global.datatype.sample_bytes() * global.channels as usize;
        let headers = metadata.captures.iter().try_fold(0u64, |sum, capture| sum.checked_add(capture.header_bytes));
        let foreign = headers.and_then(|headers| headers.checked_add(global.trailing_bytes));
        let Some(content) = foreign.and_then(|foreign| data.bytes.checked_sub(foreign)) else {
            let expected = "as long as core:header_bytes and core:trailing_bytes together";
            let fix = "restore the whole data file, or correct these fields";
            let found = format!("{} bytes long", data.bytes);
            return Err(FileError::unexpected(&data.path, "it", &found, expected, fix));
        };
        if content % frame_bytes as u64 != 0 {
            return Err(torn(data, content, frame_bytes as u64));
        }
        let frames = content / frame_bytes as u64;
        captures_fit(metadata, meta, data, frames)?;
        let (mut pieces, mut skipped) = (vec![(0, 0)], 0);
        for capture in metadata.captures.iter().filter(|capture| capture.header_bytes > 0) {
            skipped += capture.header_bytes;
            let first = capture.sample_start.saturating_sub(global.offset);
            pieces.push((first, skipped + first * frame_bytes as u64));
        }
        Ok(Layout { pieces, frames, frame_bytes })
    }

    /// The place of a sample in bytes, and how many lie together from there on: it is one of the file's.
    fn place(&self, frame: u64) -> (u64, u64) {
        let next = self.pieces.partition_point(|(first, _)| *first <= frame);
        let end = self.pieces.get(next).map_or(self.frames, |(first, _)| *first);
        let (first, at) = self.pieces.get(next.wrapping_sub(1)).copied().unwrap_or((0, 0));
        (at + (frame - first) * self.frame_bytes as u64, end - frame)
    }
}

/// Without headers and trailer the file ends within a sample.
fn torn(data: &Dataset, content: u64, sample_bytes: u64) -> FileError {
    if content == data.bytes && data.base == 0 {
        return FileError::PartialSample { path: data.path.clone(), bytes: content, sample_bytes };
    }
    let found = format!("{content} bytes long");
    let expected = format!("a multiple of {sample_bytes}, the bytes of a sample of all channels");
    let fix = "restore the whole data file, or correct core:header_bytes and core:trailing_bytes";
    FileError::unexpected(&data.path, "the part with samples", &found, &expected, fix)
}

/// Each capture begins within the data, at the latest where they end.
fn captures_fit(metadata: &Metadata, meta: &Path, data: &Dataset, frames: u64) -> Result<(), FileError> {
    let offset = metadata.global.offset;
    let end = offset.checked_add(frames).ok_or_else(|| {
        let (found, expected) = (offset.to_string(), format!("room for {frames} samples behind it"));
        let fix = "restore the offset of the recording";
        FileError::unexpected(meta, "/global/core:offset", &found, &expected, fix)
    })?;
    match metadata.captures.iter().enumerate().find(|(_, capture)| capture.sample_start > end) {
        Some((index, capture)) => Err(FileError::unexpected(
            meta,
            format!("/captures/{index}/core:sample_start"),
            &capture.sample_start.to_string(),
            &format!("within the {frames} samples of {}", data.path.display()),
            "restore the whole data file, or take the later captures away",
        )),
        None => Ok(()),
    }
}
