//! Waveforms on three nodes. Leases run out where a machine is too busy to send heartbeats for two seconds, so these are alone.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use takt_cluster::certificates::{Grant, issue};
use takt_cluster::message::Request;
use takt_cluster::{Control, Folder, Settings};
use takt_testing::{loopback, wait_for};

use crate::failures::seldom;
use crate::support::cluster::{Cluster, NODES, PORT, certificates, names, stock, waveform};
use crate::support::{Ended, Place, has, json, report, root_for, text, to_the_end};

/// A run without end, and what it says of lost nodes.
struct Run(Child, BufReader<ChildStderr>);

impl Run {
    fn start(cluster: &Cluster) -> Run {
        Run::with(cluster, &["--pin", "channel=c"])
    }

    /// Until it runs on all nodes.
    fn with(cluster: &Cluster, more: &[&str]) -> Run {
        let run = Run::of(&mut cluster.run_with("1000000", more));
        cluster.until_slot(5);
        run
    }

    fn of(command: &mut Command) -> Run {
        let mut child = command.spawn().expect("takt starts");
        let stderr = BufReader::new(child.stderr.take().expect("piped"));
        Run(child, stderr)
    }

    /// Waits for the next line that it says.
    fn says(&mut self, words: &[&str]) {
        let mut line = String::new();
        self.1.read_line(&mut line).expect("text");
        if !words.iter().all(|word| line.contains(word)) {
            let _ended_already = self.0.kill();
            self.1.read_to_string(&mut line).expect("text");
        }
        has(&line, words);
    }

    /// Dies at once, without a message to the nodes.
    fn kill(mut self) {
        self.0.kill().expect("it is ours");
        self.0.wait().expect("it ends");
    }

    /// Waits until it says that a node is lost and others go on.
    fn until_lost(&mut self) {
        self.says(&["lost      node b in slot", "restarted"]);
    }

    /// Ends it, as Ctrl-C does.
    fn end(self) -> (Output, String) {
        kill_process(Pid::from_child(&self.0), Signal::INT).expect("it is ours");
        to_the_end(self.0, self.1)
    }
}

/// How often a node executed a component, by the result of a run.
fn executions(ended: &Value, node: &str, component: &str) -> u64 {
    let components = ended["nodes"][node]["report"]["components"].as_array().into_iter().flatten();
    components.filter(|one| one["name"] == component).filter_map(|one| one["executions"].as_u64()).sum()
}

#[test]
fn three_nodes_compute_what_one_machine_computes() {
    compute_what_one_machine_computes(&Cluster::start(1));
}

#[test]
fn three_nodes_apart_compute_what_one_machine_computes() {
    if root_for("a network namespace").is_some() {
        compute_what_one_machine_computes(&Cluster::start_apart());
    }
}

fn compute_what_one_machine_computes(cluster: &Cluster) {
    wait_for("a list of all nodes", || {
        let listed = cluster.takt(&["node", "list", "--folder", "cluster/a"]);
        text(&listed.stdout).contains("3 nodes answer.").then_some(())
    });
    let file = waveform();
    let alone = cluster.takt(&["run", file.to_str().unwrap(), "--slots", "60", "--clock", "free", "--json"]);
    let done = cluster.run("60").output().expect("takt runs");
    let ended = json(&done);
    assert_eq!(ended["nodes"].as_object().expect("nodes").len(), 3, "{}", report(&done));
    for (node, component) in [("a", "source"), ("c", "channel"), ("b", "sink")] {
        assert!(executions(&ended, node, component) > 0, "{component} on {node}: {}", report(&done));
    }
    if ended["misses"] != 0 {
        return takt_testing::not_judged(format!("{} slots were missed: the machine was too busy", ended["misses"]));
    }
    assert_eq!(done.status.code(), Some(0), "{}", report(&done));
    assert_eq!(ended["output_hash"], json(&alone)["output_hash"]);
    assert_eq!((&ended["slots"], &ended["losses"]), (&60.into(), &Value::Array(Vec::new())));
    for name in NODES {
        assert_eq!(cluster.facts(name).expect("there")["busy"], Value::Array(Vec::new()), "its core is free again");
    }
}

