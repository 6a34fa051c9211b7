//! The environment `node:NAME`: one experiment over this machine and two nodes on loopback, its results in one store. Whatever
//! dies, no agent is left on a node, and who is not let in starts none.
#![cfg(feature = "cluster")]

mod support;

use std::fs::{self, File};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use support::cluster::{PORT, certificates};
use support::{Ended, Place, has, json, refusal, report, text, while_running};
use takt_cluster::message::{Request, StartAgent};
use takt_cluster::{ClusterError, Control, Folder};
use takt_testing::{loopback, skip, wait_for};

/// Wake-ups of ordinary threads: they take no core from anybody else. How late they are is not looked at.
const FILE: &str = r#"
question = "Which machine wakes up best?"
[factors]
environment = ENVIRONMENTS
[fixed]
workload = { kind = "wakeup", duration = "DURATION", warm_up = "0s", policy = "other" }
[rounds]
count = { full = 2, quick = 1 }
order = { seed = 1 }
valid = { foreign_cpu_share_max = 1.0, steal_share_max = 1.0 }
"#;

/// Long enough to be interrupted by whatever a test does.
const LONG: &str = "10m";

/// Nodes a and b, and folders of a tenant: blue may have one core of each.
struct Fleet {
    place: Place,
    nodes: Vec<(&'static str, Ended)>,
}

impl Fleet {
    /// `first` tells the addresses of one test from those of others.
    fn start(first: u8) -> Fleet {
        let place = Place::with("here", "");
        let endpoint = |at: u8| format!("quic/{}:{PORT}", loopback(first + at));
        let all = [endpoint(0), endpoint(1)];
        let mut fleet = Fleet { place, nodes: Vec::new() };
        for (name, listens) in ["a", "b"].into_iter().zip(&all) {
            assert!(certificates(&fleet.place, "cluster", name, listens, &all).status.success());
            let settings = fleet.place.path(&format!("cluster/{name}/cluster.toml"));
            let given = fs::read_to_string(&settings).expect("settings");
            fs::write(&settings, format!("{given}[quota.blue]\ncores = 1\n")).expect("it is ours");
        }
        let tenant = ["--out", "cluster", "--cluster", "lab", "--connect", &all[0], "--connect", &all[1]];
        let made = fleet.place.takt(&[&["node", "certificates"], &tenant[..], &["--tenant", "blue", "blue"]].concat());
        assert!(made.status.success(), "{}", report(&made));
        ["a", "b"].into_iter().for_each(|name| fleet.join(name));
        fleet
    }

    /// With two cores where this machine has them.
    fn join(&mut self, name: &'static str) {
        let cores: Vec<String> = takt_host::affinity::own_cpus().iter().take(2).map(ToString::to_string).collect();
        let folder = format!("cluster/{name}");
        let mut command = self.place.command(&["node", "--folder", &folder, "--cores", &cores.join(",")]);
        let log = File::create(self.place.path(&format!("{name}.log"))).expect("a log");
        let (node, _, said) = Ended::ready(command.stdin(Stdio::null()).stderr(log));
        assert_eq!(said.trim(), format!("ready node {name}"));
        self.nodes.push((name, node));
    }

    fn file(&self, environments: &str, duration: &str) {
        let text = FILE.replace("ENVIRONMENTS", environments).replace("DURATION", duration);
        fs::write(self.place.path("fleet.toml"), text).expect("it is ours");
    }

    fn lab(&self, member: &str, more: &[&str]) -> Command {
        let folder = format!("cluster/{member}");
        self.place.command(&[&["experiment", "run", "fleet.toml", "--json", "--cluster", &folder], more].concat())
    }

