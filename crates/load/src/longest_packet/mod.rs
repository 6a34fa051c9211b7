//! The longest packet a waveform's source can make in a slot without a real-time failure: raised until one occurs, then
//! narrowed, then confirmed.
//!
//! A length *holds* if most of three trials pass without a miss: one stall of a shared machine decides nothing, two do. The
//! length found is tried again for longer; if it does not hold there it is lowered and tried again. One search is one round
//! of an experiment, and gives one number; intervals come from rounds.

pub(crate) mod workload;

use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::Stop;

use crate::waveform::{
    Blamed, Clock, Memory, Opened, Packet, Slots, Spread, WaveformError, WaveformOptions, WaveformOutcome, floors,
    measure,
};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Longest {
    /// The requested options; `duration` is that of a confirmation, a trial takes a quarter.
    pub options: WaveformOptions,
    pub items: u32,
    pub bits: u64,
    pub throughput_bps: f64,
    /// Causes that ended the first length above that did not hold.
    pub blamed: Vec<Blamed>,
    /// Share of a slot in use in 99.9 % of slots, in the confirmation.
    pub used_share: Option<f64>,
    pub trials: Vec<Trial>,
    pub confirmed: WaveformOutcome,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    pub items: u32,
    pub slots: u64,
    pub misses: u64,
    /// From release to end, of the fullest worker.
    pub busy: Option<Spread>,
}

const SHORTEST: u32 = 16;
const LONGEST: u32 = 16_777_216;
/// How much longer each step is until one fails.
const STEP: f64 = 1.25;
/// Narrowed until the length that fails is this much longer than the one that holds.
const NARROW: f64 = 1.03;
/// Lowered by this where the confirmation fails.
const LOWER: f64 = 0.95;
const TRIAL_SLOTS: u64 = 30;

/// Searches. `stop` ends it early; the result then does not count.
///
/// # Errors
/// The waveform can't be run, or not even the shortest packet holds.
pub fn longest(options: &WaveformOptions, stop: &Stop) -> Result<Longest, WaveformError> {
    let (per_item_ns, placement) = probe(options)?;
    let first = items_in(options.slot, per_item_ns);
    let mut run = |options: &WaveformOptions| {
        let opened = Opened::placed(options, Some(&placement))?;
        measure(options, &opened, Memory::default(), stop)
    };
    longest_by(options, first, &mut run, stop)
}

/// So many items that take half of a slot.
fn items_in(slot: Duration, per_item_ns: f64) -> u32 {
    (0.5 * slot.as_nanos() as f64 / per_item_ns).clamp(f64::from(SHORTEST), f64::from(LONGEST)) as u32
}

/// The same beginning with a length of `first`, wherever `run` runs a waveform.
pub(crate) fn longest_by<E: From<WaveformError>>(
    options: &WaveformOptions,
    first: u32,
    run: &mut dyn FnMut(&WaveformOptions) -> Result<WaveformOutcome, E>,
    stop: &Stop,
) -> Result<Longest, E> {
    let slot_ns = options.slot.as_nanos() as f64;
    let mut search = Search { options, run, trials: Vec::new(), blamed: Vec::new(), stop };
    let found = search_with(first, &mut |items| search.holds(items, options.duration / 4, TRIAL_SLOTS))?;
    let none = || WaveformError::NothingHolds { items: SHORTEST, slot_us: slot_ns / 1e3 };
    let mut items = found.ok_or_else(none)?;
    loop {
        if let Some(confirmed) = search.holds(items, options.duration, 4 * TRIAL_SLOTS)? {
            let bits = confirmed.source_bits_per_slot;
            let (throughput_bps, used_share) = (bits as f64 * 1e9 / slot_ns, confirmed.used_share);
            let Search { trials, blamed, .. } = search;
            let options = options.clone();
            return Ok(Longest { options, items, bits, throughput_bps, blamed, used_share, trials, confirmed });
        }
        if items <= SHORTEST {
            return Err(none().into());
        }
        items = ((f64::from(items) * LOWER) as u32).max(SHORTEST);
    }
}

/// Raises from `first` (or lowers, if that does not hold) and narrows: the longest length known to hold, `None` if none
/// does. `holds` returns what it measured where a length holds.
fn search_with<T, E>(first: u32, holds: &mut dyn FnMut(u32) -> Result<Option<T>, E>) -> Result<Option<u32>, E> {
    let raised = |items: u32| ((f64::from(items) * STEP) as u32).clamp(items.saturating_add(1), LONGEST.max(items));
    let (mut low, mut high) = (None, None);
    let mut items = first.clamp(SHORTEST, LONGEST);
    loop {
        if holds(items)?.is_some() {
            low = Some(items);
            if high.is_some() || items >= LONGEST {
                break;
            }
            items = raised(items).min(LONGEST);
        } else {
            high = Some(items);
            if low.is_some() || items <= SHORTEST {
                break;
            }
            items = (items / 2).max(SHORTEST);
        }
    }
    let (Some(mut low), Some(mut high)) = (low, high) else { return Ok(low) };
    while f64::from(high) > f64::from(low) * NARROW && high - low > 1 {
        let middle = low.midpoint(high);
        if holds(middle)?.is_some() { low = middle } else { high = middle }
    }
    Ok(Some(low))
}

