//! [`RadioClock`]: the radio that sets the beat of a waveform, and the thread that receives from it.

use std::net::IpAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use takt_base::{MonoNs, Speed, Stop, Tick, TickRate, Ticks};
use takt_host::policy::{Policy, set_policy};
use takt_radio::board::Side;
use takt_radio::calibration::AppliedTable;
use takt_radio::n200::{Emission, OpenOptions, RxOptions, RxStats, TxOptions, TxWish};
use takt_radio::x310::MasterClock;
use takt_radio::{AnyOptions, Net, Radio, RadioError};
use takt_runtime::{Edges, MakeError, Registry};
use takt_soapy::{DeviceSpec, SoapyError};
use takt_wire::chdr::DataHead;
use takt_wire::n200::RxHead;
use takt_wire::sample::Format;

use crate::budget::Timeline;
use crate::device::{DeviceBursts, DeviceRadio};
use crate::pump::{CellQueues, Incoming, Pump, Tally};
use crate::receive::{self, Receive};
use crate::transmit::{self, Timing, Transmit};
use crate::{DeviceReport, RadioRequirements, RadioSlotClock, ReplyBursts, SlotEnd, SlotGrid};

/// How far ahead the stream starts. A start that comes after its time begins nothing.
const LEAD: Duration = Duration::from_millis(200);

/// Questions for the radio's time; the quickest answer counts.
const QUESTIONS: u32 = 32;

/// The radio behind a beat.
enum Source {
    Own(Box<Radio>),
    Device(DeviceRadio),
}

/// Counts of a stream by its end.
#[derive(Debug, Default)]
pub struct RadioEnd {
    /// Counts of takt's own driver; `None` through a device.
    pub receive: Option<RxStats>,
    /// Counts that the driver of a device showed.
    pub device: Option<DeviceReport>,
}

/// A radio that sets the beat of a waveform.
pub struct RadioClock {
    radio: Source,
    wanted: RadioRequirements,
    net: Arc<dyn Net>,
    pump: Option<Pump>,
    shared: Shared,
    ends: Vec<Arc<Mutex<Option<CellQueues>>>>,
    answers: Arc<Mutex<Option<ReplyBursts>>>,
    halt: Stop,
    thread: Option<JoinHandle<(Pump, Result<(), RadioError>)>>,
}

/// State that the thread and the components share.
#[derive(Clone)]
struct Shared {
    grid: Arc<OnceLock<SlotGrid>>,
    beat: Arc<RadioSlotClock>,
    timeline: Arc<Timeline>,
    tally: Arc<Tally>,
    /// The radio has not reported all that came too late, as [`ReplyBursts::reports_faults`] says in the end.
    hides_faults: Arc<AtomicBool>,
}

impl RadioClock {
    /// Opens the radio at `addr`, of either model, as a waveform wants it. `options` are those of an N200; an X310 uses what
    /// [`AnyOptions`] says.
    ///
    /// # Errors
    /// There is none, it may not transmit and is to, or it can't do that.
    pub fn open(
        net: Arc<dyn Net>,
        addr: IpAddr,
        wanted: &RadioRequirements,
        options: &OpenOptions,
    ) -> Result<RadioClock, RadioError> {
        let clock = MasterClock::making(wanted.rate_sps).map_or(MasterClock::default(), |(clock, _)| clock);
        let options = AnyOptions { n200: *options, frame_bytes: None, clock };
        let mut radio = Radio::open(Arc::clone(&net), addr, &options)?;
        if let Some(front_end) = &wanted.transmit {
            radio.may_transmit(front_end.tx_wish())?;
        }
        let rx = RxOptions {
            channels: wanted.channels.clone(),
            stamps: true,
            // Each datagram as it comes: an answer waits for the last of a slot.
            coalesce: Duration::ZERO,
            samples_per_datagram: whole_datagrams(wanted.samples, most_samples(&radio)),
            ..RxOptions::new(wanted.rate_sps)
        };
        let rx = radio.rx_streamer(&rx)?;
        let tx = wanted.transmit.as_ref().map(|_| radio.tx_streamer(&TxOptions::new(wanted.rate_sps))).transpose()?;
        for &channel in &wanted.channels {
            wanted.receive.set(&mut radio, Side::Rx, channel)?;
        }
        if let Some(front_end) = &wanted.transmit {
            front_end.set(&mut radio, Side::Tx, 0)?;
        }
        let (radio, rx) = (Source::Own(Box::new(radio)), Incoming::Own(Box::new(rx)));
        Ok(RadioClock::over(radio, rx, tx.map(ReplyBursts::new), wanted, net))
    }

