//! The stops that rounds saw, each moment once, and what the buffers of a stream held against them.

use serde::{Deserialize, Serialize};
use takt_host::core_stop::Cause;
use takt_host::core_watch::{self, CoreStop, Watched};
use takt_stats::sum;

use super::{Stops, StopsAt, StopsBy};
use crate::check::{Format, Mode, Need, RatePoint, RateRound};

/// A stop as a round keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopSeen {
    pub ms: f64,
    pub by: Cause,
    /// The radio stood still as well, at least for a part of it.
    pub radio_too: bool,
}

impl StopSeen {
    pub(in crate::check) fn of(stop: &CoreStop, radio_too: bool) -> StopSeen {
        StopSeen { ms: stop.ns() as f64 / 1e6, by: stop.by, radio_too }
    }
}

/// How much of a stream the buffers in between hold.
#[derive(Clone, Copy, Debug)]
pub(in crate::check) struct Holds {
    mode: Mode,
    format: Format,
    rate_sps: f64,
    ms: f64,
}

impl Holds {
    pub(in crate::check) fn of(need: &Need, ms: f64) -> Holds {
        Holds { mode: need.mode, format: need.format, rate_sps: need.rate_sps, ms }
    }

    /// Set beside the stops whose length tells.
    pub(in crate::check) fn against<'a>(self, seen: impl Iterator<Item = &'a StopSeen> + Clone) -> StopsAt {
        let Holds { mode, format, rate_sps, ms: holds_ms } = self;
        let longest_ms = seen.clone().map(|stop| stop.ms).fold(0.0, f64::max);
        let over_ms: Vec<f64> = seen.map(|stop| stop.ms - holds_ms).filter(|over| *over > 0.0).collect();
        StopsAt {
            mode,
            format,
            rate_sps,
            holds_ms,
            longest_ms,
            longer: over_ms.len(),
            lost_ms: sum(over_ms),
            margin: (longest_ms > 0.0).then(|| holds_ms / longest_ms),
        }
    }
}

/// The stops that a round saw: those of the emulator's core and those of the host side's, each moment once. `late`: when the radio
/// did not go on, for whatever reason.
pub(in crate::check) fn of_round(emulator: &[CoreStop], late: &[[u64; 2]], host: Option<&Watched>) -> Vec<StopSeen> {
    let host = host.map(|watched| watched.stops.as_slice()).unwrap_or_default();
    let all = [emulator, host].concat();
    let radio_too =
        |stop: &CoreStop| late.iter().any(|&[from_ns, to_ns]| stop.from_ns <= to_ns && from_ns <= stop.to_ns);
    core_watch::together(&all).iter().map(|stop| StopSeen::of(stop, radio_too(stop))).collect()
}

/// Stops seen by rounds about answers or other engines.
#[derive(Clone, Debug, Default)]
pub(in crate::check) struct Looked {
    pub(in crate::check) seconds: f64,
    pub(in crate::check) stops: Vec<StopSeen>,
}

/// The stops that the rounds of some rates saw; `None` with a radio that is not takt's.
#[must_use]
pub fn stops_of(points: &[RatePoint]) -> Option<Stops> {
    stops(points, &[])
}

/// The stops of all rounds that streamed; `None` with a radio that is not takt's.
pub(in crate::check) fn stops(points: &[RatePoint], others: &[Looked]) -> Option<Stops> {
    let rounds = || points.iter().flat_map(|point| &point.rounds);
    let watched = || rounds().filter(|round| round.stops.is_some());
    watched().next()?;
    // Each stop with the point in whose rounds it was seen.
    let of_rates = points.iter().enumerate().flat_map(|(number, point)| {
        let seen = point.rounds.iter().filter_map(|round| round.stops.as_deref()).flatten();
        seen.map(move |stop| (Some(number), *stop))
    });
    let beside = others.iter().flat_map(|looked| &looked.stops).map(|stop| (None, *stop));
    let seen: Vec<(Option<usize>, StopSeen)> = of_rates.chain(beside).collect();
    let at = |(number, point): (usize, &RatePoint)| {
        let (mode, format, rate_sps) = (point.mode, point.format, point.rate_sps);
        let ms = point.rounds.iter().filter_map(holds_ms).reduce(f64::min)?;
        let tells = |(of, stop): &&(Option<usize>, StopSeen)| *of != Some(number) || stop.radio_too;
        Some(Holds { mode, format, rate_sps, ms }.against(seen.iter().filter(tells).map(|(_, stop)| stop)))
    };
    let at = points.iter().enumerate().filter_map(at).collect();
    let streamed_s = sum(watched().map(|round| round.duration_s).chain(others.iter().map(|looked| looked.seconds)));
    let watches = rounds().filter_map(|round| round.watched.as_ref());
    let all: Vec<StopSeen> = seen.iter().map(|(_, stop)| *stop).collect();
    Some(Stops::of(&all, streamed_s, watches, at))
}

