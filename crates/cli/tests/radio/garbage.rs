//! Garbage at full rate while a stream runs: nothing of it may be lost, or counted as something it is not.

use std::net::{Ipv4Addr, UdpSocket};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;

use crate::software::{Radio, TAKT, json, number};

/// Ports of the UDP sockets that are bound to this host's loopback towards `addr`, from /proc/net/udp.
fn ports_towards(addr: [u8; 4]) -> Vec<u16> {
    let table = std::fs::read_to_string("/proc/net/udp").expect("procfs");
    let peer = format!("{:08X}:", u32::from_le_bytes(addr));
    let lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let towards = lines.filter(|fields| fields.get(2).is_some_and(|remote| remote.starts_with(&peer)));
    towards.filter_map(|fields| u16::from_str_radix(fields[1].split(':').nth(1)?, 16).ok()).collect()
}

#[test]
fn strangers_talking_at_full_rate_change_nothing() {
    let radio = Radio::at("127.0.4.60", &[]);
    let mut rate = Command::new(TAKT);
    rate.args(["rate", "--rx", "1M", "--tx", "1M", "--duration", "2s", "--warm-up", "0s", "--json"]);
    let rate = rate.args(["--addr", radio.addr]).stdout(Stdio::piped()).spawn().expect("takt");
    while json(&radio.takt(&["find", "--json"]))[0]["state"]["kind"] != "in_use" {}

    let over = AtomicBool::new(false);
    let sent = AtomicU64::new(0);
    let out = thread::scope(|scope| {
        scope.spawn(|| {
            let socket = UdpSocket::bind("127.0.4.61:0").expect("an address");
            let mut bytes = [0_u8; 1472];
            let mut state = 1_u64;
            while !over.load(Ordering::Relaxed) {
                let own = ports_towards([127, 0, 4, 60]).into_iter().map(|port| (Ipv4Addr::LOCALHOST, port));
                // Not 49157: a radio plays samples from whoever sends them, and what starts like samples is.
                let radios = [49152, 49156, 49158, 49159].map(|port| (Ipv4Addr::new(127, 0, 4, 60), port));
                for to in own.chain(radios) {
                    for _ in 0..32 {
                        // xorshift: every run sends the same.
                        state ^= state << 13;
                        state ^= state >> 7;
                        state ^= state << 17;
                        let len = 16 + (state % 1457) as usize;
                        bytes[..len]
                            .chunks_mut(8)
                            .for_each(|chunk| chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]));
                        let _refused_by_the_kernel = socket.send_to(&bytes[..len], to);
                        sent.fetch_add(1, Ordering::Relaxed);
                    }
                }
            }
        });
        let out = rate.wait_with_output().expect("a child");
        over.store(true, Ordering::Relaxed);
        out
    });
    let outcome = json(&out);
    let summary = radio.summary();
    assert!(sent.load(Ordering::Relaxed) > 10_000);
    for key in [
        "/rx/bad_datagrams",
        "/rx/stale_datagrams",
        "/rx/unknown_messages",
        "/rx/uncorroborated_gaps",
        "/tx/unknown_reports",
    ] {
        assert_eq!(number(&outcome, key), 0, "{key} {outcome:#}");
    }
    // Nothing was lost on the way, and what a busy machine's buffers dropped is called by that name.
    assert_eq!(number(&outcome, "/rx/lost_by_place/path_datagrams"), 0, "{outcome:#}");
    let device = &summary["devices"][0];
    if number(device, "/datagrams/receive_buffer_drops") == 0 {
        assert_eq!(number(&outcome, "/tx/sequence_errors"), 0, "{outcome:#}");
    }
    assert!(number(device, "/control/malformed_datagrams") > 0, "{device:#}");
}
