//! What goes wrong under engine `dpdk` in particular: the interface, its neighbours, permissions, what stays behind. And what it
//! does over the devices that are the engine's alone. Each test runs over a cable of its own (`support/far.rs`).
#![cfg(feature = "dpdk")]

mod support;

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::Command;
use std::time::Duration;

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::{CapabilitySet, CapabilitySets, set_capabilities};
use support::far::{over_a_cable, shell, there};
use support::interface::{self, memory_kib};
use support::{P0, addr, any, connected, dpdk, numbered, numbers, recv_some, send_all, soon, stranger, unconnected};
use takt_packet::{
    Config, DpdkDevice, Engine, EngineError, EngineKind, FramePath, Missing, PortIndex, PortSpec, Refusal, Wait, open,
};

const KIND: EngineKind = EngineKind::Dpdk(DpdkDevice::AfPacket);

/// What the engine lacks for a configuration.
fn missing(config: &Config) -> Missing {
    interface::missing(KIND, config)
}

fn spec(bind: &str) -> Config {
    Config::new(vec![PortSpec { bind: bind.parse().unwrap(), peer: None }])
}

fn huge_pages_free() -> u64 {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("HugePages_Free:"));
    line.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
}

#[test]
fn the_path_is_named_with_its_pages_and_the_callers_thread_stays_on_its_cores() {
    if !over_a_cable("the_path_is_named_with_its_pages_and_the_callers_thread_stays_on_its_cores") {
        return;
    }
    shell("ip link set near promisc on");
    let cores = takt_host::affinity::own_cpus();
    let free = huge_pages_free();
    let engine = dpdk(&unconnected(1));
    let huge_pages = match engine.limits().path {
        FramePath::Dpdk { device: DpdkDevice::AfPacket, huge_pages } => huge_pages,
        other => panic!("{other:?}"),
    };
    assert!(engine.limits().path.words().starts_with("DPDK net_af_packet, "));
    // Pages of two megabytes, of which it wants 64 MiB.
    assert!(free > 0 || !huge_pages, "{free} free");
    assert_eq!(takt_host::affinity::own_cpus(), cores);
    let link = Command::new("ip").args(["link", "show", "near"]).output().expect("iproute2");
    assert!(String::from_utf8_lossy(&link.stdout).contains("PROMISC"), "the interface stays as it was");
    assert_eq!((engine.limits().stamps, engine.limits().max_payload_bytes), (true, 1472));
}

#[test]
fn what_is_missing_is_said_with_the_fix() {
    if !over_a_cable("what_is_missing_is_said_with_the_fix") {
        return;
    }
    assert_eq!(missing(&spec("0.0.0.0:0")), Missing::OneAddress);
    assert_eq!(missing(&spec("[::1]:0")), Missing::Ipv6);
    assert!(matches!(open(KIND, &spec("10.98.0.9:0")), Err(EngineError::NotLocal { .. })));
    let jumbo = missing(&Config { max_payload_bytes: 1473, ..unconnected(1) });
    assert_eq!(jumbo, Missing::Mtu { interface: "near".to_owned(), mtu: 1500, need: 1501 });
    let giant = missing(&Config { max_payload_bytes: 40_000, ..unconnected(1) });
    assert!(matches!(giant, Missing::ShortFrames { payload: 40_000, .. }), "{giant}");
    let asked = Config { max_payload_bytes: 9000, shorter_payloads: true, ..unconnected(1) };
    assert_eq!(dpdk(&asked).limits().max_payload_bytes, 1472);

    let first = dpdk(&unconnected(1));
    let other = interface::missing("dpdk:af_xdp".parse().unwrap(), &unconnected(1));
    assert_eq!(other, Missing::DpdkInterface { interface: "near".to_owned() });
    let long = missing(&Config { max_payload_bytes: 1473, ..unconnected(1) });
    assert_eq!(long, jumbo, "as where it would be the first");
    let taken = open(KIND, &Config::new(vec![PortSpec { bind: addr(&*first, 0), peer: None }]));
    assert!(matches!(taken, Err(EngineError::PortInUse { .. })));
    drop(first);
    drop(dpdk(&unconnected(1)));

    let card: EngineKind = "dpdk:0000:ff:1f.7@10.0.0.1/24".parse().unwrap();
    assert_eq!(interface::missing(card, &spec("0.0.0.0:0")), Missing::DpdkPci);

    shell("ip link set near down");
    assert_eq!(missing(&unconnected(1)), Missing::InterfaceUp { interface: "near".to_owned() });
}

