//! Rules that every engine keeps, whatever it is made of. A new engine adds one line to the list at the end.
#![allow(clippy::drop_non_drop, clippy::forget_non_drop, reason = "whether a batch has a destructor is its own affair")]

use std::collections::HashSet;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use takt_base::{Clock, MonoNs, WallClock};
use takt_packet::{Config, Counters, DpdkDevice, Engine, FramePath, PortIndex, PortSpec, Refusal, Wait};

use crate::support::{
    Open, P0, Seen, addr, any, await_delivery, connected, dropped, forge, free, longest, nobody, numbered, numbers,
    recv_some, send_all, soon, stranger, stranger_at, unconnected, unconnected_far,
};

/// An engine with one unconnected port, and one connected to it.
fn pair(open: Open) -> (Box<dyn Engine>, Box<dyn Engine>) {
    let server = open(&unconnected(1));
    let client = open(&connected(addr(&*server, 0)));
    (server, client)
}

fn datagrams_arrive_once_in_order_with_source_and_stamp(open: Open) {
    let (mut server, mut client) = pair(open);
    let before = WallClock.now();
    for chunk in numbered(0..1000).chunks(100) {
        send_all(&mut *client, None, chunk); // as many as surely fit into the buffer
        let seen = recv_some(&mut *server, chunk.len());
        assert_eq!(seen.iter().map(|s| &s.bytes).collect::<Vec<_>>(), chunk.iter().collect::<Vec<_>>());
        assert!(seen.iter().all(|s| s.port == P0 && s.source == addr(&*client, 0) && !s.truncated));
        let stamps: Vec<MonoNs> = seen.iter().map(|s| s.arrived.expect("stamps were requested")).collect();
        assert!(stamps.is_sorted());
        // The two clocks are related to about a microsecond at worst.
        assert!(stamps[0].0 + 1000 >= before.0 && stamps[99].0 <= WallClock.now().0 + 1000, "{stamps:?}");
    }
    assert!(server.recv(Wait::Poll).unwrap().is_empty());
}

fn every_size_from_nothing_to_a_jumbo_frame_arrives_whole(open: Open) {
    let longest = longest();
    let jumbo = |config: Config| Config { max_payload_bytes: longest, ..config };
    let mut server = open(&jumbo(unconnected(1)));
    let mut client = open(&jumbo(connected(addr(&*server, 0))));
    let sizes: Vec<usize> = (0..=longest).collect();
    for chunk in sizes.chunks(50) {
        let sent: Vec<Vec<u8>> = chunk.iter().map(|&n| (0..n).map(|i| (n + i) as u8).collect()).collect();
        send_all(&mut *client, None, &sent);
        let seen: Vec<Vec<u8>> = recv_some(&mut *server, sent.len()).into_iter().map(|s| s.bytes).collect();
        assert_eq!(seen, sent);
    }
    // Runs of one size, as a stream has them, with a shorter last.
    for size in [1, 64, 1472, longest] {
        let mut sent: Vec<Vec<u8>> = (0..99_u8).map(|n| vec![n; size]).collect();
        sent.push(vec![99; size / 2]);
        send_all(&mut *client, None, &sent);
        let seen: Vec<Vec<u8>> = recv_some(&mut *server, 100).into_iter().map(|s| s.bytes).collect();
        assert_eq!(seen, sent, "{size}");
    }
}

fn a_ring_lends_what_it_has_and_no_more(open: Open) {
    let mut server = open(&unconnected(1));
    let mut client = open(&Config { batch: 7, ..connected(addr(&*server, 0)) });
    assert_eq!(client.limits().batch, 7);
    let mut batch = client.reserve(usize::MAX);
    assert_eq!(batch.room(), 7);
    for n in 0..7 {
        assert!(batch.push(P0, None, |frame| {
            assert_eq!(frame.len(), 1472);
            frame[0] = n;
            1
        }));
    }
    assert!(!batch.push(P0, None, |_| unreachable!("the ring is full")));
    assert_eq!(batch.send(Wait::Poll).unwrap(), 7);
    assert_eq!(recv_some(&mut *server, 7).len(), 7);
    assert_eq!(client.reserve(3).room(), 3);
    assert_eq!(client.reserve(0).room(), 0);
    assert_eq!(client.reserve(0).send(soon()).unwrap(), 0);
}

