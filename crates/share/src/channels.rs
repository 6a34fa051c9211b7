//! Reception by blocks: one transform of the wide band for all radios, and a short one for each.
//!
//! A receive DSP says which samples it wants (rate, grid, frequency), and gets them from a channel of the shared
//! [`BandSplitter`] once there is one. Until then, and where a channel would cost more, it cuts its band out of the wide
//! samples itself: the same signal, at a higher price. Both are exact in time and phase.
//!
//! ```text
//!  DSP ── want ──> Handoff <── wanted ── Channels ── open ──> BandSplitter
//!  DSP <── ring of narrow samples, if they cover ─────────────────┘
//! ```

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::atomic::{AtomicU32, AtomicU64};

use takt_base::{Complex32, Tick, Ticks};
use takt_dsp::shared_band::{BandMethod, BandPlan, BandSplitter, ChannelKey, NarrowBand, WideBand};
use takt_dsp::{HALF_SPAN, MAX_STEP, Rotation};
use takt_emulator::loopback::{self, LoopbackSink, LoopbackSource};
use takt_emulator::n200::CLOCK;
use takt_emulator::sink::{BurstEdges, Sink};

use crate::file::{MOST_RADIOS, RadioPlan, SharePlan};

/// Narrow samples that are kept for a DSP.
const CAPACITY: usize = 1 << 15;
/// The furthest that any filter reaches.
const LONGEST_SPAN: u64 = HALF_SPAN as u64 * MAX_STEP as u64;

/// Samples that a DSP takes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Wish {
    pub(crate) step: u32,
    /// Tick of a sample, modulo the step.
    pub(crate) phase: u32,
    pub(crate) centre_hz: f64,
}

/// Wish of a DSP, and state of its channel. One thread uses both sides; atomics only since a device's ends must be
/// `Send`.
#[derive(Debug, Default)]
pub(crate) struct Handoff {
    wanted: Words,
    /// Until when it has received.
    wanted_until: AtomicU64,
    had: Words,
    /// The first tick that the channel has, and the one behind its last.
    from: AtomicU64,
    until: AtomicU64,
    /// How far the wide samples must be ahead.
    delay: AtomicU64,
}

/// A [`Wish`], or none while the step is 0.
#[derive(Debug, Default)]
struct Words {
    step: AtomicU32,
    phase: AtomicU32,
    centre_hz: AtomicU64,
}

impl Words {
    fn set(&self, wish: Option<Wish>) {
        self.step.store(wish.map_or(0, |wish| wish.step), Relaxed);
        if let Some(Wish { phase, centre_hz, .. }) = wish {
            self.phase.store(phase, Relaxed);
            self.centre_hz.store(centre_hz.to_bits(), Relaxed);
        }
    }

    fn get(&self) -> Option<Wish> {
        let (step, phase) = (self.step.load(Relaxed), self.phase.load(Relaxed));
        (step > 0).then(|| Wish { step, phase, centre_hz: f64::from_bits(self.centre_hz.load(Relaxed)) })
    }
}

impl Handoff {
    /// These samples are being received.
    pub(crate) fn want(&self, wish: Wish, until: Tick) {
        self.wanted.set(Some(wish));
        self.wanted_until.store(until.0, Relaxed);
    }

    /// Whether the channel has all samples from `first` to the one before `end`.
    pub(crate) fn covers(&self, wish: Wish, first: Tick, end: Tick) -> bool {
        self.had.get() == Some(wish) && self.from.load(Relaxed) <= first.0 && end.0 <= self.until.load(Relaxed)
    }

    /// How far the wide samples must be ahead of these; nothing without a channel.
    pub(crate) fn delay(&self, wish: Wish) -> Ticks {
        Ticks(if self.had.get() == Some(wish) { self.delay.load(Relaxed) } else { 0 })
    }

    fn opened(&self, wish: Option<Wish>, delay: Ticks) {
        self.had.set(wish);
        self.delay.store(delay.0, Relaxed);
        self.from.store(u64::MAX, Relaxed);
        self.until.store(0, Relaxed);
    }

    fn grown(&self, first: Tick, end: Tick, step: u32) {
        if self.from.load(Relaxed) == u64::MAX {
            // Behind all that an earlier channel has left, and behind what its own filter did not know.
            self.from.store(first.0 + LONGEST_SPAN + 2 * u64::from(HALF_SPAN * step), Relaxed);
        }
        self.until.store(end.0, Relaxed);
    }
}

/// The plan of the shared transform for what the radios of a file receive, each at its highest rate.
pub(crate) fn band_plan(plan: &SharePlan, first: Tick, longest_block: Ticks) -> Option<BandPlan> {
    let wide = WideBand { first, step: step_of(plan.front_end.rate_sps) };
    BandPlan::new(wide, &steps(plan, |_| true), longest_block).ok()
}

/// The same for what they send; `None`: none sends.
pub(crate) fn send_plan(plan: &SharePlan, first: Tick, longest_block: Ticks) -> Option<BandPlan> {
    let wide = WideBand { first, step: step_of(plan.front_end.rate_sps) };
    let steps = steps(plan, |radio| radio.transmit);
    BandPlan::new(wide, &steps, longest_block).ok().filter(|_| !steps.is_empty())
}

