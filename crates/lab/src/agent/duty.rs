//! What an agent does: services and workloads, by their options documents.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use takt_base::Stop;
use takt_emulator::emulate::{self, EmulateError, Emulator};

use super::protocol::{Failure, Service};
use crate::experiment::settings::Kind;

/// A service that was started.
pub(super) enum Running {
    Emulator(Emulator),
}

impl Running {
    pub(super) fn start(service: Service, options: Value) -> Result<Running, Failure> {
        match service {
            Service::Emulator => {
                let options: emulate::Options = read("emulator options", options)?;
                Emulator::start(&options).map(Running::Emulator).map_err(|error| emulator_failure(&error))
            }
            Service::UdpServer => Err(Failure::saying("no such service")),
        }
    }

    /// Where it listens.
    pub(super) fn at(&self) -> Vec<String> {
        match self {
            Running::Emulator(emulator) => emulator.addrs().map(|addr| addr.to_string()).collect(),
        }
    }

    /// Ends it; what it counted.
    pub(super) fn finish(self) -> Result<Value, Failure> {
        match self {
            Running::Emulator(emulator) => write(&emulator.stop().map_err(|error| emulator_failure(&error))?),
        }
    }
}

/// Runs a workload to its end, or until `stop`.
pub(super) fn run(workload: Kind, _options: Value, _stop: &Stop) -> Result<Value, Failure> {
    Err(Failure::saying(format!("no workload {}", workload.name())))
}

fn emulator_failure(error: &EmulateError) -> Failure {
    Failure::of(error, None)
}

fn read<T: DeserializeOwned>(what: &str, document: Value) -> Result<T, Failure> {
    serde_json::from_value(document).map_err(|error| Failure::saying(format!("{what}: {error}")))
}

fn write(document: &impl Serialize) -> Result<Value, Failure> {
    serde_json::to_value(document).map_err(|error| Failure::of(&error, None))
}
