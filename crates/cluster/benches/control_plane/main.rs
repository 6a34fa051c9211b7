//! Cost of the control plane for a node, and how that grows. It is the CPU of a node's process that is neither a
//! worker's nor a bridge's: while the fleet waits, and while some or all nodes execute one waveform of 10 ms slots.
//! Then what the measured constants say of fleets that no machine here holds, by the counts of [`takt_cluster::cost`].
//!
//! ```sh
//! unshare --net sh -c 'ip link set lo up; cargo bench --offline -p takt-cluster --bench control_plane -- --raw /tmp/raw.json'
//! cargo bench -p takt-cluster --bench control_plane -- --from /tmp/raw.json    # the tables of a file that was kept
//! ```
//!
//! Fixed before anything was measured: the counts below, four seconds each, rounds one after the other, each with all counts. In
//! a network namespace of its own the bytes over loopback are the fleet's alone. Without --bench it is a test: that it works.
//!
//! With --large there are fleets of up to 64 nodes, which take 16 processors. Lines are laid through the smaller ones alone, and what
//! they say of the larger ones is set beside what was measured.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a benchmark speaks")]

mod fit;
mod fleet;
mod run;
mod table;

use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::fit::Documents;
use self::fleet::Links;
use self::run::Record;

/// Nodes of a fleet, each with runs on so many of them.
type Fleets = &'static [(usize, &'static [usize])];

struct Plan {
    mesh: Fleets,
    router: Fleets,
    rounds: usize,
}

const USUAL: Plan = Plan {
    mesh: &[(2, &[2]), (4, &[4]), (8, &[2, 8]), (12, &[4, 12]), (16, &[4, 16])],
    router: &[(2, &[2]), (8, &[8]), (16, &[2, 16])],
    rounds: 5,
};
const LARGE: Plan = Plan {
    mesh: &[(2, &[2]), (8, &[8]), (16, &[4, 16]), (32, &[32]), (64, &[4, 64])],
    router: &[(2, &[2]), (16, &[16]), (64, &[16, 32])],
    rounds: 3,
};
/// Nodes of the largest fleet that lines are laid through. Their value for a larger one is a prediction.
const FITTED: usize = 16;
const TIME: Duration = Duration::from_secs(4);

/// All that was measured.
#[derive(Default, Serialize, Deserialize)]
struct Raw {
    records: Vec<Record>,
    documents: Vec<Documents>,
    /// Runs that lost a node, and how: they are begun anew, a few times.
    lost: Vec<String>,
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let measures = arguments.contains(&"--bench");
    let after = |name| arguments.iter().position(|&one| one == name).and_then(|at| arguments.get(at + 1));
    match &arguments[..] {
        ["--node", folder, core] => return fleet::node(Path::new(folder), core),
        ["--router", folder] => return fleet::router(Path::new(folder)),
        _ => {}
    }
    let kept = after("--raw").map(Path::new);
    let raw = match after("--from") {
        Some(path) => serde_json::from_str(&std::fs::read_to_string(path).expect("a file")).expect("raw data"),
        None if measures => measured(if arguments.contains(&"--large") { &LARGE } else { &USUAL }, kept),
        None => tried(),
    };
    table::measured(&raw);
    if measures {
        table::predicted(&raw);
    }
}

fn measured(plan: &Plan, kept: Option<&Path>) -> Raw {
    let mut raw = Raw::default();
    for round in 0..plan.rounds {
        raw.documents.push(Documents::measure(round));
        let mesh = plan.mesh.iter().map(|&(nodes, members)| (Links::Mesh, nodes, members));
        for (links, nodes, members) in
            mesh.chain(plan.router.iter().map(|&(nodes, members)| (Links::Router, nodes, members)))
        {
            eprintln!("round {} of {}: {links:?}, {nodes} nodes", round + 1, plan.rounds);
            run::measure(&mut raw, (round, links, nodes), members, TIME);
        }
        // The measurements are there even if what follows fails.
        if let Some(path) = kept {
            std::fs::write(path, serde_json::to_string(&raw).expect("JSON")).expect("written");
        }
    }
    raw
}

/// That it works.
fn tried() -> Raw {
    let mut raw = Raw::default();
    run::measure(&mut raw, (0, Links::Mesh, 2), &[2], Duration::from_secs(1));
    let records = &raw.records;
    assert!(records.len() == 2 && records.iter().all(|record| record.node.control() > 0.0), "{:?}", raw.lost);
    assert!(records[1].node.workers > 0.0 && records[1].looks > Some(0.0), "{records:?}");
    raw
}