fn what_does_not_fit_into_a_batch_comes_with_the_next(open: Open) {
    let mut server = open(&Config { batch: 8, ..unconnected(1) });
    let mut client = open(&connected(addr(&*server, 0)));
    send_all(&mut *client, None, &numbered(0..20));
    let mut sizes = Vec::new();
    let mut all = Vec::new();
    while all.len() < 20 {
        let batch = server.recv(soon()).unwrap();
        sizes.push(batch.len());
        all.extend(batch.iter().map(|d| u32::from_be_bytes(d.bytes.try_into().unwrap())));
    }
    assert_eq!(all, (0..20).collect::<Vec<_>>());
    assert!(sizes.iter().all(|&n| (1..=8).contains(&n)), "{sizes:?}");
}

fn the_batch_can_be_looked_at_again_until_the_next_is_received(open: Open) {
    let (mut server, mut client) = pair(open);
    assert!(server.last_batch().is_empty());
    send_all(&mut *client, None, &numbered(0..3));
    let first: Vec<Vec<u8>> = server.recv(soon()).unwrap().iter().map(|d| d.bytes.to_vec()).collect();
    let again: Vec<Vec<u8>> = server.last_batch().iter().map(|d| d.bytes.to_vec()).collect();
    assert!(!first.is_empty() && first == again);
    assert_eq!(server.last_batch().get(0).map(|d| d.bytes.to_vec()), Some(first[0].clone()));
    recv_some(&mut *server, 3 - first.len());
    assert!(server.recv(Wait::Poll).unwrap().is_empty());
    assert!(server.last_batch().is_empty());
}

fn a_peer_that_is_gone_is_reported_by_its_address_and_ends_nothing(open: Open) {
    let mut engine = open(&unconnected(1));
    let (alive, gone) = (stranger(), [nobody(), nobody()]);
    for to in gone {
        send_all(&mut *engine, Some(to), &numbered(0..1));
    }
    send_all(&mut *engine, Some(alive.local_addr().unwrap()), &numbered(7..8));
    let mut reported = HashSet::new();
    let wait = soon();
    while reported.len() < 2 {
        assert!(engine.recv(wait).unwrap().is_empty(), "nobody sent anything");
        reported.extend(std::iter::from_fn(|| engine.refused()));
        assert!(WallClock.now() < deadline(wait), "reported {reported:?} only");
    }
    assert_eq!(reported, gone.into_iter().map(|to| Refusal { port: P0, to }).collect());
    assert_eq!(engine.refused(), None);
    let mut bytes = [0; 9];
    assert_eq!(alive.recv(&mut bytes).unwrap(), 4, "a refusal takes nothing from the others");
    assert_eq!(engine.counters().sent_datagrams, 3);
    assert_eq!(engine.counters().refusals, 2);
}

fn a_connected_peer_that_is_gone_is_reported_and_every_send_still_counts(open: Open) {
    let gone = nobody();
    let mut engine = open(&connected(gone));
    for n in 0..20 {
        send_all(&mut *engine, None, &numbered(n..n + 1));
    }
    let wait = soon();
    while engine.counters().refusals < 20 {
        assert!(engine.recv(wait).unwrap().is_empty());
        assert!(WallClock.now() < deadline(wait), "{:?}", engine.counters());
    }
    assert_eq!(engine.refused(), Some(Refusal { port: P0, to: gone }));
    assert_eq!(engine.counters().sent_datagrams, 20);
    // A socket takes the port.
    let late = stranger_at(gone);
    send_all(&mut *engine, None, &numbered(5..6));
    assert_eq!(late.recv(&mut [0; 9]).unwrap(), 4);
}

fn deadline(wait: Wait) -> MonoNs {
    match wait {
        Wait::Until(end) => end,
        Wait::Poll => MonoNs(0),
    }
}