/// Ticks of a sample of these radios, each at its highest rate.
pub(crate) fn steps(plan: &SharePlan, is: impl Fn(&RadioPlan) -> bool) -> Vec<u32> {
    let wide = step_of(plan.front_end.rate_sps);
    plan.radios.iter().filter(|radio| is(radio)).map(|radio| step_of(radio.limits.rate_sps).max(wide)).collect()
}

/// Ticks of a sample.
pub(crate) fn step_of(rate_sps: f64) -> u32 {
    (f64::from(CLOCK.hz()) / rate_sps).ceil() as u32
}

/// The channels of all receive DSPs.
pub(crate) struct Channels {
    plan: BandPlan,
    splitter: BandSplitter,
    /// Two of each radio, by its number.
    lanes: Box<[Option<Lane>]>,
    by_key: HashMap<ChannelKey, usize>,
}

/// A receive DSP, as the channels know it.
pub(crate) struct Lane {
    handoff: Arc<Handoff>,
    ring: LoopbackSink,
    open: Option<(ChannelKey, Wish)>,
}

impl Lane {
    /// A place for a DSP: what it tells, and where its samples come.
    pub(crate) fn new() -> (Lane, Arc<Handoff>, LoopbackSource) {
        let (ring, narrow) = loopback::pair(CLOCK, CAPACITY);
        let handoff = Arc::<Handoff>::default();
        (Lane { handoff: Arc::clone(&handoff), ring, open: None }, handoff, narrow)
    }
}

impl Channels {
    pub(crate) fn new(plan: BandPlan) -> Channels {
        let splitter = BandSplitter::new(&plan);
        let lanes = (0..2 * MOST_RADIOS).map(|_| None).collect();
        Channels { plan, splitter, lanes, by_key: HashMap::with_capacity(2 * MOST_RADIOS) }
    }

    pub(crate) fn plan(&self) -> &BandPlan {
        &self.plan
    }

    /// Puts the lanes of a radio in their places, or takes them out, with their channels closed.
    pub(crate) fn put(&mut self, radio: usize, lanes: [Option<Lane>; 2]) -> [Option<Lane>; 2] {
        let mut number = 2 * radio;
        lanes.map(|lane| {
            let old = self.lanes.get_mut(number).and_then(|place| std::mem::replace(place, lane));
            number += 1;
            old.map(|mut old| {
                if let Some((key, _)) = old.open.take() {
                    self.splitter.close(key);
                    self.by_key.remove(&key);
                }
                old
            })
        })
    }

    /// Takes wide samples around a frequency. Opens and closes channels as the DSPs want; that alone allocates.
    pub(crate) fn feed(&mut self, first: Tick, wide: &[Complex32], centre_hz: f64, pause: u64) {
        self.follow(first, centre_hz, pause);
        let Channels { splitter, lanes, by_key, .. } = self;
        let fed = splitter.feed(first, wide, |key, first, samples| {
            let Some(lane) = by_key.get(&key).and_then(|&lane| lanes.get_mut(lane)?.as_mut()) else { return };
            let Some((_, Wish { step, .. })) = lane.open else { return };
            lane.ring.take(first, step, samples, BurstEdges::default());
            let end = first + Ticks(samples.len() as u64 * u64::from(step));
            lane.handoff.grown(first, end, step);
        });
        if fed.is_err() {
            self.forget();
        }
    }

    /// Closes all: the oscillator has moved.
    pub(crate) fn forget(&mut self) {
        for lane in self.lanes.iter_mut().flatten() {
            if let Some((key, _)) = lane.open.take() {
                self.splitter.close(key);
                lane.handoff.opened(None, Ticks(0));
            }
        }
        self.by_key.clear();
    }

    fn follow(&mut self, now: Tick, centre_hz: f64, pause: u64) {
        let Channels { plan, splitter, lanes, by_key } = self;
        for (number, lane) in lanes.iter_mut().enumerate().filter_map(|(n, lane)| Some((n, lane.as_mut()?))) {
            let streams = now.0 <= lane.handoff.wanted_until.load(Relaxed).saturating_add(pause);
            let wanted = lane.handoff.wanted.get().filter(|_| streams);
            let wanted = wanted.filter(|wish| plan.choose(wish.step).method == BandMethod::FastConvolution);
            if lane.open.map(|(_, wish)| wish) == wanted {
                continue;
            }
            if let Some((key, _)) = lane.open.take() {
                splitter.close(key);
                by_key.remove(&key);
                lane.handoff.opened(None, Ticks(0));
            }
            let Some(wish) = wanted else { continue };
            let step = u64::from(wish.step);
            let behind = (u64::from(wish.phase) + step - now.0 % step) % step;
            let band = NarrowBand {
                centre: Rotation::from_hz(wish.centre_hz - centre_hz, CLOCK),
                first: now + Ticks(behind),
                step: wish.step,
            };
            if let Ok(key) = splitter.open(band) {
                lane.open = Some((key, wish));
                by_key.insert(key, number);
                lane.handoff.opened(Some(wish), plan.receive_latency(wish.step));
            }
        }
    }
}
