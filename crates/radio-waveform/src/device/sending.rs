//! Bursts to a device: from the worker that made them to the thread that calls the driver, without a lock or an allocation.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use rtrb::{Consumer, Producer, RingBuffer};
use takt_base::{Clock, Complex32, MonoNs, Stop, Tick, TickRate, WallClock};
use takt_host::capability::{CapabilitySet, without};
use takt_radio::{Burst, RadioError, TxEvent, TxStream};
use takt_soapy::{FaultKind, SoapyTx};

/// Bursts between the worker and the thread.
const CELLS: usize = 16;

/// Reports between the thread and the worker; more than these are dropped, and counted.
const REPORTS: usize = 1024;

/// How long the thread sleeps when there is nothing to send.
const NAP: Duration = Duration::from_micros(100);

/// How long a driver may take to take a burst.
const PATIENCE: Duration = Duration::from_millis(100);

/// A burst with its time.
struct Cell {
    at: Tick,
    length: usize,
    samples: Box<[Complex32]>,
}

/// State that the thread shares.
#[derive(Debug, Default)]
struct Shared {
    /// Bursts that the driver did not take in time.
    unsent: AtomicU64,
    /// Reports for which there was no room.
    missed_reports: AtomicU64,
    /// The driver has said that it reports nothing.
    is_silent: AtomicBool,
    /// The stream is over.
    is_over: AtomicBool,
}

/// The worker's end of the bursts of a device.
pub(crate) struct DeviceBursts {
    full: Producer<Cell>,
    empty: Consumer<Cell>,
    reports: Consumer<TxEvent>,
    shared: Arc<Shared>,
    tick_rate: TickRate,
    halt: Stop,
    thread: Option<JoinHandle<()>>,
}

/// The thread's end.
struct Sending {
    tx: SoapyTx,
    full: Consumer<Cell>,
    empty: Producer<Cell>,
    reports: Producer<TxEvent>,
    shared: Arc<Shared>,
}

impl DeviceBursts {
    /// Starts the stream and its thread, with all memory that bursts of up to so many samples need.
    ///
    /// # Errors
    /// The driver refuses, or there is no thread to be had.
    pub(crate) fn start(mut tx: SoapyTx, most_samples: usize) -> Result<DeviceBursts, RadioError> {
        tx.start()?;
        let (full, taken) = RingBuffer::new(CELLS);
        let (mut given, empty) = RingBuffer::new(CELLS);
        for _ in 0..CELLS {
            let samples = vec![Complex32::default(); most_samples].into();
            // As many places as cells.
            let _ = given.push(Cell { at: Tick(0), length: 0, samples });
        }
        let (told, reports) = RingBuffer::new(REPORTS);
        let (shared, halt, tick_rate) = (Arc::new(Shared::default()), Stop::new(), tx.tick_rate());
        let sending = Sending { tx, full: taken, empty: given, reports: told, shared: Arc::clone(&shared) };
        let halted = halt.clone();
        let thread = std::thread::Builder::new().name("takt-soapy-tx".to_owned());
        let thread = thread.spawn(move || sending.run(&halted)).map_err(RadioError::Thread)?;
        Ok(DeviceBursts { full, empty, reports, shared, tick_rate, halt, thread: Some(thread) })
    }

    /// The clock of the bursts' times.
    pub(crate) fn tick_rate(&self) -> TickRate {
        self.tick_rate
    }

    /// Hands a burst over. `false`: the thread is too far behind, or the burst is longer than a slot.
    ///
    /// # Errors
    /// The stream is over.
    pub(crate) fn send(&mut self, at: Tick, samples: &[Complex32]) -> Result<bool, RadioError> {
        if self.shared.is_over.load(Ordering::Relaxed) {
            return Err(super::foreign(FaultKind::Stream, "the stream to the device is over"));
        }
        let Ok(mut cell) = self.empty.pop() else { return Ok(false) };
        let fits = samples.len() <= cell.samples.len();
        (cell.at, cell.length) = (at, if fits { samples.len() } else { 0 });
        cell.samples.iter_mut().zip(samples).for_each(|(to, from)| *to = *from);
        // As many places as cells. The thread passes an empty one back.
        let _ = self.full.push(cell);
        Ok(fits)
    }

    /// The oldest report not yet taken, if there is one.
    fn report(&mut self) -> Option<TxEvent> {
        self.reports.pop().ok()
    }

    /// The same; waits for one until then, which a worker does only after its last slot.
    pub(crate) fn report_until(&mut self, until: MonoNs) -> Option<TxEvent> {
        loop {
            let report = self.report();
            if report.is_some() || WallClock.now() >= until {
                return report;
            }
            std::thread::sleep(NAP);
        }
    }

    /// Bursts that the driver did not take in time.
    pub(crate) fn unsent(&self) -> u64 {
        self.shared.unsent.load(Ordering::Relaxed)
    }

    /// Whether each report of the driver's has come here, so that none is none.
    pub(crate) fn reports_faults(&self) -> bool {
        !self.shared.is_silent.load(Ordering::Relaxed) && self.shared.missed_reports.load(Ordering::Relaxed) == 0
    }
}

impl Drop for DeviceBursts {
    fn drop(&mut self) {
        self.halt.request();
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was printed when it happened.
            let _ = thread.join();
        }
    }
}

impl Sending {
    fn run(mut self, halt: &Stop) {
        // Without the right to take real-time priority it only lacks what it does not use.
        let _ = without(CapabilitySet::SYS_NICE);
        while !halt.requested() {
            let sent = self.turn();
            if sent.is_err() {
                self.shared.is_over.store(true, Ordering::Relaxed);
                break;
            }
        }
        // The last burst was ended, whatever the driver does now.
        let _ = self.tx.stop();
    }

    /// Sends a burst, if there is one, and passes reports on.
    fn turn(&mut self) -> Result<(), RadioError> {
        match self.full.pop() {
            Ok(cell) => {
                let sent = self.send(&cell);
                // As many places as cells.
                let _ = self.empty.push(cell);
                sent?;
            }
            Err(_) => std::thread::sleep(NAP),
        }
        while let Some(event) = self.tx.event(MonoNs(0))? {
            if self.reports.push(event).is_err() {
                self.shared.missed_reports.fetch_add(1, Ordering::Relaxed);
            }
        }
        self.shared.is_silent.store(!self.tx.reports_faults(), Ordering::Relaxed);
        Ok(())
    }

    fn send(&mut self, cell: &Cell) -> Result<(), RadioError> {
        let samples = &cell.samples[..cell.length];
        if samples.is_empty() {
            return Ok(());
        }
        let until = WallClock.now() + PATIENCE;
        let mut taken = self.tx.send(&[samples], Burst::at(cell.at).ending(), until)?;
        while taken < samples.len() && WallClock.now() < until {
            taken += self.tx.send(&[&samples[taken..]], Burst::END, until)?;
        }
        if taken < samples.len() {
            self.shared.unsent.fetch_add(1, Ordering::Relaxed);
            self.tx.send(&[&[]], Burst::END, until + PATIENCE)?;
        }
        Ok(())
    }
}
