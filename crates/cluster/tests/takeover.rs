//! Managers that take over from lost nodes and from each other, stop half way, and go on from there: nobody executes what
//! another node executes. Every heartbeat arrives here, which prolongs more leases than any torn network does.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use takt_cluster::quorum::{Ballot, Quorum, View};

const LEASE_NS: u64 = 1000;

/// Which node executes each component.
type Placing = Vec<usize>;

/// A node as its members' thread and its run know it.
struct Node {
    view: View,
    quorums: Vec<Quorum>,
    executes: Placing,
    ready: Option<Placing>,
}

/// Beliefs of a manager, and what it is about to do.
#[derive(Clone)]
struct Manager {
    name: String,
    number: u32,
    names: BTreeSet<usize>,
    quorums: Vec<Quorum>,
    supports: BTreeMap<usize, Ballot>,
    placing: Placing,
    /// Nodes that have yet to get the request, for a promise or to change.
    asks: Vec<usize>,
    doing: Doing,
}

#[derive(Clone, Copy, PartialEq)]
enum Doing {
    Watching,
    Preparing,
    Changing,
    Adopting,
}

struct World {
    nodes: Vec<Node>,
    managers: Vec<(Manager, View)>,
}

fn name(node: usize) -> String {
    format!("n{node}")
}

fn quorum(names: &BTreeSet<usize>, ballot: Ballot) -> Quorum {
    let mut voters: Vec<String> = names.iter().map(|&node| name(node)).collect();
    if voters.len() > 1 {
        voters.push(ballot.manager.clone());
    }
    Quorum { ballot, voters }
}

impl Manager {
    fn ballot(&self) -> Ballot {
        Ballot::new(self.number, &self.name)
    }

    fn has_majorities(&self, own: bool) -> bool {
        let there =
            |voter: &String| self.names.iter().any(|&node| name(node) == *voter) || (own && *voter == self.name);
        self.quorums.iter().all(|quorum| 2 * quorum.voters.iter().filter(|v| there(v)).count() > quorum.voters.len())
    }
}

impl World {
    fn new(count: usize) -> World {
        let (names, ballot) = ((0..count).collect(), Ballot::new(1, "m0"));
        let first = quorum(&names, ballot.clone());
        let placing: Placing = (0..count).collect();
        let node = |node: usize| Node {
            view: View::new(&name(node), ballot.clone(), LEASE_NS),
            quorums: vec![first.clone()],
            executes: placing.clone(),
            ready: None,
        };
        let manager = Manager {
            name: "m0".to_owned(),
            number: 1,
            supports: names.iter().map(|&node| (node, ballot.clone())).collect(),
            names,
            quorums: vec![first.clone()],
            placing: placing.clone(),
            asks: Vec::new(),
            doing: Doing::Watching,
        };
        let view = View::new("m0", ballot.clone(), LEASE_NS);
        World { nodes: (0..count).map(node).collect(), managers: vec![(manager, view)] }
    }

    /// A manager takes a node for lost, rightly or not.
    fn take_over(&mut self, of: usize, lost: usize, to: usize) {
        let (manager, view) = &mut self.managers[of];
        // One that adopted the run also does so for nodes that it never reached.
        if manager.doing == Doing::Adopting || !manager.placing.contains(&lost) {
            return;
        }
        let was_there = manager.names.remove(&lost);
        if manager.names.is_empty() || !manager.has_majorities(true) {
            manager.names.extend(was_there.then_some(lost));
            return;
        }
        let heir = *manager.names.iter().nth(to % manager.names.len()).expect("one of them");
        manager.placing.iter_mut().filter(|node| **node == lost).for_each(|node| *node = heir);
        let before = manager.ballot();
        manager.number += 1;
        let next = quorum(&manager.names, manager.ballot());
        assert!(view.promise(&before, next.ballot.clone()), "its own support is its own affair");
        manager.quorums.push(next);
        (manager.asks, manager.doing) = (manager.names.iter().copied().collect(), Doing::Preparing);
    }

    /// Another manager wants the run, from what some nodes know.
    fn adopt(&mut self, reached: &BTreeSet<usize>) {
        let reached: BTreeSet<usize> = reached.iter().copied().filter(|&node| node < self.nodes.len()).collect();
        let quorums: Vec<Quorum> = reached.iter().flat_map(|&node| self.nodes[node].quorums.clone()).collect();
        let in_all = |node: &usize| quorums.iter().all(|quorum| quorum.voters.contains(&name(*node)));
        let names: BTreeSet<usize> = reached.into_iter().filter(in_all).collect();
        let Some(latest) = names.iter().max_by_key(|&&node| self.nodes[node].quorums[0].ballot.placing) else { return };
        let placing = self.nodes[*latest].executes.clone();
        let last = |node: usize| self.nodes[node].quorums.last().expect("one").ballot.clone();
        let supports: BTreeMap<usize, Ballot> = names.iter().map(|&node| (node, last(node))).collect();
        let number = supports.values().map(|ballot| ballot.placing).max().unwrap_or(0) + 1;
        let own = format!("m{}", self.managers.len());
        let view = View::new(&own, Ballot::new(number, &own), LEASE_NS);
        let asks = names.iter().copied().collect();
        let manager = Manager { name: own, number, names, quorums, supports, placing, asks, doing: Doing::Adopting };
        if manager.has_majorities(false) {
            self.managers.push((manager, view));
        }
    }

