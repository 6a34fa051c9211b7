//! Reads samples in the order of the file, or from any place in it.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use num_complex::Complex32;

use super::{Datatype, FileError};

/// Samples of a file, in bounded memory.
///
/// ```
/// # fn main() -> Result<(), takt_dsp::file::FileError> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let path = dir.path().join("two.sc16");
/// # std::fs::write(&path, [0, 0x40, 0, 0, 0, 0xC0, 0, 0]).unwrap();
/// use takt_base::Complex32;
/// use takt_dsp::file::{SampleFormat, SampleReader};
/// let mut file = SampleReader::open(&path, SampleFormat::Sc16)?;
/// let mut block = [Complex32::default(); 1024];
/// assert_eq!(file.read(&mut block)?, 2);
/// assert_eq!(block[1], Complex32::new(-16384.0 / 32767.0, 0.0));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SampleReader {
    path: PathBuf,
    file: File,
    format: Datatype,
    samples: u64,
    next: u64,
    buffer: Vec<u8>,
}

impl SampleReader {
    /// Opens a file of samples of a [`SampleFormat`](super::SampleFormat), or of any other type.
    ///
    /// # Errors
    /// If it cannot be opened, is no ordinary file, or ends within a sample.
    pub fn open(path: &Path, format: impl Into<Datatype>) -> Result<SampleReader, FileError> {
        let format = format.into();
        let (file, bytes) = open_file(path, "a file of samples", "name the file itself")?;
        let sample_bytes = format.sample_bytes() as u64;
        if bytes % sample_bytes != 0 {
            return Err(FileError::PartialSample { path: path.to_owned(), bytes, sample_bytes });
        }
        Ok(SampleReader {
            path: path.to_owned(),
            file,
            format,
            samples: bytes / sample_bytes,
            next: 0,
            buffer: vec![0; BUFFER_BYTES],
        })
    }

    /// How many samples there were when it was opened.
    #[must_use]
    pub fn samples(&self) -> u64 {
        self.samples
    }

    /// How they lie there.
    #[must_use]
    pub fn format(&self) -> Datatype {
        self.format
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The sample that the next [`read`](SampleReader::read) begins with.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.next
    }

    /// Goes to a sample; beyond the end there is nothing to read.
    ///
    /// # Errors
    /// If the system refuses.
    pub fn seek(&mut self, sample: u64) -> Result<(), FileError> {
        let at = sample.min(self.samples);
        let byte = SeekFrom::Start(at * self.format.sample_bytes() as u64);
        self.file.seek(byte).map_err(FileError::io("seeking in", &self.path))?;
        self.next = at;
        Ok(())
    }

    /// Reads the next samples: as many as fit, fewer only at the end, where it answers 0.
    ///
    /// # Errors
    /// If the system refuses, or the file has become shorter since it was opened.
    pub fn read(&mut self, out: &mut [Complex32]) -> Result<usize, FileError> {
        let count = (out.len() as u64).min(self.samples - self.next) as usize;
        let sample_bytes = self.format.sample_bytes();
        for out in out[..count].chunks_mut(BUFFER_BYTES / sample_bytes) {
            let bytes = &mut self.buffer[..out.len() * sample_bytes];
            self.file.read_exact(bytes).map_err(FileError::io("reading", &self.path))?;
            self.format.decode(bytes, out);
            self.next += out.len() as u64;
        }
        Ok(count)
    }
}

const BUFFER_BYTES: usize = 1 << 16;

/// Opens an ordinary file, and answers its length in bytes. Anything else is refused before it is opened: a pipe that nobody writes
/// would be waited for.
pub(crate) fn open_file(path: &Path, expected: &str, fix: &str) -> Result<(File, u64), FileError> {
    let about = std::fs::metadata(path).map_err(FileError::io("opening", path))?;
    if !about.is_file() {
        let found = if about.is_dir() { "a directory" } else { "a device or a pipe" };
        return Err(FileError::unexpected(path, "it", found, expected, fix));
    }
    let file = File::open(path).map_err(FileError::io("opening", path))?;
    let bytes = file.metadata().map_err(FileError::io("examining", path))?.len();
    Ok((file, bytes))
}
