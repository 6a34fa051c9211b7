//! A GPSDO on serial line 2: it names itself on request, and sends the time after each PPS.
//!
//! Three lines a second: `$GPGGA`, `$GPRMC`, and the servo line of the `FireFly` family. Hosts want a
//! comma directly before the asterisk. The time is that of the PPS edge just passed.

use std::fmt::{self, Write};
use std::net::SocketAddr;

use takt_base::{Tick, Ticks, Utc};
use takt_wire::n200::ports;

use super::PPS_TICKS;
use crate::device::fill_with;
use crate::{Outbox, Port};

/// How long after the edge the sentences leave: 20 ms.
const DELAY: Ticks = Ticks(PPS_TICKS / 50);
const PORT: Port = Port(ports::GPSDO);
const IDENTITY: &[u8] = b"Jackson-Labs, FireFly-1A, Firmware Rev 0.48\r\n";

pub(super) struct Gpsdo {
    utc_at_tick_0_s: u64,
    next: Tick,
}

impl Gpsdo {
    pub(super) fn new(now: Tick, utc_at_tick_0_s: u64) -> Gpsdo {
        Gpsdo { utc_at_tick_0_s, next: due_after(now) }
    }

    /// Text from the host; only the question for its name is answered.
    pub(super) fn receive(&mut self, now: Tick, text: &[u8], to: SocketAddr, out: &mut dyn Outbox) {
        if text.windows(5).any(|window| window == b"*IDN?") {
            out.send(now, PORT, to, &mut fill_with(IDENTITY));
        }
    }

    /// When [`act`](Self::act) is due.
    pub(super) fn next_event(&self) -> Tick {
        self.next
    }

    /// Sends the sentences that are due at `now`, if a host listens; returns how many.
    pub(super) fn act(&mut self, now: Tick, to: Option<SocketAddr>, out: &mut dyn Outbox) -> u64 {
        if self.next > now {
            return 0;
        }
        let edge = self.next - DELAY;
        self.next = due_after(now);
        let Some(to) = to else { return 0 };
        let time = Utc::of(self.utc_at_tick_0_s.saturating_add(edge.0 / PPS_TICKS));
        for sentence in [Line::position, Line::minimum, Line::servo] {
            let mut line = Line::default();
            // It fits: no sentence is longer than 82 bytes.
            if sentence(&mut line, &time).is_ok() {
                out.send(now, PORT, to, &mut fill_with(line.bytes()));
            }
        }
        3
    }
}

/// The sentences after the first edge that still leave after `now`.
fn due_after(now: Tick) -> Tick {
    let edge = Tick(now.0 - now.0 % PPS_TICKS);
    let due = edge + DELAY;
    if due > now { due } else { due + Ticks(PPS_TICKS) }
}

/// A line of text in fixed memory.
struct Line {
    bytes: [u8; 128],
    len: usize,
}

impl Default for Line {
    fn default() -> Line {
        Line { bytes: [0; 128], len: 0 }
    }
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.bytes.get_mut(self.len..self.len + text.len()).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len += text.len();
        Ok(())
    }
}

impl Line {
    fn bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }

    fn position(&mut self, utc: &Utc) -> fmt::Result {
        let Utc { hour, minute, second, .. } = utc;
        write!(self, "$GPGGA,{hour:02}{minute:02}{second:02}.00,4807.0380,N,01131.0000,E,1,09,0.9,545.4,M,46.9,M,,")?;
        self.checksum()
    }

    fn minimum(&mut self, utc: &Utc) -> fmt::Result {
        let Utc { hour, minute, second, day, month, year } = utc;
        write!(
            self,
            "$GPRMC,{hour:02}{minute:02}{second:02}.00,A,4807.0380,N,01131.0000,E,0.0,0.0,{day:02}{month:02}{:02},,",
            year % 100
        )?;
        self.checksum()
    }

    /// Date, count, DAC, frequency error, satellites in view and tracked, status, health.
    fn servo(&mut self, utc: &Utc) -> fmt::Result {
        let Utc { year, month, day, .. } = utc;
        write!(self, "{:02}-{month:02}-{day:02} 73312 -15.18 2.21E-12 10 9 6 0x0\r\n", year % 100)
    }

    /// Asterisk, exclusive-or of everything between `$` and it, end of line.
    fn checksum(&mut self) -> fmt::Result {
        let sum = self.bytes().iter().skip(1).fold(0, |sum, byte| sum ^ byte);
        write!(self, "*{sum:02X}\r\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_end_in_a_comma_and_a_checksum_that_holds() {
        for sentence in [Line::position, Line::minimum] {
            let mut line = Line::default();
            sentence(&mut line, &Utc::of(1_700_000_000)).unwrap();
            let text = std::str::from_utf8(line.bytes()).unwrap();
            let (body, sum) = text.strip_prefix('$').unwrap().split_once('*').unwrap();
            assert!(body.ends_with(','), "{text}");
            let expected = body.bytes().fold(0, |sum, byte| sum ^ byte);
            assert_eq!(sum, format!("{expected:02X}\r\n"));
        }
        let mut line = Line::default();
        line.minimum(&Utc::of(1_700_000_000)).unwrap();
        assert!(line.bytes().starts_with(b"$GPRMC,221320.00,A,"));
        assert!(line.bytes().windows(8).any(|w| w == b",141123,"));
    }

    #[test]
    fn sentences_follow_the_edge() {
        let gpsdo = Gpsdo::new(Tick(3 * PPS_TICKS + 5), 0);
        assert_eq!(gpsdo.next_event(), Tick(3 * PPS_TICKS) + DELAY);
        assert_eq!(due_after(Tick(3 * PPS_TICKS) + DELAY), Tick(4 * PPS_TICKS) + DELAY);
    }
}
