//! Two halves as one outcome: what one machine would say.

use crate::waveform::{Blamed, Spread, WaveformOutcome};

/// Joins the outcomes of the first node and the second.
pub(super) fn joined(mut first: WaveformOutcome, mut second: WaveformOutcome) -> WaveformOutcome {
    let workers = first.workers.len();
    for component in &mut second.components {
        component.worker = component.worker.map(|worker| worker + workers);
    }
    if second.used_share > first.used_share {
        (first.used_share, first.slowest) = (second.used_share, second.slowest);
    }
    first.components.append(&mut second.components);
    first.workers.append(&mut second.workers);
    first.cores.append(&mut second.cores);
    first.slots = first.slots.min(second.slots);
    first.misses += second.misses;
    first.miss_share = first.misses as f64 / (first.slots * first.components.len() as u64).max(1) as f64;
    first.missing_packets += second.missing_packets;
    first.broken_packets += second.broken_packets;
    first.dropped_packets += second.dropped_packets;
    first.blamed = blamed(first.blamed, second.blamed);
    first.lateness = [first.lateness, second.lateness].into_iter().flatten().max_by_key(Spread::tail_ns);
    first.overhead_ns_per_slot += second.overhead_ns_per_slot;
    // Both have the same bound.
    let _ = first.between.merge(&second.between);
    // Each says it of the sinks that it has.
    first.throughput_bps = first.throughput_bps.min(second.throughput_bps);
    first.output_hash = first.output_hash.xor(second.output_hash);
    first.fifo &= second.fifo;
    first.elapsed_s = first.elapsed_s.max(second.elapsed_s);
    first.complete &= second.complete;
    first
}

/// Most misses first.
fn blamed(first: Vec<Blamed>, second: Vec<Blamed>) -> Vec<Blamed> {
    let mut all = first;
    for one in second {
        match all.iter_mut().find(|other| other.component == one.component) {
            Some(other) => other.misses += one.misses,
            None => all.push(one),
        }
    }
    all.sort_by_key(|one| std::cmp::Reverse(one.misses));
    all
}
