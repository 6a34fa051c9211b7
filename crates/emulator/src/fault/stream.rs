//! The streams a fault can strike, and to which of them a datagram belongs.

use std::str::FromStr;

use takt_wire::n200::ports;

use crate::Port;

/// Some of the datagrams between a host and an N200; [the module](super) says which.
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

    /// To which stream a datagram from the device belongs; [`Stream::All`]: to none of its own.
    pub(super) fn leaving(port: Port, bytes: &[u8]) -> Stream {
        // Packets without a type, as they leave before a host has set up the stream, belong to none.
        let kind = bytes.first().map_or(0, |byte| byte >> 4);
        match port.0 {
            ports::RX0 if kind == 1 => Stream::Rx0,
            ports::RX1 if kind == 1 => Stream::Rx1,
            ports::RX0 | ports::RX1 if kind == 5 => Stream::Messages,
            // The code of a report stands in bytes 18 and 19.
            ports::TX => match bytes.get(18..20) {
                Some([0, 0]) => Stream::Flow,
                Some(_) => Stream::Events,
                None => Stream::All,
            },
            ports::CONTROL => Stream::Control,
            ports::FIFO => Stream::Acks,
            ports::GPSDO => Stream::Gps,
            _ => Stream::All,
        }
    }

    /// To which stream a datagram from a host belongs.
    pub(super) fn arriving(port: Port, bytes: &[u8]) -> Stream {
        // A VRT length of 0 makes it a "send to me".
        let is_vrt = bytes.get(6..8).is_some_and(|length| length != [0, 0]);
        match port.0 {
            ports::TX if is_vrt => Stream::Tx,
            ports::FIFO if is_vrt => Stream::Commands,
            ports::CONTROL => Stream::Requests,
            _ => Stream::All,
        }
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
