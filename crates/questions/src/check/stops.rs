//! Stops of this machine, and what a radio would have lost by them that does not stop with it.
//!
//! The emulator is a process of this machine. A hypervisor or a kernel that holds its core up makes it late, and a radio that is
//! late sends nothing meanwhile, so that nothing is lost. A real radio goes on. All that it sends during a stop must fit into the
//! receive buffer, and all that it plays must lie in its own.
//!
//! Two witnesses look while samples stream: the emulator, whose own lateness shows stops of its core, and a thread on each core
//! of the host side ([`takt_host::core_watch`]). The emulator's lateness is no stop where its own work took so long, or where
//! another thread had its core: no radio shares a core with anybody.
//!
//! A stop of a core of the host side during which the radio went on is judged by the rounds in which it happened: they show
//! whether it cost samples. At other rates, and with a radio that stood still as well, only its length tells.
//!
//! "Yes" needs that the longest stop fits into what the buffers hold, with room to spare ([`wanted_ms`]). The room is for what they
//! hold already when the stop begins (takt's own driver reads a receive buffer once it is a quarter full, and at least every 2 ms),
//! and for the millisecond that a look can't see of a stop.

use serde::{Deserialize, Serialize};
use takt_base::shown::{duration, significant, time};
use takt_base::words::{list, plural};
use takt_host::call;
use takt_host::core_stop::Cause;
use takt_host::core_watch::{self, CoreStop, ORDINARY_QUEUE, Watched};
use takt_stats::sum;

use super::{Format, Mode, Need, RatePoint, RateRound};

/// The buffers must hold the longest stop and this share of it more, but no more than [`SPARE_MS`] more.
const SPARE_SHARE: f64 = 0.4;

/// The most that the buffers must hold beside a stop, ms: 2 lie in them already, 1 of the stop was not seen.
const SPARE_MS: f64 = 3.0;

/// How much the buffers must hold for a "yes" after a longest stop, ms.
#[must_use]
pub fn wanted_ms(longest_ms: f64) -> f64 {
    longest_ms + (longest_ms * SPARE_SHARE).min(SPARE_MS)
}

/// A rate of an event that was not seen for a time `t` is below this over `t`, 95 % sure: -ln 0.05.
const NONE_SEEN: f64 = 2.996;

/// How often and how long this machine stood still while samples streamed. Stops below 1 ms are not seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Stops {
    /// Time in which they would have been seen, seconds; rounds that do not count included.
    pub streamed_s: f64,
    pub count: usize,
    /// The longest, ms; 0 without one.
    pub longest_ms: f64,
    /// The same by who stopped the core, the longest first.
    #[serde(default)] // outcomes older than this key
    pub by: Vec<StopsBy>,
    /// Cores of the host side that were looked at; the emulator looks at its own.
    #[serde(default)] // outcomes older than this key
    pub cores: Vec<usize>,
    /// Whether takt's threads had real-time priority there.
    #[serde(default)] // outcomes older than this key
    pub real_time: bool,
    /// Why a core was not looked at, a sentence each.
    #[serde(default)] // outcomes older than this key
    pub unseen: Vec<String>,
    /// Their effect at each rate that was measured.
    pub at: Vec<StopsAt>,
}

/// The stops of one cause.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopsBy {
    pub by: Cause,
    pub count: usize,
    pub longest_ms: f64,
}

/// The meaning of the stops at a rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopsAt {
    pub mode: Mode,
    pub format: Format,
    /// Samples a second, each direction.
    pub rate_sps: f64,
    /// How much of this stream the smaller of the buffers in between holds, ms.
    pub holds_ms: f64,
    /// The longest stop whose length tells, ms: not those of its own rounds during which the radio went on.
    #[serde(default)] // outcomes older than this key
    pub longest_ms: f64,
    /// Stops that were longer: each would have cost a real radio samples.
    pub longer: usize,
    /// How much of the stream it would have lost by them, ms.
    #[serde(default)]
    pub lost_ms: f64,
    /// `holds_ms` over that stop; `None` without one.
    pub margin: Option<f64>,
}

impl StopsAt {
    /// Whether the buffers hold every stop that was seen, with room to spare.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.holds_ms >= wanted_ms(self.longest_ms)
    }
}

