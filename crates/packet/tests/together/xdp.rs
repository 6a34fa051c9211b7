//! Failures under engine `xdp` in particular: the interface, its neighbours, permissions, the end of the process. Each
//! test runs over a cable of its own (`support/far.rs`).

use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::thread::CapabilitySet;
use takt_packet::{Config, Engine, EngineError, EngineKind, FramePath, Missing, PortSpec, Refusal, Wait, Way, open};
use takt_testing::wait_for;

use crate::support::far::{over_a_cable, over_a_jumbo_cable, shell, there};
use crate::support::interface::{self, descriptors, memory_kib, missing};
use crate::support::{
    self, P0, addr, any, connected, keep_capabilities, nobody, numbered, numbers, queued, recv_some, send_all, soon,
    stranger, unconnected, unconnected_far, xdp, xdp_transmitting,
};

const KINDS: [EngineKind; 2] = [EngineKind::XDP, EngineKind::XDP_GENERIC];

/// An engine of an interface that has just been let go: the kernel ends a program a moment later.
fn reopened(kind: EngineKind, config: &Config) -> Box<dyn Engine> {
    wait_for("an interface that nobody holds", || open(kind, config).ok())
}

fn programs() -> String {
    let out = Command::new("ip").args(["-details", "link", "show", "near"]).output().expect("iproute2");
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(said.contains("near"), "{said}");
    said
}

#[test]
fn the_path_is_named_and_the_program_ends_with_the_engine() {
    if !over_a_cable("xdp::the_path_is_named_and_the_program_ends_with_the_engine") {
        return;
    }
    for (kind, path) in [(EngineKind::XDP, FramePath::NativeXdp), (EngineKind::XDP_GENERIC, FramePath::GenericXdp)] {
        let engine = reopened(kind, &unconnected(1));
        assert_eq!(engine.limits().path, path);
        assert!(programs().contains("prog/xdp"), "{}", programs());
        drop(engine);
        wait_for("no program", || (!programs().contains("prog/xdp")).then_some(()));
    }
}

#[test]
fn a_process_that_is_killed_leaves_no_program() {
    const NAME: &str = "xdp::a_process_that_is_killed_leaves_no_program";
    if std::env::var_os("TAKT_PACKET_XDP_HOLD").is_some() {
        let engine =
            open(EngineKind::XDP, &Config::new(vec![PortSpec { bind: "10.98.0.1:0".parse().unwrap(), peer: None }]));
        let _held = engine.expect("the interface is free");
        loop {
            std::thread::sleep(Duration::from_secs(1));
        }
    }
    if !over_a_cable(NAME) {
        return;
    }
    let exe = std::env::current_exe().expect("this binary");
    let mut child = Command::new(exe)
        .args(["--exact", NAME])
        .env("TAKT_PACKET_XDP_HOLD", "1")
        .stdout(Stdio::null())
        .spawn()
        .expect("it runs");
    wait_for("the program of another process", || programs().contains("prog/xdp").then_some(()));
    let free = missing(EngineKind::XDP_GENERIC, &unconnected(1));
    assert_eq!(free, Missing::QueueFree { interface: "near".to_owned() });
    child.kill().expect("it is ours");
    child.wait().expect("it ends");
    wait_for("no program", || (!programs().contains("prog/xdp")).then_some(()));
    let mut engine = reopened(EngineKind::XDP, &unconnected(1));
    stranger().send_to(b"alive", addr(&*engine, 0)).unwrap();
    assert_eq!(recv_some(&mut *engine, 1).len(), 1);
}

