//! Depths: the earliest physical slot in which each component can execute its logical slot 0.
//!
//! A link of functional delay f from p to c that needs a physical delay of n slots asks for
//! depth(c) >= depth(p) + n - f. Depths are the least solution, the longest paths from anywhere. There is one exactly if
//! no cycle asks for more than its functional delays give (retiming: Leiserson and Saxe, 1991).

/// One demand: `to >= from + weight`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Demand {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) weight: i64,
}

/// The least depths from 0 that satisfy all demands, or a cycle of demands that can't be met, as their indices.
pub(crate) fn least(components: usize, demands: &[Demand]) -> Result<Vec<u32>, Vec<usize>> {
    let mut depth = vec![0_i64; components];
    let mut cause: Vec<Option<usize>> = vec![None; components];
    // Bellman and Ford: after as many rounds as there are components only a cycle still raises anything.
    for _ in 0..=components {
        let mut raised = None;
        for (index, demand) in demands.iter().enumerate() {
            let wanted = depth[demand.from] + demand.weight;
            if wanted > depth[demand.to] {
                depth[demand.to] = wanted;
                cause[demand.to] = Some(index);
                raised = Some(demand.to);
            }
        }
        if raised.is_none() {
            // A weight is at most a delay and a slot, so depths stay far below 2^32.
            return Ok(depth.iter().map(|&slots| u32::try_from(slots).unwrap_or(u32::MAX)).collect());
        }
        if let Some(cycle) = raised.and_then(|at| closed(at, &cause, demands)) {
            return Err(cycle);
        }
    }
    Err(Vec::new())
}

/// The cycle that the causes lead back into from `at`, if they do.
fn closed(at: usize, cause: &[Option<usize>], demands: &[Demand]) -> Option<Vec<usize>> {
    let back = |at: usize| cause[at].map(|index| demands[index].from);
    let mut on_cycle = at;
    for _ in 0..cause.len() {
        on_cycle = back(on_cycle)?;
    }
    let mut cycle = Vec::new();
    let mut here = on_cycle;
    loop {
        let index = cause[here]?;
        cycle.push(index);
        here = demands[index].from;
        if here == on_cycle {
            cycle.reverse();
            return Some(cycle);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Depths by trying: raise by one whatever is too low, until nothing is, or something is higher than any path.
    fn by_trying(components: usize, demands: &[Demand]) -> Option<Vec<u32>> {
        let mut depth = vec![0_i64; components];
        while let Some(low) = demands.iter().find(|d| depth[d.to] < depth[d.from] + d.weight) {
            depth[low.to] += 1;
            if depth[low.to] > components as i64 {
                return None;
            }
        }
        Some(depth.into_iter().map(|slots| slots as u32).collect())
    }

    proptest! {
        #[test]
        fn depths_are_those_found_by_trying_and_a_refusal_names_a_cycle_that_asks_too_much(
            demands in prop::collection::vec((0..7_usize, 0..7_usize, -3..=1_i64), 0..16)
        ) {
            let demands: Vec<Demand> =
                demands.into_iter().map(|(from, to, weight)| Demand { from, to, weight }).collect();
            match (least(7, &demands), by_trying(7, &demands)) {
                (Ok(depths), Some(tried)) => prop_assert_eq!(depths, tried),
                (Err(cycle), None) => {
                    prop_assert!(!cycle.is_empty());
                    prop_assert!(cycle.iter().map(|&i| demands[i].weight).sum::<i64>() > 0);
                    for (here, next) in cycle.iter().zip(cycle.iter().cycle().skip(1)) {
                        prop_assert_eq!(demands[*here].to, demands[*next].from);
                    }
                }
                (found, tried) => prop_assert!(false, "{found:?} {tried:?}"),
            }
        }
    }
}
