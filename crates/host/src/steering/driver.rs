//! Reads and changes a card's settings: its driver, in the network namespace where the card was found.

use std::io;

use rustix::io::Errno;

use crate::ethtool::{Command, request};
use crate::namespace;

/// A driver, or a test's.
pub(crate) trait Driver: Send + Sync {
    /// As [`request`]: the row holds the question, then the answer.
    fn ask(&self, command: Command, row: &mut [u32]) -> io::Result<()>;
}

/// An interface of a network namespace.
pub(crate) struct Card {
    pub(crate) interface: String,
    /// [`namespace::own_network`] of who found it.
    pub(crate) namespace: u64,
}

impl Driver for Card {
    fn ask(&self, command: Command, row: &mut [u32]) -> io::Result<()> {
        let answer = namespace::in_network(self.namespace, || request(&self.interface, command, row));
        // With a namespace its interfaces end.
        answer.map_err(io::Error::other)?.unwrap_or(Err(Errno::NODEV.into()))
    }
}

/// Whether there is nothing any more that could be given back: no interface, or another one under its name.
pub(crate) fn is_gone(error: &io::Error) -> bool {
    matches!(Errno::from_io_error(error), Some(Errno::NODEV | Errno::OPNOTSUPP))
}
