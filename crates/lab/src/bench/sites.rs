//! The sites of a run: one for each environment and path that a point asks for, brought up when the first round needs it.

use std::net::Ipv4Addr;
use std::path::PathBuf;

use takt_agent::Failure;
use takt_host::leftovers::Run;
use takt_load::Model;
use takt_packet::EngineKind;
use takt_testbed::environment::{
    self, Environment, EnvironmentError, Nodes, Site, SiteError, SiteOptions, SitePath, Spec,
};
use takt_testbed::net::PathSpec;

use super::RunRadio;
use crate::experiment::Point;
use crate::experiment::settings::PointPath;

#[derive(Clone, Debug, PartialEq)]
pub(super) struct SiteKey {
    environment: Spec,
    /// The path between, and whether there is another side at all.
    options: SiteOptions,
    /// Tells sites of one run apart; part of the names of everything that is made for it.
    label: String,
}

impl SiteKey {
    /// Key of a point; `addr`: a radio that is there already.
    pub(super) fn of(point: &Point, addr: Option<Ipv4Addr>) -> SiteKey {
        let (needs, path, environment) = (point.workload.needs(), point.place.path.as_ref(), &point.place.environment);
        // A second node is takt's own, whatever radio there is.
        let addr = addr.filter(|_| !point.kind.has_second_node());
        let mtu_bytes = usual_mtu_bytes(needs.model);
        let way = path.map_or("alone", PointPath::name);
        let holder = environment.runtime.map_or_else(|| environment.name(), |runtime| runtime.name().to_owned());
        SiteKey {
            environment: environment.clone(),
            options: SiteOptions {
                addr,
                loopback: path.is_some_and(|path| path.is_loopback),
                alone: path.is_none(),
                path: path.filter(|_| addr.is_none()).and_then(|path| path.built(mtu_bytes)),
                mtu_bytes,
                whole_frames: needs.engine.is_some_and(EngineKind::sees_frames),
                second_inside: needs.second_node_inside,
                programs: u8::try_from(needs.programs).unwrap_or(u8::MAX),
            },
            label: format!("{holder}-{way}"),
        }
    }

    /// An environment with a network of its own.
    pub(super) fn own_network(&self) -> Option<&'static str> {
        self.environment.kind.is_apart().then(|| self.environment.kind.name())
    }

    /// A node of a cluster, and whether it needs a radio that is there already.
    pub(super) fn node(&self) -> Option<(&str, bool)> {
        let SiteOptions { addr, loopback, alone, .. } = self.options;
        Some((self.environment.node.as_deref()?, addr.is_none() && !loopback && !alone))
    }

    /// The path that takt builds between the sides, if it is more than a plain cable.
    pub(super) fn built_path(&self) -> Option<String> {
        let loopback = self.options.loopback.then(|| "loopback".to_owned());
        loopback.or_else(|| self.options.path.as_ref().map(|path| path.name.to_string()))
    }
}

/// The largest packet of an X310's cable, as its manual asks for, and of every other one.
fn usual_mtu_bytes(model: Option<Model>) -> u32 {
    if model == Some(Model::X310) { PathSpec::JUMBO_MTU_BYTES } else { PathSpec::MTU_BYTES }
}

/// Sites of one run, taken away when this is dropped.
pub(super) struct Sites<'a> {
    program: PathBuf,
    run: &'a Run,
    radio: RunRadio,
    /// Connection to the nodes of a cluster, if one is named.
    nodes: Option<&'a dyn Nodes>,
    up: Vec<(SiteKey, Site)>,
    /// Sites that can't be had here, and why.
    missing: Vec<(SiteKey, String)>,
    /// Sites brought up so far: two that differ in an option alone have the same label.
    made: usize,
}