#[test]
fn what_is_missing_is_reported_with_the_fix() {
    if !over_a_cable("xdp::what_is_missing_is_reported_with_the_fix") {
        return;
    }
    let spec = |bind: &str| Config::new(vec![PortSpec { bind: bind.parse().unwrap(), peer: None }]);
    for kind in KINDS {
        assert_eq!(missing(kind, &spec("0.0.0.0:0")), Missing::OneAddress);
        assert_eq!(missing(kind, &spec("[::1]:0")), Missing::Ipv6);
        assert!(matches!(open(kind, &spec("10.98.0.9:0")), Err(EngineError::NotLocal { .. })));
        let jumbo = missing(kind, &Config { max_payload_bytes: 1473, ..unconnected(1) });
        assert_eq!(jumbo, Missing::Mtu { interface: "near".to_owned(), mtu: 1500, need: 1501 });
        assert!(jumbo.to_string().ends_with("(run ip link set near mtu 1501)"), "{jumbo}");
        let giant = missing(kind, &Config { max_payload_bytes: 60_000, ..unconnected(1) });
        assert!(matches!(giant, Missing::ShortFrames { payload: 60_000, .. }), "{giant}");
    }
    // Loopback has no place for a program of its own; above it there is one.
    let native = missing(EngineKind::XDP, &spec("127.0.0.1:0"));
    assert!(matches!(&native, Missing::NativeLong { interface, mtu: 65_536, .. } if interface == "lo"), "{native}");
    assert!(native.to_string().contains("xdp-generic"), "{native}");
    assert_eq!(open(EngineKind::XDP_GENERIC, &spec("127.0.0.1:0")).unwrap().limits().path, FramePath::GenericXdp);

    let first = open(EngineKind::XDP, &unconnected(1)).unwrap();
    let second = missing(EngineKind::XDP, &unconnected(1));
    assert_eq!(second, Missing::QueueFree { interface: "near".to_owned() });
    let taken = open(EngineKind::XDP, &Config::new(vec![PortSpec { bind: addr(&*first, 0), peer: None }]));
    assert!(matches!(taken, Err(EngineError::PortInUse { .. })));
    drop(first);

    shell("ip link set near down");
    assert_eq!(missing(EngineKind::XDP, &unconnected(1)), Missing::InterfaceUp { interface: "near".to_owned() });
}

#[test]
fn without_privileges_it_says_which() {
    if !over_a_cable("xdp::without_privileges_it_says_which") {
        return;
    }
    keep_capabilities(CapabilitySet::empty());
    for kind in KINDS {
        assert_eq!(missing(kind, &unconnected(1)), Missing::XdpPermission);
    }
    let auto = open(EngineKind::Auto, &unconnected(1)).expect("there always is one");
    let choice = auto.choice().expect("it was chosen");
    assert_eq!(choice.kind, EngineKind::Mmsg);
    assert!(choice.to_string().starts_with("mmsg; not xdp: this process may not load XDP programs"), "{choice}");
}

#[test]
fn the_choice_is_the_first_that_opens() {
    if !over_a_cable("xdp::the_choice_is_the_first_that_opens") {
        return;
    }
    let over_cable = open(EngineKind::Auto, &unconnected(1)).unwrap();
    assert_eq!(over_cable.choice().map(ToString::to_string).as_deref(), Some("xdp"));
    assert_eq!(over_cable.limits().path, FramePath::NativeXdp);
    let lo = Config::new(vec![PortSpec { bind: "127.0.0.1:0".parse().unwrap(), peer: None }]);
    let on_loopback = open(EngineKind::Auto, &lo).unwrap();
    let choice = on_loopback.choice().expect("it was chosen").to_string();
    assert!(choice.starts_with("mmsg; not xdp: the driver of lo runs no XDP program"), "{choice}");
    assert_eq!(on_loopback.limits().path, FramePath::Sockets);
    assert!(open(EngineKind::Mmsg, &lo).unwrap().choice().is_none());
    let long = open(EngineKind::Auto, &Config { max_payload_bytes: 8000, ..unconnected(1) }).unwrap();
    let choice = long.choice().expect("it was chosen").to_string();
    assert_eq!(choice, "mmsg; not xdp: datagrams of 8000 bytes take several of its chunks");
    // A fault of a port is one for all engines.
    let taken = addr(&*on_loopback, 0);
    let again = open(EngineKind::Auto, &Config::new(vec![PortSpec { bind: taken, peer: None }]));
    assert!(matches!(again, Err(EngineError::PortInUse { addr }) if addr == taken));
}

#[test]
fn on_loopback_this_host_is_the_sender() {
    if !over_a_cable("xdp::on_loopback_this_host_is_the_sender") {
        return;
    }
    let ports = ["127.0.0.1:0", "127.0.0.2:0"].map(|bind| PortSpec { bind: bind.parse().unwrap(), peer: None });
    let mut engine = open(EngineKind::XDP_GENERIC, &Config::new(ports.to_vec())).expect("loopback is there");
    let (from, to) = (addr(&*engine, 0), addr(&*engine, 1));
    send_all(&mut *engine, Some(to), &numbered(0..3));
    let seen = recv_some(&mut *engine, 3);
    assert_eq!(numbers(&seen), [0, 1, 2]);
    assert!(seen.iter().all(|seen| seen.source == from));
    assert_eq!(engine.counters().martian_datagrams, 0);
}

