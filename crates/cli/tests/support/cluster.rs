//! Nodes on loopback, with certificates of their own.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use takt_host::leftovers::Registry;
use takt_host::testing::TestRun;
use takt_testing::{loopback, wait_for};

use super::{Place, TAKT, json, report};

pub const NODES: [&str; 3] = ["a", "b", "c"];
const NAMES: [&str; 4] = ["a", "b", "c", "d"];
pub const PORT: u16 = 7447;

/// A cluster of nodes, each with an address of its own.
pub struct Cluster {
    pub place: Place,
    nodes: Vec<(String, Child)>,
    /// Further options of the nodes.
    options: Vec<&'static str>,
    /// The cables between them, where they have any.
    pub cables: Option<Cables>,
    /// Command that starts takt on node b, if that is another one.
    other: Option<Vec<String>>,
}

impl Cluster {
    /// Three on loopback. `first` tells the addresses of one test from those of others in this process.
    pub fn start(first: u8) -> Cluster {
        Cluster::of(3, first)
    }

    /// Up to four on loopback.
    pub fn of(count: u8, first: u8) -> Cluster {
        let addresses: Vec<String> = (first..first + count).map(|at| loopback(at).to_string()).collect();
        Cluster::on(&addresses, None, &[], None, |_, _| String::new())
    }

    /// Two on loopback; `other` starts takt on the second.
    pub fn of_two_kinds(first: u8, other: Vec<String>) -> Cluster {
        let addresses = [first, first + 1].map(|at| loopback(at).to_string());
        Cluster::on(&addresses, None, &[], Some(other), |_, _| String::new())
    }

    /// Two on loopback that give metrics.
    pub fn with_metrics(first: u8) -> Cluster {
        let addresses = [first, first + 1].map(|at| loopback(at).to_string());
        Cluster::on(&addresses, None, &["--metrics", "0"], None, |_, _| String::new())
    }

    /// In network namespaces of their own; needs root.
    pub fn start_apart() -> Cluster {
        Cluster::apart_with(|_, _| String::new())
    }

    /// The same; `more`: what a node's settings have beside the usual, by the folder of the test and the node's name.
    pub fn apart_with(more: impl Fn(&Place, &str) -> String) -> Cluster {
        let addresses: Vec<String> = Cables::ADDRESSES[..3].iter().map(ToString::to_string).collect();
        Cluster::on(&addresses, Some(Cables::lay()), &[], None, more)
    }

    fn on(
        addresses: &[String],
        cables: Option<Cables>,
        options: &[&'static str],
        other: Option<Vec<String>>,
        more: impl Fn(&Place, &str) -> String,
    ) -> Cluster {
        let place = Place::with("here", "");
        let endpoint = |at: usize| format!("quic/{}:{PORT}", addresses[at]);
        let all: Vec<String> = (0..addresses.len()).map(endpoint).collect();
        for (listen, name) in all.iter().zip(NAMES) {
            let made = certificates(&place, "cluster", name, listen, &all);
            assert!(made.status.success(), "{}", report(&made));
            let settings = place.path(&format!("cluster/{name}/cluster.toml"));
            let usual = std::fs::read_to_string(&settings).expect("settings");
            std::fs::write(&settings, usual + &more(&place, name)).expect("it is ours");
        }
        let mut cluster = Cluster { place, nodes: Vec::new(), options: options.to_vec(), cables, other };
        NAMES[..addresses.len()].iter().for_each(|name| cluster.join(name));
        cluster.until_whole();
        cluster
    }

    /// Waits until all nodes see each other.
    pub fn until_whole(&self) {
        let all = &NAMES[..self.nodes.len()];
        wait_for("nodes that see each other", || {
            let whole = |from: &&str| names(&self.list(from)) == all;
            all.iter().all(whole).then_some(())
        });
    }

    fn list(&self, from: &str) -> Value {
        json(&self.takt(&["node", "list", "--folder", &format!("cluster/{from}"), "--json"]))
    }

    /// Starts a node and waits until it is there.
    pub fn join(&mut self, name: &str) {
        let core = takt_host::affinity::own_cpus()[0].to_string();
        let folder = format!("cluster/{name}");
        let options = [&["node", "--folder", &folder, "--cores", &core], &self.options[..]].concat();
        let mut command = match &self.other {
            Some(words) if name == "b" => {
                let mut command = self.place.call(&words[0]);
                command.args(&words[1..]).args(&options);
                command
            }
            _ => self.command(name, &options),
        };
        let log = std::fs::File::create(self.place.path(&format!("{name}.log"))).expect("a log");
        let child = command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log).spawn();
        self.nodes.retain(|(node, _)| node != name);
        self.nodes.push((name.to_owned(), child.expect("takt starts")));
        wait_for("a node that is ready", || self.log(name).contains("ready node").then_some(()));
    }

