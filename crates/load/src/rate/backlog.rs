//! How far the reader is behind the radio, through a round.
//!
//! A reader that is too slow by a constant factor loses nothing until the receive buffer is full, which may be long after
//! the round. Its backlog grows all the while. A reader that is fast enough and was stopped for a moment has a backlog that
//! shrinks again. The *least* backlog of each sixteenth of the round separates the two. A stop leaves it alone wherever
//! the reader has caught up, and a steady deficit makes it rise all along. The slope through the sixteen is Theil's and
//! Sen's, the median of the slopes between all pairs, which four outliers of sixteen do not move.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use takt_base::MonoNs;
use takt_stats::theil_sen;

const PARTS: usize = 16;
/// Parts in which something must have been read before a slope is given.
const PARTS_ENOUGH: usize = 8;
/// A backlog grows if its slope is at least this (seconds a second: the share of the stream that the reader lacks), ...
const GROWING_SLOPE: f64 = 0.005;
/// ... and it grew by at least this from the first part to the last: more than samples may wait to be fetched together.
const GROWING_BY: Duration = Duration::from_millis(4);

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Backlog {
    /// The least in each sixteenth of the measured part, nanoseconds; `None`: nothing was read in it.
    pub least_ns: Vec<Option<u64>>,
    pub largest_ns: u64,
    /// When the measured part ended, nanoseconds: what was still to be read.
    pub at_end_ns: u64,
    /// Slope, seconds a second: the share of the stream by which the reader is too slow. `None`: too little was read.
    pub slope: Option<f64>,
    /// It grew all along: the reader is too slow, and loses samples as soon as the receive buffer is full.
    pub growing: bool,
    /// It had not caught up at the end: it was further behind than half of what the receive buffer holds, or too little was
    /// read to say whether its backlog grew; and what was left took it longer to read than the radio to send.
    pub stuck: bool,
    /// Time until the receive buffer is full at that slope, from empty, seconds; `None` unless it grows.
    pub time_to_loss_s: Option<f64>,
}

/// Notes a backlog at every read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Recorder {
    from: MonoNs,
    to: MonoNs,
    least_ns: [Option<u64>; PARTS],
    largest_ns: u64,
}

impl Recorder {
    pub(super) fn new(from: MonoNs, to: MonoNs) -> Recorder {
        Recorder { from, to, least_ns: [None; PARTS], largest_ns: 0 }
    }

    /// At `now` the reader is so far behind.
    pub(super) fn note(&mut self, now: MonoNs, behind: Duration) {
        let span_ns = self.to.0.saturating_sub(self.from.0).max(1);
        if now < self.from || now >= self.to {
            return;
        }
        let part = u128::from(now.0 - self.from.0) * PARTS as u128 / u128::from(span_ns);
        let behind_ns = u64::try_from(behind.as_nanos()).unwrap_or(u64::MAX);
        if let Some(least) = self.least_ns.get_mut(part as usize) {
            *least = Some(least.map_or(behind_ns, |least| least.min(behind_ns)));
        }
        self.largest_ns = self.largest_ns.max(behind_ns);
    }

