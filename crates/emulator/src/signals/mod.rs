//! The radio's input and the way of its signal, opened together: a loopback ties the two.
//!
//! ```
//! use takt_base::TickRate;
//! use takt_emulator::signals::{self, Setting};
//! let setting = Setting { clock: TickRate::from_hz(100_000_000).unwrap(), hw: "N200 EMU001".to_owned(), utc_at_tick_0_ns: None };
//! let (source, sink) = ("loopback".parse().unwrap(), "null".parse().unwrap());
//! let (signals, watch) = signals::open(&source, &sink, &setting).unwrap();
//! drop(signals); // with the device that had them
//! assert_eq!(watch.finish().source.lost_samples, 0);
//! ```

mod recording;
mod tapped;

use std::error::Error;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};
use takt_base::{Complex32, Tick, TickRate};
use takt_dsp::MAX_STEP;
use takt_dsp::file::{FileError, SampleReader};
use takt_live::Spectrum;

use crate::loopback;
use crate::sink::{self, BurstEdges, Memory, Null, Recording, Sink};
use crate::source::playback::{Origin, Playback};
use crate::source::read_ahead::{ReadAhead, Shared};
use crate::source::samples::Samples;
use crate::source::store::Store;
use crate::source::{self, Counter, Noise, Silence, Source, Tone};
use tapped::{TapView, tapped};

use crate::timebase::Timebase;

pub use crate::sink::Setting;
pub use crate::text::SpecError;

/// Connections of a transmitter and its receivers.
pub struct Signals {
    /// For each of two receivers: what its antenna receives.
    pub sources: [Box<dyn Source>; 2],
    pub sink: Box<dyn Sink>,
}

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SignalError {
    #[error("{what} {spec} can't be used")]
    File {
        what: &'static str,
        spec: String,
        #[source]
        source: Box<FileError>,
    },
    /// A recording at a rate that is no whole number of ticks a sample.
    #[error(
        "source {spec} has {rate_sps} S/s, which is not the clock of {clock_hz} Hz divided by a whole number up to \
         {MAX_STEP}"
    )]
    Rate { spec: String, rate_sps: f64, clock_hz: u32, nearest_sps: [f64; 2] },
    #[error("source {spec} has no sample rate: {} names none", path.display())]
    NoRate { spec: String, path: PathBuf },
    #[error("takt can't start a thread for {spec}")]
    Thread {
        spec: String,
        #[source]
        source: io::Error,
    },
}

impl SignalError {
    #[must_use]
    pub fn fix(&self) -> String {
        match self {
            SignalError::File { source, .. } => source.fix(),
            SignalError::Rate { nearest_sps: [below, above], .. } => {
                format!("resample the recording to {below} or {above} S/s, or play its data file sample by sample: --source file:path=NAME.sigmf-data,format=...")
            }
            SignalError::NoRate { .. } => {
                "add core:sample_rate to its global object, or play its data file sample by sample: --source file:path=NAME.sigmf-data,format=...".to_owned()
            }
            SignalError::Thread { .. } => "allow this user more threads (ulimit -u)".to_owned(),
        }
    }
}

/// State of the signals so far.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignalReport {
    pub source: SourceReport,
    pub sink: SinkReport,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceReport {
    /// Samples of a file that the disk did not deliver in time: silence was received.
    pub starved_samples: u64,
    /// Samples of a loopback, or of an air, that were overwritten before they were received.
    pub lost_samples: u64,
    /// Samples received through an air that were beyond full scale.
    #[serde(default)] // summaries older than this key
    pub clipped_samples: u64,
    /// Why a file ended early.
    pub error: Option<String>,
}

/// Samples sent to a sink that records.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SinkReport {
    pub samples: u64,
    /// Samples that the disk was too slow for, or refused.
    pub dropped_samples: u64,
    /// Samples written that were beyond full scale.
    pub clipped_samples: u64,
    pub files: u64,
    /// Samples sent through an air that came too late to be received: the emulator was late itself.
    #[serde(default)] // summaries older than this key
    pub late_samples: u64,
    pub error: Option<String>,
}

impl SignalReport {
    /// Report of two parts of a radio together.
    #[must_use]
    pub fn joined(self, other: SignalReport) -> SignalReport {
        let (source, sink) = (self.source, self.sink);
        SignalReport {
            source: SourceReport {
                starved_samples: source.starved_samples + other.source.starved_samples,
                lost_samples: source.lost_samples + other.source.lost_samples,
                clipped_samples: source.clipped_samples + other.source.clipped_samples,
                error: source.error.or(other.source.error),
            },
            sink: SinkReport {
                samples: sink.samples + other.sink.samples,
                dropped_samples: sink.dropped_samples + other.sink.dropped_samples,
                clipped_samples: sink.clipped_samples + other.sink.clipped_samples,
                files: sink.files + other.sink.files,
                late_samples: sink.late_samples + other.sink.late_samples,
                error: sink.error.or(other.sink.error),
            },
        }
    }
}

