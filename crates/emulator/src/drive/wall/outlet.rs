//! The device's outbox onto a packet engine's frames.

use std::net::SocketAddr;

use takt_base::{MonoNs, Tick, TickRate, Ticks};
use takt_packet::{PortIndex, TxBatch};

use super::lag::Lag;
use crate::{Outbox, Port, Sent};

pub(super) struct Outlet<'a, 'e> {
    pub(super) batch: &'a mut TxBatch<'e>,
    /// When each pushed frame was due.
    pub(super) due: &'a mut Vec<MonoNs>,
    pub(super) lag: &'a mut Lag,
    pub(super) ports: &'a [Port],
    pub(super) rate: TickRate,
    pub(super) now: MonoNs,
    /// What was due before this is no longer worth sending.
    pub(super) stale: MonoNs,
}

impl Outbox for Outlet<'_, '_> {
    fn send(&mut self, due: Tick, from: Port, to: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent {
        let due = instant_of(self.rate, due);
        let port = self.ports.iter().position(|&port| port == from).and_then(|n| u8::try_from(n).ok());
        let sent = match port {
            Some(port) if due >= self.stale => self.batch.push(PortIndex(port), Some(to), fill),
            _ => false,
        };
        if sent {
            self.due.push(due);
        } else {
            self.lag.lose(due, self.now);
        }
        // To the device it has left: a driver that is slow is no blocked wire.
        Sent::Taken
    }
}

/// The instant of a tick: ticks count the monotonic clock from its zero.
pub(super) fn instant_of(rate: TickRate, tick: Tick) -> MonoNs {
    MonoNs(rate.ns_of(Ticks(tick.0)))
}

pub(super) fn tick_of(rate: TickRate, instant: MonoNs) -> Tick {
    Tick(rate.ticks_in_ns(u128::from(instant.0)).0)
}