pub(super) fn by_cause(stops: &[StopSeen]) -> Vec<StopsBy> {
    let mut by: Vec<StopsBy> = Vec::new();
    for stop in stops {
        match by.iter_mut().find(|one| one.by == stop.by) {
            Some(one) => {
                one.count += 1;
                one.longest_ms = one.longest_ms.max(stop.ms);
            }
            None => by.push(StopsBy { by: stop.by, count: 1, longest_ms: stop.ms }),
        }
    }
    by.sort_by(|a, b| b.longest_ms.total_cmp(&a.longest_ms));
    by
}

/// The smaller of the buffers of a round's directions.
pub(crate) fn holds_ms(round: &RateRound) -> Option<f64> {
    [round.rx_holds_ms, round.tx_holds_ms].into_iter().flatten().reduce(f64::min)
}

#[cfg(test)]
mod tests {
    use super::super::words;
    use super::*;
    use crate::check::testing::{need, point, round, stopped};

    #[test] // it was -0.0
    fn where_no_stop_is_too_long_zero_milliseconds_are_lost() {
        let stops = stops(&[stopped(&[1.5])], &[]).unwrap();
        let document = serde_json::to_value(&stops.at[0]).unwrap();
        assert_eq!(document["lost_ms"].to_string(), "0.0");
    }

    #[test]
    fn stops_beside_answers_and_engines_count_as_well() {
        let others = [Looked { seconds: 3.0, stops: vec![StopSeen { ms: 30.0, by: Cause::Thread, radio_too: false }] }];
        let stops = stops(&[stopped(&[1.5])], &others).unwrap();
        assert_eq!((stops.count, stops.longest_ms, stops.streamed_s), (2, 30.0, 4.0));
        assert!(!stops.at[0].fits() && !stops.leave_time_for(3450.0) && stops.leave_time_for(50_000.0));
    }

    /// Its rounds went through the stop and lost nothing; at another rate nobody knows that.
    #[test]
    fn a_stop_of_the_host_alone_is_judged_by_the_rounds_it_befell() {
        let seen = StopSeen { ms: 9.5, by: Cause::Thread, radio_too: false };
        let mut befallen = stopped(&[2.0]);
        befallen.rounds[0].stops.as_mut().unwrap().push(seen);
        let other = RatePoint { rate_sps: 12.5e6, ..stopped(&[]) };
        let stops = stops(&[befallen, other], &[]).unwrap();
        assert_eq!((stops.at[0].longest_ms, stops.at[0].fits()), (2.0, true));
        assert_eq!((stops.at[1].longest_ms, stops.at[1].fits()), (9.5, false));
        let said = words(&stops, &[need()]);
        assert!(said[1].contains("5 times the longest stop that stopped the radio too (2 ms)"), "{said:?}");
    }

    #[test]
    fn a_radio_that_was_late_at_the_same_time_stood_still_as_well() {
        let stop = CoreStop { cpu: 0, from_ns: 10_000_000, to_ns: 50_000_000, by: Cause::Thread };
        let host = Watched { stops: vec![stop], ..Watched::default() };
        let radio_too = |late: &[[u64; 2]]| of_round(&[], late, Some(&host))[0].radio_too;
        assert!(radio_too(&[[45_000_000, 60_000_000]]) && !radio_too(&[[51_000_000, 60_000_000]]) && !radio_too(&[]));
    }

    #[test]
    fn a_radio_that_is_not_ours_reports_nothing_of_this_machine() {
        assert_eq!(stops(&[point(Mode::Rx, 1e6, vec![round()])], &[]), None);
    }
}
