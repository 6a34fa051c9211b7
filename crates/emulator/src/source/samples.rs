//! Samples that come from the disk: of a file of samples alone, or of a recording.

use takt_base::Complex32;
use takt_dsp::file::{FileError, SampleReader};
use takt_dsp::sigmf;

use super::loaded::{LOADED_BYTES, Loaded};

/// Samples in the order of a file, or from any place in it.
pub(crate) trait Samples: Send {
    /// How many there are.
    fn samples(&self) -> u64;

    /// The one that the next `read` begins with.
    fn position(&self) -> u64;

    /// Goes to a sample; beyond the end there is nothing to read.
    fn seek(&mut self, sample: u64) -> Result<(), FileError>;

    /// As many as fit, fewer only at the end.
    fn read(&mut self, out: &mut [Complex32]) -> Result<usize, FileError>;

    /// All of them, if they are few enough to be held in memory.
    fn load(&mut self) -> Result<Option<Loaded>, FileError>;
}

impl Samples for SampleReader {
    fn samples(&self) -> u64 {
        self.samples()
    }

    fn position(&self) -> u64 {
        self.position()
    }

    fn seek(&mut self, sample: u64) -> Result<(), FileError> {
        self.seek(sample)
    }

    fn read(&mut self, out: &mut [Complex32]) -> Result<usize, FileError> {
        self.read(out)
    }

    fn load(&mut self) -> Result<Option<Loaded>, FileError> {
        Loaded::of(self)
    }
}

impl Samples for sigmf::Samples {
    fn samples(&self) -> u64 {
        self.samples()
    }

    fn position(&self) -> u64 {
        self.position()
    }

    fn seek(&mut self, sample: u64) -> Result<(), FileError> {
        self.seek(sample);
        Ok(())
    }

    fn read(&mut self, out: &mut [Complex32]) -> Result<usize, FileError> {
        self.read(out)
    }

    fn load(&mut self) -> Result<Option<Loaded>, FileError> {
        let bytes = sigmf::Samples::load(self, LOADED_BYTES)?;
        Ok(bytes.map(|bytes| Loaded::new(bytes, self.datatype())))
    }
}