#[test]
fn what_a_killed_node_did_others_do() {
    let cluster = Cluster::start(10);
    let mut running = Run::with(&cluster, &["--pin", "channel=c", "--otlp", "spans.jsonl"]);
    cluster.signal("b", Signal::KILL);
    running.until_lost();
    let (done, rest) = running.end();
    assert_eq!(done.status.code(), Some(1), "{rest}{}", report(&done));
    let ended = json(&done);
    let loss = &ended["losses"][0];
    assert_eq!((&loss["node"], ended["losses"].as_array().map(Vec::len)), (&"b".into(), Some(1)));
    assert!(loss["state_lost"].as_array().expect("names").contains(&"sink".into()), "{loss}");
    assert!(loss["resumed_in_slot"].as_u64() > loss["known_in_slot"].as_u64());
    let left: Vec<&str> = ended["nodes"].as_object().expect("nodes").keys().map(String::as_str).collect();
    assert_eq!((left, &ended["output_hash"]), (vec!["a", "c"], &Value::Null));
    spans_tell(&cluster);
}

/// The manager's actions are in its spans, as OpenTelemetry's own schema reads them.
fn spans_tell(cluster: &Cluster) {
    let Some(mut reader) = stock(&["spans", "spans.jsonl"]) else { return };
    let read = reader.current_dir(cluster.place.folder()).output().expect("it runs");
    let spans = text(&read.stdout);
    let expected = [
        "takt.open in takt.run a 0",
        "takt.start in takt.run b 0",
        "takt.prepare in takt.takeover c 0",
        "takt.change in takt.takeover a 0",
        "takt.takeover in takt.run b 0",
        "takt.wait-for-heartbeats in takt.run 0",
        "takt.run in none 0",
    ];
    for span in expected {
        assert_eq!(spans.lines().filter(|line| *line == span).count(), 1, "{span}: {}", report(&read));
    }
}

#[test]
fn a_spare_node_does_what_a_lost_one_did() {
    let cluster = Cluster::start(90);
    let unknown = cluster.run_with("1", &["--spare", "z"]).output().expect("takt runs");
    has(&text(&unknown.stderr), &["`z` can't be a spare node", "give --spare one of: a, b, c"]);
    let mut running = Run::with(&cluster, &["--spare", "c"]);
    let idle = &cluster.facts("c").expect("there")["runs"][0]["components"];
    assert_eq!(*idle, serde_json::json!([]), "it waits");
    cluster.signal("b", Signal::KILL);
    running.until_lost();
    let resumed = cluster.facts("a").expect("there")["runs"][0]["slot"].as_u64().expect("a slot") + 70;
    wait_for("the spare to execute", || {
        let run = &cluster.facts("c")?["runs"][0];
        let components = run["components"].as_array()?;
        (components.contains(&"sink".into()) && run["slot"].as_u64()? > resumed).then_some(())
    });
    let (done, rest) = running.end();
    let ended = json(&done);
    assert!(executions(&ended, "c", "sink") > 0, "{rest}{}", report(&done));
}

#[test]
fn a_node_may_be_lost_while_others_take_over_from_another() {
    let cluster = Cluster::of(4, 100);
    let mut running = Run::with(&cluster, &["--pin", "channel=c", "--spare", "d"]);
    cluster.signal("b", Signal::STOP);
    // It is known to be lost a second later at the earliest, and `c` a second after that.
    std::thread::sleep(Duration::from_millis(900));
    cluster.signal("c", Signal::STOP);
    running.says(&["lost      node "]);
    running.says(&["lost      node "]);
    ["b", "c"].iter().for_each(|node| cluster.signal(node, Signal::CONT));
    let (done, rest) = running.end();
    let ended = json(&done);
    let lost: Vec<&Value> = ended["losses"].as_array().expect("losses").iter().map(|loss| &loss["node"]).collect();
    assert_eq!(lost, ["b", "c"], "{rest}{}", report(&done));
    let left: Vec<&str> = ended["nodes"].as_object().expect("nodes").keys().map(String::as_str).collect();
    assert_eq!(left, ["a", "d"]);
    if ended["losses"][1]["why"] != "it was lost while others took over" {
        takt_testing::not_judged(format!("the second was lost at another time: {}", ended["losses"][1]["why"]));
    }
}

