//! Measurements of one fleet: while it waits, then while runs of several sizes are executed.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use takt_base::Stop;
use takt_cluster::clock::SlotClock;
use takt_cluster::manager::{OnLoss, Placer, RunOptions};
use takt_cluster::message::{NodeFacts, Order, WorkerOrder};
use takt_cluster::{ClusterError, Manager, Trace};
use takt_graph::{Graph, Latency, Waveform};
use takt_mapper::Objective;

use super::Raw;
use super::fleet::{Fleet, Links, Parts, core, loopback, mean, name, pass, registry};

/// Slots of the waveform, ns.
pub const SLOT_NS: u64 = 10_000_000;

/// Slots that are executed everywhere before anything is counted.
const BEGUN: u64 = 20;

/// How often a run is begun.
const TRIES: usize = 3;

/// Items that a component passes on in a slot, 4 bytes each.
const ITEMS: usize = 64;

/// One stretch of time. Rates are a second; CPU µs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Record {
    pub round: usize,
    pub links: Links,
    /// Nodes of the cluster.
    pub nodes: usize,
    /// Nodes of the run; 0 while all wait.
    pub members: usize,
    /// How long it was counted.
    pub seconds: f64,
    /// CPU of a node of the run whose clock is not the reference's; while all wait, of a node.
    pub node: Parts,
    /// CPU of the node whose clock sets the beat.
    pub reference: Option<Parts>,
    /// CPU of a node that is not in the run.
    pub idle: Option<Parts>,
    /// CPU of the router.
    pub router: Option<f64>,
    /// Bytes and packets over loopback, those of links between components left out.
    pub wire: (f64, f64),
    /// While all wait: CPU of a node since it was started, µs; its memory, KiB; its open files.
    pub joining: Option<f64>,
    pub memory: Option<f64>,
    pub files: Option<f64>,
    /// While a run is executed: CPU of the manager; its looks; how long from the order until all were started, s.
    pub manager: Option<f64>,
    pub looks: Option<f64>,
    pub begin: Option<f64>,
}

/// Measures a fleet: waiting, then in runs of so many members. A run that lost a node is begun anew, a number of times.
pub fn measure(raw: &mut Raw, (round, links, nodes): (usize, Links, usize), members: &[usize], time: Duration) {
    let fleet = Fleet::start(nodes, links);
    // All links are made by then.
    pass(Duration::from_secs(3));
    let (memory, files) = fleet.holds();
    let joining = fleet.cpu().iter().map(Parts::control).sum::<f64>() / nodes as f64;
    let waits = count(&fleet, time);
    raw.records.push(Record {
        round,
        links,
        nodes,
        members: 0,
        seconds: waits.seconds,
        node: mean(&waits.nodes).unwrap_or_default(),
        reference: None,
        idle: None,
        router: waits.router,
        wire: waits.wire,
        joining: Some(joining),
        memory: Some(memory),
        files: Some(files),
        manager: None,
        looks: None,
        begin: None,
    });
    let manager = fleet.manager();
    let names: Vec<String> = (0..nodes).map(name).collect();
    let present = manager.nodes_with(&names.iter().map(String::as_str).collect::<Vec<_>>()).expect("nodes");
    let facts = present.nodes;
    for &members in members {
        for tried in 1..=TRIES {
            match execute(&fleet, &manager, &facts, (round, tried), members, time) {
                Ok(executed) => {
                    raw.records.push(Record { round, links, nodes, ..executed });
                    break;
                }
                // The machine had no time for it for two seconds: what was counted says nothing.
                Err(error) => {
                    let lost = format!("round {round}, {links:?}, {nodes} nodes, run of {members}: {error}");
                    eprintln!("{lost}");
                    raw.lost.push(lost);
                }
            }
        }
    }
}

/// Counts of a stretch of time.
struct Counted {
    seconds: f64,
    nodes: Vec<Parts>,
    manager: f64,
    router: Option<f64>,
    wire: (f64, f64),
}

fn count(fleet: &Fleet, time: Duration) -> Counted {
    let router = || fleet.router.as_ref().map(|router| all(&Parts::of_process(router.id())));
    let own = || all(&Parts::of_process(std::process::id()));
    let (nodes, routed, wire, managed) = (fleet.cpu(), router(), loopback(), own());
    let seconds = pass(time);
    let (managed, wire_now, routed_now) = (own() - managed, loopback(), router());
    let since = |(now, before): (&Parts, &Parts)| now.since(before, seconds);
    Counted {
        seconds,
        nodes: fleet.cpu().iter().zip(&nodes).map(since).collect(),
        manager: managed / seconds,
        router: routed_now.zip(routed).map(|(now, before)| (now - before) / seconds),
        wire: ((wire_now.0 - wire.0) / seconds, (wire_now.1 - wire.1) / seconds),
    }
}

