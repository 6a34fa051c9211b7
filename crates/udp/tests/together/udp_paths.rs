//! Loss by place, over paths that lose at a known place. Each test runs again inside namespaces of its own, or is
//! skipped aloud where this host allows none.

use std::time::Duration;

use takt_packet::EngineKind;
use takt_udp::{CrossedAs, MadeBy, ServeOptions, UdpOptions, UdpReport};

use crate::inside::{self, CABLE, ROUTED, beside, beside_server, inside, inside_as_root};

/// A load from here to a server in namespace `server`, or here too.
fn load(namespace: Option<&'static str>, at: &str, change: impl FnOnce(UdpOptions) -> UdpOptions) -> UdpReport {
    beside_server(namespace, at, |at| {
        let options = UdpOptions {
            payload_bytes: 1000,
            duration: Duration::from_millis(500),
            warm_up: Duration::from_millis(50),
            ..UdpOptions::to(at)
        };
        inside::load(&change(options))
    })
}

#[test]
fn what_a_router_drops_was_lost_on_the_path() {
    let narrow = format!("{ROUTED}\ntc -n router qdisc add dev r1 root tbf rate 80mbit burst 16kb limit 40kb");
    if !inside("udp_paths::what_a_router_drops_was_lost_on_the_path", &narrow) {
        return;
    }
    // 8 kB/ms arrive at a bucket that passes 10 kB/ms of frames: a fifth more than fits.
    let report = load(Some("server"), "10.2.0.2:0", |o| UdpOptions { datagrams_per_s: Some(12_000.0), ..o });
    let lost = report.way.lost;
    assert!(lost.total > 0, "{lost:?}");
    assert_eq!((lost.by_place.path, lost.unplaced), (lost.total, 0), "{:#?}", report.evidence);
    assert_eq!(report.way.crossed_as, CrossedAs::Datagrams);
    assert!(report.clock.shared, "namespaces share the machine's clock");
}

#[test]
fn what_the_senders_own_queue_drops_was_lost_at_the_sender() {
    let narrow = format!("{ROUTED}\ntc qdisc add dev c0 root tbf rate 80mbit burst 16kb limit 40kb");
    if !inside("udp_paths::what_the_senders_own_queue_drops_was_lost_at_the_sender", &narrow) {
        return;
    }
    // The queue keeps what fits of an aggregate and calls it sent: only its own counter knows better.
    let report = load(Some("server"), "10.2.0.2:0", |o| UdpOptions { aggregate: true, ..o });
    let lost = report.way.lost;
    assert!(lost.total > 0, "{lost:?}");
    assert_eq!((lost.by_place.sender, lost.unplaced), (lost.total, 0), "{:#?}", report.evidence);
    // Single datagrams are reported and offered again: nothing is lost.
    let report = load(Some("server"), "10.2.0.2:0", |o| o);
    assert_eq!(report.way.lost.total, 0, "{:#?}", report.evidence);
    assert!(report.evidence.client.congested > 0);
}

#[test]
fn a_clean_path_loses_nothing_anywhere() {
    if !inside("udp_paths::a_clean_path_loses_nothing_anywhere", ROUTED) {
        return;
    }
    let report = load(Some("server"), "10.2.0.2:0", |o| UdpOptions { datagrams_per_s: Some(2000.0), flows: 4, ..o });
    assert_eq!((report.way.lost.total, report.way.reordered, report.way.duplicates), (0, 0, 0));
    assert_eq!(report.evidence.client.net.device.map(|d| d.name).as_deref(), Some("c0"));
    assert_eq!(report.evidence.server.net.device.map(|d| d.name).as_deref(), Some("s0"));
}

#[test]
fn aggregates_are_never_called_packets() {
    if !inside("udp_paths::aggregates_are_never_called_packets", "ip link set lo up") {
        return;
    }
    let report = load(None, "127.0.0.1:0", |o| UdpOptions { aggregate: true, ..o });
    assert!(report.evidence.client.aggregates_sends);
    assert_eq!(report.way.crossed_as, CrossedAs::Aggregates, "loopback carries them whole");
    let report = load(None, "127.0.0.1:0", |o| o);
    assert_eq!(report.way.crossed_as, CrossedAs::Datagrams);
}

#[test]
fn datagrams_longer_than_a_frame_cross_in_pieces_and_are_called_so() {
    if !inside("udp_paths::datagrams_longer_than_a_frame_cross_in_pieces_and_are_called_so", ROUTED) {
        return;
    }
    let jumbo = |o| UdpOptions { payload_bytes: 9000, datagrams_per_s: Some(200.0), ..o };
    let report = load(Some("server"), "10.2.0.2:0", jumbo);
    assert_eq!((report.way.lost.total, report.way.crossed_as), (0, CrossedAs::Fragments), "{:#?}", report.evidence);
    assert_eq!(report.evidence.client.net.mtu_bytes, Some(1500));
}

#[test]
fn what_the_kernel_makes_is_counted_to_the_datagram() {
    if !inside_as_root("udp_paths::what_the_kernel_makes_is_counted_to_the_datagram", CABLE) {
        return;
    }
    // As many as fit into the receiver's ring.
    const COUNT: u64 = 5000;
    let server = ServeOptions { engine: EngineKind::XDP, ..ServeOptions::at("10.1.0.2:0".parse().unwrap()) };
    let (report, summary, _) = beside(Some("server"), server, |at, _| {
        let generator = MadeBy::Xdp;
        inside::load(&UdpOptions {
            generator,
            payload_bytes: 64,
            datagrams: Some(COUNT),
            flows: 3,
            ..UdpOptions::to(at)
        })
    });
    let way = &report.way;
    assert_eq!((way.sent.datagrams, way.sent.payload_bytes, way.unsent), (COUNT, 64 * COUNT, 0));
    assert_eq!((way.duplicates, way.reordered, way.too_old, way.lost.unplaced), (0, 0, 0, 0), "{:#?}", report.evidence);
    assert_eq!(summary.received, way.received.datagrams);
    assert_eq!(report.evidence.client.engine_path, "made by the kernel's XDP");
    // Frames that pass an interface by XDP are among its frames, and a full queue of the driver's among its drops.
    assert_eq!(way.crossed_as, CrossedAs::Datagrams);
    assert!(way.received.datagrams > 0 && way.latency_kind == takt_udp::LatencyKind::OneWay);
}
