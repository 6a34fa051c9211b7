//! From an address and a file name to a recording, and back.

use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use takt_base::{Speed, Stop, Tick, utc_ns_now};
use takt_dsp::file::{Existing, FileError, SampleFormat};
use takt_dsp::sigmf::{Checksum, Global, Reader, Writer};
use takt_host::affinity::own_cpus;
use takt_host::placement::Placement;
use takt_host::policy::policy;
use takt_wire::sample::Format;

use super::retune::{Retunes, Tuning};
use super::runs::Runs;
use super::{PlayPlan, Played, RecordPlan, Recorded, play, record};
use crate::board::Side;
use crate::calibration::{AppliedTable, CalibrationUse};
use crate::n200::{ClockSource, Emission, OpenOptions, TxWish, exact_rate};
use crate::x310::MasterClock;
use crate::{
    About, AnyOptions, FrontEnd, FrontEndSet, Model, Net, Radio, RadioError, RxOptions, RxStream, StreamProbe, Tuned,
    TxOptions, TxStream,
};

/// How far ahead a stream starts.
const LEAD: Duration = Duration::from_millis(100);
/// How often progress is shown.
const LOOK: Duration = Duration::from_millis(50);

/// Settings that both directions need.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Session {
    pub addr: IpAddr,
    /// The recording: the common name of its files, or either of them; to play, an archive too.
    pub path: PathBuf,
    /// A setting that is not named stays as the radio opens it.
    pub front_end: FrontEnd,
    /// The receive channels to record from, in the order of the file. One at least.
    pub rx_channels: Vec<u8>,
    /// Samples on the wire.
    pub wire: Format,
    /// Take the radio even from another host.
    pub force: bool,
    /// Reference of the radio's clock.
    pub reference: ClockSource,
    /// Play even to a radio that is not takt's own.
    pub transmit: bool,
    /// Files of corrections that an N200's front end is tuned by.
    pub calibration: CalibrationUse,
    /// The place of the thread that streams. Those that read and write files, and this one, stay as they are.
    pub placement: Placement,
    /// Shows the stream to who watches, if somebody may.
    pub probe: Option<StreamProbe>,
}

/// Counts of a recording or playback, and its settings.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Report<T> {
    /// The recording.
    pub path: PathBuf,
    /// Serial number of the radio.
    pub serial: String,
    /// On air.
    pub rate_sps: f64,
    /// Tuning of the front end.
    pub tuned: Option<Tuned>,
    /// Gain it was set to.
    pub gain_db: Option<f64>,
    /// Files of corrections that were found for its boards.
    pub calibration: Vec<AppliedTable>,
    /// CPUs that the streaming thread was tied to; empty: none.
    pub cpus: Vec<usize>,
    /// Scheduling policy that it had: `FIFO 50`. `None`: the kernel does not say.
    pub policy: Option<String>,
    /// Seconds of the radio in a second of the host. `None`: hardware, which does not say.
    pub radio_speed: Option<f64>,
    /// Counts of what came, or went.
    #[serde(flatten)]
    pub passed: T,
}

/// The part of a recording that is to be played, and how.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayWish {
    /// Sample rate; `None`: the recording's.
    pub rate_sps: Option<f64>,
    /// How often; repetitions follow each other without a gap.
    pub times: u64,
    /// Which of its channels, from 0.
    pub channel: u64,
}

/// A recording that was played, with the fate of all that its metadata say.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct PlayedRecording {
    /// The fate of its samples.
    #[serde(flatten)]
    pub played: Played,
    /// The channel that was played.
    pub channel: u64,
    /// Channels that it has.
    pub channels: u64,
    /// Samples before its first capture, which were left out.
    pub skipped_samples: u64,
    /// Changes of frequency between captures, repetitions included.
    pub retunes: u64,
    /// Those of them that were commanded too late for the capture's first sample.
    pub late_retunes: u64,
    /// A frequency that it names, and to which takt can't tune this radio.
    pub untuned_hz: Option<f64>,
    /// The answer of its `core:sha512` about its data.
    pub sha512: Checksum,
}

impl PlayedRecording {
    /// A recording that can be played, before it is.
    fn of(reader: &Reader, sha512: Checksum, channel: u64) -> PlayedRecording {
        PlayedRecording {
            played: Played::default(),
            channel,
            channels: reader.metadata().global.channels,
            skipped_samples: reader.begins(),
            retunes: 0,
            late_retunes: 0,
            untuned_hz: None,
            sha512,
        }
    }
}

/// Opens a channel of a recording that is to be played, and holds its data against its hash.
///
/// # Errors
/// If it can't be read, has no samples, or others than those of its hash.
pub fn open_to_play(path: &Path, channel: u64) -> Result<(Reader, Checksum), FileError> {
    let reader = Reader::open_channel(path, channel)?;
    reader.require_samples()?;
    let sha512 = reader.check()?;
    Ok((reader, sha512))
}

