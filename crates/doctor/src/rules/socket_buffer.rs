//! `socket-buffer-small`: the kernel caps the buffer that a radio's driver asks for.

use std::net::UdpSocket;

use super::look::*;

pub(super) static RULE: Rule = Rule {
    id: "socket-buffer-small",
    topic: Topic::Sockets,
    title: "Socket buffers smaller than a radio's driver asks for",
    mechanism: "A radio does not wait. Datagrams that arrive while their reader is delayed stay in the socket's \
                buffer, and the kernel drops those that do not fit.",
    looks_at: "`net.core.rmem_max` and `net.core.wmem_max`, the most a program may ask for. A problem below what UHD \
               asks for a USRP N200: 50 000 000 bytes to receive and 1 048 576 bytes to send.",
    probe,
    known: "A reader that is delayed for longer than the buffer lasts loses samples. At 25 MS/s sc16, the default \
            limit of 212 992 bytes lasts 2.7 ms, 4 MiB last 53 ms and 50 MB last 0.6 s.",
    here: Some(measure),
    fix: Fix::Safe(plan),
    proof: Proof::By(Measure::Loss),
    ..Rule::COMMON
};

/// The limits that UHD 4 asks for; Debian's uhd-host sets the same (`/usr/lib/sysctl.d/50-uhd-usrp2.conf`).
const RECEIVE: (&str, u64) = ("net.core.rmem_max", 50_000_000);
const SEND: (&str, u64) = ("net.core.wmem_max", 1_048_576);

/// A full N200 frame of sc16: 363 samples and its headers.
const DATAGRAM_BYTES: usize = 1472;
const SAMPLES_A_DATAGRAM: f64 = 363.0;
const RATE_SPS: f64 = 25e6;

fn probe(host: &Host) -> Look {
    let (receive, send) = (sysctl(host, RECEIVE.0)?, sysctl(host, SEND.0)?);
    let observed = format!("{} {receive} B, {} {send} B", RECEIVE.0, SEND.0);
    let short = |value: i64, (name, wanted): (&str, u64)| {
        u64::try_from(value).map_or(true, |value| value < wanted).then(|| format!("{name} >= {wanted} B"))
    };
    let wanted: Vec<String> = [short(receive, RECEIVE), short(send, SEND)].into_iter().flatten().collect();
    if wanted.is_empty() { fine(observed) } else { problem(observed, wanted.join(", ")) }
}

fn plan(host: &Host) -> Plan {
    let mut changes = Vec::new();
    for (name, wanted) in [RECEIVE, SEND] {
        let setting = Setting::Sysctl(name.to_owned());
        let was = setting.get(host)?;
        if was.parse::<u64>().is_ok_and(|value| value < wanted) {
            changes.push(Change { setting, was, becomes: wanted.to_string() });
        }
    }
    Ok(changes)
}

/// Fills a socket with the largest buffer it may have, and counts the datagrams in it. Loopback only, about 10 ms.
fn measure(host: &Host) -> Option<String> {
    let limit = usize::try_from(sysctl(host, RECEIVE.0).ok()?).ok()?;
    let count = capacity_in_datagrams(limit.min(RECEIVE.1 as usize))?;
    let milliseconds = count as f64 * SAMPLES_A_DATAGRAM / RATE_SPS * 1e3;
    Some(format!(
        "the largest buffer on this host held {count} datagrams of {DATAGRAM_BYTES} B: {milliseconds:.1} ms at 25 MS/s sc16"
    ))
}

fn capacity_in_datagrams(ask_bytes: usize) -> Option<usize> {
    let receiver = UdpSocket::bind("127.0.0.1:0").ok()?;
    rustix::net::sockopt::set_socket_recv_buffer_size(&receiver, ask_bytes).ok()?;
    let granted = rustix::net::sockopt::socket_recv_buffer_size(&receiver).ok()?;
    let sender = UdpSocket::bind("127.0.0.1:0").ok()?;
    sender.connect(receiver.local_addr().ok()?).ok()?;
    receiver.set_nonblocking(true).ok()?;
    let mut datagram = [0u8; DATAGRAM_BYTES];
    // Each takes at least its own length of the buffer, so this many overfill it.
    for _ in 0..=granted / DATAGRAM_BYTES {
        sender.send(&datagram).ok()?;
    }
    let mut count = 0;
    while receiver.recv(&mut datagram).is_ok() {
        count += 1;
    }
    Some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(receive: &str, send: &str) -> Tree {
        Tree::new().with("/proc/sys/net/core/rmem_max", receive).with("/proc/sys/net/core/wmem_max", send)
    }

    #[test]
    fn a_small_limit_is_a_problem_and_only_it_is_changed() {
        let large = tree("50000000\n", "1048576\n");
        assert!(matches!(probe(&large.host()).unwrap(), Finding::Fine { .. }));
        assert_eq!(plan(&large.host()).unwrap(), []);
        let small = tree("212992\n", "4194304\n");
        let host = small.host();
        let Finding::Problem { observed, wanted } = probe(&host).unwrap() else { panic!("problem") };
        assert_eq!(observed, "net.core.rmem_max 212992 B, net.core.wmem_max 4194304 B");
        assert_eq!(wanted, "net.core.rmem_max >= 50000000 B");
        let changes = plan(&host).unwrap();
        assert_eq!(changes.len(), 1);
        assert_eq!(changes[0].command(), "sudo sysctl -w net.core.rmem_max=50000000");
        assert_eq!(changes[0].was, "212992");
        // A limit that is not there or no number is not fine.
        assert!(probe(&tree("50000000\n", "").host()).is_err());
        assert!(probe(&Tree::new().host()).is_err());
    }

    #[test]
    fn a_larger_buffer_holds_more() {
        let (small, large) = (capacity_in_datagrams(8_192).unwrap(), capacity_in_datagrams(65_536).unwrap());
        assert!(0 < small && small < large, "{small} {large}");
    }
}
