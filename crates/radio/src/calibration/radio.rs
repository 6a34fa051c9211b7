//! The measurement on a radio: its transmitter plays a tone, and its receiver hears what leaks to the antenna `CAL`.
//!
//! A capture is one timed burst of each direction. Both wait in the radio before they begin, so a slow host does not disturb them. All
//! three corrections are searched for in the same captures.

use std::time::Duration;

use num_complex::Complex64;
use takt_base::{Complex32, Stop, Tick, Ticks};
use takt_dsp::{Rotation, tone};

use super::lines::ToneLines;
use super::solve::{CorrectionSearch, SearchStep};
use super::table::{CalibrationKind, CalibrationPoint};
use crate::board::Side;
use crate::n200::N200;
use crate::{
    Burst, RadioError, RxOptions, RxStream as _, RxStreamer, TxEventKind, TxOptions, TxStream as _, TxStreamer,
};

/// The antenna that hears the transmitter and nothing else.
pub(crate) const ANTENNA: &str = "CAL";
/// How far ahead a capture is commanded: all that is sent has arrived by then.
const LEAD: Duration = Duration::from_millis(15);
/// How long after its time a capture is waited for.
const PATIENCE: Duration = Duration::from_millis(500);
/// Samples between the tone's beginning and the capture's, and after it.
const MARGIN: usize = 2500;
/// Samples of a capture.
const SAMPLES: usize = 16_384;
/// Captures of one setting until one is whole.
const TRIES: u32 = 5;
/// The receive gain is moved until the largest sample lies here.
const WANTED_PEAK: f32 = 0.5;
const GAIN_STEPS: u32 = 4;
/// A weaker tone is not heard.
const FAINT: f64 = 1e-4;
/// Distance of the first settings. A register holds each exactly.
const IQ_PROBE: f64 = 0.031_25;
const DC_PROBE: f64 = 0.007_812_5;

/// The sweep to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct CalibrationPlan {
    /// Lowest frequency of the receiver's oscillator, Hz.
    pub start_hz: f64,
    /// Highest, Hz.
    pub stop_hz: f64,
    /// From one to the next, Hz.
    pub step_hz: f64,
    /// How far the transmitter's oscillator lies above the receiver's, Hz.
    pub offset_hz: f64,
    /// How far the tone lies above the transmitter's oscillator, Hz.
    pub tone_hz: f64,
    /// Amplitude of the tone; full scale is 1.
    pub amplitude: f32,
    /// Sample rate of both directions.
    pub rate_sps: f64,
    /// Transmit gain, dB.
    pub tx_gain_db: f64,
    /// Receive gain, dB; `None`: takt looks for the one that uses half of the converter's range.
    pub rx_gain_db: Option<f64>,
}

impl CalibrationPlan {
    /// UHD's tones and steps between these frequencies, at a transmit gain.
    #[must_use]
    pub fn new(start_hz: f64, stop_hz: f64, tx_gain_db: f64) -> CalibrationPlan {
        CalibrationPlan {
            start_hz,
            stop_hz,
            step_hz: 7.3e6,
            offset_hz: 934.4e3,
            tone_hz: 507.123e3,
            amplitude: 0.5,
            rate_sps: 5e6,
            tx_gain_db,
            rx_gain_db: None,
        }
    }

    /// Frequencies of the receiver's oscillator.
    fn frequencies_hz(&self) -> impl Iterator<Item = f64> {
        let (start, stop, step) = (self.start_hz, self.stop_hz, self.step_hz);
        (0..self.count()).map(move |n| (start + n as f64 * step).min(stop))
    }

    /// How many frequencies there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        let steps = (self.stop_hz - self.start_hz) / self.step_hz;
        if steps.is_finite() && steps >= 0.0 { steps.floor() as u64 + 1 } else { 0 }
    }
}

/// One correction at one frequency.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct CalibratedPoint {
    /// Its kind.
    pub kind: CalibrationKind,
    /// Tone over image, or tone over carrier, without it, dB.
    pub before_db: f64,
    /// The same with it, dB.
    pub after_db: f64,
    /// Settings that were tried.
    pub settings: usize,
    /// As a file has it.
    #[serde(flatten)]
    pub point: CalibrationPoint,
}

/// A frequency without a result.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SkippedFrequency {
    /// Oscillator, Hz.
    pub lo_hz: f64,
    /// Why.
    pub reason: String,
}

/// The results of a sweep.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize)]
pub struct CalibrationReport {
    /// By frequency, three each.
    pub points: Vec<CalibratedPoint>,
    /// Frequencies without a result.
    pub skipped: Vec<SkippedFrequency>,
    /// Captures in all.
    pub captures: u64,
}

impl CalibrationReport {
    /// The points of a kind, as a file has them.
    #[must_use]
    pub fn of_kind(&self, kind: CalibrationKind) -> Vec<CalibrationPoint> {
        self.points.iter().filter(|point| point.kind == kind).map(|point| point.point).collect()
    }
}