fn a_datagram_that_can_go_nowhere_is_counted_and_the_others_leave(open: Open) {
    let mut server = open(&unconnected(1));
    let mut client = open(&unconnected_far(1));
    let there = addr(&*server, 0);
    let nowhere = SocketAddr::new(there.ip(), 0);
    let mut batch = client.reserve(8);
    for (n, to) in [there, nowhere, nowhere, there, there].into_iter().enumerate() {
        assert!(batch.push(P0, Some(to), |frame| {
            frame[0] = n as u8;
            1
        }));
    }
    assert!(batch.push(P0, None, |_| 1), "no destination at all");
    assert!(batch.push(PortIndex(9), Some(there), |_| 1), "a port it does not own");
    assert_eq!(batch.send(soon()).unwrap(), 7, "all are dealt with");
    let seen: Vec<u8> = recv_some(&mut *server, 3).iter().map(|s| s.bytes[0]).collect();
    assert_eq!(seen, [0, 3, 4]);
    let counters = client.counters();
    assert_eq!((counters.sent_datagrams, counters.undeliverable_datagrams, counters.unsent_datagrams), (3, 4, 0));
}

fn what_is_not_sent_is_forgotten(open: Open) {
    let (mut server, mut client) = pair(open);
    let mut batch = client.reserve(4);
    batch.push(P0, None, |_| 9);
    batch.push(P0, None, |_| 9);
    drop(batch);
    send_all(&mut *client, None, &numbered(1..2));
    assert_eq!(numbers(&recv_some(&mut *server, 1)), [1]);
    assert_eq!(client.counters().sent_datagrams, 1);
}

fn a_leaked_batch_costs_nothing(open: Open) {
    let mut server = open(&Config { batch: 4, ..unconnected(1) });
    let mut client = open(&Config { batch: 4, ..connected(addr(&*server, 0)) });
    for n in 0..100 {
        let mut leaked = client.reserve(4);
        leaked.push(P0, None, |_| 9);
        std::mem::forget(leaked);
        send_all(&mut *client, None, &numbered(n..n + 1));
        let batch = server.recv(soon()).unwrap(); // has no destructor: it is always leaked
        assert_eq!(batch.len(), 1);
        assert_eq!(batch.get(0).unwrap().bytes, n.to_be_bytes());
    }
}

fn a_datagram_longer_than_a_frame_is_cut_marked_and_counted(open: Open) {
    let mut server = open(&Config { max_payload_bytes: 100, ..unconnected(1) });
    let from = stranger();
    for size in [100, 101, longest().min(2000)] {
        from.send_to(&vec![7; size], addr(&*server, 0)).unwrap();
    }
    let seen = recv_some(&mut *server, 3);
    assert!(seen.iter().all(|s| s.bytes == [7; 100]));
    assert_eq!(seen.iter().map(|s| s.truncated).collect::<Vec<_>>(), [false, true, true]);
    let counters = server.counters();
    assert_eq!((counters.received_datagrams, counters.received_bytes, counters.truncated_datagrams), (3, 300, 2));
}

fn one_wait_covers_all_ports(open: Open) {
    let mut server = open(&unconnected(5));
    let from = stranger();
    for port in [3, 0, 4, 1] {
        from.send_to(&[port], addr(&*server, port)).unwrap();
    }
    let seen = recv_some(&mut *server, 4);
    assert!(seen.iter().all(|s| s.bytes == [s.port.0]));
    assert_eq!(seen.iter().map(|s| s.port.0).collect::<Vec<_>>(), [3, 0, 4, 1], "in order of arrival");
    assert_eq!((server.local(PortIndex(5)), server.local(PortIndex(255))), (None, None));
}

fn an_earlier_port_that_is_full_is_handed_out_before_a_later_one(open: Open) {
    let mut server = open(&Config { batch: 4, ..unconnected(2) });
    let from = stranger();
    for n in 0..11 {
        from.send_to(&[n], addr(&*server, 0)).unwrap();
    }
    from.send_to(&[11], addr(&*server, 1)).unwrap();
    from.send_to(&[12], addr(&*server, 0)).unwrap();
    let seen: Vec<u8> = recv_some(&mut *server, 13).iter().map(|s| s.bytes[0]).collect();
    assert_eq!(seen, (0..13).collect::<Vec<_>>());
}

