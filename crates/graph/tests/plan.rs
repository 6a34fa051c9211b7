//! Plans against brute force: which are legal, and that their depths are the least.

mod common;

use common::{random, types, waveform};
use proptest::prelude::*;
use takt_graph::{ComponentSpec, Graph, Latency, Plan, PlanError, Problem, Waveform};

/// All simple cycles, as indices of links; small graphs only.
fn cycles(ends: &[(usize, usize)]) -> Vec<Vec<usize>> {
    fn extend(ends: &[(usize, usize)], path: &mut Vec<usize>, found: &mut Vec<Vec<usize>>) {
        let (first, last) = (ends[path[0]].0, ends[path[path.len() - 1]].1);
        if first == last {
            found.push(path.clone());
            return;
        }
        for (index, &(from, to)) in ends.iter().enumerate() {
            let visited = path.iter().any(|&link| ends[link].0 == to) && to != first;
            if from == last && !visited && from >= first && to >= first {
                path.push(index);
                extend(ends, path, found);
                path.pop();
            }
        }
    }
    let mut found = Vec::new();
    for start in 0..ends.len() {
        extend(ends, &mut vec![start], &mut found);
    }
    found
}

proptest! {
    #[test]
    fn a_cycle_is_legal_exactly_if_its_delays_add_up_to_one((n, links) in random()) {
        let waveform = waveform(n, &links);
        let ends: Vec<(usize, usize)> = waveform.links.iter().map(|link| {
            let index = |text: &str| {
                let name = text.split('.').next().unwrap_or_default();
                waveform.components.iter().position(|c| c.name == name).expect("there")
            };
            (index(&link.from), index(&link.to))
        }).collect();
        let total = |cycle: &Vec<usize>| cycle.iter().map(|&link| waveform.links[link].delay).sum::<u32>();
        let legal = cycles(&ends).iter().all(|cycle| total(cycle) >= 1);
        match Graph::check(&waveform, &types()) {
            Ok(_) => prop_assert!(legal),
            Err(error) => prop_assert!(matches!(*error.problem, Problem::Cycle { .. }) && !legal, "{error}"),
        }
    }

    #[test]
    fn a_plan_is_refused_exactly_if_a_cycle_needs_more_than_it_has_and_else_its_depths_are_the_least(
        (n, links) in random(),
        workers in prop::collection::vec(0..3_usize, 9),
        shuffle in any::<u64>(),
        fixed in any::<bool>(),
    ) {
        let Ok(graph) = Graph::check(&waveform(n, &links), &types()) else { return Ok(()) };
        let latency = if fixed { Latency::Fixed } else { Latency::Compact };
        let count = graph.components().len();
        let mut order = vec![Vec::new(); 3];
        // Any order, also consumers before producers.
        let mut components: Vec<usize> = (0..count).collect();
        let mut state = shuffle | 1;
        components.sort_by_key(|_| { state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1); state >> 33 });
        for c in components {
            order[workers[c % workers.len()]].push(c);
        }
        let place = |c: usize| {
            let worker = order.iter().position(|list| list.contains(&c)).expect("placed");
            (worker, order[worker].iter().position(|&other| other == c).expect("placed"))
        };
        let need = |link: &takt_graph::Link| {
            let (from, to) = (place(link.from.component), place(link.to.component));
            u32::from(from.0 != to.0 || from.1 >= to.1 || (fixed && !link.in_cycle))
        };
        let ends: Vec<(usize, usize)> = graph.links().iter().map(|l| (l.from.component, l.to.component)).collect();
        let sum = |cycle: &[usize], of: &dyn Fn(&takt_graph::Link) -> u32| -> u32 {
            cycle.iter().map(|&link| of(&graph.links()[link])).sum()
        };
        let possible = cycles(&ends).iter().all(|cycle| sum(cycle, &need) <= sum(cycle, &|link| link.delay));
        match Plan::new(&graph, order.clone(), latency) {
            Ok(plan) => {
                prop_assert!(possible);
                let depth = |c: usize| i64::from(plan.depth(c));
                for (index, link) in graph.links().iter().enumerate() {
                    let d = depth(link.to.component) - depth(link.from.component) + i64::from(link.delay);
                    prop_assert_eq!(i64::from(plan.delay(index)), d);
                    prop_assert!(d >= i64::from(need(link)));
                }
                // Least: no component could come a slot earlier without breaking a link's need.
                for c in (0..count).filter(|&c| depth(c) > 0) {
                    let tight = graph.links().iter().enumerate().any(|(index, link)| {
                        link.to.component == c && link.from.component != c && plan.delay(index) == need(link)
                    });
                    prop_assert!(tight, "component {c} is deeper than it needs to be");
                }
            }
            Err(PlanError::Cycle { has, needs, .. }) => prop_assert!(!possible && needs > has),
            Err(other) => prop_assert!(false, "{other}"),
        }
    }

    #[test]
    fn one_worker_holds_every_legal_graph((n, links) in random()) {
        if let Ok(graph) = Graph::check(&waveform(n, &links), &types()) {
            prop_assert_eq!(graph.topological_order().len(), graph.components().len());
            prop_assert_eq!(Plan::single(&graph, Latency::Compact).latency_slots(), 0);
        }
    }
}

fn chain(n: usize) -> Graph {
    let mut waveform =
        Waveform::new("chain", std::time::Duration::from_millis(1)).with(ComponentSpec::new("c0", "bits"));
    for c in 1..n {
        waveform =
            waveform.with(ComponentSpec::new(&format!("c{c}"), "pass")).link(&format!("c{}", c - 1), &format!("c{c}"));
    }
    Graph::check(&waveform, &types()).expect("good")
}

#[test]
fn fixed_latency_counts_hops_and_compact_latency_counts_crossings() {
    let graph = chain(6);
    let placed = |latency| Plan::assign(&graph, &[0, 0, 1, 1, 0, 0], latency).expect("legal").latency_slots();
    assert_eq!((placed(Latency::Fixed), placed(Latency::Compact)), (5, 2));
    let reversed = Plan::new(&graph, vec![vec![5, 4, 3, 2, 1, 0]], Latency::Compact).expect("legal");
    assert_eq!(reversed.latency_slots(), 5, "a consumer that comes first hears one slot later");
}

#[test]
fn a_wrong_placement_is_refused() {
    let graph = chain(3);
    let refused = |workers| Plan::new(&graph, workers, Latency::Fixed).expect_err("refused").to_string();
    assert_eq!(refused(vec![vec![0, 1]]), "no worker executes component `c2`");
    assert_eq!(
        refused(vec![vec![0, 1], vec![1, 2]]),
        "worker 1 has component 1, but no such component exists or another worker has it"
    );
    assert_eq!(
        refused(vec![vec![0, 1, 2, 3]]),
        "worker 0 has component 3, but no such component exists or another worker has it"
    );
    assert_eq!(refused(Vec::new()), "the plan has 0 workers; 1 to 1024 are allowed");
    assert!(Plan::assign(&graph, &[0, 1, usize::MAX], Latency::Fixed).is_err());
}
