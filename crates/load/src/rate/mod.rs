//! Does this host keep up with a radio at this rate? Streams, and counts everything that goes wrong.
//!
//! Reception starts and the first burst leaves at the same tick, a little ahead, so that a slow start is no error. The
//! warm-up is streamed like the rest and left out of every count. The measured part is a span of the radio's clock: at its
//! end what is still on its way is read, so that every sample of the span was delivered or is known to be lost.

mod account;
mod backlog;
mod faults;
mod lost;
#[cfg(any(test, feature = "testing"))]
pub mod model;
mod numbers;
mod options;
mod outcome;
mod own;
mod rx;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod text;
mod tx;
pub(crate) mod workload;

use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use takt_base::{Clock, MonoNs, Stop};
use takt_host::accounting::Snapshot;
use takt_host::affinity::{AffinityError, pin_self};
use takt_host::policy::{Policy, PolicyError, set_policy};
use takt_radio::board::Side;
use takt_radio::n200::{Emission, FrameBytes, N200, OpenOptions, RxOptions, TxOptions, TxWish};
use takt_radio::{RadioError, WallNet};

pub use backlog::Backlog;
pub use faults::{Fault, Faults, Letter};
pub use lost::LostSamples;
pub use numbers::Counted;
pub use options::{Mode, Options, Threads, WireFormat};
pub use outcome::{Cpu, Outcome, Radio, Rx, RxPlaces, Thread, Tx};
pub use own::Own;
use rx::RxSide;
use tx::TxSide;

/// How far ahead the streams start.
const START_AHEAD: Duration = Duration::from_millis(100);
/// A call that brings nothing, or takes nothing, for so long counts as a timeout.
const PATIENCE: Duration = Duration::from_millis(100);
/// Datagrams of samples in a call.
const CALL_DATAGRAMS: usize = 96;
/// Questions by which the two clocks are related.
const CLOCK_QUESTIONS: u32 = 8;
/// How often the waiting thread looks around.
const LOOK: Duration = Duration::from_millis(50);
/// With one thread for both directions, how long receiving may keep transmitting waiting.
const TURN: Duration = Duration::from_millis(2);

