//! Does this host keep up with a device at this rate? Streams, and counts everything that is seen to go wrong.
//!
//! The measured part begins with the first samples that are read after the warm-up, and is a span of the device's clock. If its
//! time stamps count samples, each one of the span came or is lost, to the sample. Both directions run on ordinary threads: the
//! calling one receives, or transmits where nothing is received.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use takt_base::{Clock, Complex32, MonoNs, Progress, Stop};
use takt_radio::board::Side;
use takt_radio::n200::Emission;
use takt_radio::{
    Burst, FrontEnd, RadioError, RxEvent, RxStream, StreamProbe, TxEventKind, TxStream, WatchedRx, WatchedTx,
    watched_stream,
};

use crate::device::MOST_SAMPLES;
use crate::meter::Meter;
use crate::outcome::{RxCounts, SoapyRate, TxCounts};
use crate::{About, SoapyError, SoapyRadio, SoapyRx, SoapyTx, StreamFormat};

/// A read returns by then, full or not.
const TURN: Duration = Duration::from_millis(20);
/// How long the end of the measured part is waited for, after this host's clock says that it is over.
const DRAIN: Duration = Duration::from_secs(1);
/// How far ahead a burst starts on a device that has a clock.
const LEAD: Duration = Duration::from_millis(100);
/// Reports taken in between two writes.
const REPORTS: usize = 64;
/// Reports whose times are kept.
const MOST_REPORTS: usize = 1000;

/// A round that is to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct RatePlan {
    /// Rate to receive at, samples a second on each channel.
    pub rx_sps: Option<f64>,
    /// Rate to transmit at.
    pub tx_sps: Option<f64>,
    /// Receive channels, at least one if it receives.
    pub rx_channels: Vec<usize>,
    /// Transmit channels, at least one if it transmits.
    pub tx_channels: Vec<usize>,
    /// Frequency and gain of both sides; the antenna is that of the receiving side, if it receives.
    pub front_end: FrontEnd,
    /// The format between device and host, for drivers that have a choice.
    pub wire: Option<String>,
    /// Length of the measured part.
    pub duration: Duration,
    /// How long it streams before.
    pub warm_up: Duration,
    /// The user allows it to transmit.
    pub transmit: bool,
}

/// A report that a round makes while it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// Before anything is sent: what the device will transmit with.
    OnAir(Emission),
    /// How far it is.
    At(Progress),
}

/// Streams as planned and counts. `stop` ends it early, and what was counted until then is the outcome.
///
/// # Errors
/// `NoRate` or `NoTime` for a plan without; what the device does not have, or its driver refuses; a stream that is over before its
/// time.
pub fn measure(
    radio: &SoapyRadio,
    plan: &RatePlan,
    notify: &mut dyn FnMut(Notice),
    stop: &Stop,
) -> Result<SoapyRate, SoapyError> {
    let unwatched = [(); 2].map(|()| watched_stream().0);
    measure_seen(radio, plan, &unwatched, notify, stop)
}