#[test]
fn a_node_that_was_frozen_executes_nothing_that_others_have_taken_over() {
    let cluster = Cluster::start(20);
    let mut running = Run::start(&cluster);
    cluster.signal("b", Signal::STOP);
    running.until_lost();
    cluster.signal("b", Signal::CONT);
    let frozen = wait_for("the frozen node to find out", || {
        let facts = cluster.facts("b")?;
        (facts["busy"] == Value::Array(Vec::new())).then_some(facts)
    });
    let (done, rest) = running.end();
    let resumed = json(&done)["losses"][0]["resumed_in_slot"].as_u64();
    let resumed = resumed.unwrap_or_else(|| panic!("{rest}{}", report(&done)));
    let executed = frozen["runs"][0]["slot"].as_u64().expect("slots");
    assert!((5..resumed).contains(&executed), "{executed} slots there, others from {resumed} on");
}

/// Slots of 50 ms: a lost node is known after 1.5 s, and no node may go on by itself for longer than a lease of 2 s.
const STOPPED_AFTER_SLOTS: f64 = 70.0;

#[test]
fn a_run_that_is_to_stop_where_a_node_is_lost_is_stopped_on_the_others() {
    let cluster = Cluster::with_metrics(120);
    if cluster.metrics("a").is_none() {
        return;
    }
    // A node forgets a run that was stopped; what it counted stays.
    let of_a = |sample: &str| cluster.metrics("a").expect("installed")[sample].as_f64().unwrap_or(0.0);
    let executed = r#"takt_component_execution_seconds_count{component="source",tenant="operator",waveform="utran"}"#;
    let Run(running, said) = Run::with(&cluster, &["--on-loss", "stop"]);
    let before = of_a(executed);
    cluster.signal("b", Signal::KILL);
    let (done, said) = to_the_end(running, said);
    assert_eq!(done.status.code(), Some(2), "{said}{}", report(&done));
    has(&said, &["error: can't run on the cluster", "node `b` was lost: no heartbeat comes from it", "takt node list"]);
    let after = of_a(executed);
    assert!(before > 0.0 && after - before <= STOPPED_AFTER_SLOTS, "{before} slots, then {after}");
    let ended = ["stopped", "cut_off"].map(|how| of_a(&format!("takt_runs_ended_total{{how=\"{how}\"}}")));
    assert_eq!(ended, [1.0, 0.0]);
}

#[test]
fn a_run_that_stops_leaves_out_a_node_that_has_just_frozen() {
    let cluster = Cluster::start(130);
    let running = Run::start(&cluster);
    cluster.signal("b", Signal::STOP);
    let (done, said) = running.end();
    assert_eq!(done.status.code(), Some(1), "{said}{}", report(&done));
    has(&said, &["lost      node b in slot", "the run was about to end, so no node took over"]);
    let ended = json(&done);
    let loss = &ended["losses"][0];
    assert_eq!((&loss["node"], ended["losses"].as_array().map(Vec::len)), (&"b".into(), Some(1)));
    assert_eq!((&loss["resumed_in_slot"], &ended["output_hash"]), (&Value::Null, &Value::Null), "{loss}");
    assert_eq!(ended["nodes"].as_object().expect("nodes").len(), 2, "{}", report(&done));
    for (node, component) in [("a", "source"), ("c", "channel")] {
        assert!(executions(&ended, node, component) > 0, "{component} on {node}: {}", report(&done));
    }
}

