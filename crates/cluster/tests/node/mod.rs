//! A real node with components of the test, and who gives it orders.
#![allow(dead_code, reason = "not every test file uses all of it")]

use std::path::Path;
use std::sync::mpsc;
use std::thread::Scope;
use std::time::Duration;

use takt_base::Stop;
use takt_cluster::certificates::{Grant, issue};
use takt_cluster::message::Order;
use takt_cluster::{ClusterError, Folder, Node, Offer, Settings};
use takt_mapper::ClassSpec;
use takt_packet::EngineKind;
use takt_runtime::{Registration, Registry};
use takt_testing::loopback;

pub const PATIENCE: Duration = Duration::from_secs(20);

/// Ends the node, also where the test fails.
pub struct Ends<'a>(pub &'a Stop);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.request();
    }
}

/// The folder of a member, with an address of its own.
pub fn member(place: &Path, name: &str, host: u8, connect: &[String]) -> Folder {
    let text =
        format!("cluster = 'lab'\nnode = 'x'\nlisten = ['{}']\nconnect = {connect:?}\nmulticast = false", at(host));
    let settings: Settings = toml::from_str(&text).expect("settings");
    issue(place, "lab", &[name.to_owned()], &settings, &Grant::default()).expect("a folder");
    Folder::read(&place.join(name)).expect("a folder")
}

pub fn at(host: u8) -> String {
    format!("quic/{}:7447", loopback(host))
}

/// A run of one component on core 0 of node a.
pub fn order(run: &str, kind: &str) -> Box<Order> {
    Box::new(
        serde_json::from_value(serde_json::json!({
            "run": run, "placing": 1, "file": "x.toml",
            "text": format!("name = 'x'\nslot = '1 ms'\n[component.one]\ntype = '{kind}'\n"),
            "slot_ns": null, "set": [], "latency": "fixed", "hop_slots": 2, "slots": 10, "fifo_priority": 0,
            "manager": "manager-1", "first_stream": 0, "workers": [{ "node": "a", "cpu": 0, "components": ["one"] }],
        }))
        .expect("an order"),
    )
}

/// A node that has one type of component and one core, once it serves.
pub fn begin<'a>(scope: &'a Scope<'a, '_>, folder: &'a Folder, stop: &'a Stop, has: Registration) {
    let (ready, is_ready) = mpsc::channel();
    scope.spawn(move || {
        let mut registry = Registry::empty();
        registry.add(has).expect("one name");
        let (capacities, engine) = (ClassSpec::default(), EngineKind::Socket);
        let offer = Offer { cores: vec![0], capacities, engine, program: "/bin/false".into() };
        let ready = |_: &_| ready.send(()).expect("the test waits");
        Node::open(folder, offer, registry).expect("a node").serve(stop, ready, |_| {}).expect("it serves");
    });
    is_ready.recv_timeout(PATIENCE).expect("a node");
}

pub fn why(refused: Result<impl Sized, ClusterError>) -> String {
    refused.err().expect("it is refused").to_string()
}
