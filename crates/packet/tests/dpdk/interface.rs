//! Failures at an interface that the kernel keeps: its ports, its state, its neighbours, its rings.

use std::net::UdpSocket;
use std::process::Command;
use std::time::Duration;

use takt_base::{Clock, WallClock};
use takt_packet::{Config, DpdkDevice, Engine, EngineError, FramePath, Wait};
use takt_testing::wait_for;

use crate::common::huge_pages_free;
use crate::support::far::{over_a_cable, shell, there};
use crate::support::{
    P0, addr, any, dpdk, interface, numbered, numbers, queued, recv_some, send_all, soon, stranger, unconnected,
};

#[test]
fn the_path_is_named_with_its_pages_and_the_callers_thread_stays_on_its_cores() {
    if !over_a_cable("interface::the_path_is_named_with_its_pages_and_the_callers_thread_stays_on_its_cores") {
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
fn a_port_is_held_and_the_kernel_neither_answers_for_it_nor_keeps_its_datagrams() {
    if !over_a_cable("interface::a_port_is_held_and_the_kernel_neither_answers_for_it_nor_keeps_its_datagrams") {
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
    assert_eq!(queued(at).0, 0, "the kernel's socket is given none");
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
    if !over_a_cable("interface::an_interface_that_goes_down_and_up_again_goes_on") {
        return;
    }
    interface::goes_down_and_up_again(&mut *dpdk(&unconnected(1)));
}

#[test]
fn an_interface_that_is_removed_ends_the_engine_with_its_name() {
    if !over_a_cable("interface::an_interface_that_is_removed_ends_the_engine_with_its_name") {
        return;
    }
    let sent = interface::is_removed(&mut *dpdk(&unconnected(1)));
    assert!(matches!(sent, Err(EngineError::InterfaceGone { .. })));
}

#[test]
fn a_sender_that_leaves_checksums_to_its_device_is_told_apart_from_damage() {
    if !over_a_cable("interface::a_sender_that_leaves_checksums_to_its_device_is_told_apart_from_damage") {
        return;
    }
    interface::unfinished_checksums(&mut *dpdk(&unconnected(1)));
}

#[test]
fn a_neighbour_that_does_not_answer_is_counted_and_takes_nothing_from_the_others() {
    if !over_a_cable("interface::a_neighbour_that_does_not_answer_is_counted_and_takes_nothing_from_the_others") {
        return;
    }
    interface::silent_neighbour(&mut *dpdk(&unconnected(1)), &stranger(), "10.98.0.77:9".parse().unwrap());
}

#[test]
fn two_neighbours_that_do_not_answer_are_given_up() {
    if !over_a_cable("interface::two_neighbours_that_do_not_answer_are_given_up") {
        return;
    }
    let silent = ["10.98.0.77:9".parse().unwrap(), "10.98.0.78:9".parse().unwrap()];
    interface::silent_in_turn(&mut *dpdk(&unconnected(1)), silent);
}

#[test]
fn no_stamp_lies_before_the_datagram_was_sent() {
    if !over_a_cable("interface::no_stamp_lies_before_the_datagram_was_sent") {
        return;
    }
    const COUNT: usize = 100_000;
    let mut server = dpdk(&unconnected(1));
    let to = addr(&*server, 0);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        let from = stranger();
        scope.spawn(|| {
            let from = from;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                from.send_to(&WallClock.now().0.to_be_bytes(), to).unwrap();
            }
        });
        let mut seen = 0;
        let late = soon();
        while seen < COUNT {
            let batch = server.recv(late).unwrap();
            assert!(!batch.is_empty(), "{seen} came");
            for datagram in batch.iter() {
                let sent = u64::from_be_bytes(datagram.bytes.try_into().unwrap());
                let arrived = datagram.arrived.expect("stamps were requested").0;
                if arrived < sent {
                    stop.store(true, std::sync::atomic::Ordering::Relaxed);
                    panic!("sent at {sent}, arrived at {arrived}");
                }
                seen += 1;
            }
        }
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
    });
}

/// The near end of a cable sends this slowly from now on.
fn slow_down() {
    shell("tc qdisc add dev near root tbf rate 20mbit burst 16kb limit 64mb");
}

#[test]
fn what_the_kernel_left_in_the_ring_leaves_while_the_engine_only_receives() {
    if !over_a_cable("interface::what_the_kernel_left_in_the_ring_leaves_while_the_engine_only_receives") {
        return;
    }
    let (mut engine, sink) = (dpdk(&unconnected(1)), stranger());
    let receiver = overfill(&mut *engine, sink);
    all_leave_while_it_receives(&mut *engine, receiver);
}

#[test]
fn what_an_engine_left_there_that_has_closed_leaves_while_another_receives() {
    if !over_a_cable("interface::what_an_engine_left_there_that_has_closed_leaves_while_another_receives") {
        return;
    }
    let (mut engine, mut other, sink) = (dpdk(&unconnected(1)), dpdk(&unconnected(1)), stranger());
    let receiver = overfill(&mut *engine, sink);
    drop(engine);
    all_leave_while_it_receives(&mut *other, receiver);
}

