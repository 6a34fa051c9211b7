//! The core: wide samples and datagrams in, datagrams and wide samples out. No socket, no clock, no thread.
//!
//! The tick of the last wide sample is the present of all radios. So nothing that a client does moves another's time, and what
//! one radio receives is a function of the wide samples and of its own datagrams.
//!
//! ```text
//!  wide samples ── ring ──> extract ──> N200 0 ──> datagrams        now = tick of the last wide sample
//!                    └────> extract ──> N200 1 ──> datagrams
//!  wide samples <── clip <── sum <── insert <── N200 0, N200 1     sent for tick t at t + latency
//! ```

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use takt_base::{Complex32, Speed, Tick, Ticks};
use takt_dsp::HALF_SPAN;
use takt_emulator::loopback::{self, LoopbackSink, LoopbackSource};
use takt_emulator::n200::{CLOCK, N200, N200Options, Signals};
use takt_emulator::policy::Destinations;
use takt_emulator::sink::{BurstEdges, Sink};
use takt_emulator::source::Source;
use takt_emulator::{Device, Outbox, Port};

use crate::channels::{Channels, band_plan, step_of};
use crate::counts::{Counts, WideBand};
use crate::error::ShareError;
use crate::file::{RadioPlan, SharePlan};
use crate::owner::{AnalogWish, Asker, wanted_centre_hz};
use crate::receiving::SharedSource;
use crate::report::{SharedRadioReport, SumReport};
use crate::transmitting::{Claim, SharedSink};
use crate::{AnalogPolicy, Band, Fit};

/// A radio that has received nothing for so long does not count as one that streams: 0.1 s.
pub(crate) const PAUSE_TICKS: u64 = 10_000_000;
/// The longest jump of the wide samples' time: 60 s.
const LONGEST_JUMP: Ticks = Ticks(6_000_000_000);
/// The slowest rate of an N200, in ticks a sample.
const SLOWEST_STEP: u32 = 512;
/// Samples kept of each transmitter: 5 ms at 25 MS/s.
const TX_CAPACITY: usize = 1 << 17;

/// Outboxes of the radios.
pub trait Outboxes {
    /// That of a radio, by its number in the plan.
    fn of(&mut self, radio: usize) -> &mut dyn Outbox;
}

/// A step of the front end's transmission.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WideBurst<'a> {
    /// These samples go on from the last, or begin a burst, at this tick.
    Samples {
        /// Tick of the first sample.
        at: Tick,
        /// One after the other, full scale 1.0, clipped.
        samples: &'a [Complex32],
    },
    /// The burst is over.
    End,
}

/// Settings that the radios have in common.
#[derive(Clone, Debug)]
pub struct CoreSettings {
    /// The tick at which they are switched on: the front end's time.
    pub born: Tick,
    /// A sample sent for tick t leaves at t plus this.
    pub latency: Ticks,
    /// Wide samples that are sent at a time.
    pub block: usize,
    /// Destinations to which they may send datagrams.
    pub destinations: Destinations,
    /// Whether they say that they are software radios of takt's own. Behind hardware they must not.
    pub software: bool,
    /// UTC at tick 0, whole seconds since 1970.
    pub utc_at_tick_0_s: u64,
    /// How fast the front end's time passes.
    pub speed: Speed,
}

/// One front end, many radios: a pure function of what it is given.
pub struct SharedFrontEnd {
    plans: Vec<RadioPlan>,
    policy: AnalogPolicy,
    devices: Vec<N200>,
    counts: Vec<Arc<Counts>>,
    wide: Arc<WideBand>,
    ring: LoopbackSink,
    /// `None`: every DSP cuts its own band out.
    channels: Option<Channels>,
    step: u32,
    now: Tick,
    /// While the oscillator moves there is silence.
    silent_until: Tick,
    sum: Sum,
}

