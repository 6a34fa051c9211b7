//! A GPSDO on serial line 2: it names itself when asked, and says the time after each PPS.
//!
//! Three lines a second: `$GPGGA`, `$GPRMC`, and the servo line of the `FireFly` family. Hosts want a
//! comma directly before the asterisk. The time is that of the PPS edge just passed.

use std::fmt::{self, Write};
use std::net::SocketAddr;

use takt_base::{Tick, Ticks};
use takt_wire::n200::ports;

use super::time::PPS_TICKS;
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
    pub(super) fn hear(&mut self, now: Tick, text: &[u8], to: SocketAddr, out: &mut dyn Outbox) {
        if text.windows(5).any(|window| window == b"*IDN?") {
            out.send(now, PORT, to, &mut fill_with(IDENTITY));
        }
    }

    /// When [`act`](Self::act) is due.
    pub(super) fn next_event(&self) -> Tick {
        self.next
    }

    /// Says the sentences that are due at `now`, if somebody listens; returns how many.
    pub(super) fn act(&mut self, now: Tick, to: Option<SocketAddr>, out: &mut dyn Outbox) -> u64 {
        if self.next > now {
            return 0;
        }
        let edge = self.next - DELAY;
        self.next = due_after(now);
        let Some(to) = to else { return 0 };
        let moment = Moment::of(self.utc_at_tick_0_s.saturating_add(edge.0 / PPS_TICKS));
        for sentence in [Line::position, Line::minimum, Line::servo] {
            let mut line = Line::default();
            // It fits: no sentence is longer than 82 bytes.
            if sentence(&mut line, &moment).is_ok() {
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

    fn position(&mut self, m: &Moment) -> fmt::Result {
        let [h, min, s] = m.time();
        write!(self, "$GPGGA,{h:02}{min:02}{s:02}.00,4807.0380,N,01131.0000,E,1,09,0.9,545.4,M,46.9,M,,")?;
        self.checksum()
    }

    fn minimum(&mut self, m: &Moment) -> fmt::Result {
        let ([h, min, s], [year, month, day]) = (m.time(), m.date());
        write!(
            self,
            "$GPRMC,{h:02}{min:02}{s:02}.00,A,4807.0380,N,01131.0000,E,0.0,0.0,{day:02}{month:02}{year:02},,"
        )?;
        self.checksum()
    }

    /// Date, count, DAC, frequency error, satellites in view and tracked, status, health.
    fn servo(&mut self, m: &Moment) -> fmt::Result {
        let [year, month, day] = m.date();
        write!(self, "{year:02}-{month:02}-{day:02} 73312 -15.18 2.21E-12 10 9 6 0x0\r\n")
    }

    /// Asterisk, exclusive-or of everything between `$` and it, end of line.
    fn checksum(&mut self) -> fmt::Result {
        let sum = self.bytes().iter().skip(1).fold(0, |sum, byte| sum ^ byte);
        write!(self, "*{sum:02X}\r\n")
    }
}

/// A second of UTC.
struct Moment {
    year: u64,
    month: u64,
    day: u64,
    second_of_day: u64,
}

impl Moment {
    /// Hours, minutes, seconds.
    fn time(&self) -> [u64; 3] {
        [self.second_of_day / 3600, self.second_of_day / 60 % 60, self.second_of_day % 60]
    }

    /// Year of its century, month, day.
    fn date(&self) -> [u64; 3] {
        [self.year % 100, self.month, self.day]
    }

    /// From seconds since 1970, by the proleptic Gregorian calendar; years counted from March, so that the leap day is
    /// the last of its year.
    fn of(utc_s: u64) -> Moment {
        let days = utc_s / 86_400 + 719_468; // since 1 March of year 0
        let (era, day_of_era) = (days / 146_097, days % 146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let month_from_march = (5 * day_of_year + 2) / 153;
        let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
        Moment {
            year: 400 * era + year_of_era + u64::from(month <= 2),
            month,
            day: day_of_year - (153 * month_from_march + 2) / 5 + 1,
            second_of_day: utc_s % 86_400,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        // `date -u -d @N '+%F %T'`
        for (utc_s, date, second) in [
            (0, (1970, 1, 1), 0),
            (951_782_399, (2000, 2, 28), 86_399),
            (951_782_400, (2000, 2, 29), 0),
            (1_700_000_000, (2023, 11, 14), 80_000),
            (4_107_542_400, (2100, 3, 1), 0),
        ] {
            let m = Moment::of(utc_s);
            assert_eq!(((m.year, m.month, m.day), m.second_of_day), (date, second), "{utc_s}");
        }
    }

    #[test]
    fn sentences_end_in_a_comma_and_a_checksum_that_holds() {
        for sentence in [Line::position, Line::minimum] {
            let mut line = Line::default();
            sentence(&mut line, &Moment::of(1_700_000_000)).unwrap();
            let text = std::str::from_utf8(line.bytes()).unwrap();
            let (body, sum) = text.strip_prefix('$').unwrap().split_once('*').unwrap();
            assert!(body.ends_with(','), "{text}");
            let expected = body.bytes().fold(0, |sum, byte| sum ^ byte);
            assert_eq!(sum, format!("{expected:02X}\r\n"));
        }
        let mut line = Line::default();
        line.minimum(&Moment::of(1_700_000_000)).unwrap();
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
