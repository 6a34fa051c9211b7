use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use takt_load::setting::{Settings, Takes};
use takt_load::{Target, interface, rate};
use takt_udp::ServeOptions;

use super::allowed::{Allowed, Rule, granted};
use super::*;

#[test]
fn a_radio_beside_the_lent_agent_is_on_the_loopback_interface_and_knows_no_files() {
    let usual = json!({ "addrs": ["127.84.1.2"], "allow": ["10.0.0.0/8"], "priority": null, "sources": ["counter"] });
    assert_eq!(emulator(usual.clone()).unwrap()["allow"], json!([]));
    for (key, value) in [
        ("addrs", json!(["192.168.10.2"])),
        ("addrs", json!([])),
        ("sources", json!(["file:/etc/shadow"])),
        ("sinks", json!(["file:/etc/passwd"])),
        ("eeproms", json!(["/etc/passwd"])),
        ("engine", json!("xdp-generic")),
        ("as_hardware", json!(true)),
        ("cores", json!([0])),
    ] {
        let mut other = usual.clone();
        other[key] = value;
        let why = emulator(other).unwrap_err();
        assert!(why.lasting && why.to_string().starts_with("an agent on a node may not"), "{why}");
    }
    assert!(emulator(json!([])).is_err());
}

#[test]
fn it_touches_nothing_else_of_its_machine() {
    for service in [Service::Hop, Service::Disturbance, Service::Hog, Service::Exchange, Service::Node] {
        assert!(Lent::start(service, Value::Null).err().is_some_and(|why| why.lasting), "{service:?}");
    }
    for kind in [Kind::Deadline, Kind::WaveformTwoNodes, Kind::LongestPacketTwoNodes] {
        assert!(Lent::run(kind.name(), Value::Null, &Stop::new()).unwrap_err().lasting);
    }
    let server = |change: fn(&mut Value)| {
        let mut options = json!(ServeOptions::at("127.0.0.1:0".parse().unwrap()));
        change(&mut options);
        allowed::check("the UDP server", allowed::SERVER, &options)
    };
    assert!(server(|_| ()).is_ok());
    for change in [
        (|options| options["bind"] = json!("0.0.0.0:0")) as fn(&mut Value),
        |options| options["engine"] = json!("xdp-generic"),
        |options| options["buffer_bytes"] = json!(1_u64 << 40),
        |options| options["later"] = json!(true),
    ] {
        assert!(server(change).is_err_and(|why| why.lasting));
    }
}

/// Options of a workload with a waveform of its own.
fn with_waveform(kind: Kind, components: &str) -> Value {
    let text = format!("name = 'x'\nslot = '1 ms'\nchain = ['a', 'z']\n{components}");
    let options = json!(takt_load::waveform::Options { text: Some(text), ..Default::default() });
    if kind == Kind::Calibration { json!({ "waveform": options }) } else { options }
}

#[test]
fn no_workload_opens_a_file_of_its_machine_or_starts_a_process_there() {
    let (counter, sink) = ("[component.a]\ntype = 'counter'\n", "[component.z]\ntype = 'counter-sink'\n");
    let reads = "[component.a]\ntype = 'file-source'\npath = '/etc/shadow'\nitem = 'byte'\n";
    for kind in [Kind::Waveform, Kind::LongestPacket, Kind::Calibration] {
        let run = |text: &str| Lent::run(kind.name(), with_waveform(kind, text), &Stop::new());
        for (text, component) in [(format!("{reads}{sink}"), "a"), (format!("{counter}{sink}isolated = true\n"), "z")] {
            let why = run(&text).unwrap_err();
            let says = format!("component `{component}`, which may open files");
            assert!(why.lasting && why.to_string().contains(&says), "{kind:?}: {why}");
        }
        assert!(may_run(kind, &with_waveform(kind, &format!("{counter}{sink}"))).is_ok(), "{kind:?}");
    }
}

#[test]
fn no_workload_leaves_the_cores_that_were_granted() {
    let (own, other) = (granted()[0], granted().iter().max().unwrap() + 1);
    for (kind, key) in [(Kind::Wakeup, "cores"), (Kind::Rate, "cpus"), (Kind::RoundTrip, "cpus"), (Kind::Udp, "cpus")] {
        assert!(may_run(kind, &json!({ key: [own] })).is_ok() && may_run(kind, &json!({ key: [] })).is_ok());
        for cores in [json!([other]), json!([own, other]), json!(["0"]), json!([-1]), json!(0)] {
            let why = may_run(kind, &json!({ key: cores })).unwrap_err();
            assert!(why.lasting && why.to_string().contains("the cores that were granted"), "{why}");
        }
    }
    let server = json!({ "bind": "127.0.0.1:0", "cpus": [other] });
    assert!(Lent::start(Service::UdpServer, server).err().is_some_and(|why| why.lasting));
}

