//! The thread that receives: from a streamer to whole slots, handed to components without a lock.
//!
//! ```text
//!  streamer ──> slicer ──> cell of a slot ──full──>  radio-receive (a worker)
//!                              ^──────────empty──────────┘            8 cells a channel, moved, never copied
//!                              └──> beat: the slot is released
//! ```
//!
//! Why a thread of its own, and not the worker: datagrams come all through a slot and fill a socket's buffer at high rates; after
//! an overflow the radio has to be spoken to, which takes milliseconds; and several channels may lie on several workers. The
//! worker watches a word in memory for the slot's end. The price is a hand-over between two threads in
//! each slot, which is in what `takt run --clock radio` tells as wake-up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rtrb::{Consumer, Producer, RingBuffer};
use takt_base::{Complex32, MonoNs, Stop};
use takt_radio::n200::{RxStats, RxStreamer};
use takt_radio::{Net, RadioError, RxStream};
use takt_soapy::SoapyRx;

use crate::beat::{Drift, RadioSlotClock};
use crate::budget::Timeline;
use crate::{Slicer, SlotEnd, SlotGrid};

/// Slots of a channel between the thread and its component: a worker further behind has missed them.
const CELLS: usize = 8;

/// How long a read lasts at most: a request to stop waits for it.
const LOOK: Duration = Duration::from_millis(20);

/// How long the end of a stream is waited for; of a slow radio, longer.
const END: Duration = Duration::from_millis(200);

/// The samples of a slot.
pub(crate) struct Cell {
    pub(crate) slot: u64,
    pub(crate) samples: Box<[Complex32]>,
}

/// A channel's ends for its component.
pub(crate) struct CellQueues {
    pub(crate) full: Consumer<Cell>,
    pub(crate) empty: Producer<Cell>,
}

/// The same for the thread.
struct Channel {
    current: Cell,
    full: Producer<Cell>,
    empty: Consumer<Cell>,
}

/// A channel of so many samples a slot, with all the memory it will need.
fn channel(samples: usize) -> (Channel, CellQueues) {
    let cell = || Cell { slot: 0, samples: vec![Complex32::default(); samples].into() };
    let (full, taken) = RingBuffer::new(CELLS);
    let (mut given, empty) = RingBuffer::new(CELLS);
    for _ in 1..CELLS {
        // As many places as cells.
        let _ = given.push(cell());
    }
    (Channel { current: cell(), full, empty }, CellQueues { full: taken, empty: given })
}

/// Counts of the stream so far.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) lost_slots: AtomicU64,
    pub(crate) lost_samples: AtomicU64,
    pub(crate) overflow_slots: AtomicU64,
    /// Whole slots that no cell was free for: the component was behind.
    pub(crate) crowded_slots: AtomicU64,
    /// The stream does not show each loss, so that its counts of them are open.
    pub(crate) hides_losses: AtomicBool,
}

/// Only the thread that receives counts; the others read. So a load and a store do, and no bus is locked.
fn add(count: &AtomicU64, more: u64) {
    count.store(count.load(Ordering::Relaxed) + more, Ordering::Relaxed);
}

/// A stream that comes in, by takt's own driver or a device's.
pub(crate) enum Incoming {
    Own(Box<RxStreamer>),
    Device(Box<SoapyRx>),
}

impl Incoming {
    fn stream(&mut self) -> &mut dyn RxStream {
        match self {
            Incoming::Own(rx) => &mut **rx,
            Incoming::Device(rx) => &mut **rx,
        }
    }

    /// When what came last was in this host; `None`: the driver does not say.
    fn last_arrival(&self) -> Option<MonoNs> {
        match self {
            Incoming::Own(rx) => rx.last_arrival(),
            Incoming::Device(_) => None,
        }
    }

    fn shows_losses(&self) -> bool {
        match self {
            Incoming::Own(_) => true,
            Incoming::Device(rx) => rx.shows_losses(),
        }
    }
}

/// Receives, on whatever thread calls it.
pub(crate) struct Pump {
    rx: Incoming,
    slicer: Slicer,
    channels: Vec<Channel>,
    net: Arc<dyn Net>,
    beat: Arc<RadioSlotClock>,
    timeline: Arc<Timeline>,
    tally: Arc<Tally>,
    drift: Drift,
}

