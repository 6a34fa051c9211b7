//! Nodes in processes of their own, on this machine; and what the kernel says of them.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use takt_base::Stop;
use takt_cluster::certificates::{Grant, issue};
use takt_cluster::{Folder, Manager, Node, Offer, PtpSettings, Settings};
use takt_mapper::ClassSpec;
use takt_packet::EngineKind;
use takt_runtime::Registry;

/// How members of a fleet reach each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Links {
    Mesh,
    Router,
}

/// CPU time of a node's threads by purpose, µs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parts {
    /// Zenoh's own: sends, receives, encrypts, takes heartbeats.
    pub zenoh: f64,
    /// Sends heartbeats, prolongs leases.
    pub heartbeats: f64,
    /// Asks and answers what time it is.
    pub clock: f64,
    /// Answers questions, publishes statistics.
    pub node: f64,
    /// Data plane: not part of the control plane.
    pub workers: f64,
    /// The same.
    pub bridge: f64,
}

impl Parts {
    /// All but the data plane.
    pub fn control(&self) -> f64 {
        self.zenoh + self.heartbeats + self.clock + self.node
    }

    fn of(&mut self, thread: &str) -> &mut f64 {
        match thread {
            "takt-beat" => &mut self.heartbeats,
            "takt-clock" => &mut self.clock,
            "takt-bridge" => &mut self.bridge,
            _ if thread.starts_with("takt-worker") => &mut self.workers,
            _ if ["app-", "net-", "acc-", "tx-", "rx-"].iter().any(|zenoh| thread.starts_with(zenoh)) => {
                &mut self.zenoh
            }
            _ => &mut self.node,
        }
    }

    /// Change from `before` to `self`, a second.
    pub fn since(&self, before: &Parts, seconds: f64) -> Parts {
        let rate = |part: fn(&Parts) -> f64| (part(self) - part(before)) / seconds;
        Parts {
            zenoh: rate(|parts| parts.zenoh),
            heartbeats: rate(|parts| parts.heartbeats),
            clock: rate(|parts| parts.clock),
            node: rate(|parts| parts.node),
            workers: rate(|parts| parts.workers),
            bridge: rate(|parts| parts.bridge),
        }
    }

    /// CPU of a process so far.
    pub fn of_process(id: u32) -> Parts {
        let mut parts = Parts::default();
        for task in std::fs::read_dir(format!("/proc/{id}/task")).into_iter().flatten().flatten() {
            let read = |name| std::fs::read_to_string(task.path().join(name)).unwrap_or_default();
            let ns: f64 = read("schedstat").split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0.0);
            *parts.of(read("comm").trim()) += ns / 1e3;
        }
        parts
    }
}

/// Bytes and packets that have passed over loopback. They are this fleet's alone if nothing else uses this network
/// namespace.
pub fn loopback() -> (f64, f64) {
    let text = std::fs::read_to_string("/proc/net/dev").unwrap_or_default();
    let line = text.lines().find_map(|line| line.trim().strip_prefix("lo:")).unwrap_or_default();
    let mut numbers = line.split_whitespace().map(|number| number.parse().unwrap_or(0.0));
    (numbers.next().unwrap_or(0.0), numbers.next().unwrap_or(0.0))
}

/// A cluster. It ends with this.
pub struct Fleet {
    pub nodes: Vec<Child>,
    pub router: Option<Child>,
    place: tempfile::TempDir,
}

const PORT: u16 = 7447;

impl Fleet {
    /// Starts nodes one after another, each when the one before is there.
    pub fn start(count: usize, links: Links) -> Fleet {
        let place = tempfile::tempdir().expect("a folder");
        let at = |host: usize| format!("quic/{}:{PORT}", takt_testing::loopback(host as u8));
        let router = (links == Links::Router).then(|| {
            let folder = member(place.path(), "router", vec![at(200)], Vec::new());
            spawn(&["--router", &folder.to_string_lossy()])
        });
        let mut nodes = Vec::new();
        for n in 0..count {
            let (listen, connect) = match links {
                Links::Mesh => (vec![at(n + 1)], (0..n).map(|other| at(other + 1)).collect()),
                Links::Router => (Vec::new(), vec![at(200)]),
            };
            let folder = member(place.path(), &name(n), listen, connect);
            nodes.push(spawn(&["--node", &folder.to_string_lossy(), &core(n).to_string()]));
        }
        // The manager listens nowhere, whatever its folder says; without an address there it would be a router's
        // client.
        let (listen, connect) = match links {
            Links::Mesh => (vec![at(201)], (0..count).map(|n| at(n + 1)).collect()),
            Links::Router => (Vec::new(), vec![at(200)]),
        };
        member(place.path(), "m", listen, connect);
        Fleet { nodes, router, place }
    }

    /// Manager of the fleet.
    pub fn manager(&self) -> Manager {
        Manager::open(&Folder::read(&self.place.path().join("m")).expect("a folder")).expect("it joins")
    }