#[test]
fn a_card_that_is_not_there_or_has_no_huge_pages_is_told() {
    if !over_a_cable("a_card_that_is_not_there_or_has_no_huge_pages_is_told") {
        return;
    }
    let card: EngineKind = "dpdk:0000:ff:1f.7@10.0.0.1/24".parse().unwrap();
    let said = interface::missing(card, &spec("0.0.0.0:0"));
    let told = match &said {
        Missing::HugePages => huge_pages_free() < 32,
        Missing::DpdkDevice { device, .. } => device == "0000:ff:1f.7@10.0.0.1/24",
        // A container may hide the bus.
        Missing::DpdkStart { .. } => true,
        _ => false,
    };
    assert!(told, "{said:?}");
}

#[test]
fn without_privileges_it_says_which() {
    if !over_a_cable("without_privileges_it_says_which") {
        return;
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none }).unwrap();
    assert_eq!(missing(&unconnected(1)), Missing::PacketSockets);
    for name in ["dpdk:af_xdp", "dpdk:tap@10.97.0.2/24"] {
        let said = interface::missing(name.parse().unwrap(), &unconnected_of(name)).to_string();
        assert!(said.contains("takes CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF"), "{said}");
    }
}

#[test]
fn two_capabilities_and_an_ordinary_limit_of_locked_memory_are_enough() {
    if !over_a_cable("two_capabilities_and_an_ordinary_limit_of_locked_memory_are_enough") {
        return;
    }
    let limit = |bytes| Rlimit { current: Some(bytes), maximum: Some(bytes) };
    setrlimit(Resource::Memlock, limit(8 << 20)).unwrap();
    let (two, none) = (CapabilitySet::NET_RAW | CapabilitySet::NET_ADMIN, CapabilitySet::empty());
    set_capabilities(None, CapabilitySets { effective: two, permitted: two, inheritable: none }).unwrap();
    let mut server = dpdk(&unconnected(1));
    stranger().send_to(b"takt?", addr(&*server, 0)).unwrap();
    assert_eq!(recv_some(&mut *server, 1)[0].bytes, b"takt?");
    drop(server);
    setrlimit(Resource::Memlock, limit(1 << 20)).unwrap();
    assert_eq!(missing(&unconnected(1)), Missing::LockedMemory);
}

fn unconnected_of(name: &str) -> Config {
    if name.contains('@') { spec("0.0.0.0:0") } else { unconnected(1) }
}

#[test]
fn a_port_is_held_and_the_kernel_neither_answers_for_it_nor_keeps_its_datagrams() {
    if !over_a_cable("a_port_is_held_and_the_kernel_neither_answers_for_it_nor_keeps_its_datagrams") {
        return;
    }
    let mut server = dpdk(&unconnected(1));
    let at = addr(&*server, 0);
    assert_eq!(UdpSocket::bind(at).map(drop).unwrap_err().kind(), std::io::ErrorKind::AddrInUse);
    let from = stranger();
    from.connect(at).unwrap();
    for n in 0..100_u32 {
        from.send(&n.to_be_bytes()).expect("nobody says that the port is closed");
    }
    assert_eq!(numbers(&recv_some(&mut *server, 100)), (0..100).collect::<Vec<_>>());
    assert_eq!(support::queued(at).0, 0, "the kernel's socket is given none");
    // Other ports and protocols stay the kernel's.
    let own = UdpSocket::bind(any()).unwrap();
    own.set_read_timeout(Some(takt_testing::HANG)).unwrap();
    stranger().send_to(b"for the kernel", own.local_addr().unwrap()).unwrap();
    assert_eq!(own.recv(&mut [0; 99]).unwrap(), 14);
    there(|| shell("ping -c 1 -W 5 10.98.0.1 >/dev/null"));
    assert!(server.recv(Wait::Poll).unwrap().is_empty());
    assert_eq!((server.counters().damaged_datagrams, server.counters().receive_buffer_drops), (0, Some(0)));
}

