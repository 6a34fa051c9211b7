//! Hosts of a radio: the destination of each port, what may not be one, and when a host is taken for gone.
//!
//! Each data port remembers one destination: the sender of the last 8-byte packet, or the port that a 16-byte packet named,
//! at the sender's address unless redirects are permitted. A
//! stream ends when its host answers "port unreachable", and when nothing has been received from whoever set it up for 3 s:
//! a living host refreshes its lock every 1.5 s.

use std::net::{IpAddr, SocketAddr};

use takt_base::{Speed, Tick, Ticks};

use super::PPS_TICKS;
use crate::policy::Destinations;
use crate::shared::{HostReport, Permits};

/// Silence after which a host counts as gone: 3 s, by the host's clock.
const PATIENCE: Ticks = Ticks(3 * PPS_TICKS);

/// A port that remembers a destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Line {
    Rx(usize),
    Tx,
    Fifo,
    Gpsdo,
}

impl Line {
    pub(super) const ALL: [Line; 5] = [Line::Rx(0), Line::Rx(1), Line::Tx, Line::Fifo, Line::Gpsdo];

    fn index(self) -> usize {
        match self {
            Line::Rx(dsp) => dsp.min(1),
            Line::Tx => 2,
            Line::Fifo => 3,
            Line::Gpsdo => 4,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct Peer {
    to: SocketAddr,
    owner: IpAddr,
    last_sign: Tick,
}

pub(super) struct Hosts {
    permits: Permits,
    patience: Ticks,
    peers: [Option<Peer>; 5],
}

impl Hosts {
    /// The hosts of a radio whose time passes so fast beside theirs.
    pub(super) fn new(rule: Destinations, speed: Speed) -> Hosts {
        Hosts { permits: Permits::new(rule), patience: speed.host_ticks(PATIENCE), peers: [None; 5] }
    }

    /// Whether `ip` may be sent something, or be received; if not, it is counted.
    pub(super) fn permit(&mut self, ip: IpAddr) -> bool {
        self.permits.permit(ip)
    }

    pub(super) fn report(&self) -> HostReport {
        self.permits.report.clone()
    }

    /// A datagram came from `ip`: whoever set something up from there lives.
    pub(super) fn sign_of_life(&mut self, now: Tick, ip: IpAddr) {
        for peer in self.peers.iter_mut().flatten().filter(|peer| peer.owner == ip) {
            peer.last_sign = now;
        }
    }

    /// `owner` wants what this line sends to go to `to`; says whether it may.
    pub(super) fn direct(&mut self, now: Tick, line: Line, owner: IpAddr, to: SocketAddr) -> bool {
        let permitted = self.permits.permit_from(owner, to.ip());
        if permitted {
            self.peers[line.index()] = Some(Peer { to, owner, last_sign: now });
        }
        permitted
    }

    pub(super) fn of(&self, line: Line) -> Option<SocketAddr> {
        self.peers[line.index()].map(|peer| peer.to)
    }

    /// When the host of this line will count as gone.
    pub(super) fn gone_at(&self, line: Line) -> Option<Tick> {
        self.peers[line.index()].map(|peer| peer.last_sign + self.patience)
    }

    /// Forgets the destination of a line whose host is gone.
    pub(super) fn lose(&mut self, line: Line) {
        self.peers[line.index()] = None;
        self.permits.report.lost += 1;
    }

    /// The port of the host that was heard last, unless it counts as gone.
    pub(super) fn present(&self, now: Tick) -> Option<SocketAddr> {
        let living = self.peers.iter().flatten().filter(|peer| now < peer.last_sign + self.patience);
        living.max_by_key(|peer| peer.last_sign).map(|peer| peer.to)
    }

    pub(super) fn clear(&mut self) {
        self.peers = [None; 5];
    }
}
