//! Lines through what was measured. The unit is the round: each gives its own lines, and the interval is over rounds.

use std::hint::black_box;

use rustix::time::{ClockId, clock_gettime};
use serde::{Deserialize, Serialize};
use takt_cluster::cost::{Fleet, Links as How, PAUSE, heartbeat, heartbeat_bytes, taken, written};
use takt_stats::{Estimate, mean};

use super::fleet::Links;
use super::run::Record;
use super::{FITTED, Raw};

/// Cost of heartbeats without a network: writing one that names so many others, and reading it. ns of CPU.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Documents {
    pub round: usize,
    /// Others, ns to write, ns to read.
    pub points: Vec<(u64, f64, f64)>,
}

/// Others that heartbeats name.
const NAMED: [u64; 6] = [2, 8, 32, 128, 512, 1024];

impl Documents {
    pub fn measure(round: usize) -> Documents {
        let point = |&others: &u64| {
            let (document, bytes) = heartbeat(others);
            let writes = each_ns(&|| _ = black_box(written(black_box(&document))));
            let reads = each_ns(&|| _ = black_box(taken(black_box(&bytes))));
            (others, writes, reads)
        };
        Documents { round, points: NAMED.iter().map(point).collect() }
    }

    /// ns a second that a member writes and reads, of which others are so many; straight between two points that were measured.
    pub fn ns_per_s(&self, others: f64) -> f64 {
        const BEATS: f64 = 10.0;
        let above =
            self.points.iter().position(|point| point.0 as f64 >= others).unwrap_or(self.points.len() - 1).max(1);
        let (low, high) = (self.points[above - 1], self.points[above]);
        let share = (others - low.0 as f64) / (high.0 - low.0) as f64;
        let between = |low: f64, high: f64| low + share * (high - low);
        BEATS * (between(low.1, high.1) + others * between(low.2, high.2))
    }
}

/// CPU of one call, ns, over a fifth of a second.
fn each_ns(call: &dyn Fn()) -> f64 {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
    };
    let (begin, mut calls) = (now(), 0.0);
    while now() - begin < 2e8 {
        (0..10).for_each(|_| call());
        calls += 10.0;
    }
    (now() - begin) / calls
}

/// Intercept and slope of the least-squares line.
pub fn line(points: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
    let n = points.clone().count() as f64;
    let mean = |of: &dyn Fn((f64, f64)) -> f64| points.clone().map(of).sum::<f64>() / n;
    let (x, y) = (mean(&|point| point.0), mean(&|point| point.1));
    let slope = mean(&|point| (point.0 - x) * (point.1 - y)) / mean(&|point| (point.0 - x).powi(2));
    (y - slope * x, slope)
}

/// Costs in one round; µs of CPU a second unless it says otherwise.
pub struct Constants {
    /// A node that waits: by itself, and each link.
    pub alone: f64,
    pub link: f64,
    /// Memory of a node, KiB: by itself, and each link; open files likewise; CPU to join, µs.
    pub memory: (f64, f64),
    pub files: (f64, f64),
    pub joining: (f64, f64),
    /// A node in a run, on top: by itself, and each other member, without the documents.
    pub run: f64,
    pub other: f64,
    /// Behind a router: waiting; in a run likewise.
    pub routed_alone: f64,
    pub routed_run: f64,
    pub routed_other: f64,
    /// The router: by itself, each link, and each heartbeat that it passes on, µs.
    pub router: (f64, f64, f64),
    /// Size of a heartbeat on the wire, mesh: packets, and bytes that are not the document's; what comes back for it
    /// included.
    pub packets: f64,
    pub around: f64,
    /// Answering one more node ten times a second what time it is.
    pub clock: f64,
    /// The manager: by itself, and each node of its run.
    pub manager: (f64, f64),
    /// How long it takes until all nodes of a run have answered the manager, s, and until all are open and started: by itself,
    /// and each node.
    pub answers: (f64, f64),
    pub opening: (f64, f64),
    pub documents: Documents,
}

impl Constants {
    /// Constants of each round.
    pub fn of(raw: &Raw) -> Vec<Constants> {
        raw.documents.iter().map(|documents| Constants::of_round(raw, documents)).collect()
    }