#[test]
fn an_interface_that_goes_down_and_up_again_goes_on() {
    if !over_a_cable("an_interface_that_goes_down_and_up_again_goes_on") {
        return;
    }
    interface::goes_down_and_up_again(&mut *dpdk(&unconnected(1)));
}

#[test]
fn an_interface_that_is_removed_ends_the_engine_with_its_name() {
    if !over_a_cable("an_interface_that_is_removed_ends_the_engine_with_its_name") {
        return;
    }
    let sent = interface::is_removed(&mut *dpdk(&unconnected(1)));
    assert!(matches!(sent, Err(EngineError::InterfaceGone { .. })));
}

#[test]
fn a_sender_that_leaves_checksums_to_its_device_is_told_apart_from_damage() {
    if !over_a_cable("a_sender_that_leaves_checksums_to_its_device_is_told_apart_from_damage") {
        return;
    }
    interface::unfinished_checksums(&mut *dpdk(&unconnected(1)));
}

#[test]
fn a_neighbour_that_does_not_answer_is_counted_and_takes_nothing_from_the_others() {
    if !over_a_cable("a_neighbour_that_does_not_answer_is_counted_and_takes_nothing_from_the_others") {
        return;
    }
    interface::silent_neighbour(&mut *dpdk(&unconnected(1)), &stranger(), "10.98.0.77:9".parse().unwrap());
}

#[test]
fn a_ring_that_is_written_around_many_times_loses_nothing_that_was_taken() {
    if !over_a_cable("a_ring_that_is_written_around_many_times_loses_nothing_that_was_taken") {
        return;
    }
    let mut server = dpdk(&Config { recv_buffer_bytes: 64 << 10, ..unconnected(1) });
    let sink = stranger();
    let (to, mut sent) = (sink.local_addr().unwrap(), 0_u32);
    let mut bytes = [0; 9];
    while sent < 20_000 {
        send_all(&mut *server, Some(to), &numbered(sent..sent + 50));
        for n in sent..sent + 50 {
            assert_eq!(sink.recv(&mut bytes).expect("it comes"), 4);
            assert_eq!(u32::from_be_bytes(bytes[..4].try_into().unwrap()), n);
        }
        sent += 50;
    }
    assert_eq!(server.counters().sent_datagrams, 20_000);
}

#[test]
fn frames_of_nine_thousand_bytes_pass_where_the_interface_takes_them() {
    if !over_a_cable("frames_of_nine_thousand_bytes_pass_where_the_interface_takes_them") {
        return;
    }
    shell("ip link set near mtu 9000");
    there(|| shell("ip link set far mtu 9000"));
    let mut server = dpdk(&Config { max_payload_bytes: 8972, ..unconnected(1) });
    let peer = stranger();
    let payload: Vec<u8> = (0..8972_u32).map(|n| (n % 251) as u8).collect();
    for _ in 0..200 {
        peer.send_to(&payload, addr(&*server, 0)).unwrap();
        assert_eq!(recv_some(&mut *server, 1)[0].bytes, payload);
        send_all(&mut *server, Some(peer.local_addr().unwrap()), std::slice::from_ref(&payload));
        let mut bytes = vec![0; 9999];
        assert_eq!((peer.recv(&mut bytes).unwrap(), &bytes[..8972]), (8972, &payload[..]));
    }
}

