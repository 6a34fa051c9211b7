//! The router that translates in the driver (`xdp-router`).

use std::fs;
use std::net::SocketAddrV4;
use std::thread;

use takt_testbed::net::{Namespace, Path};

use super::{build, ground, ping, snmp, socket, spec};

fn router_of(path: &Path) -> std::path::PathBuf {
    let host = &path.host.namespace;
    Namespace::path(host).with_file_name(host.name().replace("-host", "-router"))
}

/// A datagram without a checksum (RFC 768), from a port that nobody has.
fn send_without_checksum(namespace: &Namespace, from: u16, to: SocketAddrV4, payload: &[u8]) {
    use rustix::net::{AddressFamily, SendFlags, SocketType, ipproto, sendto, socket};
    let length = u16::try_from(8 + payload.len()).unwrap();
    let header = [from, to.port(), length, 0].map(u16::to_be_bytes).concat();
    let raw = || socket(AddressFamily::INET, SocketType::RAW, Some(ipproto::UDP)).unwrap();
    let raw = namespace.inside(raw).unwrap();
    sendto(raw, &[&header, payload].concat(), SendFlags::empty(), &SocketAddrV4::new(*to.ip(), 0)).unwrap();
}

#[test]
fn the_fast_router_translates_in_the_driver_and_the_kernel_forwards_nothing() {
    let ground = ground("forwarder");
    let Some(path) = build(&ground, &spec("xdp-router", &[])) else { return };
    let router = router_of(&path);
    let radio = socket(&path.radio.namespace, (path.radio.address, 49152));
    let host = socket(&path.host.namespace, (path.host.address, 0));
    let port = host.local_addr().unwrap().port();
    let mut buffer = [0; 64];
    for number in 0..100 {
        // Payloads of all lengths, so that checksums meet odd ones.
        let payload = vec![7; number % 50];
        host.send_to(&payload, (path.radio.address, 49152)).unwrap();
        let (len, from) = radio.recv_from(&mut buffer).unwrap();
        assert_eq!((len, from.port()), (payload.len(), port), "one host inside keeps its ports");
        radio.send_to(&buffer[..len], from).unwrap();
        assert_eq!(host.recv(&mut buffer).unwrap(), len);
    }
    let to = SocketAddrV4::new(path.radio.address, 49152);
    send_without_checksum(&path.host.namespace, 4000, to, b"none");
    assert_eq!(radio.recv_from(&mut buffer).unwrap().1.port(), 4000);
    let text = thread::spawn(move || {
        takt_host::namespace::enter_network(router).unwrap();
        fs::read_to_string("/proc/thread-self/net/snmp").unwrap()
    });
    let text = text.join().unwrap();
    let mut lines = text.lines().filter_map(|line| line.strip_prefix("Ip: "));
    let column = lines.next().unwrap().split(' ').position(|column| column == "ForwDatagrams").unwrap();
    assert_eq!(lines.next().unwrap().split(' ').nth(column), Some("0"));
    for end in [&path.host, &path.radio] {
        let errors =
            [("Ip", "InHdrErrors"), ("Udp", "InCsumErrors")].map(|(group, name)| snmp(&end.namespace, group, name));
        assert_eq!(errors, [0, 0], "the checksums were right");
    }
}

#[test]
fn the_fast_router_lets_only_replies_in() {
    let ground = ground("unasked");
    let Some(path) = build(&ground, &spec("xdp-router", &[])) else { return };
    let radio = socket(&path.radio.namespace, (path.radio.address, 49152));
    let host = socket(&path.host.namespace, (path.host.address, 0));
    let port = host.local_addr().unwrap().port();
    // The address at which the host seems to be. The router's kernel answers that nobody listens: then it has come and
    // gone.
    let seen = std::net::Ipv4Addr::new(192, 168, 10, 1);
    let stranger = socket(&path.radio.namespace, (path.radio.address, 0));
    stranger.connect((seen, port)).unwrap();
    stranger.send(b"unasked").unwrap();
    let mut buffer = [0; 64];
    assert_eq!(stranger.recv(&mut buffer).unwrap_err().kind(), std::io::ErrorKind::ConnectionRefused);
    host.send_to(b"question", (path.radio.address, 49152)).unwrap();
    let (_, from) = radio.recv_from(&mut buffer).unwrap();
    assert_eq!(from, (seen, port).into());
    radio.send_to(b"answer", from).unwrap();
    let len = host.recv(&mut buffer).unwrap();
    assert_eq!(&buffer[..len], b"answer", "the first that came in");
}

#[test]
fn what_the_fast_router_leaves_to_the_kernel_crosses_as_well() {
    let ground = ground("slow");
    for options in [&[][..], &[("delay", "1ms")], &[("mtu", "9000")]] {
        let Some(path) = build(&ground, &spec("xdp-router", options)) else { return };
        let radio = socket(&path.radio.namespace, (path.radio.address, 49152));
        let host = socket(&path.host.namespace, (path.host.address, 0));
        // As large as a frame, in fragments, and small again: the second goes by the kernel, from the same port.
        let mut buffer = [0; 20_000];
        for payload in [1472, 8972, 16_000, 1] {
            host.send_to(&vec![7; payload], (path.radio.address, 49152)).unwrap();
            let (len, from) = radio.recv_from(&mut buffer).unwrap();
            assert_eq!((len, from.port()), (payload, host.local_addr().unwrap().port()));
            radio.send_to(&buffer[..len], from).unwrap();
            assert_eq!(host.recv(&mut buffer).unwrap(), payload);
        }
        ping(&path, 63);
    }
}
