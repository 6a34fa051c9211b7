//! The count of received samples, against a span of the device's clock.

use std::time::Duration;

use takt_base::{MonoNs, Tick, Ticks};
use takt_radio::RxStream;

use crate::{RxCounts, RxSeen, SoapyRx};

/// Gaps whose times are kept.
const MOST_GAPS: usize = 1000;

/// Counts one channel of a receive stream against a span of the device's clock.
#[derive(Clone, Debug)]
pub(crate) struct Meter {
    from: Tick,
    /// The sample after the last.
    to: Tick,
    rate_sps: f64,
    /// When the first block of the span had been read, and the sample after it.
    pub(crate) begun: MonoNs,
    begun_at: Option<Tick>,
    at: Tick,
    delivered: u64,
    lost: u64,
    gaps: u64,
    /// The first gaps, each from the first missing sample to the next that came.
    first_gaps: Vec<[Tick; 2]>,
    /// The least in the last quarter of the span, seconds.
    behind_s: Option<f64>,
    base: RxSeen,
}

impl Meter {
    /// `base`: what the stream had seen before.
    pub(crate) fn new(rate_sps: f64, from: Tick, duration: Duration, now: MonoNs, base: RxSeen) -> Meter {
        let samples = (duration.as_secs_f64() * rate_sps).round() as u64;
        Meter {
            from,
            to: from + Ticks(samples.max(1)),
            rate_sps,
            begun: now,
            begun_at: None,
            at: from,
            delivered: 0,
            lost: 0,
            gaps: 0,
            first_gaps: Vec::new(),
            behind_s: None,
            base,
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.at >= self.to
    }

    /// The number of samples in the span, out of `samples` samples, the first at `first`.
    fn within(&self, first: Tick, samples: u64) -> u64 {
        let clipped = |tick: Tick| tick.clamp(self.from, self.to).0;
        clipped(first + Ticks(samples)) - clipped(first)
    }

    pub(crate) fn deliver(&mut self, first: Tick, samples: u64, now: MonoNs) {
        self.delivered += self.within(first, samples);
        self.at = first + Ticks(samples);
        let begun_at = *self.begun_at.get_or_insert(self.at);
        if self.at.0 >= self.to.0 - (self.to - self.from).0 / 4 {
            let due_s = now.saturating_since(self.begun).as_secs_f64();
            let behind_s = (due_s - (self.at - begun_at).0 as f64 / self.rate_sps).max(0.0);
            self.behind_s = Some(self.behind_s.map_or(behind_s, |least| least.min(behind_s)));
        }
    }

    pub(crate) fn lose(&mut self, samples: u64) {
        let within = self.within(self.at, samples);
        self.lost += within;
        self.gaps += u64::from(within > 0);
        if within > 0 && self.first_gaps.len() < MOST_GAPS {
            self.first_gaps.push([self.at, self.at + Ticks(samples)]);
        }
        self.at += Ticks(samples);
    }

    /// The counts of a round; `meter` is `None` if no sample came after the warm-up. A round that was stopped ends where it stood.
    pub(crate) fn close(meter: Option<Meter>, rx: &SoapyRx, is_stopped: bool, now: MonoNs) -> RxCounts {
        let (channels, seen) = (rx.channels() as u64, rx.seen());
        let counts = RxCounts {
            rate_sps: rx.rate_sps(),
            channels: rx.channels(),
            mtu_samples: rx.mtu(),
            time_stamps: rx.time_stamps(),
            timeouts: seen.timeouts,
            ..RxCounts::default()
        };
        let Some(mut meter) = meter else { return counts };
        if is_stopped {
            meter.to = meter.to.min(meter.at.max(meter.from));
        }
        let known = |samples: u64| rx.shows_losses().then_some(samples);
        let tail = (meter.to - meter.at).0;
        let overflows = seen.overflows - meter.base.overflows;
        let seconds = now.saturating_since(meter.begun).as_secs_f64();
        let timed = meter.delivered_after_first();
        RxCounts {
            samples: meter.delivered * channels,
            expected_samples: known((meter.delivered + meter.lost + tail) * channels),
            dropped: known((meter.lost + tail) * channels),
            tail_samples: known(tail * channels),
            gaps: known(meter.gaps),
            gaps_ns: meter.first_gaps.iter().map(|gap| gap.map(|tick| rx.ns_at(tick))).collect(),
            span_ns: rx.shows_losses().then(|| [meter.from, meter.to].map(|tick| rx.ns_at(tick))),
            overflows: known(overflows).or(Some(overflows).filter(|overflows| *overflows > 0)),
            stream_errors: seen.stream_errors - meter.base.stream_errors,
            restarts: seen.restarts - meter.base.restarts,
            timeouts: seen.timeouts - meter.base.timeouts,
            measured_sps: (timed > 0 && seconds > 0.0).then(|| timed as f64 / seconds),
            behind_s: meter.behind_s,
            ..counts
        }
    }

    /// Samples of the span that came after its first block, with which this host's time began to count.
    fn delivered_after_first(&self) -> u64 {
        let first = self.begun_at.map_or(0, |begun_at| self.within(self.from, (begun_at - self.from).0));
        self.delivered.saturating_sub(first)
    }
}