#[test]
fn an_engine_that_is_opened_and_closed_again_and_again_leaves_nothing() {
    if !over_a_cable("an_engine_that_is_opened_and_closed_again_and_again_leaves_nothing") {
        return;
    }
    let count = |of: &str| std::fs::read_dir(of).unwrap().count();
    let memory = || (memory_kib("VmSize:"), memory_kib("VmRSS:"), memory_kib("HugetlbPages:"));
    let packet_sockets = || std::fs::read_to_string("/proc/net/packet").unwrap().lines().count();
    let before_all = packet_sockets();
    drop(dpdk(&connected((support::far::far().unwrap(), 9).into())));
    let state = || (count("/proc/self/fd"), count("/proc/self/task"), packet_sockets());
    let (before, (size, resident, huge)) = (state(), memory());
    for n in 0..20 {
        let mut engine = dpdk(&unconnected(1 + n % 3));
        stranger().send_to(b"in its ring", addr(&*engine, 0)).unwrap();
        if n % 2 == 0 {
            assert_eq!(recv_some(&mut *engine, 1).len(), 1);
        }
        if n % 3 == 0 {
            // Its frame lies in its lane when it goes, before or after the other.
            let mut other = dpdk(&unconnected(1));
            stranger().send_to(b"in its lane", addr(&*engine, 0)).unwrap();
            stranger().send_to(b"behind", addr(&*other, 0)).unwrap();
            assert_eq!(recv_some(&mut *other, 1).len(), 1);
            if n % 2 == 0 {
                drop(engine);
                drop(other);
            }
        }
    }
    assert_eq!((state(), packet_sockets()), (before, before_all));
    // Each has some thirty megabytes of rings, and buffers.
    let (size_after, resident_after, huge_after) = memory();
    assert!(huge_after <= huge, "{huge} kB of huge pages before, {huge_after} kB after");
    assert!(size_after < size + 16 * 1024, "{size} kB before, {size_after} kB after");
    assert!(resident_after < resident + 8 * 1024, "{resident} kB before, {resident_after} kB after");
}

#[test]
fn who_polls_costs_no_call_and_who_waits_sleeps() {
    if !over_a_cable("who_polls_costs_no_call_and_who_waits_sleeps") {
        return;
    }
    let mut server = dpdk(&unconnected(2));
    let to = addr(&*server, 1);
    let sender = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(300));
        stranger().send_to(b"now", to).unwrap();
    });
    let before = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    assert_eq!(server.recv(Wait::Until(takt_base::MonoNs::NEVER)).unwrap().len(), 1);
    let after = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let spent_ns = (after.tv_sec - before.tv_sec) * 1_000_000_000 + after.tv_nsec - before.tv_nsec;
    // A few looks at the interface; a thread that spun would have spent a hundred times as much.
    assert!(spent_ns < 30_000_000, "{spent_ns} ns");
    sender.join().unwrap();
}

/// Has the stranger send numbered datagrams to each of these in turn.
fn send_in_turn(from: &UdpSocket, ports: &[SocketAddr], range: std::ops::Range<u32>) {
    for n in range {
        for port in ports {
            from.send_to(&n.to_be_bytes(), port).unwrap();
        }
    }
}

