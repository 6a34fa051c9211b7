//! Traffic of a link's own: IPv4 datagrams by the radio's time, so that a figure means the same at any speed.

use serde::Serialize;

const IP_HEADER: usize = 20;
const UDP_HEADER: usize = 8;
/// Sequence number and subframe, behind the mark.
const STAMP: usize = 20;
/// Bytes of the shortest packet.
pub const LEAST_PACKET: usize = IP_HEADER + UDP_HEADER + STAMP;
/// First of the payload, so that another program's packet is not taken for one of these.
const MARK: &[u8; 3] = b"tkt";
const UDP: u8 = 17;

/// The purpose of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketKind {
    /// One of a load.
    Load = 0,
    /// A question that is sent back.
    Ping = 1,
    /// That question, sent back.
    Pong = 2,
}

/// The contents of a packet of this traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Its purpose.
    pub kind: PacketKind,
    /// Counted from 0.
    pub sequence: u64,
    /// The subframe in which it was made, by the counting of the end that made it.
    pub made: u64,
}

/// Fills `packet`, an IPv4 datagram with UDP, from host 1 of 192.0.2.0/24 (for documentation, RFC 5737) to host 2 or back.
///
/// # Panics
/// If the packet is shorter than [`LEAST_PACKET`] or longer than 65535 bytes.
pub fn write_packet(stamp: Stamp, down: bool, packet: &mut [u8]) {
    let len = packet.len();
    assert!((LEAST_PACKET..=65_535).contains(&len), "a packet of {len} bytes");
    packet.fill(0);
    packet[..4].copy_from_slice(&[0x45, 0, (len >> 8) as u8, len as u8]);
    packet[8..10].copy_from_slice(&[64, UDP]);
    let (from, to) = if down { (1, 2) } else { (2, 1) };
    packet[12..20].copy_from_slice(&[192, 0, 2, from, 192, 0, 2, to]);
    let check = checksum(&packet[..IP_HEADER]);
    packet[10..12].copy_from_slice(&check.to_be_bytes());
    let udp = (len - IP_HEADER) as u16;
    packet[20..26].copy_from_slice(&[0x14, 0x51, 0x14, 0x51, (udp >> 8) as u8, udp as u8]);
    let payload = &mut packet[IP_HEADER + UDP_HEADER..];
    payload[..3].copy_from_slice(MARK);
    payload[3] = stamp.kind as u8;
    payload[4..12].copy_from_slice(&stamp.sequence.to_be_bytes());
    payload[12..20].copy_from_slice(&stamp.made.to_be_bytes());
    let seed = stamp.sequence;
    payload[STAMP..].iter_mut().enumerate().for_each(|(at, byte)| *byte = filling(seed, at));
}

/// The stamp of a packet; `None` if it is none of this traffic, or any bit of it is wrong.
#[must_use]
pub fn read_packet(packet: &[u8]) -> Option<Stamp> {
    let payload = packet.get(IP_HEADER + UDP_HEADER..).filter(|payload| payload.len() >= STAMP)?;
    let kind = match payload[3] {
        0 => PacketKind::Load,
        1 => PacketKind::Ping,
        2 => PacketKind::Pong,
        _ => return None,
    };
    let number = |at: usize| payload[at..at + 8].iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte));
    let stamp = Stamp { kind, sequence: number(4), made: number(12) };
    let filled = payload[STAMP..].iter().enumerate().all(|(at, byte)| *byte == filling(stamp.sequence, at));
    let whole = usize::from(u16::from_be_bytes([packet[2], packet[3]])) == packet.len();
    (payload.starts_with(MARK) && filled && whole && checksum(&packet[..IP_HEADER]) == 0).then_some(stamp)
}

fn filling(sequence: u64, at: usize) -> u8 {
    (sequence as u8).wrapping_mul(31).wrapping_add(at as u8)
}

/// RFC 1071.
fn checksum(header: &[u8]) -> u16 {
    let sum: u32 = header.chunks_exact(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair[1]]))).sum();
    !((sum & 0xffff) + (sum >> 16)) as u16
}

/// Says when the next packet of a load is due.
#[derive(Clone, Debug)]
pub struct LoadSchedule {
    bits_per_subframe: f64,
    packet_bits: f64,
    from: u64,
    subframes: u64,
    sent: u64,
}

impl LoadSchedule {
    /// `rate_bps` of IP packets of `packet_bytes` during `subframes` from subframe `from` on.
    #[must_use]
    pub fn new(rate_bps: f64, packet_bytes: usize, from: u64, subframes: u64) -> LoadSchedule {
        LoadSchedule {
            bits_per_subframe: rate_bps / 1e3,
            packet_bits: 8.0 * packet_bytes as f64,
            from,
            subframes,
            sent: 0,
        }
    }

