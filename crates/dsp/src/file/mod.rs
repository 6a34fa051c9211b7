//! Files of samples and nothing else: what `rx_samples_to_file` writes and a `.sigmf-data` file holds.

mod datatype;
mod error;
mod format;
mod reader;
mod writer;

pub use datatype::{Datatype, DatatypeError};
pub use error::FileError;
pub use format::{FormatError, SampleFormat};
pub use reader::SampleReader;
pub(crate) use reader::open_file;
pub use writer::{Existing, SampleWriter};