impl Pump {
    /// Pump of a streamer that will begin at the grid's start; and the ends of its channels.
    pub(crate) fn new(
        rx: Incoming,
        grid: SlotGrid,
        net: Arc<dyn Net>,
        (beat, timeline, tally): (Arc<RadioSlotClock>, Arc<Timeline>, Arc<Tally>),
        channels: usize,
    ) -> (Pump, Vec<CellQueues>) {
        let (channels, ends) = (0..channels).map(|_| channel(grid.samples as usize)).unzip();
        let (slicer, drift) = (Slicer::new(grid), Drift::default());
        (Pump { rx, slicer, channels, net, beat, timeline, tally, drift }, ends)
    }

    pub(crate) fn incoming(&mut self) -> &mut Incoming {
        &mut self.rx
    }

    /// The grid has its start now.
    pub(crate) fn begin(&mut self, grid: SlotGrid) {
        self.slicer = Slicer::new(grid);
    }

    /// Receives until a slot is over and handed over, or until then.
    pub(crate) fn step(&mut self, until: MonoNs) -> Result<Option<SlotEnd>, RadioError> {
        let cells = self.channels.iter_mut().map(|channel| &mut channel.current.samples[..]);
        let end = self.slicer.step(self.rx.stream(), cells, until)?;
        if let Some(end) = end {
            self.end_slot(end);
        }
        Ok(end)
    }

    fn end_slot(&mut self, end: SlotEnd) {
        let SlotEnd { slot, lost_samples, overflow } = end;
        self.tally.hides_losses.store(!self.rx.shows_losses(), Ordering::Relaxed);
        // An overflow that lost nothing is one of which nobody knows what it lost.
        if lost_samples == 0 && !overflow {
            self.hand_over(slot);
        } else {
            add(&self.tally.lost_slots, 1);
            add(&self.tally.lost_samples, lost_samples);
            add(&self.tally.overflow_slots, overflow.into());
        }
        self.beat.release(slot + 1);
    }

    fn hand_over(&mut self, slot: u64) {
        let arrived = self.rx.last_arrival().unwrap_or_else(|| self.net.now());
        self.timeline.arrived(slot, arrived);
        let due = self.beat.begins(slot + 1);
        if let Some(by_ns) = self.drift.arrived(arrived.0.wrapping_sub(due.0).cast_signed()) {
            self.beat.shift(by_ns);
        }
        self.beat.arrives_after(self.drift.way_ns());
        let mut crowded = false;
        for Channel { current, full, empty } in &mut self.channels {
            let Ok(next) = empty.pop() else {
                crowded = true;
                continue;
            };
            let mut cell = std::mem::replace(current, next);
            cell.slot = slot;
            // There are as many places as cells.
            let _ = full.push(cell);
        }
        add(&self.tally.crowded_slots, crowded.into());
    }

    /// Receives until `halt`; then ends the stream in good order. When the stream breaks, `run` is stopped.
    pub(crate) fn run(mut self, halt: &Stop, run: &Stop) -> (Pump, Result<(), RadioError>) {
        let mut came = Ok(());
        while came.is_ok() && !halt.requested() && !self.slicer.has_ended() {
            came = self.step(self.net.now() + LOOK).map(drop);
        }
        self.beat.end();
        if came.is_ok() && !self.slicer.has_ended() {
            came = self.finish();
        } else {
            run.request();
        }
        (self, came)
    }

    /// Stops the radio, and takes in what is on its way.
    pub(crate) fn finish(&mut self) -> Result<(), RadioError> {
        let rx = match &mut self.rx {
            Incoming::Own(rx) => rx,
            // A device does not say which sample was the last.
            Incoming::Device(rx) => return rx.stop(),
        };
        rx.stop()?;
        let until = self.net.now() + rx.speed().patience(END);
        while !self.slicer.has_ended() && self.net.now() < until {
            self.step(until)?;
        }
        Ok(())
    }

    /// Counts of the streamer of takt's own driver; `None` through a device.
    pub(crate) fn stats(&self) -> Option<RxStats> {
        match &self.rx {
            Incoming::Own(rx) => Some(rx.stats()),
            Incoming::Device(_) => None,
        }
    }
}
