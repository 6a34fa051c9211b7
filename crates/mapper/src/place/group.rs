//! Which components no legal plan can part.
//!
//! A cycle that is on two workers is crossed at least twice, and each crossing needs a slot. So a cycle of one slot of delay
//! stays together. Whether a link lies on such a cycle: is there a way back from its head to its tail that, with its own
//! delay, takes one slot at most? Every link of that cycle finds the same way, so joining ends joins the cycle.

use std::collections::VecDeque;

use takt_graph::Graph;

/// Components of each group in topological order, groups in that of their first; and the group of each component.
pub(super) fn groups(graph: &Graph, order: &[usize]) -> (Vec<Vec<usize>>, Vec<usize>) {
    let components = graph.components().len();
    let mut joined: Vec<usize> = (0..components).collect();
    let mut leaving = vec![Vec::new(); components];
    for link in graph.links().iter().filter(|link| link.in_cycle) {
        leaving[link.from.component].push((link.to.component, link.delay));
    }
    for link in graph.links().iter().filter(|link| link.in_cycle && link.delay <= 1) {
        let (from, to) = (link.from.component, link.to.component);
        let (a, b) = (root(&mut joined, from), root(&mut joined, to));
        if a != b && returns(&leaving, to, from, 1 - link.delay) {
            joined[a] = b;
        }
    }
    let mut group_of = vec![usize::MAX; components];
    let mut index_of_root = vec![usize::MAX; components];
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for &component in order {
        let root = root(&mut joined, component);
        if index_of_root[root] == usize::MAX {
            index_of_root[root] = groups.len();
            groups.push(Vec::new());
        }
        group_of[component] = index_of_root[root];
        groups[index_of_root[root]].push(component);
    }
    (groups, group_of)
}

/// Groups of each strongly connected part of the graph, which is always legal when it stays together.
pub(super) fn parts(graph: &Graph, group_of: &[usize], groups: usize) -> Vec<Vec<usize>> {
    let mut joined: Vec<usize> = (0..groups).collect();
    // A link on a cycle has both ends in the same part, and such links join all of it.
    for link in graph.links().iter().filter(|link| link.in_cycle) {
        let (a, b) = (root(&mut joined, group_of[link.from.component]), root(&mut joined, group_of[link.to.component]));
        joined[a] = b;
    }
    let mut parts = vec![Vec::new(); groups];
    for group in 0..groups {
        parts[root(&mut joined, group)].push(group);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn root(joined: &mut [usize], mut at: usize) -> usize {
    while joined[at] != at {
        joined[at] = joined[joined[at]];
        at = joined[at];
    }
    at
}

/// Whether a way of at most `slots` (0 or 1) of delay leads from one component to another. Ways of no delay first.
fn returns(leaving: &[Vec<(usize, u32)>], from: usize, to: usize, slots: u32) -> bool {
    let mut least = vec![u32::MAX; leaving.len()];
    let mut queue = VecDeque::from([(from, 0)]);
    least[from] = 0;
    while let Some((here, taken)) = queue.pop_front() {
        if here == to {
            return true;
        }
        if taken > least[here] {
            continue;
        }
        for &(next, delay) in &leaving[here] {
            let sum = taken + delay.min(2);
            if sum <= slots && sum < least[next] {
                least[next] = sum;
                if delay == 0 { queue.push_front((next, sum)) } else { queue.push_back((next, sum)) }
            }
        }
    }
    false
}