/// The same for who watches: the probes show the receiving and the transmitting stream.
///
/// # Errors
/// As [`measure`].
pub fn measure_seen(
    radio: &SoapyRadio,
    plan: &RatePlan,
    [seen_rx, seen_tx]: &[StreamProbe; 2],
    notify: &mut dyn FnMut(Notice),
    stop: &Stop,
) -> Result<SoapyRate, SoapyError> {
    check(radio, plan)?;
    let About { driver, hardware, .. } = radio.about()?;
    set_front_end(radio, plan, notify)?;
    let wire = plan.wire.as_deref();
    let mut rx = plan.rx_sps.map(|sps| radio.rx_stream(&plan.rx_channels, sps, wire)).transpose()?;
    let mut tx = plan.tx_sps.map(|sps| radio.tx_stream(&plan.tx_channels, sps, wire)).transpose()?;
    let (name, freq_hz) = (radio.name(), plan.front_end.frequency_hz);
    let rx = rx.as_mut().map(|rx| seen_rx.rx(name, freq_hz, rx));
    let tx = tx.as_mut().map(|tx| seen_tx.tx(name, freq_hz, tx));
    let formats = formats(radio, plan)?;
    let clock = radio.clock();
    let begun = clock.now();
    let run = Run { clock, begun, warm_up: plan.warm_up, duration: plan.duration, stop, broken: &Stop::new() };
    let device_ns = if tx.is_some() { radio.time_ns()? } else { None };
    let (rx, tx) = run.both(rx, tx, device_ns, notify)?;
    let mut outcome = SoapyRate {
        device: radio.name().to_owned(),
        driver,
        hardware,
        rx: rx.map(|rx| RxCounts { format: formats[0], ..rx }),
        tx: tx.map(|tx| TxCounts { format: formats[1], ..tx }),
        duration_s: plan.duration.as_secs_f64(),
        complete: !stop.requested(),
        clean: None,
    };
    outcome.judge();
    Ok(outcome)
}

/// Whether such a round can be run, as far as that can be known before anything is set.
fn check(radio: &SoapyRadio, plan: &RatePlan) -> Result<(), SoapyError> {
    if plan.rx_sps.is_none() && plan.tx_sps.is_none() {
        return Err(SoapyError::NoRate);
    }
    if plan.duration.is_zero() {
        return Err(SoapyError::NoTime);
    }
    let (Some(_), Some(_), Some(&channel)) = (plan.rx_sps, plan.tx_sps, plan.rx_channels.first()) else {
        return Ok(());
    };
    // A driver that does not say may do it.
    match radio.device().full_duplex(Side::Rx, channel) {
        Ok(false) => Err(SoapyError::HalfDuplex),
        _ => Ok(()),
    }
}

/// Sets what is wished for, if the device may transmit so.
fn set_front_end(radio: &SoapyRadio, plan: &RatePlan, notify: &mut dyn FnMut(Notice)) -> Result<(), SoapyError> {
    let wish = &plan.front_end;
    if plan.tx_sps.is_some() {
        // Both sides may have an antenna in common, and it transmits unless told otherwise.
        let antenna = wish.antenna.clone().filter(|_| plan.rx_sps.is_none());
        let wish = FrontEnd { antenna, ..wish.clone() };
        let mut first = None;
        for &channel in &plan.tx_channels {
            let emission = radio.may_transmit(plan.transmit, channel, &wish)?;
            radio.set(Side::Tx, channel, &wish)?;
            first.get_or_insert(emission);
        }
        first.into_iter().for_each(|emission| notify(Notice::OnAir(emission)));
    }
    for &channel in plan.rx_channels.iter().filter(|_| plan.rx_sps.is_some()) {
        radio.set(Side::Rx, channel, wish)?;
    }
    Ok(())
}

/// The formats of both streams, receiving first; `None` where there is no stream.
fn formats(radio: &SoapyRadio, plan: &RatePlan) -> Result<[Option<StreamFormat>; 2], SoapyError> {
    let format = |side, sps: Option<f64>, channels: &[usize]| {
        let first = channels.first().filter(|_| sps.is_some());
        first.map(|&channel| radio.format(side, channel)).transpose()
    };
    Ok([format(Side::Rx, plan.rx_sps, &plan.rx_channels)?, format(Side::Tx, plan.tx_sps, &plan.tx_channels)?])
}

/// The counts of both directions.
type Both = (Option<RxCounts>, Option<TxCounts>);

/// A round that runs.
struct Run<'a> {
    clock: Arc<dyn Clock>,
    begun: MonoNs,
    warm_up: Duration,
    duration: Duration,
    /// The caller's wish to end.
    stop: &'a Stop,
    /// One direction has ended; the other need not go on.
    broken: &'a Stop,
}

