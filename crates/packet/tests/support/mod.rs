//! Parts that the tests of this crate share.
#![allow(dead_code, reason = "each test binary uses a part")]

pub mod far;
pub mod interface;

use std::net::{SocketAddr, SocketAddrV4, UdpSocket};
use std::process::Command;
use std::sync::atomic::{AtomicU16, Ordering};

use rustix::net::{AddressFamily, SendFlags, SocketType, ipproto, sendto, socket as socket_of};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use takt_base::{Clock, MonoNs, WallClock};
use takt_packet::frame::{Ends, write};
use takt_packet::{Config, Engine, EngineKind, PortIndex, PortSpec, Wait, Way, ZeroCopy, open};
use takt_testing::{HANG, loopback, wait_for};

pub const P0: PortIndex = PortIndex(0);

/// Any port of this end: on loopback an address that no other test process has.
pub fn any() -> SocketAddr {
    (far::near().unwrap_or(loopback(1).into()), 0).into()
}

/// Any port of the other end, which on loopback is the same.
pub fn any_far() -> SocketAddr {
    (far::far().unwrap_or(loopback(1).into()), 0).into()
}

/// A port of the other end that nobody has, and that no test takes unless it wants that one: the kernel gives out none of
/// this address.
pub fn nobody() -> SocketAddr {
    (far::far().unwrap_or(loopback(2).into()), unused()).into()
}

/// A port of this end that nobody has.
pub fn free() -> SocketAddr {
    (far::near().unwrap_or(loopback(2).into()), unused()).into()
}

