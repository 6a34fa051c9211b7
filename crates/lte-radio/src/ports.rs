//! Users of a link: an interface of this host, or traffic of the link's own.

use takt_host::tun::Tun;
use takt_lte_link::{Identity, LinkState};

use crate::traffic::{LoadFigures, LoadMeter, LoadSchedule, PacketKind, Stamp, read_packet, write_packet};
use crate::watched::ReceivedBytes;
use crate::{AirError, PacketPort, StationCore, TerminalCore};

/// Packets of the host that are taken in a subframe, at most: a flood does not keep the link from its samples.
const PACKETS: usize = 64;
/// Bytes of a packet, at most; the link refuses longer ones than 1500, and counts them.
const PACKET_BYTES: usize = 65_536;
/// Hosts whose terminal is remembered.
const HOSTS: usize = 64;
/// Terminals whose bytes are counted, beyond those that a cell holds at once.
const TERMINALS: usize = 64;

/// An interface of this host, for either end.
pub struct TunPort {
    tun: Tun,
    packet: Vec<u8>,
    /// Which terminal a host is behind: the station's, learnt from what it sends.
    hosts: Vec<(u128, Identity)>,
    /// Bytes that came from each terminal: the station's.
    from: Vec<(Identity, u64)>,
    counts: TunCounts,
}

/// Counts of an interface's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct TunCounts {
    /// Packets from the host.
    pub from_host: u64,
    /// Among them: packets that the link did not take.
    pub refused: u64,
    /// Packets to the host.
    pub to_host: u64,
    /// Their bytes.
    pub bytes_to_host: u64,
    /// Packets that the host did not take.
    pub refused_by_host: u64,
}

impl TunPort {
    /// For this interface.
    #[must_use]
    pub fn new(tun: Tun) -> TunPort {
        TunPort {
            tun,
            packet: vec![0; PACKET_BYTES],
            hosts: Vec::new(),
            from: Vec::new(),
            counts: TunCounts::default(),
        }
    }

    /// Its counts.
    #[must_use]
    pub fn counts(&self) -> TunCounts {
        self.counts
    }

    fn gone(&self) -> impl FnOnce(std::io::Error) -> AirError + use<> {
        let name = self.tun.name().to_owned();
        |source| AirError::Interface { name, source }
    }

    /// The next packet of the host, as its bytes in `packet`.
    fn next(&mut self) -> Result<Option<usize>, AirError> {
        let read = self.tun.read(&mut self.packet).map_err(self.gone())?;
        self.counts.from_host += u64::from(read.is_some());
        Ok(read)
    }

    fn give(&mut self, packet: &[u8]) -> Result<(), AirError> {
        let taken = self.tun.write(packet).map_err(self.gone())?;
        *(if taken { &mut self.counts.to_host } else { &mut self.counts.refused_by_host }) += 1;
        self.counts.bytes_to_host += if taken { packet.len() as u64 } else { 0 };
        Ok(())
    }

    /// Counts a packet of a terminal, and remembers that its sender is behind it.
    fn learn(&mut self, packet: &[u8], from: Identity) {
        let bytes = packet.len() as u64;
        match self.from.iter().position(|(known, _)| *known == from) {
            Some(at) => self.from[at].1 += bytes,
            None if self.from.len() < TERMINALS => self.from.push((from, bytes)),
            None => {}
        }
        let Some((host, _)) = hosts_of(packet) else { return };
        match self.hosts.iter().position(|(known, _)| *known == host) {
            Some(at) => self.hosts[at].1 = from,
            None if self.hosts.len() < HOSTS => self.hosts.push((host, from)),
            None => {}
        }
    }

    /// The terminal that a packet's receiver is behind; the only one, if there is one.
    fn terminal_of(&self, packet: &[u8], station: &mut StationCore) -> Option<Identity> {
        let (_, host) = hosts_of(packet)?;
        let known = self.hosts.iter().find(|(known, _)| *known == host).map(|(_, identity)| *identity);
        known.or_else(|| {
            let mut terminals = station.link().terminals();
            terminals.next().filter(|_| terminals.next().is_none()).map(|only| only.identity)
        })
    }
}

/// Sender and receiver of an IPv4 or IPv6 packet.
fn hosts_of(packet: &[u8]) -> Option<(u128, u128)> {
    let (first, len) = match packet.first()? >> 4 {
        4 => (12, 4),
        6 => (8, 16),
        _ => return None,
    };
    let both = packet.get(first..first + 2 * len)?;
    let number = |bytes: &[u8]| bytes.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
    Some((number(&both[..len]), number(&both[len..])))
}