impl Run<'_> {
    /// Both directions, as far as there are streams. A burst begins ahead of `device_ns`, the device's own clock, if it has one.
    fn both(
        &self,
        rx: Option<WatchedRx<'_, SoapyRx>>,
        tx: Option<WatchedTx<'_, SoapyTx>>,
        device_ns: Option<i64>,
        notify: &mut dyn FnMut(Notice),
    ) -> Result<Both, SoapyError> {
        match (rx, tx) {
            (Some(rx), Some(tx)) => thread::scope(|scope| -> Result<Both, SoapyError> {
                let sending = move || {
                    let sent = self.transmit(tx, device_ns, &mut |_| {});
                    if sent.is_err() {
                        self.broken.request();
                    }
                    sent
                };
                let sending = thread::Builder::new().name("takt-soapy-tx".to_owned()).spawn_scoped(scope, sending);
                let sending = sending.map_err(SoapyError::Thread)?;
                let received = self.receive(rx, notify);
                if received.is_err() {
                    self.broken.request();
                }
                let sent = sending.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                Ok((Some(received?), Some(sent?)))
            }),
            (Some(rx), None) => Ok((Some(self.receive(rx, notify)?), None)),
            (None, Some(tx)) => Ok((None, Some(self.transmit(tx, device_ns, notify)?))),
            (None, None) => Ok((None, None)),
        }
    }

    fn measures_from(&self) -> MonoNs {
        self.begun + self.warm_up
    }

    fn is_stopped(&self) -> bool {
        self.stop.requested() || self.broken.requested()
    }

    fn tell(&self, now: MonoNs, notify: &mut dyn FnMut(Notice)) {
        let elapsed = now.saturating_since(self.begun);
        let planned = self.warm_up.saturating_add(self.duration);
        notify(Notice::At(Progress { elapsed, planned, warm_up: now < self.measures_from() }));
    }

    fn receive(&self, mut rx: WatchedRx<'_, SoapyRx>, notify: &mut dyn FnMut(Notice)) -> Result<RxCounts, RadioError> {
        let mut buffers = vec![vec![Complex32::default(); rx.stream().block_samples()]; rx.channels()];
        let mut meter: Option<Meter> = None;
        rx.stream().start()?;
        loop {
            let now = self.clock.now();
            let is_complete = meter.as_ref().is_some_and(Meter::is_complete);
            let from = meter.as_ref().map_or(self.measures_from(), |meter| meter.begun);
            if self.is_stopped() || is_complete || now >= from + self.duration + DRAIN {
                break;
            }
            self.tell(now, notify);
            let before = rx.stream().seen();
            let mut out: Vec<&mut [Complex32]> = buffers.iter_mut().map(Vec::as_mut_slice).collect();
            let received = rx.recv(&mut out, now + TURN)?;
            let now = self.clock.now();
            if meter.is_none() && received.samples > 0 && now >= self.measures_from() {
                meter = Some(Meter::new(rx.rate_sps(), received.first, self.duration, now, before));
            }
            let Some(meter) = &mut meter else { continue };
            if received.samples > 0 {
                meter.deliver(received.first, received.samples as u64, now);
            }
            if let Some(RxEvent::Overflow { lost, .. } | RxEvent::Dropped { lost, .. }) = received.event {
                meter.lose(lost);
            }
        }
        let counts = Meter::close(meter, rx.stream(), self.is_stopped(), self.clock.now());
        // The counts stand, whatever the driver does now.
        let _ = rx.stream().stop();
        Ok(counts)
    }

    fn transmit(
        &self,
        mut tx: WatchedTx<'_, SoapyTx>,
        device_ns: Option<i64>,
        notify: &mut dyn FnMut(Notice),
    ) -> Result<TxCounts, RadioError> {
        let channels = tx.channels();
        // A tone of an eighth of the rate at half of full scale.
        let tone = |n: usize| Complex32::from_polar(0.5, std::f32::consts::FRAC_PI_4 * (n % 8) as f32);
        let length = tx.stream().mtu().max((tx.rate_sps() / 100.0) as usize).min(MOST_SAMPLES);
        let block: Vec<Complex32> = (0..length).map(tone).collect();
        let slices = vec![block.as_slice(); channels];
        let (lead, patience) = (tx.tick_rate().ticks_in(LEAD), tx.stream().patience());
        let mut at = device_ns.map(|ns| tx.stream().tick_at(ns) + lead);
        let leaves = self.begun + if at.is_some() { LEAD } else { Duration::ZERO };
        let mut counts = TxTally::default();
        let mut measured = None;
        tx.stream().start()?;
        loop {
            let now = self.clock.now();
            if measured.is_none() && now >= self.measures_from() {
                (measured, counts) = (Some(now), TxTally::default());
            }
            let is_over = measured.is_some_and(|from: MonoNs| now >= from + self.duration);
            if self.is_stopped() || is_over {
                break;
            }
            self.tell(now, notify);
            let burst = at.map_or(Burst::GO_ON, Burst::at);
            let taken = tx.send(&slices, burst, now.max(leaves) + patience)?;
            if taken > 0 {
                at = None;
            }
            counts.timeouts += u64::from(taken == 0);
            counts.samples += taken as u64;
            counts.take_reports(&mut tx, self.clock.now())?;
        }
        let end = self.clock.now();
        let seconds = measured.map_or(0.0, |from| end.saturating_since(from).as_secs_f64());
        // The device's clock was read as the run began.
        let device_at =
            |ns: i64, at: MonoNs| ns.saturating_add_unsigned(at.saturating_since(self.begun).as_nanos() as u64);
        let span = device_ns.zip(measured).map(|(ns, from)| [from, end].map(|at| device_at(ns, at)));
        let counts = TxCounts { span_ns: span, ..counts.close(tx.stream(), seconds) };
        // The rest is sent, or not, without an account.
        let nothing: &[Complex32] = &[];
        let _ = tx.send(&vec![nothing; channels], Burst::END, self.clock.now() + patience);
        let _ = tx.stream().stop();
        Ok(counts)
    }
}

