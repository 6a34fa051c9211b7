//! Nodes that fail in every way, at random moments, on a machine that has other work: others go on, and nothing is executed twice.
//! Their manager fails as well. Once each way; `TAKT_CLUSTER_FAILURES=100` asks for more.
#![allow(clippy::print_stderr, reason = "with --nocapture it is a measurement")]

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use takt_testing::wait_for;

use crate::support::cluster::{Cluster, NODES};
use crate::support::{json, report, to_the_end};

/// How a node fails, or the manager.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Failure {
    /// Killed.
    Killed,
    /// Stopped, and let go on once others have taken over.
    Frozen,
    /// Its cable carries nothing.
    Cut,
    /// Its cable carries 64 kb/s.
    SlowCable,
    /// It has its processor for 50 of 400 ms.
    SlowProcessor,
    /// The manager is killed, and another one has the folder of a node.
    Manager,
}

const FAILURES: [Failure; 6] =
    [Failure::Killed, Failure::Frozen, Failure::Cut, Failure::SlowCable, Failure::SlowProcessor, Failure::Manager];

const SLOT_NS: u64 = 50_000_000;

/// Slots from knowing to resuming: a lease of 2 s, 0.4 s for each of two nodes, two edges; and what it takes to ask them.
const RESUMED_AFTER_SLOTS: u64 = 58;

/// A run that is not on all nodes by then never will be.
const BEGINS_WITHIN: Duration = Duration::from_secs(60);

/// How often a run is begun until it is on all nodes.
const BEGINNINGS: usize = 3;

/// Other work for each processor.
struct Load(Vec<Child>);

impl Load {
    fn start() -> Load {
        let busy = |_| {
            Command::new("setpriv")
                .args(["--pdeathsig", "KILL", "sh", "-c", "while :; do :; done"])
                .spawn()
                .expect("sh")
        };
        Load((0..takt_host::affinity::own_cpus().len()).map(busy).collect())
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ended_already = child.kill();
            let _ = child.wait();
        }
    }
}

/// Numbers that are the same in every run: what fails, when.
struct Random(u64);

impl Random {
    fn below(&mut self, most: u64) -> u64 {
        // Knuth's constants of MMIX.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % most
    }
}

#[test]
fn whatever_fails_others_go_on_and_nothing_is_executed_twice() {
    if !rustix::process::geteuid().is_root() {
        return takt_testing::skip("network namespaces need root");
    }
    let count = std::env::var("TAKT_CLUSTER_FAILURES").ok().and_then(|count| count.parse().ok());
    let _load = Load::start();
    let mut cluster = Cluster::start_apart();
    let mut random = Random(20_261_126);
    for index in 0..count.unwrap_or(FAILURES.len()) {
        let failure = FAILURES[index % FAILURES.len()];
        let node = NODES[random.below(3) as usize];
        let after = Duration::from_millis(random.below(1000));
        let known = match failure {
            Failure::Manager => is_watched_again(&cluster, node, after),
            _ => survives(&mut cluster, failure, node, after),
        };
        eprintln!("failure {index}: {failure:?} {node}, known after {} ms", known.as_millis());
    }
}

/// A run on all nodes, what it says from then on, and its name. The way to a node that was slow may be out for some seconds more:
/// then a run begins without that node, as it should, and is begun anew.
fn begin(cluster: &Cluster, failure: Failure, node: &str) -> (Child, BufReader<ChildStderr>, Value) {
    for _ in 0..BEGINNINGS {
        let mut child = cluster.run("1000000").spawn().expect("takt starts");
        let said = BufReader::new(child.stderr.take().expect("piped"));
        if is_on_all_nodes(cluster, &mut child) {
            let run = cluster.facts(node).expect("there")["runs"].as_array().and_then(|runs| runs.last().cloned());
            let name = run.expect("a run")["run"].clone();
            return (child, said, name);
        }
        let _ended_already = kill_process(Pid::from_child(&child), Signal::INT);
        let (_, said) = to_the_end(child, said);
        assert!(said.contains("lost      node"), "{failure:?} {node}: no run on all nodes: {said}");
        eprintln!("begun anew: {said}");
        cluster.until_whole();
    }
    panic!("{failure:?} {node}: {BEGINNINGS} runs lost a node when they began");
}

