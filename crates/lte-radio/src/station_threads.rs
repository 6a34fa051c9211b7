//! A base station on the threads of its roles.
//!
//! ```text
//!   radio ─> enb-rx ── subframes ──> enb-worker ── subframes ──> enb-tx ─> radio
//!                                     │     ^
//!                              samples v     │ preambles
//!                                    enb-prach
//! ```
//!
//! The worker is the calling thread: physical layer but for preambles, link layer, and packets. Buffers go round, so no thread
//! allocates one. A thread that is behind holds the one before it, and the radio then counts what it lost.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::{self, ScopedJoinHandle};

use num_complex::Complex32;
use takt_base::{Clock, Stop};
use takt_host::thread_clock::ThreadClock;
use takt_lte_link::PreambleHeard;
use takt_radio::{RadioError, RxStream};

use crate::drive::{BurstSender, PATIENCE};
use crate::{
    AirError, EndCounts, EndStreams, PacketPort, PreambleReceiver, StationCore, SubframeRead, SubframeReader, ThreadUse,
};

/// Subframes on their way from one thread to the next, at most.
const ON_THE_WAY: usize = 8;

/// A subframe of samples that were received or are to be sent.
type Samples = Vec<Complex32>;

/// The end of a worker at a thread that looks for preambles.
pub(crate) struct PreamblesElsewhere {
    ask: SyncSender<Samples>,
    answer: Receiver<(Samples, Vec<PreambleHeard>)>,
    /// The buffer of the question; `None` while it is asked.
    samples: Option<Samples>,
    found: Vec<PreambleHeard>,
}

impl PreamblesElsewhere {
    /// Asks for the preambles of a subframe.
    pub(crate) fn ask(&mut self, samples: &[Complex32]) {
        let Some(mut buffer) = self.samples.take() else { return };
        buffer.clear();
        buffer.extend_from_slice(samples);
        // A thread that is gone finds none.
        self.samples = self.ask.send(buffer).err().map(|unsent| unsent.0);
    }

    /// Waits for the answer.
    pub(crate) fn answer(&mut self) -> &[PreambleHeard] {
        self.found.clear();
        if self.samples.is_none()
            && let Ok((buffer, found)) = self.answer.recv()
        {
            (self.samples, self.found) = (Some(buffer), found);
        }
        &self.found
    }
}

/// The result of a role's thread, and its CPU time.
type Left<T> = (T, ThreadUse);

impl EndStreams<'_> {
    /// Runs a base station until `stop` is requested, or its port ends it.
    ///
    /// # Errors
    /// A stream or the port is gone, or a thread can't be started.
    pub fn run_station(
        &mut self,
        station: &mut StationCore,
        port: &mut dyn PacketPort<StationCore>,
        stop: &Stop,
    ) -> Result<EndCounts, AirError> {
        let EndStreams { rx, tx, clock, host, .. } = self;
        let (rx, host, len) = (&mut **rx, *host, station.subframe_len());
        let sender = BurstSender { tx: &mut **tx, clock: *clock, host };
        let ended = Stop::new();
        let is_over = || stop.requested() || ended.requested();
        let is_over = &is_over;
        let (received, to_worker) = sync_channel(ON_THE_WAY);
        let (empty_rx, from_worker) = sync_channel(ON_THE_WAY);
        let (to_send, to_tx) = sync_channel(ON_THE_WAY);
        let (empty_tx, sent) = sync_channel(ON_THE_WAY);
        for empty in [&empty_rx, &empty_tx] {
            (0..ON_THE_WAY).for_each(|_| drop(empty.try_send(vec![Complex32::default(); len])));
        }
        let (ask, questions) = sync_channel(1);
        let (answers, answer) = sync_channel(1);
        let samples = Some(Vec::with_capacity(len));
        let elsewhere = PreamblesElsewhere { ask, answer, samples, found: Vec::new() };
        let receiver = station.phy_mut().look_elsewhere(elsewhere);
        let (outcome, threads) = thread::scope(|scope| {
            let prach = receiver.map(|receiver| {
                spawn(scope, "enb-prach", move || find_preambles(receiver, &questions, &answers, is_over))
            });
            let rx = spawn(scope, "enb-rx", move || receive(rx, host, len, &from_worker, &received, is_over));
            let tx = spawn(scope, "enb-tx", move || send(sender, &to_tx, &empty_tx));
            let worker = Worker { to_worker, empty_rx, to_send, sent };
            let ends_all = EndsAll(ended.clone());
            let (worked, worker_use) = timed("enb-worker", || worker.run(station, port, is_over));
            drop(ends_all);
            station.phy_mut().leave_elsewhere();
            let mut threads = vec![worker_use];
            let rx = join(rx, &mut threads);
            let tx = join(tx, &mut threads);
            let prach = prach.map(|prach| join(prach, &mut threads)).transpose();
            let back = prach.map(|receiver| receiver.into_iter().for_each(|one| station.phy_mut().look_here(one)));
            (back.and_then(|()| combine(worked, rx, tx)), threads)
        });
        self.threads = threads;
        outcome
    }
}