/// Why options of a workload are refused.
fn why(kind: Kind, options: &Value) -> String {
    let why = Lent::run(kind.name(), options.clone(), &Stop::new()).unwrap_err();
    assert!(why.lasting && why.fix.is_some(), "{why:?}");
    why.to_string()
}

#[test] // a tenant had 557 569 samples sent to a radio that was marked as hardware
fn no_lab_elsewhere_has_a_radio_transmit_takes_it_from_others_or_takes_an_interface() {
    for kind in [Kind::Rate, Kind::RoundTrip] {
        let refused = |key: &str, value: Value| why(kind, &json!({ "addr": "127.0.0.1", key: value }));
        let name = kind.name();
        assert_eq!(
            refused("transmit", json!(true)),
            format!(
                "an agent on a node may not take `transmit = true` of workload `{name}`: the node's owner has not agreed to \
                 transmit with that radio"
            )
        );
        assert!(refused("force", json!(true)).ends_with("another host may be using that radio"));
        for engine in ["xdp-generic", "xdp", "xdp:3", "dpdk", "auto", "none"] {
            let why = refused("engine", json!(engine));
            assert!(why.contains("give socket, mmsg or uring"), "{why}");
        }
        for (key, value) in [("transmit", json!(false)), ("force", json!(false)), ("engine", json!("uring"))] {
            assert!(may_run(kind, &json!({ key: value })).is_ok());
        }
    }
    assert!(why(Kind::Udp, &json!({ "engine": "xdp" })).contains("give socket, mmsg or uring"));
    assert!(why(Kind::Udp, &json!({ "generator": "xdp" })).ends_with("give \"engine\""));
    assert!(why(Kind::Udp, &json!({ "server": "192.0.2.1:5201" })).contains("the loopback interface"));
}

#[test]
fn sizes_have_a_bound_that_no_lab_elsewhere_exceeds() {
    for (kind, key, value) in [
        (Kind::Interface, "packet_bytes", u64::MAX),
        (Kind::Interface, "packet_bytes", (128 << 20) + 1),
        (Kind::Rate, "recv_buffer_bytes", 1 << 40),
        (Kind::Rate, "call_datagrams", 97),
        (Kind::RoundTrip, "block_samples", 1 << 40),
        (Kind::Udp, "buffer_bytes", 1 << 40),
        (Kind::Waveform, "components", 1025),
        (Kind::Roles, "components", 1 << 40),
    ] {
        assert!(why(kind, &json!({ key: value })).contains(": give at most "), "{kind:?} {key}");
        assert!(why(kind, &json!({ key: -1 })).contains(": give at most "), "{kind:?} {key}");
    }
}

#[test]
fn memory_outside_the_quota_is_refused() {
    let of = |bytes: u64, granted: Option<u64>| allowed::fits("workload `interface`", "packet_bytes", bytes, granted);
    assert!(of(64 << 20, Some(64 << 20)).is_ok() && of(u64::MAX, None).is_ok());
    let why = of((64 << 20) + 1, Some(64 << 20)).unwrap_err();
    let says =
        "an agent on a node may not take 65 MiB for `packet_bytes` of workload `interface`: it was granted 64 MiB";
    assert_eq!(why.to_string(), says);
    assert_eq!(why.fix.as_deref(), Some("a lower packet_bytes, or a higher memory_mib in the node's cluster.toml"));
}

/// All that a document of options has, with everything that is left out where it has no value.
fn keys(document: Value) -> BTreeSet<String> {
    document.as_object().unwrap().keys().cloned().collect()
}

