//! The tables that a radio's front end is corrected by, and the words of its registers.

use std::fmt;
use std::path::PathBuf;

use num_complex::Complex64;
use takt_base::utc_ns_now;
use takt_wire::n200::registers::settings;

use super::error::CalibrationFileError;
use super::folder::{CalibrationFolder, LoadedCalibration};
use super::stale::StaleReason;
use super::table::CalibrationKind;
use crate::board::Side;

/// Which files of corrections a radio is tuned by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CalibrationUse {
    /// None: the correction registers are zero.
    #[default]
    Off,
    /// Those of UHD in the folders of this user.
    Uhd,
}

impl CalibrationUse {
    /// Whether no file is used.
    #[must_use]
    pub fn is_off(&self) -> bool {
        *self == CalibrationUse::Off
    }
}

impl std::str::FromStr for CalibrationUse {
    type Err = String;

    fn from_str(text: &str) -> Result<CalibrationUse, String> {
        match text {
            "off" => Ok(CalibrationUse::Off),
            "uhd" => Ok(CalibrationUse::Uhd),
            _ => Err("expected: uhd or off".to_owned()),
        }
    }
}

/// A file of corrections that was found for a board; of a board that is hardware, also one that is missing.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct AppliedTable {
    /// Its kind.
    pub kind: CalibrationKind,
    /// The file; `None`: it is missing, or can't be used.
    pub path: Option<PathBuf>,
    /// Seconds since 1970 at which it was measured; 0: not known.
    pub measured_s: u64,
    /// Why it may be wrong, each in the words of [`StaleReason`]. It is applied all the same.
    pub stale: Vec<String>,
    /// Why it is not applied; `None`: it is.
    pub unusable: Option<String>,
}

impl AppliedTable {
    fn unusable(kind: CalibrationKind, why: String) -> AppliedTable {
        AppliedTable { kind, path: None, measured_s: 0, stale: Vec::new(), unusable: Some(why) }
    }
}

/// `rx_iq of FILE`, and why it may be stale; or why it is not applied.
impl fmt::Display for AppliedTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind.key())?;
        if let Some(why) = &self.unusable {
            return write!(f, " is not applied: {why}");
        }
        if let Some(path) = &self.path {
            write!(f, " of {}", path.display())?;
        }
        match self.stale.as_slice() {
            [] => Ok(()),
            stale => write!(f, " may be stale: {}", stale.join("; ")),
        }
    }
}

/// Whether a board without a file is worth a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Missing {
    /// A board that could have been calibrated: it is hardware with an oscillator.
    Said,
    /// A software radio is perfect unless a user wishes otherwise, and a board without oscillator has no such faults.
    Unsaid,
}

/// The tables of a radio.
#[derive(Clone, Debug, Default)]
pub(crate) struct AppliedCalibration {
    tables: Vec<(CalibrationKind, LoadedCalibration)>,
    report: Vec<AppliedTable>,
}

impl AppliedCalibration {
    /// Reads the tables of the receive board and the transmit board in the folders of this user, if they are to be used.
    pub(crate) fn of_user(files: CalibrationUse, serials: [&str; 2], missing: Missing) -> AppliedCalibration {
        match (files, CalibrationFolder::of_user()) {
            (CalibrationUse::Uhd, Ok(folder)) => AppliedCalibration::load(&folder, serials, missing),
            _ => AppliedCalibration::default(),
        }
    }

    /// Reads the tables of a receive board and a transmit board. A file that can't be used is reported and left out, as in UHD.
    pub(crate) fn load(
        folder: &CalibrationFolder,
        [rx_serial, tx_serial]: [&str; 2],
        missing: Missing,
    ) -> AppliedCalibration {
        let mut applied = AppliedCalibration::default();
        for kind in CalibrationKind::ALL {
            let serial = if kind.side() == Side::Rx { rx_serial } else { tx_serial };
            applied.add(kind, serial, folder.load(kind, serial), missing);
        }
        applied
    }

    fn add(
        &mut self,
        kind: CalibrationKind,
        serial: &str,
        loaded: Result<Option<LoadedCalibration>, CalibrationFileError>,
        missing: Missing,
    ) {
        match loaded {
            Ok(Some(loaded)) => {
                let now_s = utc_ns_now().map_or(0, |ns| ns / 1_000_000_000);
                let stale = StaleReason::all(&loaded.table, serial, now_s, None);
                let stale = stale.iter().map(ToString::to_string).collect();
                let measured_s = loaded.table.measured_s;
                let path = Some(loaded.path.clone());
                self.report.push(AppliedTable { kind, path, measured_s, stale, unusable: None });
                self.tables.push((kind, loaded));
            }
            // A board without a serial number has no file.
            Ok(None) | Err(CalibrationFileError::Serial { .. }) if missing == Missing::Unsaid => {}
            Ok(None) => self.report.push(AppliedTable::unusable(kind, format!("there is no file for board {serial}"))),
            Err(error) => self.report.push(AppliedTable::unusable(kind, error.to_string())),
        }
    }

