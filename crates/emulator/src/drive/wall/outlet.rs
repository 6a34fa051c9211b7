//! The device's outbox onto a packet engine's frames.

use std::net::SocketAddr;

use takt_base::{MonoNs, Tick, TickRate};
use takt_packet::{PortIndex, TxBatch};

use super::lag::Lag;
use super::radio_time::RadioTime;
use crate::device::fill_with;
use crate::{Outbox, Port, Sent};

pub(super) struct Outlet<'a, 'e> {
    pub(super) batch: &'a mut TxBatch<'e>,
    /// The longest datagram that the engine takes, bytes.
    pub(super) most_bytes: usize,
    /// Memory for the device to write into, if it may write more than that; otherwise empty.
    pub(super) long: &'a mut [u8],
    /// When each pushed frame was due.
    pub(super) due: &'a mut Vec<MonoNs>,
    pub(super) lag: &'a mut Lag,
    pub(super) ports: &'a [Port],
    pub(super) rate: TickRate,
    pub(super) time: RadioTime,
    pub(super) now: MonoNs,
    /// Datagrams due before this are no longer worth sending.
    pub(super) stale: MonoNs,
}

impl Outbox for Outlet<'_, '_> {
    fn send(&mut self, due: Tick, from: Port, to: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent {
        let due = self.time.instant_of(self.rate, due);
        let port = self.ports.iter().position(|&port| port == from).and_then(|n| u8::try_from(n).ok());
        // To the device it has left: a driver that is slow is no blocked wire.
        let Some(port) = port.filter(|_| due >= self.stale && self.batch.room() > 0) else {
            self.lag.lose(due, self.now);
            return Sent::Taken;
        };
        if self.push(PortIndex(port), to, fill) {
            self.due.push(due);
        }
        Sent::Taken
    }
}

impl Outlet<'_, '_> {
    /// Whether it leaves: what is longer than the interface's frames is lost, as on a wire.
    fn push(&mut self, port: PortIndex, to: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> bool {
        if self.long.is_empty() {
            return self.batch.push(port, Some(to), fill);
        }
        let len = fill(self.long);
        let bytes = self.long.get(..len).filter(|_| len <= self.most_bytes);
        bytes.is_some_and(|bytes| self.batch.push(port, Some(to), fill_with(bytes)))
    }
}
