//! What an agent does that a node of a cluster has lent: less than one of this machine's own lab, as its lab may be anybody's.
//!
//! Workloads, and the other side of the node's loopback interface, on the cores that were granted. Nothing that names a file of the
//! node, acts on other processes or interfaces of it, or sends what a lab makes up to where nobody has agreed.

use std::io::{BufRead, Write};
use std::net::{IpAddr, SocketAddr};
use std::sync::OnceLock;

use serde_json::{Value, json};
use takt_agent::{Duty, Failure, ServeError, Service};
use takt_base::Stop;
use takt_host::affinity::own_cpus;
use takt_load::Kind;

use crate::duty::Running;

/// Answers requests of a lab elsewhere until `input` ends.
///
/// # Errors
/// Nobody listens any more.
pub fn serve_lent(
    input: impl BufRead + Send + 'static,
    output: impl Write,
    abandon: impl FnOnce() + Send + 'static,
) -> Result<(), ServeError> {
    // Before anything is run that would be elsewhere.
    let _ = granted();
    takt_agent::serve::<Lent>(input, output, abandon)
}

struct Lent(Running);

impl Duty for Lent {
    fn start(service: Service, options: Value) -> Result<Lent, Failure> {
        stays_on_its_cores(&options)?;
        let options = match service {
            Service::Emulator => emulator(options)?,
            Service::UdpServer => server(options)?,
            Service::Hop | Service::Disturbance | Service::Hog | Service::Exchange | Service::Node => {
                return Err(refused("this service"));
            }
        };
        Running::start(service, options).map(Lent)
    }

    fn at(&self) -> Vec<String> {
        self.0.at()
    }

    fn look(&self) -> Result<Value, Failure> {
        self.0.look()
    }

    fn finish(self) -> Result<Value, Failure> {
        self.0.finish()
    }

    fn run(workload: &str, options: Value, stop: &Stop) -> Result<Value, Failure> {
        if let Some(kind) = Kind::named(workload) {
            may_run(kind, &options)?;
        }
        Running::run(workload, options, stop)
    }
}

/// The cores that the node has granted.
fn granted() -> &'static [usize] {
    static GRANTED: OnceLock<Vec<usize>> = OnceLock::new();
    GRANTED.get_or_init(own_cpus)
}

fn may_run(kind: Kind, options: &Value) -> Result<(), Failure> {
    stays_on_its_cores(options)?;
    match kind {
        Kind::Waveform | Kind::LongestPacket => waveform(options),
        Kind::Calibration => waveform(options.get("waveform").unwrap_or(&Value::Null)),
        // They read files of the node, or reach other machines from it.
        Kind::Deadline | Kind::WaveformTwoNodes | Kind::LongestPacketTwoNodes => Err(refused("this workload")),
        // They name neither files nor components.
        Kind::Udp | Kind::Rate | Kind::RoundTrip | Kind::Interface | Kind::Roles | Kind::Wakeup => Ok(()),
    }
}

/// Threads may tie themselves to any core, and a lab says to which: wherever options name some, they are of those granted.
fn stays_on_its_cores(options: &Value) -> Result<(), Failure> {
    let is_granted = |core: &Value| core.as_u64().is_some_and(|core| granted().iter().any(|&own| own as u64 == core));
    match options {
        Value::Object(all) => all.iter().try_for_each(|(key, value)| {
            let names_cores = matches!(key.as_str(), "cores" | "cpus" | "host_cpus");
            match value.as_array().filter(|_| names_cores) {
                Some(cores) if !cores.iter().all(is_granted) => Err(refused(&format!("`{key}` beside those granted"))),
                _ => stays_on_its_cores(value),
            }
        }),
        Value::Array(all) => all.iter().try_for_each(stays_on_its_cores),
        _ => Ok(()),
    }
}

/// The lab's own waveform may not do what a tenant's order may not either: open files of the node, or start processes there.
fn waveform(options: &Value) -> Result<(), Failure> {
    let options = serde_json::from_value(options.clone()).map_err(|error| Failure::saying(error.to_string()))?;
    let needs = takt_load::waveform::needs_its_machine(&options);
    match needs.map_err(|error| Failure { fix: error.fix(), ..Failure::saying(error.to_string()) })? {
        Some(component) => {
            Err(refused(&format!("component `{component}`, which may open files or is a process of its own,")))
        }
        None => Ok(()),
    }
}