impl Session {
    /// Records `samples` samples at `rate_sps` into a file of `format`; `None` = until `stop`.
    ///
    /// # Errors
    /// The streaming thread can't be placed; the file is there and `existing` keeps it; the radio can't do it; either fails on
    /// the way.
    pub fn record(
        &self,
        net: &Arc<dyn Net>,
        rate_sps: f64,
        samples: Option<u64>,
        (format, existing): (SampleFormat, Existing),
        progress: &mut dyn FnMut(u64),
        stop: &Stop,
    ) -> Result<Report<Recorded>, RadioError> {
        // Requests that can be refused without a radio are refused before it is touched.
        self.placement.attempt()?;
        let (rate_sps, clock) = some_radios_rate(rate_sps)?;
        let mut global = Global::new(format);
        global.sample_rate_sps = Some(rate_sps);
        let mut radio = self.open(net, clock)?;
        let channels = self.rx_channels.clone();
        global.channels = channels.len() as u64;
        let mut rx = radio.rx_streamer(&RxOptions { format: self.wire, channels, ..RxOptions::new(rate_sps) })?;
        let mut set = FrontEndSet::default();
        for &channel in &self.rx_channels {
            set = self.front_end.set(&mut radio, Side::Rx, channel)?;
        }
        let FrontEndSet { tuned, gain_db } = set;
        let About { model, serial, .. } = radio.about();
        let name = format!("{model} serial {serial}");
        global.hw = Some(name.clone());
        let serial = serial.to_owned();
        let writer = Writer::create(&self.path, global, existing)?;
        let now = radio.time()?;
        let plan = RecordPlan {
            samples,
            frequency_hz: tuned.map(|tuned| tuned.actual_hz),
            utc: utc_ns_now().map(|ns| (now, ns)),
            placement: self.placement.clone(),
        };
        rx.start(Some(now + rx.speed().ticks_in(rx.tick_rate(), LEAD)))?;
        let radio_speed = radio.speed().map(Speed::seconds);
        let (recorded, (cpus, policy)) = on_its_thread("takt-rx", progress, |progress| {
            let recorded = match &self.probe {
                Some(probe) => {
                    let mut rx = probe.rx(&name, plan.frequency_hz, &mut rx);
                    record(&mut rx, &**net, writer, &plan, progress, stop)
                }
                None => record(&mut rx, &**net, writer, &plan, progress, stop),
            };
            let (recorded, _) = recorded?;
            Ok((recorded, own_place(&plan.placement)))
        })?;
        let (path, rate_sps) = (self.path.clone(), rx.rate_sps());
        let calibration = radio.calibration_of(&[Side::Rx]);
        Ok(Report { path, serial, rate_sps, tuned, gain_db, calibration, cpus, policy, radio_speed, passed: recorded })
    }

    /// Plays a channel of the recording, at the rate and frequencies that it names or at others. `on_air` gets what a radio that is
    /// not takt's own transmits with, before it does.
    ///
    /// # Errors
    /// The streaming thread can't be placed; the file can't be read, names no rate, has no samples, or others than those of its hash;
    /// the radio may not transmit, can't do it, or can't follow a change of frequency; either fails on the way.
    pub fn play(
        &self,
        net: &Arc<dyn Net>,
        wish: &PlayWish,
        on_air: &mut dyn FnMut(&Emission),
        progress: &mut dyn FnMut(u64),
        stop: &Stop,
    ) -> Result<Report<PlayedRecording>, RadioError> {
        self.placement.attempt()?;
        let (reader, sha512) = open_to_play(&self.path, wish.channel)?;
        let mut passed = PlayedRecording::of(&reader, sha512, wish.channel);
        let rate_sps = wish.rate_sps.or(reader.metadata().global.sample_rate_sps);
        let (rate_sps, clock) = some_radios_rate(rate_sps.ok_or_else(|| no_rate(&self.path))?)?;
        let mut radio = self.open(net, clock)?;
        // Its frequency matters to a radio that takt can tune.
        let named_hz = reader.capture_at(reader.begins()).and_then(|capture| capture.frequency_hz);
        let is_tuned = radio.model() == Model::N200;
        passed.untuned_hz = named_hz.filter(|_| !is_tuned);
        let frequency_hz = self.front_end.frequency_hz.or(named_hz.filter(|_| is_tuned));
        let front_end = FrontEnd { frequency_hz, ..self.front_end.clone() };
        radio.may_transmit(front_end.tx_wish())?;
        let mut tx = radio.tx_streamer(&TxOptions { format: self.wire, ..TxOptions::new(rate_sps) })?;
        let FrontEndSet { tuned, gain_db } = front_end.set(&mut radio, Side::Tx, 0)?;
        let retunes = self.retunes(&Runs::of(&reader, tx.ticks_per_sample()), wish.times);
        retunes.require(&radio)?;
        announce(&radio, &retunes, on_air)?;
        let (serial, calibration) = (radio.about().serial.to_owned(), radio.calibration_of(&[Side::Tx]));
        let name = format!("{} serial {serial}", radio.about().model);
        let start: Tick = radio.time()? + tx.speed().ticks_in(tx.tick_rate(), LEAD);
        let radio_speed = radio.speed().map(Speed::seconds);
        let plan = PlayPlan { start, lead: LEAD, times: wish.times, placement: self.placement.clone() };
        let mut tuning = Tuning::begin(&mut radio, retunes, start, net.now() + LEAD)?;
        let mut look = |sent| {
            tuning.look(stop);
            progress(sent);
        };
        let played = on_its_thread("takt-tx", &mut look, |progress| {
            let played = match &self.probe {
                Some(probe) => {
                    let mut tx = probe.tx(&name, frequency_hz, &mut tx);
                    play(reader, &mut tx, &**net, plan, progress, stop)
                }
                None => play(reader, &mut tx, &**net, plan, progress, stop),
            };
            let played = played?;
            Ok((played, own_place(&self.placement)))
        });
        (passed.retunes, passed.late_retunes) = tuning.end()?;
        let (played, (cpus, policy)) = played?;
        passed.played = played;
        let path = self.path.clone();
        Ok(Report { path, serial, rate_sps, tuned, gain_db, calibration, cpus, policy, radio_speed, passed })
    }