/// The counts of all three, or the first cause of an end.
fn combine(
    worked: Result<EndCounts, AirError>,
    rx: Result<Result<(), RadioError>, AirError>,
    tx: Result<Result<EndCounts, RadioError>, AirError>,
) -> Result<EndCounts, AirError> {
    rx??;
    let sent = tx??;
    let EndCounts { subframes, lost_subframes, lost_samples, .. } = worked?;
    Ok(EndCounts { subframes, lost_subframes, lost_samples, ..sent })
}

/// The worker's ends of the other threads.
struct Worker {
    to_worker: Receiver<(SubframeRead, Samples)>,
    empty_rx: SyncSender<Samples>,
    to_send: SyncSender<(u64, Samples)>,
    sent: Receiver<Samples>,
}

impl Worker {
    /// Ends when a thread beside it does.
    fn run(
        self,
        station: &mut StationCore,
        port: &mut dyn PacketPort<StationCore>,
        is_over: &dyn Fn() -> bool,
    ) -> Result<EndCounts, AirError> {
        let len = station.subframe_len() as u64;
        let mut counts = EndCounts::default();
        while let Ok((read, samples)) = self.to_worker.recv() {
            if is_over() {
                break;
            }
            counts.read(read.lost_samples);
            let number = read.begin / len;
            let out = station.subframe(number, (read.lost_samples == 0).then_some(&samples));
            let Ok(mut buffer) = self.sent.recv() else { break };
            buffer.copy_from_slice(out);
            if self.to_send.send((read.begin + 4 * len, buffer)).is_err() || self.empty_rx.send(samples).is_err() {
                break;
            }
            if !port.exchange(number, station)? {
                break;
            }
        }
        Ok(counts)
    }
}

/// Radio to subframes.
fn receive(
    rx: &mut (dyn RxStream + Send),
    host: &dyn Clock,
    len: usize,
    empty: &Receiver<Samples>,
    received: &SyncSender<(SubframeRead, Samples)>,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Result<(), RadioError> {
    let mut reader = SubframeReader::new(len);
    while let Ok(mut samples) = empty.recv() {
        let read = loop {
            if is_over() || reader.has_ended() {
                return Ok(());
            }
            if let Some(read) = reader.step(rx, &mut samples, host.now() + PATIENCE)? {
                break read;
            }
        };
        if received.send((read, samples)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// Subframes to radio.
fn send(
    mut sender: BurstSender<'_>,
    to_send: &Receiver<(u64, Samples)>,
    empty: &SyncSender<Samples>,
) -> Result<EndCounts, RadioError> {
    let mut counts = EndCounts::default();
    while let Ok((at, samples)) = to_send.recv() {
        sender.send(&mut counts, &samples, at, false)?;
        if empty.send(samples).is_err() {
            break;
        }
    }
    sender.finish(&mut counts)?;
    Ok(counts)
}

/// Samples to preambles, until nobody asks any more.
fn find_preambles(
    mut receiver: Box<PreambleReceiver>,
    questions: &Receiver<Samples>,
    answers: &SyncSender<(Samples, Vec<PreambleHeard>)>,
    is_over: &(dyn Fn() -> bool + Sync),
) -> Box<PreambleReceiver> {
    loop {
        match questions.recv_timeout(PATIENCE) {
            Ok(samples) => {
                let found = receiver.detect(&samples).to_vec();
                if answers.send((samples, found)).is_err() {
                    return receiver;
                }
            }
            Err(RecvTimeoutError::Timeout) if !is_over() => {}
            Err(_) => return receiver,
        }
    }
}

/// Requests an end when it is dropped, also by a panic: the other threads then end as well.
struct EndsAll(Stop);

impl Drop for EndsAll {
    fn drop(&mut self) {
        self.0.request();
    }
}

fn timed<T>(role: &str, work: impl FnOnce() -> T) -> Left<T> {
    let clock = ThreadClock::of_this_thread();
    let before = clock.ran();
    let outcome = work();
    (outcome, ThreadUse::of_this(role, clock.ran() - before))
}

type Started<'scope, T> = Result<ScopedJoinHandle<'scope, Left<T>>, RadioError>;

fn spawn<'scope, T: Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    role: &'static str,
    work: impl FnOnce() -> T + Send + 'scope,
) -> Started<'scope, T> {
    let thread = thread::Builder::new().name(role.to_owned());
    thread.spawn_scoped(scope, move || timed(role, work)).map_err(RadioError::Thread)
}

/// Waits for a thread. A panic of it goes on here.
fn join<T>(thread: Started<'_, T>, threads: &mut Vec<ThreadUse>) -> Result<T, AirError> {
    let (outcome, used) = thread?.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    threads.push(used);
    Ok(outcome)
}
