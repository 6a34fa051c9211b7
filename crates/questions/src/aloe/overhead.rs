//! The model of the overhead: a line through chains of several lengths, block by block.

use std::collections::BTreeMap;

use takt_lab::store::{RoundRow, RoundState};

use super::{BetweenComponents, Facts, Overhead, Relative};
use crate::study::figure::{Figure, RoundValue};
use crate::study::fit::line;
use takt_stats::{Histogram, Ns};

/// Lines through `value` of each block's rounds that count, by components: intercepts and slopes. A block is one
/// repetition, so that intervals rest on rounds.
pub(super) fn lines(rounds: &[(usize, &RoundRow)], value: impl Fn(&RoundRow) -> Option<f64>) -> (Figure, Figure) {
    let mut blocks: BTreeMap<u32, Vec<(f64, f64, i64)>> = BTreeMap::new();
    for (components, round) in rounds.iter().filter(|(_, round)| round.state == RoundState::Valid) {
        if let Some(value) = value(round) {
            blocks.entry(round.block).or_default().push((*components as f64, value, round.id));
        }
    }
    let (mut bases, mut slopes) = (Vec::new(), Vec::new());
    for points in blocks.values() {
        let xy: Vec<(f64, f64)> = points.iter().map(|(x, y, _)| (*x, *y)).collect();
        let last = points.iter().map(|(.., id)| *id).max().unwrap_or_default();
        if let Some((base, slope)) = line(&xy) {
            let round = |value| RoundValue { round_id: last, value, counts: true };
            bases.push(round(base));
            slopes.push(round(slope));
        }
    }
    (Figure::from_rounds(bases), Figure::from_rounds(slopes))
}

pub(super) fn between(all: &Histogram<Ns>) -> BetweenComponents {
    BetweenComponents {
        measured: all.len(),
        mean_ns: all.mean(),
        p50_ns: all.quantile(0.5),
        p99_ns: all.quantile(0.99),
        p99_9_ns: all.quantile(0.999),
        max_ns: all.max(),
        ecdf_ns: all.ecdf(300).iter().map(|point| (point.value, point.share)).collect(),
    }
}

/// Figure 6: what slots, and how many components.
const SLOTS_US: [f64; 8] = [10_000.0, 5_000.0, 2_000.0, 1_000.0, 500.0, 250.0, 100.0, 50.0];
const COMPONENTS: [usize; 4] = [1, 10, 20, 50];

pub(super) fn relative(overhead: &Overhead, paper: &Facts) -> Vec<Relative> {
    let (Some(base_ns), Some(module_ns)) = (overhead.base_ns.value, overhead.module_ns.value) else {
        return Vec::new();
    };
    let of = |components: usize| {
        SLOTS_US.map(|slot_us| Relative {
            components,
            slot_us,
            share: (base_ns + components as f64 * module_ns).max(0.0) / (slot_us * 1e3),
            paper_share: paper.overhead.x86_us(components as f64) / slot_us,
        })
    };
    COMPONENTS.into_iter().flat_map(of).collect()
}
