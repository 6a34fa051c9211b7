//! Corrections of the front end: those of a file, or of a caller.

use num_complex::Complex64;

use super::N200;
use crate::RadioError;
use crate::board::Side;
use crate::calibration::{
    AppliedCalibration, AppliedTable, CalibrationFolder, CalibrationKind, Missing, correction_words,
};

impl N200 {
    /// The files of corrections that were found for its boards when it was opened.
    #[must_use]
    pub fn calibration(&self) -> &[AppliedTable] {
        self.calibration.report()
    }

    /// Reads the files of its boards in a folder, instead of what it found when it was opened, and removes all corrections. Those of
    /// the files apply from the next tuning on. Fails if the radio does not answer.
    pub fn use_calibration(&mut self, folder: &CalibrationFolder) -> Result<(), RadioError> {
        self.calibration = AppliedCalibration::load(folder, self.identity.board_serials(), Missing::Unsaid);
        CalibrationKind::ALL.into_iter().try_for_each(|kind| self.set_correction(kind, Complex64::default()))
    }

    /// Sets a correction until the side is tuned again. A value beyond the registers' bits becomes the largest. Fails if the radio
    /// does not answer.
    pub fn set_correction(&mut self, kind: CalibrationKind, correction: Complex64) -> Result<(), RadioError> {
        for (register, word) in correction_words(kind, correction) {
            self.fifo.poke(register, word)?;
        }
        Ok(())
    }

    /// Sets the corrections of a side for an oscillator at `lo_hz`, if there are files of its board. A tuning for later takes them along.
    pub(super) fn correct(&mut self, side: Side, lo_hz: f64) -> Result<(), RadioError> {
        for (register, word) in self.calibration.words(side, lo_hz) {
            self.fifo.poke(register, word)?;
        }
        Ok(())
    }
}
