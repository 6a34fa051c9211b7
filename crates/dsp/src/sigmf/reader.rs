//! Opens a recording and reads its samples.

use std::io::Read;
use std::path::Path;

use num_complex::Complex32;

use super::{Capture, Metadata, files};
use crate::file::{FileError, SampleReader, open_file};

/// A recording being read, in bounded memory.
#[derive(Debug)]
pub struct Reader {
    metadata: Metadata,
    data: SampleReader,
}

impl Reader {
    /// Opens a recording by the name of either file, or their common part.
    ///
    /// # Errors
    /// If a file is missing or unreadable, the metadata are not as SigMF has them or of a kind we do not read (several
    /// channels, other sample types), or the data end before the last capture begins.
    pub fn open(path: &Path) -> Result<Reader, FileError> {
        let (meta, data) = files(path);
        let metadata = Metadata::parse(&meta, &read_bounded(&meta)?)?;
        let data = SampleReader::open(&data, metadata.global.format)?;
        let offset = metadata.global.offset;
        let end = offset.checked_add(data.samples()).ok_or_else(|| {
            let (place, found) = ("/global/core:offset", offset.to_string());
            let expected = format!("room for {} samples behind it", data.samples());
            FileError::unexpected(&meta, place, &found, &expected, "restore the offset of the recording")
        })?;
        match metadata.captures.iter().enumerate().find(|(_, capture)| capture.sample_start > end) {
            Some((index, capture)) => Err(FileError::unexpected(
                &meta,
                format!("/captures/{index}/core:sample_start"),
                &capture.sample_start.to_string(),
                &format!("within the {} samples of {}", data.samples(), data.path().display()),
                "restore the whole data file, or take the later captures away",
            )),
            None => Ok(Reader { metadata, data }),
        }
    }

    /// What the recording says of itself.
    #[must_use]
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Samples in the file.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.data.samples()
    }

    /// The capture that the sample at this place in the file belongs to.
    #[must_use]
    pub fn capture_at(&self, sample: u64) -> Option<&Capture> {
        let index = sample.checked_add(self.metadata.global.offset)?;
        let next = self.metadata.captures.partition_point(|capture| capture.sample_start <= index);
        self.metadata.captures[..next].last()
    }

    /// Goes to a sample, counted from 0 at the beginning of the file.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn seek(&mut self, sample: u64) -> Result<(), FileError> {
        self.data.seek(sample)
    }

    /// Reads the next samples; fewer than fit only at the end, where it answers 0.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn read(&mut self, out: &mut [Complex32]) -> Result<usize, FileError> {
        self.data.read(out)
    }

    /// The samples alone.
    #[must_use]
    pub fn into_data(self) -> SampleReader {
        self.data
    }
}

/// Metadata are kilobytes, or megabytes where a recording has very many captures; what is larger than this is something else.
pub(super) const LIMIT_BYTES: u64 = 64 << 20;

fn read_bounded(path: &Path) -> Result<Vec<u8>, FileError> {
    let (expected, fix) = ("a metadata file", "name the .sigmf-meta file of a recording");
    let (file, length) = open_file(path, expected, fix)?;
    // A file that is being replaced may be of another length.
    let mut text = Vec::with_capacity(usize::try_from(length.min(LIMIT_BYTES) + 1).unwrap_or(0));
    file.take(LIMIT_BYTES + 1).read_to_end(&mut text).map_err(FileError::io("reading", path))?;
    if text.len() as u64 > LIMIT_BYTES {
        return Err(FileError::unexpected(path, "its length", "more than 64 MiB", "that of a metadata file", fix));
    }
    Ok(text)
}
