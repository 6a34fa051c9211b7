//! What an agent does that a node of a cluster has lent: less than one of this machine's own lab, as its lab may be anybody's.
//!
//! Workloads, and the other side of the node's loopback interface. Nothing that names a file of the node, acts on other
//! processes or interfaces of it, or sends what a lab makes up to where nobody has agreed.

use std::io::{BufRead, Write};
use std::net::{IpAddr, SocketAddr};

use serde_json::{Value, json};
use takt_agent::{Duty, Failure, ServeError, Service};
use takt_base::Stop;
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
    takt_agent::serve::<Lent>(input, output, abandon)
}

struct Lent(Running);

/// What reads files of the node, or reaches other machines from it.
const NOT_LENT: [Kind; 3] = [Kind::Deadline, Kind::WaveformTwoNodes, Kind::LongestPacketTwoNodes];

impl Duty for Lent {
    fn start(service: Service, options: Value) -> Result<Lent, Failure> {
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
        if NOT_LENT.iter().any(|kind| kind.name() == workload) {
            return Err(refused("this workload"));
        }
        if workload == Kind::Waveform.name() {
            waveform(&options)?;
        }
        Running::run(workload, options, stop)
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
        for kind in NOT_LENT {
            assert!(Lent::run(kind.name(), Value::Null, &Stop::new()).unwrap_err().lasting);
        }
        let of_components = |text: &str| {
            let text = format!("name = 'x'\nslot = '1 ms'\nchain = ['a', 'z']\n{text}");
            let options = takt_load::waveform::Options { text: Some(text), ..Default::default() };
            waveform(&serde_json::to_value(options).unwrap())
        };
        let (counter, sink) = ("[component.a]\ntype = 'counter'\n", "[component.z]\ntype = 'counter-sink'\n");
        assert!(of_components(&format!("{counter}{sink}")).is_ok());
        let reads = "[component.a]\ntype = 'file-source'\npath = '/etc/shadow'\nitem = 'byte'\n";
        for (text, component) in [(format!("{reads}{sink}"), "a"), (format!("{counter}{sink}isolated = true\n"), "z")] {
            let why = of_components(&text).unwrap_err();
            assert!(why.lasting && why.to_string().contains(&format!("component `{component}`, which may")), "{why}");
        }
        let server_at = |at: &str| server(serde_json::to_value(ServeOptions::at(at.parse().unwrap())).unwrap());
        assert!(server_at("127.0.0.1:0").is_ok() && server_at("0.0.0.0:0").is_err());
    }
}