fn unused() -> u16 {
    static NEXT: AtomicU16 = AtomicU16::new(1000);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// The longest datagram that passes between the ends in one piece.
pub fn longest() -> usize {
    far::mtu().map_or(9000, |mtu| mtu - 28)
}

/// Opens a variant under test.
pub type Open = fn(&Config) -> Box<dyn Engine>;

pub fn socket(config: &Config) -> Box<dyn Engine> {
    open(EngineKind::Socket, config).expect("engine socket opens on loopback")
}

pub fn mmsg(config: &Config) -> Box<dyn Engine> {
    open(EngineKind::Mmsg, config).expect("engine mmsg opens on loopback")
}

pub fn mmsg_aggregated(config: &Config) -> Box<dyn Engine> {
    mmsg(&Config { aggregate: true, ..config.clone() })
}

pub fn uring(config: &Config) -> Box<dyn Engine> {
    open(EngineKind::Uring, config).expect("engine uring opens on loopback")
}

pub fn uring_aggregated(config: &Config) -> Box<dyn Engine> {
    uring(&Config { aggregate: true, ..config.clone() })
}

/// Every datagram by zero copy, also where the kernel copies it all the same.
pub fn uring_zero_copy(config: &Config) -> Box<dyn Engine> {
    uring(&Config { zero_copy: ZeroCopy::Always, ..config.clone() })
}

/// The same, as aggregates.
pub fn uring_zero_copy_aggregated(config: &Config) -> Box<dyn Engine> {
    uring_zero_copy(&Config { aggregate: true, ..config.clone() })
}

pub fn xdp(config: &Config) -> Box<dyn Engine> {
    at_its_end(EngineKind::XDP, config)
}

pub fn xdp_generic(config: &Config) -> Box<dyn Engine> {
    at_its_end(EngineKind::XDP_GENERIC, config)
}

pub fn xdp_receiving(config: &Config) -> Box<dyn Engine> {
    xdp(&Config { way: Way::Receive, ..config.clone() })
}

pub fn xdp_transmitting(config: &Config) -> Box<dyn Engine> {
    xdp(&Config { way: Way::Transmit, ..config.clone() })
}

/// Its reader never sleeps.
pub fn mmsg_polling(config: &Config) -> Box<dyn Engine> {
    mmsg(&Config { busy_poll: true, ..config.clone() })
}

/// Its reader never sleeps, and does the driver's work.
pub fn xdp_polling(config: &Config) -> Box<dyn Engine> {
    xdp(&Config { busy_poll: true, ..config.clone() })
}

/// Over a cable with jumbo frames.
pub fn xdp_jumbo(config: &Config) -> Box<dyn Engine> {
    xdp(config)
}

/// Over a cable with jumbo frames.
pub fn xdp_generic_jumbo(config: &Config) -> Box<dyn Engine> {
    xdp_generic(config)
}

#[cfg(feature = "dpdk")]
pub fn dpdk(config: &Config) -> Box<dyn Engine> {
    at_its_end(EngineKind::Dpdk(takt_packet::DpdkDevice::AfPacket), config)
}

/// The devices of DPDK's that are an engine's alone, at this end.
#[cfg(feature = "dpdk")]
pub const DPDK_TAP: &str = "dpdk:tap@10.98.0.1/24";
#[cfg(feature = "dpdk")]
pub const DPDK_AF_XDP: &str = "dpdk:af_xdp";

/// At the other end, where the kernel is, by its sockets.
#[cfg(feature = "dpdk")]
pub fn dpdk_tap(config: &Config) -> Box<dyn Engine> {
    at_its_end(if is_far(config) { EngineKind::Mmsg } else { DPDK_TAP.parse().expect("an engine") }, config)
}

/// At the other end, where the kernel is, by its sockets.
#[cfg(feature = "dpdk")]
pub fn dpdk_af_xdp(config: &Config) -> Box<dyn Engine> {
    at_its_end(if is_far(config) { EngineKind::Mmsg } else { DPDK_AF_XDP.parse().expect("an engine") }, config)
}

/// Whether it is for the other end.
fn is_far(config: &Config) -> bool {
    config.ports.iter().any(|port| far::far() == Some(port.bind.ip()))
}

/// Opens an engine at the end whose address it binds to.
fn at_its_end(kind: EngineKind, config: &Config) -> Box<dyn Engine> {
    let (far, config) = (is_far(config), config.clone());
    let opened = move || open(kind, &config);
    let opened = if far { far::there(opened) } else { opened() };
    opened.unwrap_or_else(|error| panic!("engine {kind} opens over a cable: {error} {error:?}"))
}

/// Long enough for any machine; a test that hangs ends.
pub fn soon() -> Wait {
    Wait::Until(WallClock.now() + HANG)
}

pub fn unconnected(ports: usize) -> Config {
    Config::new(vec![PortSpec { bind: any(), peer: None }; ports])
}

/// At the other end.
pub fn unconnected_far(ports: usize) -> Config {
    Config::new(vec![PortSpec { bind: any_far(), peer: None }; ports])
}

/// At the end where the peer is not.
pub fn connected(peer: SocketAddr) -> Config {
    let bind = if far::near() == Some(peer.ip()) { any_far() } else { any() };
    Config::new(vec![PortSpec { bind, peer: Some(peer) }])
}

pub fn addr(engine: &dyn Engine, port: u8) -> SocketAddr {
    engine.local(PortIndex(port)).expect("the port exists")
}

/// A plain socket of the standard library: the stranger at the other end.
pub fn stranger() -> UdpSocket {
    stranger_at(any_far())
}

/// A plain socket at an address of the other end.
pub fn stranger_at(bind: SocketAddr) -> UdpSocket {
    let socket = far::there(move || UdpSocket::bind(bind)).expect("the port is free");
    socket.set_read_timeout(Some(HANG)).expect("it has one");
    socket
}

/// Sends a datagram from the other end to the host at `by`, which claims to be from and to others.
pub fn forge(by: SocketAddrV4, source: SocketAddrV4, destination: SocketAddrV4, payload: &[u8]) {
    let mut frame = [0; 2000];
    let len = write(&mut frame, [0; 6], [0; 6], Ends { source, destination }, payload).expect("a short one");
    // The kernel writes the Ethernet header (raw(7)).
    let packet = frame[14..len].to_vec();
    far::there(move || {
        let raw = socket_of(AddressFamily::INET, SocketType::RAW, Some(ipproto::RAW)).expect("root's");
        assert_eq!(sendto(raw, &packet, SendFlags::empty(), &by).expect("it has a way"), packet.len());
    });
}

/// The kernel's account of a port: bytes that wait in it, with its own bookkeeping, and datagrams it has dropped.
pub fn queued(port: SocketAddr) -> (usize, u64) {
    let SocketAddr::V4(port) = port else { panic!("{port} is of another table") };
    let local = format!("{:08X}:{:04X}", u32::from_ne_bytes(port.ip().octets()), port.port());
    // The kernel writes the table page by page, and rows move while others open and close sockets: one may be skipped.
    let row = takt_testing::wait_for("the port's row in /proc/net/udp", || {
        let table = std::fs::read_to_string("/proc/net/udp").expect("Linux");
        let rows = table.lines().map(|line| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>());
        rows.into_iter().find(|row| row.get(1) == Some(&local))
    });
    let waiting = row[4].split_once(':').and_then(|(_, bytes)| usize::from_str_radix(bytes, 16).ok());
    (waiting.expect("a number"), row[12].parse().expect("a number"))
}

/// Datagrams that came to a port and were dropped before anybody read them, as the kernel counts; `None` where nobody knows.
pub fn dropped(engine: &dyn Engine, port: SocketAddr) -> Option<u64> {
    if engine.limits().path.is_sockets() {
        return Some(queued(port).1);
    }
    engine.counters().receive_buffer_drops
}

/// Waits until so many datagrams of a few bytes have come to a port: a busy kernel delivers later than `send` returns.
pub fn await_delivery(port: SocketAddr, count: usize) {
    if far::is_there() {
        return; // veth delivers before `send` returns, or in order with what is sent later
    }
    let probe = stranger();
    let at = probe.local_addr().expect("bound");
    stranger().send_to(b"probe", at).expect("loopback");
    let one = wait_for("a datagram", || Some(queued(at).0).filter(|bytes| *bytes > 0));
    wait_for("delivery", || (queued(port).0 >= count * one).then_some(()));
}

/// Sends datagrams in as many batches as they need; all must leave.
pub fn send_all(engine: &mut dyn Engine, to: Option<SocketAddr>, datagrams: &[Vec<u8>]) {
    let mut rest = datagrams;
    while !rest.is_empty() {
        let mut batch = engine.reserve(rest.len());
        for bytes in rest {
            let fill = |frame: &mut [u8]| {
                frame[..bytes.len()].copy_from_slice(bytes);
                bytes.len()
            };
            if !batch.push(P0, to, fill) {
                break;
            }
        }
        let pushed = batch.len();
        assert!(pushed > 0, "an engine lends at least one frame");
        assert_eq!(batch.send(soon()).expect("the port lives"), pushed);
        rest = &rest[pushed..];
    }
}

/// One received datagram, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    pub port: PortIndex,
    pub source: SocketAddr,
    pub arrived: Option<MonoNs>,
    pub bytes: Vec<u8>,
    pub truncated: bool,
}