impl ReceivedBytes for TunPort {
    fn received_bytes(&self, from: Option<Identity>) -> u64 {
        let of = |from| self.from.iter().find(|(known, _)| *known == from).map_or(0, |(_, bytes)| *bytes);
        from.map_or(self.counts.bytes_to_host, of)
    }
}

impl PacketPort<StationCore> for TunPort {
    fn exchange(&mut self, _: u64, station: &mut StationCore) -> Result<bool, AirError> {
        for _ in 0..PACKETS {
            let Some(bytes) = self.next()? else { break };
            let packet = &self.packet[..bytes];
            let terminal = self.terminal_of(packet, station);
            let sent = terminal.is_some_and(|terminal| station.link().send(terminal, packet).is_ok());
            self.counts.refused += u64::from(!sent);
        }
        while let Some((from, packet)) = station.link().receive() {
            self.learn(&packet, from);
            self.give(&packet)?;
        }
        Ok(true)
    }
}

impl PacketPort<TerminalCore> for TunPort {
    fn exchange(&mut self, _: u64, terminal: &mut TerminalCore) -> Result<bool, AirError> {
        for _ in 0..PACKETS {
            let Some(bytes) = self.next()? else { break };
            let sent = terminal.link().send(&self.packet[..bytes]).is_ok();
            self.counts.refused += u64::from(!sent);
        }
        while let Some(packet) = terminal.link().receive() {
            self.give(&packet)?;
        }
        Ok(true)
    }
}

/// The traffic of a demonstration: pings, then a load each way, by the radio's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TrafficPlan {
    /// Bits of IP packets a second, to the terminal.
    pub down_bps: f64,
    /// The same, to the base station.
    pub up_bps: f64,
    /// Bytes of a packet of the load.
    pub packet_bytes: usize,
    /// How long the load lasts, in subframes.
    pub subframes: u64,
    /// Pings before the load.
    pub pings: u64,
    /// Subframes without a link after which the run ends.
    pub patience: u64,
}

/// Subframes between two pings.
const PING_EVERY: u64 = 50;
/// Subframes that packets on their way get at the end.
const DRAIN: u64 = 2000;

/// The base station's side of it.
pub struct StationTraffic {
    plan: TrafficPlan,
    load: Option<(LoadSchedule, Identity)>,
    meter: LoadMeter,
    packet: Vec<u8>,
    refused: u64,
}

impl StationTraffic {
    /// The load begins once a terminal has sent its last ping.
    #[must_use]
    pub fn new(plan: TrafficPlan) -> StationTraffic {
        let packet = vec![0; plan.packet_bytes];
        StationTraffic { plan, load: None, meter: LoadMeter::default(), packet, refused: 0 }
    }

    /// The load downwards: packets handed to the link, and packets that it refused.
    #[must_use]
    pub fn sent(&self) -> (u64, u64) {
        (self.load.as_ref().map_or(0, |(load, _)| load.sent()), self.refused)
    }

    /// The load upwards, of which `sent` packets were handed to the other end.
    #[must_use]
    pub fn received(&self, sent: u64) -> LoadFigures {
        self.meter.figures(sent)
    }
}

impl ReceivedBytes for StationTraffic {
    /// Bytes of the load; there is one terminal.
    fn received_bytes(&self, _: Option<Identity>) -> u64 {
        self.meter.bytes()
    }
}

impl PacketPort<StationCore> for StationTraffic {
    fn exchange(&mut self, now: u64, station: &mut StationCore) -> Result<bool, AirError> {
        while let Some((from, packet)) = station.link().receive() {
            let Some(stamp) = read_packet(&packet) else { continue };
            match stamp.kind {
                PacketKind::Load => self.meter.take(stamp, packet.len(), now),
                PacketKind::Ping => {
                    let mut answer = vec![0; packet.len()];
                    write_packet(Stamp { kind: PacketKind::Pong, ..stamp }, true, &mut answer);
                    let _ = station.link().send(from, &answer);
                    if stamp.sequence + 1 >= self.plan.pings && self.load.is_none() {
                        let TrafficPlan { down_bps, packet_bytes, subframes, .. } = self.plan;
                        let load = LoadSchedule::new(down_bps, packet_bytes, now + PING_EVERY, subframes);
                        self.load = Some((load, from));
                    }
                }
                PacketKind::Pong => {}
            }
        }
        if let Some((load, to)) = &mut self.load {
            while let Some(sequence) = load.due(now) {
                write_packet(Stamp { kind: PacketKind::Load, sequence, made: now }, true, &mut self.packet);
                self.refused += u64::from(station.link().send(*to, &self.packet).is_err());
            }
        }
        Ok(true)
    }
}