/// Loopback keeps what one CPU sends in order. A thread that moves to another CPU may overtake its own datagrams.
fn stay_on_this_cpu() {
    let mut here = rustix::thread::CpuSet::new();
    here.set(rustix::thread::sched_getcpu());
    rustix::thread::sched_setaffinity(None, &here).unwrap();
}

fn a_command_is_never_overtaken_by_the_samples_sent_after_it(open: Open) {
    const ROUNDS: u32 = 3000;
    /// Rounds that may wait in the buffers: what is more could be lost.
    const AHEAD: u32 = 64;
    let read = AtomicU32::new(0);
    let mut server = open(&Config { batch: 16, recv_buffer_bytes: 4 << 20, ..unconnected(2) });
    let (command, samples) = (addr(&*server, 0), addr(&*server, 1));
    let send = || {
        stay_on_this_cpu();
        let from = stranger();
        for n in 0..ROUNDS {
            while read.load(Ordering::Relaxed) + AHEAD < n {
                std::thread::yield_now();
            }
            from.send_to(&n.to_be_bytes(), command).unwrap();
            for _ in 0..n % 4 {
                from.send_to(&n.to_be_bytes(), samples).unwrap();
            }
        }
    };
    let expected = (0..ROUNDS).map(|n| 1 + n % 4).sum::<u32>();
    let (mut last_command, mut count) = (None, 0);
    let wait = soon();
    std::thread::scope(|scope| {
        scope.spawn(send);
        // Whatever fails, the sender ends.
        let _when_done = OnDrop(|| read.store(u32::MAX / 2, Ordering::Relaxed));
        while count < expected {
            let batch = server.recv(wait).unwrap();
            assert!(!batch.is_empty(), "{count} of {expected} came");
            for datagram in batch.iter() {
                let n = u32::from_be_bytes(datagram.bytes.try_into().unwrap());
                match datagram.port {
                    P0 => last_command = Some(n),
                    _ => assert!(last_command >= Some(n), "samples {n} before their command, at {last_command:?}"),
                }
                read.store(n, Ordering::Relaxed);
                count += 1;
            }
        }
    });
}

fn a_connected_port_receives_only_from_its_peer_and_an_unconnected_one_from_every_sender(open: Open) {
    let (mut server, mut client) = pair(open);
    stranger().send_to(b"psst", addr(&*client, 0)).unwrap();
    let others: Vec<UdpSocket> = (0..3).map(|_| stranger()).collect();
    for other in &others {
        other.send_to(b"hello", addr(&*server, 0)).unwrap();
    }
    send_all(&mut *client, None, &[b"hello".to_vec()]);
    for Seen { source, bytes, .. } in recv_some(&mut *server, 4) {
        send_all(&mut *server, Some(source), &[bytes]);
    }
    for other in &others {
        let (len, from) = other.recv_from(&mut [0; 9]).unwrap();
        assert_eq!((len, from), (5, addr(&*server, 0)));
    }
    let seen = recv_some(&mut *client, 1);
    assert_eq!((seen.len(), &seen[0].bytes[..], seen[0].source), (1, &b"hello"[..], addr(&*server, 0)));
    assert!(client.recv(Wait::Poll).unwrap().is_empty());
}

