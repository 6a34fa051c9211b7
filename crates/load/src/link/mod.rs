//! An LTE link that carries datagrams over two radios of one air: does it come up, how soon, and what does it lose?
//!
//! ```text
//!   host side, one process                               radio side
//!   base station ── engine under test ──┐            ┌── X310 ──┐
//!                                       ├── path ────┤          air
//!   terminal ────── engine mmsg ────────┘            └── X310 ──┘
//! ```
//!
//! Each attempt opens both radios, waits for the link, and ends it again. The first attempt that connects also carries the load:
//! datagrams at a stated rate to the terminal, as `iperf3 -u -R` sends them. Times are the link's own, unless a name says `host`:
//! at a speed of 0.1, a second of the link's takes ten of the host's.

mod air;
mod options;
mod outcome;
mod ports;
mod workload;

use std::sync::Arc;
use std::time::{Duration, Instant};

use takt_base::Stop;
use takt_host::accounting::{Snapshot, Usage};
use takt_host::placement::Placement;
use takt_lte::{Cell, CellId, Numerology, PhichResource, Sampling};
use takt_lte_radio::pair::{PairError, PairOptions, PairReport, run_pair};
use takt_lte_radio::{AirError, CellStage, RadioWish};
use takt_packet::EngineKind;
use takt_radio::FrontEnd;
use takt_radio::calibration::CalibrationUse;

pub use air::terminal_radio;
pub use options::{LinkBearer, LinkOptions};
pub use outcome::{LinkAttempt, LinkLoad, LinkOutcome, LinkThread};
pub(crate) use workload::Link;
pub use workload::SPEEDS;

use outcome::KEPT_UP_PER;
use ports::{Phase, Shared, StationPort, TerminalPort};

/// Iterations of the turbo decoder.
const ITERATIONS: usize = 5;
/// An attempt ends at the latest after this many times its own time, and this much more: a host without time for it is not waited for.
const LONGEST: (f64, Duration) = (3.0, Duration::from_secs(10));

