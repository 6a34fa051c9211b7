//! Configurations that the engine refuses, and the fix that it names: addresses, sizes, interfaces, cards, permissions.

use rustix::process::{Resource, Rlimit, setrlimit};
use rustix::thread::CapabilitySet;
use takt_packet::{Config, EngineError, EngineKind, Missing, PortSpec, open};

use crate::common::{KIND, huge_pages_free, missing, spec};
use crate::support::far::{over_a_cable, shell};
use crate::support::{addr, dpdk, interface, keep_capabilities, recv_some, stranger, unconnected};

#[test]
fn what_is_missing_is_reported_with_the_fix() {
    if !over_a_cable("missing::what_is_missing_is_reported_with_the_fix") {
        return;
    }
    assert_eq!(missing(&spec("0.0.0.0:0")), Missing::OneAddress);
    assert_eq!(missing(&spec("[::1]:0")), Missing::Ipv6);
    assert!(matches!(open(KIND, &spec("10.98.0.9:0")), Err(EngineError::NotLocal { .. })));
    let jumbo = missing(&Config { max_payload_bytes: 1473, ..unconnected(1) });
    assert_eq!(jumbo, Missing::Mtu { interface: "near".to_owned(), mtu: 1500, need: 1501 });
    let giant = missing(&Config { max_payload_bytes: 40_000, ..unconnected(1) });
    assert!(matches!(giant, Missing::ShortFrames { payload: 40_000, .. }), "{giant}");
    let requested = Config { max_payload_bytes: 9000, shorter_payloads: true, ..unconnected(1) };
    assert_eq!(dpdk(&requested).limits().max_payload_bytes, 1472);

    let first = dpdk(&unconnected(1));
    let other = interface::missing("dpdk:af_xdp".parse().unwrap(), &unconnected(1));
    assert_eq!(other, Missing::DpdkInterface { interface: "near".to_owned() });
    let long = missing(&Config { max_payload_bytes: 1473, ..unconnected(1) });
    assert_eq!(long, jumbo, "as where it would be the first");
    let taken = open(KIND, &Config::new(vec![PortSpec { bind: addr(&*first, 0), peer: None }]));
    assert!(matches!(taken, Err(EngineError::PortInUse { .. })));
    drop(first);
    drop(dpdk(&unconnected(1)));

    let card: EngineKind = "dpdk:0000:ff:1f.7@10.0.0.1/24".parse().unwrap();
    assert_eq!(interface::missing(card, &spec("0.0.0.0:0")), Missing::DpdkPci);

    shell("ip link set near down");
    assert_eq!(missing(&unconnected(1)), Missing::InterfaceUp { interface: "near".to_owned() });
}

#[test]
fn a_device_that_another_engine_opened_for_shorter_datagrams_is_to_be_opened_the_other_way_round() {
    const NAME: &str =
        "missing::a_device_that_another_engine_opened_for_shorter_datagrams_is_to_be_opened_the_other_way_round";
    if !over_a_cable(NAME) {
        return;
    }
    let long = Config { max_payload_bytes: 20_000, ..spec("127.0.0.1:0") };
    let first = open(KIND, &spec("127.0.0.1:0")).unwrap_or_else(|error| panic!("{error} {error:?}"));
    let second = missing(&long);
    assert!(matches!(second, Missing::DeviceOpenedShort { payload: 20_000, most: 9000.., .. }), "{second:?}");
    assert!(second.to_string().contains("the longest datagrams first"), "{second}");
    drop(first);
    let first = open(KIND, &long).unwrap_or_else(|error| panic!("{error} {error:?}"));
    assert_eq!(first.limits().max_payload_bytes, 20_000);
    drop(open(KIND, &spec("127.0.0.1:0")).unwrap_or_else(|error| panic!("{error} {error:?}")));
}

#[test]
fn a_card_that_is_not_there_or_has_no_huge_pages_is_reported() {
    if !over_a_cable("missing::a_card_that_is_not_there_or_has_no_huge_pages_is_reported") {
        return;
    }
    let card: EngineKind = "dpdk:0000:ff:1f.7@10.0.0.1/24".parse().unwrap();
    let missing = interface::missing(card, &spec("0.0.0.0:0"));
    let is_why = match &missing {
        Missing::HugePages { free_mib } => *free_mib < 64 && huge_pages_free() < 32,
        Missing::DpdkDevice { device, .. } => device == "0000:ff:1f.7@10.0.0.1/24",
        // A container may hide the bus.
        Missing::DpdkStart { .. } => true,
        _ => false,
    };
    assert!(is_why, "{missing:?}");
}

#[test]
fn without_privileges_it_says_which() {
    if !over_a_cable("missing::without_privileges_it_says_which") {
        return;
    }
    keep_capabilities(CapabilitySet::empty());
    assert_eq!(missing(&unconnected(1)), Missing::PacketSockets);
    let needs = [("dpdk:af_xdp", "CAP_NET_ADMIN, CAP_NET_RAW and CAP_BPF"), ("dpdk:tap@10.97.0.2/24", "CAP_NET_ADMIN")];
    for (name, needs) in needs {
        let text = interface::missing(name.parse().unwrap(), &unconnected_of(name)).to_string();
        assert!(text.contains(&format!(" needs {needs}, which this process lacks")), "{text}");
    }
}

#[test]
fn a_tap_takes_one_capability_and_no_datagram_that_its_frames_do_not_carry() {
    if !over_a_cable("missing::a_tap_takes_one_capability_and_no_datagram_that_its_frames_do_not_carry") {
        return;
    }
    keep_capabilities(CapabilitySet::NET_ADMIN);
    let kind: EngineKind = "dpdk:tap@10.97.0.2/24".parse().unwrap();
    let any = || spec("0.0.0.0:0");
    let long = interface::missing(kind, &Config { max_payload_bytes: 1473, ..any() });
    assert!(matches!(long, Missing::DeviceFrames { payload: 1473, most: 1472, .. }), "{long:?}");
    let text = long.to_string();
    assert!(text.contains("tap@10.97.0.2/24 carries 1472 bytes") && !text.contains("ip link set"), "{text}");
    let engine = open(kind, &any()).unwrap_or_else(|error| panic!("{error} {error:?}"));
    assert_eq!(engine.limits().max_payload_bytes, 1472);
}

#[test]
fn two_capabilities_and_an_ordinary_limit_of_locked_memory_are_enough() {
    if !over_a_cable("missing::two_capabilities_and_an_ordinary_limit_of_locked_memory_are_enough") {
        return;
    }
    let limit = |bytes| Rlimit { current: Some(bytes), maximum: Some(bytes) };
    setrlimit(Resource::Memlock, limit(8 << 20)).unwrap();
    keep_capabilities(CapabilitySet::NET_RAW | CapabilitySet::NET_ADMIN);
    let mut server = dpdk(&unconnected(1));
    stranger().send_to(b"takt?", addr(&*server, 0)).unwrap();
    assert_eq!(recv_some(&mut *server, 1)[0].bytes, b"takt?");
    drop(server);
    setrlimit(Resource::Memlock, limit(1 << 20)).unwrap();
    assert_eq!(missing(&unconnected(1)), Missing::LockedMemory);
}

fn unconnected_of(name: &str) -> Config {
    if name.contains('@') { spec("0.0.0.0:0") } else { unconnected(1) }
}