impl SharedFrontEnd {
    /// Switches the radios of a plan on.
    ///
    /// # Errors
    /// A serial or a name that an N200's EEPROM can't hold.
    pub fn new(plan: &SharePlan, settings: &CoreSettings) -> Result<SharedFrontEnd, ShareError> {
        let front_end = &plan.front_end;
        let step = (f64::from(CLOCK.hz()) / front_end.rate_sps).round() as u32;
        let block = Ticks(settings.block as u64 * u64::from(step));
        let mut channels = band_plan(plan, settings.born, block).map(Channels::new);
        let centre = Band { centre_hz: front_end.frequency_hz, width_hz: front_end.rate_sps };
        let wide = Arc::new(WideBand::new(centre));
        let (mut ring, extract) = loopback::pair(CLOCK, loopback::CAPACITY);
        ring.tuned(settings.born, front_end.frequency_hz);
        let claims: Arc<[Claim]> = plan.radios.iter().map(|radio| Claim::new(radio.overlap)).collect();
        let (mut devices, mut counts, mut inserts) = (Vec::new(), Vec::new(), Vec::new());
        for (me, radio) in plan.radios.iter().enumerate() {
            let counted = Arc::<Counts>::default();
            let mut source = || -> Box<dyn Source> {
                let unused = || (Arc::default(), loopback::pair(CLOCK, 0).1);
                let (handoff, narrow) = channels.as_mut().map_or_else(unused, Channels::add);
                Box::new(SharedSource {
                    extract: extract.clone(),
                    narrow,
                    handoff,
                    limits: radio.limits,
                    wide: Arc::clone(&wide),
                    counts: Arc::clone(&counted),
                    centre_hz: 0.0,
                    tuned_from: settings.born,
                })
            };
            let (insert, mut sent) = loopback::pair(CLOCK, if radio.transmit { TX_CAPACITY } else { 0 });
            sent.tuned(settings.born, front_end.frequency_hz);
            let sink = SharedSink::new(
                Box::new(insert),
                (me, Arc::clone(&claims)),
                (radio.limits, radio.transmit),
                Arc::clone(&wide),
                Arc::clone(&counted),
            );
            let signals = Signals { sources: [source(), source()], sink: Box::new(sink) };
            devices.push(
                N200::new(device_options(radio, settings), signals)
                    .map_err(|source| ShareError::Identity { name: radio.name.clone(), source: Box::new(source) })?,
            );
            counts.push(counted);
            inserts.push((sent, 10f32.powf(radio.level_db as f32 / 20.0)));
        }
        Ok(SharedFrontEnd {
            policy: front_end.policy,
            plans: plan.radios.clone(),
            devices,
            counts,
            wide,
            ring,
            channels,
            step,
            now: settings.born,
            silent_until: settings.born,
            sum: Sum::new(inserts, claims, step, settings),
        })
    }

    /// The tick of the last wide sample: the present of all radios.
    #[must_use]
    pub fn now(&self) -> Tick {
        self.now
    }

    /// Takes wide samples, the first at this tick. Time only goes on: what is not later than the last sample is left out, and
    /// a gap is silence.
    ///
    /// # Errors
    /// The time jumps by more than a minute: somebody has set the front end's clock.
    pub fn receive(&mut self, first: Tick, samples: &[Complex32]) -> Result<(), ShareError> {
        let step = u64::from(self.step);
        let known = (self.now + Ticks(1)).since(first).map_or(0, |old| old.0.div_ceil(step));
        let known = usize::try_from(known).unwrap_or(usize::MAX).min(samples.len());
        let (first, samples) = (first + Ticks(known as u64 * step), samples.get(known..).unwrap_or_default());
        if samples.is_empty() {
            return Ok(());
        }
        if first.since(self.now).is_some_and(|jump| jump > LONGEST_JUMP) {
            return Err(ShareError::Jump { from: self.now, to: first });
        }
        self.now = first + Ticks((samples.len() as u64 - 1) * step);
        let silent = self.silent_until.since(first).map_or(0, |silent| silent.0.div_ceil(step));
        let silent = usize::try_from(silent).unwrap_or(usize::MAX).min(samples.len());
        let heard = samples.get(silent..).unwrap_or_default();
        let begins = first + Ticks(silent as u64 * step);
        self.ring.take(begins, self.step, heard, BurstEdges::default());
        self.ring.passed(self.now);
        if let Some(channels) = self.channels.as_mut().filter(|_| !heard.is_empty()) {
            channels.feed(begins, heard, self.wide.get().centre_hz, PAUSE_TICKS);
        }
        Ok(())
    }