    fn of_round(raw: &Raw, documents: &Documents) -> Constants {
        let of = |links: Links| {
            let here = move |record: &&Record| {
                record.round == documents.round && record.links == links && record.nodes <= FITTED
            };
            raw.records.iter().filter(here).collect::<Vec<&Record>>()
        };
        let (mesh, routed) = (of(Links::Mesh), of(Links::Router));
        let waiting = |all: &[&Record], y: &dyn Fn(&Record) -> f64| {
            let points: Vec<(f64, f64)> =
                all.iter().filter(|one| one.members == 0).map(|one| (one.nodes as f64 - 1.0, y(one))).collect();
            line(points.iter().copied())
        };
        let (alone, link) = waiting(&mesh, &|one| one.node.control());
        let holds = |y: fn(&Record) -> Option<f64>| waiting(&mesh, &|one| y(one).unwrap_or(f64::NAN));
        let runs = |all: &[&Record]| -> Vec<(f64, f64)> {
            let waits = |nodes| all.iter().find(|one| one.nodes == nodes && one.members == 0);
            let more = |one: &&&Record| {
                let waited = waits(one.nodes).map_or(f64::NAN, |one| one.node.control());
                let others = one.members as f64;
                (others, one.node.control() - waited - documents.ns_per_s(others) / 1e3)
            };
            all.iter().filter(|one| one.members > 0).map(|one| more(&one)).collect()
        };
        let (run, other) = line(runs(&mesh).into_iter());
        let (routed_run, routed_other) = line(runs(&routed).into_iter());
        let waits_routed: Vec<f64> =
            routed.iter().filter(|one| one.members == 0).map(|one| one.node.control()).collect();
        let running = |y: &dyn Fn(&Record) -> f64| -> Vec<(f64, f64)> {
            mesh.iter().filter(|one| one.members > 0).map(|one| (one.members as f64, y(one))).collect()
        };
        let router_link = {
            let waits = routed.iter().filter(|one| one.members == 0);
            let points = waits.map(|one| (one.nodes as f64, one.router.unwrap_or(f64::NAN)));
            line(points).1
        };
        let passing =
            |one: &&Record| (copies(one.members), one.router.unwrap_or(f64::NAN) - router_link * one.nodes as f64);
        let (router_alone, router_heartbeat) = line(routed.iter().map(passing));
        let wire = |y: &dyn Fn(&Record) -> f64| -> f64 {
            let points: Vec<(f64, f64)> =
                mesh.iter().filter(|one| one.members > 0).map(|one| (copies(one.members), y(one))).collect();
            line(points.into_iter()).1
        };
        let clock = running(&|one| one.reference.map_or(f64::NAN, |parts| parts.clock));
        let manager = running(&|one| one.manager.unwrap_or(f64::NAN));
        let answers = running(&|one| one.looks.map_or(f64::NAN, |looks| 1.0 / looks - PAUSE.as_secs_f64()));
        let opening = running(&|one| one.begin.unwrap_or(f64::NAN));
        Constants {
            alone,
            link,
            memory: holds(|one| one.memory),
            files: holds(|one| one.files),
            joining: holds(|one| one.joining),
            run,
            other,
            routed_alone: waits_routed.iter().sum::<f64>() / waits_routed.len() as f64,
            routed_run,
            routed_other,
            router: (router_alone, router_link, router_heartbeat),
            packets: wire(&|one| one.wire.1),
            around: wire(&|one| one.wire.0 - copies(one.members) * heartbeat_bytes(one.members as u64) as f64),
            clock: line(clock.into_iter()).1,
            manager: line(manager.into_iter()),
            answers: line(answers.into_iter()),
            opening: line(opening.into_iter()),
            documents: documents.clone(),
        }
    }

    /// A node in a mesh of so many, in a run of so many; 0: in none. µs of CPU a second.
    pub fn mesh(&self, nodes: f64, members: f64) -> f64 {
        let waits = self.alone + self.link * (nodes - 1.0);
        if members > 0.0 {
            waits + self.run + self.other * members + self.documents.ns_per_s(members) / 1e3
        } else {
            waits
        }
    }

    /// The same behind a router, which keeps from a node what does not concern it.
    pub fn routed(&self, members: f64) -> f64 {
        self.routed_alone + self.routed_run + self.routed_other * members + self.documents.ns_per_s(members) / 1e3
    }

    /// The router of so many nodes, of which one run has so many; 0: in none.
    pub fn router(&self, nodes: f64, members: usize) -> f64 {
        let (alone, link, heartbeat) = self.router;
        alone + link * nodes + heartbeat * copies(members)
    }
}

/// Heartbeats a second that reach another member of the run.
fn copies(members: usize) -> f64 {
    let members = members as u64;
    let node = Fleet { nodes: members, members, links: How::Mesh }.node();
    // Its manager, too, takes them and has its own taken.
    (node.taken * (members + 1)) as f64
}

/// Over rounds, with its 95 % interval; `None` for one round.
pub fn over_rounds(rounds: &[Constants], of: impl Fn(&Constants) -> f64) -> Option<Estimate> {
    mean(&rounds.iter().map(of).collect::<Vec<f64>>(), 0.95)
}