#[test]
fn an_interface_that_goes_down_and_up_again_goes_on() {
    if !over_a_cable("xdp::an_interface_that_goes_down_and_up_again_goes_on") {
        return;
    }
    KINDS.into_iter().for_each(|kind| interface::goes_down_and_up_again(&mut *reopened(kind, &unconnected(1))));
}

#[test]
fn an_interface_that_is_removed_ends_the_engine_with_its_name() {
    if !over_a_cable("xdp::an_interface_that_is_removed_ends_the_engine_with_its_name") {
        return;
    }
    let sent = interface::is_removed(&mut *xdp(&unconnected(1)));
    assert!(matches!(&sent, Err(EngineError::InterfaceGone { .. }) | Ok(1)), "{sent:?}");
}

#[test]
fn an_interface_that_is_removed_ends_an_engine_that_transmits_with_its_name() {
    if !over_a_cable("xdp::an_interface_that_is_removed_ends_an_engine_that_transmits_with_its_name") {
        return;
    }
    let sent = interface::is_removed(&mut *xdp_transmitting(&unconnected(1)));
    assert!(matches!(&sent, Err(EngineError::InterfaceGone { .. })), "{sent:?}");
}

/// Removes the interface of an engine that only sends; it has paused for so long before it sends again.
fn removed_under_a_sender(pause: Duration) {
    let mut sender = xdp_transmitting(&unconnected(1));
    let peer = stranger().local_addr().unwrap();
    send_all(&mut *sender, Some(peer), &numbered(0..3));
    shell("ip link del near");
    std::thread::sleep(pause);
    let mut batch = sender.reserve(1);
    batch.push(P0, Some(peer), |_| 4);
    let sent = batch.send(soon());
    assert!(matches!(&sent, Err(EngineError::InterfaceGone { interface, .. }) if interface == "near"), "{sent:?}");
    assert_eq!(sender.counters().undeliverable_datagrams, 0);
}

#[test]
fn a_sender_is_told_that_its_interface_is_removed() {
    if over_a_cable("xdp::a_sender_is_told_that_its_interface_is_removed") {
        removed_under_a_sender(Duration::ZERO);
    }
}

#[test]
fn a_sender_that_has_paused_is_told_that_its_interface_is_removed() {
    // Longer than the hardware address of its peer is remembered: it has to look for a way again.
    if over_a_cable("xdp::a_sender_that_has_paused_is_told_that_its_interface_is_removed") {
        removed_under_a_sender(Duration::from_millis(1100));
    }
}

#[test]
fn fragments_and_datagrams_of_this_host_take_no_room_from_refusals() {
    if !over_a_cable("xdp::fragments_and_datagrams_of_this_host_take_no_room_from_refusals") {
        return;
    }
    for (kind, way) in
        [(EngineKind::XDP, Way::Both), (EngineKind::XDP, Way::Receive), (EngineKind::XDP_GENERIC, Way::Both)]
    {
        let mut server = reopened(kind, &Config { way, ..unconnected(1) });
        let (near, from, closed) = (addr(&*server, 0), stranger(), nobody());
        let own = std::net::UdpSocket::bind(any()).unwrap();
        // Three times what a kernel socket of an engine holds, and what fits between. Both come to that socket: the kernel puts
        // fragments together, and what this host sends itself passes no interface.
        for (sender, count, bytes) in [(&from, 40, 20_000), (&own, 1000, 1)] {
            for _ in 0..count {
                sender.send_to(&vec![7; bytes], near).unwrap();
            }
        }
        from.send_to(b"behind them", near).unwrap();
        assert_eq!(recv_some(&mut *server, 1)[0].bytes, b"behind them");
        wait_for("what was in fragments", || (queued(near).1 > 0).then_some(()));
        assert_eq!(queued(near).0, 0, "nobody would ever read it");
        send_all(&mut *server, Some(closed), &numbered(0..1));
        assert!(server.recv(soon()).unwrap().is_empty());
        assert_eq!(server.refused(), Some(Refusal { port: P0, to: closed }), "{kind} {way:?}");
    }
}

