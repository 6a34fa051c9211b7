//! Needs of a run that this machine lacks, known before the first round.

use std::path::PathBuf;

use takt_host::leftovers::{LeftoversError, Registry};
use takt_testbed::environment::{self, EnvironmentError, EnvironmentKind, Spec};

use crate::experiment::Point;

/// An environment that can't be had here.
#[derive(Debug)]
pub struct Lacking {
    pub environment: &'static str,
    pub error: EnvironmentError,
}

/// The environments of these points that can't be had here; `program`: the takt that agents are.
///
/// # Errors
/// A record can't be kept, without which nothing is started.
pub fn lacking(points: &[Point], program: &std::path::Path) -> Result<Vec<Lacking>, LeftoversError> {
    let mut specs: Vec<Spec> = Vec::new();
    let wanted = points.iter().map(|point| &point.place.environment);
    for spec in wanted.filter(|spec| spec.kind != EnvironmentKind::Native) {
        if !specs.iter().any(|known| (known.kind, &known.runtime) == (spec.kind, &spec.runtime)) {
            specs.push(spec.clone());
        }
    }
    if specs.is_empty() {
        return Ok(Vec::new());
    }
    let run = Registry::system().begin("looking for environments")?;
    let refused = |spec: Spec| {
        let error = environment::open(&spec, PathBuf::from(program), &run, None)
            .err()
            .filter(EnvironmentError::is_unavailable)?;
        Some(Lacking { environment: spec.kind.name(), error })
    };
    Ok(specs.into_iter().filter_map(refused).collect())
}
