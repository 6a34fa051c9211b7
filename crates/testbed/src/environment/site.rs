//! Everything that stands while rounds are run: the path, an agent on each side, and what is in force.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use takt_agent::{Agent, AgentError, Service};
use takt_emulator::drive::wall::ORDINARY;
use takt_host::accounting::Usage;
use takt_host::affinity::own_cpus;
use takt_host::leftovers::Run;
use takt_host::topology::Topology;
use takt_host::{Host, ReadError};
use takt_load::programs::radio_of;

use super::emulation::{EmulationRequest, EmulationWish};
use super::given::GivenRadio;
use super::sides::{BuiltPath, Sides, second_is_possible};
use super::site_path::SitePath;
use super::{Environment, EnvironmentError, EnvironmentFacts, Placement, RunningEnvironment, Shell, drawing};
use crate::net::{Build, Ceiling, HopCounters, Limit, NodeCounters, Path, PathError, PathSpec, RadioPair, topology};

#[derive(Clone, Debug, PartialEq)]
pub struct SiteOptions {
    /// A radio that is there already, real or software; `None`: one is emulated.
    pub addr: Option<Ipv4Addr>,
    /// Do without namespaces: the record then says `loopback`.
    pub loopback: bool,
    /// No radio and no path: the host side alone, on all cores.
    pub alone: bool,
    /// Path between the sides; `None`: a cable, or loopback where that is not permitted.
    pub path: Option<PathSpec>,
    /// The largest packet of that cable; loopback has larger ones.
    pub mtu_bytes: u32,
    /// The ends of the path finish the checksums of what they send, as a card does.
    pub whole_frames: bool,
    /// The other side is no radio but a second node of the environment's kind: `native` or `aarch64`.
    pub second_inside: bool,
    /// Programs of the host side, each with a network of its own; 0: one, at the end of the path itself.
    pub programs: u8,
}

impl Default for SiteOptions {
    fn default() -> SiteOptions {
        SiteOptions {
            addr: None,
            loopback: false,
            alone: false,
            path: None,
            mtu_bytes: PathSpec::MTU_BYTES,
            whole_frames: false,
            second_inside: false,
            programs: 0,
        }
    }
}

/// Facts of a site as it turned out; goes into every record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InForce {
    pub environment: String,
    pub path: SitePath,
    #[serde(default)]
    pub path_spec: Option<PathSpec>,
    #[serde(default)]
    pub topology: Option<topology::Topology>,
    /// Share of a CPU that its router may use, where that is limited.
    #[serde(default)]
    pub path_limit: Option<Limit>,
    /// Its throughput flat out, each way, before the first round, beside what it is specified to carry.
    #[serde(default)]
    pub ceilings: Vec<Ceiling>,
    pub radio_addr: Ipv4Addr,
    pub emulated: bool,
    /// Whether a radio that was there already is takt's emulator, and so says how late it was itself.
    #[serde(default)] // records older than this key
    pub given_emulator: bool,
    /// Device of SoapySDR through which the radio is used, as a user named it; `None`: takt's own driver.
    #[serde(default)]
    pub device: Option<String>,
    /// Whether the radio may be sent samples even if it is not takt's own.
    #[serde(default)]
    pub transmit: bool,
    pub placement: Placement,
    /// Real-time priority of the emulator's threads; `None`: not permitted, or no emulator.
    pub emulator_priority: Option<u8>,
    pub notes: Vec<String>,
    pub accelerator: Option<String>,
    /// Environment of the host side: kernel, limits, accelerator and what made them.
    #[serde(default)]
    pub holder: EnvironmentFacts,
}

/// The path, and an agent on each side. Dropping it takes everything away again.
#[derive(Debug)]
pub struct Site {
    /// The programs beside the first; they end before it.
    pub others: Vec<Agent>,
    /// The agent that may share the radio among several programs.
    pub sharer: Option<Agent>,
    pub host: Agent,
    pub shell: Shell,
    /// The radio's side, if the radio is emulated.
    pub radio: Option<Agent>,
    /// The radio, if it was there already.
    given: Option<GivenRadio>,
    pub in_force: InForce,
    /// Last, so that the agents have left when the namespaces go. `None`: nothing of ours lies between the sides.
    path: Option<Box<Path>>,
    /// On another machine than this one.
    is_elsewhere: bool,
}

/// Why a site could not be brought up. Nothing of it is left.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SiteError {
    #[error("takt can't make the network path")]
    Path(#[from] PathError),
    #[error("takt can't start the agent of the radio side")]
    Radio(#[source] EnvironmentError),
    #[error("takt can't set up environment {name}")]
    Environment { name: String, source: Box<EnvironmentError> },
    #[error("takt can't read the CPUs of this machine")]
    Topology(#[from] ReadError),
}

impl SiteError {
    /// The fix; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            SiteError::Environment { source, .. } => source.fix(),
            SiteError::Radio(source) => source.fix(),
            SiteError::Path(error) => error.fix(),
            SiteError::Topology(_) => None,
        }
    }

    /// Whether it is this machine that lacks something: an experiment leaves such a level out and says so.
    #[must_use]
    pub fn is_unavailable(&self) -> bool {
        match self {
            SiteError::Path(error) => error.is_unavailable(),
            SiteError::Environment { source, .. } => source.is_unavailable(),
            SiteError::Radio(_) | SiteError::Topology(_) => false,
        }
    }
}