fn names(allowed: Allowed) -> BTreeSet<String> {
    allowed.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// Every option of every workload, as its own struct has it, is listed; one that is added is refused until it is.
#[test]
fn each_option_of_each_workload_is_listed_and_any_other_one_is_refused() {
    let at = "127.0.0.1:5201".parse().unwrap();
    let model = Some(takt_load::Model::N200);
    let documents = [
        (Kind::Udp, json!(takt_udp::Options::to(at))),
        (Kind::Rate, json!(rate::Options { model, ..Default::default() })),
        (Kind::RoundTrip, json!(takt_load::round_trip::Options { model, ..Default::default() })),
        (Kind::Waveform, json!(takt_load::waveform::Options::default())),
        (Kind::LongestPacket, json!(takt_load::waveform::Options::default())),
        (Kind::Interface, json!(interface::Options::default())),
        (Kind::Roles, json!(takt_load::roles::Options::default())),
        (Kind::Calibration, json!(takt_load::calibration::Options::default())),
        (Kind::Wakeup, json!(takt_load::wakeup::Options::default())),
    ];
    for &kind in Kind::ALL {
        let Some(allowed) = allowed::of_workload(kind) else { continue };
        let (_, document) = documents.iter().find(|(of, _)| *of == kind).expect("a document of each that is allowed");
        assert_eq!(keys(document.clone()), names(allowed), "{kind:?}");
        assert!(may_run(kind, document).is_ok(), "{kind:?}: its defaults are allowed");
        let mut later = document.clone();
        later["later"] = json!(false);
        let says = format!("an agent on a node may not take option `later` of workload `{}`", kind.name());
        assert_eq!(why(kind, &later), says);
        assert!(why(kind, &json!([document])).contains("without options"));
    }
    let server = json!(ServeOptions::at(at));
    assert_eq!(keys(server), names(allowed::SERVER));
    let mut within = json!(takt_load::calibration::Options::default());
    within["waveform"]["later"] = json!(1);
    assert!(why(Kind::Calibration, &within).contains("take option `later`"));
}

/// A value of each setting that has no default.
fn needed(name: &str) -> Value {
    match name {
        "payload_bytes" => json!(1472),
        "direction" => json!("both"),
        "mode" => json!("duplex"),
        "duration" => json!("10ms"),
        "rate_sps" => json!(5e6),
        "delay" => json!("1ms"),
        "packet_bytes" => json!(1000),
        other => panic!("a value for setting {other}"),
    }
}

/// What an experiment can set is allowed, each word of each setting, but for packet engines that are none of sockets.
#[test]
fn what_an_experiment_can_set_is_allowed_with_these_exceptions() {
    let target = Target { addr: Ipv4Addr::LOCALHOST, transmit: false, host_cpus: &[] };
    let mut refusals = BTreeSet::new();
    for &kind in Kind::ALL {
        if allowed::of_workload(kind).is_none() {
            continue;
        }
        let required = kind.settings().iter().filter(|setting| setting.default_value().is_none());
        let given: BTreeMap<String, Value> =
            required.map(|setting| (setting.name.to_owned(), needed(setting.name))).collect();
        let options = |given: BTreeMap<String, Value>| {
            kind.workload().options(&Settings::complete(given, kind.settings().iter()), &target)
        };
        assert!(may_run(kind, &options(given.clone()).unwrap()).is_ok(), "{kind:?}");
        for setting in kind.settings() {
            let Takes::Word(words) = setting.takes else { continue };
            for word in words {
                let mut given = given.clone();
                given.insert(setting.name.to_owned(), json!(word));
                // Some words want another setting too; what is not made needs no permission.
                let Ok(options) = options(given) else { continue };
                if let Err(why) = may_run(kind, &options) {
                    refusals.insert((setting.name, *word));
                    assert!(why.to_string().contains("give socket, mmsg or uring"), "{why}");
                }
            }
        }
    }
    let engines = refusals.iter().map(|(name, _)| *name).collect::<BTreeSet<_>>();
    assert!(engines.is_subset(&BTreeSet::from(["engine"])), "{refusals:?}");
    // Options that say `transmit` come from the lab's command line.
    let with = Target { transmit: true, ..target };
    let given = [("mode", json!("tx")), ("rate_sps", json!(5e6))].map(|(name, value)| (name.to_owned(), value));
    let settings = Settings::complete(given.into(), Kind::Rate.settings().iter());
    let options = Kind::Rate.workload().options(&settings, &with).unwrap();
    assert!(may_run(Kind::Rate, &options).is_err());
}

#[test]
fn radios_are_never_told_to_transmit_by_any_list() {
    for &kind in Kind::ALL {
        for (name, rule) in allowed::of_workload(kind).unwrap_or_default() {
            let never = matches!(rule, Rule::Never(_));
            assert_eq!(never, ["transmit", "force"].contains(name), "{kind:?} {name}");
        }
    }
}
