//! The contract between a device and whatever drives it.

use std::net::SocketAddr;

use takt_base::Tick;

/// A UDP port of the device, by its number on the wire (49152 is the control port of an N200).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Port(pub u16);

/// A radio as a function of time: no socket, no clock, no thread, no randomness of its own.
///
/// `now` is the **free-running** tick counter of the device's oscillator: the driver derives it from its clock, it never
/// goes back, and setting the device's time does not touch it. Same inputs at same ticks, same outputs, bit for bit.
pub trait Device: Send {
    /// The ports it listens on, in the order in which datagrams that arrived together take effect.
    fn ports(&self) -> &[Port];

    /// A datagram for `port` arrived at `now`. Hostile until parsed; what is refused is counted and dropped.
    fn datagram(&mut self, now: Tick, port: Port, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox);

    /// The host behind this address answered "port unreachable" to something that left from `port`.
    fn refused(&mut self, now: Tick, port: Port, by: SocketAddr);

    /// The clock reached `now`. Early or repeated calls change nothing; a late call catches up in order, and what it
    /// sends carries the ticks at which it was due.
    fn advance(&mut self, now: Tick, out: &mut dyn Outbox);

    /// When `advance` is due next, always later than the last `now`; may move after any call. `None`: only a datagram
    /// matters.
    fn deadline(&self) -> Option<Tick>;
}

/// Least buffer of a driver, bytes: no device has longer datagrams.
pub(crate) const FRAME_BYTES: usize = 9000;

/// Takes the datagrams of a device.
pub trait Outbox {
    /// `fill` writes into the driver's buffer (at least 9000 bytes) and returns how many bytes count. `due` is when the
    /// datagram ought to have left, by which the driver measures its own lag.
    fn send(&mut self, due: Tick, from: Port, to: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent;
}

/// Fills a frame with these bytes, if they fit.
pub(crate) fn fill_with(bytes: &[u8]) -> impl FnMut(&mut [u8]) -> usize {
    |frame| match frame.get_mut(..bytes.len()) {
        Some(room) => {
            room.copy_from_slice(bytes);
            bytes.len()
        }
        None => 0,
    }
}

/// Fate of a datagram given to an [`Outbox`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is on its way.
    Taken,
    /// Modelled back-pressure: the wire is busy. An N200 stops and reports overflow. A wall driver short of its own ring
    /// counts that as its own lag, and never answers this.
    NoRoom,
}
