//! The GPSDO behind the radio's third serial line: is it there, and what does it say?
//!
//! A GPSDO sends its name on request, and then a few sentences a second: NMEA (`$GPGGA`, `$GPRMC`) and the state of its
//! servo, a line that starts with a date.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use takt_base::MonoNs;
use takt_packet::{Engine, Wait};
use takt_wire::n200::ports;

use super::N200;
use crate::ports::{open_engine, send_bytes};
use crate::{Net, RadioError};

/// How long it may take to say its name.
const NAME_PATIENCE: Duration = Duration::from_millis(650);
/// After this much silence the request is repeated.
const ASK_AGAIN: Duration = Duration::from_millis(200);
/// Names that are known.
const NAMES: [&str; 3] = ["FireFly", "GPSTCXO", "LC_XO"];
/// Commands that switch its sentences on, as UHD sends them.
const SET_UP: [&str; 6] =
    ["SYST:COMM:SER:ECHO OFF", "SYST:COMM:SER:PRO OFF", "GPS:GPGGA 1", "GPS:GGAST 0", "GPS:GPRMC 1", "SERV:TRAC 1"];
/// A line longer than this is no sentence.
const LINE_BYTES: usize = 256;

/// Report of a GPSDO.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct GpsReport {
    /// Its answer to "who are you".
    pub name: String,
    /// Whether it follows satellites; `None`: it has not reported.
    pub locked: Option<bool>,
    /// Date and time of day it last gave, UTC, `2026-11-21T10:04:05Z`.
    pub utc: Option<String>,
    /// The last position sentence, as it came.
    pub gga: Option<String>,
    /// The last minimum sentence, as it came.
    pub rmc: Option<String>,
    /// The last line about its servo, as it came.
    pub servo: Option<String>,
}

impl N200 {
    /// Asks the GPSDO who it is and listens to it for `listen`. `None`: there is none; that takes 0.65 s.
    ///
    /// # Errors
    /// The port can't be had.
    pub fn gps(&mut self, listen: Duration) -> Result<Option<GpsReport>, RadioError> {
        let mut line = SerialLine::open(&self.net, self.addr)?;
        let Some(name) = line.name()? else { return Ok(None) };
        for command in SET_UP {
            line.say(command)?;
        }
        let mut report = GpsReport { name, ..GpsReport::default() };
        let until = self.net.now() + listen;
        while let Some(text) = line.read(until)? {
            report.note(&text);
            if report.gga.is_some() && report.rmc.is_some() && report.servo.is_some() {
                break;
            }
        }
        Ok(Some(report))
    }
}

impl GpsReport {
    fn note(&mut self, line: &str) {
        let fields: Vec<&str> = line.split(['*', ',']).collect();
        match fields.first() {
            Some(&"$GPGGA") if checksum_holds(line) => {
                // Field 6 is the quality of the fix.
                self.locked = fields.get(6).map(|fix| *fix != "0" && !fix.is_empty());
                self.gga = Some(line.to_owned());
            }
            Some(&"$GPRMC") if checksum_holds(line) => {
                self.utc = fields.get(1).zip(fields.get(9)).and_then(|(time, date)| utc(time, date));
                self.rmc = Some(line.to_owned());
            }
            _ if is_servo(line) => self.servo = Some(line.to_owned()),
            _ => {}
        }
    }
}

/// `dd-dd-dd ...`
fn is_servo(line: &str) -> bool {
    let date = line.as_bytes().first_chunk::<8>();
    date.is_some_and(|date| {
        date.iter().enumerate().all(|(n, byte)| if n == 2 || n == 5 { *byte == b'-' } else { byte.is_ascii_digit() })
    })
}

/// The exclusive or of everything between `$` and `*` is what stands behind it.
fn checksum_holds(line: &str) -> bool {
    let Some((body, sum)) = line.trim_start_matches('$').rsplit_once('*') else { return false };
    u8::from_str_radix(sum, 16) == Ok(body.bytes().fold(0, |sum, byte| sum ^ byte))
}

/// From `hhmmss.ss` and `ddmmyy`.
fn utc(time: &str, date: &str) -> Option<String> {
    let pair = |text: &str, n: usize| {
        text.get(2 * n..2 * n + 2).filter(|t| t.bytes().all(|b| b.is_ascii_digit())).map(str::to_owned)
    };
    let (h, m, s) = (pair(time, 0)?, pair(time, 1)?, pair(time, 2)?);
    let (day, month, year) = (pair(date, 0)?, pair(date, 1)?, pair(date, 2)?);
    Some(format!("20{year}-{month}-{day}T{h}:{m}:{s}Z"))
}

/// Lines over datagrams.
struct SerialLine {
    engine: Box<dyn Engine>,
    net: Arc<dyn Net>,
    begun: String,
    lines: std::collections::VecDeque<String>,
}

impl SerialLine {
    fn open(net: &Arc<dyn Net>, addr: IpAddr) -> Result<SerialLine, RadioError> {
        let engine = open_engine(&**net, SocketAddr::new(addr, ports::GPSDO))?;
        Ok(SerialLine { engine, net: Arc::clone(net), begun: String::new(), lines: Default::default() })
    }

    fn name(&mut self) -> Result<Option<String>, RadioError> {
        send_bytes(&mut *self.engine, b"")?; // tells the radio where to send what the line says
        let until = self.net.now() + NAME_PATIENCE;
        while self.net.now() < until {
            self.say("*IDN?")?;
            let patience = until.min(self.net.now() + ASK_AGAIN);
            while let Some(line) = self.read(patience)? {
                if NAMES.iter().any(|name| line.contains(name)) {
                    return Ok(Some(line));
                }
            }
            if self.engine.refused().is_some() {
                return Ok(None);
            }
        }
        Ok(None)
    }

    fn say(&mut self, text: &str) -> Result<(), RadioError> {
        send_bytes(&mut *self.engine, format!("{text}\r\n").as_bytes())
    }

    /// The next line, or `None` when none has come by `until`.
    fn read(&mut self, until: MonoNs) -> Result<Option<String>, RadioError> {
        loop {
            if let Some(line) = self.lines.pop_front() {
                return Ok(Some(line));
            }
            if self.net.now() >= until {
                return Ok(None);
            }
            let batch = self.engine.recv(Wait::Until(until))?;
            for byte in batch.iter().flat_map(|datagram| datagram.bytes) {
                match byte {
                    b'\r' | b'\n' if self.begun.is_empty() => {}
                    b'\r' | b'\n' => self.lines.push_back(std::mem::take(&mut self.begun)),
                    b' '..=b'~' if self.begun.len() < LINE_BYTES => self.begun.push(char::from(*byte)),
                    _ => {}
                }
            }
            if batch.is_empty() && self.engine.refused().is_some() {
                return Ok(None);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_believed_if_their_checksum_holds() {
        let mut report = GpsReport::default();
        report.note("$GPRMC,100405.00,A,4124.8963,N,00210.3601,E,0.0,0.0,211126,,*34");
        assert_eq!(report.utc.as_deref(), Some("2026-11-21T10:04:05Z"));
        report.note("$GPGGA,100405,4124.8963,N,00210.3601,E,1,08,0.9,10.0,M,,M,,*00");
        assert_eq!(report.locked, None, "its checksum is wrong");
        report.note("26-11-21 1 2 3");
        assert!(report.servo.is_some());
        report.note("$GPRMC");
        report.note("");
    }
}
