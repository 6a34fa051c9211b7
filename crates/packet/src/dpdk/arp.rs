//! Neighbours on a device that the kernel has no part in: ARP (RFC 826) for IPv4 over Ethernet. Pure; what arrives is hostile
//! until parsed.

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::time::Duration;

use takt_base::MonoNs;

use crate::OwnAddress;
use crate::network::frame::Mac;
use crate::network::hops::Hop;

/// Neighbours that are remembered, others that are sought at once, and frames that are due at once.
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
    sought: Vec<Sought>,
    due: VecDeque<Due>,
}

/// Frame to be sent: a request to all, or a reply to the one who sent a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Request(Ipv4Addr),
    Reply(Mac, Ipv4Addr),
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
        let (known, sought) = (Vec::with_capacity(CAPACITY), Vec::with_capacity(CAPACITY));
        Neighbours { own, mac, known, sought, due: VecDeque::with_capacity(CAPACITY) }
    }

    /// Next hop of a datagram. A request may have become due, which [`Neighbours::write`] writes.
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
                    let mac = known.mac;
                    self.owe(Due::Request(to));
                    return Hop::To(mac);
                }
                Hop::To(known.mac)
            }
            None => self.seek(to, now),
        }
    }

    fn seek(&mut self, to: Ipv4Addr, now: MonoNs) -> Hop {
        let found = self.sought.iter().copied().find(|sought| sought.address == to);
        match found {
            Some(sought) if now < sought.again => return Hop::Soon,
            // It is sought when another has answered, or is given up.
            None if !self.has_room(now) => return Hop::Soon,
            _ => self.sought.retain(|sought| sought.address != to),
        }
        let requests = found.map_or(0, |sought| sought.requests);
        if requests == REQUESTS {
            // The next datagram starts anew.
            return Hop::Nowhere;
        }
        // One that finds no room among what is due was never made.
        let made = u8::from(self.owe(Due::Request(to)));
        self.sought.push(Sought { address: to, requests: requests + made, again: now + REQUEST_INTERVAL });
        Hop::Soon
    }

    /// Whether one more can be sought. The one whom nobody has sent to for longest makes room.
    fn has_room(&mut self, now: MonoNs) -> bool {
        if self.sought.len() < CAPACITY {
            return true;
        }
        let oldest = self.sought.iter().enumerate().min_by_key(|(_, sought)| sought.again);
        match oldest {
            Some((at, sought)) if sought.again + REQUEST_INTERVAL <= now => {
                self.sought.swap_remove(at);
                true
            }
            _ => false,
        }
    }

    /// Has a frame written later, if there is room; who gets no reply repeats its request.
    fn owe(&mut self, due: Due) -> bool {
        let waits = self.due.contains(&due);
        if !waits && self.due.len() < CAPACITY {
            self.due.push_back(due);
            return true;
        }
        waits
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
        let sought = self.sought.iter().any(|sought| sought.address == sender);
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
        self.sought.retain(|sought| sought.address != sender);
        if op == REQUEST && for_us {
            self.owe(Due::Reply(mac, sender));
        }
    }

    /// Whether there is a request or a reply to be written.
    pub(super) fn wants_to_write(&self) -> bool {
        !self.due.is_empty()
    }

    /// Writes the first that is due; how long the frame is.
    pub(super) fn write(&mut self, frame: &mut [u8]) -> Option<usize> {
        let (op, mac, address) = match self.due.pop_front()? {
            Due::Reply(mac, address) => (REPLY, mac, address),
            Due::Request(address) => (REQUEST, BROADCAST, address),
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
            requests += us.due.drain(..).len() as u8;
            now += Duration::from_millis(50);
        }
        assert_eq!((requests, now.0), (REQUESTS, 900_000_000));
        assert_eq!(us.hop(there, now), Hop::Soon);
    }

    #[test]
    fn several_who_do_not_answer_are_each_sought_at_its_own_pace_and_given_up() {
        for count in [2, CAPACITY, 2 * CAPACITY] {
            let mut us = neighbours("10.0.0.1/16", US);
            let silent: Vec<_> = (0..count).map(|n| Ipv4Addr::new(10, 0, 1, n as u8)).collect();
            let (mut requests, mut given_up) = (vec![0; count], vec![0; count]);
            for tick in 0..40_000 {
                let (n, now) = (tick % count, MonoNs(tick as u64 * 50_000));
                given_up[n] += usize::from(us.hop(silent[n], now) == Hop::Nowhere);
                for due in us.due.drain(..) {
                    let Due::Request(to) = due else { panic!("{due:?}") };
                    requests[silent.iter().position(|address| *address == to).unwrap()] += 1;
                }
            }
            // An attempt takes 0.9 s of these 2; of more than are sought at once the first make room for the others.
            assert!(given_up.iter().all(|&times| times >= 1), "{given_up:?}");
            let paced =
                requests.iter().zip(&given_up).all(|(&sent, times)| sent <= usize::from(REQUESTS) * (times + 1));
            assert!(paced, "{requests:?}");
        }
    }

    #[test]
    fn one_whom_nobody_sends_to_any_more_makes_room() {
        let mut us = neighbours("10.0.0.1/16", US);
        for n in 0..CAPACITY {
            us.hop(Ipv4Addr::new(10, 0, 1, n as u8), MonoNs(0));
        }
        us.due.clear();
        let there = Ipv4Addr::new(10, 0, 2, 0);
        assert_eq!((us.hop(there, MonoNs(1)), us.wants_to_write()), (Hop::Soon, false));
        assert_eq!((us.hop(there, MonoNs(SECOND)), us.wants_to_write()), (Hop::Soon, true));
        assert_eq!(us.sought.len(), CAPACITY);
    }

    #[test]
    fn a_request_that_found_no_room_among_replies_was_never_made() {
        let mut us = neighbours("10.0.0.1/16", US);
        let there = Ipv4Addr::new(10, 0, 1, 0);
        for at in 0..5 {
            for n in 0..CAPACITY {
                us.owe(Due::Reply(THEM, Ipv4Addr::new(10, 0, 2, n as u8)));
            }
            assert_eq!(us.hop(there, MonoNs(at * SECOND)), Hop::Soon);
            us.due.clear();
        }
        assert_eq!(us.hop(there, MonoNs(5 * SECOND)), Hop::Soon);
        assert_eq!(us.due, [Due::Request(there)]);
    }

    #[test]
    fn two_requests_in_one_read_get_a_reply_each() {
        let mut us = neighbours("10.0.0.1/24", US);
        for (n, mac) in [(2, THEM), (3, [2, 0, 0, 0, 0, 3])] {
            let mut them = neighbours(&format!("10.0.0.{n}/24"), mac);
            them.hop(Ipv4Addr::new(10, 0, 0, 1), MonoNs(0));
            us.receive(&written(&mut them), MonoNs(0));
        }
        let to: Vec<u8> = (0..2).map(|_| written(&mut us)[5]).collect();
        assert_eq!((to, us.wants_to_write()), (vec![2, 3], false));
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
            them.owe(Due::Request(Ipv4Addr::new(10, 0, 0, 1)));
            us.receive(&written(&mut them), MonoNs(0));
            assert!(us.known.is_empty() && us.due.is_empty(), "{claims} {mac:?}");
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
