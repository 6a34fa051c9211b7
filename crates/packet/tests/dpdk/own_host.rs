//! Devices that are the engines' alone: a tap, where they are a host of their own, and an interface by AF_XDP.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};

use takt_packet::{
    Config, DpdkDevice, Engine, EngineError, EngineKind, FramePath, Missing, PortIndex, PortSpec, Refusal, Wait, open,
};

use crate::common::{send_in_turn, spec};
use crate::support::far::{over_a_cable, shell, there};
use crate::support::{self, P0, addr, interface, numbered, numbers, recv_some, send_all, soon, stranger, unconnected};

/// An engine at the other end of a new tap, and the kernel at this one.
fn over_a_tap(ports: Vec<PortSpec>) -> Box<dyn Engine> {
    let kind: EngineKind = "dpdk:tap@10.97.0.2/24".parse().unwrap();
    let engine = open(kind, &Config::new(ports)).unwrap_or_else(|error| panic!("{error} {error:?}"));
    shell("ip addr add 10.97.0.1/24 dev dtap0; ip link set dtap0 up");
    shell("ethtool -K dtap0 tx off >/dev/null 2>&1 || true");
    engine
}

fn any_port() -> PortSpec {
    PortSpec { bind: (Ipv4Addr::UNSPECIFIED, 0).into(), peer: None }
}

/// Frames that engines have sent over the tap.
fn frames_over_the_tap() -> u64 {
    let table = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    let line = table.lines().find_map(|line| line.trim().strip_prefix("dtap0:")).expect("the tap");
    line.split_whitespace().nth(1).and_then(|count| count.parse().ok()).expect("a number")
}

#[test]
fn a_host_of_its_own_finds_neighbours_and_is_found() {
    if !over_a_cable("own_host::a_host_of_its_own_finds_neighbours_and_is_found") {
        return;
    }
    let mut engine = over_a_tap(vec![any_port(), PortSpec { bind: "10.97.0.2:4000".parse().unwrap(), peer: None }]);
    assert!(matches!(engine.limits().path, FramePath::Dpdk { device: DpdkDevice::Tap(_), .. }));
    assert_eq!(engine.local(PortIndex(1)), Some("10.97.0.2:4000".parse().unwrap()));
    let first = addr(&*engine, 0);
    assert!(first.ip() == Ipv4Addr::new(10, 97, 0, 2) && first.port() >= 49_152, "{first}");
    let kernel = UdpSocket::bind("10.97.0.1:0").unwrap();
    kernel.set_read_timeout(Some(takt_testing::HANG)).unwrap();
    // It sends the request of ARP.
    send_all(&mut *engine, Some(kernel.local_addr().unwrap()), &numbered(0..40));
    let mut bytes = [0; 9];
    for n in 0..40_u32 {
        let (len, from) = kernel.recv_from(&mut bytes).unwrap();
        assert_eq!((len, from, u32::from_be_bytes(bytes[..4].try_into().unwrap())), (4, first, n));
    }
    // It answers one.
    shell("ip neigh flush dev dtap0");
    kernel.send_to(b"two", "10.97.0.2:4000").unwrap();
    let seen = recv_some(&mut *engine, 1);
    assert_eq!(
        (seen[0].port, &seen[0].bytes[..], seen[0].source),
        (PortIndex(1), &b"two"[..], kernel.local_addr().unwrap())
    );
    // Nobody listens there.
    let nobody: SocketAddr = "10.97.0.1:9".parse().unwrap();
    send_all(&mut *engine, Some(nobody), &numbered(0..1));
    assert!(engine.recv(soon()).unwrap().is_empty());
    assert_eq!(engine.refused(), Some(Refusal { port: P0, to: nobody }));
}

#[test]
fn two_engines_are_one_host_of_their_own() {
    if !over_a_cable("own_host::two_engines_are_one_host_of_their_own") {
        return;
    }
    let mut first = over_a_tap(vec![any_port()]);
    let kind: EngineKind = "dpdk:tap@10.97.0.2/24".parse().unwrap();
    let port = || PortSpec { bind: "10.97.0.2:4000".parse().unwrap(), peer: None };
    let mut second = open(kind, &Config::new(vec![port(), any_port()])).unwrap();
    assert!(matches!(open(kind, &Config::new(vec![port()])), Err(EngineError::PortInUse { .. })));
    let ports = [addr(&*first, 0), addr(&*second, 0), addr(&*second, 1)];
    assert!(ports[0] != ports[2] && ports[1].port() == 4000, "{ports:?}");

    // The kernel sends one request for both, and gets one reply.
    let kernel = UdpSocket::bind("10.97.0.1:0").unwrap();
    kernel.set_read_timeout(Some(takt_testing::HANG)).unwrap();
    let before = frames_over_the_tap();
    send_in_turn(&kernel, &ports, 0..50);
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(numbers(&recv_some(&mut *first, 50)), (0..50).collect::<Vec<_>>()));
        let seen = recv_some(&mut *second, 100);
        let of = |port: u8| seen.iter().filter(|seen| seen.port == PortIndex(port)).cloned().collect::<Vec<_>>();
        for port in 0..2 {
            assert_eq!(numbers(&of(port)), (0..50).collect::<Vec<_>>());
        }
    });
    assert_eq!(frames_over_the_tap() - before, 1);

    // An answer reaches the engine it is for, also if the other takes it from the driver.
    let nobody: SocketAddr = "10.97.0.1:9".parse().unwrap();
    send_all(&mut *first, Some(nobody), &numbered(0..1));
    kernel.send_to(&[0, 0, 0, 7], ports[1]).unwrap();
    assert_eq!(numbers(&recv_some(&mut *second, 1)), [7]);
    assert_eq!(second.refused(), None);
    assert!(first.recv(Wait::Poll).unwrap().is_empty());
    assert_eq!(first.refused(), Some(Refusal { port: P0, to: nobody }));

    // The tap stays as long as one of them.
    drop(first);
    kernel.send_to(&[0, 0, 0, 8], ports[1]).unwrap();
    assert_eq!(numbers(&recv_some(&mut *second, 1)), [8]);
    drop(second);
    assert!(UdpSocket::bind("10.97.0.1:0").is_err(), "its address has gone with it");
}

