//! Self-calibration: files of corrections, applied when a front end is tuned, and the measurement that makes them.
//!
//! ```text
//!  rx_iq_SERIAL.cal ──> CalibrationTable ──tune──> correction at the oscillator ──> registers of the front end
//!         ^                                                                                  │
//!         └── calibrate_radio <── CalibrationCapture <── receive antenna CAL <── leakage <───┘
//! ```
//!
//! The files are UHD's, at UHD's places ([`CalibrationFolder`]): UHD uses what takt wrote, and the reverse. A file is hostile until it is
//! parsed: each offset and length is checked, sizes are bounded, and numbers are finite.
//!
//! The measurement takes five to nine captures a frequency. It assumes nothing about the scale of the correction registers: it sees
//! what they do, and solves a linear equation.

mod applied;
mod csv;
mod error;
mod flat;
mod folder;
mod lines;
mod radio;
mod solve;
mod stale;
mod table;

pub(crate) use applied::{AppliedCalibration, Missing, words as correction_words};
pub use applied::{AppliedTable, CalibrationUse, dc_offset_word, iq_balance_word};
pub use csv::{from_csv, to_csv};
pub use error::{CalibrationFileError, CalibrationFormatError};
pub use flat::{from_flatbuffer, to_flatbuffer};
pub use folder::{CalibrationFolder, LoadedCalibration};
pub use lines::{ToneLines, line_level};
pub use radio::{
    CalibratedPoint, CalibrationPlan, CalibrationReport, SkippedFrequency, calibrate_radio, observe_radio,
};
pub use solve::{CorrectionSearch, SearchStep};
pub use stale::StaleReason;
pub use table::{CalibrationKind, CalibrationPoint, CalibrationTable};