impl Stops {
    /// From what some watches saw in a time of `seconds`, and what that means at some rates.
    pub(super) fn of<'a>(
        seen: &[StopSeen],
        seconds: f64,
        watches: impl IntoIterator<Item = &'a Watched>,
        at: Vec<StopsAt>,
    ) -> Stops {
        let longest_ms = seen.iter().map(|stop| stop.ms).fold(0.0, f64::max);
        let mut stops = Stops {
            streamed_s: seconds,
            count: seen.len(),
            longest_ms,
            by: by_cause(seen),
            real_time: true,
            ..Stops::default()
        };
        for watched in watches {
            stops.cores.extend(&watched.cores);
            stops.unseen.extend(watched.unseen.iter().cloned());
            stops.real_time &= watched.real_time;
        }
        stops.cores.sort_unstable();
        stops.cores.dedup();
        stops.unseen.sort_unstable();
        stops.unseen.dedup();
        Stops { at, ..stops }
    }

    /// Finds the meaning for a need; `None` where its rate was not measured.
    #[must_use]
    pub fn at(&self, need: &Need) -> Option<&StopsAt> {
        let is = |at: &&StopsAt| {
            (at.mode, at.format) == (need.mode, need.format) && (at.rate_sps / need.rate_sps - 1.0).abs() < 1e-6
        };
        self.at.iter().find(is)
    }

    /// Whether an answer that is due after this time could still be given in time, whenever a stop begins.
    #[must_use]
    pub fn leave_time_for(&self, delay_us: f64) -> bool {
        wanted_ms(self.longest_ms) * 1e3 < delay_us
    }

    /// The cause of the longest stop.
    #[must_use]
    pub fn worst(&self) -> Option<Cause> {
        self.by.first().map(|by| by.by)
    }

    /// `up to 43 ms, 43 times in 37 s`, of stops up to this long.
    #[must_use]
    pub fn how_long(&self, longest_ms: f64) -> String {
        let (longest, times) = (time(longest_ms * 1e-3), plural(self.count, "time"));
        format!("up to {longest}, {times} in {}", duration(self.streamed_s))
    }
}

/// A stop as a round keeps it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopSeen {
    pub ms: f64,
    pub by: Cause,
    /// The radio stood still as well, at least for a part of it.
    pub radio_too: bool,
}

impl StopSeen {
    pub(super) fn of(stop: &CoreStop, radio_too: bool) -> StopSeen {
        StopSeen { ms: stop.ns() as f64 / 1e6, by: stop.by, radio_too }
    }
}

/// How much of a stream the buffers in between hold.
#[derive(Clone, Copy, Debug)]
pub(super) struct Holds {
    mode: Mode,
    format: Format,
    rate_sps: f64,
    ms: f64,
}

impl Holds {
    pub(super) fn of(need: &Need, ms: f64) -> Holds {
        Holds { mode: need.mode, format: need.format, rate_sps: need.rate_sps, ms }
    }