#[test]
fn two_engines_on_two_threads_share_an_interface_and_each_has_its_own() {
    if !over_a_cable("two_engines_on_two_threads_share_an_interface_and_each_has_its_own") {
        return;
    }
    const ROUNDS: u32 = 60;
    const EACH: u32 = 100;
    let mut engines = [dpdk(&unconnected(1)), dpdk(&unconnected(1))];
    let ports = [addr(&*engines[0], 0), addr(&*engines[1], 0)];
    let (from, sink) = (stranger(), stranger());
    let to = sink.local_addr().unwrap();
    std::thread::scope(|scope| {
        // A round begins when all of the one before has come both ways: a ring or a buffer that is full is another test's.
        let (done, rounds) = std::sync::mpsc::channel();
        for engine in &mut engines {
            let done = done.clone();
            scope.spawn(move || {
                for round in 0..ROUNDS {
                    let range = round * EACH..(round + 1) * EACH;
                    assert_eq!(numbers(&recv_some(&mut **engine, EACH as usize)), range.clone().collect::<Vec<_>>());
                    send_all(&mut **engine, Some(to), &numbered(range));
                    done.send(()).unwrap();
                }
            });
        }
        drop(done);
        for round in 0..ROUNDS {
            send_in_turn(&from, &ports, round * EACH..(round + 1) * EACH);
            let mut next = [round * EACH; 2];
            let mut bytes = [0; 9];
            for _ in 0..2 * EACH {
                let (len, source) = sink.recv_from(&mut bytes).expect("it comes");
                let engine = ports.iter().position(|port| *port == source).expect("of one of them");
                assert_eq!((len, &bytes[..4]), (4, &next[engine].to_be_bytes()[..]));
                next[engine] += 1;
            }
            (0..2).for_each(|_| rounds.recv().unwrap());
        }
    });
    for engine in &engines {
        let counters = engine.counters();
        let all = u64::from(ROUNDS * EACH);
        assert_eq!((counters.received_datagrams, counters.sent_datagrams), (all, all));
        assert_eq!((counters.receive_buffer_drops, counters.unsent_datagrams), (Some(0), 0));
    }
}

#[test]
fn an_engine_that_closes_takes_nothing_from_the_other() {
    if !over_a_cable("an_engine_that_closes_takes_nothing_from_the_other") {
        return;
    }
    let (mut stays, from) = (dpdk(&unconnected(1)), stranger());
    let at = addr(&*stays, 0);
    for round in 0..10 {
        let mut goes = dpdk(&unconnected(2));
        let gone = addr(&*goes, 1);
        send_in_turn(&from, &[at, gone], round * 100..round * 100 + 100);
        // Whoever looks, in either order, before or after the other has gone.
        if round % 2 == 0 {
            let seen = recv_some(&mut *goes, 100);
            assert_eq!(numbers(&seen), (round * 100..round * 100 + 100).collect::<Vec<_>>());
            assert!(seen.iter().all(|seen| seen.port == PortIndex(1)));
        }
        drop(goes);
        assert_eq!(numbers(&recv_some(&mut *stays, 100)), (round * 100..round * 100 + 100).collect::<Vec<_>>());
        // The port is free again, and what comes there is the kernel's.
        let again = UdpSocket::bind(gone).unwrap();
        again.set_read_timeout(Some(takt_testing::HANG)).unwrap();
        from.send_to(b"the kernel's", gone).unwrap();
        assert_eq!(again.recv(&mut [0; 99]).unwrap(), 12);
    }
    assert!(stays.recv(Wait::Poll).unwrap().is_empty());
    assert_eq!(stays.counters().receive_buffer_drops, Some(0));
}

#[test]
fn a_lane_that_is_full_drops_and_counts_for_its_own_engine() {
    if !over_a_cable("a_lane_that_is_full_drops_and_counts_for_its_own_engine") {
        return;
    }
    let (mut slow, mut other, from) = (dpdk(&unconnected(1)), dpdk(&unconnected(1)), stranger());
    // Fewer than the interface's ring holds, more than the lane does.
    send_in_turn(&from, &[addr(&*slow, 0)], 0..6000);
    send_in_turn(&from, &[addr(&*other, 0)], 7..8);
    assert_eq!(numbers(&recv_some(&mut *other, 1)), [7], "it has met all that came before");
    let drops = |engine: &dyn Engine| engine.counters().receive_buffer_drops;
    assert_eq!((drops(&*slow), drops(&*other)), (Some(6000 - 4096), Some(0)));
    assert_eq!(numbers(&recv_some(&mut *slow, 4096)), (0..4096).collect::<Vec<_>>());
    send_in_turn(&from, &[addr(&*slow, 0)], 5000..5001);
    assert_eq!(numbers(&recv_some(&mut *slow, 1)), [5000], "and goes on");
    // What the interface's own ring drops is somebody's, and nobody knows whose.
    send_in_turn(&from, &[addr(&*slow, 0)], 0..9000);
    assert_eq!((drops(&*slow), drops(&*other)), (None, None));
}

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

