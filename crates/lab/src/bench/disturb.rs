//! The disturbance of a round, from its settings.

use serde_json::{Value, json};
use takt_agent::{AgentError, Failure};
use takt_base::parse_duration;
use takt_host::leftovers::Run;
use takt_load::deadline;
use takt_testbed::disturbance::{Disturbance, Spec, Wanted};
use takt_testbed::environment::{Native, Placement};

use crate::experiment::Point;
use crate::experiment::settings::Settings;

/// What a point asks for, on the cores of the host side.
pub(super) fn start(point: &Point, on: &Placement, native: &Native, run: &Run) -> Result<Disturbance, Failure> {
    let wanted = wanted(&point.settings, on)?;
    Disturbance::start(&wanted, native, run, "disturbance").map_err(|error| Failure::of(&error, error.fix()))
}

fn wanted(settings: &Settings, placement: &Placement) -> Result<Wanted, Failure> {
    // Checked with the file.
    let spec: Spec = settings.word("disturbance").parse().unwrap_or_default();
    Ok(Wanted {
        spec,
        cap_share: settings.number("cap").map(|percent| percent / 100.0),
        cap_period: parse_duration(settings.word("cap_period")).unwrap_or_default(),
        cpus: deadline::process_cpus(settings, &placement.host)?.1,
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