/// The kernel drops these for its sockets. Below it an engine does, or programs would take a stranger for this host.
fn a_source_that_no_other_host_has_is_dropped_and_counted(open: Open) {
    let mut server = open(&unconnected(1));
    let SocketAddr::V4(to) = addr(&*server, 0) else { panic!("a cable has IPv4") };
    let [a, b, c, _] = to.ip().octets();
    let mut forged = vec![[127, 0, 0, 1], [127, 255, 9, 9], [224, 0, 0, 1], [239, 9, 9, 9], [255; 4], to.ip().octets()];
    let kernels = matches!(server.limits().path, FramePath::TransmitXdp { .. });
    if !kernels {
        // Linux takes the first since 5.3, and the second unless `rp_filter` is set.
        forged.extend([[0, 1, 2, 3], [a, b, c, 255]]);
    }
    for source in &forged {
        forge(to, SocketAddrV4::new((*source).into(), 4000), to, b"forged");
    }
    // To an address that is none of the interface's.
    for other in [[127, 0, 0, 1], [224, 0, 0, 1], [255; 4]] {
        let elsewhere = SocketAddrV4::new(other.into(), to.port());
        forge(to, SocketAddrV4::new(Ipv4Addr::new(a, b, c, 2), 4000), elsewhere, b"elsewhere");
    }
    let honest = stranger();
    honest.send_to(b"honest", to).unwrap();
    let seen = recv_some(&mut *server, 1);
    assert_eq!((seen[0].source, &*seen[0].bytes), (honest.local_addr().unwrap(), &b"honest"[..]));
    assert!(server.recv(Wait::Poll).unwrap().is_empty());
    let counted = if kernels { 0 } else { forged.len() as u64 };
    assert_eq!((server.counters().martian_datagrams, server.counters().damaged_datagrams), (counted, 0));
}

fn nothing_from_before_the_connection_is_taken_for_the_peers(open: Open) {
    // The port is known and free; a stranger sends to it all the time while it is opened and connected.
    let (bind, stop) = (free(), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let from = stranger();
            while !stop.load(Ordering::Relaxed) {
                let _refused = from.send_to(b"psst", bind);
            }
        });
        let _when_done = OnDrop(|| stop.store(true, Ordering::Relaxed));
        let peer = stranger();
        for _ in 0..50 {
            // A program that another test starts has what is open here until it is executed.
            takt_testing::wait_for("the port", || UdpSocket::bind(bind).ok());
            let spec = PortSpec { bind, peer: Some(peer.local_addr().unwrap()) };
            let mut engine = open(&Config::new(vec![spec]));
            assert!(engine.recv(Wait::Poll).unwrap().is_empty());
        }
    });
}

/// Ends a thread, also when a claim fails.
struct OnDrop<F: Fn()>(F);

impl<F: Fn()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

fn waits_end_with_nothing_when_nothing_comes_and_with_a_datagram_when_one_does(open: Open) {
    let mut server = open(&unconnected(2));
    let now = WallClock.now();
    for wait in [Wait::Poll, Wait::Until(MonoNs(0)), Wait::Until(now), Wait::Until(now + Duration::from_millis(3))] {
        assert!(server.recv(wait).unwrap().is_empty());
    }
    let to = addr(&*server, 1);
    let sender = std::thread::spawn(move || {
        std::thread::yield_now();
        stranger().send_to(b"now", to).unwrap();
    });
    assert_eq!(server.recv(Wait::Until(MonoNs::NEVER)).unwrap().len(), 1);
    sender.join().unwrap();
}

fn counters_add_up_on_both_sides(open: Open) {
    let (mut server, mut client) = pair(open);
    let sent: Vec<Vec<u8>> = (0..300_usize).map(|n| vec![1; n % 97]).collect();
    let bytes = sent.iter().map(Vec::len).sum::<usize>() as u64;
    send_all(&mut *client, None, &sent);
    assert_eq!(recv_some(&mut *server, 300).len(), 300);
    let (tx, rx) = (client.counters(), server.counters());
    let Counters { sent_datagrams, sent_bytes, unsent_datagrams, undeliverable_datagrams, refusals, .. } = tx;
    assert_eq!((sent_datagrams, sent_bytes, unsent_datagrams, undeliverable_datagrams), (300, bytes, 0, 0));
    assert_eq!((rx.received_datagrams, rx.received_bytes, rx.truncated_datagrams), (300, bytes, 0));
    let none_lost = |engine: &dyn Engine| (!is_tap(engine)).then_some(0);
    assert_eq!((tx.receive_buffer_drops, rx.receive_buffer_drops), (none_lost(&*client), none_lost(&*server)));
    assert_eq!((refusals, rx.refusals, tx.other_icmp, rx.other_icmp), (0, 0, 0, 0));
    assert!(tx.send_calls > 0 && rx.receive_calls > 0);
}