impl Site {
    /// Builds the path and starts the agents.
    ///
    /// # Errors
    /// Something can't be made for another reason than permission; lacking that, it is loopback and a note.
    pub fn bring_up(
        options: &SiteOptions,
        environment: &dyn Environment,
        run: &Run,
        label: &str,
    ) -> Result<Site, SiteError> {
        second_is_possible(options, environment)?;
        let emulated = options.addr.is_none() && !options.alone;
        if environment.is_elsewhere() {
            let sides = Sides::start_elsewhere(options, environment, emulated)?;
            return Ok(Site::of(options, environment, sides, BuiltPath::default()));
        }
        let topology = Topology::read(&Host::this())?;
        let placement = Placement::of(&topology, &own_cpus(), emulated);
        let program = &environment.outside().program;
        let with = Build { run, label, program, cpus: &[] };
        let between =
            if !emulated || options.loopback { BuiltPath::default() } else { BuiltPath::build(options, &with)? };
        if let Some(path) = between.path.as_deref() {
            make_room(options, path)?;
        }
        let sides = Sides::start(options, environment, emulated, placement, between.path.as_deref())?;
        Ok(Site::of(options, environment, sides, between))
    }

    /// Both sides run, and what lies between them is there.
    fn of(options: &SiteOptions, environment: &dyn Environment, sides: Sides, between: BuiltPath) -> Site {
        let Sides { running, others, sharer, radio, placement } = sides;
        let RunningEnvironment { agent: host, holder, shell } = running;
        let BuiltPath { path: built, ceilings, notes } = between;
        let (path, radio_addr) = match (options.addr, &built) {
            _ if options.alone => (SitePath::None, Ipv4Addr::UNSPECIFIED),
            (Some(addr), _) => (SitePath::Network, addr),
            (None, None) => (SitePath::Loopback, own_loopback()),
            (None, Some(path)) if options.path.is_none() => (SitePath::Veth, path.radio.address),
            (None, Some(path)) => (SitePath::Built(path.spec.name), path.radio.address),
        };
        let in_force = InForce {
            environment: environment.name().into(),
            path,
            path_spec: built.as_ref().map(|path| path.spec.clone()),
            topology: built.as_ref().map(|path| drawing::inside(path.topology.clone(), &holder)),
            path_limit: built.as_ref().and_then(|path| path.limit),
            ceilings,
            radio_addr,
            emulated: radio.is_some(),
            given_emulator: false,
            device: None,
            transmit: false,
            placement,
            emulator_priority: None,
            notes,
            accelerator: holder.accelerator.clone(),
            holder,
        };
        let is_elsewhere = environment.is_elsewhere();
        // The radio at that address here need not be what the other machine reaches there.
        let is_here = !options.alone && !is_elsewhere;
        // A device of SoapySDR need not have an address.
        let given = options.addr.filter(|addr| is_here && !addr.is_unspecified()).map(GivenRadio::at);
        let mut site = Site { others, sharer, host, shell, radio, given, in_force, path: built, is_elsewhere };
        if !options.second_inside {
            site.find_emulator_priority();
        }
        site
    }

    /// Whether both sides are on another machine than this one.
    #[must_use]
    pub fn is_elsewhere(&self) -> bool {
        self.is_elsewhere
    }

    /// Resource usage of both sides and their machine since the last call, if that is another machine; else `None`.
    /// The first time there is nothing to compare with.
    ///
    /// # Errors
    /// The agent is gone.
    pub fn account_elsewhere(&mut self) -> Option<Result<Option<Usage>, AgentError>> {
        let radio: Vec<u32> = self.radio.iter().map(|radio| radio.hello().pid).collect();
        self.is_elsewhere.then(|| self.host.account(&radio))
    }

    /// Processes that do the host side's work, on the machine where it is: the agent, of a virtual machine the hypervisor. Their
    /// CPU time is what the environment costs.
    #[must_use]
    pub fn host_pids(&self) -> Vec<u32> {
        std::iter::once(&self.host).chain(&self.others).map(Agent::pid).collect()
    }

    /// Networks that radios of several programs may send to, as `--allow` has them.
    #[must_use]
    pub fn program_networks(&self) -> Vec<String> {
        let end = self.path.as_ref().filter(|_| !self.others.is_empty() || self.sharer.is_some());
        // Behind a router that translates, the host has the address that it has on a cable.
        let networks = |path: &Path| {
            [format!("{}/{}", path.host.address, path.host.prefix_len), format!("{}/32", RadioPair::HOST_ADDR)]
        };
        end.into_iter().flat_map(|path| networks(path)).collect()
    }

    /// Processes of this machine that work for the site; what they use is not foreign load.
    #[must_use]
    pub fn companions(&self) -> Vec<u32> {
        if self.is_elsewhere {
            return Vec::new();
        }
        let radio = self.radio.iter().chain(&self.sharer).map(Agent::pid);
        let path = self.path.as_deref().map(Path::pids).unwrap_or_default();
        self.host_pids().into_iter().chain(radio).chain(path).collect()
    }