#[test]
fn a_host_of_its_own_finds_neighbours_and_is_found() {
    if !over_a_cable("a_host_of_its_own_finds_neighbours_and_is_found") {
        return;
    }
    let mut engine = over_a_tap(vec![any_port(), PortSpec { bind: "10.97.0.2:4000".parse().unwrap(), peer: None }]);
    assert!(matches!(engine.limits().path, FramePath::Dpdk { device: DpdkDevice::Tap(_), .. }));
    assert_eq!(engine.local(PortIndex(1)), Some("10.97.0.2:4000".parse().unwrap()));
    let first = addr(&*engine, 0);
    assert!(first.ip() == Ipv4Addr::new(10, 97, 0, 2) && first.port() >= 49_152, "{first}");
    let kernel = UdpSocket::bind("10.97.0.1:0").unwrap();
    kernel.set_read_timeout(Some(takt_testing::HANG)).unwrap();
    // It asks.
    send_all(&mut *engine, Some(kernel.local_addr().unwrap()), &numbered(0..40));
    let mut bytes = [0; 9];
    for n in 0..40_u32 {
        let (len, from) = kernel.recv_from(&mut bytes).unwrap();
        assert_eq!((len, from, u32::from_be_bytes(bytes[..4].try_into().unwrap())), (4, first, n));
    }
    // It is asked.
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

/// Frames that engines have sent over the tap.
fn frames_over_the_tap() -> u64 {
    let table = std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
    let line = table.lines().find_map(|line| line.trim().strip_prefix("dtap0:")).expect("the tap");
    line.split_whitespace().nth(1).and_then(|count| count.parse().ok()).expect("a number")
}

#[test]
fn two_engines_are_one_host_of_their_own() {
    if !over_a_cable("two_engines_are_one_host_of_their_own") {
        return;
    }
    let mut first = over_a_tap(vec![any_port()]);
    let kind: EngineKind = "dpdk:tap@10.97.0.2/24".parse().unwrap();
    let port = || PortSpec { bind: "10.97.0.2:4000".parse().unwrap(), peer: None };
    let mut second = open(kind, &Config::new(vec![port(), any_port()])).unwrap();
    assert!(matches!(open(kind, &Config::new(vec![port()])), Err(EngineError::PortInUse { .. })));
    let ports = [addr(&*first, 0), addr(&*second, 0), addr(&*second, 1)];
    assert!(ports[0] != ports[2] && ports[1].port() == 4000, "{ports:?}");

    // The kernel asks once for both, and is answered once.
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
    if !over_a_cable("a_silent_neighbour_of_a_host_of_its_own_is_given_up") {
        return;
    }
    let mut engine = over_a_tap(vec![any_port()]);
    let kernel = UdpSocket::bind("10.97.0.1:0").unwrap();
    kernel.set_read_timeout(Some(takt_testing::HANG)).unwrap();
    interface::silent_neighbour(&mut *engine, &kernel, "10.97.0.77:9".parse().unwrap());
}

#[test]
fn a_host_of_its_own_refuses_what_is_not_its() {
    if !over_a_cable("a_host_of_its_own_refuses_what_is_not_its") {
        return;
    }
    let kind: EngineKind = "dpdk:tap@10.97.0.2/24".parse().unwrap();
    let other = open(kind, &spec("10.97.0.3:7"));
    assert!(matches!(other, Err(EngineError::NotLocal { .. })));
    assert_eq!(interface::missing(kind, &spec("[::1]:7")), Missing::Ipv6);
    let twice = PortSpec { bind: "10.97.0.2:7".parse().unwrap(), peer: None };
    assert!(matches!(open(kind, &Config::new(vec![twice; 2])), Err(EngineError::PortInUse { .. })));
}

#[test]
fn af_xdp_has_the_interface_for_itself_and_gives_it_back() {
    if !over_a_cable("af_xdp_has_the_interface_for_itself_and_gives_it_back") {
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
