//! SigMF recordings: samples in `NAME.sigmf-data`, what they are in `NAME.sigmf-meta`; or both in an archive, `NAME.sigmf`.
//!
//! Written after the specification, <https://sigmf.org> (1.2). All its datatypes are read, one channel at a time, and data with
//! another name, headers and trailers ([`Samples`]). Anything else is kept as it was read: fields, annotations, other people's
//! namespaces.
//!
//! A [`Writer`] keeps a recording readable at any instant. Samples go to the data file first; then the metadata is written
//! beside the old, brought to disk, and renamed over it. So a killed process leaves metadata that describe samples that
//! are there; what is later than the last [`Writer::checkpoint`] may lack its captures.
//!
//! A checkpoint writes metadata only if there is news of them, and then whole: JSON that is added to in place is none while
//! that goes on. 26 000 captures are 5.5 MB; a checkpoint puts them together in 50 ms and brings them to disk in 20 ms (a
//! shared machine of two cores). The limit of 64 MiB bounds it to about a second.
//!
//! Reading metadata takes at most about four times the length of the file, beside the file itself. Fields of others are kept as
//! text for that: [`Fields`].
//!
//! ```
//! # fn main() -> Result<(), takt_dsp::file::FileError> {
//! # let dir = tempfile::tempdir().unwrap();
//! # let path = dir.path().join("tone");
//! use takt_base::Complex32;
//! use takt_dsp::file::{Existing, SampleFormat};
//! use takt_dsp::sigmf::{Capture, Global, Reader, Writer};
//!
//! let mut global = Global::new(SampleFormat::Sc16);
//! global.sample_rate_sps = Some(1e6);
//! let mut out = Writer::create(&path, global, Existing::Keep)?;
//! out.begin_capture(Capture { frequency_hz: Some(900e6), ..Capture::default() });
//! out.write(&[Complex32::new(0.5, 0.0); 100])?;
//! out.finish()?;
//!
//! let recording = Reader::open(&path)?;
//! assert_eq!(recording.samples(), 100);
//! assert_eq!(recording.metadata().captures[0].frequency_hz, Some(900e6));
//! # Ok(())
//! # }
//! ```

mod archive;
mod fields;
mod files;
mod hash;
mod metadata;
mod parse;
mod raw;
mod reader;
mod samples;
mod writer;

pub use fields::Fields;
pub use files::base_name;
pub use hash::Checksum;
pub use metadata::{Annotation, Capture, Global, Metadata};
pub use reader::Reader;
pub use samples::Samples;
pub use writer::Writer;