#[test]
fn a_sender_that_leaves_checksums_to_its_device_is_told_apart_from_damage() {
    if !over_a_cable("xdp::a_sender_that_leaves_checksums_to_its_device_is_told_apart_from_damage") {
        return;
    }
    KINDS.into_iter().for_each(|kind| interface::unfinished_checksums(&mut *reopened(kind, &unconnected(1))));
}

#[test]
fn two_neighbours_that_do_not_answer_are_given_up() {
    if !over_a_cable("xdp::two_neighbours_that_do_not_answer_are_given_up") {
        return;
    }
    let silent = ["10.98.0.77:9".parse().unwrap(), "10.98.0.78:9".parse().unwrap()];
    interface::silent_in_turn(&mut *xdp(&unconnected(1)), silent);
}

#[test] // it was waited for as long as anybody would
fn a_neighbour_that_the_kernel_forgets_meanwhile_is_sought_again() {
    if !over_a_cable("xdp::a_neighbour_that_the_kernel_forgets_meanwhile_is_sought_again") {
        return;
    }
    let (mut engine, silent) = (xdp(&unconnected(1)), "10.98.0.77:9".parse().unwrap());
    for forgets in [true, false] {
        let mut batch = engine.reserve(1);
        assert!(batch.push(P0, Some(silent), |_| 1));
        batch.send(if forgets { Wait::Poll } else { soon() }).unwrap();
        if forgets {
            shell("ip neigh del 10.98.0.77 dev near");
        }
    }
    assert_eq!(engine.counters().undeliverable_datagrams, 1);
}

#[test]
fn a_neighbour_that_does_not_answer_is_counted_and_takes_nothing_from_the_others() {
    if !over_a_cable("xdp::a_neighbour_that_does_not_answer_is_counted_and_takes_nothing_from_the_others") {
        return;
    }
    interface::silent_neighbour(&mut *xdp(&unconnected(1)), &stranger(), "10.98.0.77:9".parse().unwrap());
}

#[test]
fn what_is_not_for_its_ports_stays_the_kernels() {
    if !over_a_cable("xdp::what_is_not_for_its_ports_stays_the_kernels") {
        return;
    }
    let engine = xdp(&unconnected(2));
    let own = std::net::UdpSocket::bind(any()).unwrap();
    own.set_read_timeout(Some(takt_testing::HANG)).unwrap();
    stranger().send_to(b"for the kernel", own.local_addr().unwrap()).unwrap();
    assert_eq!(own.recv(&mut [0; 99]).unwrap(), 14);
    there(|| shell("ping -c 1 -W 5 10.98.0.1 >/dev/null"));
    assert_eq!(engine.counters().received_datagrams, 0);
}

