//! Next hops of datagrams: their hardware addresses, as the kernel knows or finds them.
//!
//! The kernel routes and sends the requests of ARP. An engine requests the neighbour from it once a second for each destination
//! in use, and reports that the neighbour is being used, so that the kernel checks the address as for traffic of its own.

use std::net::Ipv4Addr;
use std::time::Duration;

use rustix::io::Errno;
use takt_base::{Clock, MonoNs, WallClock};

use super::Wanted;
use super::frame::Mac;
use super::netlink::{Interface, Neighbour, Routing};

/// Destinations that are remembered.
const CAPACITY: usize = 64;
/// How long an answer of the kernel is valid.
const VALID_FOR: Duration = Duration::from_secs(1);

/// How long opening waits for peers' hardware addresses.
const ANSWERS_WITHIN: Duration = Duration::from_millis(500);

/// Route types (linux/rtnetlink.h).
const UNICAST: u8 = 1;
const LOCAL: u8 = 2;
const BROADCAST: u8 = 3;
const MULTICAST: u8 = 5;

/// How a destination is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Hop {
    To(Mac),
    /// The kernel is finding out.
    Soon,
    /// Not by this interface, or nobody answers.
    Nowhere,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    to: Ipv4Addr,
    mac: Mac,
    until: MonoNs,
}

/// Next hops of one interface.
#[derive(Debug)]
pub(crate) struct Hops {
    routing: Routing,
    interface: u32,
    loopback: bool,
    known: Vec<Known>,
    /// Neighbours that the kernel was requested to find, the oldest first.
    sought: Vec<Ipv4Addr>,
}

impl Hops {
    pub(crate) fn new(routing: Routing, interface: &Interface) -> Hops {
        let (index, loopback) = (interface.index, interface.loopback);
        let (known, sought) = (Vec::with_capacity(CAPACITY), Vec::with_capacity(CAPACITY));
        Hops { routing, interface: index, loopback, known, sought }
    }

    pub(crate) fn hop(&mut self, to: Ipv4Addr, now: MonoNs) -> Hop {
        match self.known.iter().find(|known| known.to == to) {
            Some(known) if now < known.until => Hop::To(known.mac),
            _ => self.renew(to),
        }
    }

    fn renew(&mut self, to: Ipv4Addr) -> Hop {
        let hop = self.find(to).unwrap_or(Hop::Nowhere);
        self.known.retain(|known| known.to != to);
        if let Hop::To(mac) = hop {
            if self.known.len() == CAPACITY {
                self.known.remove(0);
            }
            self.known.push(Known { to, mac, until: WallClock.now() + VALID_FOR });
        }
        hop
    }

    fn find(&mut self, to: Ipv4Addr) -> Result<Hop, Errno> {
        let route = self.routing.route(to)?;
        let [_, b, c, d] = to.octets();
        Ok(match route.kind {
            _ if route.interface != self.interface => Hop::Nowhere,
            UNICAST | LOCAL if self.loopback => Hop::To([0; 6]),
            UNICAST => self.neighbour(route.gateway.unwrap_or(to))?,
            BROADCAST => Hop::To([0xff; 6]),
            // RFC 1112, section 6.4.
            MULTICAST => Hop::To([0x01, 0x00, 0x5e, b & 0x7f, c, d]),
            _ => Hop::Nowhere,
        })
    }

    fn neighbour(&mut self, next: Ipv4Addr) -> Result<Hop, Errno> {
        let sought = self.sought.contains(&next);
        let found = self.routing.neighbour(self.interface, next)?;
        if let Neighbour::Silent = found
            && sought
        {
            // The next datagram has it sought again.
            self.sought.retain(|sought| *sought != next);
            return Ok(Hop::Nowhere);
        }
        // An address sought before is not sought any more where the kernel has forgotten it: it does when the carrier
        // is lost.
        if !sought || matches!(found, Neighbour::Known(_) | Neighbour::Absent) {
            self.routing.look_for(self.interface, next)?;
            self.note_sought(next);
        }
        Ok(match found {
            Neighbour::Known(mac) => {
                self.sought.retain(|sought| *sought != next);
                Hop::To(mac)
            }
            _ => Hop::Soon,
        })
    }

    fn note_sought(&mut self, next: Ipv4Addr) {
        if self.sought.contains(&next) {
            return;
        }
        if self.sought.len() == CAPACITY {
            self.sought.remove(0);
        }
        self.sought.push(next);
    }
}

/// Has the hardware addresses of connected peers ready, so that the first datagram need not wait. A peer that does not
/// answer now may do so later.
pub(crate) fn find_peers(ports: &[Wanted], mut hop: impl FnMut(Ipv4Addr, MonoNs) -> Hop) {
    let end = WallClock.now() + ANSWERS_WITHIN;
    for peer in ports.iter().filter_map(|port| port.peer) {
        while hop(*peer.ip(), WallClock.now()) == Hop::Soon && WallClock.now() < end {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}
