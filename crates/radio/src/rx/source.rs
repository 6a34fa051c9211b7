//! Differences between radios in a receive stream: how its datagrams read, and how it is commanded.

use std::time::Duration;

use takt_base::{MonoNs, Tick};
use takt_packet::Engine;

use super::plan::Run;
use crate::RadioError;
use crate::ports::Patience;

/// The radio's end of a receive stream. Channels are those of the stream, counted from 0.
pub(crate) trait Source: Send {
    /// Reads a datagram that came to a channel's port; each is given once, in the order of arrival. `None`: it is none
    /// of this stream.
    fn read(&mut self, channel: usize, bytes: &[u8]) -> Option<Reading>;

    /// All datagrams of one read of the socket have been given, or none came: the time to tell a radio that counts its credit by
    /// it.
    ///
    /// # Errors
    /// The engine's own.
    fn have_read(&mut self, _engine: &mut dyn Engine, _now: MonoNs) -> Result<(), RadioError> {
        Ok(())
    }

    /// Until when a read of the socket may wait; `None`: as long as it likes.
    fn read_until(&self) -> Option<MonoNs> {
        None
    }

    /// A channel that has stopped in the middle of a run without a word that came, as its silence tells.
    fn stopped(&self) -> Option<u8> {
        None
    }

    /// The radio's time now. Fails if the radio does not answer.
    fn now(&mut self) -> Result<Tick, RadioError>;

    /// When the radio's clock shows `tick`, on the host's.
    fn host_at(&self, tick: Tick) -> MonoNs;

    /// Asks a channel for a run of samples. `idle`: nothing is queued or running there.
    ///
    /// # Errors
    /// The radio does not answer, or the run is longer than it can count.
    fn begin(&mut self, channel: usize, run: Run, idle: bool) -> Result<(), RadioError>;

    /// Ends a run that has no end. Fails if the radio does not answer.
    fn stop(&mut self, channel: usize) -> Result<(), RadioError>;

    /// Drops what the channel has queued and is doing; its datagrams are numbered from 0 again. Fails if the radio does not
    /// answer.
    fn clear(&mut self, channel: usize) -> Result<(), RadioError>;

    /// How long answers are waited for from now on.
    fn set_reply_patience(&mut self, patience: ReplyPatience);

    /// Requests that had to be repeated.
    fn retries(&self) -> u64;

    /// Says that this host lives, if that is due.
    fn touch(&self, now: MonoNs);

    /// # Errors
    /// The radio is gone, or somebody else's.
    fn check(&self) -> Result<(), RadioError>;
}

/// How long a radio's answers are waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReplyPatience {
    /// As long as the radio may take.
    Usual,
    /// In the middle of a receive call: shorter than until its deadline, if that can be.
    Before { now: MonoNs, until: MonoNs },
    /// One short try: nobody is left to hear of a failure.
    OnDrop,
}

impl ReplyPatience {
    pub(crate) fn patience(self) -> Patience {
        match self {
            ReplyPatience::Usual => Patience::USUAL,
            ReplyPatience::Before { now, until } => {
                let each = (until - now).clamp(Duration::from_millis(20), Patience::USUAL.each);
                Patience { tries: 2, each }
            }
            ReplyPatience::OnDrop => Patience { tries: 1, each: Duration::from_millis(100) },
        }
    }
}

/// Contents of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Samples {
        /// Tick of the first.
        tick: u64,
        /// The datagram's number.
        number: u16,
        /// The last of them ends a run.
        end_of_burst: bool,
        /// Place of the first in the datagram, bytes.
        at: usize,
        /// Samples.
        count: u64,
    },
    Message {
        tick: u64,
        message: Message,
    },
    /// Something between the two ends that concerns no sample.
    Housekeeping,
}

/// Report of a radio about a receive stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// It could not get rid of its samples, and stopped.
    Overflow,
    /// The time of a command had passed.
    LateCommand,
    /// A chained command was not followed by another.
    BrokenChain,
    /// It was told to stop while it did nothing.
    StopWhileIdle,
    Other(u32),
}