/// Receives `count` datagrams, or what came before the wait ran out.
pub fn recv_some(engine: &mut dyn Engine, count: usize) -> Vec<Seen> {
    let mut seen = Vec::new();
    let wait = soon();
    while seen.len() < count {
        let batch = engine.recv(wait).expect("the port lives");
        if batch.is_empty() {
            break;
        }
        seen.extend(batch.iter().map(|d| Seen {
            port: d.port,
            source: d.source,
            arrived: d.arrived,
            bytes: d.bytes.to_vec(),
            truncated: d.truncated,
        }));
    }
    seen
}

/// Datagrams that say their number.
pub fn numbered(range: std::ops::Range<u32>) -> Vec<Vec<u8>> {
    range.map(|n| n.to_be_bytes().to_vec()).collect()
}

pub fn numbers(seen: &[Seen]) -> Vec<u32> {
    seen.iter().map(|s| u32::from_be_bytes(s.bytes[..].try_into().expect("four bytes"))).collect()
}

/// Leaves the calling thread these capabilities and no others, for good.
pub fn keep_capabilities(kept: CapabilitySet) {
    let sets = CapabilitySets { effective: kept, permitted: kept, inheritable: CapabilitySet::empty() };
    set_capabilities(None, sets).expect("it has them");
}

/// Runs `test` of this binary again in a fresh network namespace, where `setup` (a shell script) has been run; `true`
/// inside it. Outside, `false`: the test is done, or skipped where this host allows no namespaces.
pub fn inside_a_namespace(test: &str, setup: &str) -> bool {
    const MARK: &str = "TAKT_PACKET_TEST_INSIDE";
    if std::env::var(MARK).as_deref() == Ok(test) {
        return true;
    }
    let can = Command::new("unshare").args(["--user", "--map-root-user", "--net", "sh", "-c", setup]).output();
    if !can.as_ref().is_ok_and(|out| out.status.success()) {
        takt_testing::skip(format!("no network namespace can be prepared here: {can:?}   (iproute2, user namespaces)"));
        return false;
    }
    let exe = std::env::current_exe().expect("this binary");
    let script = format!("{setup}\nexec \"$0\" --exact {test} --nocapture");
    let run = Command::new("unshare")
        .args(["--user", "--map-root-user", "--net", "sh", "-ec", &script])
        .arg(exe)
        .env(MARK, test)
        .output()
        .expect("it ran a moment ago");
    let said = String::from_utf8_lossy(&run.stdout) + String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "in the namespace, {}:\n{said}", run.status);
    assert!(said.contains("1 passed"), "the test is called {test}:\n{said}");
    false
}
