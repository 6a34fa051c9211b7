//! What the control plane costs a node, and how that grows with the nodes: CPU of a node's process that is neither a worker's nor
//! the bridge's, while it waits, and while all nodes execute one waveform of 10 ms slots. Then what the measured constants say of
//! fleets that no machine here holds.
//!
//! `cargo bench -p takt-cluster --bench control_plane`
//!
//! ALOE's daemons took 186.69 µs of every slot of its x86 (Table II).

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark prints what it measures")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use takt_base::Stop;
use takt_cluster::certificates::{Grant, issue};
use takt_cluster::manager::{OnLoss, Placer, RunOptions};
use takt_cluster::message::{Order, WorkerOrder};
use takt_cluster::{Folder, Manager, Node, Offer, Settings};
use takt_graph::limits::WORKERS;
use takt_graph::{Graph, Latency, Waveform};
use takt_mapper::{ClassSpec, Objective};
use takt_packet::EngineKind;
use takt_runtime::Registry;

/// Slots of the waveform, ns.
const SLOT_NS: u64 = 10_000_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [what, folder] = &arguments[..]
        && what == "--node"
    {
        return node(Path::new(folder));
    }
    // Without --bench it is a test: that it works, and no figures.
    let measures = arguments.iter().any(|argument| argument == "--bench");
    let (counts, time): (&[usize], _) =
        if measures { (&[2, 4, 8, 12, 16], Duration::from_secs(10)) } else { (&[2], Duration::from_secs(1)) };
    let rows: Vec<Row> = counts.iter().map(|&count| measure(count, time)).collect();
    print(&rows);
    if measures {
        predict(&rows);
    }
}

/// One node, until its input ends.
fn node(folder: &Path) {
    let folder = Folder::read(folder).expect("a folder");
    let offer = Offer { cores: vec![own_core()], capacities: ClassSpec::default(), engine: EngineKind::Mmsg };
    let mut node = Node::open(&folder, offer, registry()).expect("it joins");
    let ends = Stop::new();
    let until = ends.clone();
    std::thread::spawn(move || {
        let _ended = std::io::stdin().read_to_end(&mut Vec::new());
        until.request();
    });
    node.serve(&ends, |_| println!("ready"), |line| eprintln!("{line}")).expect("it serves");
}

fn registry() -> Registry {
    takt_phy::link();
    Registry::of_program().expect("one kind of a name")
}

fn own_core() -> u32 {
    takt_host::affinity::own_cpus()[0] as u32
}

/// CPU a node and second, µs, by what it is for.
struct Row {
    nodes: usize,
    waiting: BTreeMap<&'static str, f64>,
    running: BTreeMap<&'static str, f64>,
}

/// A cluster in processes of their own.
struct Fleet(Vec<Child>, tempfile::TempDir);

impl Fleet {
    fn start(count: usize) -> Fleet {
        let out = tempfile::tempdir().expect("a folder");
        let names: Vec<String> = (0..count).map(|n| format!("n{n}")).collect();
        let at = |n: usize| format!("quic/{}:7447", takt_testing::loopback(n as u8 + 1));
        let mut children = Vec::new();
        for (n, name) in names.iter().enumerate() {
            let connect = (0..n).map(at).collect();
            let settings = Settings {
                cluster: "bench".to_owned(),
                node: name.clone(),
                listen: vec![at(n)],
                connect,
                multicast: false,
                samples: None,
                samples_bits_per_s: 1e9,
                quota: takt_cluster::tenant::Quotas::default(),
            };
            issue(out.path(), "bench", std::slice::from_ref(name), &settings, &Grant::default()).expect("a folder");
            let mut command = Command::new(std::env::current_exe().expect("this program"));
            command.arg("--node").arg(out.path().join(name)).stdin(Stdio::piped()).stdout(Stdio::piped());
            let mut child = command.spawn().expect("it starts");
            let mut line = String::new();
            BufReader::new(child.stdout.take().expect("piped")).read_line(&mut line).expect("text");
            assert_eq!(line.trim(), "ready");
            children.push(child);
        }
        // Who gives the orders reaches all.
        let all = (0..count).map(at).collect();
        let settings = Settings {
            listen: Vec::new(),
            connect: all,
            ..Folder::read(&out.path().join("n0")).expect("it").settings().clone()
        };
        issue(out.path(), "bench", &["m".to_owned()], &settings, &Grant::default()).expect("a folder");
        Fleet(children, out)
    }

