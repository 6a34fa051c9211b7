//! The receiving half of an end: every datagram of load goes through here once, without allocation.

use takt_base::MonoNs;
use takt_stats::Jitter;

use super::jump::{Came, Jumps, Said};
use super::plan::Plan;
use super::protocol::data::Data;
use super::reorder::{Extents, Reordering};
use super::report::{FlowReceived, Interval};
use super::side::Received;
use super::window::{Arrival, Window};

/// Counts of one round's datagrams, as they arrive.
#[derive(Debug)]
pub struct Receiver {
    plan: Plan,
    round: u8,
    /// This end's clock minus the sender's, ns.
    ahead_ns: i64,
    flows: Vec<Flow>,
    first: Option<MonoNs>,
    last: MonoNs,
    /// The interval that runs. A stamp that goes back opens none again.
    place: usize,
    /// Counts for all flows together. The memory of its intervals is there from the beginning.
    received: Received,
}

#[derive(Debug, Default)]
struct Flow {
    window: Window,
    jumps: Jumps,
    reordering: Reordering,
    too_old: u64,
    /// The interval of its last datagram, and the number that was due when it began.
    place: usize,
    due_then: u64,
    jitter: Jitter,
    counts: FlowReceived,
}

impl Receiver {
    /// For `round` of a plan; `ahead_ns`: this end's clock minus the sender's.
    pub fn new(plan: &Plan, round: u8, ahead_ns: i64) -> Receiver {
        let seconds = plan.interval_ns as f64 / 1e9;
        let at = |n: usize| n as f64 * seconds;
        let empty = |n| Interval { start_s: at(n), end_s: at(n + 1), ..Interval::default() };
        let intervals = (0..plan.intervals()).map(empty).collect();
        Receiver {
            plan: plan.clone(),
            round,
            ahead_ns,
            flows: (0..plan.flows).map(|_| Flow::default()).collect(),
            first: None,
            last: MonoNs(0),
            place: 0,
            received: Received { intervals, ..Received::default() },
        }
    }

    /// A datagram of `bytes` arrived. A datagram that is not of this round and these flows is counted as foreign.
    pub fn data(&mut self, data: &Data, bytes: usize, arrived: MonoNs) {
        let Some(flow) = self.flow(data) else {
            self.received.foreign += 1;
            return;
        };
        match flow.jumps.look(data.sequence) {
            Said::Nothing => {}
            Said::Again => return,
            Said::Jumped(first, again) => {
                flow.counts.duplicates += again;
                self.count(&first);
            }
        }
        let came = Came { data: *data, bytes, arrived };
        match self.flow(data).filter(|flow| flow.window.is_far_ahead(data.sequence)) {
            Some(flow) => flow.jumps.wait(came),
            None => self.count(&came),
        }
    }

    fn flow(&mut self, data: &Data) -> Option<&mut Flow> {
        self.flows.get_mut(usize::from(data.flow)).filter(|_| data.round == self.round)
    }

    /// Counts a datagram of one of the flows.
    fn count(&mut self, came: &Came) {
        let Came { data, bytes, arrived } = *came;
        self.first.get_or_insert(arrived);
        self.last = self.last.max(arrived);
        let since_first = arrived.saturating_since(self.first.unwrap_or(arrived));
        let since_first_ns = u64::try_from(since_first.as_nanos()).unwrap_or(u64::MAX);
        self.place = self.place.max(self.plan.interval_at(since_first_ns, self.received.intervals.len()));
        let Some(flow) = self.flows.get_mut(usize::from(data.flow)) else { return };
        let all = &mut self.received;
        let Some(interval) = all.intervals.get_mut(self.place) else { return };
        let expected = flow.window.next();
        if flow.place != self.place {
            (flow.place, flow.due_then) = (self.place, expected);
        }
        let arrival = flow.window.record(data.sequence);
        match arrival {
            Arrival::Next => {
                interval.lost += data.sequence - expected;
                flow.reordering.in_order(data.sequence, data.sequence > expected, arrived);
            }
            Arrival::Reordered => {
                // Skipped in this interval, and among its lost; or in an earlier one, whose count stands.
                if data.sequence >= flow.due_then {
                    interval.lost -= 1;
                } else {
                    interval.late += 1;
                }
                flow.counts.reordered += 1;
                flow.reordering.late(data.sequence, arrived);
            }
            Arrival::Duplicate => flow.counts.duplicates += 1,
            Arrival::TooOld => flow.too_old += 1,
        }
        flow.jitter.record(data.intended.0, arrived.0);
        if matches!(arrival, Arrival::Next | Arrival::Reordered) {
            let transit = i128::from(arrived.0) - i128::from(self.ahead_ns) - i128::from(data.intended.0);
            let latency = u64::try_from(transit.max(0)).unwrap_or(u64::MAX);
            all.earlier_than_sent += u64::from(transit < 0);
            all.latency_ns.record_saturating(latency);
            all.payload_bytes += bytes as u64;
            interval.datagrams += 1;
            interval.payload_bytes += bytes as u64;
            interval.latency_max_us = interval.latency_max_us.max(latency as f64 / 1e3);
        }
    }