/// Measures the corrections of a radio at each frequency of the plan, until `stop`. `progress` gets the frequencies that are done.
///
/// The radio is left with its antennas on `CAL` and the last corrections set: drop it.
///
/// # Errors
/// The radio may not transmit, its boards have no antenna `CAL`, or it can't do the rate, the gain or a frequency; it does not answer.
pub fn calibrate_radio(
    radio: &mut N200,
    plan: &CalibrationPlan,
    progress: &mut dyn FnMut(u64),
    stop: &Stop,
) -> Result<CalibrationReport, RadioError> {
    let mut bench = Bench::open(radio, plan)?;
    let mut report = CalibrationReport::default();
    for (done, hz) in (0..).zip(plan.frequencies_hz()) {
        if stop.requested() {
            break;
        }
        progress(done);
        match bench.measure(hz)? {
            Ok(points) => report.points.extend(points),
            Err(reason) => report.skipped.push(SkippedFrequency { lo_hz: hz, reason }),
        }
    }
    report.captures = bench.captures;
    Ok(report)
}

/// The lines that a radio has at one frequency with the corrections of its files, or why they are not known.
///
/// # Errors
/// As [`calibrate_radio`].
pub fn observe_radio(
    radio: &mut N200,
    plan: &CalibrationPlan,
    hz: f64,
) -> Result<Result<ToneLines, String>, RadioError> {
    let mut bench = Bench::open(radio, plan)?;
    bench.tune(hz)?;
    match bench.level()? {
        Ok(()) => bench.capture(),
        Err(reason) => Ok(Err(reason)),
    }
}

/// A radio that listens to itself.
struct Bench<'a> {
    radio: &'a mut N200,
    rx: RxStreamer,
    tx: TxStreamer,
    plan: &'a CalibrationPlan,
    /// Samples to play.
    wave: Vec<Complex32>,
    /// Samples of the last capture.
    samples: Vec<Complex32>,
    /// The transmitter's oscillator above the receiver's, turns a sample.
    offset: f64,
    captures: u64,
}