    /// The number of a packet that is due by the end of subframe `now`; to be asked until there is none.
    pub fn due(&mut self, now: u64) -> Option<u64> {
        let passed = (now + 1).saturating_sub(self.from).min(self.subframes);
        let due = (passed as f64 * self.bits_per_subframe / self.packet_bits) as u64;
        let number = self.sent;
        self.sent += u64::from(number < due);
        (number < due).then_some(number)
    }

    /// Packets so far.
    #[must_use]
    pub fn sent(&self) -> u64 {
        self.sent
    }

    /// The first subframe after it.
    #[must_use]
    pub fn end(&self) -> u64 {
        self.from + self.subframes
    }
}

/// Measures a load at its receiving end.
#[derive(Clone, Debug, Default)]
pub struct LoadMeter {
    seen: Vec<u64>,
    received: u64,
    repeated: u64,
    late: u64,
    last: Option<(u64, i64)>,
    next: u64,
    jitter: f64,
    bytes: u64,
    first: Option<u64>,
    end: u64,
}

/// The figures of a load at its receiving end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct LoadFigures {
    /// Packets that were handed to the link.
    pub sent: u64,
    /// Distinct packets received.
    pub received: u64,
    /// Packets that came again.
    pub repeated: u64,
    /// Packets that came after a later one.
    pub reordered: u64,
    /// Share of the packets sent that were never received.
    pub lost_share: f64,
    /// Bits of IP packets in a second of the radio's time, from the first to the last received.
    pub rate_bps: f64,
    /// Interarrival jitter of RFC 3550, which iperf3 prints, in milliseconds of the radio's time.
    pub jitter_ms: f64,
}

/// Packets that a meter tells apart. Beyond it, none is known to be a repetition.
const MOST: u64 = 1 << 26;

impl LoadMeter {
    /// Takes a packet that came in subframe `now` of this end.
    pub fn take(&mut self, stamp: Stamp, bytes: usize, now: u64) {
        let (word, bit) = ((stamp.sequence / 64) as usize, stamp.sequence % 64);
        if stamp.sequence < MOST {
            if self.seen.len() <= word {
                self.seen.resize(word + 1, 0);
            }
            if self.seen[word] >> bit & 1 == 1 {
                self.repeated += 1;
                return;
            }
            self.seen[word] |= 1 << bit;
        }
        self.received += 1;
        self.bytes += bytes as u64;
        self.late += u64::from(stamp.sequence < self.next);
        self.next = self.next.max(stamp.sequence.saturating_add(1));
        let transit = now as i64 - stamp.made as i64;
        if let Some((_, before)) = self.last {
            self.jitter += ((transit - before).abs() as f64 - self.jitter) / 16.0;
        }
        self.last = Some((now, transit));
        self.first.get_or_insert(now);
        self.end = now + 1;
    }

    /// Bytes of distinct packets that came.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// The figures, where `sent` packets were handed to the link.
    #[must_use]
    pub fn figures(&self, sent: u64) -> LoadFigures {
        let ms = self.first.map_or(0, |first| self.end - first);
        LoadFigures {
            sent,
            received: self.received,
            repeated: self.repeated,
            reordered: self.late,
            lost_share: if sent == 0 { 0.0 } else { sent.saturating_sub(self.received) as f64 / sent as f64 },
            rate_bps: if ms == 0 { 0.0 } else { 8.0 * self.bytes as f64 / ms as f64 * 1e3 },
            jitter_ms: self.jitter,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_says_what_it_was_made_of_and_one_wrong_bit_is_seen() {
        let stamp = Stamp { kind: PacketKind::Ping, sequence: 77, made: 123_456 };
        let mut packet = vec![0; 200];
        write_packet(stamp, true, &mut packet);
        assert_eq!(read_packet(&packet), Some(stamp));
        for bit in (0..8 * 200).filter(|bit| !(160..224).contains(bit)) {
            let mut wrong = packet.clone();
            wrong[bit / 8] ^= 1 << (bit % 8);
            assert_ne!(read_packet(&wrong), Some(stamp), "bit {bit}");
        }
        for len in 0..200 {
            assert_eq!(read_packet(&packet[..len]), None);
        }
    }

    #[test]
    fn a_load_has_its_rate_and_a_meter_sees_what_is_wrong() {
        let mut schedule = LoadSchedule::new(1e6, 1250, 100, 1000);
        let mut meter = LoadMeter::default();
        for now in 0..2000 {
            while let Some(sequence) = schedule.due(now) {
                let stamp = Stamp { kind: PacketKind::Load, sequence, made: now };
                match sequence {
                    3 => {}
                    7 => (0..2).for_each(|_| meter.take(stamp, 1250, now + 5)),
                    _ => meter.take(stamp, 1250, now + 5),
                }
            }
        }
        let figures = meter.figures(schedule.sent());
        assert_eq!((figures.sent, figures.received, figures.repeated, figures.reordered), (100, 99, 1, 0));
        assert!((figures.lost_share - 0.01).abs() < 1e-12 && (figures.rate_bps / 1e6 - 1.0).abs() < 0.02);
        assert_eq!(schedule.end(), 1100);
    }
}