    /// The files that were found.
    pub(crate) fn report(&self) -> &[AppliedTable] {
        &self.report
    }

    /// The registers of a side, and their words, for an oscillator at `lo_hz`.
    pub(crate) fn words(&self, side: Side, lo_hz: f64) -> impl Iterator<Item = (u8, u32)> {
        let tables = self.tables.iter().filter(move |(kind, _)| kind.side() == side);
        tables.filter_map(move |(kind, loaded)| Some(words(*kind, loaded.table.correction_at(lo_hz)?))).flatten()
    }
}

/// The registers of a correction, and their words.
pub(crate) fn words(kind: CalibrationKind, correction: Complex64) -> [(u8, u32); 2] {
    let (registers, word): (_, fn(f64) -> u32) = match kind {
        CalibrationKind::RxIq => ([settings::RX_IQ_MAGNITUDE, settings::RX_IQ_PHASE], iq_balance_word),
        CalibrationKind::TxIq => ([settings::TX_IQ_MAGNITUDE, settings::TX_IQ_PHASE], iq_balance_word),
        CalibrationKind::TxDc => ([settings::TX_DC_OFFSET_I, settings::TX_DC_OFFSET_Q], dc_offset_word),
    };
    [(registers[0], word(correction.re)), (registers[1], word(correction.im))]
}

/// The word of an I/Q correction: 18 bits, signed, 2^17 for 1. A value beyond them becomes the largest.
#[must_use]
pub fn iq_balance_word(value: f64) -> u32 {
    signed_word(value, 18)
}

/// The word of a transmit offset: 24 bits, signed, 2^23 for full scale. A value beyond them becomes the largest.
#[must_use]
pub fn dc_offset_word(value: f64) -> u32 {
    signed_word(value, 24)
}

/// Sign-extended to 32 bits, as UHD writes it.
fn signed_word(value: f64, bits: u32) -> u32 {
    let one = f64::from(1 << (bits - 1));
    ((value * one).round().clamp(-one, one - 1.0) as i32).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calibration::{CalibrationPoint, CalibrationTable};

    fn table(serial: &str) -> CalibrationTable {
        let correction = Complex64::new(0.25, 0.0);
        let point = CalibrationPoint { lo_hz: 1e9, correction, measured_db: 60.0, gained_db: 30.0 };
        CalibrationTable::new(String::new(), serial.to_owned(), 0, vec![point])
    }

    #[test]
    fn what_is_applied_stale_unusable_or_missing_is_said_of_each_kind() {
        let home = tempfile::tempdir().unwrap();
        let folder = CalibrationFolder::at(home.path());
        let files = folder.save(CalibrationKind::RxIq, &table("E1"), false).unwrap();
        std::fs::write(folder.path(CalibrationKind::TxIq, "E1").unwrap(), "no table").unwrap();
        let said = |serials, missing| -> Vec<String> {
            AppliedCalibration::load(&folder, serials, missing).report().iter().map(ToString::to_string).collect()
        };
        let both = said(["E1"; 2], Missing::Unsaid);
        assert_eq!(both.len(), 2, "{both:?}");
        assert_eq!(both[0], format!("rx_iq of {} may be stale: has no date", files[0].display()));
        assert!(both[1].starts_with("tx_iq is not applied: "), "{both:?}");
        assert_eq!(said(["E1"; 2], Missing::Said)[2], "tx_dc is not applied: there is no file for board E1");
        assert_eq!(said(["E2", ""], Missing::Unsaid), Vec::<String>::new());
        assert_eq!(said(["E2", ""], Missing::Said)[0], "rx_iq is not applied: there is no file for board E2");
    }

    #[test]
    fn each_side_has_the_words_of_its_own_tables() {
        let home = tempfile::tempdir().unwrap();
        let folder = CalibrationFolder::at(home.path());
        for kind in CalibrationKind::ALL {
            folder.save(kind, &table("E1"), false).unwrap();
        }
        let applied = AppliedCalibration::load(&folder, ["E1"; 2], Missing::Unsaid);
        let registers = |side| -> Vec<u8> { applied.words(side, 2e9).map(|(register, _)| register).collect() };
        assert_eq!(registers(Side::Rx), [settings::RX_IQ_MAGNITUDE, settings::RX_IQ_PHASE]);
        assert_eq!(registers(Side::Tx).len(), 4);
    }

    #[test]
    fn a_word_has_the_bits_of_its_register_and_never_wraps() {
        assert_eq!(iq_balance_word(0.5), 1 << 16);
        assert_eq!(iq_balance_word(-0.25), (-(1i32 << 15)).cast_unsigned());
        assert_eq!(iq_balance_word(1.0), (1 << 17) - 1);
        assert_eq!(iq_balance_word(-7.0), (-(1i32 << 17)).cast_unsigned());
        assert_eq!(dc_offset_word(0.125), 1 << 20);
        assert_eq!(dc_offset_word(f64::NAN), 0);
    }
}
