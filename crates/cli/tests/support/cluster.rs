//! Three nodes on loopback, with certificates of their own.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Child, Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use takt_testing::{loopback, wait_for};

use super::{Place, json, report};

pub const NODES: [&str; 3] = ["a", "b", "c"];
pub const PORT: u16 = 7447;

/// A cluster of nodes on addresses of this test's own.
pub struct Cluster {
    pub place: Place,
    nodes: Vec<(String, Child)>,
}

impl Cluster {
    /// `first` tells the addresses of one test from those of others in this process.
    pub fn start(first: u8) -> Cluster {
        let place = Place::with("here", "");
        let address = |at: usize| format!("quic/{}:{PORT}", loopback(first + at as u8));
        for (at, name) in NODES.iter().enumerate() {
            let made = certificates(&place, "cluster", name, &address(at), &address(0));
            assert!(made.status.success(), "{}", report(&made));
        }
        let mut cluster = Cluster { place, nodes: Vec::new() };
        NODES.iter().for_each(|name| cluster.join(name));
        wait_for("three nodes that see each other", || {
            let listed = cluster.takt(&["node", "list", "--folder", "cluster/a", "--json"]);
            let all: Vec<String> = names(&json(&listed));
            (all == NODES).then_some(())
        });
        cluster
    }

    /// Starts a node and waits until it is there.
    pub fn join(&mut self, name: &str) {
        let core = takt_host::affinity::own_cpus()[0].to_string();
        let folder = format!("cluster/{name}");
        let mut command = self.place.command(&["node", "--folder", &folder, "--cores", &core]);
        let log = std::fs::File::create(self.place.path(&format!("{name}.log"))).expect("a log");
        let child = command.stdin(Stdio::null()).stdout(log.try_clone().expect("a log")).stderr(log).spawn();
        self.nodes.push((name.to_owned(), child.expect("takt starts")));
        wait_for("a node that is ready", || self.log(name).contains("ready node").then_some(()));
    }

    pub fn log(&self, name: &str) -> String {
        let mut text = String::new();
        let _none_yet =
            std::fs::File::open(self.place.path(&format!("{name}.log"))).map(|mut f| f.read_to_string(&mut text));
        text
    }

    pub fn takt(&self, args: &[&str]) -> Output {
        self.place.takt(args)
    }

    /// A waveform of nineteen components on all three nodes. Slots are long, so that a busy machine misses none.
    pub fn run(&self, slots: &str) -> Command {
        let file = waveform();
        let file = file.to_str().expect("a path");
        let mut args = vec!["run", file, "--cluster", "cluster/a", "--slot", "50ms", "--slots", slots, "--json"];
        args.extend(["--pin", "source=a", "--pin", "sink=b", "--pin", "channel=c"]);
        let mut command = self.place.command(&args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn signal(&self, name: &str, signal: Signal) {
        let (_, child) = self.nodes.iter().find(|(node, _)| node == name).expect("a node");
        kill_process(Pid::from_child(child), signal).expect("it is ours");
    }

    /// What a node says of itself.
    pub fn facts(&self, name: &str) -> Option<Value> {
        let listed = json(&self.takt(&["node", "list", "--folder", "cluster/a", "--json"]));
        listed.as_array()?.iter().find(|node| node["node"] == name).cloned()
    }

    /// Waits until a run is executed on all nodes and has come so far.
    pub fn until_slot(&self, slot: u64) {
        wait_for("a run on all nodes", || {
            let listed = json(&self.takt(&["node", "list", "--folder", "cluster/a", "--json"]));
            let far = |node: &Value| node["runs"][0]["slot"].as_u64().is_some_and(|at| at >= slot);
            (listed.as_array()?.iter().filter(|node| far(node)).count() == NODES.len()).then_some(())
        });
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

pub fn certificates(place: &Place, out: &str, node: &str, listen: &str, connect: &str) -> Output {
    place.takt(&[
        "node",
        "certificates",
        "--out",
        out,
        "--cluster",
        "lab",
        "--listen",
        listen,
        "--connect",
        connect,
        node,
    ])
}

pub fn names(nodes: &Value) -> Vec<String> {
    nodes.as_array().expect("a list").iter().filter_map(|node| Some(node["node"].as_str()?.to_owned())).collect()
}