/// Sends more than a slow cable and the kernel take at once; whether all comes, in order.
fn overfill(engine: &mut dyn Engine, sink: UdpSocket) -> std::thread::JoinHandle<bool> {
    slow_down();
    let to = sink.local_addr().unwrap();
    let receiver = std::thread::spawn(move || {
        let mut bytes = [0; 2000];
        (0..1000_u32).all(|n| sink.recv(&mut bytes).is_ok_and(|len| len == 1472) && bytes[..4] == n.to_be_bytes())
    });
    let datagrams: Vec<Vec<u8>> = (0..1000_u32).map(|n| padded(n, 1472)).collect();
    send_all(engine, Some(to), &datagrams);
    receiver
}

fn all_leave_while_it_receives(engine: &mut dyn Engine, receiver: std::thread::JoinHandle<bool>) {
    while !receiver.is_finished() {
        let moment = Wait::Until(WallClock.now() + Duration::from_secs(1));
        assert!(engine.recv(moment).unwrap().is_empty());
    }
    assert!(receiver.join().unwrap(), "all came, in order");
}

/// Whether the queue below the engine is empty, as the kernel lists it.
fn is_empty_below() -> bool {
    let out = Command::new("tc").args(["-s", "qdisc", "show", "dev", "near", "root"]).output().expect("iproute2");
    let said = String::from_utf8_lossy(&out.stdout).into_owned();
    assert!(said.contains("backlog"), "{said}");
    said.contains("backlog 0b 0p")
}

#[test]
fn what_the_kernel_left_in_the_ring_leaves_when_the_last_engine_closes() {
    if !over_a_cable("interface::what_the_kernel_left_in_the_ring_leaves_when_the_last_engine_closes") {
        return;
    }
    // More than the driver's socket takes of them, fewer than the ring does.
    const SENT: u32 = 500;
    let (mut last, peer) = (dpdk(&unconnected(1)), stranger());
    let to = peer.local_addr().unwrap();
    // Its hardware address is known before nothing passes any more.
    send_all(&mut *last, Some(to), &numbered(0..1));
    assert_eq!(peer.recv(&mut [0; 9]).unwrap(), 4);
    peer.set_nonblocking(true).unwrap();
    shell("tc qdisc add dev near root tbf rate 8kbit burst 1600 limit 64mb");
    send_all(&mut *last, Some(to), &numbered(0..SENT));
    // Slow enough that what comes is read before the stranger's own buffer is full.
    shell("tc qdisc change dev near root tbf rate 1mbit burst 1600 limit 64mb");
    let mut came = Vec::new();
    let mut read = || {
        let mut bytes = [0; 9];
        while let Ok(4) = peer.recv(&mut bytes) {
            came.push(u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]));
        }
        came.len()
    };
    // Frames that the kernel had taken have left, and nobody offers it the rest.
    wait_for("a queue that is empty", || {
        read();
        is_empty_below().then_some(())
    });
    let taken = read();
    assert!((1..SENT as usize).contains(&taken), "{taken} of {SENT}: nothing is left in the ring");
    drop(last);
    wait_for(&format!("what lay in the ring beside {taken} of {SENT}"), || (read() == SENT as usize).then_some(()));
    assert_eq!(came, (0..SENT).collect::<Vec<_>>());
}

#[test]
fn a_ring_that_the_kernel_does_not_empty_is_full_and_nobody_waits_in_the_driver() {
    if !over_a_cable("interface::a_ring_that_the_kernel_does_not_empty_is_full_and_nobody_waits_in_the_driver") {
        return;
    }
    slow_down();
    let config = Config { recv_buffer_bytes: 64 << 10, ..unconnected(1) };
    let (mut engine, sink) = (dpdk(&config), stranger());
    let to = sink.local_addr().unwrap();
    let (mut taken, mut refused) = (0_u32, 0_u32);
    wait_for("a ring that is full, and that has emptied", || {
        let started = WallClock.now();
        let mut batch = engine.reserve(64);
        for n in taken..taken + 64 {
            batch.push(P0, Some(to), |frame| {
                frame.copy_from_slice(&padded(n, 1472));
                1472
            });
        }
        let sent = batch.send(Wait::Poll).unwrap() as u32;
        // A driver that waits does so until the kernel has sent a frame more, each 0.6 ms, or for ever.
        assert!(WallClock.now().0 - started.0 < 5_000_000_000, "after {taken}");
        (taken, refused) = (taken + sent, refused + u32::from(sent < 64));
        assert!(engine.recv(Wait::Poll).unwrap().is_empty());
        (taken >= 3000).then_some(())
    });
    assert!(refused > 0, "it was full at times");
    assert_eq!(engine.counters().congested_sends, 0, "nothing was thrown away");
}

/// A number, and zeros up to a length.
fn padded(number: u32, bytes: usize) -> Vec<u8> {
    let mut padded = vec![0; bytes];
    padded[..4].copy_from_slice(&number.to_be_bytes());
    padded
}

#[test]
fn a_ring_that_is_written_around_many_times_loses_nothing_that_was_taken() {
    if !over_a_cable("interface::a_ring_that_is_written_around_many_times_loses_nothing_that_was_taken") {
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
    if !over_a_cable("interface::frames_of_nine_thousand_bytes_pass_where_the_interface_takes_them") {
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
fn who_polls_costs_no_call_and_who_waits_sleeps() {
    if !over_a_cable("interface::who_polls_costs_no_call_and_who_waits_sleeps") {
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
