//! The streams a fault can strike, and to which of them a datagram belongs.

use std::str::FromStr;

/// Some of the datagrams between a host and a radio; [the module](super) says which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    Rx,
    Rx0,
    Rx1,
    Messages,
    Tx,
    Flow,
    Events,
    Requests,
    Control,
    Commands,
    Acks,
    Gps,
    All,
}

const NAMES: [(&str, Stream); 13] = [
    ("rx", Stream::Rx),
    ("rx0", Stream::Rx0),
    ("rx1", Stream::Rx1),
    ("messages", Stream::Messages),
    ("tx", Stream::Tx),
    ("flow", Stream::Flow),
    ("events", Stream::Events),
    ("requests", Stream::Requests),
    ("control", Stream::Control),
    ("commands", Stream::Commands),
    ("acks", Stream::Acks),
    ("gps", Stream::Gps),
    ("all", Stream::All),
];

impl Stream {
    pub(super) fn names() -> impl Iterator<Item = &'static str> {
        NAMES.iter().map(|(name, _)| *name)
    }

    /// Whether a datagram of stream `one` belongs to this.
    pub(super) fn holds(self, one: Stream) -> bool {
        self == Stream::All || self == one || self == Stream::Rx && matches!(one, Stream::Rx0 | Stream::Rx1)
    }
}

impl FromStr for Stream {
    type Err = ();
    fn from_str(text: &str) -> Result<Stream, ()> {
        NAMES.iter().find(|(name, _)| *name == text).map(|(_, stream)| *stream).ok_or(())
    }
}