/// Whether the kernel's end drops what it has no room for, and counts it where an engine does not see it.
fn is_tap(engine: &dyn Engine) -> bool {
    matches!(engine.limits().path, FramePath::Dpdk { device: DpdkDevice::Tap(_), .. })
}

fn a_full_receive_buffer_loses_datagrams_and_counts_every_one(open: Open) {
    const SENT: u64 = 5000;
    let mut server = open(&Config { recv_buffer_bytes: 64 << 10, ..unconnected(1) });
    let from = stranger();
    for _ in 0..SENT {
        from.send_to(&[1; 100], addr(&*server, 0)).unwrap(); // one at a time: none is part of an aggregate
    }
    let (mut received, at) = (0, addr(&*server, 0));
    takt_testing::wait_for("all of them to be received or dropped", || {
        while let n @ 1.. = server.recv(Wait::Poll).unwrap().len() as u64 {
            received += n;
        }
        dropped(&*server, at).is_none_or(|dropped| received + dropped == SENT).then_some(())
    });
    assert!(received < SENT, "5000 datagrams do not fit into 64 KiB");
    // Exact, or not known: never too few.
    let known = !server.limits().aggregates_receives && dropped(&*server, at).is_some();
    assert_eq!(server.counters().receive_buffer_drops, known.then_some(SENT - received));
    from.send_to(&[1], addr(&*server, 0)).unwrap();
    assert_eq!(recv_some(&mut *server, 1).len(), 1, "and it goes on");
}

fn without_stamps_there_are_none_and_earlier_ports_come_first(open: Open) {
    let mut server = open(&Config { stamps: false, ..unconnected(2) });
    assert!(!server.limits().stamps);
    let from = stranger();
    from.send_to(&[1], addr(&*server, 1)).unwrap();
    from.send_to(&[0], addr(&*server, 0)).unwrap();
    (0..2).for_each(|port| await_delivery(addr(&*server, port), 1));
    // A datagram is in its socket a moment before those who wait there are woken, which is what io_uring sees.
    std::thread::sleep(Duration::from_millis(10));
    let seen = recv_some(&mut *server, 2);
    assert!(seen.iter().all(|s| s.arrived.is_none()));
    // One queue for all ports keeps the order of arrival by itself.
    let path = server.limits().path;
    let kernels = path.is_sockets() || matches!(path, FramePath::TransmitXdp { .. });
    let order = if kernels { [0, 1] } else { [1, 0] };
    assert_eq!(seen.iter().map(|s| s.port.0).collect::<Vec<_>>(), order);
}

fn ipv6_works_alike(open: Open) {
    let bind: SocketAddr = "[::1]:0".parse().unwrap();
    let Ok(from) = UdpSocket::bind(bind) else {
        return takt_testing::skip("this host has no IPv6 loopback   (sysctl net.ipv6.conf.lo.disable_ipv6=0)");
    };
    let mut server = open(&Config::new(vec![PortSpec { bind, peer: None }]));
    from.send_to(b"six", addr(&*server, 0)).unwrap();
    let seen = recv_some(&mut *server, 1);
    assert_eq!((seen[0].source, &seen[0].bytes[..]), (from.local_addr().unwrap(), &b"six"[..]));
    assert!(seen[0].arrived.is_some());
    send_all(&mut *server, Some(seen[0].source), &[vec![1; 500], vec![2; 500], vec![3; 20]]);
    let sizes: Vec<usize> = (0..3).map(|_| from.recv(&mut [0; 999]).unwrap()).collect();
    assert_eq!(sizes, [500, 500, 20]);
    // The port is none that the kernel gives out, nor a service's.
    let gone = SocketAddr::new(bind.ip(), 20_000 + (std::process::id() % 10_000) as u16);
    send_all(&mut *server, Some(gone), &numbered(0..1));
    assert!(server.recv(soon()).unwrap().is_empty());
    assert_eq!(server.refused(), Some(Refusal { port: P0, to: gone }));
}

