//! The users of both ends: a few pings once the link is up, then a load to the terminal.
//!
//! Both ends are in one process, so a datagram's time of sending stands in memory, not in the datagram: the samples on the air do not
//! depend on the host's clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use takt_lte_link::{Identity, LinkState};
use takt_lte_radio::traffic::{LoadMeter, LoadSchedule, PacketKind, Stamp, read_packet, write_packet};
use takt_lte_radio::{AirError, PacketPort, StationCore, TerminalCore};
use takt_stats::Jitter;

use super::LinkOptions;
use super::outcome::LinkLoad;

/// Pings before the load: they show both ends that the bearer carries packets.
const PINGS: u64 = 2;
/// Subframes between two pings, and before the load.
const EVERY: u64 = 50;
/// Subframes that datagrams on their way get at the end.
const DRAIN: u64 = 500;
/// Time of an attempt beside waiting for the link and the load.
pub(super) const AROUND: Duration = Duration::from_millis((PINGS + 2) * EVERY + DRAIN);
/// Datagrams whose times of sending are kept: more than any link has on its way.
const ON_THE_WAY: usize = 1 << 14;
const PING_BYTES: usize = 84;

/// How far an attempt has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Connecting,
    Loading,
    Loaded,
}

/// State that both ends and the thread waiting for them share.
pub(super) struct Shared {
    phase: AtomicU8,
    epoch: Instant,
    /// When each of the last datagrams was handed to the link, nanoseconds since `epoch`.
    sent_ns: Box<[AtomicU64]>,
}

impl Default for Shared {
    fn default() -> Shared {
        Shared {
            phase: AtomicU8::new(0),
            epoch: Instant::now(),
            sent_ns: (0..ON_THE_WAY).map(|_| AtomicU64::new(0)).collect(),
        }
    }
}

impl Shared {
    pub(super) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Connecting,
            1 => Phase::Loading,
            _ => Phase::Loaded,
        }
    }

    fn enter(&self, phase: Phase) {
        let number = match phase {
            Phase::Connecting => 0,
            Phase::Loading => 1,
            Phase::Loaded => 2,
        };
        self.phase.fetch_max(number, Ordering::AcqRel);
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.epoch.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }

    fn of(&self, sequence: u64) -> Option<&AtomicU64> {
        self.sent_ns.get((sequence % ON_THE_WAY as u64) as usize)
    }
}

fn subframes(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX / 4)
}

/// The base station's user: answers pings, then sends the load.
pub(super) struct StationPort {
    down_bps: f64,
    packet: Vec<u8>,
    subframes: u64,
    loaded: bool,
    load: Option<(LoadSchedule, Identity)>,
    refused: u64,
    shared: Arc<Shared>,
}

impl StationPort {
    pub(super) fn new(options: &LinkOptions, loaded: bool, shared: Arc<Shared>) -> StationPort {
        let bytes = options.packet_bytes.clamp(takt_lte_radio::traffic::LEAST_PACKET, 1500);
        StationPort {
            down_bps: options.down_bps,
            packet: vec![0; bytes],
            subframes: subframes(options.duration),
            loaded: loaded && options.down_bps > 0.0,
            load: None,
            refused: 0,
            shared,
        }
    }

    fn answer(&mut self, now: u64, from: Identity, stamp: Stamp, station: &mut StationCore) {
        let mut answer = [0; PING_BYTES];
        write_packet(Stamp { kind: PacketKind::Pong, ..stamp }, true, &mut answer);
        let _ = station.link().send(from, &answer);
        if stamp.sequence + 1 >= PINGS && self.loaded && self.load.is_none() {
            let load = LoadSchedule::new(self.down_bps, self.packet.len(), now + EVERY, self.subframes);
            self.load = Some((load, from));
            self.shared.enter(Phase::Loading);
        }
    }
}