    /// Changes of frequency on the way. One that the user names holds for all captures.
    fn retunes(&self, runs: &Runs, times: u64) -> Retunes {
        match self.front_end.frequency_hz {
            Some(_) => Retunes::default(),
            None => Retunes::of(runs, times),
        }
    }

    fn open(&self, net: &Arc<dyn Net>, clock: MasterClock) -> Result<Radio, RadioError> {
        let Session { force, transmit, reference, calibration, .. } = *self;
        let n200 = OpenOptions { force, transmit, reference, calibration, ..OpenOptions::default() };
        Radio::open(Arc::clone(net), self.addr, &AnyOptions { n200, frame_bytes: None, clock })
    }
}

/// Says what a radio that is not takt's own will transmit with: now, and at the lowest and highest frequency of the recording if
/// it changes that.
fn announce(radio: &Radio, retunes: &Retunes, on_air: &mut dyn FnMut(&Emission)) -> Result<(), RadioError> {
    radio.may_transmit(TxWish::default())?.iter().for_each(&mut *on_air);
    for hz in retunes.bounds_hz().into_iter().flatten() {
        let wish = TxWish { frequency_hz: Some(hz), ..TxWish::default() };
        radio.may_transmit(wish)?.iter().for_each(&mut *on_air);
    }
    Ok(())
}

/// Does `work` on a thread of that name, which says how far it is; the calling one waits, and passes that on to `progress`.
fn on_its_thread<T: Send>(
    name: &str,
    progress: &mut dyn FnMut(u64),
    work: impl FnOnce(&mut dyn FnMut(u64)) -> Result<T, RadioError> + Send,
) -> Result<T, RadioError> {
    let passed = AtomicU64::new(0);
    let (working, over) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let passed = &passed;
        let worker = thread::Builder::new().name(name.to_owned()).spawn_scoped(scope, move || {
            // Gone when the thread ends, however it ends.
            let _working = working;
            work(&mut |samples| passed.store(samples, Ordering::Relaxed))
        });
        let worker = worker.map_err(RadioError::Thread)?;
        while over.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
            progress(passed.load(Ordering::Relaxed));
        }
        progress(passed.load(Ordering::Relaxed));
        worker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// The cores that the calling thread is tied to, as the kernel has them, if it was to be tied to some; and its policy.
fn own_place(wanted: &Placement) -> (Vec<usize>, Option<String>) {
    let cpus = if wanted.cpus.is_empty() { Vec::new() } else { own_cpus() };
    (cpus, policy(0).ok().map(|policy| policy.to_string()))
}

/// The rate, made exact, if one of takt's radios has it, and the master clock that an X310 needs for it.
fn some_radios_rate(rate_sps: f64) -> Result<(f64, MasterClock), RadioError> {
    let of_x310 = MasterClock::making(rate_sps);
    let clock = of_x310.map_or(MasterClock::default(), |(clock, _)| clock);
    match (exact_rate(rate_sps), of_x310) {
        (Ok(factor), _) => Ok((factor.rate_sps(), clock)),
        (Err(_), Some((_, factor))) => Ok((factor.rate_sps(clock.hz()), clock)),
        (Err(error), None) => Err(error),
    }
}

fn no_rate(path: &Path) -> RadioError {
    RadioError::File(FileError::Unexpected {
        path: path.to_owned(),
        place: "/global/core:sample_rate".to_owned(),
        found: "missing".to_owned(),
        expected: "the rate to play at".to_owned(),
        fix: "name the rate: --rate 1M".to_owned(),
    })
}
