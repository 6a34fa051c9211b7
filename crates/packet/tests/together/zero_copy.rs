//! Sends of engine `uring` by zero copy: where they are made, what the record says, and who owns the bytes meanwhile.
//!
//! A frame that waits in a queue below the socket (a token bucket here) still refers to the bytes of its sender: whoever
//! wrote to them would change what arrives.

use std::time::Duration;

use takt_base::{Clock, WallClock};
use takt_packet::{Config, Engine, EngineKind, FramePath, PortSpec, Sending, Wait, ZeroCopy, open};
use takt_testing::wait_for;

use crate::refusing;
use crate::support::far::{over_a_jumbo_cable, shell, there};
use crate::support::interface::{descriptors, memory_kib};
use crate::support::{
    self, P0, addr, connected, inside_a_namespace, recv_some, send_all, soon, unconnected, unconnected_far, uring,
    uring_zero_copy,
};

/// An X310's datagrams.
const BYTES: usize = 8000;
/// Datagrams of a batch: several batches are on their way at once.
const BATCH: usize = 8;

fn sending(engine: &dyn Engine) -> Sending {
    match engine.limits().path {
        FramePath::Ring(sending) => sending,
        other => panic!("{other:?}"),
    }
}

/// A datagram that is its number throughout.
fn datagram(number: u32, bytes: usize) -> Vec<u8> {
    number.to_ne_bytes().into_iter().cycle().take(bytes).collect()
}

fn datagrams(numbers: std::ops::Range<u32>) -> Vec<Vec<u8>> {
    numbers.map(|number| datagram(number, BYTES)).collect()
}

fn long(config: Config) -> Config {
    Config { max_payload_bytes: BYTES, ..config }
}

#[test]
fn a_path_that_copies_all_the_same_is_left_and_the_record_says_so() {
    let mut server = uring(&long(unconnected(1)));
    let mut client = uring(&long(connected(addr(&*server, 0))));
    assert_eq!(sending(&*client), Sending::CopiedShort);
    for round in 0..20 {
        let sent = datagrams(round * 10..round * 10 + 10);
        send_all(&mut *client, None, &sent);
        assert_eq!(recv_some(&mut *server, 10).into_iter().map(|seen| seen.bytes).collect::<Vec<_>>(), sent);
    }
    assert_eq!(sending(&*client), Sending::CopiedByPath);
    assert_eq!(client.limits().path.words(), "kernel sockets, copied: this path always copies");
    assert_eq!((client.counters().sent_datagrams, client.counters().zero_copy_messages), (200, 0));
    assert_eq!(sending(&*server), Sending::CopiedShort, "it has sent nothing");
}

#[test]
fn short_datagrams_are_copied() {
    let mut server = uring(&unconnected(1));
    let mut client = uring(&connected(addr(&*server, 0)));
    send_all(&mut *client, None, &vec![vec![7; 1472]; 100]);
    assert_eq!(recv_some(&mut *server, 100).len(), 100);
    assert_eq!((sending(&*client), client.counters().zero_copy_messages), (Sending::CopiedShort, 0));
    // Each datagram of an aggregate counts.
    let mut client = support::uring_aggregated(&connected(addr(&*server, 0)));
    send_all(&mut *client, None, &vec![vec![7; 1472]; 100]);
    assert_eq!(recv_some(&mut *server, 100).len(), 100);
    assert_eq!(sending(&*client), Sending::CopiedShort);
}

#[test]
fn who_wants_no_zero_copy_has_none() {
    let never = |config| Config { zero_copy: ZeroCopy::Never, ..long(config) };
    let mut server = uring(&never(unconnected(1)));
    let mut client = uring(&never(connected(addr(&*server, 0))));
    send_all(&mut *client, None, &datagrams(0..10));
    assert_eq!(recv_some(&mut *server, 10).len(), 10);
    assert_eq!((sending(&*client), client.limits().path.words()), (Sending::Copied, "kernel sockets, copied"));
}

