//! `longest-packet`, as a workload of experiments.

use std::time::Duration;

use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;

use super::longest;
use crate::lent::Lent;
use crate::quantity::Quantity;
use crate::setting::{DURATION, Settings, UnknownLevel, settings};
use crate::waveform::workload::{COMPONENTS, LATENCY, LENT_WAVEFORM, POLICY, SLOT, WAVEFORM, WORKERS, named};
use crate::waveform::{Latency, Policy, WaveformOptions};
use crate::workload::{Facts, Peer, PointWorkload, Target, Workload, read, write};

settings! {
    /// A point of `longest-packet`.
    struct LongestPacketSettings {
        duration: Duration = DURATION,
        waveform: String = WAVEFORM,
        components: usize = COMPONENTS,
        slot: Duration = SLOT,
        workers: usize = WORKERS,
        latency: Latency = LATENCY,
        policy: Policy = POLICY,
    }
}

const QUANTITIES: &[Quantity] = &[
    Quantity::amount("items", "/items", "longest packet held"),
    Quantity::amount("throughput_bps", "/throughput_bps", "source bits"),
];

pub(crate) struct LongestPacket;

impl Workload for LongestPacket {
    fn facts(&self) -> Facts {
        Facts {
            lent: Some(Lent { options: LENT_WAVEFORM, waveform_at: Some("") }),
            ..Facts::of(Peer::None, LongestPacketSettings::SETTINGS, QUANTITIES)
        }
    }

    fn at(&self, settings: &Settings) -> Result<Box<dyn PointWorkload>, UnknownLevel> {
        Ok(Box::new(LongestPacketSettings::read(settings)?))
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: WaveformOptions = read("waveform options", options)?;
        write(&longest(&options, stop).map_err(|error| Failure::of(&error, error.fix()))?)
    }
}

impl PointWorkload for LongestPacketSettings {
    fn options(&self, _: &Target<'_>) -> Result<Value, Failure> {
        write(&WaveformOptions {
            components: self.components,
            slot: self.slot,
            duration: self.duration,
            warm_up: Duration::ZERO,
            workers: self.workers,
            latency: self.latency,
            policy: self.policy,
            ..named(&self.waveform)?
        })
    }

    /// Some thirty trials of a quarter, and some confirmations.
    fn about(&self) -> Duration {
        self.duration * 20 + self.slot * 5_000
    }
}
