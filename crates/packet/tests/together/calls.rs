//! How many system calls a batch costs. The engine's own counters are held against strace, where that may trace.

use std::process::Command;

use takt_packet::{Config, Wait};

use crate::support::{
    Open, addr, await_delivery, connected, mmsg, mmsg_aggregated, numbered, recv_some, send_all, socket, unconnected,
    uring, uring_aggregated,
};

/// Sends `n` datagrams in one batch, receives them, and says what that cost: send calls, receive calls.
fn cost(open: Open, n: u32) -> (u64, u64) {
    let mut server = open(&unconnected(1));
    let mut client = open(&connected(addr(&*server, 0)));
    send_all(&mut *client, None, &numbered(0..n));
    // An aggregate comes as one.
    let aggregates = server.limits().aggregates_receives;
    await_delivery(addr(&*server, 0), if aggregates { 1 } else { n as usize });
    assert_eq!(recv_some(&mut *server, n as usize).len(), n as usize);
    (client.counters().send_calls, server.counters().receive_calls)
}

#[test]
fn a_batch_costs_one_call_with_mmsg_and_one_a_datagram_with_socket() {
    for n in [1, 2, 17, 63] {
        // The call that finds nothing more ends a batch.
        assert_eq!(cost(socket, n), (u64::from(n), u64::from(n) + 1));
        assert_eq!(cost(mmsg, n), (1, 1));
        assert_eq!(cost(mmsg_aggregated, n), (1, 1));
    }
    assert_eq!((cost(socket, 64), cost(mmsg, 64), cost(mmsg_aggregated, 64)), ((64, 64), (1, 1), (1, 1)));
    assert_eq!(cost(mmsg, 6400), (100, 100));
}

/// The kernel goes on with a receive by itself, for 32 datagrams before it looks after others.
#[test]
fn a_batch_costs_one_call_with_uring_and_a_receive_one_for_thirty_two_datagrams() {
    for n in [1, 2, 17, 32] {
        assert_eq!(cost(uring, n), (1, 1));
        assert_eq!(cost(uring_aggregated, n), (1, 1));
    }
    let (sends, receives) = cost(uring, 6400);
    assert_eq!(sends, 100);
    assert!(receives <= 200, "{receives} calls for 6400 datagrams");
}

#[test]
fn a_receive_that_finds_nothing_costs_no_call_with_uring() {
    for open in [uring, uring_aggregated] {
        let mut engine = open(&unconnected(3));
        for _ in 0..1000 {
            assert!(engine.recv(Wait::Poll).unwrap().is_empty());
        }
        // The first arms the receives.
        assert_eq!(engine.counters().receive_calls, 1);
    }
}

#[test]
fn a_receive_that_finds_nothing_costs_one_call_a_port() {
    for open in [socket, mmsg, mmsg_aggregated] {
        let mut engine = open(&Config { batch: 8, ..unconnected(3) });
        assert!(engine.recv(Wait::Poll).unwrap().is_empty());
        assert_eq!(engine.counters().receive_calls, 3);
    }
}

/// The calls named, of the whole process, as strace counts them. `None`, and skipped, where strace can't trace.
fn traced(test: &str, calls: &str) -> Option<Vec<String>> {
    let can = Command::new("strace").args(["-f", "-qq", "-o", "/dev/null", "true"]).output();
    if !can.as_ref().is_ok_and(|out| out.status.success()) {
        takt_testing::skip(format!("strace can't trace here: {can:?}   (apt-get install strace)"));
        return None;
    }
    let trace = std::env::temp_dir().join(format!("takt-packet-{}-{test}", std::process::id()));
    let exe = std::env::current_exe().expect("this binary");
    let out = Command::new("strace")
        .args(["-f", "-qq", "-e", &format!("trace={calls}"), "-o"])
        .arg(&trace)
        .arg(exe)
        .args(["--exact", test, "--nocapture"])
        .env("TAKT_PACKET_TRACED", "1")
        .output()
        .expect("it ran a moment ago");
    let text = std::fs::read_to_string(&trace).unwrap_or_default();
    let _absent = std::fs::remove_file(&trace);
    assert!(out.status.success(), "the traced test: {}", String::from_utf8_lossy(&out.stdout));
    Some(text.lines().map(str::to_owned).collect())
}

#[test]
fn strace_counts_what_the_engine_counts() {
    const N: u32 = 48;
    if std::env::var_os("TAKT_PACKET_TRACED").is_some() {
        cost(socket, N);
        cost(mmsg, N);
        // Both ends: a call that sends, up to two that receive, and those that end the receives.
        cost(uring, N);
        return;
    }
    let test = "calls::strace_counts_what_the_engine_counts";
    let Some(lines) = traced(test, "sendto,recvmsg,sendmmsg,recvmmsg,io_uring_enter") else { return };
    // Opening also sends itself single bytes, until the kernel stamps them on arrival: as many as that takes.
    let asks_for_stamps = |line: &str| line.ends_with("= 1") && line.contains("recvmsg(");
    let counts =
        |call: &str, line: &str| line.contains(call) && line.contains("MSG_DONTWAIT") && !asks_for_stamps(line);
    let count = |call: &str| lines.iter().filter(|line| counts(call, line)).count();
    let sent = lines.iter().filter(|line| line.contains("sendto(") && line.ends_with("= 4")).count();
    // Opening looks once at each of the three connected ports.
    assert_eq!((sent, count("recvmsg(")), (48, 49 + 3), "{lines:#?}");
    assert_eq!((count("sendmmsg("), count("recvmmsg(")), (1, 1), "{lines:#?}");
    let entered: Vec<_> = lines.iter().filter(|line| line.contains("io_uring_enter(")).collect();
    assert_eq!(entered.iter().filter(|line| line.contains(", 48, 48, ")).count(), 1, "{entered:#?}");
    assert!(entered.len() <= 1 + 2 + 4, "{entered:#?}");
}