/// `takt node watch` of the run that is there.
fn watch(cluster: &Cluster, more: &[&str]) -> Command {
    let run = cluster.facts("a").expect("there")["runs"][0]["run"].as_str().expect("a name").to_owned();
    let args = [&["node", "watch", &run, "--folder", "cluster/c", "--json"], more].concat();
    let mut command = cluster.place.command(&args);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn a_run_whose_manager_is_gone_goes_on_and_takes_another() {
    let cluster = Cluster::start(60);
    let first = Run::start(&cluster);
    let refused = watch(&cluster, &[]).output().expect("takt runs");
    assert_eq!(refused.status.code(), Some(2), "{}", report(&refused));
    has(&text(&refused.stderr), &["manager-a-", "watches over run `utran-a-"]);
    let mut standby = Run::of(&mut watch(&cluster, &["--standby"]));
    standby.says(&["standby   manager-a-"]);
    first.kill();
    standby.says(&["watching  utran-a-", "manager-a-"]);
    let before = cluster.facts("b").expect("there")["runs"][0]["slot"].as_u64();
    cluster.signal("b", Signal::KILL);
    standby.until_lost();
    let (done, rest) = standby.end();
    let ended = json(&done);
    let loss = &ended["losses"][0];
    assert!(loss["known_in_slot"].as_u64() >= before, "the same run: {loss}{rest}");
    let left: Vec<&str> = ended["nodes"].as_object().expect("nodes").keys().map(String::as_str).collect();
    assert_eq!((left, ended["losses"].as_array().map(Vec::len)), (vec!["a", "c"], Some(1)), "{}", report(&done));
}

#[test]
fn a_manager_that_was_frozen_and_replaced_leaves_the_run_alone() {
    let cluster = Cluster::start(70);
    let first = Run::start(&cluster);
    let pid = Pid::from_child(&first.0);
    kill_process(pid, Signal::STOP).expect("ours");
    let mut second = Run::of(&mut watch(&cluster, &["--standby"]));
    wait_for("it to watch", || {
        let mut line = String::new();
        second.1.read_line(&mut line).expect("text");
        line.contains("watching  utran-a-").then_some(())
    });
    kill_process(pid, Signal::CONT).expect("ours");
    let (done, said) = to_the_end(first.0, first.1);
    has(&said, &["manager-c-", "watches over run `utran-a-"]);
    assert_eq!(done.status.code(), Some(2));
    let slot = || cluster.facts("b").expect("there")["runs"][0]["slot"].as_u64().expect("a slot");
    let before = slot();
    wait_for("the run to go on", || (slot() > before + 50).then_some(()));
    let (done, _) = second.end();
    assert_eq!(json(&done)["losses"], Value::Array(Vec::new()), "{}", report(&done));
}

#[test]
fn what_a_slow_node_did_others_do() {
    let cluster = Cluster::start(80);
    let mut running = Run::start(&cluster);
    // Seven slots of eight are over before it goes on; heartbeats come late, and are not missed.
    seldom(&cluster, "b", || running.says(&["lost      node b in slot", "of its slots", "restarted"]));
    let (done, rest) = running.end();
    let ended = json(&done);
    assert_eq!(ended["losses"][0]["node"], "b", "{rest}{}", report(&done));
    assert_eq!(ended["nodes"].as_object().expect("nodes").len(), 2);
}

#[test]
fn a_member_is_reached_until_its_certificate_expires() {
    let place = Place::with("here", "");
    let endpoints = [140, 141].map(|host| format!("quic/{}:{PORT}", loopback(host)));
    let made = certificates(&place, "cluster", "a", &endpoints[0], &endpoints);
    assert!(made.status.success(), "{}", report(&made));
    let core = takt_host::affinity::own_cpus()[0].to_string();
    let node = |name: &str| {
        let folder = format!("cluster/{name}");
        let log = std::fs::File::create(place.path(&format!("{name}.log"))).expect("a log");
        Ended::ready(place.command(&["node", "--folder", &folder, "--cores", &core]).stderr(log))
    };
    let _a = node("a");
    let own = Folder::read(&place.path("cluster/a")).expect("a folder");
    let settings = Settings { listen: vec![endpoints[1].clone()], ..own.settings().clone() };
    // Time enough for a node to start, and to answer.
    let until = SystemTime::now() + Duration::from_secs(20);
    let grant = Grant { until: Some(until), ..Grant::default() };
    issue(&place.path("cluster"), "lab", &["b".to_owned()], &settings, &grant).expect("a folder");
    let mut b = node("b");
    let control = Control::open(&own, false).expect("a session");
    let answers = |name: &str| control.ask::<Value>(name, &Request::Describe, Duration::from_secs(5)).is_ok();
    let expired = || SystemTime::now() > until;
    if !wait_for("an answer", || Some(answers("b")).filter(|answered| *answered || expired())) {
        return takt_testing::not_judged("its certificate expired before it answered: the machine was too busy");
    }
    wait_for("the end of its certificate", || expired().then_some(()));
    // This session began before that: it was its link that was closed.
    wait_for("a link that is closed", || (!answers("b")).then_some(()));
    let list = |name: &str| place.takt(&["node", "list", "--folder", &format!("cluster/{name}"), "--json"]);
    wait_for("a list without it", || (names(&json(&list("a"))) == ["a"]).then_some(()));
    assert!(names(&json(&list("b"))).is_empty(), "it reaches nobody");
    let log = || std::fs::read_to_string(place.path("a.log")).expect("a log");
    let refused = |line: &str| line.starts_with("refused   a peer") && line.contains("expired");
    wait_for("a word of the refusal", || log().lines().any(refused).then_some(()));
    assert!(b.0.0.try_wait().expect("it is ours").is_none(), "it is there all the same");
}

#[test]
fn a_stock_router_carries_the_control_plane_and_a_stock_client_reads_the_statistics() {
    let router_at = format!("quic/{}:{PORT}", loopback(49));
    let Some(mut router) = stock(&["router", &router_at, "cluster/router"]) else { return };
    let place = Place::with("here", "");
    for name in ["router", "client", "a", "b", "m"] {
        let made = certificates(&place, "cluster", name, "quic/127.0.0.1:0", &[&router_at]);
        assert!(made.status.success(), "{}", report(&made));
        // Nodes that listen nowhere can reach each other through the router alone.
        let samples = loopback(40 + name.as_bytes()[0] % 8);
        let settings = format!(
            "cluster = 'lab'\nnode = '{name}'\nconnect = ['{router_at}']\nmulticast = false\nsamples = '{samples}'\n"
        );
        std::fs::write(place.path(&format!("cluster/{name}/cluster.toml")), settings).expect("it is ours");
    }
    let (_router, _, said) = Ended::ready(router.current_dir(place.folder()).stdin(Stdio::piped()));
    assert_eq!(said.trim(), "ready");
    let core = takt_host::affinity::own_cpus()[0].to_string();
    let node = |name: &str| {
        let folder = format!("cluster/{name}");
        Ended::ready(&mut place.command(&["node", "--folder", &folder, "--cores", &core]))
    };
    let (_a, _b) = (node("a"), node("b"));
    let mut client =
        stock(&["client", &router_at, "cluster/client", "takt/lab/node/a/statistics", "2"]).expect("installed");
    let client = client.current_dir(place.folder()).stdout(Stdio::piped()).spawn().expect("it starts");
    let file = waveform();
    let run = ["run", file.to_str().unwrap(), "--cluster", "cluster/m", "--slot", "50ms", "--slots", "40", "--json"];
    let done = place.takt(&[&run[..], &["--pin", "source=a", "--pin", "sink=b"]].concat());
    let ended = json(&done);
    assert_eq!(
        (&ended["slots"], ended["nodes"].as_object().map(serde_json::Map::len)),
        (&40.into(), Some(2)),
        "{}",
        report(&done)
    );
    let read = client.wait_with_output().expect("it ends");
    for line in text(&read.stdout).lines() {
        let facts: Value = serde_json::from_str(line).expect("JSON");
        assert_eq!((&facts["node"], facts["cores"].as_array().map(Vec::len)), (&"a".into(), Some(1)));
    }
    assert_eq!(text(&read.stdout).lines().count(), 2);
}
