//! `calibration`, as a workload of experiments.

use std::time::Duration;

use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;

use super::CalibrationOptions;
use crate::lent::{Lent, LentOptions, LentRule};
use crate::quantity::Quantity;
use crate::setting::{Settings, UnknownLevel, settings};
use crate::waveform::workload::{LENT_WAVEFORM, WAVEFORM, named};
use crate::workload::{Facts, Peer, PointWorkload, Target, Workload, read, write};

settings! {
    /// A point of `calibration`.
    struct CalibrationSettings {
        waveform: String = WAVEFORM,
    }
}

const QUANTITIES: &[Quantity] = &[
    Quantity::amount("mac_per_s", "/capacities/mac_per_s", "multiply-accumulates a second"),
    Quantity::amount("integer_per_s", "/capacities/work_per_s/integer", "operations of whole numbers a second"),
];

const LENT: LentOptions = &[("waveform", LentRule::Document(LENT_WAVEFORM))];

pub(crate) struct Calibration;

impl Workload for Calibration {
    fn facts(&self) -> Facts {
        Facts {
            lent: Some(Lent { options: LENT, waveform_at: Some("/waveform") }),
            ..Facts::of(Peer::None, CalibrationSettings::SETTINGS, QUANTITIES)
        }
    }

    fn at(&self, settings: &Settings) -> Result<Box<dyn PointWorkload>, UnknownLevel> {
        Ok(Box::new(CalibrationSettings::read(settings)?))
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: CalibrationOptions = read("calibration options", options)?;
        write(&super::run(&options, stop).map_err(|error| Failure::of(&error, error.fix()))?)
    }
}

impl PointWorkload for CalibrationSettings {
    fn options(&self, _: &Target<'_>) -> Result<Value, Failure> {
        write(&CalibrationOptions { waveform: named(&self.waveform)? })
    }

    fn about(&self) -> Duration {
        ABOUT
    }
}

/// As `takt calibrate` takes for a core.
const ABOUT: Duration = Duration::from_secs(2);
