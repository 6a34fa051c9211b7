//! `roles`, as a workload of experiments.

use std::time::Duration;

use serde_json::Value;
use takt_agent::Failure;
use takt_base::Stop;

use super::RolesOptions;
use crate::lent::LentRule::{Any, UpTo};
use crate::lent::{Lent, LentOptions};
use crate::quantity::Quantity;
use crate::setting::{DURATION, Setting, Settings};
use crate::waveform::workload::{COMPONENTS, SLOT};
use crate::workload::{Facts, Peer, Target, Workload, read, write};

const SETTINGS: &[Setting] = &[DURATION, COMPONENTS, SLOT];

const QUANTITIES: &[Quantity] = &[
    Quantity::difference("variable_ns", "/variable_ns", "a variable set and read"),
    Quantity::amount("load_ns_per_component", "/load_ns_per_component", "opening a waveform, once"),
];

const LENT: LentOptions = &[("slot", Any), ("duration", Any), ("components", UpTo { most: 1024, bytes_each: 1 << 10 })];

pub(crate) struct Roles;

impl Workload for Roles {
    fn facts(&self) -> Facts {
        Facts { peer: Peer::None, settings: SETTINGS, quantities: QUANTITIES }
    }

    fn options(&self, settings: &Settings, _: &Target<'_>) -> Result<Value, Failure> {
        write(&RolesOptions {
            slot: settings.span("slot"),
            duration: settings.span("duration"),
            components: settings.whole("components"),
        })
    }

    /// There are six runs.
    fn about(&self, settings: &Settings) -> Duration {
        settings.span("duration") * 6
    }

    fn lent(&self) -> Option<Lent> {
        Some(Lent::without_waveform(LENT))
    }

    fn run(&self, options: Value, stop: &Stop) -> Result<Value, Failure> {
        let options: RolesOptions = read("roles options", options)?;
        write(&super::run(&options, stop).map_err(|error| Failure::of(&error, error.fix()))?)
    }
}