    /// takt on a node's machine, or on the manager's, "m".
    pub fn command(&self, at: &str, args: &[&str]) -> Command {
        let Some(cables) = &self.cables else { return self.place.command(args) };
        let mut command = self.place.call("ip");
        command.args(["netns", "exec", &cables.namespace(at), TAKT]).args(args);
        command
    }

    /// Takes a node that has ended away.
    pub fn bury(&mut self, name: &str) {
        let (_, child) = self.nodes.iter_mut().find(|(node, _)| node == name).expect("a node");
        let _ended_already = child.kill();
        child.wait().expect("it ends");
    }

    pub fn log(&self, name: &str) -> String {
        let mut text = String::new();
        let _none_yet =
            std::fs::File::open(self.place.path(&format!("{name}.log"))).map(|mut f| f.read_to_string(&mut text));
        text
    }

    /// A node's metrics, as Prometheus's own client reads them; `None`, on record, where that is not installed.
    pub fn metrics(&self, name: &str) -> Option<Value> {
        let at = wait_for("where metrics are", || metrics_at(&self.log(name)));
        let there = python(&["-c", "import prometheus_client"]).stderr(Stdio::null()).status();
        if !there.is_ok_and(|status| status.success()) {
            takt_testing::skip("no prometheus-client in target/peers/python   (./test installs it)");
            return None;
        }
        let reader = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/metrics_peer.py");
        let read = python(&[reader, &at]).output().expect("it runs");
        assert!(read.status.success(), "{}", report(&read));
        Some(json(&read))
    }

    pub fn takt(&self, args: &[&str]) -> Output {
        self.command("m", args).output().expect("takt runs")
    }

    /// A waveform of nineteen components on all three nodes. Slots are long, so that a busy machine misses none.
    pub fn run(&self, slots: &str) -> Command {
        self.run_with(slots, &["--pin", "channel=c"])
    }