struct Search<'a, E> {
    options: &'a WaveformOptions,
    run: &'a mut dyn FnMut(&WaveformOptions) -> Result<WaveformOutcome, E>,
    trials: Vec<Trial>,
    blamed: Vec<Blamed>,
    stop: &'a Stop,
}

impl<E> Search<'_, E> {
    /// Whether most of three trials pass; the last that did.
    fn holds(&mut self, items: u32, duration: Duration, slots: u64) -> Result<Option<WaveformOutcome>, E> {
        let (mut good, mut bad) = (0, 0);
        let slots = self.options.slots_of(duration, self.options.slot.as_nanos() as u64).unwrap_or(slots).max(slots);
        loop {
            let options = WaveformOptions {
                packet: Packet::Items(items),
                slots: Slots::Count(slots),
                warm_up: Duration::ZERO,
                clock: Clock::Wall,
                ..self.options.clone()
            };
            let outcome = (self.run)(&options)?;
            let busy = outcome.workers.iter().filter_map(|worker| worker.busy).max_by_key(Spread::tail_ns);
            self.trials.push(Trial { items, slots: outcome.slots, misses: outcome.misses, busy });
            let passed = u32::from(outcome.misses + outcome.lost_packets() == 0);
            good += passed;
            bad += 1 - passed;
            if good == 2 || (good == 1 && bad == 0 && self.stop.requested()) {
                return Ok(Some(outcome));
            }
            if bad == 2 || self.stop.requested() {
                self.blamed = outcome.blamed;
                return Ok(None);
            }
        }
    }
}

/// So many items that one core of this machine takes half of a slot for all components.
pub(crate) fn half_of_a_core(options: &WaveformOptions) -> Result<u32, WaveformError> {
    let (per_item_ns, _) = probe(&WaveformOptions { workers: 1, ..options.clone() })?;
    Ok(items_in(options.slot, per_item_ns))
}

/// Cost of an item for the fullest worker, from a free run, and how the components were placed for it.
fn probe(options: &WaveformOptions) -> Result<(f64, Vec<usize>), WaveformError> {
    let probe = WaveformOptions {
        packet: Packet::Items(PROBE_ITEMS),
        clock: Clock::Free,
        slots: Slots::Count(PROBE_SLOTS),
        ..options.clone()
    };
    let opened = Opened::new(&probe)?;
    let ran = opened.execute(Some(PROBE_SLOTS), options.duration, &Stop::new())?;
    let busiest = |worker: usize| {
        let own = ran.report.components.iter().filter(|component| component.worker == Some(worker));
        own.filter_map(|component| component.histogram.quantile(0.5)).sum::<u64>()
    };
    let fullest = (0..ran.report.workers.len()).map(busiest).max().unwrap_or(1).max(1);
    let per_item_ns = (fullest as f64).max(floors().null_call_ns) / f64::from(PROBE_ITEMS);
    Ok((per_item_ns, opened.placement()))
}

const PROBE_ITEMS: u32 = 50_000;
const PROBE_SLOTS: u64 = 60;

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use proptest::prelude::*;

    use super::*;

    fn found(limit: u32, first: u32) -> (Option<u32>, usize) {
        let mut trials = 0;
        let mut holds = |items: u32| -> Result<Option<()>, Infallible> {
            trials += 1;
            Ok((items <= limit).then_some(()))
        };
        let Ok(found) = search_with(first, &mut holds);
        (found, trials)
    }

    proptest! {
        /// Wherever the limit is and wherever the search begins.
        #[test]
        fn what_is_found_holds_and_lies_within_a_few_per_cent_of_the_limit(
            limit in SHORTEST..LONGEST,
            first in 1_u32..=u32::MAX,
        ) {
            let (found, trials) = found(limit, first);
            let items = found.expect("the shortest holds");
            prop_assert!(items <= limit);
            prop_assert!(f64::from(limit) <= f64::from(items) * NARROW + 1.0, "{items} of {limit}");
            prop_assert!(trials < 100);
        }
    }

    #[test]
    fn nothing_holds_where_the_shortest_does_not_and_the_longest_is_the_end() {
        assert_eq!(found(SHORTEST - 1, 1000).0, None);
        assert_eq!(found(u32::MAX, 1000).0, Some(LONGEST));
    }
}
