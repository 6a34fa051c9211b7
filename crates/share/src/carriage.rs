//! CPU time of samples in datagrams on this host.
//!
//! Filters are not all that the streaming thread does. Each sample comes in a datagram and leaves in one, and the kernel's part of
//! that is often the larger. It is measured on loopback, between two ports of this process, before the front end streams.

use std::net::{Ipv4Addr, SocketAddr};
use std::time::Duration;

use takt_base::{Clock, Complex32, WallClock};
use takt_host::thread_clock::ThreadClock;
use takt_packet::{Config, Engine, EngineError, EngineKind, PortIndex, PortSpec, Wait};
use takt_wire::sample::{ByteOrder, full_scale, sc16};

use crate::physical::MOST_SAMPLES;

/// Bytes before the samples: a VITA-49 header with a time stamp of an N200.
const HEADER_BYTES: usize = 20;
const BATCH: usize = 64;
const BATCHES: usize = 8;
const PASSES: usize = 4;
/// How long a batch may take on its way over loopback.
const PATIENCE: Duration = Duration::from_millis(100);

/// CPU time of a sample in a datagram of an N200, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CarriageCost {
    received_s: f64,
    sent_s: f64,
}

impl CarriageCost {
    /// Cores that it takes to receive and to send so many samples per second.
    pub(crate) fn cores(self, received_sps: f64, sent_sps: f64) -> f64 {
        self.received_s * received_sps + self.sent_s * sent_sps
    }
}

/// Why the cost of datagrams is not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CarriageError {
    /// The engine does not open or send on loopback.
    #[error("takt can't send from 127.0.0.1 to itself")]
    Engine(#[from] EngineError),
    /// A firewall, for instance.
    #[error("no datagram that takt sent from 127.0.0.1 to itself arrived")]
    Lost,
}

/// Measures with this engine. One that bypasses the kernel's sockets costs less than the batches that stand in for it here: on loopback
/// it has nothing to bypass.
///
/// # Errors
/// Loopback does not carry datagrams.
pub(crate) fn measure(kind: EngineKind) -> Result<CarriageCost, CarriageError> {
    let kind = match kind {
        EngineKind::Socket | EngineKind::Mmsg | EngineKind::Uring => kind,
        EngineKind::Xdp(_) | EngineKind::XdpGeneric(_) | EngineKind::Dpdk(_) | EngineKind::Auto => EngineKind::Mmsg,
    };
    let mut pair = Pair::open(kind)?;
    // The first warms up. The fastest of the others counts: cold caches and stops only add.
    pair.pass()?;
    let mut cost = pair.pass()?;
    for _ in 2..PASSES {
        let CarriageCost { received_s, sent_s } = pair.pass()?;
        cost = CarriageCost { received_s: cost.received_s.min(received_s), sent_s: cost.sent_s.min(sent_s) };
    }
    Ok(cost)
}

struct Pair {
    sender: Box<dyn Engine>,
    receiver: Box<dyn Engine>,
    samples: [Complex32; MOST_SAMPLES],
    /// Time of this thread on a core: other programs on this host are not the datagrams' cost.
    clock: ThreadClock,
}

impl Pair {
    fn open(kind: EngineKind) -> Result<Pair, CarriageError> {
        let receiver = open(kind, None)?;
        let sender = open(kind, receiver.local(PortIndex(0)))?;
        let samples = [Complex32::new(0.1, -0.1); MOST_SAMPLES];
        Ok(Pair { sender, receiver, samples, clock: ThreadClock::of_this_thread() })
    }

    fn pass(&mut self) -> Result<CarriageCost, CarriageError> {
        let (mut sending, mut receiving) = (Duration::ZERO, Duration::ZERO);
        let (mut sent, mut received) = (0, 0);
        for _ in 0..BATCHES {
            let begun = self.clock.ran();
            let on_the_way = self.send()?;
            let between = self.clock.ran();
            received += self.receive(on_the_way)?;
            sent += on_the_way;
            sending += between - begun;
            receiving += self.clock.ran() - between;
        }
        if sent == 0 || received == 0 {
            return Err(CarriageError::Lost);
        }
        let of_each = |time: Duration, datagrams: usize| time.as_secs_f64() / (datagrams * MOST_SAMPLES) as f64;
        Ok(CarriageCost { received_s: of_each(receiving, received), sent_s: of_each(sending, sent) })
    }

    fn send(&mut self) -> Result<usize, EngineError> {
        let samples = &self.samples;
        let mut batch = self.sender.reserve(BATCH);
        while batch.room() > 0 {
            batch.push(PortIndex(0), None, |frame| {
                let Some((_, body)) = frame.split_at_mut_checked(HEADER_BYTES) else { return 0 };
                HEADER_BYTES + sc16::BYTES * sc16::pack_f32(samples, ByteOrder::Big, full_scale::SC16, body)
            });
        }
        batch.send(Wait::Until(WallClock.now() + PATIENCE))
    }

    /// Receives so many datagrams, or those that come in time.
    fn receive(&mut self, want: usize) -> Result<usize, EngineError> {
        let (until, mut received) = (WallClock.now() + PATIENCE, 0);
        while received < want {
            let batch = self.receiver.recv(Wait::Until(until))?;
            let before = received;
            for datagram in batch.iter() {
                let body = datagram.bytes.get(HEADER_BYTES..).unwrap_or_default();
                sc16::unpack_f32(body, ByteOrder::Big, 1.0 / full_scale::SC16, &mut self.samples);
                received += 1;
            }
            if received == before {
                break;
            }
        }
        Ok(received)
    }
}

fn open(kind: EngineKind, peer: Option<SocketAddr>) -> Result<Box<dyn Engine>, EngineError> {
    let bind = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
    takt_packet::open(kind, &Config { batch: BATCH, stamps: false, ..Config::new(vec![PortSpec { bind, peer }]) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_costs_something_and_the_cost_grows_with_the_rate() {
        for kind in [EngineKind::Socket, EngineKind::Mmsg, EngineKind::Auto] {
            let cost = measure(kind).expect("loopback");
            assert!(cost.received_s > 0.0 && cost.sent_s > 0.0, "{kind:?}: {cost:?}");
            assert!((cost.cores(2e6, 4e6) - 2.0 * cost.cores(1e6, 2e6)).abs() < 1e-9);
        }
    }
}
