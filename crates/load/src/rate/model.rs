//! A round of receiving as arithmetic: a stream, a receive buffer, and a reader whose core others use too. It feeds the same
//! accounts as a real round, at a millionth of the cost, so that thousands of hosts can be judged.

use std::time::Duration;

use takt_base::{MonoNs, Tick};

use super::account::{Account, Place, Span};
use super::backlog::Recorder;
use super::{CALL_DATAGRAMS, RateOutcome, Rx};
use crate::Every;

const SAMPLES: u64 = 362;
const WARM_UP_NS: u64 = 200_000_000;
const ROUND_NS: u64 = 800_000_000;
/// Samples that wait for each other, at most: as many as a quarter of the buffer holds.
const COALESCE_NS: u64 = 2_000_000;

#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// Ticks of 10 ns from sample to sample.
    pub step: u64,
    /// CPU time that a datagram takes, over the time in which one comes: 1 would fill a core.
    pub load: f64,
    /// When the core is another's.
    pub away: Option<Every>,
    /// By how much of its period that is shifted, 0 to 1.
    pub phase: f64,
    /// Datagrams that the receive buffer holds.
    pub buffer_datagrams: u64,
}

/// Fate of the samples, whatever the accounts say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Truth {
    /// Datagrams of the measured part that found the buffer full.
    pub dropped: u64,
    /// The core that is left is less than the stream takes.
    pub too_slow: bool,
}

impl Host {
    fn datagram_ns(&self) -> u64 {
        SAMPLES * self.step * 10
    }

    /// Share of the core that is left.
    pub fn left(&self) -> f64 {
        self.away.map_or(1.0, |away| 1.0 - away.share())
    }

    /// When work of so many nanoseconds is done that begins at `now`.
    fn done(&self, now: u64, mut work: u64) -> u64 {
        let Some(away) = self.away else { return now + work };
        let (taken, period) = (away.taken.as_nanos() as u64, away.period.as_nanos() as u64);
        let shift = (self.phase * period as f64) as u64;
        let mut at = now;
        loop {
            let in_period = (at + shift) % period;
            if in_period < taken {
                at += taken - in_period;
                continue;
            }
            let left = period - in_period;
            if work <= left {
                return at + work;
            }
            work -= left;
            at += left;
        }
    }
}

/// Runs of datagrams that lie in the buffer: the first, and how many.
#[derive(Default)]
struct Queue {
    runs: Vec<(u64, u64)>,
    queued: u64,
}

impl Queue {
    fn put(&mut self, first: u64, count: u64) {
        match self.runs.last_mut() {
            Some((begin, length)) if *begin + *length == first => *length += count,
            _ => self.runs.push((first, count)),
        }
        self.queued += count;
    }

    fn take(&mut self, mut most: u64) -> Vec<(u64, u64)> {
        let mut taken = Vec::new();
        while let (Some(run), true) = (self.runs.first_mut(), most > 0) {
            let count = run.1.min(most);
            taken.push((run.0, count));
            *run = (run.0 + count, run.1 - count);
            (most, self.queued) = (most - count, self.queued - count);
            if run.1 == 0 {
                self.runs.remove(0);
            }
        }
        taken
    }
}

/// A clean round of no samples.
pub(super) fn clean() -> RateOutcome {
    RateOutcome { wall_s: 1.0, complete: true, clean: true, ..RateOutcome::default() }
}

