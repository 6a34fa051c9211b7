use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use takt_load::Target;
use takt_load::lent::{LentOptions, LentRule};
use takt_load::setting::{Setting, Settings, Takes};
use takt_udp::ServeOptions;

use super::allowed::granted;
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
    use Service::{Disturbance, Exchange, Hog, Hop, Node, Share};
    for service in [Hop, Disturbance, Hog, Exchange, Node, Share] {
        assert!(RestrictedAgent::start(service, Value::Null).err().is_some_and(|why| why.lasting), "{service:?}");
    }
    for kind in [WorkloadKind::Deadline, WorkloadKind::WaveformTwoNodes, WorkloadKind::LongestPacketTwoNodes] {
        assert!(RestrictedAgent::run(kind.name(), Value::Null, &Stop::new()).unwrap_err().lasting);
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
fn with_waveform(kind: WorkloadKind, components: &str) -> Value {
    let text = format!("name = 'x'\nslot = '1 ms'\nchain = ['a', 'z']\n{components}");
    let options = json!(takt_load::waveform::WaveformOptions { text: Some(text), ..Default::default() });
    if kind == WorkloadKind::Calibration { json!({ "waveform": options }) } else { options }
}

#[test]
fn no_workload_opens_a_file_of_its_machine_or_starts_a_process_there() {
    let (counter, sink) = ("[component.a]\ntype = 'counter'\n", "[component.z]\ntype = 'counter-sink'\n");
    let reads = "[component.a]\ntype = 'file-source'\npath = '/etc/shadow'\nitem = 'byte'\n";
    for kind in [WorkloadKind::Waveform, WorkloadKind::LongestPacket, WorkloadKind::Calibration] {
        let run = |text: &str| RestrictedAgent::run(kind.name(), with_waveform(kind, text), &Stop::new());
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
    for (kind, key) in [
        (WorkloadKind::Wakeup, "cores"),
        (WorkloadKind::Rate, "cpus"),
        (WorkloadKind::RoundTrip, "cpus"),
        (WorkloadKind::Udp, "cpus"),
    ] {
        assert!(may_run(kind, &json!({ key: [own] })).is_ok() && may_run(kind, &json!({ key: [] })).is_ok());
        for cores in [json!([other]), json!([own, other]), json!(["0"]), json!([-1]), json!(0)] {
            let why = may_run(kind, &json!({ key: cores })).unwrap_err();
            assert!(why.lasting && why.to_string().contains("the cores that were granted"), "{why}");
        }
    }
    let server = json!({ "bind": "127.0.0.1:0", "cpus": [other] });
    assert!(RestrictedAgent::start(Service::UdpServer, server).err().is_some_and(|why| why.lasting));
}

/// Why options of a workload are refused.
fn why(kind: WorkloadKind, options: &Value) -> String {
    let why = RestrictedAgent::run(kind.name(), options.clone(), &Stop::new()).unwrap_err();
    assert!(why.lasting && why.fix.is_some(), "{why:?}");
    why.to_string()
}

#[test] // a tenant had 557 569 samples sent to a radio that was marked as hardware
fn no_lab_elsewhere_has_a_radio_transmit_takes_it_from_others_or_takes_an_interface() {
    for kind in [WorkloadKind::Rate, WorkloadKind::RoundTrip] {
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
    assert!(why(WorkloadKind::Udp, &json!({ "engine": "xdp" })).contains("give socket, mmsg or uring"));
    assert!(why(WorkloadKind::Udp, &json!({ "generator": "xdp" })).ends_with("give \"engine\""));
    assert!(why(WorkloadKind::Udp, &json!({ "server": "192.0.2.1:5201" })).contains("the loopback interface"));
}

#[test]
fn sizes_have_a_bound_that_no_lab_elsewhere_exceeds() {
    for (kind, key, value) in [
        (WorkloadKind::Interface, "packet_bytes", u64::MAX),
        (WorkloadKind::Interface, "packet_bytes", (128 << 20) + 1),
        (WorkloadKind::Rate, "recv_buffer_bytes", 1 << 40),
        (WorkloadKind::Rate, "call_datagrams", 97),
        (WorkloadKind::RoundTrip, "block_samples", 1 << 40),
        (WorkloadKind::Udp, "buffer_bytes", 1 << 40),
        (WorkloadKind::Waveform, "components", 1025),
        (WorkloadKind::Roles, "components", 1 << 40),
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
    assert_eq!(why.fix.as_deref(), Some("lower packet_bytes, or raise memory_mib in the node's cluster.toml"));
}

/// All that a document of options has, with everything that is left out where it has no value.
fn keys(document: Value) -> BTreeSet<String> {
    document.as_object().unwrap().keys().cloned().collect()
}

fn names(allowed: LentOptions) -> BTreeSet<String> {
    allowed.iter().map(|(name, _)| (*name).to_owned()).collect()
}

const TARGET: Target<'static> =
    Target { addr: Ipv4Addr::LOCALHOST, transmit: false, device: None, host_cpus: &[], cable_bps: None };

/// All options of a workload, as an experiment makes them.
fn options(kind: WorkloadKind, given: BTreeMap<String, Value>) -> Result<Value, Failure> {
    options_at(kind, given, &TARGET)
}

fn options_at(kind: WorkloadKind, given: BTreeMap<String, Value>, target: &Target<'_>) -> Result<Value, Failure> {
    let settings = Settings::complete(given, kind.settings().iter());
    kind.workload().at(&settings)?.options(target)
}

/// The settings of a workload that have no default, set to something.
fn required(kind: WorkloadKind) -> BTreeMap<String, Value> {
    let required = kind.settings().iter().filter(|setting| setting.default.is_none());
    required.map(|setting| (setting.name.to_owned(), some_value(setting))).collect()
}

fn some_value(setting: &Setting) -> Value {
    let value = match setting.takes {
        Takes::Word(words) => json!(words.last()),
        Takes::Whole(low, high) => json!(1000_i64.clamp(low, high)),
        Takes::Span | Takes::SpanOrNone => json!("10ms"),
        Takes::Domain(_) => json!(5e6),
    };
    setting.accept(&value).unwrap_or_else(|_| panic!("{value} is no value of setting {}", setting.name))
}

/// Every option of every workload, as its own struct has it, is listed; one that is added is refused until it is.
#[test]
fn each_option_of_each_workload_is_listed_and_any_other_one_is_refused() {
    for &kind in WorkloadKind::ALL {
        let Some(lent) = kind.workload().facts().lent else { continue };
        let document = &options(kind, required(kind)).unwrap();
        assert_eq!(keys(document.clone()), names(lent.options), "{kind:?}");
        assert!(may_run(kind, document).is_ok(), "{kind:?}: its defaults are allowed");
        let mut later = document.clone();
        later["later"] = json!(false);
        let says = format!("an agent on a node may not take option `later` of workload `{}`", kind.name());
        assert_eq!(why(kind, &later), says);
        assert!(why(kind, &json!([document])).contains("without options"));
    }
    let server = json!(ServeOptions::at("127.0.0.1:5201".parse().unwrap()));
    assert_eq!(keys(server), names(allowed::SERVER));
    let mut within = json!(takt_load::calibration::CalibrationOptions::default());
    within["waveform"]["later"] = json!(1);
    assert!(why(WorkloadKind::Calibration, &within).contains("take option `later`"));
}

/// Everything that an experiment can set is allowed, each word of each setting, but for packet engines that are none of
/// sockets.
#[test]
fn what_an_experiment_can_set_is_allowed_with_these_exceptions() {
    let mut refusals = BTreeSet::new();
    for &kind in WorkloadKind::ALL.iter().filter(|kind| kind.workload().facts().lent.is_some()) {
        for setting in kind.settings() {
            let Takes::Word(words) = setting.takes else { continue };
            for word in words {
                let mut given = required(kind);
                given.insert(setting.name.to_owned(), json!(word));
                // Some words want another setting too; what is not made needs no permission.
                let Ok(options) = options(kind, given) else { continue };
                if let Err(why) = may_run(kind, &options) {
                    refusals.insert((setting.name, *word));
                    assert!(why.to_string().contains("give socket, mmsg or uring"), "{why}");
                }
            }
        }
    }
    let engines = refusals.iter().map(|(name, _)| *name).collect::<BTreeSet<_>>();
    assert_eq!(engines, BTreeSet::from(["engine"]), "{refusals:?}");
    // Options that say `transmit` come from the lab's command line.
    let with = Target { transmit: true, ..TARGET };
    let given = [("mode", json!("tx")), ("rate_sps", json!(5e6)), ("duration", json!("1s"))];
    let given = given.map(|(name, value)| (name.to_owned(), value)).into();
    let options = options_at(WorkloadKind::Rate, given, &with).unwrap();
    assert!(may_run(WorkloadKind::Rate, &options).is_err());
}

#[test]
fn radios_are_never_told_to_transmit_by_any_list() {
    for &kind in WorkloadKind::ALL {
        for (name, rule) in kind.workload().facts().lent.map(|lent| lent.options).unwrap_or_default() {
            let never = matches!(rule, LentRule::Never(_));
            assert_eq!(never, ["transmit", "force"].contains(name), "{kind:?} {name}");
        }
    }
}