    /// Set beside the stops whose length tells.
    pub(super) fn against<'a>(self, seen: impl Iterator<Item = &'a StopSeen> + Clone) -> StopsAt {
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
pub(super) fn of_round(emulator: &[CoreStop], late: &[[u64; 2]], host: Option<&Watched>) -> Vec<StopSeen> {
    let host = host.map(|watched| watched.stops.as_slice()).unwrap_or_default();
    let all = [emulator, host].concat();
    let radio_too =
        |stop: &CoreStop| late.iter().any(|&[from_ns, to_ns]| stop.from_ns <= to_ns && from_ns <= stop.to_ns);
    core_watch::together(&all).iter().map(|stop| StopSeen::of(stop, radio_too(stop))).collect()
}

/// Stops seen by rounds about answers or other engines.
#[derive(Clone, Debug, Default)]
pub(super) struct Looked {
    pub(super) seconds: f64,
    pub(super) stops: Vec<StopSeen>,
}

/// The stops that the rounds of some rates saw; `None` with a radio that is not takt's.
#[must_use]
pub fn stops_of(points: &[RatePoint]) -> Option<Stops> {
    stops(points, &[])
}

/// The stops of all rounds that streamed; `None` with a radio that is not takt's.
pub(super) fn stops(points: &[RatePoint], others: &[Looked]) -> Option<Stops> {
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

fn by_cause(stops: &[StopSeen]) -> Vec<StopsBy> {
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

/// Says which stops were seen and what they mean for the needs, a sentence each.
pub(super) fn words(stops: &Stops, needs: &[Need]) -> Vec<String> {
    let mut words = vec![seen(stops)];
    words.extend(of_needs(stops, needs));
    let sure = how_sure(stops, needs);
    if !sure.is_empty() {
        words.push(format!("{sure}; {}", advice()));
    }
    words
}

/// Says what the stops mean for the needs, a sentence each.
pub(super) fn of_needs(stops: &Stops, needs: &[Need]) -> Vec<String> {
    needs.iter().filter_map(|need| stops.at(need).map(|at| need_part(stops, at, need))).collect()
}

/// Names the command that looks longer.
fn advice() -> String {
    format!("to look longer, run `{} --duration 10min`", call::takt("stops"))
}

fn seen(stops: &Stops) -> String {
    let where_seen = match stops.cores.as_slice() {
        [] => "on the emulator's core".to_owned(),
        [one] => format!("on core {one} and the emulator's core"),
        cores => {
            let cores: Vec<String> = cores.iter().map(usize::to_string).collect();
            format!("on cores {} and the emulator's core", list(&cores))
        }
    };
    let streamed = duration(stops.streamed_s);
    if stops.count == 0 {
        return format!("takt saw no stop of 1 ms or more {where_seen} in {streamed} of streaming");
    }
    let by: Vec<String> = stops.by.iter().map(by_words).collect();
    let (times, longest) = (plural(stops.count, "time"), time(stops.longest_ms * 1e-3));
    let by = if by.is_empty() { String::new() } else { format!(": {}", list(&by)) };
    format!("this machine stood still {times} in {streamed} of streaming, for up to {longest}{by}")
}

fn by_words(by: &StopsBy) -> String {
    let times = match by.count {
        1 => "once".to_owned(),
        more => format!("{more} times"),
    };
    let longest = time(by.longest_ms * 1e-3);
    format!("{times} by {} (up to {longest})", who(by.by))
}

/// Names the cause of a stop: `stopped by` it.
#[must_use]
pub fn who(by: Cause) -> &'static str {
    match by {
        Cause::Machine => "the hypervisor",
        Cause::Interrupts => "interrupts",
        Cause::SoftInterrupts => "soft interrupts",
        Cause::Thread => "another thread",
        Cause::NotKnown => "an unknown cause",
    }
}

fn need_part(stops: &Stops, at: &StopsAt, need: &Need) -> String {
    let (what, holds, longest) = (need.words(), time(at.holds_ms * 1e-3), time(at.longest_ms * 1e-3));
    // Longer stops hit only the host side while this stream went on, and its rounds show what they cost.
    let the_longest = if at.longest_ms < stops.longest_ms {
        format!("the longest stop that stopped the radio too ({longest})")
    } else {
        "the longest stop".to_owned()
    };
    match (at.fits(), at.margin) {
        (true, Some(margin)) => {
            format!("the buffers hold {holds} of {what}, {} times {the_longest}", significant(margin, 2))
        }
        (true, None) => format!("the buffers hold {holds} of {what}"),
        (false, _) if at.longer == 0 => {
            let wanted = time(wanted_ms(at.longest_ms) * 1e-3);
            format!(
                "the buffers hold {holds} of {what}, less than {wanted}: the longest stop of {longest} with room to spare"
            )
        }
        (false, _) => {
            let (lost, longer) = (time(at.lost_ms * 1e-3), plural(at.longer, "stop"));
            format!(
                "a real radio does not stop: the buffers hold {holds} of {what}, so {longer} would lose {lost} of samples"
            )
        }
    }
}

/// How long was looked is part of the answer; empty where a stop was longer than the buffers hold.
pub(super) fn how_sure(stops: &Stops, needs: &[Need]) -> String {
    let least = needs.iter().filter_map(|need| stops.at(need)).min_by(|a, b| a.holds_ms.total_cmp(&b.holds_ms));
    let Some(holds_ms) = least.filter(|at| at.fits() && at.holds_ms > stops.longest_ms).map(|at| at.holds_ms) else {
        return String::new();
    };
    let (streamed, holds, every) =
        (duration(stops.streamed_s), time(holds_ms * 1e-3), duration(stops.streamed_s / NONE_SEEN));
    format!(
        "no stop in {streamed} exceeded the {holds} that the buffers hold. Longer ones could still occur up to every {every} \
         (95 % confidence)"
    )
}

/// Says what an ordinary user can't see, and which cores nobody looked at, a sentence each.
pub(super) fn blind(stops: &Stops) -> Vec<String> {
    let mut words = stops.unseen.clone();
    if !stops.real_time && !stops.cores.is_empty() {
        words.push(format!(
            "without real-time priority takt does not see threads that wait less than {} for a core; to see them, run it as root",
            time(ORDINARY_QUEUE.as_secs_f64())
        ));
    }
    words
}

#[cfg(test)]
mod tests {
    use super::super::testing::{need, point, round};
    use super::*;

    fn stopped_by(by: Cause, lengths_ms: &[f64]) -> RatePoint {
        let stops = lengths_ms.iter().map(|&ms| StopSeen { ms, by, radio_too: true }).collect();
        let watched = Watched { cores: vec![0], real_time: true, ..Watched::default() };
        let round = RateRound {
            stops: Some(stops),
            watched: Some(watched),
            rx_holds_ms: Some(42.0),
            tx_holds_ms: Some(10.0),
            ..round()
        };
        point(Mode::Duplex, 25e6, vec![round])
    }

    fn stopped(lengths_ms: &[f64]) -> RatePoint {
        stopped_by(Cause::Machine, lengths_ms)
    }

    #[test] // it was -0.0
    fn where_no_stop_is_too_long_zero_milliseconds_are_lost() {
        let stops = stops(&[stopped(&[1.5])], &[]).unwrap();
        let document = serde_json::to_value(&stops.at[0]).unwrap();
        assert_eq!(document["lost_ms"].to_string(), "0.0");
    }

    #[test]
    fn a_stop_that_no_buffer_outlasts_foretells_loss() {
        let stops = stops(&[stopped(&[1.5, 12.0]), stopped_by(Cause::NotKnown, &[11.0])], &[]).unwrap();
        assert_eq!((stops.count, stops.longest_ms, stops.streamed_s), (3, 12.0, 2.0));
        let at = &stops.at[0];
        assert_eq!((at.longer, at.holds_ms, at.lost_ms), (2, 10.0, 3.0), "the radio's buffer is the smaller");
        assert!(!at.fits() && stops.worst() == Some(Cause::Machine));
        assert_eq!(
            words(&stops, &[need()])[..2],
            [
                "this machine stood still 3 times in 2 s of streaming, for up to 12 ms: 2 times by the hypervisor (up to \
                 12 ms) and once by an unknown cause (up to 11 ms)",
                "a real radio does not stop: the buffers hold 10 ms of 25 + 25 MS/s sc16, so 2 stops would lose 3 ms of \
                 samples",
            ]
        );
    }

    #[test]
    fn room_to_spare_is_part_of_what_must_fit() {
        assert_eq!([0.0, 5.0, 7.5, 20.0].map(wanted_ms), [0.0, 7.0, 10.5, 23.0]);
        let at = |lengths: &[f64]| stops(&[stopped(lengths)], &[]).unwrap().at[0].clone();
        assert_eq!([&[7.1][..], &[7.2], &[]].map(|lengths| at(lengths).fits()), [true, false, true]);
        let tight = stops(&[stopped(&[9.0])], &[]).unwrap();
        assert_eq!(
            words(&tight, &[need()])[1],
            "the buffers hold 10 ms of 25 + 25 MS/s sc16, less than 12 ms: the longest stop of 9 ms with room to spare"
        );
    }

    #[test]
    fn how_long_was_looked_is_part_of_the_answer() {
        let others = Looked { seconds: 35.0, stops: Vec::new() };
        let none = stops(&[stopped(&[])], std::slice::from_ref(&others)).unwrap();
        assert_eq!((none.count, none.at[0].margin), (0, None));
        let said = words(&none, &[need()]);
        assert_eq!(said[0], "takt saw no stop of 1 ms or more on core 0 and the emulator's core in 36 s of streaming");
        assert!(
            said[2].starts_with(
                "no stop in 36 s exceeded the 10 ms that the buffers hold. Longer ones could still occur up to every 12 s \
                 (95 % confidence); to look longer, run"
            ),
            "{said:?}"
        );
        let fits = words(&stops(&[stopped(&[2.5])], &[others]).unwrap(), &[need()]);
        assert!(fits[1].ends_with("hold 10 ms of 25 + 25 MS/s sc16, 4 times the longest stop"), "{fits:?}");
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
    fn an_ordinary_user_is_told_what_stays_unseen() {
        let mut seen = stops(&[stopped(&[])], &[]).unwrap();
        assert!(blind(&seen).is_empty());
        seen.real_time = false;
        assert!(blind(&seen)[0].contains("less than 5 ms for a core"));
    }

    #[test]
    fn a_radio_that_is_not_ours_reports_nothing_of_this_machine() {
        assert_eq!(stops(&[point(Mode::Rx, 1e6, vec![round()])], &[]), None);
    }
}