    /// The same on two nodes at least, and as `more` says.
    pub fn run_with(&self, slots: &str, more: &[&str]) -> Command {
        let file = waveform();
        let file = file.to_str().expect("a path");
        let mut args = vec!["run", file, "--cluster", "cluster/a", "--slot", "50ms", "--slots", slots, "--json"];
        args.extend(["--pin", "source=a", "--pin", "sink=b"]);
        args.extend(more);
        let mut command = self.command("m", &args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn signal(&self, name: &str, signal: Signal) {
        let (_, child) = self.nodes.iter().find(|(node, _)| node == name).expect("a node");
        kill_process(Pid::from_child(child), signal).expect("it is ours");
    }

    /// Facts that a node gives of itself.
    pub fn facts(&self, name: &str) -> Option<Value> {
        self.list("a").as_array()?.iter().find(|node| node["node"] == name).cloned()
    }

    /// Waits until a run is executed on all nodes and has come so far.
    pub fn until_slot(&self, slot: u64) {
        wait_for("a run on all nodes", || self.all_in_slot(slot));
    }

    /// Whether it is and has.
    pub fn all_in_slot(&self, slot: u64) -> Option<()> {
        let far = |node: &Value| node["busy"] != Value::Array(Vec::new()) && slot_of(node).is_some_and(|at| at >= slot);
        (self.list("a").as_array()?.iter().filter(|node| far(node)).count() == self.nodes.len()).then_some(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for (_, child) in &mut self.nodes {
            let _ended_already = child.kill();
            let _ = child.wait();
        }
    }
}

pub fn waveform() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../waveforms/utran.toml"))
}

/// The slot of the run that a node began last.
fn slot_of(node: &Value) -> Option<u64> {
    node["runs"].as_array()?.last()?["slot"].as_u64()
}

pub fn certificates(place: &Place, out: &str, node: &str, listen: &str, connect: &[impl AsRef<str>]) -> Output {
    let made = ["node", "certificates", "--out", out, "--cluster", "lab", "--listen", listen, node];
    let connect = connect.iter().flat_map(|to| ["--connect", to.as_ref()]);
    place.takt(&made.into_iter().chain(connect).collect::<Vec<_>>())
}

/// A network namespace for each node and one for the manager, on a bridge in another one.
pub struct Cables(TestRun);

impl Cables {
    const NAMES: [&str; 4] = ["a", "b", "c", "m"];
    const ADDRESSES: [&str; 4] = ["10.77.0.1", "10.77.0.2", "10.77.0.3", "10.77.0.9"];

    fn lay() -> Cables {
        // Takes away what a test left behind that was killed.
        Registry::system().clean().expect("records");
        let mut run = TestRun::new();
        let hub = run.namespace("test-hub");
        ip(&["-n", &hub, "link", "add", "hub", "up", "type", "bridge"]);
        for (name, address) in Cables::NAMES.iter().zip(Cables::ADDRESSES) {
            let own = run.namespace(&format!("test-{name}"));
            ip(&["-n", &own, "link", "set", "lo", "up"]);
            ip(&["-n", &own, "link", "add", "eth", "type", "veth", "peer", "name", name, "netns", &hub]);
            ip(&["-n", &own, "address", "add", &format!("{address}/24"), "dev", "eth"]);
            ip(&["-n", &own, "link", "set", "eth", "up"]);
            ip(&["-n", &hub, "link", "set", "dev", name, "master", "hub", "up"]);
        }
        Cables(run)
    }

    pub fn namespace(&self, name: &str) -> String {
        self.0.name(&format!("test-{name}"))
    }

    /// Cuts the cable of a node, or mends it.
    pub fn cut(&self, node: &str, cut: bool) {
        ip(&["-n", &self.namespace("hub"), "link", "set", "dev", node, if cut { "down" } else { "up" }]);
    }

    /// Lets a cable carry 64 kb/s each way, or as much as it can.
    pub fn slow(&self, node: &str, slow: bool) {
        for (namespace, interface) in [(self.namespace("hub"), node), (self.namespace(node), "eth")] {
            let change = if slow { "add" } else { "delete" };
            let mut tc = Command::new("tc");
            tc.args(["-n", &namespace, "qdisc", change, "dev", interface, "root"]);
            if slow {
                tc.args(["tbf", "rate", "64kbit", "burst", "2000", "latency", "50ms"]);
            }
            assert!(tc.status().expect("iproute2").success());
        }
    }
}

fn ip(args: &[&str]) {
    assert!(Command::new("ip").args(args).status().expect("iproute2").success(), "ip {}", args.join(" "));
}

pub fn names(nodes: &Value) -> Vec<String> {
    nodes.as_array().expect("a list").iter().filter_map(|node| Some(node["node"].as_str()?.to_owned())).collect()
}

/// Address at which a node that printed this gives metrics.
pub fn metrics_at(said: &str) -> Option<String> {
    said.lines().find_map(|line| line.strip_prefix("metrics at ")).map(str::to_owned)
}

/// The Python with readers that nobody here wrote.
fn python(args: &[&str]) -> Command {
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/peers/python/bin/python3"));
    command.args(args);
    command
}

/// Stock Zenoh, where it is installed.
pub fn stock(args: &[&str]) -> Option<Command> {
    let there = python(&["-c", "import zenoh"]).stderr(Stdio::null()).status();
    if !there.is_ok_and(|status| status.success()) {
        takt_testing::skip("no eclipse-zenoh in target/peers/python   (./test installs it)");
        return None;
    }
    let mut command = python(&[concat!(env!("CARGO_MANIFEST_DIR"), "/tests/cluster_peer.py")]);
    command.args(args);
    Some(command)
}