impl AirCounts {
    /// Samples that were overwritten before they were received.
    #[must_use]
    pub fn lost_samples(&self) -> u64 {
        self.lost.load(Relaxed)
    }

    /// Samples received that were beyond full scale.
    #[must_use]
    pub fn clipped_samples(&self) -> u64 {
        self.clipped.load(Relaxed)
    }

    /// Samples sent that came too late to be received.
    #[must_use]
    pub fn late_samples(&self) -> u64 {
        self.late.load(Relaxed)
    }
}

/// Counts what becomes of the signals while a device has them.
pub struct Watch {
    ahead: Vec<Arc<Shared>>,
    lost: Option<Arc<AtomicU64>>,
    recording: Option<Recording>,
    memory: Option<(Recording, Memory)>,
    air: AirCounts,
    taps: Vec<TapView>,
}

/// Counts of an air for a radio's antenna.
#[derive(Clone, Debug, Default)]
pub struct AirCounts {
    pub(crate) lost: Arc<AtomicU64>,
    pub(crate) clipped: Arc<AtomicU64>,
    pub(crate) late: Arc<AtomicU64>,
}

impl Watch {
    #[must_use]
    pub fn report(&self) -> SignalReport {
        SignalReport {
            source: self.source(),
            sink: SinkReport {
                late_samples: self.air.late_samples(),
                ..self.recording.as_ref().map(|r| sink_report(&r.counts)).unwrap_or_default()
            },
        }
    }

    /// Keeps what is sent in memory as well, at most so many samples.
    pub(crate) fn remember(
        &mut self,
        signals: Signals,
        setting: &Setting,
        most_samples: u64,
    ) -> Result<Signals, SignalError> {
        let thread = |source| SignalError::Thread { spec: "memory".to_owned(), source };
        let (ring, recording, memory) = sink::remember(setting, most_samples).map_err(thread)?;
        self.memory = Some((recording, memory));
        Ok(Signals { sink: Both::of(ring, signals.sink), ..signals })
    }

    /// Bursts that were sent, if they are kept in memory.
    #[must_use]
    pub fn memory(&self) -> Option<Memory> {
        self.memory.as_ref().map(|(_, memory)| memory.clone())
    }

    /// Lets [`spectra`](Watch::spectra) see what the receivers get.
    pub(crate) fn tap(&mut self, signals: Signals, setting: &Setting) -> Signals {
        let mut number = 0;
        let sources = signals.sources.map(|source| {
            let (source, view) = tapped(source, format!("{} rx {number}", setting.hw), setting.clock.hz());
            self.taps.push(view);
            number += 1;
            source
        });
        Signals { sources, ..signals }
    }

    /// Spectrum of what each receiver got last, of those that got something within the last second.
    #[must_use]
    pub fn spectra(&self) -> Vec<Spectrum> {
        self.taps.iter().filter_map(TapView::spectrum).collect()
    }

    /// Counts what an air counts of this antenna as well.
    pub(crate) fn with_air(mut self, air: AirCounts) -> Watch {
        self.air = air;
        self
    }

    /// When the device is gone: waits until files are complete, then reports.
    #[must_use]
    pub fn finish(mut self) -> SignalReport {
        if let Some((recording, _)) = self.memory.take() {
            recording.finish();
        }
        let sink = self.recording.take().map(|recording| sink_report(&recording.finish()));
        let late_samples = self.air.late_samples();
        SignalReport { source: self.source(), sink: SinkReport { late_samples, ..sink.unwrap_or_default() } }
    }

    fn source(&self) -> SourceReport {
        SourceReport {
            starved_samples: self.ahead.iter().map(|shared| shared.starved.load(Relaxed)).sum(),
            lost_samples: self.lost.as_ref().map_or(0, |lost| lost.load(Relaxed)) + self.air.lost_samples(),
            clipped_samples: self.air.clipped_samples(),
            error: self.ahead.iter().find_map(|shared| shared.error.get()).map(in_full),
        }
    }
}

fn sink_report(counts: &sink::Counts) -> SinkReport {
    SinkReport {
        samples: counts.samples.load(Relaxed),
        dropped_samples: counts.dropped.load(Relaxed),
        clipped_samples: counts.clipped.load(Relaxed),
        files: counts.files.load(Relaxed),
        late_samples: 0,
        error: counts.error.get().map(in_full),
    }
}

/// An error and its cause, in a line.
fn in_full(error: &FileError) -> String {
    match error.source() {
        Some(cause) => format!("{error}: {cause}"),
        None => error.to_string(),
    }
}