    /// A datagram for a radio arrived. A datagram for no radio is ignored.
    pub fn datagram(&mut self, radio: usize, port: Port, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
        if let Some(device) = self.devices.get_mut(radio) {
            device.datagram(self.now, port, from, bytes, out);
        }
    }

    /// A host answered "port unreachable" to what a radio sent.
    pub fn refused(&mut self, radio: usize, port: Port, by: SocketAddr) {
        if let Some(device) = self.devices.get_mut(radio) {
            device.refused(self.now, port, by);
        }
    }

    /// Lets everything happen that is due by now. Those that may transmit act in the order of their events, so that who comes
    /// first has the band.
    pub fn advance(&mut self, out: &mut dyn Outboxes) {
        let now = self.now;
        loop {
            let transmitters = self.devices.iter().zip(&self.plans).enumerate().filter(|(_, (_, plan))| plan.transmit);
            let due = transmitters.filter_map(|(n, (device, _))| Some((device.deadline()?, n)));
            let Some((at, n)) = due.min().filter(|(at, _)| *at <= now) else { break };
            if let Some(device) = self.devices.get_mut(n) {
                device.advance(at, out.of(n));
            }
        }
        for (n, device) in self.devices.iter_mut().enumerate() {
            device.advance(now, out.of(n));
        }
    }

    /// Hands over what the radios have transmitted, block by block.
    pub fn transmit(&mut self, emit: &mut dyn FnMut(WideBurst<'_>)) {
        self.sum.run(self.now, emit);
    }

    /// The policy's wish for oscillator and gain; `None`: they may stay.
    #[must_use]
    pub fn wish(&self) -> Option<AnalogWish> {
        let askers = self.counts.iter().zip(&self.plans).enumerate().filter_map(|(radio, (counts, plan))| {
            let (band, since, until) = counts.receives.get();
            let streams = until.0 > 0 && self.now.0 <= until.0.saturating_add(PAUSE_TICKS);
            (streams && plan.limits.permit(band)).then_some(Asker { radio, band, since, priority: plan.priority })
        });
        let askers: Vec<Asker> = askers.collect();
        let (centre_hz, owner) = wanted_centre_hz(self.policy, self.wide.get(), &askers)?;
        let gain_db = owner.and_then(|owner| self.devices.get(owner)?.report().tuning.rx_gain_db);
        Some(AnalogWish { centre_hz, gain_db, radio: owner })
    }

    /// The oscillator has moved: from this tick on the band lies elsewhere. Samples since the last one received are
    /// left out.
    pub fn moved(&mut self, from: Tick, centre_hz: f64) {
        self.wide.move_to(centre_hz);
        self.channels.iter_mut().for_each(Channels::forget);
        self.silent_until = self.silent_until.max(from);
        let from = from.max(self.now);
        self.ring.tuned(from, centre_hz);
        self.sum.moved(from, centre_hz);
    }

    /// The band that a radio receives at present, if not all of it lies in the front end's.
    #[must_use]
    pub fn out_of_band(&self, radio: usize) -> Option<Band> {
        let (band, _, until) = self.counts.get(radio)?.receives.get();
        let streams = until.0 > 0 && self.now.0 <= until.0.saturating_add(PAUSE_TICKS);
        (streams && band.fit(self.wide.get()) != Fit::Inside).then_some(band)
    }

    /// The band of the front end at present.
    #[must_use]
    pub fn band(&self) -> Band {
        self.wide.get()
    }

    /// Counts of each radio.
    #[must_use]
    pub fn report(&self) -> Vec<SharedRadioReport> {
        let radios = self.devices.iter().zip(&self.plans).zip(&self.counts);
        let of = |((device, plan), counts): ((&N200, &RadioPlan), &Arc<Counts>)| {
            let count = |count: &AtomicU64| count.load(Relaxed);
            let (band, _, until) = counts.receives.get();
            SharedRadioReport {
                name: plan.name.clone(),
                addr: plan.addr,
                serial: plan.serial.clone(),
                radio: device.report(),
                band: (until.0 > 0).then_some(band),
                receive_way: self.channels.as_ref().map_or_else(String::new, |channels| {
                    channels.choice(step_of(if until.0 > 0 { band.width_hz } else { plan.limits.rate_sps })).to_string()
                }),
                in_band: until.0 > 0 && band.fit(self.wide.get()) == Fit::Inside,
                outside_samples: count(&counts.outside),
                partly_samples: count(&counts.partly),
                forbidden_samples: count(&counts.forbidden),
                tx_outside_samples: count(&counts.tx_outside),
                tx_forbidden_samples: count(&counts.tx_forbidden),
                tx_overlapping_samples: count(&counts.tx_overlapping),
            }
        };
        radios.map(of).collect()
    }

    /// Counts of the sum.
    #[must_use]
    pub fn sum_report(&self) -> SumReport {
        self.sum.report
    }

    /// A radio, to look into.
    #[must_use]
    pub fn device(&self, radio: usize) -> Option<&N200> {
        self.devices.get(radio)
    }
}

fn device_options(radio: &RadioPlan, settings: &CoreSettings) -> N200Options {
    N200Options {
        serial: radio.serial.clone(),
        name: radio.name.clone(),
        address: radio.addr,
        board: radio.board,
        marked: settings.software,
        destinations: settings.destinations.clone(),
        born: settings.born,
        utc_at_tick_0_s: settings.utc_at_tick_0_s,
        speed: settings.speed,
        ..N200Options::default()
    }
}

/// Sum of all radios' transmissions.
struct Sum {
    /// Source and level of each.
    inserts: Vec<(LoopbackSource, f32)>,
    claims: Arc<[Claim]>,
    step: u32,
    /// The next block's first tick.
    next: Tick,
    /// How far the filters reach.
    span: Ticks,
    latency: Ticks,
    in_burst: bool,
    one: Box<[Complex32]>,
    all: Box<[Complex32]>,
    report: SumReport,
}

impl Sum {
    fn new(inserts: Vec<(LoopbackSource, f32)>, claims: Arc<[Claim]>, step: u32, settings: &CoreSettings) -> Sum {
        let block = || vec![Complex32::default(); settings.block.max(1)].into();
        Sum {
            inserts,
            claims,
            step,
            next: settings.born,
            span: Ticks(u64::from(HALF_SPAN * SLOWEST_STEP)),
            latency: settings.latency,
            in_burst: false,
            one: block(),
            all: block(),
            report: SumReport::default(),
        }
    }

