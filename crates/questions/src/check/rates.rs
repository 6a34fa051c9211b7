//! From the rounds of one rate to its figures, and from all rates of a mode to how far it goes.

use takt_stats::{Estimate, clean_rounds, mean};

use super::{Format, HighestClean, Mode, RatePoint, RateRound, RoundState};
use takt_lab::nodes;

/// Level of every interval of a check.
pub(crate) const LEVEL: f64 = 0.95;

/// The figures of a rate: only rounds that count go in.
#[must_use]
pub fn point(mode: Mode, format: Format, rate_sps: f64, rounds: Vec<RateRound>, skipped: Option<String>) -> RatePoint {
    let counted: Vec<&RateRound> = rounds.iter().filter(|round| round.state == RoundState::Valid).collect();
    let clean = counted.iter().filter(|round| round.clean).count();
    // The point does not show more than each of its rounds.
    let of = |figure: fn(&RateRound) -> Option<f64>| {
        mean(&counted.iter().map(|round| figure(round)).collect::<Option<Vec<_>>>()?, LEVEL)
    };
    let busiest: Vec<f64> = counted.iter().filter_map(|round| Some(round.busiest_thread.as_ref()?.1)).collect();
    RatePoint {
        mode,
        format,
        rate_sps,
        counted: counted.len(),
        clean,
        unclean_share_upper: unclean_share_upper(counted.len(), clean),
        rx_lost_share: of(|round| round.rx_lost_share).filter(|_| mode != Mode::Tx),
        tx_lost_share: of(|round| round.tx_lost_share).filter(|_| mode != Mode::Rx),
        cpu_host: of(|round| Some(round.cpu_host)),
        busiest_thread: mean(&busiest, LEVEL),
        rounds,
        skipped,
    }
}

/// True share of rounds that may be unclean after so many clean ones (95 %, one-sided); 1 after none.
pub(super) fn unclean_share_upper(counted: usize, clean: usize) -> f64 {
    let bound = clean_rounds(counted, counted - clean, LEVEL);
    bound.map_or(1.0, |bound| bound.up_to)
}

/// How far each mode and format goes, by rates in ascending order.
#[must_use]
pub fn highest(points: &[RatePoint]) -> Vec<HighestClean> {
    let mut series: Vec<(Mode, Format)> = points.iter().map(|point| (point.mode, point.format)).collect();
    series.sort_unstable_by_key(|&(mode, format)| (format, mode));
    series.dedup();
    series.into_iter().map(|(mode, format)| highest_of(points, mode, format)).collect()
}

fn highest_of(points: &[RatePoint], mode: Mode, format: Format) -> HighestClean {
    let mut series: Vec<&RatePoint> = points.iter().filter(|p| (p.mode, p.format) == (mode, format)).collect();
    series.sort_by(|a, b| a.rate_sps.total_cmp(&b.rate_sps));
    // Rates of which no round counts say nothing either way, nor do those that lost samples only while the radio was late.
    let judged: Vec<&RatePoint> = series.iter().copied().filter(|point| point.counted > 0 && !is_open(point)).collect();
    let top = judged.iter().take_while(|point| holds(point)).last().copied();
    let first_failing = judged.iter().find(|point| !holds(point)).map(|point| point.rate_sps);
    let above = |rate: f64| top.is_none_or(|top| rate > top.rate_sps) && first_failing.is_none_or(|first| rate < first);
    let open = |point: &RatePoint| is_open(point) || (point.counted == 0 && point.skipped.is_none());
    let open_above = series.iter().any(|point| open(point) && above(point.rate_sps));
    HighestClean {
        mode,
        format,
        rate_sps: top.map(|point| point.rate_sps),
        counted: top.map_or(0, |point| point.counted),
        unclean_share_upper: top.map_or(1.0, |point| point.unclean_share_upper),
        first_failing_sps: first_failing,
        open_above,
        headroom: top.and_then(headroom),
    }
}

/// Clean in every round that counts, and at least one does, with a radio that ran in real time.
pub(super) fn holds(point: &RatePoint) -> bool {
    point.counted > 0 && point.clean == point.counted && other_speed(point).is_none()
}

/// The speed of the radio in a round that counts, if that was not the wall's.
pub(super) fn other_speed(point: &RatePoint) -> Option<f64> {
    let counted = point.rounds.iter().filter(|round| round.state == RoundState::Valid);
    counted.filter_map(|round| round.radio_speed).find(|speed| *speed != 1.0)
}

/// The same, if it leaves open what this host does in real time. A radio in real time would also have lost what a slow one
/// lost by this host's own doing.
pub(super) fn open_speed(point: &RatePoint) -> Option<f64> {
    other_speed(point).filter(|speed| *speed > 1.0 || own_clean(point) == point.counted)
}

/// Rounds that count and in which nothing went wrong by this host's own doing.
pub(super) fn own_clean(point: &RatePoint) -> usize {
    point.rounds.iter().filter(|round| round.state == RoundState::Valid && round.own_clean).count()
}