/// Opens files, starts the threads that serve them, and ties the loopback.
///
/// # Errors
/// If a file is missing, foreign or cannot be created, or a recording has a rate that no radio has.
pub fn open(source: &source::Spec, sink: &sink::Spec, setting: &Setting) -> Result<(Signals, Watch), SignalError> {
    let mut watch =
        Watch { ahead: vec![], lost: None, recording: None, memory: None, air: AirCounts::default(), taps: vec![] };
    let wrong = |source| SignalError::File { what: "sink", spec: sink.to_string(), source: Box::new(source) };
    let mut out: Box<dyn Sink> = Box::new(Null);
    if let Some((recorder, recording)) = sink::start(sink, setting).map_err(wrong)? {
        let thread = |source| SignalError::Thread { spec: sink.to_string(), source };
        watch.recording = Some(recording.map_err(thread)?);
        out = Box::new(recorder);
    }
    let sources = match source {
        source::Spec::Loopback => {
            let (cable, end) = loopback::pair(setting.clock, loopback::CAPACITY);
            watch.lost = Some(end.lost_samples());
            out = Both::of(cable, out);
            twice(end)
        }
        _ => pair(source, setting.clock, &mut watch)?,
    };
    Ok((Signals { sources, sink: out }, watch))
}

/// The source of each receiver: both are on one antenna and receive the same.
fn pair(spec: &source::Spec, clock: TickRate, watch: &mut Watch) -> Result<[Box<dyn Source>; 2], SignalError> {
    Ok(match spec {
        source::Spec::Silence | source::Spec::Loopback => twice(Silence),
        source::Spec::Counter => twice(Counter),
        source::Spec::Tone { offset_hz, amplitude } => twice(Tone::new(clock, *offset_hz, *amplitude)),
        source::Spec::Noise { power_dbfs, seed } => twice(Noise::new(*power_dbfs, *seed)),
        source::Spec::File { path, format, repeat, raw } => {
            let file = || SampleReader::open(path, *format).map_err(|source| file_error(spec, source));
            play(spec, file, *repeat, *raw, None, watch)?
        }
        source::Spec::Sigmf { path, channel, repeat, raw } => {
            let open = || recording::open(spec, path, *channel);
            let step = recording::step(spec, path, &open()?, clock)?;
            play(spec, || Ok(open()?.into_data()), *repeat, *raw, Some(step), watch)?
        }
    })
}

fn twice<S: Source + Clone + 'static>(source: S) -> [Box<dyn Source>; 2] {
    [Box::new(source.clone()), Box::new(source)]
}

fn play<S: Samples + 'static>(
    spec: &source::Spec,
    open: impl Fn() -> Result<S, SignalError>,
    repeat: bool,
    raw: bool,
    step: Option<u32>,
    watch: &mut Watch,
) -> Result<[Box<dyn Source>; 2], SignalError> {
    let origin = Origin::unknown();
    let loaded = open()?.load().map_err(|source| file_error(spec, source))?.map(Arc::new);
    let mut one = || -> Result<Box<dyn Source>, SignalError> {
        let store = match &loaded {
            Some(loaded) => Store::Loaded(loaded.clone(), repeat),
            None => {
                let thread = |source| SignalError::Thread { spec: spec.to_string(), source };
                let ahead = ReadAhead::start(open()?, repeat).map_err(thread)?;
                watch.ahead.push(ahead.shared.clone());
                Store::Ahead(ahead)
            }
        };
        Ok(Box::new(Playback::new(store, raw, origin.clone(), step)))
    };
    Ok([one()?, one()?])
}

fn file_error(spec: &source::Spec, source: FileError) -> SignalError {
    SignalError::File { what: "source", spec: spec.to_string(), source: Box::new(source) }
}

/// A cable, and whatever else the signal goes to.
pub(crate) struct Both(loopback::LoopbackSink, Box<dyn Sink>);

impl Both {
    /// The cable alone where the other throws everything away.
    pub(crate) fn of(cable: loopback::LoopbackSink, other: Box<dyn Sink>) -> Box<dyn Sink> {
        if other.wants_samples() { Box::new(Both(cable, other)) } else { Box::new(cable) }
    }
}

impl Sink for Both {
    fn clocked(&mut self, from: Tick, base: Timebase) {
        self.0.clocked(from, base);
        self.1.clocked(from, base);
    }

    fn oscillator(&mut self, from: Tick, hz: f64) {
        self.0.oscillator(from, hz);
        self.1.oscillator(from, hz);
    }

    fn tuned(&mut self, from: Tick, centre_hz: f64) {
        self.0.tuned(from, centre_hz);
        self.1.tuned(from, centre_hz);
    }

    fn burst(&mut self, first: Tick, device_tick: u64) {
        self.0.burst(first, device_tick);
        self.1.burst(first, device_tick);
    }

    fn passed(&mut self, until: Tick) {
        self.0.passed(until);
        self.1.passed(until);
    }

    fn take(&mut self, first: Tick, step: u32, samples: &[Complex32], edges: BurstEdges) {
        self.0.take(first, step, samples, edges);
        self.1.take(first, step, samples, edges);
    }
}