/// A device whose queue swallows what it is sent, and looks at no byte of it.
const NOTHING: &str = "ip link add d0 mtu 9000 type veth peer name d1 mtu 9000 && ip addr add 10.9.8.1/24 dev d0 && \
                       ip link set d0 up && ip link set d1 up && tc qdisc add dev d0 root blackhole && \
                       ip neigh add 10.9.8.2 lladdr 02:00:00:00:00:02 dev d0 nud permanent";

#[test]
fn a_device_that_leaves_bytes_where_they_are_is_sent_to_by_zero_copy() {
    if !inside_a_namespace("zero_copy::a_device_that_leaves_bytes_where_they_are_is_sent_to_by_zero_copy", NOTHING) {
        return;
    }
    let spec = PortSpec { bind: "10.9.8.1:0".parse().unwrap(), peer: Some("10.9.8.2:9".parse().unwrap()) };
    let mut engine = uring(&long(Config::new(vec![spec])));
    for round in 0..50 {
        send_all(&mut *engine, None, &datagrams(round * 64..round * 64 + 64));
    }
    // The news of the last batch comes with the next call.
    assert!(engine.recv(Wait::Poll).unwrap().is_empty());
    assert_eq!(
        (sending(&*engine), engine.limits().path.words()),
        (Sending::ZeroCopy, "kernel sockets, sent by zero copy")
    );
    let counters = engine.counters();
    assert_eq!((counters.sent_datagrams, counters.zero_copy_messages), (3200, 3200));
    assert_eq!(counters.sent_bytes, 3200 * BYTES as u64);
}

/// Both ends of a cable with a queue that lets through so much, and what receives all at its other end.
struct Slow {
    client: Box<dyn Engine>,
    server: Box<dyn Engine>,
}

impl Slow {
    fn open(rate: &str) -> Slow {
        Slow::with(rate, BATCH, 64 << 20)
    }

    /// With batches and a send buffer of these sizes.
    fn with(rate: &str, batch: usize, send_buffer_bytes: usize) -> Slow {
        // With checksums left to the device: without, the kernel copies to make them.
        shell(&format!(
            "ethtool -K near tx on >/dev/null; tc qdisc add dev near root tbf rate {rate} burst 64kb limit 64mb"
        ));
        let sizes = move |config| Config {
            recv_buffer_bytes: 64 << 20,
            send_buffer_bytes,
            force_buffers: true,
            ..long(config)
        };
        let server = there(move || open(EngineKind::Mmsg, &sizes(unconnected_far(1))).unwrap());
        let client = uring_zero_copy(&Config { batch, ..sizes(connected(addr(&*server, 0))) });
        Slow { client, server }
    }

    fn receives(&mut self, numbers: std::ops::Range<u32>) {
        let expected = numbers.len();
        let seen = recv_some(&mut *self.server, expected);
        assert_eq!(seen.len(), expected);
        for (number, seen) in numbers.zip(seen) {
            assert!(seen.bytes == datagram(number, BYTES), "{number}: {:?}", &seen.bytes[..16]);
        }
    }
}

#[test]
fn what_arrives_is_what_was_sent_however_long_frames_wait_below_the_socket() {
    if !over_a_jumbo_cable("zero_copy::what_arrives_is_what_was_sent_however_long_frames_wait_below_the_socket") {
        return;
    }
    let mut slow = Slow::open("800mbit");
    for round in 0..10 {
        // As fast as blocks are lent; each is written anew as soon as it is.
        send_all(&mut *slow.client, None, &datagrams(round * 200..round * 200 + 200));
        // A frame that is filled and not sent is written to, too.
        let mut forgotten = slow.client.reserve(BATCH);
        while forgotten.push(P0, None, |frame| {
            frame.fill(0xff);
            BYTES
        }) {}
        slow.receives(round * 200..round * 200 + 200);
    }
    let counters = slow.client.counters();
    assert_eq!((counters.sent_datagrams, counters.sent_bytes), (2000, 2000 * BYTES as u64));
    assert_eq!((counters.unsent_datagrams, counters.undeliverable_datagrams), (0, 0));
    // The other end of a virtual cable takes a copy.
    assert_eq!((sending(&*slow.client), counters.zero_copy_messages), (Sending::CopiedByPath, 0));
}