#[test]
fn one_engine_that_receives_and_one_that_transmits_share_an_interface() {
    if !over_a_cable("xdp::one_engine_that_receives_and_one_that_transmits_share_an_interface") {
        return;
    }
    const COUNT: u32 = 1000;
    let of = |way| Config { way, ..unconnected(1) };
    for (first, second) in [(Way::Receive, Way::Transmit), (Way::Transmit, Way::Receive)] {
        let mut one = reopened(EngineKind::XDP, &of(first));
        let mut other = open(EngineKind::XDP, &of(second)).unwrap();
        for way in [Way::Both, first] {
            assert_eq!(missing(EngineKind::XDP, &of(way)), Missing::QueueFree { interface: "near".to_owned() });
        }
        let (receiving, transmitting) =
            if first == Way::Receive { (&mut one, &mut other) } else { (&mut other, &mut one) };
        assert_eq!(receiving.limits().path, FramePath::NativeXdp);
        assert_eq!(transmitting.limits().path, FramePath::TransmitXdp { zero_copy: false });
        let mut far = there(|| open(EngineKind::XDP, &unconnected_far(1)).unwrap());
        let (to, from, near) = (addr(&*far, 0), addr(&**transmitting, 0), addr(&**receiving, 0));
        // Both ways at once, each on a thread of its own.
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in numbered(0..COUNT).chunks(50) {
                    send_all(&mut **transmitting, Some(to), number);
                    assert_eq!(recv_some(&mut **transmitting, 1).len(), 1, "a report of the other end");
                }
            });
            scope.spawn(|| {
                let mut got = Vec::new();
                while got.len() < COUNT as usize {
                    let before = got.len() / 50;
                    got.extend(numbers(&recv_some(&mut **receiving, 1)));
                    let commands = vec![b"command".to_vec(); got.len() / 50 - before];
                    send_all(&mut **receiving, Some(to), &commands);
                }
                assert!(got.is_sorted() && got.len() == COUNT as usize, "{got:?}");
            });
            let (mut samples, mut commands) = (Vec::new(), 0);
            while samples.len() < COUNT as usize || commands < COUNT / 50 {
                for seen in recv_some(&mut *far, 1) {
                    if seen.source == from {
                        samples.extend(numbers(std::slice::from_ref(&seen)));
                        send_all(&mut *far, Some(near), std::slice::from_ref(&seen.bytes));
                        if samples.len() % 50 == 0 {
                            send_all(&mut *far, Some(from), &[b"report".to_vec()]);
                        }
                    } else {
                        assert_eq!((seen.source, &seen.bytes[..]), (near, &b"command"[..]));
                        commands += 1;
                    }
                }
            }
            assert_eq!(samples, (0..COUNT).collect::<Vec<_>>());
        });
        assert_eq!(
            (receiving.counters().received_datagrams, transmitting.counters().sent_datagrams),
            (COUNT.into(), COUNT.into())
        );
        // The other one goes on alone, and takes nothing with it in the end.
        drop(one);
        assert!(other.recv(Wait::Poll).unwrap().is_empty());
    }
    drop(reopened(EngineKind::XDP, &unconnected(1)));
    let lo = Config::new(vec![PortSpec { bind: "127.0.0.1:0".parse().unwrap(), peer: None }]);
    let lo = Config { way: Way::Transmit, ..lo };
    assert_eq!(missing(EngineKind::XDP_GENERIC, &lo), Missing::Loopback);
    let native = missing(EngineKind::XDP, &lo);
    assert!(matches!(&native, Missing::NativeXdp { interface, .. } if interface == "lo"), "{native}");
    assert_eq!(open(EngineKind::Auto, &lo).unwrap().limits().path, FramePath::Sockets);
}

#[test]
fn an_interface_with_long_frames_is_for_short_datagrams_too() {
    if !over_a_jumbo_cable("xdp::an_interface_with_long_frames_is_for_short_datagrams_too") {
        return;
    }
    for kind in KINDS {
        let mut server = reopened(kind, &unconnected(1));
        let from = stranger();
        for size in [8000, 4, 8972, 1472] {
            from.send_to(&vec![7; size], addr(&*server, 0)).unwrap();
        }
        let seen = recv_some(&mut *server, 4);
        let cut: Vec<_> = seen.iter().map(|seen| (seen.bytes.len(), seen.truncated)).collect();
        assert_eq!(cut, [(1472, true), (4, false), (1472, true), (1472, false)]);
        assert!(seen.iter().all(|seen| seen.arrived.is_some()));
    }
    // A part of a datagram by IP is the kernel's, who puts it together for its own socket.
    let mut server = reopened(EngineKind::XDP, &Config { max_payload_bytes: 8972, ..unconnected(1) });
    stranger().send_to(&vec![7; 20_000], addr(&*server, 0)).unwrap();
    stranger().send_to(&[1; 8972], addr(&*server, 0)).unwrap();
    assert_eq!(recv_some(&mut *server, 1)[0].bytes, [1; 8972]);
    assert_eq!(server.counters().damaged_datagrams, 0);
    let too_long = missing(EngineKind::XDP, &Config { max_payload_bytes: 8973, ..unconnected(1) });
    assert_eq!(too_long, Missing::Mtu { interface: "near".to_owned(), mtu: 9000, need: 9001 });
}

