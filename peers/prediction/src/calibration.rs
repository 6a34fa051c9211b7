//! Capacities of a processor, by all means takt-mapper has.

use std::collections::BTreeMap;
use std::time::Instant;

use serde::{Deserialize, Serialize};
use takt_mapper::cost::probes;
use takt_mapper::{CalibrationError, Capacities, Timed, calibrate, time_probes};

/// As measured.
#[derive(Serialize, Deserialize)]
pub struct Calibration {
    /// MACs and the seven kernels.
    pub capacities: Capacities,
    /// Each probe's time, ns.
    pub probes: BTreeMap<String, f64>,
}

impl Calibration {
    /// Measures the processor this runs on.
    pub fn here() -> Result<Calibration, CalibrationError> {
        let capacities = calibrate(clock)?;
        let probes = time_probes(clock)?;
        let probes = probes.into_iter().map(|(name, timed)| (name.to_owned(), timed.ns)).collect();
        Ok(Calibration { capacities, probes })
    }

    /// The probes' times with what they execute.
    pub fn timed(&self) -> Vec<Timed> {
        let profiles = probes::profiles();
        let with_profile = |(name, &ns): (&String, &f64)| Some(Timed { profile: *profiles.get(name)?, ns });
        self.probes.iter().filter_map(with_profile).collect()
    }
}

/// Nanoseconds that a piece of work takes.
pub fn clock(work: &mut dyn FnMut()) -> u64 {
    let start = Instant::now();
    work();
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}
