//! Shares of waveforms on several machines: together they are the whole, and packets have the time the plan gave them.

mod common;

use common::{random, types, waveform};
use proptest::prelude::*;
use takt_graph::{ComponentSpec, Direction, Graph, Latency, Plan, Share, ShareError, Waveform};

/// Slots between machines.
const HOP: u32 = 2;
/// Two workers on the first machine, one on each of the others.
const NODE_OF: [usize; 4] = [0, 0, 1, 2];

fn plan(graph: &Graph, worker_of: &[usize], latency: Latency) -> Option<Plan> {
    let mut workers = vec![Vec::new(); NODE_OF.len()];
    for component in graph.topological_order() {
        workers[worker_of[component % worker_of.len()]].push(component);
    }
    Plan::across(graph, workers, latency, |a, b| if NODE_OF[a] == NODE_OF[b] { 1 } else { HOP }).ok()
}

proptest! {
    #[test]
    fn shares_are_the_whole_in_its_own_time(
        (n, links) in random(),
        worker_of in prop::collection::vec(0..4_usize, 9),
        fixed in any::<bool>(),
    ) {
        let Ok(graph) = Graph::check(&waveform(n, &links), &types()) else { return Ok(()) };
        let latency = if fixed { Latency::Fixed } else { Latency::Compact };
        let Some(plan) = plan(&graph, &worker_of, latency) else { return Ok(()) };
        let shares: Vec<Share> = (0..3).map(|node| Share::of(&graph, &plan, &NODE_OF, node, 0).expect("no messages")).collect();
        let mut seen = vec![0; graph.components().len()];
        let mut ends: Vec<(usize, Direction, u32, usize)> = Vec::new();
        for (node, share) in shares.iter().enumerate() {
            let bridge_of = |at: usize| share.bridges.iter().find(|bridge| bridge.component == at);
            for (at, component) in share.graph.components().iter().enumerate() {
                let own = share.workers[share.plan.worker_of(at)];
                prop_assert_eq!(NODE_OF[own], node);
                let Some(whole) = graph.find(&component.name) else {
                    let bridge = bridge_of(at).expect("what is not of the whole is a bridge");
                    ends.push((bridge.stream, bridge.direction, share.plan.depth(at), own));
                    continue;
                };
                seen[whole] += 1;
                prop_assert_eq!(share.plan.depth(at), plan.depth(whole));
                prop_assert_eq!(own, plan.worker_of(whole));
                // Every input has its link still, with the delay and the packets of the whole.
                for port in 0..component.shape.inputs.len() {
                    let to = |component| takt_graph::PortId { component, port };
                    let (here, there) = (share.graph.link_to(to(at)), graph.link_to(to(whole)));
                    let (here, there) = (here.expect("linked"), &graph.links()[there.expect("linked")]);
                    let link = &share.graph.links()[here];
                    prop_assert_eq!((link.delay, link.item, link.lengths), (there.delay, there.item, there.lengths));
                }
            }
            // A worker's packet to itself comes after it was made, or in a later slot.
            for (index, link) in share.graph.links().iter().enumerate() {
                let order = |at: usize| {
                    let worker = share.plan.worker_of(at);
                    (worker, share.plan.workers()[worker].iter().position(|&c| c == at))
                };
                let (from, to) = (order(link.from.component), order(link.to.component));
                let least = u32::from(from.0 != to.0 || from.1 >= to.1);
                prop_assert!(share.plan.delay(index) >= least, "{:?}", link);
            }
        }
        prop_assert!(seen.iter().all(|&count| count == 1), "{seen:?}");
        ends.sort_by_key(|&(stream, direction, ..)| (stream, direction == Direction::Receive));
        for (number, pair) in ends.chunks(2).enumerate() {
            let [(a, Direction::Send, sent, from), (b, Direction::Receive, received, to)] = *pair else {
                return Err(TestCaseError::fail(format!("{pair:?}")));
            };
            prop_assert_eq!((a, b), (number, number));
            prop_assert!(NODE_OF[from] != NODE_OF[to] && received >= sent + HOP, "{:?}", pair);
        }
    }
}

#[test]
fn a_chain_over_two_machines_is_cut_where_it_crosses() {
    let waveform = Waveform::new("chain", std::time::Duration::from_millis(1))
        .with(ComponentSpec::new("a", "bits"))
        .with(ComponentSpec::new("b", "pass"))
        .with(ComponentSpec::new("c", "pass"))
        .with(ComponentSpec::new("d", "sink"))
        .chain(["a", "b", "c", "d"]);
    let graph = Graph::check(&waveform, &types()).unwrap();
    let plan = Plan::across(&graph, vec![vec![0, 1], vec![2, 3]], Latency::Compact, |_, _| HOP).unwrap();
    let names = |node| {
        let share = Share::of(&graph, &plan, &[0, 1], node, 0).unwrap();
        let name = |&at: &usize| format!("{} {}", share.graph.components()[at].name, share.plan.depth(at));
        share.plan.workers()[0].iter().map(name).collect::<Vec<_>>()
    };
    assert_eq!(names(0), ["a 0", "b 0", "b.out>1 0"]);
    assert_eq!(names(1), ["b.out<0 2", "c 2", "d 2"]);
}

#[test]
fn messages_do_not_cross_machines() {
    let waveform = Waveform::new("messages", std::time::Duration::from_millis(1))
        .with(ComponentSpec::new("a", "bits"))
        .with(ComponentSpec::new("b", "sink"))
        .chain(["a", "b"])
        .message("a", "b", 1);
    let graph = Graph::check(&waveform, &types()).unwrap();
    let plan = Plan::new(&graph, vec![vec![0], vec![1]], Latency::Compact).unwrap();
    let refused = Share::of(&graph, &plan, &[0, 1], 0, 0).unwrap_err();
    assert_eq!(refused, ShareError::Message { from: "a".to_owned(), to: "b".to_owned() });
    assert_eq!(refused.fix(), "place `a` and `b` on one machine: messages do not cross machines");
}