    pub fn unique(&self) -> u64 {
        self.flows.iter().map(|flow| flow.window.unique()).sum()
    }

    pub fn last(&self) -> MonoNs {
        self.last
    }

    pub fn report(&self) -> Received {
        let sum = |of: fn(&Flow) -> u64| self.flows.iter().map(of).sum();
        let jitters: Vec<f64> = self.flows.iter().filter_map(|flow| flow.jitter.ns()).collect();
        let mean = |values: &[f64]| (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64);
        let used = self.received.intervals.iter().rposition(|c| c.datagrams > 0).map_or(0, |last| last + 1);
        Received {
            datagrams: self.unique(),
            reordered: sum(|flow| flow.counts.reordered),
            extents: self.flows.iter().fold(Extents::default(), |all, flow| all.and(flow.reordering.extents)),
            duplicates: sum(|flow| flow.counts.duplicates),
            too_old: sum(|flow| flow.too_old),
            too_far: sum(|flow| flow.jumps.wrong()),
            span_s: self.first.map_or(0.0, |first| self.last.saturating_since(first).as_secs_f64()),
            jitter_us: mean(&jitters).map(|ns| ns / 1e3),
            flows: self.flows.iter().map(Flow::report).collect(),
            intervals: self.received.intervals.iter().take(used).copied().collect(),
            ..self.received.clone()
        }
    }
}

impl Flow {
    fn report(&self) -> FlowReceived {
        let jitter_us = self.jitter.ns().map(|ns| ns / 1e3);
        FlowReceived { datagrams: self.window.unique(), jitter_us, ..self.counts }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::Duration;

    use proptest::prelude::*;

    use super::super::options::UdpOptions;
    use super::*;

    fn receiver(flows: u8) -> Receiver {
        let mut options = UdpOptions::to(([127, 0, 0, 1], 1).into());
        options.flows = flows;
        options.duration = Duration::from_millis(100);
        options.interval = Duration::from_millis(10);
        Receiver::new(&Plan::of(&options, 0, None), 7, 0)
    }

    fn data(flow: u8, sequence: u64, intended: u64) -> Data {
        Data { flow, round: 7, sequence, intended: MonoNs(intended) }
    }

    /// RFC 3550 section 6.4.1 in words: the difference of two transits, averaged with a gain of a sixteenth.
    fn rfc3550_us(stamps: &[(u64, u64)]) -> f64 {
        let transits = stamps.iter().map(|&(sent, arrived)| arrived as f64 - sent as f64).collect::<Vec<_>>();
        transits.windows(2).fold(0.0, |j, pair| j + ((pair[1] - pair[0]).abs() - j) / 16.0) / 1e3
    }

    #[test]
    fn jitter_equals_an_independent_computation_from_the_same_stamps() {
        let mut receiver = receiver(1);
        let mut state = 1_u64;
        let stamps: Vec<(u64, u64)> = (0..5000_u64)
            .map(|n| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                (n * 10_000, 1_000_000 + n * 10_000 + (state >> 40) % 40_000)
            })
            .collect();
        for (n, &(sent, arrived)) in stamps.iter().enumerate() {
            receiver.data(&data(0, n as u64, sent), 64, MonoNs(arrived));
        }
        let ours = receiver.report().jitter_us.unwrap();
        assert!((ours - rfc3550_us(&stamps)).abs() < 1e-6, "{ours} {}", rfc3550_us(&stamps));
    }

    #[test]
    fn loss_reordering_and_repetition_do_not_mix() {
        let mut receiver = receiver(2);
        for (flow, sequence, at) in [(0, 0, 1), (0, 3, 2), (0, 1, 3), (0, 3, 4), (1, 5, 5)] {
            receiver.data(&data(flow, sequence, 0), 100, MonoNs(at));
        }
        receiver.data(&data(9, 0, 0), 100, MonoNs(9));
        receiver.data(&Data { round: 8, ..data(0, 2, 0) }, 100, MonoNs(9));
        let report = receiver.report();
        assert_eq!((report.datagrams, report.payload_bytes), (4, 400));
        assert_eq!((report.reordered, report.duplicates, report.foreign, report.too_old), (1, 1, 2, 0));
        assert_eq!(report.flows.iter().map(|f| f.datagrams).collect::<Vec<_>>(), [3, 1]);
    }

    #[test]
    fn latency_counts_from_the_intended_time_by_the_senders_clock() {
        let mut receiver = receiver(1);
        receiver.ahead_ns = 1_000_000;
        receiver.data(&data(0, 0, 5_000), 16, MonoNs(1_000_000 + 5_000 + 70));
        receiver.data(&data(0, 1, 5_000), 16, MonoNs(1_000_000 + 4_000));
        let report = receiver.report();
        assert_eq!(
            (report.latency_ns.min(), report.latency_ns.max(), report.earlier_than_sent),
            (Some(0), Some(70), 1)
        );
    }