/// If the send buffer has no room for a batch, the kernel cancels what comes behind the first that failed. It reports
/// of each that nobody reads its bytes any more, though it never announced that somebody would. Some size of a batch
/// has as many of those reports as frames that wait.
#[test]
fn what_a_full_send_buffer_cancels_frees_no_block_that_is_read() {
    if !over_a_jumbo_cable("zero_copy::what_a_full_send_buffer_cancels_frees_no_block_that_is_read") {
        return;
    }
    let mut slow = Slow::with("80mbit", BATCH, 128 << 10);
    let to = addr(&*slow.server, 0);
    // With one datagram more or less in the buffer both odd and even numbers of frames wait.
    let buffers = [128 << 10, 133 << 10, 138 << 10];
    for (batch, send_buffer_bytes) in (32..=64).flat_map(|batch| buffers.map(|bytes| (batch, bytes))) {
        let config = Config { batch, send_buffer_bytes, force_buffers: true, ..long(connected(to)) };
        let mut client = uring_zero_copy(&config);
        let mut frames = client.reserve(batch);
        for bytes in datagrams(0..batch as u32) {
            assert!(frames.push(P0, None, |frame| {
                frame.copy_from_slice(&bytes);
                BYTES
            }));
        }
        let taken = frames.send(Wait::Poll).unwrap() as u32;
        // The reports come with the next call.
        assert!(client.recv(Wait::Poll).unwrap().is_empty());
        let mut forgotten = client.reserve(batch);
        while forgotten.push(P0, None, |frame| {
            frame.fill(0xff);
            BYTES
        }) {}
        slow.receives(0..taken);
    }
}

#[test]
fn an_engine_that_ends_with_frames_on_their_way_takes_no_byte_from_them() {
    if !over_a_jumbo_cable("zero_copy::an_engine_that_ends_with_frames_on_their_way_takes_no_byte_from_them") {
        return;
    }
    let mut slow = Slow::open("80mbit");
    let spare = open(EngineKind::Mmsg, &unconnected(1)).unwrap();
    send_all(&mut *slow.client, None, &datagrams(0..100));
    let before = descriptors();
    drop(std::mem::replace(&mut slow.client, spare));
    // Whoever has its memory now writes to it.
    let others: Vec<Vec<u8>> = (0..64).map(|_| vec![0xff; 1 << 20]).collect();
    slow.receives(0..100);
    assert!(others.iter().all(|bytes| bytes.iter().all(|&byte| byte == 0xff)), "and the kernel writes to none");
    assert_eq!(descriptors(), before - 2, "its ring and its socket are gone");
}

#[test]
fn an_engine_that_is_sent_to_another_thread_leaves_its_frames_as_they_are() {
    if !over_a_jumbo_cable("zero_copy::an_engine_that_is_sent_to_another_thread_leaves_its_frames_as_they_are") {
        return;
    }
    let mut slow = Slow::open("800mbit");
    for round in 0..10 {
        let mut client = slow.client;
        // The ring of the thread before is closed, and with it goes what it had to say.
        slow.client = std::thread::spawn(move || {
            send_all(&mut *client, None, &datagrams(round * 100..round * 100 + 100));
            client
        })
        .join()
        .unwrap();
    }
    slow.receives(0..1000);
    assert_eq!(slow.client.counters().sent_datagrams, 1000);
}

#[test]
fn an_interface_that_goes_down_lets_go_of_all_and_one_that_comes_up_goes_on() {
    if !over_a_jumbo_cable("zero_copy::an_interface_that_goes_down_lets_go_of_all_and_one_that_comes_up_goes_on") {
        return;
    }
    let mut slow = Slow::open("8mbit");
    // Four blocks of eight are on their way, but for what has left; and some copies.
    send_all(&mut *slow.client, None, &datagrams(0..40));
    shell("ip link set near down");
    let moment = || Wait::Until(WallClock.now() + Duration::from_millis(5));
    wait_for("the kernel to let go of frames", || {
        assert!(slow.client.recv(moment()).unwrap().is_empty());
        (slow.client.counters().zero_copy_messages > 0).then_some(())
    });
    let mut batch = slow.client.reserve(BATCH);
    while batch.push(P0, None, |_| BYTES) {}
    let taken = batch.send(moment()).expect("down is no error") as u64;
    let counters = slow.client.counters();
    assert_eq!(counters.sent_datagrams + counters.undeliverable_datagrams, 40 + taken);
    assert_eq!(counters.unsent_datagrams, BATCH as u64 - taken);
    shell("ip link set near up; tc qdisc change dev near root tbf rate 800mbit burst 64kb limit 64mb");
    while !slow.server.recv(moment()).unwrap().is_empty() {}
    let mut next = 1000;
    wait_for("the first datagram after it", || {
        next += 1;
        send_all(&mut *slow.client, None, &datagrams(next..next + 1));
        (!slow.server.recv(moment()).unwrap().is_empty()).then_some(())
    });
}

