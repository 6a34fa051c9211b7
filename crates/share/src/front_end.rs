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

use takt_base::{Complex32, Speed, Tick, Ticks};
use takt_dsp::HALF_SPAN;
use takt_dsp::shared_band::BandPlan;
use takt_emulator::loopback::{self, LoopbackSink};
use takt_emulator::n200::{CLOCK, N200};
use takt_emulator::policy::Destinations;
use takt_emulator::sink::{BurstEdges, Sink};
use takt_emulator::source::Source;
use takt_emulator::{Device, Outbox, Port};

use crate::channels::{Channels, band_plan, send_plan, step_of};
use crate::counts::WideBand;
use crate::error::ShareError;
use crate::file::{MOST_RADIOS, SharePlan};
use crate::owner::{AnalogWish, Asker, wanted_centre_hz};
use crate::report::{SharedRadioReport, SumReport};
use crate::slot::{RadioMaker, SharedRadio};
use crate::status::RadioSnapshot;
use crate::sum::Sum;
use crate::transmitting::Claim;
use crate::{AnalogPolicy, Band, Fit};

/// A radio that has received nothing for so long does not count as one that streams: 0.1 s.
pub(crate) const PAUSE_TICKS: u64 = 10_000_000;
/// The longest jump of the wide samples' time: 60 s.
const LONGEST_JUMP: Ticks = Ticks(6_000_000_000);

