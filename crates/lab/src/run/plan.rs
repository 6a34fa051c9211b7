//! The order of a run's rounds.

use std::cmp::Ordering;

use serde_json::Value;

use crate::experiment::{Experiment, Point, blocks};

/// Points in each block, in the order in which they are run. Shuffled under the file's seed; in the first block, points
/// of a part with a stop rule are put in ascending order among the places they have, so that the rule can work.
pub(super) fn order(experiment: &Experiment, points: &[Point], count: u32) -> Vec<Vec<usize>> {
    let mut all = if experiment.rounds.shuffled {
        blocks(points.len(), count, experiment.rounds.seed)
    } else {
        vec![(0..points.len()).collect(); count as usize]
    };
    if let Some(first) = all.first_mut() {
        for (number, part) in experiment.parts.iter().enumerate() {
            if let Some(stop) = &part.stop {
                ascend(first, points, number, &stop.ascending);
            }
        }
    }
    all
}

/// Sorts the points of one part by a factor, leaving all others where they are.
fn ascend(block: &mut [usize], points: &[Point], part: usize, factor: &str) {
    let of_part = |point: &usize| points.get(*point).is_some_and(|point| point.part == part);
    let mut sorted: Vec<usize> = block.iter().copied().filter(of_part).collect();
    sorted.sort_by(|a, b| level(points, *a, factor).partial_cmp(&level(points, *b, factor)).unwrap_or(Ordering::Equal));
    let places = block.iter_mut().filter(|point| of_part(point));
    for (place, point) in places.zip(sorted) {
        *place = point;
    }
}

pub(super) fn level(points: &[Point], point: usize, factor: &str) -> Option<f64> {
    points.get(point)?.factors.get(factor).and_then(Value::as_f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Depth;

    const SWEEP: &str = r#"
        question = "?"
        [rounds]
        count = { full = 3, quick = 1 }
        order = { seed = 9 }
        [[part]]
        name = "udp"
        factors = { payload_bytes = [16, 64, 512] }
        fixed = { direction = "to-host", workload = { kind = "udp", duration = "1s" } }
        [[part]]
        name = "radio"
        factors = { rate_sps = [25e6, 1e6, 5e6, 10e6], mode = ["rx", "duplex"] }
        fixed = { workload = { kind = "rate", duration = "1s" } }
        stop = { ascending = "rate_sps", lost_share_above = 0.05 }
    "#;

    #[test]
    fn only_the_first_block_of_a_part_with_a_stop_ascends() {
        let experiment = Experiment::parse("sweep", SWEEP).unwrap();
        let points = experiment.points(Depth::Full);
        let plain = blocks(points.len(), 3, 9);
        let order = order(&experiment, &points, 3);
        let rates = |block: &[usize]| -> Vec<f64> {
            block.iter().filter_map(|&point| level(&points, point, "rate_sps")).collect()
        };
        assert!(rates(&order[0]).is_sorted(), "{:?}", rates(&order[0]));
        assert!(!rates(&order[1]).is_sorted(), "{:?}", rates(&order[1]));
        assert_eq!(order[1..], plain[1..]);
        let udp = |block: &[usize]| -> Vec<(usize, usize)> {
            block.iter().copied().enumerate().filter(|&(_, point)| points[point].part == 0).collect()
        };
        assert_eq!(udp(&order[0]), udp(&plain[0]), "the other part keeps its places");
    }
}