    /// Starts the lab on a long experiment; returns once an agent works for it.
    fn working(&self, environments: &str) -> (Ended, u32) {
        self.file(environments, LONG);
        let said = File::create(self.place.path("said")).expect("a file");
        let lab = self.lab("a", &[]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(said).spawn().expect("takt");
        let mut lab = Ended(lab);
        while_running(&mut lab.0, "an agent at work", || !self.agents().is_empty());
        // One a time: sites are brought up in the order of the rounds.
        let agent = self.agents()[0];
        (lab, agent)
    }

    /// Output of the lab.
    fn said(&self, mut lab: Ended) -> String {
        let status = lab.0.wait().expect("it ends");
        assert_eq!(status.code(), Some(2), "{status}");
        fs::read_to_string(self.place.path("said")).expect("text")
    }

    /// Agents that nodes have started.
    fn agents(&self) -> Vec<u32> {
        let nodes: Vec<u32> = self.nodes.iter().map(|(_, node)| node.0.id()).collect();
        let all = self.place.processes().into_iter().filter_map(|process| {
            let stat = fs::read_to_string(format!("{process}/stat")).ok()?;
            let parent: u32 = stat.rsplit(") ").next()?.split(' ').nth(1)?.parse().ok()?;
            let own: u32 = process.rsplit('/').next()?.parse().ok()?;
            // One that has ended is there until its parent has looked.
            (nodes.contains(&parent) && !stat.contains(") Z ")).then_some(own)
        });
        all.collect()
    }

    fn signal(&self, name: &str, signal: Signal) {
        let (_, node) = self.nodes.iter().find(|(node, _)| *node == name).expect("a node");
        kill_process(Pid::from_child(&node.0), signal).expect("it is ours");
    }

    fn until_free(&self) {
        wait_for("nodes without agents", || self.agents().is_empty().then_some(()));
        wait_for("cores that are free again", || {
            let list = json(&self.place.takt(&["node", "list", "--folder", "cluster/a", "--json"]));
            list.as_array()?.iter().all(|node| node["busy"] == json!([]) && node["agents"] == json!([])).then_some(())
        });
    }
}

/// Rounds of each environment that count.
fn counted(summary: &Value) -> Vec<(String, u64)> {
    let points = summary["points"].as_array().expect("points").iter();
    let of = |point: &Value| Some((point["factors"]["environment"].as_str()?.to_owned(), point["rounds"].as_u64()?));
    points.filter_map(of).collect()
}

fn expected(names: &[&str], rounds: u64) -> Vec<(String, u64)> {
    names.iter().map(|name| ((*name).to_owned(), rounds)).collect()
}

fn good(output: &Output) -> Value {
    assert_eq!(output.status.code(), Some(0), "{}", report(output));
    json(output)
}

#[test]
fn an_experiment_over_a_fleet_has_its_results_in_one_store() {
    let fleet = Fleet::start(70);
    fleet.file(r#"["native", "node:a", "node:b"]"#, "50ms");
    let summary = good(&fleet.lab("b", &[]).output().expect("takt runs"));
    assert_eq!((&summary["complete"], counted(&summary)), (&json!(true), expected(&["native", "node:a", "node:b"], 2)));
    let shown = text(&fleet.place.takt(&["experiment", "show", "last"]).stdout);
    has(&shown, &["environment=node:a: 2 rounds", "95 % interval", "Node:b is ", "on cores "]);
    let document = fleet.place.takt(&["experiment", "export", "last", "--format", "json", "--out", "run.json"]);
    assert!(document.status.success(), "{}", report(&document));
    let run: Value = serde_json::from_slice(&fs::read(fleet.place.path("run.json")).expect("a file")).expect("JSON");
    let rounds = run["rounds"].as_array().expect("rounds");
    assert_eq!(rounds.len(), 6);
    for round in rounds {
        let site = round.pointer("/record/in_force").unwrap_or(&round["in_force"]);
        let machine = &site["holder"]["machine"];
        let environment = site["environment"].as_str().expect("a name");
        match environment.strip_prefix("node:") {
            None => assert_eq!(machine, &Value::Null, "the host's own fingerprint is the run's"),
            Some(node) => {
                assert_eq!(machine["node"], node);
                assert_eq!((&machine["cores"], &site["placement"]["radio"]), (&site["placement"]["host"], &json!([])));
                let kernel = rustix::system::uname().release().to_string_lossy().into_owned();
                assert_eq!(
                    (&machine["fingerprint"]["kernel"], &site["holder"]["kernel"]),
                    (&json!(kernel), &json!(kernel))
                );
            }
        }
    }
    fleet.until_free();
}

#[test]
fn both_sides_of_a_nodes_loopback_interface_are_on_the_node() {
    if takt_host::affinity::own_cpus().len() < 2 {
        return skip("both sides of a node's loopback interface need two cores");
    }
    let fleet = Fleet::start(86);
    let wakeup = FILE.lines().find(|line| line.starts_with("workload")).expect("a line");
    let udp = "payload_bytes = 64\ndirection = \"from-host\"\npath = \"loopback\"\n\
               workload = { kind = \"udp\", offered = 1000, duration = \"50ms\", warm_up = \"0s\" }";
    let file = FILE.replace(wakeup, udp).replace("ENVIRONMENTS", r#"["node:a"]"#);
    fs::write(fleet.place.path("fleet.toml"), file).expect("it is ours");
    let summary = good(&fleet.lab("b", &[]).output().expect("takt runs"));
    assert_eq!(counted(&summary), expected(&["node:a"], 2));
    fleet.until_free();
}

#[test]
fn no_agent_outlives_its_lab_and_a_killed_run_goes_on() {
    let fleet = Fleet::start(74);
    let (lab, _) = fleet.working(r#"["node:a"]"#);
    drop(lab);
    fleet.until_free();
    // Ctrl-C: at once, and the lab waits for it.
    let (mut lab, _) = fleet.working(r#"["node:a"]"#);
    kill_process(Pid::from_child(&lab.0), Signal::INT).expect("it is ours");
    lab.0.wait().expect("it ends");
    assert_eq!(fleet.agents(), Vec::<u32>::new());
    // The store keeps its rounds, and the rest is run: of the same file, so its rounds are short.
    fleet.file(r#"["node:a", "node:b"]"#, "2s");
    let mut lab = fleet.lab("a", &[]);
    let mut lab = Ended(lab.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("takt"));
    let rounds = || {
        let list = json(&fleet.place.takt(&["experiment", "list", "--json"]));
        list.as_array()?.iter().filter_map(|run| run["rounds"].as_u64()).max()
    };
    while_running(&mut lab.0, "a round in the store", || rounds() >= Some(1));
    // SIGKILL.
    drop(lab);
    let summary = good(&fleet.lab("b", &["--resume"]).output().expect("takt runs"));
    assert_eq!((&summary["complete"], counted(&summary)), (&json!(true), expected(&["node:a", "node:b"], 2)));
    fleet.until_free();
}

#[test]
fn what_dies_on_a_node_is_named() {
    let mut fleet = Fleet::start(78);
    let (mut lab, _) = fleet.working(r#"["node:a"]"#);
    // One that dies before it has sent anything is started again, once.
    wait_for("the end of the lab", || {
        for agent in fleet.agents() {
            let _ended_already = kill_process(Pid::from_raw(agent.cast_signed()).expect("a process"), Signal::KILL);
        }
        lab.0.try_wait().expect("a child")
    });
    has(&fleet.said(lab), &["the agent on node `a` ended", "SIGKILL"]);
    fleet.until_free();
    let (lab, agent) = fleet.working(r#"["node:a"]"#);
    fleet.signal("a", Signal::KILL);
    has(&fleet.said(lab), &["node `a` does not answer"]);
    wait_for("the end of the agent of a dead node", || {
        let status = fs::read_to_string(format!("/proc/{agent}/stat")).unwrap_or_default();
        (status.is_empty() || status.contains(") Z ")).then_some(())
    });
    fleet.nodes.retain(|(name, _)| *name != "a");
    // One that is not there is named before anything is run.
    let gone = refusal(&fleet.lab("b", &[]).output().expect("takt runs"));
    has(&gone, &["node `a` does not answer", "start takt node on each machine"]);
}

#[test]
fn who_is_not_let_in_or_has_no_core_left_starts_no_agent() {
    let fleet = Fleet::start(82);
    let file = |environment: &str, cores: &str| {
        let text = FILE.replace("ENVIRONMENTS", &format!("[\"{environment}\"]")).replace("DURATION", "50ms");
        let text = text.replace("[fixed]", &format!("[fixed]\nenvironment_cpus = {cores}"));
        fs::write(fleet.place.path("fleet.toml"), text).expect("it is ours");
    };
    let lab = |member: &str| fleet.lab(member, &[]).output().expect("takt runs");
    file("node:a", "2");
    let over = "tenant `blue` may have 1 cores here, has 0 and asks for 2 more";
    has(&refusal(&lab("blue")), &[over, "set cores = 2 in [quota.blue]"]);
    file("node:a", "77");
    has(&refusal(&lab("a")), &["node `a`: the agent asks for 77 cores, but", "environment_cpus"]);
    file("node:a", "1");
    let summary = good(&lab("blue"));
    assert_eq!(counted(&summary), expected(&["node:a"], 2), "its quota leaves that");
    // A lab of another authority is nobody here.
    let [there, here] = [82, 92].map(|host| format!("quic/{}:{PORT}", loopback(host)));
    assert!(certificates(&fleet.place, "other", "x", &here, &[there]).status.success());
    let stranger = ["experiment", "run", "fleet.toml", "--cluster", "other/x"];
    has(&refusal(&fleet.place.takt(&stranger)), &["can't measure on the cluster", "no node answers"]);
    // Nor is a lab that has another takt.
    let folder = Folder::read(&fleet.place.path("cluster/blue")).expect("a folder");
    let control = Control::open(&folder, false).expect("a session");
    let other = Request::StartAgent(StartAgent { version: "0.0.1".to_owned(), cores: None });
    let why = wait_for("an answer", || match control.ask::<Value>("a", &other, Duration::from_secs(20)) {
        Err(ClusterError::Silent { .. }) => None,
        done => Some(done.expect_err("another version").to_string()),
    });
    assert_eq!(why, format!("node `a`: takt has version {} here, but 0.0.1 in the lab", env!("CARGO_PKG_VERSION")));
    // Nor is a node anywhere without its cluster, and a shell is nothing that it starts.
    has(&refusal(&fleet.place.takt(&["experiment", "run", "fleet.toml"])), &["node a of a cluster", "--cluster"]);
    let shell = ["experiment", "run", "fleet.toml", "--env-only", "node:a"];
    has(&refusal(&fleet.place.takt(&shell)), &["a node starts only agents"]);
    assert_eq!(fleet.agents(), Vec::<u32>::new());
    let log = fs::read_to_string(fleet.place.path("a.log")).expect("a log");
    has(&log, &["refused   order `start_agent` of `blue`: tenant `blue` may have 1 cores here"]);
}
