//! Neighbours on a device that the kernel has no part in: ARP (RFC 826) for IPv4 over Ethernet. Pure; what arrives is hostile
//! until parsed.

use std::net::Ipv4Addr;
use std::time::Duration;

use takt_base::MonoNs;

use crate::OwnAddress;
use crate::network::frame::Mac;
use crate::network::hops::Hop;

/// Neighbours that are remembered.
const CAPACITY: usize = 64;
/// How long an entry is valid, and when its neighbour is sent another request.
const VALID_FOR: Duration = Duration::from_secs(60);
const REFRESHED_AFTER: Duration = Duration::from_secs(30);
/// How many requests, and at which distance, one that does not answer is sent.
const REQUESTS: u8 = 3;
const REQUEST_INTERVAL: Duration = Duration::from_millis(300);

const BROADCAST: Mac = [0xff; 6];
const ETHERNET_BYTES: usize = 14;
/// With what Ethernet pads it to.
const FRAME_BYTES: usize = 60;
/// Hardware Ethernet, protocol IPv4, lengths 6 and 4.
const KIND: [u8; 6] = [0, 1, 8, 0, 6, 4];
const REQUEST: u8 = 1;
const REPLY: u8 = 2;

/// The table of neighbours, and what is due to be sent about it.
pub(super) struct Neighbours {
    own: OwnAddress,
    mac: Mac,
    known: Vec<Known>,
    sought: Option<Sought>,
    request: Option<Ipv4Addr>,
    reply: Option<(Mac, Ipv4Addr)>,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    address: Ipv4Addr,
    mac: Mac,
    refresh: MonoNs,
    until: MonoNs,
}

#[derive(Clone, Copy, Debug)]
struct Sought {
    address: Ipv4Addr,
    requests: u8,
    again: MonoNs,
}

impl Neighbours {
    pub(super) fn new(own: OwnAddress, mac: Mac) -> Neighbours {
        Neighbours { own, mac, known: Vec::with_capacity(CAPACITY), sought: None, request: None, reply: None }
    }

    /// Where a datagram goes. A request may have become due, which [`Neighbours::write`] writes.
    pub(super) fn hop(&mut self, to: Ipv4Addr, now: MonoNs) -> Hop {
        let [_, b, c, d] = to.octets();
        if to.is_multicast() {
            // RFC 1112, section 6.4.
            return Hop::To([0x01, 0x00, 0x5e, b & 0x7f, c, d]);
        }
        if to.is_broadcast() || to == self.own.broadcast() {
            return Hop::To(BROADCAST);
        }
        if !self.own.reaches(to) || to == self.own.address {
            return Hop::Nowhere;
        }
        match self.known.iter_mut().find(|known| known.address == to && now < known.until) {
            Some(known) => {
                if now >= known.refresh {
                    known.refresh = now + REQUEST_INTERVAL;
                    self.request = Some(to);
                }
                Hop::To(known.mac)
            }
            None => self.seek(to, now),
        }
    }

    fn seek(&mut self, to: Ipv4Addr, now: MonoNs) -> Hop {
        let requests = match self.sought {
            Some(sought) if sought.address == to && now < sought.again => return Hop::Soon,
            Some(sought) if sought.address == to && sought.requests == REQUESTS => {
                // The next datagram starts anew.
                self.sought = None;
                return Hop::Nowhere;
            }
            Some(sought) if sought.address == to => sought.requests,
            _ => 0,
        };
        self.sought = Some(Sought { address: to, requests: requests + 1, again: now + REQUEST_INTERVAL });
        self.request = Some(to);
        Hop::Soon
    }

    /// Takes note of a frame, if it is of ARP.
    pub(super) fn receive(&mut self, frame: &[u8], now: MonoNs) {
        if let Some((_, packet)) = frame.split_first_chunk::<ETHERNET_BYTES>()
            && is_arp(frame)
        {
            self.arp(packet, now);
        }
    }

    fn arp(&mut self, packet: &[u8], now: MonoNs) {
        let Some(&packet) = packet.first_chunk::<28>() else { return };
        let op = packet[7];
        if packet[..6] != KIND || packet[6] != 0 || !(op == REQUEST || op == REPLY) {
            return;
        }
        let mac: Mac = std::array::from_fn(|n| packet[8 + n]);
        let address = |at: usize| Ipv4Addr::from(std::array::from_fn::<u8, 4, _>(|n| packet[at + n]));
        let (sender, target) = (address(14), address(24));
        let alone = mac[0] & 1 == 0 && mac != self.mac;
        if !alone || sender == self.own.address || !self.own.reaches(sender) {
            return;
        }
        let for_us = target == self.own.address;
        let sought = self.sought.is_some_and(|sought| sought.address == sender);
        let known = self.known.iter().position(|known| known.address == sender);
        if let Some(at) = known {
            self.known.remove(at);
        }
        // RFC 826: a known neighbour is updated, one that requests our address is added.
        if known.is_some() || for_us || sought {
            if self.known.len() == CAPACITY {
                self.known.remove(0);
            }
            self.known.push(Known { address: sender, mac, refresh: now + REFRESHED_AFTER, until: now + VALID_FOR });
        }
        if sought {
            self.sought = None;
        }
        if op == REQUEST && for_us {
            self.reply = Some((mac, sender));
        }
    }

    /// Whether there is a request or a reply to be written.
    pub(super) fn wants_to_write(&self) -> bool {
        self.request.is_some() || self.reply.is_some()
    }

