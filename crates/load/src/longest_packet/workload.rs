//! `longest-packet`, as a workload of experiments.

use std::time::Duration;

use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;

use super::longest;
use crate::lent::Lent;
use crate::quantity::Quantity;
use crate::setting::{DURATION, Setting, Settings};
use crate::waveform::WaveformOptions;
use crate::waveform::workload::{COMPONENTS, LATENCY, LENT_WAVEFORM, POLICY, SLOT, WAVEFORM, WORKERS, options};
use crate::workload::{Facts, Peer, Target, Workload, read, write};

const SETTINGS: &[Setting] = &[DURATION, WAVEFORM, COMPONENTS, SLOT, WORKERS, LATENCY, POLICY];

const QUANTITIES: &[Quantity] = &[
    Quantity::amount("items", "/items", "longest packet held"),
    Quantity::amount("throughput_bps", "/throughput_bps", "source bits"),
];

pub(crate) struct LongestPacket;

impl Workload for LongestPacket {
    fn facts(&self) -> Facts {
        Facts { peer: Peer::None, settings: SETTINGS, quantities: QUANTITIES }
    }

    fn options(&self, settings: &Settings, _: &Target<'_>) -> Result<Value, Failure> {
        write(&options(settings)?)
    }

    /// Some thirty trials of a quarter, and some confirmations.
    fn about(&self, settings: &Settings) -> Duration {
        settings.span("duration") * 20 + settings.span("slot") * 5_000
    }

    fn lent(&self) -> Option<Lent> {
        Some(Lent { options: LENT_WAVEFORM, waveform_at: Some("") })
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: WaveformOptions = read("waveform options", options)?;
        write(&longest(&options, stop).map_err(|error| Failure::of(&error, error.fix()))?)
    }
}
