//! Parts of a site before it is one: an agent on each side, and the path between them.

use std::time::Duration;

use takt_agent::Agent;

use super::site::{SiteError, SiteOptions};
use super::{Environment, EnvironmentError, Placement, RunningEnvironment};
use crate::net::{Build, Ceiling, Path, PathEnd, PathError, PathName, PathSpec, Towards};

/// Agents of both sides, and their cores.
pub(super) struct Sides {
    pub(super) running: RunningEnvironment,
    /// Further programs beside it.
    pub(super) others: Vec<Agent>,
    /// The agent that may share a radio among them.
    pub(super) sharer: Option<Agent>,
    /// The radio's side, if the radio is emulated.
    pub(super) radio: Option<Agent>,
    pub(super) placement: Placement,
}

impl Sides {
    /// Each at its end of the path, or both on loopback.
    pub(super) fn start(
        options: &SiteOptions,
        environment: &dyn Environment,
        emulated: bool,
        placement: Placement,
        path: Option<&Path>,
    ) -> Result<Sides, SiteError> {
        let name = environment.name();
        let failed = |source| SiteError::Environment { name: name.to_owned(), source: Box::new(source) };
        if path.is_none() && emulated && environment.own_network() {
            // There is no way from the loopback interface of this machine into another namespace.
            return Err(failed(EnvironmentError::NoPathEnd { environment: name.into(), requested: options.loopback }));
        }
        let end = path.map(|path| &path.host);
        let (running, others) = match options.programs {
            0 => (environment.start(end, &placement.host).map_err(failed)?, Vec::new()),
            programs => side_by_side(environment, end, programs, &placement.host).map_err(failed)?,
        };
        let radio = emulated.then(|| other_side(options, environment, path, &placement.radio));
        let radio = radio.transpose().map_err(SiteError::Radio)?;
        // It works for the host, whose cores it has, and reaches the radio without the path between.
        let sharer = (options.programs > 0).then(|| other_side(options, environment, path, &placement.host));
        let sharer = sharer.transpose().map_err(SiteError::Radio)?;
        Ok(Sides { running, others, sharer, radio, placement })
    }

    /// The same on another machine: the host side there, and an emulated radio beside it on its loopback interface. A radio
    /// that is there already is where it is.
    pub(super) fn start_elsewhere(
        options: &SiteOptions,
        environment: &dyn Environment,
        emulated: bool,
    ) -> Result<Sides, SiteError> {
        let name = environment.name();
        let failed = |source| SiteError::Environment { name: name.to_owned(), source: Box::new(source) };
        if options.programs > 0 {
            return Err(failed(EnvironmentError::OneProgram { environment: name.to_owned() }));
        }
        if emulated && !options.loopback {
            return Err(failed(EnvironmentError::Elsewhere { environment: name.to_owned() }));
        }
        // First: the host side takes all cores that are left.
        let radio = emulated.then(|| environment.start_radio(None, &[])).transpose().map_err(SiteError::Radio)?;
        let running = environment.start(None, &[]).map_err(failed)?;
        let cpus = |agent: &Agent| agent.hello().cpus.clone();
        let placement = Placement {
            host: cpus(&running.agent),
            radio: radio.as_ref().map(cpus).unwrap_or_default(),
            how: format!("cores that {name} has granted"),
        };
        Ok(Sides { running, others: Vec::new(), sharer: None, radio, placement })
    }
}

/// Several programs, each with a network of its own at the end of the path; the first apart from the others.
fn side_by_side(
    environment: &dyn Environment,
    end: Option<&PathEnd>,
    programs: u8,
    cpus: &[usize],
) -> Result<(RunningEnvironment, Vec<Agent>), EnvironmentError> {
    let network = || EnvironmentError::NoPathEnd { environment: "network of a program".into(), requested: false };
    let end = end.ok_or_else(network)?;
    let first = environment.start_beside(end, 0, cpus)?;
    let others = (1..programs).map(|seat| Ok(environment.start_beside(end, seat, cpus)?.agent));
    Ok((first, others.collect::<Result<_, EnvironmentError>>()?))
}

