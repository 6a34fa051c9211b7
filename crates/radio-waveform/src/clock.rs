//! [`RadioClock`]: the radio that sets the beat of a waveform, and the thread that receives from it.

use std::net::IpAddr;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use takt_base::{MonoNs, Speed, Stop, Tick, Ticks};
use takt_host::policy::{Policy, set_policy};
use takt_radio::board::Side;
use takt_radio::n200::{CLOCK, Emission, N200, OpenOptions, RxOptions, RxStats, TxOptions, TxWish};
use takt_radio::{Net, RadioError, TuneRequest};
use takt_runtime::{Edges, MakeError, Registry};
use takt_wire::n200::RxHead;
use takt_wire::sample::Format;

use crate::budget::Timeline;
use crate::pump::{CellQueues, Pump, Tally};
use crate::receive::{self, Receive};
use crate::transmit::{self, Timing, Transmit};
use crate::{FrontEnd, RadioRequirements, RadioSlotClock, ReplyBursts, SlotEnd, SlotGrid};

/// How far ahead the stream starts. A start that comes after its time begins nothing.
const LEAD: Duration = Duration::from_millis(200);

/// Questions for the radio's time; the quickest answer counts.
const QUESTIONS: u32 = 32;

/// A radio that sets the beat of a waveform.
pub struct RadioClock {
    radio: N200,
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
}

impl RadioClock {
    /// Opens the radio at `addr` as a waveform wants it.
    ///
    /// # Errors
    /// There is none, it may not transmit and is to, or it can't do that.
    pub fn open(
        net: Arc<dyn Net>,
        addr: IpAddr,
        wanted: &RadioRequirements,
        options: &OpenOptions,
    ) -> Result<RadioClock, RadioError> {
        let mut radio = N200::open(Arc::clone(&net), addr, options)?;
        if let Some(FrontEnd { frequency_hz, gain_db }) = wanted.transmit {
            radio.may_transmit(TxWish { frequency_hz, gain_db, antenna: None })?;
        }
        let rx = RxOptions {
            channels: wanted.channels.clone(),
            stamps: true,
            // Each datagram as it comes: an answer waits for the last of a slot.
            coalesce: Duration::ZERO,
            samples_per_datagram: whole_datagrams(wanted.samples, radio.frame_bytes().receive),
            ..RxOptions::new(wanted.rate_sps)
        };
        let rx = radio.rx_streamer(&rx)?;
        let tx = wanted.transmit.map(|_| radio.tx_streamer(&TxOptions::new(wanted.rate_sps))).transpose()?;
        set_up(&mut radio, Side::Rx, wanted.receive, &wanted.channels)?;
        if let Some(front_end) = wanted.transmit {
            set_up(&mut radio, Side::Tx, front_end, &[0])?;
        }
        radio.flush()?;
        let shared = Shared {
            grid: Arc::new(OnceLock::new()),
            beat: Arc::new(RadioSlotClock::new(slot_on_host_ns(wanted, radio.speed().unwrap_or_default()))),
            timeline: Arc::new(Timeline::new()),
            tally: Arc::new(Tally::default()),
        };
        let observers = (Arc::clone(&shared.beat), Arc::clone(&shared.timeline), Arc::clone(&shared.tally));
        let grid = wanted.grid(Tick(0));
        let (pump, ends) = Pump::new(rx, grid, Arc::clone(&net), observers, wanted.channels.len());
        Ok(RadioClock {
            radio,
            wanted: wanted.clone(),
            net,
            pump: Some(pump),
            shared,
            ends: ends.into_iter().map(|ends| Arc::new(Mutex::new(Some(ends)))).collect(),
            answers: Arc::new(Mutex::new(tx.map(ReplyBursts::new))),
            halt: Stop::new(),
            thread: None,
        })
    }

    /// Emission of the waveform; `None` if it does not transmit, or the radio is takt's own.
    ///
    /// # Errors
    /// As [`N200::may_transmit`].
    pub fn on_air(&self) -> Result<Option<Emission>, RadioError> {
        self.wanted.transmit.map_or(Ok(None), |_| self.radio.may_transmit(TxWish::default()))
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
                let Shared { grid, beat, timeline, .. } = shared.clone();
                let timing = Timing::of(params, speed);
                Ok(Box::new(Transmit::new(timing, Arc::clone(&net), (grid, beat, timeline), answers)))
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
        let body = move || {
            if let Some(priority) = fifo_priority {
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
        let reading = self.radio.read_clocks(QUESTIONS)?;
        // The quickest answer may be the first; ahead is ahead of the last.
        let begin = self.net.now() + LEAD;
        let start = reading.tick_at(begin);
        let grid = self.wanted.grid(start);
        self.shared.beat.begin(begin);
        let _ = self.shared.grid.set(grid);
        pump.begin(grid);
        pump.streamer().start(Some(start))?;
        Ok(Some(pump))
    }

    /// Ends the stream in good order, and tells what it saw.
    ///
    /// # Errors
    /// The stream had broken.
    pub fn finish(mut self) -> Result<RxStats, RadioError> {
        self.halt.request();
        let ended = self.thread.take().map(JoinHandle::join);
        match ended {
            Some(Ok((pump, came))) => came.map(|()| pump.stats()),
            // A panic of the thread was printed when it happened.
            Some(Err(_)) => Ok(RxStats::default()),
            None => self.pump.take().map_or(Ok(RxStats::default()), |mut pump| pump.finish().map(|()| pump.stats())),
        }
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

impl RadioRequirements {
    fn grid(&self, start: Tick) -> SlotGrid {
        let slot = CLOCK.ticks_in(Duration::from_nanos(self.slot_ns));
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
fn whole_datagrams(samples: u64, frame_bytes: usize) -> Option<usize> {
    let most = frame_bytes.saturating_sub(RxHead::OVERHEAD_BYTES) / Format::Sc16.bytes();
    (most / 3..=most).rev().find(|&size| size > 0 && samples.is_multiple_of(size as u64))
}

fn take<T>(place: &Mutex<Option<T>>) -> Option<T> {
    place.lock().unwrap_or_else(PoisonError::into_inner).take()
}

fn gone() -> MakeError {
    let what = "the radio's receiver or transmitter belongs to another component".to_owned();
    MakeError { what, fix: "a component for each".to_owned() }
}

fn set_up(radio: &mut N200, side: Side, front_end: FrontEnd, channels: &[u8]) -> Result<(), RadioError> {
    if let Some(gain_db) = front_end.gain_db {
        radio.set_gain_db(side, gain_db)?;
    }
    let Some(request) = front_end.frequency_hz.map(TuneRequest::new) else { return Ok(()) };
    for &channel in channels {
        match side {
            Side::Rx => radio.tune_rx(channel, request)?,
            Side::Tx => radio.tune_tx(request)?,
        };
    }
    Ok(())
}
