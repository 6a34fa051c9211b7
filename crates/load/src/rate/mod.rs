//! Does this host keep up with a radio at this rate? Streams, and counts everything that goes wrong.
//!
//! Reception starts and the first burst leaves at the same tick, a little ahead, so that a slow start is no error. The
//! warm-up is streamed like the rest and left out of every count. The measured part is a span of the radio's clock: at its
//! end what is still on its way is read, so that every sample of the span was delivered or is known to be lost.

mod account;
mod backlog;
mod device;
mod domains;
mod faults;
mod intervals;
#[cfg(any(test, feature = "testing"))]
pub mod model;
mod numbers;
mod options;
mod outcome;
mod own;
mod point;
mod rx;
pub mod screen;
mod shown;
mod stream;
mod tx;
pub(crate) mod workload;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use takt_base::{Clock, MonoNs, Progress, Speed, Stop, WallClock};
use takt_host::accounting::{Snapshot, Usage};
use takt_host::affinity::AffinityError;
use takt_host::placement::{Placement, PlacementError};
use takt_host::policy::{Policy, PolicyError};
use takt_radio::board::Side;
use takt_radio::n200::{Emission, OpenOptions, TxWish};
use takt_radio::x310::MasterClock;
use takt_radio::{
    About, AnyOptions, FrontEnd, Model, RadioError, RxOptions, RxStreamer, TxOptions, TxStreamer, WallNet,
};

pub use backlog::Backlog;
pub use device::{DeviceOutcome, is_of_a_device, plan as device_plan, without_effect};
pub use faults::{Fault, Faults, Letter};
use intervals::{Meter, Seen, Sums};
pub use intervals::{RateInterval, RxInterval, TxInterval};
pub use numbers::Counted;
pub use options::{Mode, RateOptions, Threads};
pub(crate) use options::{check_model, check_rate};
pub use outcome::{Cpu, Delivery, EngineInForce, LostSamples, Radio, RateOutcome, Rx, RxPlaces, Thread, Tx};
pub use own::Own;
pub use point::REFERENCE;
use rx::RxSide;
pub use shown::RateView;
pub use stream::Stream;
pub(crate) use stream::without_such_a_rate;
pub use takt_wire::sample::Format;
use tx::TxSide;