    fn manager(&self) -> Manager {
        Manager::open(&Folder::read(&self.1.path().join("m")).expect("a folder")).expect("it joins")
    }

    /// CPU so far, µs, of all nodes, by what threads are called.
    fn cpu_us(&self) -> BTreeMap<&'static str, f64> {
        let mut sums = BTreeMap::new();
        for child in &self.0 {
            for task in std::fs::read_dir(format!("/proc/{}/task", child.id())).expect("it runs").flatten() {
                let read = |name| std::fs::read_to_string(task.path().join(name)).unwrap_or_default();
                let ns: f64 = read("schedstat").split(' ').next().and_then(|ns| ns.parse().ok()).unwrap_or(0.0);
                *sums.entry(part(read("comm").trim())).or_default() += ns / 1e3;
            }
        }
        sums
    }

    /// CPU a node and second while `time` passes.
    fn rate(&self, time: Duration) -> BTreeMap<&'static str, f64> {
        let before = self.cpu_us();
        std::thread::sleep(time);
        let each = time.as_secs_f64() * self.0.len() as f64;
        let since = |(part, us): (&'static str, f64)| (part, (us - before.get(part).copied().unwrap_or(0.0)) / each);
        self.cpu_us().into_iter().map(since).collect()
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ended_already = child.kill();
            let _ = child.wait();
        }
    }
}

/// What a thread of a node is for.
fn part(thread: &str) -> &'static str {
    match thread {
        "takt-beat" => "heartbeats",
        "takt-clock" => "clock",
        "takt-bridge" => "bridge",
        _ if thread.starts_with("takt-worker") => "workers",
        _ if ["app-", "net-", "acc-", "tx-", "rx-"].iter().any(|zenoh| thread.starts_with(zenoh)) => "Zenoh",
        // Questions and statistics.
        _ => "node",
    }
}

const CONTROL: [&str; 4] = ["Zenoh", "heartbeats", "clock", "node"];

fn control(parts: &BTreeMap<&'static str, f64>) -> f64 {
    CONTROL.iter().filter_map(|part| parts.get(part)).sum()
}

fn measure(count: usize, time: Duration) -> Row {
    let fleet = Fleet::start(count);
    // Every node has found every other by then.
    std::thread::sleep(Duration::from_secs(3));
    let waiting = fleet.rate(time);
    let manager = fleet.manager();
    let nodes = manager.nodes().expect("nodes");
    assert_eq!(nodes.len(), count);
    let (text, registry) = (chain(count), registry());
    let graph = Graph::check(&Waveform::parse("chain.toml", &text).expect("a waveform"), &registry).expect("sound");
    let objective = Objective::best_effort(Latency::Fixed);
    let placer = Placer::new(&graph, &registry, &nodes, None, objective, 2).expect("costs");
    let order = order(&manager, text, count);
    let (stop, mut running) = (Stop::new(), BTreeMap::new());
    std::thread::scope(|scope| {
        let until = stop.clone();
        let (fleet, running) = (&fleet, &mut running);
        scope.spawn(move || {
            // It is begun by then: 0.4 s a node.
            std::thread::sleep(Duration::from_secs(2) + Duration::from_millis(500) * count as u32);
            *running = fleet.rate(time);
            until.request();
        });
        let options = RunOptions { stop: &stop, watch: &mut |_| {}, on_loss: OnLoss::Stop };
        let ended = manager.run(&order, &placer, options).expect("it runs");
        assert!(ended.losses.is_empty() && ended.nodes.len() == count, "{ended:?}");
    });
    Row { nodes: count, waiting, running }
}

