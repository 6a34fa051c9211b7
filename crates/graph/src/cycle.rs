//! Cycles: which links lie on one, and whether one has no delay. Iterative: a hostile chain of thousands of components
//! must not use up the stack.

use crate::graph::Link;

/// For each component those its links lead to.
pub(crate) fn outgoing<'a>(components: usize, links: impl Iterator<Item = &'a Link>) -> Vec<Vec<usize>> {
    let mut outgoing = vec![Vec::new(); components];
    for link in links {
        outgoing[link.from.component].push(link.to.component);
    }
    outgoing
}

/// A cycle, as components in the direction of the links; `None` if there is none.
pub(crate) fn find(outgoing: &[Vec<usize>]) -> Option<Vec<usize>> {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut marks = vec![Mark::New; outgoing.len()];
    for start in 0..outgoing.len() {
        if marks[start] != Mark::New {
            continue;
        }
        // The path from `start`, each with the number of links already followed.
        let mut path = vec![(start, 0_usize)];
        marks[start] = Mark::Open;
        while let Some((at, followed)) = path.last_mut() {
            let Some(&next) = outgoing[*at].get(*followed) else {
                marks[*at] = Mark::Done;
                path.pop();
                continue;
            };
            *followed += 1;
            match marks[next] {
                Mark::New => {
                    marks[next] = Mark::Open;
                    path.push((next, 0));
                }
                Mark::Open => {
                    return Some(path.iter().map(|&(c, _)| c).skip_while(|&c| c != next).collect());
                }
                Mark::Done => {}
            }
        }
    }
    None
}

/// For each component the number of its strongly connected part (Kosaraju's algorithm).
pub(crate) fn parts(outgoing: &[Vec<usize>]) -> Vec<usize> {
    let mut finished = Vec::with_capacity(outgoing.len());
    let mut visited = vec![false; outgoing.len()];
    for start in 0..outgoing.len() {
        walk(outgoing, start, &mut visited, |c| finished.push(c));
    }
    let mut incoming = vec![Vec::new(); outgoing.len()];
    for (from, tos) in outgoing.iter().enumerate() {
        for &to in tos {
            incoming[to].push(from);
        }
    }
    let mut part = vec![0; outgoing.len()];
    visited.fill(false);
    for (number, &start) in finished.iter().rev().enumerate() {
        walk(&incoming, start, &mut visited, |c| part[c] = number);
    }
    part
}

/// Visits what is reachable from `start` and not yet visited, each after all it leads to.
fn walk(next: &[Vec<usize>], start: usize, visited: &mut [bool], mut leave: impl FnMut(usize)) {
    if std::mem::replace(&mut visited[start], true) {
        return;
    }
    let mut path = vec![(start, 0_usize)];
    while let Some((at, followed)) = path.last_mut() {
        match next[*at].get(*followed) {
            Some(&to) => {
                *followed += 1;
                if !std::mem::replace(&mut visited[to], true) {
                    path.push((to, 0));
                }
            }
            None => {
                leave(*at);
                path.pop();
            }
        }
    }
}
