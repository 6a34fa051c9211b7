//! The file of UHD 3: text, one frequency a line behind a head.
//!
//! ```text
//! name, RX Frontend Calibration
//! serial, E1R12W6XS
//! timestamp, 1400000000
//! version, 0, 1
//! DATA STARTS HERE
//! lo_frequency, correction_real, correction_imag, measured, delta
//! 400000000, 0.0125, -0.003, 62.1, 30.4
//! ```

use std::fmt::Write as _;

use num_complex::Complex64;

use super::error::CalibrationFormatError as Error;
use super::flat::checked;
use super::table::{CalibrationPoint, CalibrationTable};

const DATA: &str = "DATA STARTS HERE";

/// Reads a file of UHD 3.
///
/// # Errors
/// It has no data, another version, or a number that is missing, not finite or out of range.
pub fn from_csv(text: &str) -> Result<CalibrationTable, Error> {
    let mut lines = text.lines().enumerate().map(|(n, line)| (n + 1, line.trim()));
    let (mut name, mut serial, mut measured_s) = (String::new(), String::new(), 0);
    loop {
        let (number, line) = lines.next().ok_or(Error::Missing { place: "the line `DATA STARTS HERE`" })?;
        if line == DATA {
            break;
        }
        let (key, value) = line.split_once(',').unwrap_or((line, ""));
        match (key.trim(), value.trim()) {
            ("name", value) => name = value.to_owned(),
            ("serial", value) => serial = value.to_owned(),
            ("timestamp", value) => {
                let wrong = |_| Error::value(format!("time in line {number}"), value, "seconds since 1970");
                measured_s = value.parse().map_err(wrong)?;
            }
            ("version", value) if value.replace(' ', "") != "0,1" => {
                return Err(Error::value("version", value, "0, 1"));
            }
            _ => {}
        }
    }
    // The names of the columns.
    lines.next();
    let rows = lines.filter(|(_, line)| !line.is_empty());
    let points: Result<_, _> = rows.map(|(number, line)| parse_row(number, line)).collect();
    Ok(CalibrationTable::new(name, serial, measured_s, points?))
}

fn parse_row(number: usize, line: &str) -> Result<CalibrationPoint, Error> {
    let place = || format!("line {number}");
    let mut cells = line.split(',').map(|cell| (cell.trim(), cell.trim().parse::<f64>()));
    let mut needed = || match cells.next() {
        Some((_, Ok(value))) => Ok(value),
        Some((cell, Err(_))) => Err(Error::value(place(), cell, "a number")),
        None => Err(Error::value(place(), "too short", "frequency, real part and imaginary part")),
    };
    let (lo_hz, re, im) = (needed()?, needed()?, needed()?);
    let mut level = || needed().unwrap_or(0.0);
    let (measured_db, gained_db) = (level(), level());
    let point = CalibrationPoint { lo_hz, correction: Complex64::new(re, im), measured_db, gained_db };
    checked(place, point)
}

/// Writes a file of UHD 3. Line breaks of the name and the serial become spaces.
#[must_use]
pub fn to_csv(table: &CalibrationTable) -> String {
    let line = |text: &str| text.replace(char::is_control, " ");
    let mut text = format!(
        "name, {}\nserial, {}\ntimestamp, {}\nversion, 0, 1\n{DATA}\n\
         lo_frequency, correction_real, correction_imag, measured, delta\n",
        line(&table.name),
        line(&table.serial),
        table.measured_s
    );
    for point in table.points() {
        let CalibrationPoint { lo_hz, correction, measured_db, gained_db } = point;
        // Writing to a String can't fail.
        let _ = writeln!(text, "{lo_hz}, {}, {}, {measured_db}, {gained_db}", correction.re, correction.im);
    }
    text
}