#[test]
fn a_silent_neighbour_of_a_host_of_its_own_is_given_up() {
    if !over_a_cable("own_host::a_silent_neighbour_of_a_host_of_its_own_is_given_up") {
        return;
    }
    let mut engine = over_a_tap(vec![any_port()]);
    let kernel = UdpSocket::bind("10.97.0.1:0").unwrap();
    kernel.set_read_timeout(Some(takt_testing::HANG)).unwrap();
    interface::silent_neighbour(&mut *engine, &kernel, "10.97.0.77:9".parse().unwrap());
}

#[test]
fn a_host_of_its_own_refuses_what_is_not_its() {
    if !over_a_cable("own_host::a_host_of_its_own_refuses_what_is_not_its") {
        return;
    }
    let kind: EngineKind = "dpdk:tap@10.97.0.2/24".parse().unwrap();
    let other = open(kind, &spec("10.97.0.3:7"));
    assert!(matches!(other, Err(EngineError::NotLocal { .. })));
    assert_eq!(interface::missing(kind, &spec("[::1]:7")), Missing::Ipv6);
    let twice = PortSpec { bind: "10.97.0.2:7".parse().unwrap(), peer: None };
    assert!(matches!(open(kind, &Config::new(vec![twice; 2])), Err(EngineError::PortInUse { .. })));
}

/// An engine that is alone with its device knows of all that it has lost.
fn counts_what_finds_its_ring_full(engine: &mut dyn Engine) {
    const SENT: u64 = 20_000;
    let (from, to) = (stranger(), addr(engine, 0));
    for _ in 0..SENT {
        from.send_to(&[1; 100], to).unwrap();
    }
    let mut received = 0;
    let dropped = takt_testing::wait_for("all of them to be received or dropped", || {
        while let n @ 1.. = engine.recv(Wait::Poll).unwrap().len() as u64 {
            received += n;
        }
        engine.counters().receive_buffer_drops.filter(|dropped| received + dropped >= SENT)
    });
    // A frame that was for nobody (IPv6 has some) may have found the ring full, too.
    assert!(received < SENT && (SENT..SENT + 100).contains(&(received + dropped)), "{received} {dropped}");
}

#[test]
fn two_silent_neighbours_of_a_host_of_its_own_are_given_up() {
    if !over_a_cable("own_host::two_silent_neighbours_of_a_host_of_its_own_are_given_up") {
        return;
    }
    let mut engine = over_a_tap(vec![any_port()]);
    let before = frames_over_the_tap();
    interface::silent_in_turn(&mut *engine, ["10.97.0.77:9".parse().unwrap(), "10.97.0.78:9".parse().unwrap()]);
    let requests = frames_over_the_tap() - before;
    // Three each an attempt; the first to be given up may be sought again meanwhile.
    assert!((6..=12).contains(&requests), "{requests}");
}

#[test]
fn af_xdp_has_the_interface_for_itself_and_gives_it_back() {
    if !over_a_cable("own_host::af_xdp_has_the_interface_for_itself_and_gives_it_back") {
        return;
    }
    let kind: EngineKind = "dpdk:af_xdp".parse().unwrap();
    let mut engine = open(kind, &unconnected(2)).unwrap_or_else(|error| panic!("{error} {error:?}"));
    assert!(matches!(engine.limits().path, FramePath::Dpdk { device: DpdkDevice::AfXdp, .. }));
    let (peer, nobody) = (stranger(), support::nobody());
    for round in 0..20 {
        let range = round * 50..round * 50 + 50;
        send_all(&mut *engine, Some(peer.local_addr().unwrap()), &numbered(range.clone()));
        let mut bytes = [0; 9];
        for n in range.clone() {
            assert_eq!(peer.recv(&mut bytes).unwrap(), 4);
            assert_eq!(u32::from_be_bytes(bytes[..4].try_into().unwrap()), n);
            peer.send_to(&bytes[..4], addr(&*engine, 1)).unwrap();
        }
        let seen = recv_some(&mut *engine, 50);
        assert!(seen.iter().all(|seen| seen.port == PortIndex(1)));
        assert_eq!(numbers(&seen), range.collect::<Vec<_>>());
    }
    send_all(&mut *engine, Some(nobody), &numbered(0..1));
    assert!(engine.recv(soon()).unwrap().is_empty());
    assert_eq!(engine.refused(), Some(Refusal { port: P0, to: nobody }));
    assert_eq!(engine.counters().receive_buffer_drops, Some(0));
    counts_what_finds_its_ring_full(&mut *engine);
    drop(engine);
    there(|| shell("ping -c 1 -W 5 10.98.0.1 >/dev/null"));
    // The driver of DPDK 22.11 never lets go of the queue.
    match open(kind, &unconnected(1)) {
        Ok(_) => {}
        Err(EngineError::Missing { missing, .. }) => {
            assert_eq!(missing, Missing::DpdkOnce { interface: "near".to_owned() });
        }
        Err(error) => panic!("{error:?}"),
    }
}
