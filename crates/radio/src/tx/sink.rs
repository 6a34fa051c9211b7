//! Differences between radios in a transmit stream: what stands around samples, how much may be on its way, and how the
//! radio reports.

use takt_base::MonoNs;
use takt_packet::Engine;

use crate::{RadioError, TxEvent};

/// The radio's end of a transmit stream. Channels are those of the stream, counted from 0.
pub(crate) trait Sink: Send {
    /// Datagrams that the radio has room for now.
    fn credit(&self, channel: usize) -> usize;

    /// Datagrams that the radio has room for when it has played all.
    fn window_datagrams(&self) -> u32;

    /// Start of the samples in a datagram, bytes; `timed`: it carries a time.
    fn payload_at(&self, timed: bool) -> usize;

    /// Writes what stands around the samples; returns the datagram's bytes, or 0 if it does not fit.
    fn frame(&self, channel: usize, place: &Place, frame: &mut [u8]) -> usize;

    /// A datagram of so many bytes has left: the next in the order of numbers.
    fn sent(&mut self, channel: usize, bytes: usize);

    /// Reads a datagram that came from the radio to a channel's port.
    fn read(&mut self, channel: usize, bytes: &[u8]) -> Report;

    /// The socket is about to be read, perhaps for long: the time to tell a radio that counts credit what it was sent. Until
    /// when the read may last; `None`: as long as it likes.
    ///
    /// # Errors
    /// The engine's own.
    fn about_to_read(&mut self, _engine: &mut dyn Engine, _now: MonoNs) -> Result<Option<MonoNs>, RadioError> {
        Ok(None)
    }

    /// All datagrams of one read of the socket have been given. `timed`: what was sent last carries a time, so that the radio
    /// may rightly be waiting. Returns how many datagrams are given up.
    ///
    /// # Errors
    /// The engine's own.
    fn have_read(&mut self, engine: &mut dyn Engine, timed: bool) -> Result<u32, RadioError>;

    /// Says that this host lives, if that is due.
    fn touch(&self, now: MonoNs);

    /// # Errors
    /// The radio is gone, or another host's.
    fn check(&self) -> Result<(), RadioError>;
}

/// Position of a datagram in its stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// So many datagrams come before it that have not left yet.
    pub(crate) ahead: u32,
    /// When its first sample shall leave.
    pub(crate) tick: Option<u64>,
    pub(crate) starts_burst: bool,
    pub(crate) ends_burst: bool,
    /// Its last word holds one sample of sc8.
    pub(crate) odd: bool,
    /// Bytes of its samples.
    pub(crate) payload_bytes: usize,
}

/// Report of a radio about a transmit stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Report {
    /// It is one of this stream, or can be.
    pub(crate) ours: bool,
    /// `None`: how far the radio has come, or nothing.
    pub(crate) event: Option<TxEvent>,
}

impl Report {
    pub(crate) const FOREIGN: Report = Report { ours: false, event: None };
}