impl<'a> Bench<'a> {
    fn open(radio: &'a mut N200, plan: &'a CalibrationPlan) -> Result<Bench<'a>, RadioError> {
        radio.set_antenna(Side::Rx, ANTENNA)?;
        radio.set_antenna(Side::Tx, ANTENNA)?;
        radio.set_gain_db(Side::Tx, plan.tx_gain_db)?;
        let rx = radio.rx_streamer(&RxOptions::new(plan.rate_sps))?;
        let tx = radio.tx_streamer(&TxOptions::new(plan.rate_sps))?;
        let mut wave = vec![Complex32::default(); MARGIN + SAMPLES + MARGIN];
        let turns = plan.tone_hz / plan.rate_sps;
        tone(Rotation::from_turns(turns), plan.amplitude, Tick(0), 1, &mut wave);
        let samples = vec![Complex32::default(); SAMPLES];
        Ok(Bench { radio, rx, tx, plan, wave, samples, offset: 0.0, captures: 0 })
    }

    /// The corrections at one frequency, or why there are none.
    fn measure(&mut self, hz: f64) -> Result<Result<[CalibratedPoint; 3], String>, RadioError> {
        let (rx_hz, tx_hz) = self.tune(hz)?;
        let mut searches = CalibrationKind::ALL.map(|kind| {
            let probe = if kind == CalibrationKind::TxDc { DC_PROBE } else { IQ_PROBE };
            (kind, CorrectionSearch::new(probe))
        });
        for (kind, _) in &searches {
            self.radio.set_correction(*kind, Complex64::default())?;
        }
        if let Err(reason) = self.level()? {
            return Ok(Err(reason));
        }
        let mut tone_db = 0.0;
        while searches.iter().any(|(_, search)| search.step() != SearchStep::Done) {
            for (kind, search) in &searches {
                let correction = match search.step() {
                    SearchStep::Set(correction) => correction,
                    SearchStep::Done => search.best().0,
                };
                self.radio.set_correction(*kind, correction)?;
            }
            let lines = match self.capture()? {
                Ok(lines) => lines,
                Err(reason) => return Ok(Err(reason)),
            };
            for (kind, search) in &mut searches {
                search.saw(match kind {
                    CalibrationKind::RxIq => lines.rx_imbalance(),
                    CalibrationKind::TxIq => lines.tx_imbalance(),
                    CalibrationKind::TxDc => lines.tx_offset(),
                });
            }
            tone_db = 20.0 * lines.tone.norm().max(1e-15).log10();
        }
        Ok(Ok(searches.map(|(kind, search)| {
            let (before_db, after_db) = (search.before_db(), search.left_db());
            let lo_hz = if kind == CalibrationKind::RxIq { rx_hz } else { tx_hz };
            // UHD keeps the level of a carrier, and the ratio of an image.
            let measured_db = if kind == CalibrationKind::TxDc { tone_db - after_db } else { after_db };
            let (correction, _) = search.best();
            let point = CalibrationPoint { lo_hz, correction, measured_db, gained_db: after_db - before_db };
            CalibratedPoint { kind, before_db, after_db, settings: search.settings(), point }
        })))
    }

    /// Tunes both sides; returns where their oscillators are.
    fn tune(&mut self, hz: f64) -> Result<(f64, f64), RadioError> {
        let offset = self.plan.offset_hz;
        let inside = |hz| self.radio.board().frequencies_hz(Side::Tx).is_none_or(|range| range.contains(hz));
        let beside = if inside(hz + offset) { hz + offset } else { hz - offset };
        let rx_hz = self.radio.tune_oscillator_to(Side::Rx, hz)?;
        let tx_hz = self.radio.tune_oscillator_to(Side::Tx, beside)?;
        self.offset = (tx_hz - rx_hz) / self.plan.rate_sps;
        Ok((rx_hz, tx_hz))
    }

    /// Sets the receive gain so that the tone uses the converter's range, and looks whether there is one.
    fn level(&mut self) -> Result<Result<(), String>, RadioError> {
        let range = self.radio.board().gains_db(Side::Rx);
        let mut gain_db = self.plan.rx_gain_db.or(range.map(|range| range.low)).unwrap_or(0.0);
        let mut outcome = Ok(());
        for _ in 0..GAIN_STEPS {
            if range.is_some() {
                gain_db = self.radio.set_gain_db(Side::Rx, gain_db)?;
            }
            let lines = match self.capture()? {
                Ok(lines) => lines,
                Err(reason) => return Ok(Err(reason)),
            };
            let peak = self.samples.iter().map(|x| x.re.abs().max(x.im.abs())).fold(0.0, f32::max);
            outcome = heard(lines, peak);
            let more_db = f64::from(20.0 * (WANTED_PEAK / peak.max(1e-6)).log10());
            let wanted = range.filter(|_| self.plan.rx_gain_db.is_none());
            let next = wanted.map_or(gain_db, |range| (gain_db + more_db).floor().clamp(range.low, range.high));
            if (next - gain_db).abs() < 1.5 {
                break;
            }
            gain_db = next;
        }
        Ok(outcome)
    }

    /// The lines of one capture with the settings that are made.
    fn capture(&mut self) -> Result<Result<ToneLines, String>, RadioError> {
        let mut fault = String::new();
        for _ in 0..TRIES {
            self.captures += 1;
            self.radio.flush()?;
            let speed = self.rx.speed();
            let start = self.radio.time()? + speed.ticks_in(self.rx.tick_rate(), LEAD);
            let first = start + Ticks(MARGIN as u64 * self.rx.ticks_per_sample().0);
            let until = self.radio.net().now() + LEAD + PATIENCE;
            self.rx.burst(SAMPLES as u32, Some(first))?;
            self.tx.send(&[&self.wave], Burst::at(start).ending(), until)?;
            let heard = self.receive(until)?;
            let played = self.played(until)?;
            match (heard, played) {
                (true, None) => return Ok(Ok(ToneLines::of(&self.samples, self.offset, self.tone()))),
                (_, Some(kind)) => fault = format!("the radio reports {kind:?} for each of {TRIES} bursts"),
                (false, None) => fault = format!("samples were lost in each of {TRIES} captures"),
            }
        }
        Ok(Err(fault))
    }

    /// The tone above the transmitter's oscillator, turns a sample.
    fn tone(&self) -> f64 {
        self.plan.tone_hz / self.plan.rate_sps
    }

    /// Whether the whole capture came.
    fn receive(&mut self, until: takt_base::MonoNs) -> Result<bool, RadioError> {
        let (mut filled, mut whole) = (0, true);
        loop {
            let rest = self.samples.get_mut(filled..).unwrap_or_default();
            let received = self.rx.recv(&mut [rest], until)?;
            filled += received.samples;
            match received.event {
                Some(crate::RxEvent::EndOfBurst) => return Ok(whole && filled == SAMPLES),
                Some(crate::RxEvent::Late { .. }) => return Ok(false),
                Some(_) => whole = false,
                None if filled == SAMPLES && whole => return Ok(true),
                None if self.radio.net().now() >= until => return Ok(false),
                None => {}
            }
        }
    }

    /// The fault of the burst that was sent.
    fn played(&mut self, until: takt_base::MonoNs) -> Result<Option<TxEventKind>, RadioError> {
        let mut fault = None;
        while let Some(event) = self.tx.event(until)? {
            match event.kind {
                TxEventKind::BurstAck => return Ok(fault),
                kind => fault = Some(kind),
            }
        }
        Ok(fault)
    }
}

/// Whether a tone is there that is not clipped.
fn heard(lines: ToneLines, peak: f32) -> Result<(), String> {
    let level = lines.tone.norm();
    let db = 20.0 * level.max(1e-15).log10();
    match (level < FAINT, peak > 0.98) {
        (true, _) => {
            Err(format!("no tone leaks to the antenna {ANTENNA}: {db:.0} dB of full scale at the highest gain"))
        }
        (_, true) => Err("the tone overdrives the receiver at the lowest gain".to_owned()),
        _ => Ok(()),
    }
}