    /// Opens a device of SoapySDR as a waveform wants it. `transmit`: the user allows it.
    ///
    /// # Errors
    /// There is none, it may not transmit and is to, or it can't do that.
    pub fn through(
        net: Arc<dyn Net>,
        device: &DeviceSpec,
        wanted: &RadioRequirements,
        transmit: bool,
    ) -> Result<RadioClock, SoapyError> {
        let (radio, (rx, tx)) = DeviceRadio::open(device, wanted, transmit)?;
        let most = usize::try_from(wanted.samples).unwrap_or(usize::MAX);
        let tx = tx.map(|tx| DeviceBursts::start(tx, most)).transpose()?;
        let (radio, rx) = (Source::Device(radio), Incoming::Device(Box::new(rx)));
        Ok(RadioClock::over(radio, rx, tx.map(ReplyBursts::through), wanted, net))
    }

    fn over(
        radio: Source,
        rx: Incoming,
        tx: Option<ReplyBursts>,
        wanted: &RadioRequirements,
        net: Arc<dyn Net>,
    ) -> RadioClock {
        let speed = radio.speed().unwrap_or_default();
        let shared = Shared {
            grid: Arc::new(OnceLock::new()),
            beat: Arc::new(RadioSlotClock::new(slot_on_host_ns(wanted, speed))),
            timeline: Arc::new(Timeline::new()),
            tally: Arc::new(Tally::default()),
            hides_faults: Arc::default(),
        };
        let observers = (Arc::clone(&shared.beat), Arc::clone(&shared.timeline), Arc::clone(&shared.tally));
        // The pump gets its grid when the stream begins.
        let grid = SlotGrid { start: Tick(0), step: Ticks(1), samples: wanted.samples };
        let (pump, ends) = Pump::new(rx, grid, Arc::clone(&net), observers, wanted.channels.len());
        RadioClock {
            radio,
            wanted: wanted.clone(),
            net,
            pump: Some(pump),
            shared,
            ends: ends.into_iter().map(|ends| Arc::new(Mutex::new(Some(ends)))).collect(),
            answers: Arc::new(Mutex::new(tx)),
            halt: Stop::new(),
            thread: None,
        }
    }

    /// Emission of the waveform; `None` if it does not transmit, or the radio is takt's own. A device of SoapySDR does not say
    /// whether it is.
    ///
    /// # Errors
    /// As `N200::may_transmit` of takt-radio.
    pub fn on_air(&self) -> Result<Option<Emission>, RadioError> {
        match &self.radio {
            Source::Own(radio) if self.wanted.transmit.is_some() => radio.may_transmit(TxWish::default()),
            Source::Own(_) => Ok(None),
            Source::Device(radio) => Ok(radio.emission()),
        }
    }

    /// Files of corrections of the sides that the waveform uses. takt has none for a device of SoapySDR.
    #[must_use]
    pub fn calibration(&self) -> Vec<AppliedTable> {
        match (&self.radio, &self.wanted.transmit) {
            (Source::Own(radio), Some(_)) => radio.calibration_of(&[Side::Rx, Side::Tx]),
            (Source::Own(radio), None) => radio.calibration_of(&[Side::Rx]),
            (Source::Device(_), _) => Vec::new(),
        }
    }