pub fn round(host: &Host) -> (RateOutcome, Truth) {
    let each = host.datagram_ns();
    let tick = |ns: u64| Tick(ns / 10 / host.step * host.step);
    let span = Span { from: tick(WARM_UP_NS), to: tick(WARM_UP_NS + ROUND_NS), step: host.step };
    let (from, to) = (MonoNs(span.from.0 * 10), MonoNs(span.to.0 * 10));
    let (mut account, mut backlog) = (Account::new(Tick(0), span), Recorder::new(from, to));
    let (mut queue, mut arrived, mut now, mut dropped, mut gaps) = (Queue::default(), 0_u64, 0_u64, 0_u64, 0_u64);
    let mut at_end = None; // how far behind, and when
    let end = to.0;
    // The radio sends whole datagrams, until the measured part is complete.
    let last = end.div_ceil(each) * each;
    loop {
        // Datagrams that have come by now.
        let come = now.min(last) / each;
        let room = host.buffer_datagrams.saturating_sub(queue.queued).min(come - arrived);
        if room > 0 {
            queue.put(arrived, room);
        }
        dropped += (arrived + room..come).filter(|n| n * each >= from.0).count() as u64;
        arrived = come;
        if now >= end && at_end.is_none() {
            at_end = Some([end - (account.at.0 * 10).min(end), now]);
        }
        let enough = queue.queued >= CALL_DATAGRAMS as u64 || now >= last;
        let runs = queue.take(CALL_DATAGRAMS as u64);
        if runs.is_empty() && now >= last {
            break;
        }
        let count: u64 = runs.iter().map(|run| run.1).sum();
        now = host.done(now, (count as f64 * each as f64 * host.load) as u64);
        for (first, count) in runs {
            let first_tick = Tick(first * SAMPLES * host.step);
            let missing = (first_tick.0 - account.at.0) / host.step;
            if missing > 0 {
                gaps += u64::from(account.lose(missing, Place::Way) > 0);
            }
            account.deliver(first_tick, count * SAMPLES);
            backlog.note(MonoNs(now), Duration::from_nanos(now.saturating_sub(account.at.0 * 10)));
        }
        if !enough {
            now = host.done(now + COALESCE_NS.min(host.buffer_datagrams * each / 4), 0);
        }
    }
    let [behind, since] = at_end.unwrap_or_default();
    let [behind, rest] = [behind, now - since].map(Duration::from_nanos);
    let closed = account.close();
    let buffer_s = host.buffer_datagrams as f64 * each as f64 / 1e9;
    let mut outcome = clean();
    outcome.rx = Rx {
        samples: closed.delivered,
        dropped: closed.lost.all(),
        expected_samples: closed.samples,
        sequence_errors: gaps + u64::from(closed.lost.tail > 0),
        span_ticks: [span.from.0, span.to.0],
        backlog: backlog.end(behind, rest, buffer_s),
        samples_per_datagram: SAMPLES as usize,
        recv_buffer_s: buffer_s,
        ..Rx::default()
    };
    outcome.options.rx_sps = Some(1e8 / host.step as f64);
    outcome.judge();
    (outcome, Truth { dropped, too_slow: host.load > host.left() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(load: f64, away: Option<&str>, buffer_ms: u64) -> Host {
        let away = away.map(|text| text.parse().unwrap());
        let host = Host { step: 4, load, away, phase: 0.3, buffer_datagrams: 0 };
        Host { buffer_datagrams: buffer_ms * 1_000_000 / host.datagram_ns(), ..host }
    }

    #[test]
    fn a_core_with_room_loses_nothing_and_one_without_loses_the_rest() {
        let (outcome, truth) = round(&host(0.4, Some("2ms every 10ms"), 40));
        assert_eq!((truth, outcome.rx.dropped, outcome.clean), (Truth::default(), 0, true), "{:?}", outcome.rx.backlog);
        let (outcome, truth) = round(&host(0.4, Some("8ms every 10ms"), 10));
        assert!(truth.too_slow && truth.dropped > 0 && !outcome.clean);
        assert_eq!(outcome.rx.samples + outcome.rx.dropped, outcome.rx.expected_samples);
        let lost = outcome.rx.dropped as f64 / outcome.rx.expected_samples as f64;
        assert!((lost - 0.5).abs() < 0.02, "half of what it takes is left: {lost}");
    }

    #[test]
    fn a_stop_longer_than_the_buffer_loses_what_it_does_not_hold() {
        let (outcome, truth) = round(&host(0.2, Some("50ms every 1s"), 20));
        let lost_ns = outcome.rx.dropped * 40;
        assert!(!truth.too_slow && (29_000_000..31_000_000).contains(&lost_ns), "{lost_ns} ns");
        assert!(outcome.rx.dropped.abs_diff(truth.dropped * SAMPLES) < SAMPLES, "{truth:?}");
    }
}
