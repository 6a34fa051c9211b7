//! Why a file of corrections can't be used.
#![allow(missing_docs, reason = "names and messages say it")]

use std::io;
use std::path::PathBuf;

/// A fault in the bytes of a file of corrections.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationFormatError {
    #[error("{place} leads outside the file of {bytes} bytes")]
    Truncated { place: &'static str, bytes: usize },
    #[error("bytes 4 to 7 are {found}; expected: `IQ/f`, the mark of UHD's I/Q and DC calibrations")]
    Mark { found: String },
    #[error("{place} is missing; expected: one as UHD 4.0 and later write it")]
    Missing { place: &'static str },
    #[error("{place} is {found}; expected: {expected}")]
    Value { place: String, found: String, expected: &'static str },
}

impl CalibrationFormatError {
    pub(super) fn value(
        place: impl Into<String>,
        found: impl ToString,
        expected: &'static str,
    ) -> CalibrationFormatError {
        CalibrationFormatError::Value { place: place.into(), found: found.to_string(), expected }
    }
}

/// Why a file of corrections could not be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrationFileError {
    #[error("takt can't {doing} {path}")]
    Io {
        doing: &'static str,
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error("calibration file {path} is not valid: {error}")]
    Format { path: PathBuf, error: CalibrationFormatError },
    #[error("calibration file {path} has more than {most_bytes} bytes, the most that UHD reads")]
    Size { path: PathBuf, most_bytes: u64 },
    #[error("takt finds no folder for calibration files: neither UHD_CAL_DATA_PATH, XDG_DATA_HOME nor HOME is set")]
    NoFolder,
    #[error(
        "the {board} board has {found} as its serial number; expected: letters, digits, `-`, `_` and `.`, which name its files"
    )]
    Serial { board: &'static str, found: String },
}

impl CalibrationFileError {
    /// A way out; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            CalibrationFileError::Io { .. } => {
                Some("name a folder that you may read and write: UHD_CAL_DATA_PATH=/path takt ...".to_owned())
            }
            CalibrationFileError::Format { path, .. } | CalibrationFileError::Size { path, .. } => Some(format!(
                "move it away: mv {0} {0}.old\ncalibrate again: takt radio calibrate\nuse none: --calibration off",
                path.display()
            )),
            CalibrationFileError::NoFolder => Some("name a folder: UHD_CAL_DATA_PATH=/path takt ...".to_owned()),
            CalibrationFileError::Serial { .. } => {
                Some("write one into its EEPROM with UHD's usrp_burn_db_eeprom".to_owned())
            }
        }
    }
}
