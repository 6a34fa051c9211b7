//! All nodes of a run are asked at once: while one of them does not answer, the others need not wait for it.

use crate::ClusterError;

/// How many at once: each takes a thread of the manager as long as it is asked.
const AT_ONCE: usize = 64;

/// Result of `ask` for each node, in the order of `nodes`.
pub(super) fn each<T: Send>(
    nodes: &[String],
    ask: impl Fn(&String) -> Result<T, ClusterError> + Sync,
) -> Vec<(String, Result<T, ClusterError>)> {
    nodes.chunks(AT_ONCE).flat_map(|nodes| at_once(nodes, &ask)).collect()
}

/// In how many turns so many nodes are asked.
pub(super) fn turns(nodes: usize) -> usize {
    nodes.div_ceil(AT_ONCE)
}

fn at_once<T: Send>(
    nodes: &[String],
    ask: &(impl Fn(&String) -> Result<T, ClusterError> + Sync),
) -> Vec<(String, Result<T, ClusterError>)> {
    std::thread::scope(|scope| {
        let asked: Vec<_> = nodes.iter().map(|node| (node, scope.spawn(move || ask(node)))).collect();
        // A thread that panicked has printed why, and its node is as one that did not answer.
        let joined = asked.into_iter().map(|(node, thread)| {
            let silent = |_| Err(ClusterError::Silent { node: node.clone() });
            (node.clone(), thread.join().unwrap_or_else(silent))
        });
        joined.collect()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    fn names(count: usize) -> Vec<String> {
        (0..count).map(|n| format!("n{n}")).collect()
    }

    #[test]
    fn none_waits_for_another_and_each_is_asked_once() {
        // A call returns only when all of its turn are asked.
        for count in [0, 1, 2, AT_ONCE, 2 * AT_ONCE] {
            let all = Barrier::new(count.clamp(1, AT_ONCE));
            let brought = each(&names(count), |node| {
                all.wait();
                Ok(node.clone())
            });
            let expected: Vec<_> = names(count).into_iter().map(|node| (node.clone(), node)).collect();
            let brought: Vec<_> = brought.into_iter().map(|(node, own)| (node, own.unwrap())).collect();
            assert_eq!(brought, expected);
        }
    }

    #[test]
    fn a_turn_is_full_before_there_is_another() {
        assert_eq!([0, 1, AT_ONCE, AT_ONCE + 1].map(turns), [0, 1, 1, 2]);
    }

    #[test]
    fn one_that_fails_takes_nothing_from_the_others() {
        let refused = |node: &String| ClusterError::Silent { node: node.clone() };
        let brought = each(&names(3), |node| if node == "n1" { Err(refused(node)) } else { Ok(()) });
        let failed: Vec<_> = brought.iter().filter(|(_, own)| own.is_err()).map(|(node, _)| node.as_str()).collect();
        assert_eq!(failed, ["n1"]);
    }
}