/// A component for each node.
fn chain(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|n| format!("\"k{n}\"")).collect();
    let kind = |n: usize| match n {
        0 => "type = \"null-source\"\nitems = 64",
        n if n + 1 == count => "type = \"null-sink\"",
        _ => "type = \"copy\"",
    };
    let component = |n: usize| format!("[component.k{n}]\n{}\n", kind(n));
    let all: String = (0..count).map(component).collect();
    format!("name = \"chain\"\nslot = \"10 ms\"\nchain = [{}]\n{all}", names.join(", "))
}

fn order(manager: &Manager, text: String, count: usize) -> Order {
    let worker = |n: usize| WorkerOrder { node: format!("n{n}"), cpu: own_core(), components: vec![format!("k{n}")] };
    Order {
        run: format!("chain-{}", std::process::id()),
        placing: 1,
        file: "chain.toml".to_owned(),
        text,
        slot_ns: None,
        set: Vec::new(),
        latency: Latency::Fixed,
        hop_slots: 2,
        slots: None,
        fifo_priority: 0,
        manager: manager.member(),
        first_stream: 1,
        workers: (0..count).map(worker).collect(),
    }
}

fn print(rows: &[Row]) {
    println!("CPU of the control plane a node, µs; a slot is 10 ms");
    println!("nodes  waiting, a second  running, a second  running, a slot   of that Zenoh heartbeats clock node");
    let slots_per_s = 1e9 / SLOT_NS as f64;
    for row in rows {
        let slot = |part: &str| row.running.get(part).copied().unwrap_or(0.0) / slots_per_s;
        println!(
            "{:>5}  {:>17.0}  {:>17.0}  {:>15.1}   {:>13.1} {:>10.1} {:>5.1} {:>4.1}",
            row.nodes,
            control(&row.waiting),
            control(&row.running),
            control(&row.running) / slots_per_s,
            slot("Zenoh"),
            slot("heartbeats"),
            slot("clock"),
            slot("node"),
        );
    }
}

/// Intercept and slope of the least-squares line.
fn line(points: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let n = points.clone().count() as f64;
    let mean = |of: &dyn Fn((f64, f64)) -> f64| points.clone().map(of).sum::<f64>() / n;
    let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
    let slope = mean(&|point| (point.0 - x) * (point.1 - y)) / mean(&|point| (point.0 - x).powi(2));
    (y - slope * x, slope)
}

/// What the constants say of more nodes. A node that waits pays for itself and for each link to another; one that runs pays for each
/// other member of its run on top.
fn predict(rows: &[Row]) {
    let others = |row: &Row| row.nodes as f64 - 1.0;
    let (alone, link) = line(rows.iter().map(|row| (others(row), control(&row.waiting))));
    let more = |row: &Row| control(&row.running) - control(&row.waiting);
    let (run, member) = line(rows.iter().map(|row| (others(row), more(row))));
    println!(
        "\na node and second, µs: {alone:.0} + {link:.1} a link; in a run {run:.0} + {member:.1} for each other node of it"
    );
    println!("\npredicted share of one core, %");
    println!(
        "  fleet  one run on all, linked to each other  runs of 4, linked to each other  runs of 4, behind a router"
    );
    let percent = |us: f64| us / 1e4;
    for fleet in [10.0, 100.0, 1000.0, 10_000.0] {
        let linked = alone + link * (fleet - 1.0);
        // A run has a worker on each of its nodes.
        let all = (fleet <= WORKERS as f64).then(|| format!("{:.1}", percent(linked + run + member * (fleet - 1.0))));
        println!(
            "{fleet:>7}  {:>37}  {:>31.1}  {:>26.1}",
            all.unwrap_or_else(|| "-".to_owned()),
            percent(linked + run + member * 3.0),
            percent(alone + link + run + member * 3.0)
        );
    }
}