/// Share of what was streamed at a rate that is set aside, 0 to 1: whole rounds that do not count for what else ran, and spans
/// of those that do. A round that could not be run streamed nothing.
pub(super) fn set_aside_share(point: &RatePoint) -> f64 {
    let of = |round: &RateRound| match round.state {
        RoundState::Valid => Some(round.excluded_share),
        RoundState::EmulatorLate | RoundState::Disturbed => Some(1.0),
        _ => None,
    };
    let shares: Vec<f64> = point.rounds.iter().filter_map(of).collect();
    nodes::mean(&shares).unwrap_or_default()
}

/// Not clean, but nothing of it is surely this host's own doing; or a radio of another speed says nothing of real time.
fn is_open(point: &RatePoint) -> bool {
    open_speed(point).is_some() || (point.clean < point.counted && own_clean(point) == point.counted)
}

/// A core over what the busiest thread takes of one: how much faster before a core is full, if cost grows with the rate.
fn headroom(point: &RatePoint) -> Option<Estimate> {
    point.busiest_thread?.map(|share| 1.0 / share)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{lossy, point, round, unclean};
    use super::*;

    fn emulator_late() -> RateRound {
        unclean(RoundState::EmulatorLate)
    }

    #[test]
    fn only_rounds_that_count_make_the_figures() {
        let point = point(Mode::Rx, 5e6, vec![round(), lossy(), emulator_late(), round()]);
        assert_eq!((point.counted, point.clean), (3, 2));
        let lost = point.rx_lost_share.unwrap();
        assert!((lost.point() - 0.2 / 3.0).abs() < 1e-12 && lost.n() == 3);
        assert_eq!(point.tx_lost_share, None, "nothing was sent");
    }

    #[test]
    fn three_clean_rounds_leave_up_to_63_per_cent_possible() {
        assert!((unclean_share_upper(3, 3) - 0.6316).abs() < 1e-4, "1 - 0.05^(1/3)");
        assert!(unclean_share_upper(0, 0) == 1.0);
        assert!(unclean_share_upper(3, 2) > unclean_share_upper(3, 3));
    }

    #[test]
    fn the_highest_clean_rate_is_the_last_before_the_first_that_is_not() {
        let clean = |rate| point(Mode::Rx, rate, vec![round(), round()]);
        let points = [clean(10e6), point(Mode::Rx, 20e6, vec![round(), lossy()]), clean(5e6), clean(25e6)];
        let highest = &highest(&points)[0];
        assert_eq!((highest.rate_sps, highest.first_failing_sps), (Some(10e6), Some(20e6)));
        assert!(!highest.open_above, "the next one was measured and failed; that 25 MS/s was clean is luck");
    }

    #[test]
    fn a_rate_that_could_not_be_judged_leaves_it_open() {
        let points = [point(Mode::Rx, 5e6, vec![round()]), point(Mode::Rx, 10e6, vec![emulator_late()])];
        let highest = &highest(&points)[0];
        assert_eq!((highest.rate_sps, highest.first_failing_sps, highest.open_above), (Some(5e6), None, true));
        let lower = [point(Mode::Rx, 5e6, vec![emulator_late()]), point(Mode::Rx, 10e6, vec![round()])];
        let highest = &super::highest(&lower)[0];
        assert_eq!((highest.rate_sps, highest.open_above), (Some(10e6), false), "a lower one says nothing against it");
        let none = &super::highest(&[point(Mode::Rx, 1e6, vec![lossy()])])[0];
        assert_eq!((none.rate_sps, none.first_failing_sps, none.unclean_share_upper), (None, Some(1e6), 1.0));
    }

    #[test]
    fn what_was_clean_at_another_speed_holds_nowhere_and_is_the_highest_of_nothing() {
        let at = |speed, of: RateRound| RateRound { radio_speed: Some(speed), ..of };
        for speed in [0.1, 2.0] {
            let slow = point(Mode::Rx, 25e6, vec![at(speed, round()), at(1.0, round())]);
            assert!(!holds(&slow) && is_open(&slow), "{speed}");
            let highest = &highest(&[point(Mode::Rx, 5e6, vec![at(1.0, round())]), slow])[0];
            assert_eq!((highest.rate_sps, highest.open_above), (Some(5e6), true));
        }
        let lost = |speed| is_open(&point(Mode::Rx, 25e6, vec![at(speed, lossy())]));
        assert_eq!([0.1, 1.0, 2.0].map(lost), [false, false, true], "too fast even for a slow radio");
        assert!(holds(&point(Mode::Rx, 25e6, vec![round()])), "hardware does not say");
    }

    #[test]
    fn headroom_is_a_core_over_the_busiest_thread() {
        let busy = |share| RateRound { busiest_thread: Some(("rx".into(), share)), ..round() };
        let points = [point(Mode::Rx, 25e6, vec![busy(0.24), busy(0.25), busy(0.26)])];
        let headroom = highest(&points)[0].headroom.unwrap();
        assert!((headroom.point() - 4.0).abs() < 1e-9 && headroom.low() < 4.0);
    }
}