    #[test]
    fn intervals_add_up_and_a_gap_that_closes_later_stays_and_is_counted_as_late() {
        let mut receiver = receiver(1);
        let ms = 1_000_000;
        for (sequence, at) in [(0, 0), (2, 5 * ms), (1, 12 * ms), (4, 13 * ms), (3, 14 * ms), (5, 500 * ms)] {
            receiver.data(&data(0, sequence, 0), 10, MonoNs(at + 1));
        }
        let intervals = receiver.report().intervals;
        assert_eq!(intervals.len(), 11, "what comes late is in the last one");
        assert_eq!(intervals.iter().map(|i| i.datagrams).sum::<u64>(), 6);
        assert_eq!((intervals[0].lost, intervals[0].late), (1, 0));
        assert_eq!((intervals[1].lost, intervals[1].late), (0, 1), "3 came within the interval that skipped it");
        assert_eq!((intervals[1].start_s, intervals[1].end_s), (0.01, 0.02));
    }

    #[test] // it made the rest of the round too old
    fn a_damaged_number_is_left_out_and_a_real_jump_is_not() {
        let counted = |sequences: &[u64]| {
            let mut receiver = receiver(1);
            for (n, &sequence) in sequences.iter().enumerate() {
                receiver.data(&data(0, sequence, 0), 10, MonoNs(n as u64));
            }
            let Received { datagrams, duplicates, reordered, too_old, too_far, .. } = receiver.report();
            (datagrams, duplicates, reordered, too_old, too_far)
        };
        assert_eq!(counted(&[0, 1, 1 << 47 | 2, 3, 2, 4]), (5, 0, 1, 0, 1));
        assert_eq!(counted(&[1 << 40, 0, 1]), (2, 0, 0, 0, 1), "the first of all");
        assert_eq!(counted(&[0, 1 << 40]), (1, 0, 0, 0, 1), "the last of all");
        assert_eq!(counted(&[0, 1 << 40, 1 << 40, 1]), (2, 0, 0, 0, 2), "damaged, then doubled");
        // An outage of a million datagrams, also where order and repetition are not as sent.
        assert_eq!(counted(&[0, 1_000_001, 1_000_000, 1_000_001, 5]), (3, 1, 1, 1, 0));
        assert_eq!(counted(&[0, 1_000_001, 1_000_001, 1_000_002]), (3, 1, 0, 0, 0));
    }

    proptest! {
        /// However many numbers are damaged, if no two of them come in a row, all others are counted as without them.
        #[test]
        fn single_wild_numbers_change_nothing_else(
            steps in prop::collection::vec((0_u64..60, 0_u64..5_000_000, prop::option::of(18_u32..48)), 1..200),
        ) {
            let (mut with, mut without, mut at, mut wild) = (receiver(1), receiver(1), 0, 0);
            for (n, (near, wait_ns, damaged)) in steps.into_iter().enumerate() {
                at += wait_ns;
                let sequence = n as u64 / 2 + near;
                if let Some(bit) = damaged {
                    with.data(&data(0, sequence | 1 << bit, 0), 10, MonoNs(at));
                    wild += 1;
                }
                with.data(&data(0, sequence, at), 10, MonoNs(at));
                without.data(&data(0, sequence, at), 10, MonoNs(at));
            }
            let report = with.report();
            prop_assert_eq!(report.too_far, wild);
            prop_assert_eq!(Received { too_far: 0, ..report }, without.report());
        }

        /// A flow that jumps, however far, loses nothing of what comes from there on.
        #[test]
        fn jumps_that_a_second_datagram_confirms_are_followed(jumps in prop::collection::vec(1_u64..1 << 40, 1..50)) {
            let (mut receiver, mut next, mut came) = (receiver(1), 0, 0);
            for jump in jumps {
                next += jump;
                for _ in 0..2 {
                    receiver.data(&data(0, next, 0), 10, MonoNs(came));
                    (next, came) = (next + 1, came + 1);
                }
            }
            let report = receiver.report();
            prop_assert_eq!((report.datagrams, report.too_far, report.too_old), (came, 0, 0));
            prop_assert_eq!(report.intervals.iter().map(|interval| interval.lost).sum::<u64>(), next - came);
        }

        /// The datagrams that the intervals lack, less those that came late, are those that never came before the last arrival.
        #[test]
        fn intervals_lack_what_was_lost(
            arrivals in prop::collection::vec((0_u64..60, 0_u64..3_000_000, 0_u8..2), 1..300),
        ) {
            let (mut receiver, mut at) = (receiver(2), 0);
            let mut seen = [BTreeSet::new(), BTreeSet::new()];
            for (n, (near, wait_ns, flow)) in arrivals.into_iter().enumerate() {
                at += wait_ns;
                let sequence = n as u64 / 2 + near;
                receiver.data(&data(flow, sequence, 0), 10, MonoNs(at));
                seen[usize::from(flow)].insert(sequence);
            }
            let missing: u64 = seen.iter().map(|seen| seen.last().map_or(0, |last| last + 1) - seen.len() as u64).sum();
            let intervals = receiver.report().intervals;
            let lost: u64 = intervals.iter().map(|interval| interval.lost).sum();
            let late: u64 = intervals.iter().map(|interval| interval.late).sum();
            prop_assert_eq!(lost - late, missing);
        }
    }
}
