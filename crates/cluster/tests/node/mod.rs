//! A real node with components of the test, and who gives it orders.
#![allow(dead_code, reason = "not every test file uses all of it")]

use std::net::SocketAddr;
use std::path::Path;
use std::sync::mpsc;
use std::thread::Scope;
use std::time::Duration;

use takt_base::Stop;
use takt_cluster::certificates::{Grant, issue};
use takt_cluster::message::Order;
use takt_cluster::quorum::Ballot;
use takt_cluster::seal::Signer;
use takt_cluster::statement::Statement;
use takt_cluster::tenant::Tenant;
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
    member_with(place, name, host, connect, &Grant::default(), "")
}

/// The folder of a tenant.
pub fn tenant(place: &Path, name: &str, host: u8, connect: &[String]) -> Folder {
    member_with(place, name, host, connect, &Grant { tenant: Tenant::named(name), ..Grant::default() }, "")
}

/// The same with `more` in its settings.
pub fn member_with(place: &Path, name: &str, host: u8, connect: &[String], grant: &Grant, more: &str) -> Folder {
    let at = at(host);
    let text =
        format!("cluster = 'lab'\nnode = 'x'\nlisten = ['{at}']\nconnect = {connect:?}\nmulticast = false\n{more}");
    let settings: Settings = toml::from_str(&text).expect("settings");
    issue(place, "lab", &[name.to_owned()], &settings, grant).expect("a folder");
    Folder::read(&place.join(name)).expect("a folder")
}

/// Signer with the key of a folder.
pub fn signer(place: &Path, name: &str) -> Signer {
    let text = |file: &str| std::fs::read_to_string(place.join(name).join(file)).expect("a file");
    Signer::new(text(Folder::CERTIFICATE), &text(Folder::KEY)).expect("a key")
}

/// Statement that node `name` would make about a run of the operator's that [`order`] orders.
pub fn statement(name: &str, run: &str, placing: u32, [samples, clock]: [SocketAddr; 2]) -> Statement {
    Statement {
        cluster: "lab".to_owned(),
        node: name.to_owned(),
        tenant: Tenant::operator(),
        run: run.to_owned(),
        ballot: Ballot::new(placing, "manager-1"),
        samples,
        clock,
    }
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
    let mut registry = Registry::empty();
    registry.add(has).expect("one name");
    begin_with(scope, folder, stop, registry);
}

/// A node that has these components and one core, once it serves.
pub fn begin_with<'a>(scope: &'a Scope<'a, '_>, folder: &'a Folder, stop: &'a Stop, registry: Registry) {
    let (ready, is_ready) = mpsc::channel();
    scope.spawn(move || {
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
