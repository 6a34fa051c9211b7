//! Whether a table still fits.

use std::fmt;

use super::table::CalibrationTable;

/// A table older than this is said.
const OLD_DAYS: u64 = 365;
const DAY_S: u64 = 86_400;
/// A table measured at a temperature further away than this is said.
const FAR_C: f64 = 10.0;

/// Why the corrections of a table may be wrong. They are applied all the same, as UHD does.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs, reason = "the names say it")]
pub enum StaleReason {
    /// The file was measured on another board and renamed.
    Serial { file: String, board: String },
    /// It is older than a year.
    Age { days: u64 },
    /// It has no date.
    NoDate,
    /// Its date lies ahead of this host's clock.
    Future { days: u64 },
    /// It was measured more than 10 degrees from the temperature that the caller names.
    Temperature { file_c: f64, now_c: f64 },
    /// It has no points.
    Empty,
}

impl StaleReason {
    /// Everything that does not fit about a table, for a board with this serial, at this time and temperature (if known).
    #[must_use]
    pub fn all(table: &CalibrationTable, serial: &str, now_s: u64, now_c: Option<f64>) -> Vec<StaleReason> {
        let mut reasons = Vec::new();
        if table.serial != serial {
            reasons.push(StaleReason::Serial { file: table.serial.clone(), board: serial.to_owned() });
        }
        match (table.measured_s, now_s) {
            (0, _) => reasons.push(StaleReason::NoDate),
            (then, now) if then > now + DAY_S => reasons.push(StaleReason::Future { days: (then - now) / DAY_S }),
            (then, now) if now.saturating_sub(then) > OLD_DAYS * DAY_S => {
                reasons.push(StaleReason::Age { days: (now - then) / DAY_S });
            }
            _ => {}
        }
        if let (Some(file_c), Some(now_c)) = (table.temperature_c(), now_c)
            && (file_c - now_c).abs() > FAR_C
        {
            reasons.push(StaleReason::Temperature { file_c, now_c });
        }
        if table.points().is_empty() {
            reasons.push(StaleReason::Empty);
        }
        reasons
    }
}

impl fmt::Display for StaleReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StaleReason::Serial { file, board } => write!(f, "measured on board {file}, this is {board}"),
            StaleReason::Age { days } => write!(f, "{days} days old"),
            StaleReason::NoDate => f.write_str("has no date"),
            StaleReason::Future { days } => write!(f, "dated {days} days ahead of this host's clock"),
            StaleReason::Temperature { file_c, now_c } => write!(f, "measured at {file_c} C, now {now_c} C"),
            StaleReason::Empty => f.write_str("has no frequencies"),
        }
    }
}

/// As a sentence.
impl serde::Serialize for StaleReason {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_another_board_date_or_temperature_is_named() {
        let name = "RX Frontend Calibration at 40 C".to_owned();
        let table = CalibrationTable::new(name, "A".to_owned(), 1_000 * DAY_S, Vec::new());
        let said = |serial, days, c| StaleReason::all(&table, serial, days * DAY_S, c);
        assert_eq!(said("A", 1_001, Some(45.0)), [StaleReason::Empty]);
        assert_eq!(said("A", 1_400, None)[0], StaleReason::Age { days: 400 });
        assert_eq!(said("A", 900, None)[0], StaleReason::Future { days: 100 });
        assert_eq!(said("A", 1_000, Some(20.0))[0], StaleReason::Temperature { file_c: 40.0, now_c: 20.0 });
        assert_eq!(said("B", 1_000, None)[0].to_string(), "measured on board A, this is B");
        let undated = CalibrationTable::new(String::new(), "A".to_owned(), 0, Vec::new());
        assert_eq!(StaleReason::all(&undated, "A", 0, None)[0], StaleReason::NoDate);
    }
}
