//! Slots by PTP's time: nodes in network namespaces, each with linuxptp's own ptp4l and stamps in software. They share a machine,
//! so that the truth is known: every offset is 0.

use std::path::Path;
use std::process::{Child, Command};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use takt_testing::{Ptp4l, wait_for};

use crate::support::cluster::{Cluster, NODES};
use crate::support::{Place, has, json, refusal, report, root_for, text};

/// On all three nodes, whatever the mapper takes for the best.
const BY_PTP: [&str; 4] = ["--slot-clock", "ptp", "--pin", "channel=c"];

/// A node's ptp4l in its namespace; `a` has the grandmaster's.
fn ptp4l(cluster: &Cluster, name: &str) -> Ptp4l {
    let namespace = cluster.cables.as_ref().expect("cables").namespace(name);
    let more = if name == "a" { "priority1 10" } else { "slaveOnly 1" };
    let mark = |command: &mut Command, program: &Path| cluster.place.run.mark(command, program);
    Ptp4l::start((&namespace, "eth"), cluster.place.folder(), &format!("ptp-{name}"), more, mark)
}

fn settings(place: &Place, name: &str) -> String {
    format!("\n[ptp]\nsocket = \"{}\"\n", place.path(&format!("ptp-{name}.socket")).display())
}

#[test]
fn slots_begin_by_ptp_and_a_lost_reference_or_ptp4l_ends_no_run() {
    let (Some(()), Some(())) = (root_for("a network namespace"), Ptp4l::is_here()) else { return };
    let mut cluster = Cluster::apart_with(settings);
    let none = refusal(&cluster.run_with("10", &BY_PTP).output().expect("takt runs"));
    has(&none, &["no ptp4l answers here", "ptp-a.socket", "--slot-clock own"]);
    let mut services = NODES.map(|name| Some(ptp4l(&cluster, name)));
    for (service, state) in services.iter().flatten().zip(["MASTER", "SLAVE", "SLAVE"]) {
        let is_so = || service.pmc("PORT_DATA_SET").get("portState").is_some_and(|is| is == state).then_some(());
        wait_for(&format!("{state}: {}", service.log()), is_so);
    }
    clocks_agree(&cluster);
    another_is_the_reference(&mut cluster);
    ptp_is_lost(&cluster, &mut services[2]);
}

/// A run of which each node says how far its clock is off: 0, within the bound, and both opinions agree.
fn clocks_agree(cluster: &Cluster) {
    let done = cluster.run_with("60", &BY_PTP).output().expect("takt runs");
    let ended = json(&done);
    assert_eq!(ended["warnings"], Value::Array(Vec::new()), "{}", report(&done));
    let within = |offset: &Value| {
        let (ns, bound_ns) = (offset["offset_ns"].as_i64(), offset["offset_bound_ns"].as_u64());
        assert!(ns.expect("ns").unsigned_abs() <= bound_ns.expect("a bound"), "{}", text(&done.stdout));
    };
    for name in NODES {
        let node = &ended["nodes"][name];
        let ptp = &node["clock"]["ptp"];
        assert_eq!((&node["clock"]["source"], &ptp["contradicted_looks"]), (&"ptp".into(), &0.into()), "{name}");
        assert_eq!(ptp["grandmaster"], ended["nodes"]["a"]["clock"]["ptp"]["grandmaster"]);
        [node, ptp].into_iter().for_each(within);
        if name != "a" {
            within(&node["clock"]["own"]);
        }
    }
}

/// The others go on by PTP where the reference is lost, and ask another one for a second opinion.
fn another_is_the_reference(cluster: &mut Cluster) {
    let running = begin(cluster);
    cluster.bury("a");
    let of_b = |cluster: &Cluster| cluster.facts("b")?["runs"][0]["slot"].as_u64();
    let lost = of_b(cluster).expect("a slot");
    wait_for("slots after the takeover", || of_b(cluster).filter(|slot| *slot > lost + 120));
    let ended = end(running);
    assert_eq!((&ended["losses"][0]["node"], &ended["reference"]), (&"a".into(), &"b".into()), "{ended}");
    for name in ["b", "c"] {
        let clock = &ended["nodes"][name]["clock"];
        assert_eq!((&clock["source"], &clock["ptp"]["contradicted_looks"]), (&"ptp".into(), &0.into()), "{ended}");
    }
    assert!(ended["nodes"]["b"]["clock"].get("own").is_none() && ended["nodes"]["c"]["clock"].get("own").is_some());
    cluster.join("a");
    cluster.until_whole();
}

/// A node whose ptp4l is gone goes on, and the result says so.
fn ptp_is_lost(cluster: &Cluster, service: &mut Option<Ptp4l>) {
    let running = begin(cluster);
    *service = None;
    let slot = cluster.facts("c").expect("there")["runs"][0]["slot"].as_u64().expect("a slot");
    cluster.until_slot(slot + 40);
    let ended = end(running);
    let warnings = ended["warnings"].as_array().expect("a list");
    assert_eq!((warnings.len(), &ended["losses"]), (1, &Value::Array(Vec::new())), "{ended}");
    has(warnings[0].as_str().expect("text"), &["clock of c: PTP was lost in", "no ptp4l answers here"]);
}

/// A run without end, once it is executed on all nodes.
fn begin(cluster: &Cluster) -> Child {
    let running = cluster.run_with("1000000", &BY_PTP).spawn().expect("takt starts");
    cluster.until_slot(5);
    running
}

/// Ends it, as Ctrl-C does.
fn end(running: Child) -> Value {
    kill_process(Pid::from_child(&running), Signal::INT).expect("it is ours");
    json(&running.wait_with_output().expect("takt runs"))
}