/// Whether a run is executed on all nodes within a time; if not, it never will be.
fn is_on_all_nodes(cluster: &Cluster, run: &mut Child) -> bool {
    let began = Instant::now();
    while began.elapsed() < BEGINS_WITHIN && run.try_wait().expect("ours").is_none() {
        if cluster.all_in_slot(5).is_some() {
            return true;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    false
}

/// The manager is killed while a waveform runs, which goes on with another one. How long it took until that one watched over it.
fn is_watched_again(cluster: &Cluster, node: &str, after: Duration) -> Duration {
    let (mut first, _said, run) = begin(cluster, Failure::Manager, node);
    std::thread::sleep(after);
    let began = Instant::now();
    first.kill().expect("it is ours");
    first.wait().expect("it ends");
    let folder = format!("cluster/{node}");
    let name = run.as_str().expect("a name");
    let mut watch = cluster.command("m", &["node", "watch", name, "--folder", &folder, "--standby", "--json"]);
    watch.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut second = watch.spawn().expect("takt starts");
    let mut said = BufReader::new(second.stderr.take().expect("piped"));
    let mut line = String::new();
    while !line.starts_with("watching  ") {
        assert!(line.is_empty() || line.starts_with("standby   "), "{line}{}", rest(&mut said));
        line.clear();
        assert!(said.read_line(&mut line).expect("text") > 0, "it has ended");
    }
    let known = began.elapsed();
    let slot = || cluster.facts(node)?["runs"].as_array()?.last()?["slot"].as_u64();
    let before = wait_for("a slot", slot);
    wait_for("the waveform to go on", || slot().filter(|slot| *slot > before + 20));
    kill_process(Pid::from_child(&second), Signal::INT).expect("it is ours");
    let (done, said) = to_the_end(second, said);
    let ended = json(&done);
    assert_eq!(
        (&ended["run"], &ended["losses"], ended["nodes"].as_object().map(serde_json::Map::len)),
        (&run, &Value::Array(Vec::new()), Some(NODES.len())),
        "{}",
        said + &report(&done)
    );
    cluster.until_whole();
    known
}

/// A node fails while a waveform runs, and is there again after it. How long it took to be known.
fn survives(cluster: &mut Cluster, failure: Failure, node: &str, after: Duration) -> Duration {
    let (mut child, mut said, run) = begin(cluster, failure, node);
    std::thread::sleep(after);
    let mut line = String::new();
    let began = Instant::now();
    during(cluster, failure, node, || {
        said.read_line(&mut line).expect("text");
    });
    let known = began.elapsed();
    if !line.contains(&format!("lost      node {node} in slot")) {
        // It says no more only when it has ended.
        let _ended_already = child.kill();
        panic!("{failure:?} {node}: {line}{}", rest(said));
    }
    if failure == Failure::Killed {
        cluster.bury(node);
        cluster.join(node);
    }
    let executed = (failure != Failure::Killed).then(|| {
        wait_for("the lost node to find out", || {
            let facts = cluster.facts(node)?;
            let own = facts["runs"].as_array()?.iter().find(|of| of["run"] == run)?;
            (facts["busy"] == serde_json::json!([])).then(|| own["slot"].as_u64().expect("slots"))
        })
    });
    kill_process(Pid::from_child(&child), Signal::INT).expect("it is ours");
    let (done, said) = to_the_end(child, said);
    let ended = json(&done);
    let loss = &ended["losses"][0];
    let at = |key: &str| loss[key].as_u64().unwrap_or_else(|| panic!("{key}: {}", report(&done)));
    let losses = &ended["losses"];
    assert_eq!(
        (&loss["node"], losses.as_array().map(Vec::len)),
        (&node.into(), Some(1)),
        "{failure:?}: {losses:#}{}",
        said + &report(&done)
    );
    let (known_in, resumed, took_slots) = (at("known_in_slot"), at("resumed_in_slot"), at("took_ns") / SLOT_NS + 1);
    assert!(resumed - known_in <= RESUMED_AFTER_SLOTS + took_slots, "{loss}");
    assert!(executed.is_none_or(|executed| executed < resumed), "{executed:?} slots there, others from {resumed} on");
    cluster.until_whole();
    known
}

/// Output of a run to its end.
fn rest(mut said: impl Read) -> String {
    let mut rest = String::new();
    said.read_to_string(&mut rest).expect("text");
    rest
}

/// Does something while a node fails, and ends the failure.
fn during(cluster: &Cluster, failure: Failure, node: &str, what: impl FnOnce()) {
    let cables = cluster.cables.as_ref().expect("they have cables");
    match failure {
        Failure::Killed => {
            cluster.signal(node, Signal::KILL);
            what();
        }
        Failure::Frozen => {
            cluster.signal(node, Signal::STOP);
            what();
            cluster.signal(node, Signal::CONT);
        }
        Failure::Cut => {
            cables.cut(node, true);
            what();
            cables.cut(node, false);
        }
        Failure::SlowCable => {
            cables.slow(node, true);
            what();
            cables.slow(node, false);
        }
        Failure::SlowProcessor => seldom(cluster, node, what),
        Failure::Manager => unreachable!("it is no node"),
    }
}

/// Does something while a node has its processor for an eighth of the time.
pub fn seldom(cluster: &Cluster, node: &str, what: impl FnOnce()) {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                cluster.signal(node, Signal::STOP);
                std::thread::sleep(Duration::from_millis(350));
                cluster.signal(node, Signal::CONT);
                std::thread::sleep(Duration::from_millis(50));
            }
        });
        what();
        over.store(true, Ordering::Relaxed);
    });
}