#[test]
fn the_longest_frame_of_all_passes_both_ways() {
    if !over_a_jumbo_cable("xdp::the_longest_frame_of_all_passes_both_ways") {
        return;
    }
    shell("ip link set near mtu 40000");
    there(|| shell("ip link set far mtu 40000"));
    let datagram: Vec<u8> = (0..32_726_u32).map(|n| (n % 251) as u8).collect();
    for kind in KINDS {
        let mut server = reopened(kind, &Config { max_payload_bytes: datagram.len(), ..unconnected(1) });
        let (to, from) = (addr(&*server, 0), stranger());
        send_all(&mut *server, from.local_addr().ok(), std::slice::from_ref(&datagram));
        let mut back = vec![0; 65_536];
        let len = from.recv(&mut back).unwrap();
        assert_eq!(back[..len], datagram);
        from.send_to(&datagram, to).unwrap();
        assert_eq!(recv_some(&mut *server, 1)[0].bytes, datagram);
    }
}

#[test]
fn several_queues_are_received_from_in_order_of_arrival() {
    if !over_a_cable("xdp::several_queues_are_received_from_in_order_of_arrival") {
        return;
    }
    // A pair with four queues, in place of the plain one.
    shell("ip link del near");
    let far = there(|| rustix::thread::gettid().as_raw_nonzero().get());
    shell(&format!(
        "ip link add near numrxqueues 4 numtxqueues 4 type veth peer name far numrxqueues 4 numtxqueues 4; \
         ip link set far netns {far}; ip addr add 10.98.0.1/24 dev near; ip link set near up"
    ));
    there(|| shell("ip addr add 10.98.0.2/24 dev far; ip link set far up; ethtool -K far tx off >/dev/null"));
    let mut server = xdp(&unconnected(2));
    let senders: Vec<_> = (0..8).map(|_| stranger()).collect();
    for round in 0..100_u32 {
        for (n, from) in senders.iter().enumerate() {
            let number = round * 8 + n as u32;
            from.send_to(&number.to_be_bytes(), addr(&*server, (n % 2) as u8)).unwrap();
        }
        let seen = recv_some(&mut *server, 8);
        let stamps: Vec<_> = seen.iter().map(|seen| seen.arrived.expect("stamped")).collect();
        assert!(stamps.is_sorted(), "{stamps:?}");
        let mut got = numbers(&seen);
        got.sort_unstable();
        assert_eq!(got, (round * 8..round * 8 + 8).collect::<Vec<_>>());
    }
    assert_eq!(server.counters().receive_buffer_drops, Some(0));
}

#[test]
fn a_thread_that_does_the_drivers_work_receives_the_same() {
    if !over_a_cable("xdp::a_thread_that_does_the_drivers_work_receives_the_same") {
        return;
    }
    for kind in KINDS {
        let mut server = reopened(kind, &Config { busy_poll: true, ..unconnected(1) });
        let (to, from) = (addr(&*server, 0), stranger());
        for n in 0..1000_u32 {
            from.send_to(&n.to_be_bytes(), to).unwrap();
            let mut seen = None;
            wait_for("the datagram", || {
                seen = server.recv(Wait::Poll).unwrap().get(0).map(|datagram| datagram.bytes.to_vec());
                seen.as_ref().map(|_| ())
            });
            assert_eq!(seen.as_deref(), Some(&n.to_be_bytes()[..]));
        }
        assert_eq!(server.counters().receive_buffer_drops, Some(0));
    }
}

#[test]
fn what_frames_carry_is_granted_to_who_asks_for_no_more() {
    if !over_a_cable("xdp::what_frames_carry_is_granted_to_who_asks_for_no_more") {
        return;
    }
    let asked = Config { max_payload_bytes: 9000, shorter_payloads: true, ..unconnected(1) };
    assert_eq!(xdp(&asked).limits().max_payload_bytes, 1472);
    let socket = open(EngineKind::Socket, &asked).unwrap();
    assert_eq!(socket.limits().max_payload_bytes, 9000, "the kernel cuts packets");
}

#[test]
fn an_engine_that_is_opened_and_closed_again_and_again_leaves_nothing() {
    if !over_a_cable("xdp::an_engine_that_is_opened_and_closed_again_and_again_leaves_nothing") {
        return;
    }
    drop(reopened(EngineKind::XDP, &connected((support::far::far().unwrap(), 9).into())));
    let (before, memory) = (descriptors(), memory_kib("VmSize:"));
    for _ in 0..20 {
        drop(reopened(EngineKind::XDP, &unconnected(1)));
    }
    assert_eq!(descriptors(), before);
    // Each has some eight megabytes of chunks.
    let after = memory_kib("VmSize:");
    assert!(after < memory + 16 * 1024, "{memory} kB before, {after} kB after");
}