impl PacketPort<StationCore> for StationPort {
    fn exchange(&mut self, now: u64, station: &mut StationCore) -> Result<bool, AirError> {
        while let Some((from, packet)) = station.link().receive() {
            if let Some(stamp) = read_packet(&packet).filter(|stamp| stamp.kind == PacketKind::Ping) {
                self.answer(now, from, stamp, station);
            }
        }
        let Some((load, to)) = &mut self.load else { return Ok(true) };
        while let Some(sequence) = load.due(now) {
            write_packet(Stamp { kind: PacketKind::Load, sequence, made: now }, true, &mut self.packet);
            if let Some(sent_ns) = self.shared.of(sequence) {
                sent_ns.store(self.shared.now_ns(), Ordering::Release);
            }
            self.refused += u64::from(station.link().send(*to, &self.packet).is_err());
        }
        if now >= load.end() {
            self.shared.enter(Phase::Loaded);
        }
        Ok(true)
    }
}

/// The terminal's user, which ends the attempt.
pub(super) struct TerminalPort {
    speed: f64,
    patience: u64,
    /// Subframes from the link to the end of the attempt.
    lasts: u64,
    begun: Instant,
    attached: Option<(u64, Duration)>,
    is_up: bool,
    losses: u64,
    best: LinkState,
    pings: u64,
    meter: LoadMeter,
    jitter: Jitter,
    shared: Arc<Shared>,
}

impl TerminalPort {
    pub(super) fn new(options: &LinkOptions, loaded: bool, begun: Instant, shared: Arc<Shared>) -> TerminalPort {
        let load = if loaded && options.down_bps > 0.0 { subframes(options.duration) + EVERY + DRAIN } else { 0 };
        TerminalPort {
            speed: options.speed,
            patience: subframes(options.patience),
            lasts: (PINGS + 1) * EVERY + load,
            begun,
            attached: None,
            is_up: false,
            losses: 0,
            best: LinkState::default(),
            pings: 0,
            meter: LoadMeter::default(),
            jitter: Jitter::default(),
            shared,
        }
    }

    /// When the link came up: subframes of this end's, and time of the host's; `None`: never.
    pub(super) fn attached(&self) -> Option<(u64, Duration)> {
        self.attached
    }

    pub(super) fn losses(&self) -> u64 {
        self.losses
    }

    pub(super) fn best(&self) -> LinkState {
        self.best
    }

    /// Fate of the load that the other end sent; `None`: it sent none.
    pub(super) fn load(&self, station: &StationPort) -> Option<LinkLoad> {
        let sent = station.load.as_ref().map(|(load, _)| load.sent())?;
        let figures = self.meter.figures(sent);
        Some(LinkLoad {
            sent,
            refused: station.refused,
            received: figures.received,
            reordered: figures.reordered,
            repeated: figures.repeated,
            lost_share: figures.lost_share,
            rate_bps: figures.rate_bps,
            jitter_ms: self.jitter.ns().map(|ns| ns * 1e-6 * self.speed),
            threads: Vec::new(),
        })
    }

    fn watch(&mut self, now: u64, state: LinkState) {
        self.best = self.best.max(state);
        let is_up = state == LinkState::Attached;
        self.losses += u64::from(self.is_up && !is_up);
        self.is_up = is_up;
        if is_up && self.attached.is_none() {
            self.attached = Some((now, self.begun.elapsed()));
        }
    }

    fn take(&mut self, now: u64, packet: &[u8]) {
        let Some(stamp) = read_packet(packet).filter(|stamp| stamp.kind == PacketKind::Load) else { return };
        self.meter.take(stamp, packet.len(), now);
        if let Some(sent_ns) = self.shared.of(stamp.sequence) {
            self.jitter.record(sent_ns.load(Ordering::Acquire), self.shared.now_ns());
        }
    }
}

impl PacketPort<TerminalCore> for TerminalPort {
    fn exchange(&mut self, now: u64, terminal: &mut TerminalCore) -> Result<bool, AirError> {
        self.watch(now, terminal.link().state());
        while let Some(packet) = terminal.link().receive() {
            self.take(now, &packet);
        }
        let Some((attached_at, _)) = self.attached else { return Ok(now < self.patience) };
        if self.pings < PINGS && now > attached_at + EVERY * self.pings {
            let mut packet = [0; PING_BYTES];
            write_packet(Stamp { kind: PacketKind::Ping, sequence: self.pings, made: now }, false, &mut packet);
            self.pings += u64::from(terminal.link().send(&packet).is_ok());
        }
        Ok(now < attached_at + self.lasts)
    }
}