    /// The round's backlog. `at_end`: how far the reader was behind when the measured part ended; `rest`: how long it
    /// then took to read that; `buffer_s`: time of this stream that the receive buffer holds.
    pub(super) fn end(&self, at_end: Duration, rest: Duration, buffer_s: f64) -> Backlog {
        let at_end_ns = u64::try_from(at_end.as_nanos()).unwrap_or(u64::MAX);
        let part_s = (self.to.0.saturating_sub(self.from.0)) as f64 / 1e9 / PARTS as f64;
        let parts = self.least_ns.iter().enumerate();
        let points: Vec<(f64, f64)> =
            parts.filter_map(|(part, least)| Some((part as f64 * part_s, (*least)? as f64 / 1e9))).collect();
        let slope = theil_sen(&points).filter(|_| points.len() >= PARTS_ENOUGH);
        let grown_s = slope.map_or(0.0, |slope| slope * part_s * (PARTS - 1) as f64);
        let growing = slope.is_some_and(|slope| slope >= GROWING_SLOPE) && grown_s >= GROWING_BY.as_secs_f64();
        let behind = at_end >= GROWING_BY && rest >= at_end;
        let stuck = behind && (points.len() < PARTS_ENOUGH || at_end.as_secs_f64() > buffer_s / 2.0);
        Backlog {
            stuck,
            least_ns: self.least_ns.to_vec(),
            largest_ns: self.largest_ns.max(at_end_ns),
            at_end_ns,
            slope,
            growing,
            time_to_loss_s: slope.filter(|_| growing).map(|slope| buffer_s / slope),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROUND: Duration = Duration::from_secs(1);

    /// A round of a second, read every millisecond; `behind` says how far the reader then is, from the time in seconds.
    fn round(behind: impl Fn(f64) -> f64) -> Backlog {
        let mut recorder = Recorder::new(MonoNs(0), MonoNs(0) + ROUND);
        for ms in 0..1000_u64 {
            let at_s = ms as f64 / 1e3;
            recorder.note(MonoNs(ms * 1_000_000), Duration::from_secs_f64(behind(at_s).max(0.0)));
        }
        let at_end = Duration::from_secs_f64(behind(1.0).max(0.0));
        recorder.end(at_end, at_end, 0.4)
    }

    /// Samples that wait to be fetched together: up to 2 ms, a saw tooth.
    fn gathering(at_s: f64) -> f64 {
        (at_s * 1e3 % 2.0) / 1e3
    }

    #[test]
    fn a_deficit_of_one_per_cent_is_seen_and_measured_in_a_second() {
        for deficit in [0.01, 0.02, 0.1, 0.36] {
            let backlog = round(|at_s| deficit * at_s + gathering(at_s));
            let slope = backlog.slope.unwrap();
            assert!(backlog.growing && (slope / deficit - 1.0).abs() < 0.05, "{deficit}: {backlog:?}");
            assert!((backlog.time_to_loss_s.unwrap() * deficit / 0.4 - 1.0).abs() < 0.05);
        }
    }

    #[test]
    fn a_reader_that_keeps_up_has_a_backlog_that_does_not_grow() {
        assert!(!round(gathering).growing);
        assert!(!round(|_| 0.018).growing, "a constant one is no deficit");
        assert!(!round(|at_s| 0.1 - 0.1 * at_s).growing, "nor is one that shrinks");
    }

    /// A stop of 60 ms, wherever it falls, the last moment included; the reader then catches up at twice the rate.
    #[test]
    fn a_stop_is_no_deficit() {
        for stop_s in [0.0, 0.3, 0.62, 0.9, 0.95] {
            let behind = |at_s: f64| {
                let since = at_s - stop_s;
                let owed = if since < 0.0 { 0.0 } else { since.min(0.06) - (since - 0.06).max(0.0) };
                owed.max(0.0) + gathering(at_s)
            };
            assert!(!round(behind).growing, "a stop at {stop_s} s: {:?}", round(behind));
        }
    }

    #[test]
    fn too_little_read_has_no_slope() {
        let mut recorder = Recorder::new(MonoNs(0), MonoNs(0) + ROUND);
        for part in 0..7 {
            recorder.note(MonoNs(part * 62_500_000), Duration::from_millis(part * 20));
        }
        let ms = Duration::from_millis;
        let backlog = recorder.end(ms(500), ms(501), 0.4);
        assert_eq!((backlog.slope, backlog.growing, backlog.at_end_ns), (None, false, 500_000_000));
        assert!(backlog.stuck, "and a reader that was away to the end has not kept up");
        assert!(!recorder.end(ms(500), ms(120), 0.4).stuck, "one that catches up as soon as it is let has");
        assert!(!recorder.end(ms(3), ms(3), 0.4).stuck, "one that has caught up has");
    }

    /// Flat until it is stopped, for longer than half of its buffer, to the end.
    #[test]
    fn a_stop_that_lasts_to_the_end_is_seen_if_the_buffer_could_not_have_held_much_more() {
        let behind = |stop_s: f64| move |at_s: f64| (at_s - stop_s).max(0.0) + gathering(at_s);
        assert!(round(behind(0.7)).stuck, "300 ms of 400");
        assert!(!round(behind(0.9)).stuck, "100 ms of 400");
    }
}
