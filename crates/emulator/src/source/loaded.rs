//! Samples of a file, all in memory.

use std::path::Path;

use takt_base::Complex32;
use takt_dsp::file::{Datatype, FileError, SampleReader};

/// Files up to this size are held in memory: 256 MiB. Larger ones are read ahead through 32 MiB for each receiver.
pub const LOADED_BYTES: u64 = 256 << 20;

pub(crate) struct Loaded {
    bytes: Vec<u8>,
    format: Datatype,
    pub(super) samples: u64,
}

impl Loaded {
    /// `bytes` are whole samples.
    pub(crate) fn new(bytes: Vec<u8>, format: impl Into<Datatype>) -> Loaded {
        let format = format.into();
        let samples = (bytes.len() / format.sample_bytes()) as u64;
        Loaded { bytes, format, samples }
    }

    /// Reads a file that was opened, if it is small enough.
    pub(crate) fn of(file: &SampleReader) -> Result<Option<Loaded>, FileError> {
        let bytes = file.samples() * file.format().sample_bytes() as u64;
        if bytes > LOADED_BYTES {
            return Ok(None);
        }
        let io = |path: &Path, source| FileError::Io { action: "reading", path: path.to_owned(), source };
        let mut all = std::fs::read(file.path()).map_err(|source| io(file.path(), source))?;
        // It may have grown since.
        all.truncate(bytes as usize);
        Ok(Some(Loaded::new(all, file.format())))
    }

    pub(super) fn read(&self, index: u64, repeat: bool, out: &mut [Complex32]) {
        let sample_bytes = self.format.sample_bytes();
        let (mut index, mut done) = (index, 0);
        while done < out.len() {
            if repeat && self.samples > 0 {
                index %= self.samples;
            }
            let here = (self.samples.saturating_sub(index)).min((out.len() - done) as u64) as usize;
            if here == 0 {
                return out[done..].fill(Complex32::default());
            }
            let bytes = &self.bytes[index as usize * sample_bytes..][..here * sample_bytes];
            self.format.decode(bytes, &mut out[done..done + here]);
            (index, done) = (index + here as u64, done + here);
        }
    }
}