/// Options that an emulated radio may have. It streams to the loopback interface alone.
const OPTIONS: [&str; 6] = ["model", "addrs", "allow", "priority", "beat_us", "sources"];

fn emulator(mut options: Value) -> Result<Value, Failure> {
    let all = options.as_object_mut().ok_or_else(|| refused("an emulator without options"))?;
    if let Some(key) = all.keys().find(|key| !OPTIONS.contains(&key.as_str())) {
        return Err(refused(&format!("`{key}` of an emulator")));
    }
    let each = |key: &str| all.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let is_here =
        |addr: &Value| addr.as_str().and_then(|text| text.parse::<IpAddr>().ok()).is_some_and(|ip| ip.is_loopback());
    if each("addrs").is_empty() || !each("addrs").iter().all(is_here) {
        return Err(refused("an emulator that is not on the loopback interface"));
    }
    if each("sources").iter().any(|source| source != "counter") {
        return Err(refused("a source but `counter`"));
    }
    all.insert("allow".into(), json!([]));
    Ok(options)
}

fn server(options: Value) -> Result<Value, Failure> {
    let bind = options.get("bind").and_then(Value::as_str).and_then(|text| text.parse::<SocketAddr>().ok());
    match bind {
        Some(at) if at.ip().is_loopback() => Ok(options),
        _ => Err(refused("a server that is not on the loopback interface")),
    }
}

fn refused(what: &str) -> Failure {
    Failure {
        chain: vec![format!("{what} is nothing that an agent on a node does")],
        fix: Some("the environment native, on that machine itself".into()),
        lasting: true,
    }
}

#[cfg(test)]
mod tests {
    use takt_udp::ServeOptions;

    use super::*;

    #[test]
    fn a_radio_beside_the_lent_agent_is_on_the_loopback_interface_and_knows_no_files() {
        let usual =
            json!({ "addrs": ["127.84.1.2"], "allow": ["10.0.0.0/8"], "priority": null, "sources": ["counter"] });
        assert_eq!(emulator(usual.clone()).unwrap()["allow"], json!([]));
        for (key, value) in [
            ("addrs", json!(["192.168.10.2"])),
            ("addrs", json!([])),
            ("sources", json!(["file:/etc/shadow"])),
            ("sinks", json!(["file:/etc/passwd"])),
            ("eeproms", json!(["/etc/passwd"])),
        ] {
            let mut other = usual.clone();
            other[key] = value;
            let why = emulator(other).unwrap_err();
            assert!(why.lasting && why.to_string().contains("nothing that an agent on a node does"), "{why}");
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
        let server_at = |at: &str| server(serde_json::to_value(ServeOptions::at(at.parse().unwrap())).unwrap());
        assert!(server_at("127.0.0.1:0").is_ok() && server_at("0.0.0.0:0").is_err());
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
            for (text, component) in
                [(format!("{reads}{sink}"), "a"), (format!("{counter}{sink}isolated = true\n"), "z")]
            {
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
        for (kind, key) in
            [(Kind::Wakeup, "cores"), (Kind::Rate, "cpus"), (Kind::RoundTrip, "cpus"), (Kind::Udp, "cpus")]
        {
            assert!(may_run(kind, &json!({ key: [own] })).is_ok() && may_run(kind, &json!({ key: [] })).is_ok());
            for cores in [json!([other]), json!([own, other]), json!(["0"]), json!([-1])] {
                let why = may_run(kind, &json!({ "deeper": [{ key: cores }] })).unwrap_err();
                assert!(why.lasting && why.to_string().contains(&format!("`{key}` beside those granted")), "{why}");
            }
        }
        let server = json!({ "bind": "127.0.0.1:0", "cpus": [other] });
        assert!(Lent::start(Service::UdpServer, server).err().is_some_and(|why| why.lasting));
    }
}