    fn run(&mut self, now: Tick, emit: &mut dyn FnMut(WideBurst<'_>)) {
        let length = Ticks(self.all.len() as u64 * u64::from(self.step));
        while self.next + length + self.span <= now {
            let (first, end) = (self.next, self.next + length);
            self.next = end;
            if self.add(first, end) {
                self.in_burst = true;
                self.report.samples += self.all.len() as u64;
                self.report.clipped_samples += clip(&mut self.all);
                emit(WideBurst::Samples { at: first + self.latency, samples: &self.all });
            } else if self.in_burst {
                self.in_burst = false;
                emit(WideBurst::End);
            }
        }
    }

    /// Sums what is sent between two ticks; whether there is anything.
    fn add(&mut self, first: Tick, end: Tick) -> bool {
        let mut any = false;
        for ((source, level), claim) in self.inserts.iter_mut().zip(&*self.claims) {
            let reached = Tick(first.0.saturating_sub(self.span.0));
            if claim.meets(reached, end + self.span) {
                if !any {
                    self.all.fill(Complex32::default());
                    any = true;
                }
                source.fill(first, self.step, &mut self.one);
                self.all.iter_mut().zip(&self.one).for_each(|(all, one)| *all += *one * *level);
            }
            claim.taken(Tick(end.0.saturating_sub(self.span.0)));
        }
        any
    }

    fn moved(&mut self, from: Tick, centre_hz: f64) {
        self.inserts.iter_mut().for_each(|(source, _)| source.tuned(from, centre_hz));
    }
}

/// Brings what is beyond full scale back to it; how many samples were.
fn clip(samples: &mut [Complex32]) -> u64 {
    let mut clipped = 0;
    for x in samples.iter_mut().filter(|x| x.re.abs() > 1.0 || x.im.abs() > 1.0) {
        *x = Complex32::new(x.re.clamp(-1.0, 1.0), x.im.clamp(-1.0, 1.0));
        clipped += 1;
    }
    clipped
}
