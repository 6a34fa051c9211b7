//! The packet socket that DPDK's driver `net_af_packet` has opened, by a descriptor of our own: to wait on, to count what it
//! drops, and to keep from it what is not for the engine.
//!
//! The driver does not report which it is. It is the one that was not there before, is bound to the interface, and has a ring
//! of the driver's version.

use std::collections::HashSet;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::io::Errno;
use rustix::net::{AddressFamily, SendFlags, send, sockopt};

use crate::network::Wanted;
use crate::sys::filter::{RETURN, step};
use crate::sys::{filter, link, option, table};

// linux/if_packet.h
const PACKET_VERSION: i32 = 10;
const TPACKET_V2: u32 = 1;
const PACKET_IGNORE_OUTGOING: i32 = 23;
/// Frames on their way below the socket are bounded by this: the rest waits in the driver's ring.
const SEND_BYTES: usize = 128 << 10;
/// Calls until a kernel that goes on taking some has enough for now.
const KICKS: usize = 16;

/// Steps of a filter (kernel documentation, networking/filter.rst).
const LOAD_WORD: u16 = 0x20;
const LOAD_HALF: u16 = 0x28;
const LOAD_BYTE: u16 = 0x30;
const IF_EQUAL: u16 = 0x15;
const IF_ANY_BIT: u16 = 0x45;
/// Facts of the kernel about a frame (linux/filter.h): to whom it came, and whether a VLAN tag was taken off.
const KIND: u32 = 0xffff_f000 + 4;
const TAGGED: u32 = 0xffff_f000 + 48;
/// For this host, as the hardware address says (linux/if_packet.h).
const FOR_HOST: u32 = 0;
const BROADCAST: u32 = 1;
const MULTICAST: u32 = 2;

/// A socket, by a descriptor of ours.
pub(super) struct Socket {
    fd: OwnedFd,
    drivers: (RawFd, PathBuf),
    drops: AtomicU64,
}

impl Socket {
    /// The packet socket on interface `index` that was not there `before`.
    pub(super) fn of_driver(before: &HashSet<(RawFd, PathBuf)>, index: u32) -> Option<Socket> {
        Socket::new(before, |fd| {
            let version = option::words::<1>(fd.as_fd(), libc::SOL_PACKET, PACKET_VERSION);
            link::bound(fd.as_fd()) == Some(index) && version == Some([TPACKET_V2])
        })
    }

    /// The AF_XDP socket that was not there `before`.
    pub(super) fn of_xdp(before: &HashSet<(RawFd, PathBuf)>) -> Option<Socket> {
        Socket::new(before, |fd| sockopt::socket_domain(fd) == Ok(AddressFamily::XDP))
    }

    fn new(before: &HashSet<(RawFd, PathBuf)>, is: impl Fn(&OwnedFd) -> bool) -> Option<Socket> {
        let new = table::sockets().into_iter().filter(|socket| !before.contains(socket));
        let mut ours = new.filter_map(|socket| Some((table::duplicate(socket.0)?, socket)));
        let (fd, drivers) = ours.find(|(fd, _)| is(fd))?;
        table::close_on_exec(drivers.0);
        Some(Socket { fd, drivers, drops: AtomicU64::new(0) })
    }

    /// Its name and the driver's number for it.
    pub(super) fn drivers(&self) -> (RawFd, PathBuf) {
        self.drivers.clone()
    }