    /// How fast the radio's time passes beside this host's; `None`: hardware, which does not say.
    #[must_use]
    pub fn speed(&self) -> Option<Speed> {
        self.radio.speed()
    }

    /// From now on the registry makes components that belong to this radio, one for each receiver and transmitter.
    pub fn equip(&self, registry: &mut Registry) {
        let (ends, channels) = (self.ends.clone(), self.wanted.channels.clone());
        let (net, shared) = (Arc::clone(&self.net), self.shared.clone());
        registry.equip(
            receive::KIND,
            Arc::new(move |params| {
                let index = channels.iter().position(|&channel| params.int("channel") == Some(channel.into()));
                let own = index.and_then(|index| Some((index, take(&ends[index])?))).ok_or_else(gone)?;
                let (timeline, tally) = (Arc::clone(&shared.timeline), Arc::clone(&shared.tally));
                Ok(Box::new(Receive::new(own, Arc::clone(&net), timeline, tally)))
            }),
        );
        let (answers, net, shared) = (Arc::clone(&self.answers), Arc::clone(&self.net), self.shared.clone());
        let speed = self.speed().unwrap_or_default();
        registry.equip(
            transmit::KIND,
            Arc::new(move |params| {
                let answers = take(&answers).ok_or_else(gone)?;
                let Shared { grid, beat, timeline, hides_faults, .. } = shared.clone();
                let timing = Timing::of(params, speed);
                let made = Transmit::new(timing, Arc::clone(&net), (grid, beat, timeline), answers);
                Ok(Box::new(made.telling(hides_faults).pausing(params.bool("pauses") == Some(true))))
            }),
        );
    }

    /// The beat that workers follow.
    #[must_use]
    pub fn edges(&self) -> Arc<dyn Edges> {
        Arc::clone(&self.shared.beat) as Arc<dyn Edges>
    }

    /// Starts the stream, a little ahead, and the thread that receives it; asks `run` to stop when the stream breaks. A net
    /// without threads has none: there [`RadioClock::step`] receives.
    /// `fifo_priority`: of the thread, where the host grants it.
    ///
    /// # Errors
    /// The radio does not answer, or there is no thread to be had.
    pub fn start(&mut self, fifo_priority: Option<u8>, run: &Stop) -> Result<(), RadioError> {
        let Some(pump) = self.begin()? else { return Ok(()) };
        if !self.net.threads() {
            self.pump = Some(pump);
            return Ok(());
        }
        let (halt, run) = (self.halt.clone(), run.clone());
        let is_device = matches!(self.radio, Source::Device(_));
        let body = move || {
            // A driver of another maker's inherits no priority of takt's.
            if let Some(priority) = fifo_priority.filter(|_| !is_device) {
                // Refused, it is refused to the workers as well, and the report says so.
                let _ = set_policy(0, Policy::Fifo { priority });
            }
            pump.run(&halt, &run)
        };
        let thread = std::thread::Builder::new().name("takt-radio".to_owned()).spawn(body);
        self.thread = Some(thread.map_err(RadioError::Thread)?);
        Ok(())
    }

    /// Receives until a slot is over, or until then, where no thread does. Fails if the stream is over.
    pub fn step(&mut self, until: MonoNs) -> Result<Option<SlotEnd>, RadioError> {
        self.pump.as_mut().map_or(Ok(None), |pump| pump.step(until))
    }

    /// Grid of slots on the radio's clock, once it has begun.
    #[must_use]
    pub fn grid(&self) -> Option<SlotGrid> {
        self.shared.grid.get().copied()
    }

