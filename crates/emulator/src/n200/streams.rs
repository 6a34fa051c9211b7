//! Which datagrams of an N200 belong to which stream.

use takt_wire::n200::ports;

use super::N200;
use crate::Port;
use crate::fault::{Stream, Streams};

impl Streams for N200 {
    fn leaving(port: Port, bytes: &[u8]) -> Stream {
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

    fn arriving(port: Port, bytes: &[u8]) -> Stream {
        // A VRT length of 0 makes it a "send to me".
        let is_vrt = bytes.get(6..8).is_some_and(|length| length != [0, 0]);
        match port.0 {
            ports::TX if is_vrt => Stream::Tx,
            ports::FIFO if is_vrt => Stream::Commands,
            ports::CONTROL => Stream::Requests,
            _ => Stream::All,
        }
    }

    /// Everything a receive port sends stops with it.
    fn outlet(port: Port, _bytes: &[u8]) -> Option<usize> {
        ports::RX.iter().position(|&rx| rx == port.0)
    }
}
