//! The first node: it knows the waveform, says who does what, and has the clock.

use std::net::{IpAddr, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use takt_base::{Clock as _, Stop, WallClock};
use takt_bridge::clock::Responder;

use super::cable::Cable;
use super::joined::joined;
use super::line::{Lines, REPLY_BYTES};
use super::message::{Ended, NodeFacts, Order, PROTOCOL, Reply, Request, Start};
use super::part::{Part, Waiting, share, slots};
use super::serve::own_facts;
use super::{Cut, Nodes, NodesError, NodesOptions, PORT, cut};
use crate::waveform::{Clock, Floors, Opened, Packet, Slots, WaveformOptions, WaveformOutcome, floors};

/// How long the second node may take to answer, beside what it runs: a translated one is slow.
const PATIENCE: Duration = Duration::from_secs(60);
/// From the order to begin until slot 0. Doubled where the second node was not ready by then.
const AHEAD: Duration = Duration::from_millis(100);
const AHEAD_MOST: Duration = Duration::from_secs(2);
/// How full the cable is at the length that a search begins with.
const BEGIN_FULL: f64 = 0.8;
/// The length that tells how full it would be.
const PROBE_ITEMS: u32 = 50_000;
const LOOK: Duration = Duration::from_millis(2);

/// Both nodes, and the way between them.
pub(super) struct Pair {
    lines: Lines,
    own: IpAddr,
    clock: Responder,
    first: NodeFacts,
    second: NodeFacts,
    cut: Cut,
    cable_bps: Option<f64>,
    floors: Floors,
    ahead: Duration,
    /// Clocks in the run before: their offset, and how far off that is at most, ns.
    offset: (i64, u64),
}

impl Pair {
    pub(super) fn open(options: &NodesOptions) -> Result<Pair, NodesError> {
        let at = SocketAddr::new(options.second.into(), PORT);
        let connect = |source| NodesError::Connect { at, source };
        let stream = TcpStream::connect_timeout(&at, PATIENCE).map_err(connect)?;
        let own = stream.local_addr().map_err(connect)?.ip();
        let clock = Responder::start(own).map_err(NodesError::Clock)?;
        let mut lines = Lines::over(stream).map_err(NodesError::Line)?;
        let capacities = options.last_on_first.is_none();
        lines.write(&Request::Facts { protocol: PROTOCOL, capacities })?;
        let Reply::Facts(second) = reply(&mut lines, PATIENCE, "facts")? else { return Err(odd("facts")) };
        let first = own_facts(capacities)?;
        let opened = Opened::placed(&WaveformOptions { workers: 1, ..options.waveform.clone() }, None)?;
        let cut = match &options.last_on_first {
            Some(name) => cut::after(&opened.graph, name)?,
            None => cut::mapped(&opened.graph, &opened.registry, options, [&first, &second])?,
        };
        let (cable_bps, floors, ahead, offset) = (options.cable_bps, floors(), AHEAD, (0, 0));
        Ok(Pair { lines, own, clock, first, second: *second, cut, cable_bps, floors, ahead, offset })
    }

    /// Facts about both, and about the cable with such packets.
    pub(super) fn nodes(&self, options: &WaveformOptions) -> Result<Nodes, NodesError> {
        Ok(Nodes {
            first: self.first.clone(),
            second: self.second.clone(),
            cut: self.cut.clone(),
            cable: self.cable(options)?,
            offset_ns: self.offset.0,
            offset_bound_ns: self.offset.1,
        })
    }

    fn cable(&self, options: &WaveformOptions) -> Result<Cable, NodesError> {
        let (opened, share) = share(options, &self.cut.first, 0)?;
        Ok(Cable::of(&share, opened.slot_ns(), self.cable_bps))
    }

    /// Items with which the cable is nearly full; `None`: it has no limit.
    pub(super) fn most_on_cable(&self, options: &WaveformOptions) -> Result<Option<u32>, NodesError> {
        let probe = WaveformOptions { packet: Packet::Items(PROBE_ITEMS), ..options.clone() };
        let used = self.cable(&probe)?.used_share;
        Ok(used.map(|used| (BEGIN_FULL * f64::from(PROBE_ITEMS) / used) as u32))
    }

    /// Hash of what the sinks receive if one core of this node executes all.
    pub(super) fn hash_on_one(&self, options: &WaveformOptions, stop: &Stop) -> Result<Option<String>, NodesError> {
        let slot_ns = u64::try_from(options.slot.as_nanos()).unwrap_or(u64::MAX);
        let slots = slots(options, slot_ns)?;
        let alone = WaveformOptions { workers: 1, clock: Clock::Free, slots: Slots::Count(slots), ..options.clone() };
        let opened = Opened::placed(&alone, None)?;
        let executed = opened.execute(Some(slots), options.duration, stop)?;
        Ok(executed.report.output_hash.filter(|_| executed.report.misses == 0))
    }

    /// Runs a waveform once on both.
    pub(super) fn execute(&mut self, options: &WaveformOptions, stop: &Stop) -> Result<WaveformOutcome, NodesError> {
        loop {
            match self.attempt(options, stop) {
                // Its first slots would be missed for that alone.
                Err(NodesError::Late { .. }) if self.ahead < AHEAD_MOST => self.ahead *= 2,
                done => return done,
            }
        }
    }

    fn attempt(&mut self, options: &WaveformOptions, stop: &Stop) -> Result<WaveformOutcome, NodesError> {
        let waiting = Waiting::open(options, &self.cut.first, 0, self.own)?;
        let order = Order { options: options.clone(), first: self.cut.first.clone() };
        let Reply::Opened { samples } = self.ask(&Request::Open(order), PATIENCE, "its share")? else {
            return Err(odd("its share"));
        };
        let epoch_ns = WallClock.now().0 + self.ahead.as_nanos() as u64;
        waiting.time().begin(epoch_ns);
        let start = Start { samples: waiting.samples(), clock: self.clock.local(), epoch_ns };
        let part = waiting.go(samples)?;
        let started = self.ask(&Request::Start(start), PATIENCE, "its start");
        let late_ns = match started {
            Ok(Reply::Started { late_ns }) => late_ns,
            other => {
                part.stop();
                return Err(other.err().unwrap_or_else(|| odd("its start")));
            }
        };
        if late_ns > 0 {
            part.stop();
        }
        let ended_early = wait(&part, stop);
        let own = part.end(self.floors);
        let Reply::Ended(ended) = self.ask(&Request::End { now: ended_early || late_ns > 0 }, PATIENCE, "its end")?
        else {
            return Err(odd("its end"));
        };
        if late_ns > 0 {
            return Err(NodesError::Late { late_ms: late_ns / 1_000_000 });
        }
        let Ended { outcome, offset_ns, offset_bound_ns } = *ended;
        self.offset = (offset_ns, offset_bound_ns);
        let mut outcome = joined(own?, outcome);
        self.cable(options)?.blame(&mut outcome);
        Ok(outcome)
    }

    fn ask(&mut self, request: &Request, patience: Duration, expected: &'static str) -> Result<Reply, NodesError> {
        self.lines.write(request)?;
        reply(&mut self.lines, patience, expected)
    }
}

/// Until its last slot; `true`: it was to stop before.
fn wait(part: &Part, stop: &Stop) -> bool {
    while !part.ended() {
        if stop.requested() {
            part.stop();
            return true;
        }
        std::thread::sleep(LOOK);
    }
    false
}

fn reply(lines: &mut Lines, patience: Duration, expected: &'static str) -> Result<Reply, NodesError> {
    let began = Instant::now();
    match lines.read(REPLY_BYTES, &|| began.elapsed() > patience)? {
        Some(Reply::Failed(failure)) => Err(NodesError::Refused(failure)),
        Some(reply) => Ok(reply),
        None => Err(NodesError::Unexpected { received: "nothing".to_owned(), expected }),
    }
}

fn odd(expected: &'static str) -> NodesError {
    NodesError::Unexpected { received: "something else".to_owned(), expected }
}
