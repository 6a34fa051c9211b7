//! `roles`, as a workload of experiments.

use std::time::Duration;

use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;

use super::RolesOptions;
use crate::lent::LentRule::{Any, UpTo};
use crate::lent::{Lent, LentOptions};
use crate::quantity::Quantity;
use crate::setting::{DURATION, Settings, UnknownLevel, settings};
use crate::waveform::workload::{COMPONENTS, SLOT};
use crate::workload::{Facts, Peer, PointWorkload, Target, Workload, read, write};

settings! {
    /// A point of `roles`.
    struct RolesSettings {
        duration: Duration = DURATION,
        components: usize = COMPONENTS,
        slot: Duration = SLOT,
    }
}

const QUANTITIES: &[Quantity] = &[
    Quantity::difference("variable_ns", "/variable_ns", "a variable set and read"),
    Quantity::amount("load_ns_per_component", "/load_ns_per_component", "opening a waveform, once"),
];

const LENT: LentOptions = &[("slot", Any), ("duration", Any), ("components", UpTo { most: 1024, bytes_each: 1 << 10 })];

pub(crate) struct Roles;

impl Workload for Roles {
    fn facts(&self) -> Facts {
        Facts { lent: Some(Lent::without_waveform(LENT)), ..Facts::of(Peer::None, RolesSettings::SETTINGS, QUANTITIES) }
    }

    fn at(&self, settings: &Settings) -> Result<Box<dyn PointWorkload>, UnknownLevel> {
        Ok(Box::new(RolesSettings::read(settings)?))
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: RolesOptions = read("roles options", options)?;
        write(&super::run(&options, stop).map_err(|error| Failure::of(&error, error.fix()))?)
    }
}

impl PointWorkload for RolesSettings {
    fn options(&self, _: &Target<'_>) -> Result<Value, Failure> {
        let &RolesSettings { duration, components, slot } = self;
        write(&RolesOptions { slot, duration, components })
    }

    /// There are six runs.
    fn about(&self) -> Duration {
        self.duration * 6
    }
}