    /// CPU of each node so far.
    pub fn cpu(&self) -> Vec<Parts> {
        self.nodes.iter().map(|node| Parts::of_process(node.id())).collect()
    }

    /// Memory, KiB, and open files: means over nodes.
    pub fn holds(&self) -> (f64, f64) {
        let memory = |node: &Child| {
            let status = std::fs::read_to_string(format!("/proc/{}/status", node.id())).unwrap_or_default();
            let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
            line.split_whitespace().next().and_then(|kib| kib.parse().ok()).unwrap_or(0.0)
        };
        let files = |node: &Child| {
            std::fs::read_dir(format!("/proc/{}/fd", node.id())).map_or(0.0, |files| files.count() as f64)
        };
        let mean = |of: &dyn Fn(&Child) -> f64| self.nodes.iter().map(of).sum::<f64>() / self.nodes.len() as f64;
        (mean(&memory), mean(&files))
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for child in self.nodes.iter_mut().chain(&mut self.router) {
            let _ended_already = child.kill();
            let _ = child.wait();
        }
    }
}

pub fn name(n: usize) -> String {
    format!("n{n:04}")
}

/// The core that a node's worker is on: those that this process may use, in turn.
pub fn core(n: usize) -> u32 {
    let own = takt_host::affinity::own_cpus();
    own[n % own.len()] as u32
}

/// The components that nodes have.
pub fn registry() -> Registry {
    takt_phy::link();
    Registry::of_program().expect("one kind of a name")
}

fn member(place: &Path, name: &str, listen: Vec<String>, connect: Vec<String>) -> PathBuf {
    let settings = Settings {
        cluster: "bench".to_owned(),
        node: name.to_owned(),
        listen,
        connect,
        multicast: false,
        samples: Some(takt_testing::loopback(100).into()),
        samples_bits_per_s: 1e9,
        samples_to: Vec::new(),
        quota: takt_cluster::tenant::Quotas::default(),
        ptp: PtpSettings::default(),
    };
    issue(place, "bench", &[name.to_owned()], &settings, &Grant::default()).expect("a folder");
    place.join(name)
}

/// This program in another part. It ends when its input does, so with this process at the latest.
fn spawn(arguments: &[&str]) -> Child {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("it starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("text");
    assert_eq!(line.trim(), "ready", "{arguments:?}");
    child
}

/// One node, until its input ends.
pub fn node(folder: &Path, core: &str) {
    let folder = Folder::read(folder).expect("a folder");
    let cores = vec![core.parse().expect("a core")];
    let offer = Offer {
        cores,
        capacities: ClassSpec::default(),
        engine: EngineKind::Mmsg,
        program: std::env::current_exe().expect("this program"),
    };
    let mut node = Node::open(&folder, offer, registry()).expect("it joins");
    let ends = Stop::new();
    let until = ends.clone();
    std::thread::spawn(move || {
        let _ended = std::io::stdin().read_to_end(&mut Vec::new());
        until.request();
    });
    let name = folder.settings().node.clone();
    node.serve(&ends, |_| println!("ready"), |line| eprintln!("{name}: {line}")).expect("it serves");
}

/// Zenoh's router, in the library that the stock program is made of, until its input ends.
pub fn router(folder: &Path) {
    use zenoh::Wait;
    let settings = Folder::read(folder).expect("a folder").settings().clone();
    let file = |name: &str| serde_json::json!(folder.join(name)).to_string();
    let mut config = zenoh::Config::default();
    for (place, value) in [
        ("mode", "\"router\"".to_owned()),
        ("listen/endpoints", serde_json::json!(settings.listen).to_string()),
        ("scouting/multicast/enabled", "false".to_owned()),
        ("transport/link/protocols", "[\"quic\"]".to_owned()),
        ("transport/link/tls/root_ca_certificate", file(Folder::AUTHORITY)),
        ("transport/link/tls/enable_mtls", "true".to_owned()),
        ("transport/link/tls/listen_certificate", file(Folder::CERTIFICATE)),
        ("transport/link/tls/listen_private_key", file(Folder::KEY)),
    ] {
        config.insert_json5(place, &value).expect(place);
    }
    let _session = zenoh::open(config).wait().expect("it opens");
    println!("ready");
    let _ended = std::io::stdin().read_to_end(&mut Vec::new());
}

/// Waits, and says how long that took, s.
pub fn pass(time: Duration) -> f64 {
    let since = Instant::now();
    std::thread::sleep(time);
    since.elapsed().as_secs_f64()
}

/// Means of what nodes did, over those that are named; `None` for none.
pub fn mean(rates: &[Parts]) -> Option<Parts> {
    let each = |part: fn(&Parts) -> f64| rates.iter().map(part).sum::<f64>() / rates.len() as f64;
    (!rates.is_empty()).then(|| Parts {
        zenoh: each(|parts| parts.zenoh),
        heartbeats: each(|parts| parts.heartbeats),
        clock: each(|parts| parts.clock),
        node: each(|parts| parts.node),
        workers: each(|parts| parts.workers),
        bridge: each(|parts| parts.bridge),
    })
}