    /// A manager asks the next node. `lost`: its answer does not arrive.
    fn ask(&mut self, of: usize, at: usize, lost: bool) {
        let manager = &mut self.managers[of].0;
        if manager.asks.is_empty() {
            return;
        }
        let to = manager.asks.remove(at % manager.asks.len());
        let node = &mut self.nodes[to];
        let done = if manager.doing == Doing::Changing {
            if let Some(ready) = node.ready.take() {
                node.executes = ready;
            }
            true
        } else {
            let next = quorum(&manager.names, manager.ballot());
            let promised = node.view.promise(&manager.supports[&to], next.ballot.clone());
            if promised {
                node.quorums.push(next);
                node.ready = (manager.doing == Doing::Preparing).then(|| manager.placing.clone());
            }
            promised
        };
        if !done || lost {
            // It does not know what the node supports, and goes on without it, or not at all.
            (manager.asks, manager.doing) = (Vec::new(), if lost { Doing::Watching } else { Doing::Adopting });
            return;
        }
        manager.supports.insert(to, manager.ballot());
        if manager.asks.is_empty() {
            let all = manager.names.iter().copied().collect();
            let last = quorum(&manager.names, manager.ballot());
            match manager.doing {
                Doing::Preparing => (manager.asks, manager.doing, manager.quorums) = (all, Doing::Changing, vec![last]),
                Doing::Adopting => (manager.doing, manager.quorums) = (Doing::Watching, vec![last]),
                Doing::Changing | Doing::Watching => manager.doing = Doing::Watching,
            }
        }
    }

    /// Two nodes that both have a lease, and a component that both execute.
    fn twice(&mut self, now_ns: u64) -> Option<(usize, usize, usize)> {
        // Those of the second turn return those of the first, and are later: two of one time are one.
        for now_ns in [now_ns, now_ns + 1] {
            let managers = self.managers.iter().map(|(_, view)| view);
            let sent: Vec<_> =
                self.nodes.iter().map(|node| &node.view).chain(managers).map(|view| view.heartbeat(now_ns)).collect();
            let managers = self.managers.iter_mut().map(|(_, view)| view);
            for view in self.nodes.iter_mut().map(|node| &mut node.view).chain(managers) {
                // Its own do not count.
                sent.iter().for_each(|heartbeat| _ = view.take(heartbeat.clone(), now_ns));
            }
        }
        let executes: Vec<BTreeSet<usize>> = self
            .nodes
            .iter()
            .enumerate()
            .map(|(own, node)| {
                let leased = node.view.lease(&node.quorums, now_ns).is_some();
                let of = |(component, &at): (usize, &usize)| (leased && at == own).then_some(component);
                node.executes.iter().enumerate().filter_map(of).collect()
            })
            .collect();
        let pairs = (0..executes.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
        pairs.into_iter().find_map(|(a, b)| Some((a, b, *executes[a].intersection(&executes[b]).next()?)))
    }

    fn settle(&mut self, node: usize) {
        let Node { view, quorums, .. } = &mut self.nodes[node];
        if view.is_settled(quorums) {
            quorums.drain(..quorums.len() - 1);
        }
    }
}

#[derive(Clone, Debug)]
enum Event {
    TakeOver { manager: usize, lost: usize, to: usize },
    Adopt { reached: BTreeSet<usize> },
    Ask { manager: usize, at: usize, lost: bool },
    Settle { node: usize },
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        2 => (0..4_usize, 0..7_usize, 0..7_usize).prop_map(|(manager, lost, to)| Event::TakeOver { manager, lost, to }),
        1 => prop::collection::btree_set(0..7_usize, 1..7).prop_map(|reached| Event::Adopt { reached }),
        9 => (0..4_usize, 0..7_usize, prop::bool::weighted(0.1))
            .prop_map(|(manager, at, lost)| Event::Ask { manager, at, lost }),
        2 => (0..7_usize).prop_map(|node| Event::Settle { node }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn nobody_executes_what_another_node_executes(count in 2..8_usize, events in prop::collection::vec(event(), 1..80)) {
        let mut world = World::new(count);
        for (now, event) in events.into_iter().enumerate() {
            let managers = world.managers.len();
            match event {
                Event::TakeOver { manager, lost, to } => world.take_over(manager % managers, lost % count, to),
                Event::Adopt { reached } => if managers < 4 { world.adopt(&reached) },
                Event::Ask { manager, at, lost } => world.ask(manager % managers, at, lost),
                Event::Settle { node } => world.settle(node % count),
            }
            prop_assert_eq!(world.twice(2 * now as u64 + 1), None);
        }
    }
}