    /// Writes a reply that is due, or else a request; how long the frame is.
    pub(super) fn write(&mut self, frame: &mut [u8]) -> Option<usize> {
        let (op, mac, address) = match (self.reply.take(), self.request) {
            (Some((mac, address)), _) => (REPLY, mac, address),
            (None, Some(address)) => {
                self.request = None;
                (REQUEST, BROADCAST, address)
            }
            (None, None) => return None,
        };
        let frame = frame.first_chunk_mut::<FRAME_BYTES>()?;
        frame.fill(0);
        frame[..6].copy_from_slice(&mac);
        frame[6..12].copy_from_slice(&self.mac);
        frame[12..14].copy_from_slice(&[0x08, 0x06]);
        frame[14..20].copy_from_slice(&KIND);
        frame[21] = op;
        frame[22..28].copy_from_slice(&self.mac);
        frame[28..32].copy_from_slice(&self.own.address.octets());
        frame[32..38].copy_from_slice(if op == REPLY { &mac } else { &[0; 6] });
        frame[38..42].copy_from_slice(&address.octets());
        Some(FRAME_BYTES)
    }
}

/// Whether a frame is of ARP.
pub(super) fn is_arp(frame: &[u8]) -> bool {
    frame.get(12..14) == Some(&[0x08, 0x06])
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const US: Mac = [2, 0, 0, 0, 0, 1];
    const THEM: Mac = [2, 0, 0, 0, 0, 2];
    const SECOND: u64 = 1_000_000_000;

    fn neighbours(address: &str, mac: Mac) -> Neighbours {
        Neighbours::new(address.parse().unwrap(), mac)
    }

    fn written(neighbours: &mut Neighbours) -> Vec<u8> {
        let mut frame = [0xa5; 100];
        let len = neighbours.write(&mut frame).expect("something to write");
        frame[..len].to_vec()
    }

    #[test]
    fn two_find_each_other_by_one_request_and_one_reply() {
        let (mut us, mut them) = (neighbours("10.0.0.1/24", US), neighbours("10.0.0.2/24", THEM));
        let there = Ipv4Addr::new(10, 0, 0, 2);
        assert_eq!(us.hop(there, MonoNs(1)), Hop::Soon);
        let request = written(&mut us);
        // RFC 826, and what Ethernet pads it to.
        let begin = [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1];
        assert_eq!((&request[..22], request.len()), (&begin[..], 60));
        assert_eq!(us.hop(there, MonoNs(2)), Hop::Soon);
        assert!(!us.wants_to_write(), "once is enough for a while");
        them.receive(&request, MonoNs(3));
        let reply = written(&mut them);
        us.receive(&reply, MonoNs(4));
        assert_eq!(us.hop(there, MonoNs(5)), Hop::To(THEM));
        assert_eq!(
            them.hop(Ipv4Addr::new(10, 0, 0, 1), MonoNs(5)),
            Hop::To(US),
            "who sends a request is known by that"
        );
    }

    #[test]
    fn who_does_not_answer_is_nowhere_after_three_requests_and_sent_more_then() {
        let mut us = neighbours("10.0.0.1/24", US);
        let (there, mut requests) = (Ipv4Addr::new(10, 0, 0, 9), 0);
        let mut now = MonoNs(0);
        while us.hop(there, now) == Hop::Soon {
            requests += u8::from(us.request.take().is_some());
            now += Duration::from_millis(50);
        }
        assert_eq!((requests, now.0), (REQUESTS, 900_000_000));
        assert_eq!(us.hop(there, now), Hop::Soon);
    }

    #[test]
    fn one_that_is_known_is_sent_a_request_while_it_is_in_use_and_forgotten_when_silent() {
        let (mut us, mut them) = (neighbours("10.0.0.1/24", US), neighbours("10.0.0.2/24", THEM));
        let there = Ipv4Addr::new(10, 0, 0, 2);
        us.hop(there, MonoNs(0));
        them.receive(&written(&mut us), MonoNs(0));
        us.receive(&written(&mut them), MonoNs(0));
        assert_eq!(us.hop(there, MonoNs(31 * SECOND)), Hop::To(THEM));
        assert!(us.wants_to_write());
        assert_eq!(us.hop(there, MonoNs(61 * SECOND)), Hop::Soon);
    }

    #[test]
    fn only_its_own_network_is_reached_and_groups_need_no_request() {
        let mut us = neighbours("10.0.0.1/24", US);
        let mut hop = |to: [u8; 4]| us.hop(to.into(), MonoNs(0));
        assert_eq!(hop([10, 0, 1, 1]), Hop::Nowhere);
        assert_eq!(hop([10, 0, 0, 1]), Hop::Nowhere);
        assert_eq!(hop([10, 0, 0, 255]), Hop::To(BROADCAST));
        assert_eq!(hop([255; 4]), Hop::To(BROADCAST));
        assert_eq!(hop([239, 129, 2, 3]), Hop::To([0x01, 0, 0x5e, 1, 2, 3]));
    }

    #[test]
    fn who_lies_about_us_or_is_of_another_network_changes_nothing() {
        let mut us = neighbours("10.0.0.1/24", US);
        for (claims, mac) in
            [("10.0.0.1/24", THEM), ("10.0.1.2/16", THEM), ("10.0.0.2/24", [0xff; 6]), ("10.0.0.2/24", US)]
        {
            let mut them = neighbours(claims, mac);
            them.request = Some(Ipv4Addr::new(10, 0, 0, 1));
            us.receive(&written(&mut them), MonoNs(0));
            assert!(us.known.is_empty() && us.reply.is_none(), "{claims} {mac:?}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_lead_it_astray(kind in prop_oneof![Just([8_u8, 0]), Just([8, 6])],
                                   mut bytes in prop::collection::vec(any::<u8>(), 0..100)) {
            if let Some(place) = bytes.get_mut(12..14) {
                place.copy_from_slice(&kind);
            }
            neighbours("10.0.0.1/24", US).receive(&bytes, MonoNs(0));
        }
    }
}
