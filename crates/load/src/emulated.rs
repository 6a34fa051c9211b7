//! A workload's wishes for the radio that takt emulates for it.

use std::io;
use std::path::Path;

/// The signal that an emulated radio plays to its receivers.
pub enum Played {
    /// The one that it plays by itself.
    Usual,
    /// Samples that are their own numbers.
    Counter,
    /// The samples of a file, over and over.
    File(PlayedFile),
}

/// A file for an emulated radio to play. The lab writes it, once for all points with that name.
pub struct PlayedFile {
    /// Part of the name of its folder. One name has one content, whichever workload asks for it.
    pub name: String,
    /// Writes it: samples at the rate of the stream as 16-bit integers, I before Q, little-endian.
    ///
    /// # Errors
    /// It can't be written.
    pub write: WriteFile,
}

/// Writes a file at a path.
pub type WriteFile = Box<dyn Fn(&Path) -> io::Result<()>>;

/// Time from one turn of an emulated radio to the next, microseconds, where its unevenness would be measured with the host's: a
/// tenth of a datagram's time in the exchange of workload `deadline`.
pub(crate) const PUNCTUAL_BEAT_US: u32 = 20;