impl<'a> Sites<'a> {
    pub(super) fn new(program: PathBuf, run: &'a Run, radio: RunRadio, nodes: Option<&'a dyn Nodes>) -> Sites<'a> {
        Sites { program, run, radio, nodes, up: Vec::new(), missing: Vec::new(), made: 0 }
    }

    /// The site of a point, brought up if it is not there, and the processes of all others.
    pub(super) fn of(&mut self, point: &Point) -> Result<(&mut Site, Vec<u32>), Failure> {
        let wanted = SiteKey::of(point, self.radio.addr);
        let place = self.place(&wanted).map_err(|error| Failure::of(&error, error.fix()))?;
        let others = self.up.iter().enumerate().filter(|(other, _)| *other != place);
        let others = others.flat_map(|(_, (_, site))| site.companions()).collect();
        Ok((&mut self.up[place].1, others))
    }

    /// Takes the site of a point away, so that the next round there has a new one.
    pub(super) fn remove(&mut self, point: &Point) {
        let wanted = SiteKey::of(point, self.radio.addr);
        self.up.retain(|(there, _)| *there != wanted);
    }

    /// Why a point can't be measured on this machine, if it can't: found out once for each environment and path.
    pub(super) fn missing(&mut self, point: &Point) -> Option<String> {
        let wanted = SiteKey::of(point, self.radio.addr);
        if let Some((_, why)) = self.missing.iter().find(|(there, _)| *there == wanted) {
            return Some(why.clone());
        }
        // Another error may not come again with the round, and if it does the round reports it.
        let error = self.place(&wanted).err().filter(SiteError::is_unavailable)?;
        let why = not_here(&wanted, &error);
        self.missing.push((wanted, why.clone()));
        Some(why)
    }

    /// Index of the site in `up`, brought up if it is not there.
    fn place(&mut self, wanted: &SiteKey) -> Result<usize, SiteError> {
        if let Some(place) = self.up.iter().position(|(there, _)| there == wanted) {
            return Ok(place);
        }
        let site = self.bring_up(wanted)?;
        self.up.push((wanted.clone(), site));
        Ok(self.up.len() - 1)
    }

    fn bring_up(&mut self, wanted: &SiteKey) -> Result<Site, SiteError> {
        // A site on a node takes all cores that it gets there: another one has none beside it.
        let node = &wanted.environment.node;
        self.up.retain(|(there, _)| node.is_none() || there.environment.node != *node);
        let failed = |source: EnvironmentError| SiteError::Environment {
            name: wanted.environment.name(),
            source: Box::new(source),
        };
        let environment = environment::open(&wanted.environment, self.program.clone(), self.run, self.nodes);
        let environment = environment.map_err(failed)?;
        self.made += 1;
        let label = match self.made {
            1 => wanted.label.clone(),
            n => format!("{}-{n}", wanted.label),
        };
        let mut site = Site::bring_up(&wanted.options, &*environment as &dyn Environment, self.run, &label)?;
        site.in_force.transmit = self.radio.transmit;
        if let Some(device) = self.radio.device.clone().filter(|_| !wanted.options.alone) {
            site.in_force.path = SitePath::Device;
            site.in_force.device = Some(device);
        }
        Ok(site)
    }
}

/// In a sentence, with the fixes. An environment that is missing is missing on every path.
fn not_here(wanted: &SiteKey, error: &SiteError) -> String {
    let what = match error {
        SiteError::Environment { .. } => &wanted.environment.name(),
        _ => &wanted.label,
    };
    format!("{what} can't be had here: {}", Failure::of(error, error.fix()).with_fix())
}

#[cfg(test)]
mod tests {
    use takt_testbed::environment::{Parameters, RuntimeName};

    use super::*;
    use crate::experiment::{Depth, Experiment};

    fn points(fixed: &str, factors: &str) -> Vec<Point> {
        let text = format!(
            "question = \"?\"\n[factors]\n{factors}\n[fixed]\n{fixed}\nworkload = {{ kind = \"udp\", duration = \"1s\", \
             payload_bytes = 64, direction = \"both\" }}\n[rounds]\ncount = {{ full = 1, quick = 1 }}\norder = {{ seed = 1 }}\n"
        );
        Experiment::parse("x", &text).unwrap_or_else(|error| panic!("{error}: {}", error.remedy())).points(Depth::Full)
    }

    fn sites(fixed: &str, factors: &str) -> Vec<SiteKey> {
        points(fixed, factors).iter().map(|point| SiteKey::of(point, None)).collect()
    }

