//! Garbage, more of it than of samples, while a stream runs: nothing of it may be lost, or counted as something it is not.

use std::net::{Ipv4Addr, UdpSocket};
use std::process::{Child, Stdio};

use takt_testing::{loopback, not_judged, wait_for};

use crate::software::{Radio, interrupt, json, number};

/// Ports of the UDP sockets that are bound to this host's loopback towards `addr`, from /proc/net/udp.
fn ports_towards(addr: Ipv4Addr) -> Vec<u16> {
    let table = std::fs::read_to_string("/proc/net/udp").expect("procfs");
    let peer = format!("{:08X}:", u32::from_le_bytes(addr.octets()));
    let lines = table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
    let towards = lines.filter(|fields| fields.get(2).is_some_and(|remote| remote.starts_with(&peer)));
    towards.filter_map(|fields| u16::from_str_radix(fields[1].split(':').nth(1)?, 16).ok()).collect()
}

/// Datagrams of garbage until the stream ends: this many to the radio, and to the host, at least.
const ENOUGH: u64 = 6_000;
/// Datagrams that the radio has sent by then, at least: some 230 before the first samples, 2700 a second after.
const STREAMED: u64 = 1_500;
/// To each port in a row, every few milliseconds: more than the stream itself, and no more than a radio takes in that shares its
/// processor with others.
const IN_A_ROW: u64 = 8;

/// Sends garbage to the host's and the radio's ports, until both have been sent enough of it beside samples, or the stream has ended.
fn pester(radio: &Radio, host: &mut Child) {
    let addr = loopback(60);
    let socket = UdpSocket::bind((loopback(61), 0)).expect("an address");
    let mut bytes = [0_u8; 1472];
    let mut state = 1_u64;
    // Not 49157: a radio plays samples from whoever sends them, and what starts like samples is.
    let of_radio = [49152, 49156, 49158, 49159].map(|port| (addr, port));
    let (mut to_host, mut to_radio) = (0, 0);
    wait_for("garbage enough", || {
        let of_host: Vec<_> = ports_towards(addr).into_iter().map(|port| (Ipv4Addr::LOCALHOST, port)).collect();
        for &to in of_host.iter().chain(&of_radio) {
            for _ in 0..IN_A_ROW {
                // xorshift: every run sends the same.
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let len = 16 + (state % 1457) as usize;
                let words = bytes[..len].chunks_mut(8);
                words.for_each(|chunk| chunk.copy_from_slice(&state.to_le_bytes()[..chunk.len()]));
                let _refused_by_the_kernel = socket.send_to(&bytes[..len], to);
            }
        }
        to_host += IN_A_ROW * of_host.len() as u64;
        to_radio += IN_A_ROW * of_radio.len() as u64;
        let ended = host.try_wait().expect("a child").is_some();
        let enough = to_host >= ENOUGH && to_radio >= ENOUGH && radio.sent_datagrams() >= Some(STREAMED);
        (ended || enough).then_some(())
    });
}

#[test]
fn strangers_talking_all_the_time_change_nothing() {
    let radio = Radio::at(60, &[]);
    let args = ["rate", "--rx", "1M", "--tx", "1M", "--duration", "1h", "--warm-up", "0s", "--json"];
    let mut rate = radio.command(&args).stdout(Stdio::piped()).spawn().expect("takt");
    radio.wait_until_used_by(&mut rate);
    pester(&radio, &mut rate);
    if rate.try_wait().expect("a child").is_none() {
        interrupt(&rate);
    }
    let outcome = json(&rate.wait_with_output().expect("a child"));
    let summary = radio.summary();
    let unsent = number(&summary, "/lag/unsent");
    if outcome["error"].is_string() && unsent > 0 {
        return not_judged(format!("the radio was stopped for a quarter of a second: {unsent} unsent, {outcome}"));
    }
    for key in [
        "/rx/bad_datagrams",
        "/rx/stale_datagrams",
        "/rx/unknown_messages",
        "/rx/uncorroborated_gaps",
        "/tx/unknown_reports",
    ] {
        assert_eq!(number(&outcome, key), 0, "{key} {outcome:#}");
    }
    assert!(number(&outcome, "/rx/samples") > 0 && number(&outcome, "/tx/samples") > 0, "{outcome:#}");
    // Nothing was lost on the way but what the radio itself did not send in time, and what a busy machine's buffers dropped
    // is called by that name.
    assert!(number(&outcome, "/rx/lost_by_place/path_datagrams") <= unsent, "{unsent} unsent: {outcome:#}");
    let device = &summary["devices"][0];
    // Nor on the way out. A radio that ran dry is given up on, and what it had is sent to it a second time.
    let drops = number(device, "/datagrams/receive_buffer_drops");
    let given_up = number(&outcome, "/tx/given_up_datagrams");
    if drops + given_up == 0 {
        assert_eq!(number(&outcome, "/tx/sequence_errors"), 0, "{outcome:#}");
    } else {
        not_judged(format!("the way out: {drops} datagrams dropped, {given_up} given up while the radio ran dry"));
    }
    assert!(number(device, "/control/malformed_datagrams") > 0, "{device:#}");
}