/// Why there is no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LinkError {
    /// No carrier has so many resource blocks.
    #[error(transparent)]
    Carrier(#[from] takt_lte::Error),
    /// An end does not run.
    #[error(transparent)]
    Pair(#[from] PairError),
    /// The CPU time of threads can't be read.
    #[error("takt can't read the CPU time of threads")]
    Account(#[from] takt_host::ReadError),
}

/// Runs all attempts of a round. `stop` ends them early.
///
/// # Errors
/// An end does not run. That a link does not come up is no error, but an answer.
pub fn run(options: &LinkOptions, stop: &Stop) -> Result<LinkOutcome, LinkError> {
    let mut attempts: Vec<LinkAttempt> = Vec::new();
    while attempts.len() < options.attempts && !stop.requested() {
        let loaded = !attempts.iter().any(|attempt| attempt.load.is_some());
        let attempt = attempt(options, loaded, attempts.len() as u64, stop)?;
        // In real time every attempt counts. At a speed that the ends do not hold, more would say nothing.
        let over = options.speed < 1.0 && !attempt.kept_up;
        attempts.push(attempt);
        if over {
            break;
        }
    }
    Ok(LinkOutcome::of(options, attempts, !stop.requested()))
}

fn attempt(options: &LinkOptions, loaded: bool, number: u64, stop: &Stop) -> Result<LinkAttempt, LinkError> {
    let pair = pair(options, number)?;
    let shared = Arc::new(Shared::default());
    let begun = Instant::now();
    let mut station = StationPort::new(options, loaded, Arc::clone(&shared));
    let mut terminal = TerminalPort::new(options, loaded, begun, Arc::clone(&shared));
    let (mut account, ended) = (Account::default(), Stop::new());
    let longest = longest(options, loaded);
    let mut look = || {
        account.look(shared.phase());
        if stop.requested() || begun.elapsed() > longest {
            ended.request();
        }
    };
    let report = run_pair(&pair, &mut station, &mut terminal, &mut look, &ended)?;
    let usage = account.finish()?;
    Ok(as_attempt(options, &report, &station, &terminal, usage))
}

fn longest(options: &LinkOptions, loaded: bool) -> Duration {
    let load = if loaded { options.duration } else { Duration::ZERO };
    let own = options.patience + load + ports::AROUND;
    own.mul_f64(LONGEST.0 / options.speed.max(1e-3)) + LONGEST.1
}

fn pair(options: &LinkOptions, number: u64) -> Result<PairOptions, LinkError> {
    let bandwidth = options.prb;
    let cell = Cell { id: CellId::new(1)?, bandwidth, phich: PhichResource::One };
    // A priority that this process may not have is none: the record of the threads then shows it.
    let placement = Placement { priority: options.priority, ..Placement::default() };
    let placement = if placement.attempt().is_ok() { placement } else { Placement::default() };
    let wish = |addr: std::net::IpAddr, engine: EngineKind| RadioWish {
        early: Duration::ZERO,
        resample: false,
        addr,
        engine,
        transmit: options.transmit,
        force: false,
        calibration: CalibrationUse::Off,
        rx: FrontEnd::default(),
        tx: FrontEnd::default(),
        placement: placement.clone(),
    };
    Ok(PairOptions {
        cell,
        numerology: Numerology::new(bandwidth, Sampling::Standard)?,
        mode: options.bearer.into(),
        iterations: ITERATIONS,
        seed: number.wrapping_add(1),
        station: wish(options.station.into(), options.engine),
        terminal: wish(options.terminal.into(), EngineKind::Mmsg),
    })
}

fn as_attempt(
    options: &LinkOptions,
    report: &PairReport,
    station: &StationPort,
    terminal: &TerminalPort,
    usage: Option<Usage>,
) -> LinkAttempt {
    let ends = [&report.station, &report.terminal];
    let sum = |of: fn(&takt_lte_radio::EndCounts) -> u64| ends.iter().map(|end| of(end)).sum::<u64>();
    let [late_bursts, lost_subframes] = [sum(|end| end.late), sum(|end| end.lost_subframes)];
    let subframes = sum(|end| end.subframes);
    let load = terminal.load(station).map(|load| LinkLoad { threads: threads(usage.as_ref()), ..load });
    LinkAttempt {
        connected: terminal.attached().is_some(),
        reached: reached(&report.cell, terminal),
        attach_ms: terminal.attached().map(|(subframes, _)| subframes as f64),
        attach_host_ms: terminal.attached().map(|(_, host)| host.as_secs_f64() * 1e3),
        losses: terminal.losses(),
        subframes,
        late_bursts,
        lost_subframes,
        underflows: sum(|end| end.underflows),
        unsent_samples: sum(|end| end.unsent_samples),
        kept_up: kept_up(ends.map(|end| end.subframes), late_bursts + lost_subframes),
        load: load.filter(|load| load.sent > 0 && options.down_bps > 0.0),
    }
}

/// Both ends ran, side by side, and few of their subframes were late or lost. An end whose samples stop is late with none.
fn kept_up(subframes: [u64; 2], faults: u64) -> bool {
    let [one, other] = subframes;
    one.min(other) * 2 >= one.max(other) && one.min(other) > 0 && faults * KEPT_UP_PER <= one + other
}

/// How far the terminal got, in a word.
fn reached(cell: &CellStage, terminal: &TerminalPort) -> String {
    use takt_lte_link::LinkState;
    let word = match (cell, terminal.best()) {
        (_, LinkState::Attached) => "attached",
        (_, LinkState::Completing) => "configured",
        (_, LinkState::Contending) => "random access answered",
        (_, LinkState::NoResponse | LinkState::BackOff) => "random access sent",
        (_, LinkState::Refused) => "refused",
        (_, LinkState::NoSystemInformation) | (CellStage::Follow { .. }, _) => "cell followed",
        (CellStage::Broadcast { .. } | CellStage::OtherBandwidth { .. }, _) => "cell found",
        (CellStage::Search, _) => "no cell",
    };
    word.to_owned()
}

/// CPU time while the load runs: read by the thread that waits.
#[derive(Default)]
struct Account {
    begun: Option<Result<Snapshot, takt_host::ReadError>>,
    usage: Option<Result<Usage, takt_host::ReadError>>,
}

impl Account {
    fn look(&mut self, phase: Phase) {
        if phase == Phase::Loading && self.begun.is_none() {
            self.begun = Some(Snapshot::take());
        }
        // The threads must still live, or nothing of theirs can be read.
        if phase == Phase::Loaded
            && self.usage.is_none()
            && let Some(Ok(begun)) = &self.begun
        {
            self.usage = Some(Snapshot::take().map(|now| now.since(begun)));
        }
    }

    fn finish(self) -> Result<Option<Usage>, LinkError> {
        match (self.begun, self.usage) {
            (Some(Err(error)), _) | (_, Some(Err(error))) => Err(error.into()),
            (_, usage) => Ok(usage.transpose()?),
        }
    }
}

/// Threads that used a CPU, by name; those of one name are added up.
fn threads(usage: Option<&Usage>) -> Vec<LinkThread> {
    let Some(usage) = usage else { return Vec::new() };
    let mut by_name = std::collections::BTreeMap::<&str, u64>::new();
    for thread in &usage.process.threads {
        *by_name.entry(&thread.name).or_default() += thread.cpu_ns;
    }
    let wall_ns = usage.wall_ns.max(1) as f64;
    let of = |(name, ns): (&str, u64)| LinkThread {
        name: name.to_owned(),
        seconds: ns as f64 * 1e-9,
        core_share: ns as f64 / wall_ns,
    };
    by_name.into_iter().filter(|(_, ns)| *ns > 0).map(of).collect()
}

/// Whether an engine is not there on this host, and so will not be in the next round either.
pub(crate) fn is_missing(error: &LinkError) -> bool {
    let LinkError::Pair(PairError { source, .. }) = error else { return false };
    matches!(**source, AirError::Radio(takt_radio::RadioError::Engine(takt_packet::EngineError::Missing { .. })))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_is_late_or_stands_still_did_not_keep_up() {
        assert!(kept_up([1000, 1000], 2) && !kept_up([1000, 1000], 3));
        assert!(kept_up([600, 1000], 0) && !kept_up([1, 1000], 0) && !kept_up([0, 0], 0));
    }
}