fn an_engine_can_be_sent_to_another_thread_and_ports_are_free_again_after_it(open: Open) {
    let at = free();
    let mut engine = open(&Config::new(vec![PortSpec { bind: at, peer: None }]));
    assert_eq!(addr(&*engine, 0), at);
    std::thread::spawn(move || assert!(engine.recv(Wait::Poll).unwrap().is_empty())).join().unwrap();
    let spec = PortSpec { bind: at, peer: None };
    assert_eq!(addr(&*open(&Config::new(vec![spec])), 0), at);
    assert_ne!(addr(&*open(&unconnected(1)), 0), any());
}

/// Every claim above, for every engine below; those that own an interface run it over a cable of their own.
macro_rules! conformance {
    ($claims:tt, $(($engine:ident, $ready:expr))*) => { $(conformance!(@ $claims, $engine, $ready);)* };
    (@ [$($claim:ident)*], $engine:ident, $ready:expr) => {
        mod $engine {
            $(#[test] fn $claim() {
                let ready: fn(&str) -> bool = $ready;
                if ready(concat!("conformance::", stringify!($engine), "::", stringify!($claim))) {
                    super::$claim(crate::support::$engine);
                }
            })*
        }
    };
}

macro_rules! engines {
    ($($claim:ident)*) => {
        conformance!([$($claim)* a_full_receive_buffer_loses_datagrams_and_counts_every_one ipv6_works_alike],
            (socket, |_| true) (mmsg, |_| true) (mmsg_aggregated, |_| true) (uring, |_| true) (uring_aggregated, |_| true)
            (uring_zero_copy, |_| true) (uring_zero_copy_aggregated, |_| true) (mmsg_polling, |_| true));
        conformance!([$($claim)* a_full_receive_buffer_loses_datagrams_and_counts_every_one
            a_source_that_no_other_host_has_is_dropped_and_counted],
            (xdp, crate::support::far::over_a_cable) (xdp_generic, crate::support::far::over_a_cable)
            (xdp_receiving, crate::support::far::over_a_cable) (xdp_transmitting, crate::support::far::over_a_cable)
            (xdp_polling, crate::support::far::over_a_cable)
            (xdp_jumbo, crate::support::far::over_a_jumbo_cable) (xdp_generic_jumbo, crate::support::far::over_a_jumbo_cable));
        #[cfg(feature = "dpdk")]
        conformance!([$($claim)* a_full_receive_buffer_loses_datagrams_and_counts_every_one
            a_source_that_no_other_host_has_is_dropped_and_counted],
            (dpdk, crate::support::far::over_a_cable)
            (dpdk_af_xdp, crate::support::far::over_a_cable_of_dpdks) (dpdk_tap, crate::support::far::over_a_tap));
    };
}

engines! {
    datagrams_arrive_once_in_order_with_source_and_stamp
    every_size_from_nothing_to_a_jumbo_frame_arrives_whole
    a_ring_lends_what_it_has_and_no_more
    what_does_not_fit_into_a_batch_comes_with_the_next
    the_batch_can_be_looked_at_again_until_the_next_is_received
    a_peer_that_is_gone_is_reported_by_its_address_and_ends_nothing
    a_connected_peer_that_is_gone_is_reported_and_every_send_still_counts
    a_datagram_that_can_go_nowhere_is_counted_and_the_others_leave
    what_is_not_sent_is_forgotten
    a_leaked_batch_costs_nothing
    a_datagram_longer_than_a_frame_is_cut_marked_and_counted
    one_wait_covers_all_ports
    an_earlier_port_that_is_full_is_handed_out_before_a_later_one
    a_command_is_never_overtaken_by_the_samples_sent_after_it
    a_connected_port_receives_only_from_its_peer_and_an_unconnected_one_from_every_sender
    nothing_from_before_the_connection_is_taken_for_the_peers
    waits_end_with_nothing_when_nothing_comes_and_with_a_datagram_when_one_does
    counters_add_up_on_both_sides
    without_stamps_there_are_none_and_earlier_ports_come_first
    an_engine_can_be_sent_to_another_thread_and_ports_are_free_again_after_it
}
