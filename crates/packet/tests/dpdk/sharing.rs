//! Engines of one process that share an interface: each has its own datagrams, none takes from another, and none leaves
//! anything behind.

use std::net::UdpSocket;

use takt_packet::{Engine, PortIndex, Wait};

use crate::common::send_in_turn;
use crate::support::far::{far, over_a_cable};
use crate::support::interface::memory_kib;
use crate::support::{addr, connected, dpdk, numbered, numbers, recv_some, send_all, stranger, unconnected};

#[test]
fn two_engines_on_two_threads_share_an_interface_and_each_has_its_own() {
    if !over_a_cable("sharing::two_engines_on_two_threads_share_an_interface_and_each_has_its_own") {
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
    if !over_a_cable("sharing::an_engine_that_closes_takes_nothing_from_the_other") {
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
fn a_queue_that_is_full_drops_and_counts_for_its_own_engine() {
    if !over_a_cable("sharing::a_queue_that_is_full_drops_and_counts_for_its_own_engine") {
        return;
    }
    let (mut slow, mut other, from) = (dpdk(&unconnected(1)), dpdk(&unconnected(1)), stranger());
    // Fewer than the interface's ring holds, more than the queue of an engine does.
    send_in_turn(&from, &[addr(&*slow, 0)], 0..6000);
    send_in_turn(&from, &[addr(&*other, 0)], 7..8);
    assert_eq!(numbers(&recv_some(&mut *other, 1)), [7], "it has met all that came before");
    let drops = |engine: &dyn Engine| engine.counters().receive_buffer_drops;
    assert_eq!((drops(&*slow), drops(&*other)), (Some(6000 - 4096), Some(0)));
    assert_eq!(numbers(&recv_some(&mut *slow, 4096)), (0..4096).collect::<Vec<_>>());
    send_in_turn(&from, &[addr(&*slow, 0)], 5000..5001);
    assert_eq!(numbers(&recv_some(&mut *slow, 1)), [5000], "and goes on");
    // The drops of the interface's own ring belong to an engine, and none knows to which.
    send_in_turn(&from, &[addr(&*slow, 0)], 0..9000);
    assert_eq!((drops(&*slow), drops(&*other)), (None, None));
}

#[test]
fn an_engine_that_is_opened_and_closed_again_and_again_leaves_nothing() {
    if !over_a_cable("sharing::an_engine_that_is_opened_and_closed_again_and_again_leaves_nothing") {
        return;
    }
    let count = |of: &str| std::fs::read_dir(of).unwrap().count();
    let memory = || (memory_kib("VmSize:"), memory_kib("VmRSS:"), memory_kib("HugetlbPages:"));
    let packet_sockets = || std::fs::read_to_string("/proc/net/packet").unwrap().lines().count();
    let before_all = packet_sockets();
    drop(dpdk(&connected((far().unwrap(), 9).into())));
    let state = || (count("/proc/self/fd"), count("/proc/self/task"), packet_sockets());
    let (before, (size, resident, huge)) = (state(), memory());
    for n in 0..20 {
        let mut engine = dpdk(&unconnected(1 + n % 3));
        stranger().send_to(b"in its ring", addr(&*engine, 0)).unwrap();
        if n % 2 == 0 {
            assert_eq!(recv_some(&mut *engine, 1).len(), 1);
        }
        if n % 3 == 0 {
            // Its frame lies in its queue when it goes, before or after the other.
            let mut other = dpdk(&unconnected(1));
            stranger().send_to(b"in its queue", addr(&*engine, 0)).unwrap();
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
