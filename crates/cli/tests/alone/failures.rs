//! Nodes that fail in every way, at random moments, on a machine that has other work: others go on, and nothing is executed twice.
//! Once each way; `TAKT_CLUSTER_FAILURES=100` asks for more.

use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use takt_testing::wait_for;

use crate::support::cluster::{Cluster, NODES};
use crate::support::{json, report, to_the_end};

/// How a node fails.
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
}

const FAILURES: [Failure; 5] =
    [Failure::Killed, Failure::Frozen, Failure::Cut, Failure::SlowCable, Failure::SlowProcessor];

const SLOT_NS: u64 = 50_000_000;

/// Slots from knowing to resuming: a lease of 2 s, 0.4 s for each of two nodes, two edges; and what it takes to ask them.
const RESUMED_AFTER_SLOTS: u64 = 58;

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
#[allow(clippy::print_stderr, reason = "with --nocapture it is a measurement")]
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
        let known = survives(&mut cluster, failure, node, Duration::from_millis(random.below(1000)));
        eprintln!("failure {index}: {failure:?} {node}, known after {} ms", known.as_millis());
    }
}

/// A node fails while a waveform runs, and is there again after it. How long it took to be known.
fn survives(cluster: &mut Cluster, failure: Failure, node: &str, after: Duration) -> Duration {
    let mut child = cluster.run("1000000").spawn().expect("takt starts");
    let mut said = BufReader::new(child.stderr.take().expect("piped"));
    wait_for("a run on all nodes", || {
        if child.try_wait().expect("ours").is_some() {
            panic!("{failure:?} {node}: {}", rest(&mut said));
        }
        cluster.all_in_slot(5)
    });
    let run = cluster.facts(node).expect("there")["runs"].as_array().and_then(|runs| runs.last().cloned());
    let run = run.expect("a run")["run"].clone();
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

/// What a run says to its end.
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