/// Why a round could not be run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RateError {
    /// Neither direction.
    #[error("no rate was given, neither to receive nor to transmit")]
    NoRate,
    /// No time.
    #[error("a duration of nothing")]
    NoTime,
    /// A receive buffer that the kernel did not grant.
    #[error("a receive buffer of {asked_bytes} bytes was asked for, and {granted_bytes} were granted")]
    Buffer {
        /// Asked for.
        asked_bytes: usize,
        /// Granted.
        granted_bytes: usize,
    },
    /// Numbers of 32 bits on samples of 16.
    #[error("samples of sc8 have no room for a counter")]
    Counter,
    /// The radio.
    #[error("radio")]
    Radio(#[from] RadioError),
    /// A CPU that a thread can't have.
    #[error("placing a streaming thread")]
    Affinity(#[from] AffinityError),
    /// A priority that a thread can't have.
    #[error("priority of a streaming thread")]
    Priority(#[from] PolicyError),
    /// The host's own counters.
    #[error("CPU counters of this host")]
    Counters(#[from] takt_host::ReadError),
    /// A thread could not be started.
    #[error("starting a thread")]
    Thread(#[source] std::io::Error),
}

/// How far a round has come.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Time since the streams started.
    pub elapsed: Duration,
    /// Time the round takes, warm-up included.
    pub planned: Duration,
    /// It is still warming up.
    pub warm_up: bool,
}

/// Something to tell while a round runs.
#[derive(Clone, Debug, PartialEq)]
pub enum Notice {
    /// Before anything is sent: what a radio that is not takt's own will transmit with.
    OnAir(Emission),
    /// How far it has come.
    At(Progress),
}

/// Streams as `options` say and counts. `stop` ends it early, and what was counted until then is the outcome.
///
/// # Errors
/// The round could not be run, or the radio was lost on the way.
pub fn run(options: &Options, tell: &mut dyn FnMut(Notice), stop: &Stop) -> Result<Outcome, RateError> {
    options.check()?;
    let net = Arc::new(WallNet::new(options.engine));
    let frame_bytes = FrameBytes { receive: options.frame_bytes, send: options.frame_bytes };
    let Options { force, reference, .. } = *options;
    let open = OpenOptions { force, transmit: options.transmit, reference, frame_bytes };
    let mut radio = N200::open(net.clone(), options.addr, &open)?;
    if options.tx_sps.is_some() {
        radio.may_transmit(TxWish::default())?.into_iter().for_each(|emission| tell(Notice::OnAir(emission)));
    }
    let about = radio_of(&mut radio, options)?;
    let rx = options.rx_sps.map(|rate| radio.rx_streamer(&rx_options(options, rate))).transpose()?;
    let tx = options.tx_sps.map(|rate| radio.tx_streamer(&tx_options(options, rate))).transpose()?;
    rx.as_ref().map_or(Ok(()), |rx| options.check_buffer(rx.engine_limits().recv_buffer_bytes))?;

    let clocks = radio.read_clocks(CLOCK_QUESTIONS)?;
    let plan = Plan::starting(net.now() + START_AHEAD, options, stop);
    let start = clocks.tick_at(plan.start);
    let spans = [options.warm_up, options.duration];
    let rx = rx.map(|rx| RxSide::start(net.clone(), rx, clocks, start, spans)).transpose()?;
    let rx = rx.map(|rx| if options.counter { rx.with_numbers() } else { rx });
    let tx = tx.map(|tx| TxSide::starting_at(net.clone(), tx, clocks, start));
    let workers = match (options.threads, rx, tx) {
        (Threads::One, Some(rx), Some(tx)) => vec![worker("takt-stream", 0, options, &plan, move |plan| {
            let (rx, tx) = stream_in_turn(rx, tx, plan)?;
            Ok(Part { rx: Some(rx), tx: Some(tx) })
        })?],
        (_, rx, tx) => {
            let mut workers = Vec::new();
            if let Some(rx) = rx {
                workers.push(worker("takt-rx", 0, options, &plan, move |plan| {
                    Ok(Part { rx: Some(receive(rx, plan)?), tx: None })
                })?);
            }
            if let Some(tx) = tx {
                workers.push(worker("takt-tx", 1, options, &plan, move |plan| {
                    Ok(Part { rx: None, tx: Some(transmit(tx, plan)?) })
                })?);
            }
            workers
        }
    };
    let measured = watch(&net, &plan, &workers, tell)?;
    let parts = workers.into_iter().map(Worker::join).collect::<Result<Vec<_>, _>>();
    let (parts, complete) = (parts?, !stop.requested());

    let mut outcome = Outcome {
        options: options.clone(),
        radio: Radio { repeated_commands: radio.repeats(), ..about },
        rx: Rx::default(),
        tx: Tx::default(),
        cpu: measured.cpu,
        wall_s: measured.wall_s,
        complete,
        clean: false,
    };
    for part in parts {
        outcome.rx = part.rx.unwrap_or(outcome.rx);
        outcome.tx = part.tx.unwrap_or(outcome.tx);
    }
    let samples = outcome.rx.samples + outcome.tx.samples;
    outcome.cpu.host_ms_per_msample = (samples > 0).then(|| outcome.cpu.host_seconds * 1e9 / samples as f64);
    outcome.judge();
    Ok(outcome)
}

fn rx_options(options: &Options, rate_sps: f64) -> RxOptions {
    RxOptions {
        channels: options.rx_channels.clone(),
        format: options.format.format(),
        samples_per_datagram: options.samples_per_datagram,
        coalesce: options.coalesce,
        recv_buffer_bytes: options.recv_buffer_bytes.unwrap_or(RxOptions::USUAL_BUFFER_BYTES),
        force_buffer: options.recv_buffer_bytes.is_some(),
        ..RxOptions::new(rate_sps)
    }
}

fn tx_options(options: &Options, rate_sps: f64) -> TxOptions {
    TxOptions {
        format: options.format.format(),
        samples_per_datagram: options.samples_per_datagram,
        aggregate: options.aggregate,
        ..TxOptions::new(rate_sps)
    }
}

/// Which radio it is, and what of it is locked before a rate is measured by its clock.
fn radio_of(radio: &mut N200, options: &Options) -> Result<Radio, RadioError> {
    let reference_locked = Some(radio.reference_locked()?);
    let rx_lo_locked = options.rx_sps.map_or(Ok(None), |_| radio.lo_locks(Side::Rx))?;
    let tx_lo_locked = options.tx_sps.map_or(Ok(None), |_| radio.lo_locks(Side::Tx))?;
    let identity = radio.identity();
    Ok(Radio {
        model: identity.model.to_owned(),
        serial: identity.serial.clone(),
        name: identity.name.clone(),
        firmware: identity.firmware.clone(),
        fpga: identity.fpga.clone(),
        repeated_commands: 0,
        reference_locked,
        rx_lo_locked,
        tx_lo_locked,
    })
}

/// When what happens.
#[derive(Clone)]
struct Plan {
    start: MonoNs,
    measure: MonoNs,
    end: MonoNs,
    /// The caller's wish to end.
    stop: Stop,
    /// One side has ended; the other need not go on.
    broken: Stop,
}

impl Plan {
    fn starting(start: MonoNs, options: &Options, stop: &Stop) -> Plan {
        let measure = start + options.warm_up;
        let end = measure + options.duration;
        Plan { start, measure, end, stop: stop.clone(), broken: Stop::new() }
    }

    fn over(&self, now: MonoNs) -> bool {
        now >= self.end || self.stop.requested() || self.broken.requested()
    }
}

/// What a thread brings.
#[derive(Default)]
struct Part {
    rx: Option<Rx>,
    tx: Option<Tx>,
}

fn receive(mut rx: RxSide, plan: &Plan) -> Result<Rx, RateError> {
    loop {
        let now = rx.now();
        if now >= plan.measure && !rx.is_measuring() {
            rx.begin_measuring();
        }
        if plan.over(now) {
            return Ok(rx.finish());
        }
        rx.turn(now + PATIENCE)?;
    }
}

fn transmit(mut tx: TxSide, plan: &Plan) -> Result<Tx, RateError> {
    let clock = takt_base::WallClock;
    loop {
        let now = clock.now();
        if now >= plan.measure && !tx.is_measuring() {
            tx.begin_measuring();
        }
        if plan.over(now) {
            return Ok(tx.finish()?);
        }
        tx.turn(now + PATIENCE)?;
    }
}

fn stream_in_turn(mut rx: RxSide, mut tx: TxSide, plan: &Plan) -> Result<(Rx, Tx), RateError> {
    let clock = takt_base::WallClock;
    loop {
        let now = clock.now();
        if now >= plan.measure && !rx.is_measuring() {
            rx.begin_measuring();
            tx.begin_measuring();
        }
        if plan.over(now) {
            let tx = tx.finish()?;
            return Ok((rx.finish(), tx));
        }
        tx.turn(now)?;
        rx.turn(now + TURN)?;
    }
}

/// A streaming thread.
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
    options: &Options,
    plan: &Plan,
    work: impl FnOnce(&Plan) -> Result<Part, RateError> + Send + 'static,
) -> Result<Worker, RateError> {
    let cpus: Vec<usize> = options.cpus.get(nth).or(options.cpus.last()).copied().into_iter().collect();
    let policy = options.priority.map(|priority| Policy::Fifo { priority });
    let (placed, answer) = mpsc::channel();
    let (alive, released) = mpsc::channel();
    let (plan, own_cpus) = (plan.clone(), cpus.clone());
    let thread = thread::Builder::new().name(name.to_owned()).spawn(move || {
        let ready = place(&own_cpus, policy);
        let refused = ready.is_err();
        // Whoever started this thread waits for the answer.
        let _ = placed.send(ready);
        if refused {
            return Ok(Part::default());
        }
        let result = work(&plan);
        if result.is_err() {
            plan.broken.request();
        }
        let _ = released.recv(); // until the accounts are closed
        result
    });
    let thread = thread.map_err(RateError::Thread)?;
    // No answer: it panicked, which joining it tells.
    if let Ok(ready) = answer.recv() {
        ready?;
    }
    Ok(Worker { name, cpus, policy: policy.map(|policy| policy.to_string()), alive, thread })
}

fn place(cpus: &[usize], policy: Option<Policy>) -> Result<(), RateError> {
    if !cpus.is_empty() {
        pin_self(cpus)?;
    }
    if let Some(policy) = policy {
        set_policy(0, policy)?;
    }
    Ok(())
}

struct Measured {
    cpu: Cpu,
    wall_s: f64,
}

/// Waits for the end, tells how far it is, and takes the CPU counters at both ends of the measured part.
fn watch(net: &WallNet, plan: &Plan, workers: &[Worker], tell: &mut dyn FnMut(Notice)) -> Result<Measured, RateError> {
    let mut begun = None;
    loop {
        let now = net.now();
        if now >= plan.measure && begun.is_none() {
            begun = Some(Snapshot::take()?);
        }
        let over = plan.over(now) || workers.iter().all(|worker| worker.thread.is_finished());
        if over {
            break;
        }
        let (elapsed, planned) = (now - plan.start, plan.end - plan.start);
        tell(Notice::At(Progress { elapsed, planned, warm_up: now < plan.measure }));
        let next = if begun.is_none() { plan.measure } else { plan.end };
        thread::sleep(LOOK.min(next - now));
    }
    let end = Snapshot::take()?;
    let usage = end.since(&begun.unwrap_or_else(|| end.clone()));
    let seconds = |ns: u64| ns as f64 / 1e9;
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
    let cpu = Cpu {
        host_seconds: seconds(usage.process.cpu_ns),
        host_ms_per_msample: None,
        threads: threads.collect(),
        machine: usage.machine,
        foreign_seconds: seconds(usage.foreign_task_cpu_ns),
    };
    Ok(Measured { cpu, wall_s: seconds(usage.wall_ns) })
}