/// The terminal's side of it, which ends the run.
pub struct TerminalTraffic {
    plan: TrafficPlan,
    attached_at: Option<u64>,
    /// For each ping, when it left and how many subframes it took.
    pings: Vec<(u64, Option<u64>)>,
    load: Option<LoadSchedule>,
    meter: LoadMeter,
    packet: Vec<u8>,
    refused: u64,
    best: LinkState,
}

impl TerminalTraffic {
    /// Begins once the link is up.
    #[must_use]
    pub fn new(plan: TrafficPlan) -> TerminalTraffic {
        TerminalTraffic {
            plan,
            attached_at: None,
            pings: Vec::new(),
            load: None,
            meter: LoadMeter::default(),
            packet: vec![0; plan.packet_bytes],
            refused: 0,
            best: LinkState::default(),
        }
    }

    /// Subframes from the beginning to the link, if it came up.
    #[must_use]
    pub fn attached_at(&self) -> Option<u64> {
        self.attached_at
    }

    /// The furthest that the link has got.
    #[must_use]
    pub fn best(&self) -> LinkState {
        self.best
    }

    /// Round trips of the pings, in subframes; `None`: no answer came.
    pub fn pings(&self) -> impl Iterator<Item = Option<u64>> + '_ {
        self.pings.iter().map(|(_, took)| *took)
    }

    /// The load upwards: packets handed to the link, and packets that it refused.
    #[must_use]
    pub fn sent(&self) -> (u64, u64) {
        (self.load.as_ref().map_or(0, LoadSchedule::sent), self.refused)
    }

    /// The load downwards, of which `sent` packets were handed to the other end.
    #[must_use]
    pub fn received(&self, sent: u64) -> LoadFigures {
        self.meter.figures(sent)
    }

    fn send_ping(&mut self, now: u64, terminal: &mut TerminalCore) {
        let stamp = Stamp { kind: PacketKind::Ping, sequence: self.pings.len() as u64, made: now };
        let mut packet = [0; 84];
        write_packet(stamp, false, &mut packet);
        self.pings.push((now, None));
        let _ = terminal.link().send(&packet);
    }

    fn take(&mut self, now: u64, packet: &[u8]) {
        let Some(stamp) = read_packet(packet) else { return };
        match stamp.kind {
            PacketKind::Load => self.meter.take(stamp, packet.len(), now),
            PacketKind::Pong => {
                if let Some((left, took @ None)) = self.pings.get_mut(stamp.sequence as usize) {
                    *took = Some(now - *left);
                }
            }
            PacketKind::Ping => {}
        }
    }
}

impl ReceivedBytes for TerminalTraffic {
    /// Bytes of the load; there is one terminal.
    fn received_bytes(&self, _: Option<Identity>) -> u64 {
        self.meter.bytes()
    }
}

impl PacketPort<TerminalCore> for TerminalTraffic {
    fn exchange(&mut self, now: u64, terminal: &mut TerminalCore) -> Result<bool, AirError> {
        let state = terminal.link().state();
        self.best = self.best.max(state);
        while let Some(packet) = terminal.link().receive() {
            self.take(now, &packet);
        }
        let Some(attached_at) = self.attached_at else {
            if state == LinkState::Attached {
                self.attached_at = Some(now);
            }
            return Ok(now < self.plan.patience);
        };
        let TrafficPlan { pings, up_bps, packet_bytes, subframes, .. } = self.plan;
        let next_ping = attached_at + 1 + PING_EVERY * self.pings.len() as u64;
        if (self.pings.len() as u64) < pings {
            if now >= next_ping {
                self.send_ping(now, terminal);
            }
            return Ok(true);
        }
        let load =
            self.load.get_or_insert_with(|| LoadSchedule::new(up_bps, packet_bytes, now + PING_EVERY, subframes));
        while let Some(sequence) = load.due(now) {
            write_packet(Stamp { kind: PacketKind::Load, sequence, made: now }, false, &mut self.packet);
            self.refused += u64::from(terminal.link().send(&self.packet).is_err());
        }
        Ok(now < load.end() + DRAIN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_name_their_hosts_and_others_name_none() {
        let mut packet = vec![0; 64];
        packet[0] = 0x45;
        packet[12..20].copy_from_slice(&[10, 0, 0, 1, 10, 0, 0, 2]);
        assert_eq!(hosts_of(&packet), Some((0x0a00_0001, 0x0a00_0002)));
        packet[0] = 0x60;
        packet[8..40].fill(0);
        (packet[23], packet[39]) = (7, 9);
        assert_eq!(hosts_of(&packet), Some((7, 9)));
        assert_eq!((hosts_of(&packet[..39]), hosts_of(&[0x20; 64]), hosts_of(&[])), (None, None, None));
    }
}