fn all(parts: &Parts) -> f64 {
    parts.control() + parts.workers + parts.bridge
}

fn execute(
    fleet: &Fleet,
    manager: &Manager,
    facts: &[NodeFacts],
    (round, tried): (usize, usize),
    members: usize,
    time: Duration,
) -> Result<Record, ClusterError> {
    let (text, registry) = (chain(members), registry());
    let graph = Graph::check(&Waveform::parse("chain.toml", &text).expect("a waveform"), &registry).expect("sound");
    let objective = Objective::best_effort(Latency::Fixed);
    let placer = Placer::new(&graph, &registry, facts, None, objective, 2).expect("costs");
    let order = order(manager, format!("chain-{round}-{members}-{tried}"), text, members);
    let (stop, looks, since) = (Stop::new(), AtomicU64::new(0), Instant::now());
    let (begins, begun) = mpsc::channel();
    let (stops, looked) = (&stop, &looks);
    let (counted, ended, begin) = std::thread::scope(|scope| {
        let counts = scope.spawn(move || {
            // Nobody says so where it ends before.
            begun.recv().ok()?;
            let before = looked.load(Ordering::Relaxed);
            let counted = count(fleet, time);
            let looks = (looked.load(Ordering::Relaxed) - before) as f64 / counted.seconds;
            stops.request();
            Some((counted, looks))
        });
        let (mut begin, mut says) = (None, Some(begins));
        let mut watch = |watch: takt_cluster::manager::Watch<'_>| {
            looks.fetch_add(1, Ordering::Relaxed);
            begin.get_or_insert_with(|| since.elapsed().as_secs_f64());
            if watch.slot >= BEGUN
                && let Some(begins) = says.take()
            {
                let _ = begins.send(());
            }
        };
        let ended = manager.run(
            &order,
            &placer,
            RunOptions { stop: &stop, watch: &mut watch, on_loss: OnLoss::Stop, trace: &Trace::off() },
        );
        drop(says);
        (counts.join().expect("it counts"), ended, begin)
    });
    let ended = ended?;
    let cut = ended.nodes.len() < members || ended.nodes.values().any(|node| node.cut_off);
    let Some((counted, looks)) = counted.filter(|_| !cut) else {
        return Err(ClusterError::Lost {
            node: format!("{members} nodes"),
            what: "not all came to the end".to_owned(),
        });
    };
    let is_reference = |n: usize| n < members && name(n) == ended.reference;
    let of = |which: &dyn Fn(usize) -> bool| {
        let chosen = counted.nodes.iter().enumerate().filter(|(n, _)| which(*n)).map(|(_, rate)| *rate);
        mean(&chosen.collect::<Vec<_>>())
    };
    // Ethernet, IP, UDP, VITA-49, and the items.
    let datagram = (14 + 20 + 8 + 24 + 4 * ITEMS) as f64;
    let datagrams = (members - 1) as f64 * 1e9 / SLOT_NS as f64;
    Ok(Record {
        round,
        links: Links::Mesh,
        nodes: 0,
        members,
        seconds: counted.seconds,
        node: of(&|n| n < members && !is_reference(n)).unwrap_or_default(),
        reference: of(&is_reference),
        idle: of(&|n| n >= members),
        router: counted.router,
        wire: (counted.wire.0 - datagram * datagrams, counted.wire.1 - datagrams),
        joining: None,
        memory: None,
        files: None,
        manager: Some(counted.manager),
        looks: Some(looks),
        begin,
    })
}

/// A component for each node.
fn chain(count: usize) -> String {
    let names: Vec<String> = (0..count).map(|n| format!("\"k{n}\"")).collect();
    let kind = |n: usize| match n {
        0 => format!("type = \"null-source\"\nitems = {ITEMS}"),
        n if n + 1 == count => "type = \"null-sink\"".to_owned(),
        _ => "type = \"copy\"".to_owned(),
    };
    let component = |n: usize| format!("[component.k{n}]\n{}\n", kind(n));
    let all: String = (0..count).map(component).collect();
    format!("name = \"chain\"\nslot = \"{} ns\"\nchain = [{}]\n{all}", SLOT_NS, names.join(", "))
}

fn order(manager: &Manager, run: String, text: String, count: usize) -> Order {
    let worker = |n: usize| WorkerOrder { node: name(n), cpu: core(n), components: vec![format!("k{n}")] };
    Order {
        run,
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
        slot_clock: SlotClock::Own,
        workers: (0..count).map(worker).collect(),
    }
}