/// Counts of a transmit stream, of one channel where they count samples.
#[derive(Clone, Debug, Default)]
struct TxTally {
    samples: u64,
    timeouts: u64,
    underflows: u64,
    sequence_errors: u64,
    late: u64,
    unknown: u64,
    /// When the first of these were, on the device's clock.
    reports_ns: Vec<i64>,
}

impl TxTally {
    fn take_reports(&mut self, tx: &mut WatchedTx<'_, SoapyTx>, now: MonoNs) -> Result<(), RadioError> {
        for _ in 0..REPORTS {
            let Some(event) = tx.event(now)? else { return Ok(()) };
            if event.kind != TxEventKind::BurstAck && self.reports_ns.len() < MOST_REPORTS {
                self.reports_ns.push(tx.stream().ns_at(event.tick));
            }
            match event.kind {
                TxEventKind::BurstAck => {}
                TxEventKind::Underflow => self.underflows += 1,
                TxEventKind::SequenceError => self.sequence_errors += 1,
                TxEventKind::Late => self.late += 1,
                _ => self.unknown += 1,
            }
        }
        Ok(())
    }

    fn close(self, tx: &SoapyTx, seconds: f64) -> TxCounts {
        let known = |count: u64| tx.reports_faults().then_some(count);
        let channels = tx.channels() as u64;
        TxCounts {
            rate_sps: tx.rate_sps(),
            channels: tx.channels(),
            format: None,
            mtu_samples: tx.mtu(),
            samples: self.samples * channels,
            expected_samples: (tx.rate_sps() * seconds).round() as u64 * channels,
            underflows: known(self.underflows),
            sequence_errors: known(self.sequence_errors),
            late: known(self.late),
            unknown_reports: known(self.unknown),
            timeouts: self.timeouts,
            reports_ns: self.reports_ns,
            span_ns: None,
        }
    }
}

#[cfg(test)]
mod tests;
