//! Does a host answer the air interface in time? The TD-SCDMA exchange of the study of Linux in real time.
//!
//! ```text
//!  air      |TS3|TS4|TS5|TS6|TS0|DwPTS                       each subframe of 5 ms: four slots in, an answer out
//!           ^               ^         ^ 3.45 ms: the answer is ready, or has failed
//!           |               | all samples have been on the air
//!  interface (rx) ──────────── woken ─ hands over ╮
//!  physical layer                                 ╰ woken ─ decodes ╮
//!  higher layer                                                     ╰ woken ─ decides ╮
//!  interface (tx)                                                                     ╰ woken ─ sends ──> radio: L?
//! ```
//!
//! Three processes over shared memory ([`takt_runtime::isolated::Map`]), woken through pipes. The interface talks to the
//! radio, a software N200 with its own clock on its own core, so that what is late is this host. Its process has two
//! threads, since answers leave while the next samples arrive. The physical layer decodes the block of the four slots and
//! has both answers ready as samples; the higher layer, where the protocol of acknowledgements ends in a terminal, says
//! which one leaves.
//!
//! The interface hands a subframe over when it is whole, as in the study, or slot by slot: then the physical layer has three of
//! the four behind it when the last samples come.
//!
//! Every time is from the **intended** beginning of the first downlink slot on the radio's clock, never from when a
//! process got round to it. Each answer has all of its stages, and they add up to its total: they are differences of one
//! row of time stamps. An answer that is later than 3.45 ms has failed, and so has one that was never given. The burst is
//! timed to leave at 3.45 ms, so that the radio counts the late ones itself; both counts are in the result, side by side.
//! Subframes that the radio sent late, or before whose limit the hypervisor stopped a core, are excluded and counted apart.
//! An N200 has 1.25 MS/s (100 MHz / 80), not 1.28. That is 98 % of the band, so the physical layer resamples by 128/125: work
//! that a board at the chip rate would not ask of it, and part of the stage `physical`. A faster rate, 2.5 MS/s, would keep
//! the whole band and cost transfer and resampler twice as much.

mod assembler;
mod downlink;
mod error;
mod evidence;
mod exchange;
mod excluded;
mod handing;
mod interface;
mod memory;
mod options;
mod outcome;
mod placement;
mod process_cpus;
mod roles;
mod stages;
mod stall;
mod trace;
mod tracefs;
pub(crate) mod workload;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use takt_base::{Clock, MonoNs, Stop, Tick, Ticks};
use takt_dsp::tdscdma::{ANSWER_DEADLINE_NS, SAMPLE_RATE_HZ};
use takt_radio::WallNet;
use takt_radio::n200::{CLOCK, N200, OpenOptions, RxOptions, TxOptions};

pub use downlink::write_downlink;
pub use error::DeadlineError;
use exchange::Exchange;
pub use excluded::{Excluded, Own, SEGMENT_SUBFRAMES, Segments};
use interface::{Plan, Receiving, Sending};
pub use options::{Apart, DeadlineOptions, Handover, ProcessCpus, Wake};
pub use outcome::{Answered, Budget, DeadlineOutcome, Radio};
pub use roles::{Role, RoleOptions};
pub use stages::{STAGES, Stage};
pub use stall::JudgedBy;
pub use trace::{Ran, Traced};

use super::round_trip::ClockModel;
use stall::Watch;
use trace::Trace;

pub const SUBFRAME_NS: u64 = 5_000_000;
const START_AHEAD: Duration = Duration::from_millis(100);
const CLOCK_TRIES: u32 = 32;
/// Samples in a datagram: 200 us, and a whole number of them in a subframe, so that none waits for the next one's.
const DATAGRAM_SAMPLES: usize = 250;

fn subframe_ticks() -> Ticks {
    CLOCK.ticks_in_ns(u128::from(SUBFRAME_NS))
}

/// The tick at which the answer to a subframe that begins at `start` is to be ready.
fn limit_tick(start: Tick) -> Tick {
    start + CLOCK.ticks_in_ns(u128::from(takt_dsp::tdscdma::FIRST_DOWNLINK_NS + ANSWER_DEADLINE_NS))
}

/// Runs a round.
pub fn run(options: &DeadlineOptions, stop: &Stop) -> Result<DeadlineOutcome, DeadlineError> {
    options.check()?;
    let _awake = options.idle.request()?;
    let net = Arc::new(WallNet::new(options.engine));
    let open = OpenOptions { force: options.force, transmit: options.transmit, ..OpenOptions::default() };
    let mut radio = N200::open(net.clone(), options.addr, &open)?;
    if let Some(speed) = radio.speed().filter(|speed| !speed.is_wall()) {
        return Err(DeadlineError::Speed { speed });
    }
    let rate_sps = f64::from(SAMPLE_RATE_HZ);
    let rx = radio.rx_streamer(&RxOptions {
        samples_per_datagram: Some(DATAGRAM_SAMPLES),
        coalesce: Duration::ZERO,
        stamps: true,
        force_buffer: false,
        ..RxOptions::new(rate_sps)
    })?;
    let tx = radio.tx_streamer(&TxOptions::new(rate_sps))?;
    let before = radio.read_clocks(CLOCK_TRIES)?;
    let exchange = Exchange::open(options)?;
    let trace = options.trace.then(Trace::begin);

    let start = radio.time()? + CLOCK.ticks_in(START_AHEAD);
    let plan = Plan::new(options, start, ClockModel::through(before, before));
    let receiving = Receiving::new(rx, &exchange, options, &plan)?;
    let sending = Sending::new(tx, &exchange, options, &plan);
    let above_all = options.policy == crate::setting::PolicyName::Deadline;
    let unwatched = above_all.then_some("nothing comes before processes under SCHED_DEADLINE");
    let watch = Watch::over(&options.used_cpus(), &plan, unwatched);
    let ran = exchange.run(receiving, sending, watch, plan.end_by(net.now()), stop)?;
    let after = radio.read_clocks(CLOCK_TRIES)?;
    let clocks = ClockModel::through(before, after);
    let mut outcome = outcome::of(options, &radio, &plan, &clocks, ran, !stop.requested());
    outcome.trace = trace.and_then(|trace| traced(trace, outcome.worst.first()));
    Ok(outcome)
}

/// Threads that ran while the worst answer waited; where the kernel does not tell, why. Nothing without an answer.
fn traced(trace: io::Result<Trace>, worst: Option<&Answered>) -> Option<Traced> {
    let worst = worst?;
    let hidden = |error: io::Error| Traced {
        hidden: Some(format!("no trace of the scheduler can be taken here: {error}")),
        total_ns: worst.total_ns,
        ..Traced::default()
    };
    Some(trace.and_then(|trace| trace.look(worst)).unwrap_or_else(hidden))
}

/// An instant of this host, for sums that may be negative.
fn ns(at: MonoNs) -> i64 {
    i64::try_from(at.0).unwrap_or(i64::MAX)
}