/// A frame refers to 17 pieces of memory at most (`MAX_SKB_FRAGS`), and an aggregate of short datagrams lies in 64.
#[test]
fn what_is_refused_by_zero_copy_leaves_as_a_copy_and_the_record_says_so() {
    if !over_a_jumbo_cable("zero_copy::what_is_refused_by_zero_copy_leaves_as_a_copy_and_the_record_says_so") {
        return;
    }
    shell("ethtool -K near tx on >/dev/null");
    let mut server = there(|| uring(&long(unconnected_far(1))));
    let mut client = support::uring_zero_copy_aggregated(&long(connected(addr(&*server, 0))));
    for round in 0..30 {
        let sent: Vec<_> = (round * 64..round * 64 + 64).map(|number| datagram(number, 100)).collect();
        send_all(&mut *client, None, &sent);
        assert_eq!(recv_some(&mut *server, 64).into_iter().map(|seen| seen.bytes).collect::<Vec<_>>(), sent);
    }
    assert_eq!(sending(&*client), Sending::CopiedRefused);
    let counters = client.counters();
    assert_eq!((counters.sent_datagrams, counters.congested_sends, counters.undeliverable_datagrams), (30 * 64, 0, 0));
    assert!(client.limits().aggregates_sends, "what was refused is zero copy, and no aggregate");
}

#[test]
fn a_kernel_whose_probe_has_no_zero_copy_is_sent_copies_and_the_record_says_so() {
    for asked in [ZeroCopy::Auto, ZeroCopy::Always] {
        let of = move |config| Config { zero_copy: asked, ..long(config) };
        let done = refusing::without_a_probe(move || {
            let mut server = uring(&of(unconnected(1)));
            let mut client = uring(&of(connected(addr(&*server, 0))));
            send_all(&mut *client, None, &datagrams(0..20));
            let seen: Vec<_> = recv_some(&mut *server, 20).into_iter().map(|seen| seen.bytes).collect();
            assert_eq!(seen, datagrams(0..20));
            assert_eq!((sending(&*client), client.counters().zero_copy_messages), (Sending::CopiedByOldKernel, 0));
            client.limits().path.words()
        });
        assert!(done.is_none_or(|words| words == "kernel sockets, copied: this kernel has no zero copy"), "{done:?}");
    }
}

#[test]
fn an_engine_that_is_opened_and_closed_again_and_again_leaves_nothing() {
    if !inside_a_namespace("zero_copy::an_engine_that_is_opened_and_closed_again_and_again_leaves_nothing", NOTHING) {
        return;
    }
    let spec = PortSpec { bind: "10.9.8.1:0".parse().unwrap(), peer: Some("10.9.8.2:9".parse().unwrap()) };
    let open_and_send = || {
        let mut engine = uring_zero_copy(&long(Config::new(vec![spec])));
        let mut batch = engine.reserve(64);
        while batch.push(P0, None, |_| BYTES) {}
        assert_eq!(batch.send(soon()).unwrap(), 64);
    };
    let state = || (descriptors(), memory_kib("VmSize:"));
    open_and_send();
    let (before, kib) = state();
    (0..50).for_each(|_| open_and_send());
    let (after, kib_after) = state();
    assert_eq!(after, before);
    // Each has some five megabytes of blocks and buffers.
    assert!(kib_after < kib + 16 * 1024, "{kib} kB before, {kib_after} kB after");
}