    /// Kernel threads that work off what an end of the path receives, `host` or `radio`: their CPU time is that side's, as
    /// its processes' is. None where the sender does that work.
    #[must_use]
    pub fn end_pids(&self, end: &str) -> Vec<u32> {
        self.path.as_deref().map(|path| path.pids_of(end)).unwrap_or_default()
    }

    /// Counts of the path's hops; empty where it has none in user space.
    pub fn hops(&mut self) -> Result<Vec<HopCounters>, PathError> {
        self.path.as_mut().map_or_else(|| Ok(Vec::new()), |path| path.look())
    }

    /// The kernel's counts in each namespace of the path, from the host to the radio; empty without one of ours.
    pub fn nodes(&self) -> Result<Vec<NodeCounters>, PathError> {
        self.path.as_ref().map_or_else(|| Ok(Vec::new()), |path| path.counters())
    }

    /// Datagrams of that size that the path can carry each second by its own account; `None`: nothing but this machine
    /// limits it.
    #[must_use]
    pub fn ceiling_datagrams_per_s(&self, payload_bytes: usize) -> Option<f64> {
        self.path.as_ref()?.spec.ceiling_datagrams_per_s(payload_bytes)
    }

    /// Starts a fresh emulator, so that its lag and its counters are those of one round; a radio that is there already gets
    /// a request that only an emulator answers.
    pub fn start_emulator(&mut self, wish: &EmulationWish) -> Result<(), AgentError> {
        let options = self.emulator_options(self.in_force.emulator_priority, wish);
        if let Some(given) = &mut self.given {
            self.in_force.given_emulator = given.begin();
        }
        match &mut self.radio {
            Some(radio) => radio.start(Service::Emulator, options).map(|_| ()),
            None => Ok(()),
        }
    }

    /// Ends it; its summary. For a radio that was there already, its own words on its lateness; `null` if it has none.
    /// If it could have had some, the notes of this round say so.
    pub fn finish_emulator(&mut self) -> Result<Value, AgentError> {
        if let Some(radio) = &mut self.radio {
            return radio.finish();
        }
        let Some(given) = &mut self.given else { return Ok(Value::Null) };
        let lateness = given.end();
        let silence = given.silence();
        self.in_force.notes.retain(|note| *note != silence);
        if lateness.is_none() && self.in_force.given_emulator {
            self.in_force.notes.push(silence);
        }
        Ok(json!(lateness))
    }

    fn emulator_options(&self, priority: Option<u8>, wish: &EmulationWish) -> Value {
        // Behind most routers the host has the address that it has on a cable; behind one without translation its own.
        let own = self.path.as_ref().map(|path| path.host.address);
        let allow: Vec<String> =
            own.into_iter().chain([RadioPair::HOST_ADDR]).map(|host| format!("{host}/32")).collect();
        let allow: Vec<String> = allow.into_iter().chain(self.program_networks()).collect();
        let addrs = if wish.addrs.is_empty() { vec![self.in_force.radio_addr] } else { wish.addrs.clone() };
        json!(EmulationRequest { addrs, allow, priority, wish })
    }

    /// A radio is punctual by nature; an emulator needs priority for it. If that is not permitted the record says so.
    fn find_emulator_priority(&mut self) {
        let options = self.emulator_options(Some(PRIORITY), &EmulationWish::default());
        let Some(radio) = &mut self.radio else { return };
        match radio.start(Service::Emulator, options).and_then(|_| radio.finish()) {
            Ok(_) => self.in_force.emulator_priority = Some(PRIORITY),
            Err(error) => {
                let why = match &error {
                    AgentError::Failed(failure) => failure.chain.last().cloned().unwrap_or_default(),
                    other => other.to_string(),
                };
                let note = format!(
                    "the emulator runs at normal priority, so it is late more often: {why}; what is left of its lateness is \
                     {ORDINARY}"
                );
                self.in_force.notes.push(note);
            }
        }
    }
}

/// An address for the radio of each program, beside that of the first radio.
fn make_room(options: &SiteOptions, path: &Path) -> Result<(), PathError> {
    let taken = [RadioPair::RADIO_ADDR, RadioPair::SECOND_RADIO_ADDR];
    let addresses = (0..options.programs).map(|program| radio_of(path.radio.address, program.into()));
    for address in addresses.filter(|address| !taken.contains(address)) {
        path.radio.namespace.netlink()?.add_address(path.radio.interface, address, path.radio.prefix_len)?;
    }
    Ok(())
}

/// Below everything the kernel runs as FIFO, above every normal thread.
const PRIORITY: u8 = 10;

/// An address of 127.0.0.0/8 that no other takt of this machine uses at the same time, nor a person. The radio of a waveform is in
/// 127.85.0.0/16, as both may run at once.
fn own_loopback() -> Ipv4Addr {
    let [.., high, low] = std::process::id().to_be_bytes();
    Ipv4Addr::new(127, 84, high, low.clamp(1, 254))
}
