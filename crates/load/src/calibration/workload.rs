//! `calibration`, as a workload of experiments.

use std::time::Duration;

use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;

use super::CalibrationOptions;
use crate::lent::{Lent, LentOptions, LentRule};
use crate::quantity::Quantity;
use crate::setting::{Setting, Settings};
use crate::waveform::workload::{LENT_WAVEFORM, WAVEFORM, named};
use crate::workload::{Facts, Peer, Target, Workload, read, write};

const SETTINGS: &[Setting] = &[WAVEFORM];

const QUANTITIES: &[Quantity] = &[
    Quantity::amount("mac_per_s", "/capacities/mac_per_s", "multiply-accumulates a second"),
    Quantity::amount("integer_per_s", "/capacities/work_per_s/integer", "operations of whole numbers a second"),
];

const LENT: LentOptions = &[("waveform", LentRule::Document(LENT_WAVEFORM))];

pub(crate) struct Calibration;

impl Workload for Calibration {
    fn facts(&self) -> Facts {
        Facts { peer: Peer::None, settings: SETTINGS, quantities: QUANTITIES }
    }

    fn options(&self, settings: &Settings, _: &Target<'_>) -> Result<Value, Failure> {
        write(&CalibrationOptions { waveform: named(settings)? })
    }

    fn about(&self, _: &Settings) -> Duration {
        ABOUT
    }

    fn lent(&self) -> Option<Lent> {
        Some(Lent { options: LENT, waveform_at: Some("/waveform") })
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: CalibrationOptions = read("calibration options", options)?;
        write(&super::run(&options, stop).map_err(|error| Failure::of(&error, error.fix()))?)
    }
}

/// As `takt calibrate` takes for a core.
const ABOUT: Duration = Duration::from_secs(2);