    /// Lets through what comes to these ports, and nothing that this host sends.
    pub(super) fn filter_ports<'a>(&self, ports: impl Iterator<Item = &'a Wanted>) -> Result<(), Errno> {
        // Best effort: an older kernel has the filter alone.
        let _older = option::set(self.fd.as_fd(), libc::SOL_PACKET, PACKET_IGNORE_OUTGOING, 1);
        sockopt::set_socket_send_buffer_size(&self.fd, SEND_BYTES)?;
        filter::attach(self.fd.as_fd(), &steps(ports))
    }

    /// Has the kernel send what is in the driver's ring; whether it surely took all. It answers how many bytes it took, also where
    /// its send buffer was full before the ring was empty: so only 0 means that nothing is left.
    pub(super) fn kick(&self, calls: &mut u64) -> bool {
        for _ in 0..KICKS {
            *calls += 1;
            match send(&self.fd, &[], SendFlags::DONTWAIT) {
                Ok(0) => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
        false
    }

    /// The error that a poll has reported.
    pub(super) fn error(&self) -> Option<Errno> {
        sockopt::socket_error(&self.fd).ok().and_then(Result::err)
    }

    /// Frames that passed the filter and found the ring full. The kernel reports each once, to the first caller.
    pub(super) fn drops(&self) -> Option<u64> {
        let (_, dropped) = link::statistics(self.fd.as_fd())?;
        let dropped = u64::from(dropped);
        Some(self.drops.fetch_add(dropped, Ordering::Relaxed) + dropped)
    }

    /// Frames that found an AF_XDP socket's receive ring full, which DPDK's driver does not count.
    pub(super) fn found_ring_full(&self) -> Option<u64> {
        sockopt::xdp_statistics(&self.fd).ok()?.rx_ring_full
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Whole UDP datagrams in frames without tags, to one of the ports, from its peer if it has one.
fn steps<'a>(ports: impl Iterator<Item = &'a Wanted>) -> Vec<libc::sock_filter> {
    let mut steps = Vec::new();
    let must = |steps: &mut Vec<_>, load, at, is| {
        steps.extend([step(load, at, 0, 0), step(IF_EQUAL, is, 1, 0), step(RETURN, 0, 0, 0)]);
    };
    steps.extend([
        step(LOAD_WORD, KIND, 0, 0),
        step(IF_EQUAL, FOR_HOST, 3, 0),
        step(IF_EQUAL, BROADCAST, 2, 0),
        step(IF_EQUAL, MULTICAST, 1, 0),
        step(RETURN, 0, 0, 0),
    ]);
    must(&mut steps, LOAD_WORD, TAGGED, 0);
    must(&mut steps, LOAD_HALF, 12, 0x0800);
    must(&mut steps, LOAD_BYTE, 14, 0x45);
    must(&mut steps, LOAD_BYTE, 23, 17);
    // "More fragments" and the offset (RFC 791).
    steps.extend([step(LOAD_HALF, 20, 0, 0), step(IF_ANY_BIT, 0x3fff, 0, 1), step(RETURN, 0, 0, 0)]);
    for port in ports {
        let ends = [(30, 36, Some(port.local)), (26, 34, port.peer)];
        let tests: Vec<_> = ends
            .into_iter()
            .filter_map(|(address, number, end)| Some((address, number, end?)))
            .flat_map(|(address, number, end)| {
                [(LOAD_WORD, address, u32::from(*end.ip())), (LOAD_HALF, number, u32::from(end.port()))]
            })
            .collect();
        for (n, (load, at, is)) in tests.iter().enumerate() {
            // To what comes behind this port: two steps each of the tests left, and the answer.
            let behind = 2 * (tests.len() - n - 1) + 1;
            steps.extend([step(*load, *at, 0, 0), step(IF_EQUAL, *is, 0, behind as u8)]);
        }
        steps.push(step(RETURN, u32::MAX, 0, 0));
    }
    steps.push(step(RETURN, 0, 0, 0));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::network::frame::{Ends, write};

    /// As the kernel runs them.
    fn passes(steps: &[libc::sock_filter], frame: &[u8], kind: u32, tagged: u32) -> bool {
        let (mut at, mut value) = (0, 0);
        loop {
            let libc::sock_filter { code, jt, jf, k } = steps[at];
            let taken = match code {
                LOAD_WORD if k == KIND => (value = kind, 0).1,
                LOAD_WORD if k == TAGGED => (value = tagged, 0).1,
                LOAD_WORD | LOAD_HALF | LOAD_BYTE => {
                    let bytes = [(LOAD_WORD, 4), (LOAD_HALF, 2), (LOAD_BYTE, 1)];
                    let bytes = bytes.into_iter().find(|(load, _)| *load == code).unwrap().1;
                    let Some(field) = frame.get(k as usize..k as usize + bytes) else { return false };
                    value = field.iter().fold(0, |value, &byte| value << 8 | u32::from(byte));
                    0
                }
                IF_EQUAL => {
                    if value == k {
                        jt
                    } else {
                        jf
                    }
                }
                IF_ANY_BIT => {
                    if value & k != 0 {
                        jt
                    } else {
                        jf
                    }
                }
                _ => return k != 0,
            };
            at += 1 + usize::from(taken);
        }
    }

    #[test]
    fn what_is_for_a_port_passes_and_nothing_else() {
        let end = |text: &str| text.parse().unwrap();
        let ports = [
            Wanted { local: end("10.0.0.1:7"), peer: Some(end("10.0.0.2:9")) },
            Wanted { local: end("10.0.0.1:8"), peer: None },
        ];
        let steps = steps(ports.iter());
        let frame = |source: &str, destination: &str| {
            let mut frame = [0; 100];
            let ends = Ends { source: end(source), destination: end(destination) };
            let len = write(&mut frame, [1; 6], [2; 6], ends, b"takt?").unwrap();
            frame[..len].to_vec()
        };
        for (source, destination, wanted) in [
            ("10.0.0.2:9", "10.0.0.1:7", true),
            ("10.0.0.2:8", "10.0.0.1:7", false),
            ("10.0.0.3:9", "10.0.0.1:7", false),
            ("10.0.0.3:1", "10.0.0.1:8", true),
            ("10.0.0.2:9", "10.0.0.1:9", false),
            ("10.0.0.2:9", "10.0.0.3:8", false),
        ] {
            let frame = frame(source, destination);
            assert_eq!(passes(&steps, &frame, FOR_HOST, 0), wanted, "{source} {destination}");
            for (kind, tagged) in [(3, 0), (4, 0), (FOR_HOST, 1)] {
                assert!(!passes(&steps, &frame, kind, tagged), "of others, sent, tagged");
            }
        }
        let sound = frame("10.0.0.2:9", "10.0.0.1:8");
        assert!(passes(&steps, &sound, BROADCAST, 0) && passes(&steps, &sound, MULTICAST, 0));
        for (at, other) in [(12, 0x81), (14, 0x46), (20, 0x20), (21, 1), (23, 6)] {
            let mut frame = sound.clone();
            frame[at] = other;
            assert!(!passes(&steps, &frame, FOR_HOST, 0), "byte {at}");
        }
        assert!((0..38).all(|cut| !passes(&steps, &sound[..cut], FOR_HOST, 0)));
    }
}