    /// Gives the stream its start, on both clocks.
    fn begin(&mut self) -> Result<Option<Pump>, RadioError> {
        let Some(mut pump) = self.pump.take() else { return Ok(None) };
        let (start, begin) = match (&mut self.radio, pump.incoming()) {
            (Source::Own(radio), Incoming::Own(_)) => {
                let reading = radio.read_clocks(QUESTIONS)?;
                // The quickest answer may be the first; ahead is ahead of the last.
                let begin = self.net.now() + LEAD;
                (reading.tick_at(begin), begin)
            }
            (Source::Device(radio), Incoming::Device(rx)) => radio.begin(rx)?,
            // They are made together, of one kind.
            _ => return Ok(None),
        };
        let grid = match &self.radio {
            Source::Own(radio) => self.wanted.grid(start, radio.clock()),
            // A tick of a device is a sample.
            Source::Device(_) => SlotGrid { start, step: Ticks(1), samples: self.wanted.samples },
        };
        self.shared.beat.begin(begin);
        let _ = self.shared.grid.set(grid);
        pump.begin(grid);
        if let Incoming::Own(rx) = pump.incoming() {
            rx.start(Some(start))?;
        }
        Ok(Some(pump))
    }

    /// Ends the stream in good order, and tells what it saw.
    ///
    /// # Errors
    /// The stream had broken.
    pub fn finish(mut self) -> Result<RadioEnd, RadioError> {
        self.halt.request();
        let ended = self.thread.take().map(JoinHandle::join);
        let pump = match ended {
            Some(Ok((pump, came))) => came.map(|()| Some(pump))?,
            // A panic of the thread was printed when it happened.
            Some(Err(_)) => None,
            None => self.pump.take().map_or(Ok(None), |mut pump| pump.finish().map(|()| Some(pump)))?,
        };
        Ok(pump.map_or_else(RadioEnd::default, |mut pump| self.end_of(&mut pump)))
    }

    fn end_of(&self, pump: &mut Pump) -> RadioEnd {
        let receive = pump.stats();
        let (Source::Device(radio), Incoming::Device(rx)) = (&self.radio, pump.incoming()) else {
            return RadioEnd { receive, device: None };
        };
        let hides = self.shared.hides_faults.load(Ordering::Relaxed);
        let reports_faults = self.wanted.transmit.as_ref().map(|_| !hides);
        RadioEnd { receive, device: Some(radio.report(rx, reports_faults)) }
    }
}

impl Drop for RadioClock {
    fn drop(&mut self) {
        self.halt.request();
        self.shared.beat.end();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Source {
    fn speed(&self) -> Option<Speed> {
        match self {
            Source::Own(radio) => radio.speed(),
            Source::Device(_) => None,
        }
    }
}

impl RadioRequirements {
    fn grid(&self, start: Tick, clock: TickRate) -> SlotGrid {
        let slot = clock.ticks_in(Duration::from_nanos(self.slot_ns));
        SlotGrid { start, step: Ticks(slot.0 / self.samples.max(1)), samples: self.samples }
    }
}

/// The length of a slot by the host's clock. The beat corrects its rounding error as it does any drift.
fn slot_on_host_ns(wanted: &RadioRequirements, speed: Speed) -> u64 {
    let slot = speed.host_time(Duration::from_nanos(wanted.slot_ns));
    u64::try_from(slot.as_nanos()).unwrap_or(u64::MAX)
}

/// The longest datagram of which a slot is a whole number: its last sample is the last of a datagram then, and need not wait for
/// those behind it. `None`, as long as the frame: there is none of a third of that.
fn whole_datagrams(samples: u64, most: usize) -> Option<usize> {
    (most / 3..=most).rev().find(|&size| size > 0 && samples.is_multiple_of(size as u64))
}

/// Samples of the longest datagram that the radio sends.
fn most_samples(radio: &Radio) -> usize {
    let payload_bytes = match radio {
        Radio::N200(radio) => radio.frame_bytes().receive.saturating_sub(RxHead::OVERHEAD_BYTES),
        Radio::X310(radio) => radio.frame_bytes().saturating_sub(DataHead::MAX_BYTES),
    };
    payload_bytes / Format::Sc16.bytes()
}

fn take<T>(place: &Mutex<Option<T>>) -> Option<T> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn gone() -> MakeError {
    let what = "the radio's receiver or transmitter belongs to another component".to_owned();
    MakeError { what, fix: "use one component for each receiver and transmitter".to_owned() }
}
