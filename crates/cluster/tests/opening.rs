//! A node that makes slow components for one run answers all others meanwhile. The node is real, and so is what travels.

use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, mpsc};
use std::time::Duration;

use serde_json::Value;
use takt_base::Stop;
use takt_cluster::certificates::{Grant, issue};
use takt_cluster::message::{NodeFacts, Opened, Order, Request};
use takt_cluster::{ClusterError, Control, Folder, Node, Offer, Settings};
use takt_graph::{Kind, Shape};
use takt_mapper::ClassSpec;
use takt_packet::EngineKind;
use takt_runtime::{Component, Io, Registration, Registry};
use takt_testing::loopback;

const PATIENCE: Duration = Duration::from_secs(20);

/// How many components are being made, and whether they may be done.
static MAKING: (Mutex<(usize, bool)>, Condvar) = (Mutex::new((0, false)), Condvar::new());

struct Slow;

impl Component for Slow {
    fn tick(&mut self, _: &mut Io<'_>) {}
}

fn slow() -> Registration {
    Registration {
        kind: || Kind::new("slow", "Takes its time to be made."),
        shape: |_| Ok(Shape::new()),
        make: |_| {
            let (state, changed) = &MAKING;
            let mut state = state.lock().expect("nobody panics with it");
            state.0 += 1;
            changed.notify_all();
            drop(changed.wait_while(state, |(_, done)| !*done).expect("the same"));
            Ok(Box::new(Slow))
        },
    }
}

/// The folder of a member, with an address of its own.
fn member(place: &Path, name: &str, host: u8, connect: &[String]) -> Folder {
    let text =
        format!("cluster = 'lab'\nnode = 'x'\nlisten = ['{}']\nconnect = {connect:?}\nmulticast = false", at(host));
    let settings: Settings = toml::from_str(&text).expect("settings");
    issue(place, "lab", &[name.to_owned()], &settings, &Grant::default()).expect("a folder");
    Folder::read(&place.join(name)).expect("a folder")
}

fn at(host: u8) -> String {
    format!("quic/{}:7447", loopback(host))
}

/// A run of one component on core 0 of node a.
fn order(run: &str, kind: &str) -> Box<Order> {
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

fn serve(folder: &Folder, stop: &Stop, ready: impl FnOnce(&NodeFacts)) {
    let mut registry = Registry::empty();
    registry.add(slow()).expect("one name");
    let (capacities, engine) = (ClassSpec::default(), EngineKind::Socket);
    let offer = Offer { cores: vec![0], capacities, engine, program: "/bin/false".into() };
    Node::open(folder, offer, registry).expect("a node").serve(stop, ready, |_| {}).expect("it serves");
}

fn let_them_be_made() {
    let (state, changed) = &MAKING;
    state.lock().expect("nobody panics with it").1 = true;
    changed.notify_all();
}

/// Ends the node, also where the test fails.
struct Ends<'a>(&'a Stop);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        let_them_be_made();
        self.0.request();
    }
}

fn why(refused: Result<impl Sized, ClusterError>) -> String {
    refused.err().expect("it is refused").to_string()
}

#[test]
fn a_run_that_takes_long_to_open_keeps_nobody_from_being_answered() {
    let place = tempfile::tempdir().expect("a folder");
    let node = member(place.path(), "a", 1, &[]);
    let (stop, (ready, is_ready)) = (Stop::new(), mpsc::channel());
    std::thread::scope(|scope| {
        scope.spawn(|| serve(&node, &stop, |_| ready.send(()).expect("the test waits")));
        is_ready.recv_timeout(PATIENCE).expect("a node");
        let control = Control::open(&member(place.path(), "m", 2, &[at(1)]), false).expect("it joins");
        takt_testing::wait_for("the node", || control.present().ok()?.contains(&"a".to_owned()).then_some(()));
        let (control, _ends) = (Arc::new(control), Ends(&stop));
        let ask = |request: &Request| control.ask::<Value>("a", request, PATIENCE);

        let by = Arc::clone(&control);
        let first = scope.spawn(move || by.ask::<Opened>("a", &Request::Open(order("first", "slow")), PATIENCE));
        let (state, changed) = &MAKING;
        drop(changed.wait_while(state.lock().expect("ours"), |(making, _)| *making == 0).expect("ours"));

        // It has its core and its name from now on, and can be stopped.
        let facts: NodeFacts = control.ask("a", &Request::Describe, PATIENCE).expect("it answers");
        assert_eq!((facts.busy, facts.tenants[0].has.runs), (vec![0], 1));
        assert!(why(ask(&Request::Open(order("second", "slow")))).contains("core 0 is not free"));
        assert!(why(ask(&Request::Open(order("first", "slow")))).contains("run `first` is there already"));
        let stop_of = |manager: &str| Request::Stop { run: "first".to_owned(), manager: Some(manager.to_owned()) };
        assert!(why(ask(&stop_of("another"))).contains("manager-1 watches over run `first`, and not another"));
        assert_eq!(ask(&stop_of("manager-1")).expect("it will not begin")["end"], Value::Null);

        let_them_be_made();
        assert!(why(first.join().expect("no panic")).contains("run `first` was stopped before it was open"));
        let facts: NodeFacts = control.ask("a", &Request::Describe, PATIENCE).expect("it answers");
        assert!(facts.busy.is_empty(), "the core is free again");
        ask(&Request::Open(order("first", "slow"))).expect("the name is free again");
    });
}