/// A second node is one more process: of a container, a guest or another machine there is one at a time.
pub(super) fn second_is_possible(options: &SiteOptions, environment: &dyn Environment) -> Result<(), SiteError> {
    if options.second_inside && environment.own_network() {
        return Err(SiteError::Radio(EnvironmentError::NoSecond { environment: environment.name().to_owned() }));
    }
    Ok(())
}

/// A radio's agent, or that of a second node where the environment is processes of this machine.
fn other_side(
    options: &SiteOptions,
    environment: &dyn Environment,
    path: Option<&Path>,
    cpus: &[usize],
) -> Result<Agent, EnvironmentError> {
    if !options.second_inside {
        let namespace = path.map(|path| path.radio.namespace.path());
        return environment.start_radio(namespace.as_deref(), cpus);
    }
    Ok(environment.start(path.map(|path| &path.radio), cpus)?.agent)
}

/// Path between the sides, by default nothing of ours.
#[derive(Default)]
pub(super) struct BuiltPath {
    pub(super) path: Option<Box<Path>>,
    pub(super) ceilings: Vec<Ceiling>,
    pub(super) notes: Vec<String>,
}

impl BuiltPath {
    pub(super) fn build(options: &SiteOptions, with: &Build<'_>) -> Result<BuiltPath, SiteError> {
        let mut notes = Vec::new();
        let path = build(options, with, &mut notes)?;
        let ceilings = path.as_deref().map_or_else(|| Ok(Vec::new()), calibrate)?;
        notes.extend(path.iter().flat_map(|path| path.notes.iter().cloned()));
        Ok(BuiltPath { path, ceilings, notes })
    }
}

/// Sizes at which a path is compared with its specification, and for how long each.
const CALIBRATED_BYTES: [usize; 2] = [64, 1472];
const CALIBRATION: Duration = Duration::from_millis(300);

/// Throughput of a limited path each way, before anything is measured on it: a limiter that is not in force would show
/// here.
fn calibrate(path: &Path) -> Result<Vec<Ceiling>, PathError> {
    match path.spec.ceiling_datagrams_per_s(64) {
        Some(_) => {
            let each = CALIBRATED_BYTES.into_iter().flat_map(|bytes| Towards::BOTH.map(|towards| (towards, bytes)));
            each.map(|(towards, bytes)| path.ceiling(towards, bytes, CALIBRATION)).collect()
        }
        None => Ok(Vec::new()),
    }
}

/// A cable can be replaced by loopback; a path that was requested by name can't.
fn build(options: &SiteOptions, with: &Build<'_>, notes: &mut Vec<String>) -> Result<Option<Box<Path>>, PathError> {
    let cable = || PathSpec { mtu_bytes: options.mtu_bytes, ..PathSpec::of(PathName::Direct) };
    let spec = options.path.clone().unwrap_or_else(cable);
    let built = Path::build(&spec, with).and_then(|path| match options.whole_frames {
        true => path.finish_checksums().map(|()| path),
        false => Ok(path),
    });
    match built {
        Ok(path) => Ok(Some(Box::new(path))),
        Err(error @ PathError::NotPermitted) if options.path.is_none() => {
            notes.push(format!("the path was loopback instead of a veth pair: {error}"));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Native;
    use super::*;

    /// One that nothing is started in.
    struct Apart;

    impl Environment for Apart {
        fn name(&self) -> &str {
            "container"
        }

        fn outside(&self) -> &Native {
            unreachable!("the second node is to be inside")
        }

        fn start(&self, _: Option<&PathEnd>, _: &[usize]) -> Result<RunningEnvironment, EnvironmentError> {
            unreachable!("there is one of it at a time")
        }
    }

    #[test]
    fn there_is_no_second_node_in_what_there_is_one_of() {
        let asked = SiteOptions { second_inside: true, ..SiteOptions::default() };
        let refused = second_is_possible(&asked, &Apart).unwrap_err();
        let reason = std::error::Error::source(&refused).expect("a reason").to_string();
        assert_eq!(reason, "container can't hold a second node: there is only one of it at a time");
        assert_eq!(refused.fix().as_deref(), Some("set second_node = \"native\""));
        assert!(second_is_possible(&SiteOptions::default(), &Apart).is_ok(), "none was asked for");
    }
}