const START_AHEAD: Duration = Duration::from_millis(100);
/// A call that brings nothing, or takes nothing, for so long counts as a timeout.
const PATIENCE: Duration = Duration::from_millis(100);
/// Datagrams of samples in a call.
const CALL_DATAGRAMS: usize = 96;
/// Questions by which the two clocks are related.
const CLOCK_QUESTIONS: u32 = 8;
const LOOK: Duration = Duration::from_millis(50);
/// With one thread for both directions, how long receiving may keep transmitting waiting.
const TURN: Duration = Duration::from_millis(2);

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RateError {
    #[error("no rate was given, neither to receive nor to transmit")]
    NoRate,
    #[error("the duration is 0")]
    NoTime,
    #[error(
        "an interval of {interval:?} is not possible: expected at least 100ms, and at most 100 000 intervals in \
         {duration:?}"
    )]
    Interval { interval: Duration, duration: Duration },
    #[error("the kernel granted {granted_bytes} of the {requested_bytes} bytes requested for the receive buffer")]
    Buffer { requested_bytes: usize, granted_bytes: usize },
    #[error("samples of sc8 have no room for a counter")]
    Counter,
    #[error("the radio at {addr} is an {is}, not an {wanted}")]
    OtherModel { addr: IpAddr, is: Model, wanted: Model },
    #[error("takt can't use the radio")]
    Radio(#[from] RadioError),
    #[error("takt can't place a streaming thread")]
    Affinity(#[from] AffinityError),
    #[error("takt can't set the priority of a streaming thread")]
    Priority(#[from] PolicyError),
    #[error("takt can't read the CPU counters of this host")]
    Counters(#[from] takt_host::ReadError),
    #[error("takt can't start a thread")]
    Thread(#[source] std::io::Error),
}

impl From<PlacementError> for RateError {
    fn from(error: PlacementError) -> RateError {
        match error {
            PlacementError::Affinity(error) => RateError::Affinity(error),
            PlacementError::Policy(error) => RateError::Priority(error),
            other => RateError::Thread(std::io::Error::other(other)),
        }
    }
}

/// Report of a round while it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// Before anything is sent: what a radio that is not takt's own will transmit with.
    OnAir(Emission),
    At(Progress),
    /// An interval of the measured part has ended.
    Interval(RateInterval),
}

/// Streams as `options` say and counts. `stop` ends it early, and what was counted until then is the outcome.
pub fn run(options: &RateOptions, notify: &mut dyn FnMut(Notice), stop: &Stop) -> Result<RateOutcome, RateError> {
    run_shown(options, notify, None, stop)
}

/// As [`run`], and hands over a view of the round before it streams.
pub fn run_shown(
    options: &RateOptions,
    notify: &mut dyn FnMut(Notice),
    show: Option<&mut dyn FnMut(RateView)>,
    stop: &Stop,
) -> Result<RateOutcome, RateError> {
    options.check()?;
    let net = Arc::new(WallNet::new(options.engine));
    let RateOptions { force, reference, calibration, transmit, frame_bytes, .. } = *options;
    let n200 = OpenOptions { force, transmit, reference, calibration, ..OpenOptions::default() };
    let clock = MasterClock::for_rates([options.rx_sps, options.tx_sps].into_iter().flatten());
    let mut radio = takt_radio::Radio::open(net.clone(), options.addr, &AnyOptions { n200, frame_bytes, clock })?;
    check_model(options.model, radio.model(), options.addr)?;
    set_front_end(&mut radio, options)?;
    if options.tx_sps.is_some() {
        radio.may_transmit(TxWish::default())?.into_iter().for_each(|emission| notify(Notice::OnAir(emission)));
    }
    let about = radio_of(&mut radio, options)?;
    let rx = options.rx_sps.map(|rate| radio.rx_streamer(&rx_options(options, rate))).transpose()?;
    let tx = options.tx_sps.map(|rate| radio.tx_streamer(&tx_options(options, rate))).transpose()?;
    let engine = engine(rx.as_ref(), tx.as_ref());
    rx.as_ref().map_or(Ok(()), |rx| options.check_buffer(rx.engine_limits().recv_buffer_bytes))?;

    let clocks = radio.read_clocks(CLOCK_QUESTIONS)?;
    let start = net.now() + START_AHEAD;
    // Both spans are the radio's time, of which the plan is what this host's clock shows.
    let [warm_up, duration] = [options.warm_up, options.duration].map(|span| clocks.speed.host_time(span));
    let measure = start + warm_up;
    let seen = (options.interval.is_some() || show.is_some()).then(|| Arc::new(Seen::default()));
    let tap = show.zip(seen.clone()).map(|(show, seen)| {
        let (view, tap) = RateView::new(options, &about.model, seen, clocks.speed);
        show(view);
        tap
    });
    let mut meter = seen.clone().and_then(|seen| Meter::new(options, seen, measure, clocks.speed));
    let plan = Plan { start, measure, end: measure + duration, stop: stop.clone(), broken: Stop::new(), seen };
    let start = clocks.tick_at(start);
    let spans = [options.warm_up, options.duration];
    let rx = rx.map(|rx| RxSide::start(net.clone(), rx, clocks, start, spans)).transpose()?;
    let rx = rx.map(|rx| rx.with_call(options.call_datagrams));
    let rx = rx.map(|rx| if options.counter { rx.with_numbers() } else { rx });
    let rx = rx.map(|rx| rx.with_tap(tap));
    let tx = tx.map(|tx| TxSide::starting_at(net.clone(), tx, clocks, start));
    let start = |name, nth, rx, tx| worker(name, nth, options, &plan, (rx, tx));
    let workers = match (options.threads, rx, tx) {
        (Threads::One, rx @ Some(_), tx @ Some(_)) => vec![start("takt-stream", 0, rx, tx)?],
        (_, rx, tx) => {
            let rx = rx.map(|rx| start("takt-rx", 0, Some(rx), None)).transpose()?;
            let tx = tx.map(|tx| start("takt-tx", 1, None, Some(tx))).transpose();
            let workers = rx.into_iter();
            match tx {
                Ok(tx) => workers.chain(tx).collect(),
                Err(error) => return Err(plan.given_up(workers, error)),
            }
        }
    };
    let (cpu, wall_s) = match watch(&net, &plan, &workers, meter.as_mut(), notify) {
        Ok(watched) => watched,
        Err(error) => return Err(plan.given_up(workers, error)),
    };
    let ended = plan.end.min(net.now());
    let parts: Vec<_> = workers.into_iter().map(Worker::join).collect();
    let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
    let mut outcome = RateOutcome {
        options: options.clone(),
        radio: Radio { repeated_commands: radio.repeats(), ..about },
        radio_speed: radio.speed().map(Speed::seconds),
        radio_speed_at_end: radio.ask_speed().map(Speed::seconds),
        engine,
        cpu,
        wall_s,
        complete: !stop.requested(),
        ..RateOutcome::default()
    };
    for (rx, tx) in parts {
        outcome.rx = rx.unwrap_or(outcome.rx);
        outcome.tx = tx.unwrap_or(outcome.tx);
    }
    if let Some(meter) = meter {
        outcome.intervals = meter.end(ended, Sums::of(&outcome.rx, &outcome.tx));
    }
    if let Some(last) = outcome.intervals.last() {
        notify(Notice::Interval(*last));
    }
    if options.rx_sps.is_none() {
        outcome.engine.path.clone_from(&outcome.tx.engine_path);
    }
    let samples = outcome.rx.samples + outcome.tx.samples;
    outcome.cpu.host_ms_per_msample = (samples > 0).then(|| outcome.cpu.host_seconds * 1e9 / samples as f64);
    outcome.judge();
    Ok(outcome)
}

/// Tunes both directions as far as it is asked for, if the radio may transmit so.
fn set_front_end(radio: &mut takt_radio::Radio, options: &RateOptions) -> Result<(), RadioError> {
    let RateOptions { frequency_hz, gain_db, ref antenna, .. } = *options;
    let rx = FrontEnd { frequency_hz, gain_db, antenna: antenna.clone() };
    if rx == FrontEnd::default() {
        return Ok(());
    }
    if options.tx_sps.is_some() {
        // Both sides have one antenna in common, and it transmits unless told otherwise.
        let tx = if options.rx_sps.is_some() { FrontEnd { antenna: None, ..rx.clone() } } else { rx.clone() };
        radio.may_transmit(tx.tx_wish())?;
        tx.set(radio, Side::Tx, 0)?;
    }
    for &channel in options.rx_sps.iter().flat_map(|_| &options.rx_channels) {
        rx.set(radio, Side::Rx, channel)?;
    }
    Ok(())
}

fn rx_options(options: &RateOptions, rate_sps: f64) -> RxOptions {
    RxOptions {
        channels: options.rx_channels.clone(),
        format: options.format,
        samples_per_datagram: options.samples_per_datagram,
        coalesce: options.coalesce,
        busy_poll: options.busy_poll,
        recv_buffer_bytes: options.recv_buffer_bytes.unwrap_or(RxOptions::USUAL_BUFFER_BYTES),
        force_buffer: options.recv_buffer_bytes.is_some(),
        aggregate: options.aggregate,
        ..RxOptions::new(rate_sps)
    }
}

fn tx_options(options: &RateOptions, rate_sps: f64) -> TxOptions {
    TxOptions {
        channels: options.tx_channels.clone(),
        format: options.format,
        samples_per_datagram: options.samples_per_datagram,
        aggregate: options.aggregate,
        ..TxOptions::new(rate_sps)
    }
}

/// Engine that carries the samples, the receiver's where there is one.
fn engine(rx: Option<&RxStreamer>, tx: Option<&TxStreamer>) -> EngineInForce {
    let rx = rx.map(|rx| (rx.engine_limits(), rx.engine_choice(), rx.engine_queues()));
    let both = rx.or_else(|| tx.map(|tx| (tx.engine_limits(), tx.engine_choice(), None)));
    both.map_or_else(EngineInForce::default, |(limits, choice, queues)| EngineInForce {
        path: limits.path.words().to_owned(),
        choice: choice.map(ToString::to_string),
        queues: queues.map(str::to_owned),
    })
}

/// Which radio it is, and what of it is locked before a rate is measured by its clock.
fn radio_of(radio: &mut takt_radio::Radio, options: &RateOptions) -> Result<Radio, RadioError> {
    let reference_locked = Some(radio.reference_locked()?);
    let rx_lo_locked = options.rx_sps.map_or(Ok(None), |_| radio.lo_locks(Side::Rx))?;
    let tx_lo_locked = options.tx_sps.map_or(Ok(None), |_| radio.lo_locks(Side::Tx))?;
    let sides = [(options.rx_sps, Side::Rx), (options.tx_sps, Side::Tx)];
    let used: Vec<Side> = sides.into_iter().filter_map(|(rate, side)| rate.map(|_| side)).collect();
    let calibration = radio.calibration_of(&used);
    let About { model, serial, name, firmware, fpga } = radio.about();
    Ok(Radio {
        model: model.to_owned(),
        clock_hz: radio.clock().hz(),
        serial: serial.to_owned(),
        name: name.to_owned(),
        firmware: firmware.to_owned(),
        fpga: fpga.to_owned(),
        repeated_commands: 0,
        reference_locked,
        rx_lo_locked,
        tx_lo_locked,
        calibration,
    })
}

#[derive(Clone)]
struct Plan {
    start: MonoNs,
    measure: MonoNs,
    end: MonoNs,
    /// The caller's wish to end.
    stop: Stop,
    /// One side has ended; the other need not go on.
    broken: Stop,
    /// The place where the threads publish their counts, if intervals are wanted.
    seen: Option<Arc<Seen>>,
}

impl Plan {
    fn over(&self, now: MonoNs) -> bool {
        now >= self.end || self.stop.requested() || self.broken.requested()
    }

    /// Ends the threads that stream, and returns why.
    fn given_up(&self, workers: impl IntoIterator<Item = Worker>, why: RateError) -> RateError {
        self.broken.request();
        for worker in workers {
            // Nobody wants its result any more.
            let _ = worker.join();
        }
        why
    }
}

/// Result of a thread.
type Part = (Option<Rx>, Option<Tx>);

/// Streams one direction, or both in turn.
fn stream(mut rx: Option<RxSide>, mut tx: Option<TxSide>, plan: &Plan) -> Result<Part, RateError> {
    // One direction alone may wait; of two, receiving may keep transmitting waiting for a while, and not the reverse.
    let [rx_wait, tx_wait] = if rx.is_some() && tx.is_some() { [TURN, Duration::ZERO] } else { [PATIENCE; 2] };
    let mut measuring = false;
    loop {
        let now = WallClock.now();
        if now >= plan.measure && !measuring {
            rx.iter_mut().for_each(RxSide::begin_measuring);
            tx.iter_mut().for_each(TxSide::begin_measuring);
            measuring = true;
        }
        if plan.over(now) {
            let tx = tx.map(TxSide::finish).transpose()?;
            return Ok((rx.map(RxSide::finish), tx));
        }
        if let Some(tx) = &mut tx {
            tx.turn(now + tx_wait)?;
        }
        if let Some(rx) = &mut rx {
            rx.turn(now + rx_wait)?;
        }
        if let Some(seen) = &plan.seen {
            rx.iter().for_each(|rx| seen.rx.publish(rx.so_far()));
            tx.iter().for_each(|tx| seen.tx.publish(tx.so_far()));
        }
    }
}

struct Worker {
    name: &'static str,
    cpus: Vec<usize>,
    policy: Option<String>,
    /// While this lives, so does the thread: a thread that has ended is in no CPU account of its own.
    alive: mpsc::Sender<()>,
    thread: thread::JoinHandle<Result<Part, RateError>>,
}

impl Worker {
    fn join(self) -> Result<Part, RateError> {
        drop(self.alive);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Starts a thread on its CPU and with its priority; the `nth` of the CPUs, or the last.
fn worker(
    name: &'static str,
    nth: usize,
    options: &RateOptions,
    plan: &Plan,
    (rx, tx): (Option<RxSide>, Option<TxSide>),
) -> Result<Worker, RateError> {
    let cpus: Vec<usize> = options.cpus.get(nth).or(options.cpus.last()).copied().into_iter().collect();
    let placement = Placement { cpus: cpus.clone(), priority: options.priority };
    let policy = options.priority.map(|priority| Policy::Fifo { priority }.to_string());
    let (placed, answer) = mpsc::channel();
    let (alive, released) = mpsc::channel();
    let plan = plan.clone();
    let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
        let ready = placement.place_self();
        let refused = ready.is_err();
        // The thread that started this one waits for the answer.
        let _ = placed.send(ready);
        if refused {
            return Ok(Part::default());
        }
        let result = stream(rx, tx, &plan);
        if result.is_err() {
            plan.broken.request();
        }
        let _ = released.recv(); // until the accounts are closed
        result
    });
    let thread = thread.map_err(RateError::Thread)?;
    // No answer: it panicked, and joining it passes that on.
    if let Ok(ready) = answer.recv() {
        ready?;
    }
    Ok(Worker { name, cpus, policy, alive, thread })
}

/// Waits for the end, reports progress and intervals, and takes the CPU counters at both ends of the measured part: what it
/// cost, and how long that was, seconds.
fn watch(
    net: &WallNet,
    plan: &Plan,
    workers: &[Worker],
    mut meter: Option<&mut Meter>,
    notify: &mut dyn FnMut(Notice),
) -> Result<(Cpu, f64), RateError> {
    let mut begun = None;
    loop {
        let now = net.now();
        if now >= plan.measure && begun.is_none() {
            begun = Some(Snapshot::take()?);
        }
        if plan.over(now) || workers.iter().all(|worker| worker.thread.is_finished()) {
            break;
        }
        let (elapsed, planned) = (now - plan.start, plan.end - plan.start);
        notify(Notice::At(Progress { elapsed, planned, warm_up: now < plan.measure }));
        if let Some(interval) = meter.as_mut().and_then(|meter| meter.look(now)) {
            notify(Notice::Interval(interval));
        }
        let due = meter.as_ref().map_or(MonoNs::NEVER, |meter| meter.due());
        let next = if begun.is_none() { plan.measure } else { plan.end.min(due) };
        thread::sleep(LOOK.min(next - now));
    }
    let end = Snapshot::take()?;
    let usage = end.since(&begun.unwrap_or_else(|| end.clone()));
    Ok((cpu_of(&usage, workers), seconds(usage.wall_ns)))
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

/// The CPU account of a measured part; `workers`: the threads that were placed.
fn cpu_of(usage: &Usage, workers: &[Worker]) -> Cpu {
    let threads = usage.process.threads.iter().map(|thread| {
        let worker = workers.iter().find(|worker| worker.name == thread.name);
        Thread {
            name: thread.name.clone(),
            seconds: seconds(thread.cpu_ns),
            user_seconds: seconds(thread.user_ns),
            system_seconds: seconds(thread.system_ns),
            run_delay_seconds: thread.run_delay_ns.map(seconds),
            involuntary_switches: thread.involuntary_switches,
            last_cpu: thread.last_cpu,
            policy: worker.and_then(|worker| worker.policy.clone()),
            cpus: worker.map(|worker| worker.cpus.clone()).unwrap_or_default(),
        }
    });
    Cpu {
        host_seconds: seconds(usage.process.cpu_ns),
        host_ms_per_msample: None,
        threads: threads.collect(),
        machine: usage.machine,
        foreign_seconds: seconds(usage.foreign_task_cpu_ns),
    }
}