    #[test]
    fn a_site_is_known_by_environment_path_and_their_options() {
        let sites = sites(
            "environment_cpus = 2\npath_rate = \"100M\"",
            "environment = [\"native\", \"vm\"]\npath = [\"direct\", \"router\"]",
        );
        let labels: Vec<&str> = sites.iter().map(|site| site.label.as_str()).collect();
        assert_eq!(labels, ["native-direct", "native-router", "vm-direct", "vm-router"]);
        assert_eq!((sites[0].environment.limits.cpus, sites[2].environment.limits.cpus), (None, Some(2.0)));
        assert!(sites.iter().all(|site| site.options.path.as_ref().unwrap().rate_bps == Some(100_000_000)));
        assert!(sites.iter().enumerate().all(|(n, site)| sites.iter().skip(n + 1).all(|other| other != site)));
    }

    #[test]
    fn a_container_is_known_by_its_runtime() {
        let some = sites("environment = \"container\"", "environment_runtime = [\"any\", \"podman\"]");
        assert_eq!((some[0].label.as_str(), some[1].label.as_str()), ("container-direct", "podman-direct"));
        assert_eq!(some[1].environment.runtime, Some(RuntimeName::Podman));
        let native = sites("", "environment_runtime = [\"podman\"]");
        assert_eq!(native[0].environment.runtime, None, "native has no runtime");
    }

    #[test]
    fn guests_are_known_by_the_parameters_of_their_kernels() {
        let some = sites("environment = \"vm\"", "environment_parameters = [\"none\", \"highres=off\"]");
        assert_eq!(some[1].environment.parameters.to_string(), "highres=off");
        assert_ne!(some[0], some[1]);
        let native = sites("", "environment_parameters = [\"highres=off\"]");
        assert_eq!(native[0].environment.parameters, Parameters::default());
    }

    #[test]
    fn the_cable_of_an_x310_carries_jumbo_frames() {
        let text = "question = \"?\"\n[factors]\nmodel = [\"n200\", \"x310\"]\npath = [\"direct\", \"switch\"]\n[fixed]\n\
                    workload = { kind = \"rate\", duration = \"1s\", mode = \"rx\", rate_sps = 1e6 }\n\
                    [rounds]\ncount = { full = 1, quick = 1 }\norder = { seed = 1 }\n";
        let experiment = Experiment::parse("x", text).unwrap();
        let sites = experiment.points(Depth::Full).into_iter().map(|point| SiteKey::of(&point, None).options);
        let sizes = sites.map(|site| (site.path.map(|path| path.mtu_bytes), site.mtu_bytes));
        assert_eq!(sizes.collect::<Vec<_>>(), [(None, 1500), (Some(1500), 1500), (None, 9000), (Some(9000), 9000)]);
    }

    #[test]
    fn a_second_node_is_native_or_of_the_first_ones_environment() {
        let text = "question = \"?\"\n[factors]\nsecond_node = [\"native\", \"same\"]\n[fixed]\nenvironment = \"aarch64\"\n\
                    workload = { kind = \"waveform-two-nodes\", duration = \"1s\" }\n\
                    [rounds]\ncount = { full = 1, quick = 1 }\norder = { seed = 1 }\n";
        let points = Experiment::parse("x", text).unwrap().points(Depth::Full);
        let sites: Vec<SiteKey> = points.iter().map(|point| SiteKey::of(point, None)).collect();
        assert_eq!(sites.iter().map(|site| site.options.second_inside).collect::<Vec<_>>(), [false, true]);
        assert_ne!(sites[0], sites[1], "each has its own agents");
    }

    #[test]
    fn a_plain_cable_is_no_built_path_and_a_router_is_one() {
        let factors = "path = [\"direct\", \"loopback\", \"switch\"]";
        let built: Vec<bool> = sites("", factors).iter().map(|site| site.options.path.is_some()).collect();
        assert_eq!(built, [false, false, true]);
        let given = SiteKey::of(&points("", factors)[2], Some(Ipv4Addr::LOCALHOST));
        assert!(given.options.path.is_none(), "a radio is where it is");
    }
}