/// Outboxes of the radios.
pub trait Outboxes {
    /// That of a radio, by its number: its place in the plan, or the one at which it was added.
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
    policy: AnalogPolicy,
    /// Radios by their numbers; one that was removed leaves a free number.
    radios: Box<[Option<Box<SharedRadio>>]>,
    maker: RadioMaker,
    ring: LoopbackSink,
    /// `None`: every DSP cuts its own band out.
    channels: Option<Channels>,
    step: u32,
    now: Tick,
    /// While the oscillator moves there is silence.
    silent_until: Tick,
    sum: Sum,
    /// The plan of the shared transform of what is sent; `None`: nobody may send.
    sends: Option<BandPlan>,
    /// Those that stream. The memory is kept, so that a look at them allocates nothing.
    askers: Vec<Asker>,
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
        let channels = band_plan(plan, settings.born, block).map(Channels::new);
        let sends = send_plan(plan, settings.born, block);
        let centre = Band { centre_hz: front_end.frequency_hz, width_hz: front_end.rate_sps };
        let (mut ring, extract) = loopback::pair(CLOCK, loopback::CAPACITY);
        ring.tuned(settings.born, front_end.frequency_hz);
        let claims: Arc<[Claim]> = (0..MOST_RADIOS).map(|_| Claim::new()).collect();
        let maker = RadioMaker {
            settings: settings.clone(),
            extract,
            wide: Arc::new(WideBand::new(centre)),
            claims: Arc::clone(&claims),
            has_channels: channels.is_some(),
        };
        let mut core = SharedFrontEnd {
            policy: front_end.policy,
            radios: (0..MOST_RADIOS).map(|_| None).collect(),
            maker,
            ring,
            channels,
            step,
            now: settings.born,
            silent_until: settings.born,
            sum: Sum::new(claims, step, settings, sends.as_ref()),
            sends,
            askers: Vec::with_capacity(MOST_RADIOS),
        };
        for (number, radio) in plan.radios.iter().enumerate() {
            let radio = core.maker.make(number, radio, settings.born)?;
            core.put(Box::new(radio));
        }
        Ok(core)
    }

    /// Makes radios for [`put`](SharedFrontEnd::put), on any thread.
    #[must_use]
    pub fn maker(&self) -> RadioMaker {
        self.maker.clone()
    }

    /// Puts a radio in its place, which is free. Allocates nothing. A radio that has no such place comes back.
    pub fn put(&mut self, mut radio: Box<SharedRadio>) -> Option<Box<SharedRadio>> {
        let number = radio.number;
        let Some(place) = self.radios.get_mut(number).filter(|place| place.is_none()) else { return Some(radio) };
        let mut insert = radio.insert.take();
        if let Some(insert) = &mut insert {
            // The oscillator may have moved since it was made.
            insert.source.tuned(self.now, self.maker.wide.get().centre_hz);
        }
        self.sum.put(number, insert);
        let lanes = std::mem::take(&mut radio.lanes);
        if let Some(channels) = &mut self.channels {
            channels.put(number, lanes);
        }
        *place = Some(radio);
        None
    }

    /// Takes a radio out of its place; `None`: there is none. All others go on as they were, bit for bit. Samples of
    /// it that have not left yet are lost.
    pub fn remove(&mut self, number: usize) -> Option<Box<SharedRadio>> {
        let mut radio = self.radios.get_mut(number)?.take()?;
        radio.insert = self.sum.put(number, None);
        if let Some(channels) = &mut self.channels {
            radio.lanes = channels.put(number, [None, None]);
        }
        self.maker.claims.get(number).into_iter().for_each(Claim::lapse);
        Some(radio)
    }

    /// Numbers of the radios.
    pub fn numbers(&self) -> impl Iterator<Item = usize> {
        self.radios.iter().enumerate().filter_map(|(number, radio)| radio.as_ref().map(|_| number))
    }

    fn radio(&self, number: usize) -> Option<&SharedRadio> {
        self.radios.get(number)?.as_deref()
    }

    fn radio_mut(&mut self, number: usize) -> Option<&mut SharedRadio> {
        self.radios.get_mut(number)?.as_deref_mut()
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
            channels.feed(begins, heard, self.maker.wide.get().centre_hz, PAUSE_TICKS);
        }
        Ok(())
    }

    /// A datagram for a radio arrived. A datagram for no radio is ignored.
    pub fn datagram(&mut self, radio: usize, port: Port, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
        let now = self.now;
        if let Some(radio) = self.radio_mut(radio) {
            radio.device.datagram(now, port, from, bytes, out);
        }
    }

    /// A host answered "port unreachable" to what a radio sent.
    pub fn refused(&mut self, radio: usize, port: Port, by: SocketAddr) {
        let now = self.now;
        if let Some(radio) = self.radio_mut(radio) {
            radio.device.refused(now, port, by);
        }
    }

    /// Lets everything happen that is due by now. Those that may transmit act in the order of their events, so that who comes
    /// first has the band.
    pub fn advance(&mut self, out: &mut dyn Outboxes) {
        let now = self.now;
        loop {
            let transmitters = self.radios.iter().flatten().filter(|radio| radio.plan.transmit);
            let due = transmitters.filter_map(|radio| Some((radio.device.deadline()?, radio.number)));
            let Some((at, n)) = due.min().filter(|(at, _)| *at <= now) else { break };
            if let Some(radio) = self.radio_mut(n) {
                radio.device.advance(at, out.of(n));
            }
        }
        for radio in self.radios.iter_mut().flatten() {
            radio.device.advance(now, out.of(radio.number));
        }
    }

    /// Hands over what the radios have transmitted, block by block.
    pub fn transmit(&mut self, emit: &mut dyn FnMut(WideBurst<'_>)) {
        self.sum.run(self.now, emit);
    }

    /// The policy's wish for oscillator and gain; `None`: they may stay. Allocates nothing.
    #[must_use]
    pub fn wish(&mut self) -> Option<AnalogWish> {
        let SharedFrontEnd { radios, askers, now, .. } = self;
        askers.clear();
        askers.extend(radios.iter().flatten().filter_map(|radio| {
            let (band, since, until) = radio.counts.receives.get();
            let asks = streams(*now, until) && radio.plan.limits.permit(band);
            asks.then_some(Asker { radio: radio.number, band, since, priority: radio.plan.priority })
        }));
        let (centre_hz, owner) = wanted_centre_hz(self.policy, self.maker.wide.get(), &self.askers)?;
        let gain_db = owner.and_then(|owner| self.radio(owner)?.device.tuning().rx_gain_db);
        Some(AnalogWish { centre_hz, gain_db, radio: owner })
    }

    /// The oscillator has moved: from this tick on the band lies elsewhere. Samples since the last one received are
    /// left out.
    pub fn moved(&mut self, from: Tick, centre_hz: f64) {
        self.maker.wide.move_to(centre_hz);
        self.channels.iter_mut().for_each(Channels::forget);
        self.silent_until = self.silent_until.max(from);
        let from = from.max(self.now);
        self.ring.tuned(from, centre_hz);
        self.sum.moved(from, centre_hz);
    }

    /// The band that a radio receives at present, if not all of it lies in the front end's.
    #[must_use]
    pub fn out_of_band(&self, radio: usize) -> Option<Band> {
        let (band, _, until) = self.radio(radio)?.counts.receives.get();
        (streams(self.now, until) && band.fit(self.band()) != Fit::Inside).then_some(band)
    }

    /// The band of the front end at present.
    #[must_use]
    pub fn band(&self) -> Band {
        self.maker.wide.get()
    }

    /// Counts of each radio, in the order of their numbers.
    #[must_use]
    pub fn report(&self) -> Vec<SharedRadioReport> {
        let (band, plan) = (self.band(), self.band_plan());
        self.radios.iter().flatten().map(|radio| radio.report(band, plan)).collect()
    }

    /// Counts of the sum.
    #[must_use]
    pub fn sum_report(&self) -> SumReport {
        self.sum.report
    }

    /// Notes the present state of every radio. Allocates nothing if there is room for [`MOST_RADIOS`].
    pub(crate) fn note(&self, radios: &mut Vec<RadioSnapshot>) {
        radios.clear();
        radios.extend(self.radios.iter().flatten().map(|radio| {
            let (band, _, until) = radio.counts.receives.get();
            let received = (until.0 > 0).then_some(band);
            RadioSnapshot {
                number: radio.number,
                radio: radio.device.status(),
                band: received,
                streams: streams(self.now, until),
                delay: self.receive_delay(step_of(received.map_or(radio.plan.limits.rate_sps, |band| band.width_hz))),
                counts: radio.counts.all(),
                clock_offset_ticks: radio.device.clock_offset_ticks(),
            }
        }));
    }

    /// How far the wide samples must be ahead of what a radio of this step receives.
    fn receive_delay(&self, step: u32) -> Ticks {
        let filter = Ticks(u64::from(HALF_SPAN * step.max(self.step)));
        self.channels.as_ref().map_or(filter, |channels| channels.plan().receive_latency(step))
    }

    /// The plan of the shared transform of what is received, which stays while radios come and go.
    pub(crate) fn band_plan(&self) -> Option<&BandPlan> {
        self.channels.as_ref().map(Channels::plan)
    }

    /// The same of what is sent.
    pub(crate) fn send_plan(&self) -> Option<&BandPlan> {
        self.sends.as_ref()
    }

    /// A radio, to look into.
    #[must_use]
    pub fn device(&self, radio: usize) -> Option<&N200> {
        Some(&self.radio(radio)?.device)
    }
}

/// Whether a radio that has received until then counts as one that streams.
fn streams(now: Tick, until: Tick) -> bool {
    until.0 > 0 && now.0 <= until.0.saturating_add(PAUSE_TICKS)
}
