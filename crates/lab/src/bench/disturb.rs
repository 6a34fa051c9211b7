//! The disturbance of a round, from its settings.

use serde_json::{Value, json};
use takt_agent::{AgentError, Failure};
use takt_host::leftovers::Run;
use takt_testbed::disturbance::{Disturbance, DisturbanceOptions};
use takt_testbed::environment::{Native, Placement};

use crate::experiment::Point;
use crate::experiment::settings::PointDisturbance;

/// Starts the disturbance that a point asks for, on the cores of the host side.
pub(super) fn start(point: &Point, on: &Placement, native: &Native, run: &Run) -> Result<Disturbance, Failure> {
    let wanted = wanted(point, on)?;
    Disturbance::start(&wanted, native, run, "disturbance").map_err(|error| Failure::of(&error, error.fix()))
}

fn wanted(point: &Point, placement: &Placement) -> Result<DisturbanceOptions, Failure> {
    let PointDisturbance { spec, cap_share, cap_period } = point.place.disturbance.clone();
    Ok(DisturbanceOptions {
        spec,
        cap_share,
        cap_period,
        cpus: point.workload.disturbed_cpus(&placement.host)?,
        cores: placement.cpus().len(),
    })
}

/// Ends a disturbance, and says for the record what was in force.
pub(super) fn end(disturbance: Disturbance) -> Result<Value, AgentError> {
    let mut in_force = disturbance.in_force();
    let throttled = disturbance.finish()?;
    if let Some(facts) = in_force.as_object_mut() {
        facts.insert("throttled".into(), json!(throttled));
    }
    Ok(in_force)
}
