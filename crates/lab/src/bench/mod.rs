//! Runs rounds for real: brings a site up, hands the workload its options, reads every counter before and after.
//!
//! ```text
//!   counters, CPU --> [ emulator or server up --> workload on the host side --> summary ] --> counters, CPU
//! ```
//!
//! A round has a fresh emulator (or server), so what it counts belongs to that round. The record also holds what else
//! ran on the machine meanwhile, and the runner judges by it.

pub mod device;
mod disturb;
mod exclusive;
mod impair;
mod lacking;
mod nodes;
pub mod on_air;
mod options;
mod own_radio;
mod sites;
mod source_files;

pub use lacking::{Lacking, lacking};
pub use nodes::NodesError;
pub(crate) use nodes::can_go_there;
pub use on_air::OnAirError;
pub(crate) use own_radio::answers_to;
pub use own_radio::{Needs, OwnRadioError};

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use takt_agent::{Agent, AgentError, Failure, Service};
use takt_base::Stop;
use takt_host::accounting::Snapshot;
use takt_host::affinity::own_cpus;
use takt_host::cgroup::CpuSet;
use takt_host::core_share;
use takt_host::core_watch::CoreWatch;
use takt_host::leftovers::Run;
use takt_load::programs::SharedRadios;
use takt_load::{Beside, EmulatedAir, EmulatedRadios, Lost, Peer, Played};
use takt_testbed::Lateness;
use takt_testbed::environment::{EmulationWish, Native, Nodes, Site, SitePath};
use takt_testbed::impairment::ImpairmentOptions;
use takt_testbed::net::PathError;
use takt_udp::ServeOptions;

use self::impair::{FreeCpus, free_of_impairment};
use self::sites::Sites;
use self::source_files::SourceFiles;
use crate::experiment::Point;
use crate::run::{Bench, Conditions, Measured};
use crate::store::Record;

/// The radio of a run.
#[derive(Clone, Debug, Default)]
pub struct RunRadio {
    /// Address of a radio that is there already; `None`: takt emulates one on this machine.
    pub addr: Option<Ipv4Addr>,
    /// It may be sent samples even if it is not takt's own.
    pub transmit: bool,
    /// Device of SoapySDR through which it is used; then `addr` is what sites know it by.
    pub device: Option<String>,
}

pub struct LabBench<'a> {
    sites: Sites<'a>,
    native: Native,
    free_cpus: FreeCpus,
    run: &'a Run,
    /// Stops of cores are looked for where they matter.
    watch_stops: bool,
    /// The radio is emulated on this machine.
    emulates: bool,
    source_files: SourceFiles,
}

impl<'a> LabBench<'a> {
    /// `program`: the takt that agents are. `nodes`: what speaks with nodes of a cluster.
    #[must_use]
    pub fn new(program: PathBuf, run: &'a Run, radio: RunRadio, nodes: Option<&'a dyn Nodes>) -> LabBench<'a> {
        let emulates = radio.addr.is_none();
        let (native, sites) = (Native::new(program.clone(), run), Sites::new(program, run, radio, nodes));
        LabBench {
            sites,
            native,
            free_cpus: FreeCpus::default(),
            run,
            watch_stops: false,
            emulates,
            source_files: SourceFiles::default(),
        }
    }

    /// Looks for stops of the host side's cores in each round that they may spoil.
    #[must_use]
    pub fn watching_stops(self, watch_stops: bool) -> LabBench<'a> {
        LabBench { watch_stops, ..self }
    }
}

impl Bench for LabBench<'_> {
    fn round(&mut self, point: &Point, stop: &Stop) -> Result<Option<Measured>, Failure> {
        if point.workload.needs().fresh_process {
            self.sites.remove(point);
        }
        let measured = self.impairment(point, stop).and_then(|wanted| {
            let first = self.measure(point, &wanted, stop)?;
            self.slower(first, point, &wanted, stop)
        });
        match measured {
            Ok(measured) => Ok(Some(measured)),
            Err(AgentError::Stopped) => Ok(None),
            Err(AgentError::Failed(failure)) => Err(failure),
            Err(other) => Err(Failure::of(&other, None)),
        }
    }

    fn unavailable(&mut self, point: &Point) -> Option<String> {
        self.sites.missing(point)
    }

    /// Only where stops are looked for is the host itself the question, and only a radio of this machine answers to its load.
    fn too_busy(&mut self, point: &Point) -> Option<String> {
        let asked = self.watch_stops && self.emulates && point.kind.workload().facts().peer == Peer::Radio;
        let cores = asked.then(own_cpus).unwrap_or_default();
        let shares = core_share::measure(&cores, PROBE).ok()?;
        let full = shares.iter().filter(|share| !share.has_room());
        let full = full.min_by(|a, b| a.got.total_cmp(&b.got))?;
        Some(format!("this host is too busy for a radio: {}", full.words()))
    }

    fn lost(&self, point: &Point, record: &Record) -> Option<Lost> {
        let radio = Lateness::of(&record.emulator).map(|lateness| lateness.excluded()).unwrap_or_default();
        point.kind.workload().lost(&record.result, &radio)
    }
}

impl LabBench<'_> {
    /// A round of a point, with the host side impaired as `wanted` says.
    fn measure(&mut self, point: &Point, wanted: &ImpairmentOptions, stop: &Stop) -> Result<Measured, AgentError> {
        let emulation = self.emulation(point).map_err(AgentError::Failed)?;
        let (site, others) = self.sites.of(point).map_err(AgentError::Failed)?;
        let beside = RoundContext {
            others: &others,
            native: &self.native,
            impairment: wanted,
            run: self.run,
            watch_stops: self.watch_stops && point.kind.workload().facts().is_hurt_by_stops,
        };
        let measured = round(site, &beside, emulation, point, stop);
        if measured.is_err() {
            // The state of the agents is not known: the next round has new ones.
            self.sites.remove(point);
        }
        measured
    }

    /// Adds a workload's second measurement in the same round to the record of the first, by which the round is judged.
    fn slower(
        &mut self,
        mut first: Measured,
        point: &Point,
        wanted: &ImpairmentOptions,
        stop: &Stop,
    ) -> Result<Measured, AgentError> {
        let (mut slower, mut last) = (Vec::new(), first.record.result.clone());
        while let Some(workload) = point.workload.again(slower.len() + 1, &last) {
            let again = self.measure(&Point { workload: workload.into(), ..point.clone() }, wanted, stop)?;
            last = again.record.result;
            slower.push(last.clone());
        }
        if let (Some(result), false) = (first.record.result.as_object_mut(), slower.is_empty()) {
            result.insert("slower".into(), Value::Array(slower));
        }
        Ok(first)
    }

    /// Impairments of the host side. The CPU time of the same stream without a quota is measured when a quota is first
    /// requested.
    fn impairment(&mut self, point: &Point, stop: &Stop) -> Result<ImpairmentOptions, AgentError> {
        let wanted = point.place.impairment.stops.clone();
        let Some(share) = point.place.impairment.quota_share else { return Ok(wanted) };
        let free = free_of_impairment(point);
        let cpus = match self.free_cpus.of(&free) {
            Some(cpus) => cpus,
            None => {
                let measured = self.measure(&free, &ImpairmentOptions::default(), stop)?;
                self.free_cpus.note(&free, &measured.record.result).map_err(AgentError::Failed)?
            }
        };
        Ok(ImpairmentOptions { quota_cpus: Some(share * cpus), ..wanted })
    }

    /// Requests of the point to the emulated radio, as far as no site is needed to know them.
    fn emulation(&mut self, point: &Point) -> Result<EmulationWish, Failure> {
        let source = match point.workload.played() {
            Played::Usual => None,
            Played::Counter => Some("counter".to_owned()),
            Played::File(file) => Some(self.source_files.source(&file, self.run)?),
        };
        let sources = source.into_iter().collect();
        Ok(EmulationWish { model: point.workload.needs().model, sources, ..EmulationWish::default() })
    }
}

struct RoundContext<'a> {
    /// Processes of sites that stand by. They idle, and what they use is not foreign.
    others: &'a [u32],
    native: &'a Native,
    impairment: &'a ImpairmentOptions,
    run: &'a Run,
    watch_stops: bool,
}

impl RoundContext<'_> {
    /// CPUs that the processes of a point have for themselves, if it takes that.
    fn exclusive(&self, point: &Point, site: &Site, pids: &[u32]) -> Result<Option<CpuSet>, Failure> {
        let needed = point.workload.needs().exclusive_cpus;
        needed.then(|| exclusive::cpus(&point.place, &site.in_force, pids, self.run)).transpose()
    }
}

fn round(
    site: &mut Site,
    beside: &RoundContext<'_>,
    emulation: EmulationWish,
    point: &Point,
    stop: &Stop,
) -> Result<Measured, AgentError> {
    let before = counters(site)?;
    let kind = point.kind.workload();
    let workload = point.workload.options(&options::target(&site.in_force, point)).map_err(AgentError::Failed)?;
    let share = begin(site, point, emulation)?;
    let &RoundContext { others, native, impairment, run, watch_stops } = beside;
    let disturbance = disturb::start(point, &site.in_force.placement, native, run).map_err(AgentError::Failed)?;
    let impairment = impair::start(impairment, site, native, run).map_err(AgentError::Failed)?;
    let companions = site.companions().into_iter().chain(others.iter().copied());
    let companions: Vec<u32> = companions.chain(disturbance.pids()).chain(impairment.pids()).collect();
    let here: Vec<u32> = site.host_pids().into_iter().chain(disturbance.pids()).collect();
    let exclusive = beside.exclusive(point, site, &here).map_err(AgentError::Failed)?;
    let snapshot = || Snapshot::take_with(&companions).map_err(|error| AgentError::Failed(Failure::of(&error, None)));
    // The machine that counts is the one where the host side is.
    let _since = site.account_elsewhere().transpose()?;
    let watch = (watch_stops && !site.is_elsewhere()).then(|| CoreWatch::begin(&site.in_force.placement.host));
    let earlier = snapshot()?;
    let about = point.workload.about() + SETTLING;
    let result = run_programs(site, point, &workload, about, stop);
    let usage = match site.account_elsewhere().transpose() {
        Ok(Some(there)) => there.ok_or_else(|| AgentError::Failed(Failure::saying("the agent has counted nothing")))?,
        Ok(None) => snapshot()?.since(&earlier),
        // Why the workload failed says more.
        Err(gone) => return Err(result.err().unwrap_or(gone)),
    };
    let stops = watch.map(CoreWatch::finish);
    drop(exclusive);
    let impaired = impairment.end()?;
    let disturbed = disturb::end(disturbance)?;
    // The other side is ended even after a workload that failed, so that the next round finds it idle.
    let share = share.then(|| site.sharer.as_mut().map_or(Ok(Value::Null), Agent::finish)).transpose();
    let summary = end(site, kind.facts().peer);
    let (result, emulator) = (result?, summary?);
    let result = match result {
        Ran::One(result) => result,
        Ran::Several(results) => kind.joined(results, share?.as_ref()).map_err(AgentError::Failed)?,
    };
    let after = counters(site)?;
    let lateness = Lateness::of(&emulator);
    let excluded = lateness.as_ref().map(Lateness::excluded);
    let excluded_share = kind.excluded_share(&result, excluded.as_ref());
    let mut conditions = Conditions::of(&usage, lateness, excluded_share);
    if kind.facts().excludes_unread_datagrams {
        conditions.emulator_unread = 0;
    }
    let settings = json!({ "point": point.settings, "workload": workload });
    let mut in_force = serde_json::to_value(&site.in_force).unwrap_or_default();
    if let Some(all) = in_force.as_object_mut() {
        if let Some(bytes) = point.workload.needs().payload_bytes {
            all.insert("path_ceiling_datagrams_per_s".into(), json!(site.ceiling_datagrams_per_s(bytes)));
        }
        all.insert("disturbance".into(), disturbed);
        all.insert("impairment".into(), impaired);
    }
    let host: Vec<u32> = site.host_pids().into_iter().chain(site.end_pids("host")).collect();
    let radio = site.radio.iter().map(Agent::pid).chain(site.end_pids("radio"));
    // Processes of this machine are none of another one's.
    let others = others.iter().copied().filter(|_| !site.is_elsewhere());
    let radio: Vec<u32> = radio.chain(others).collect();
    let share: Vec<u32> = site.sharer.iter().map(Agent::pid).collect();
    let sides = json!({ "host": host, "radio": radio, "share": share });
    let machine = json!({ "conditions": conditions, "usage": usage, "sides": sides, "stops": stops });
    let record = Record { settings, result, before, after, in_force, emulator, machine };
    Ok(Measured { record, conditions })
}

/// For how long a busy host is looked at.
const PROBE: Duration = Duration::from_secs(1);

/// Opening a session, tuning and closing take this much at most, beside what is measured.
const SETTLING: Duration = Duration::from_secs(5);

/// Starts the other side; whether something shares its radio.
fn begin(site: &mut Site, point: &Point, emulation: EmulationWish) -> Result<bool, AgentError> {
    if let Some(Beside { radios, share }) = point.workload.beside(site.in_force.radio_addr) {
        let EmulatedRadios { addrs, sources, speed } = radios;
        site.start_emulator(&EmulationWish { addrs, sources, speed: Some(speed), ..emulation })?;
        return share.map_or(Ok(false), |share| start_share(site, share).map(|()| true));
    }
    begin_alone(site, point, emulation).map(|()| false)
}

fn start_share(site: &mut Site, share: SharedRadios) -> Result<(), AgentError> {
    let none = || AgentError::Failed(Failure::saying("nothing at this site can share a radio"));
    let share = SharedRadios { allow: site.program_networks(), cpus: site.in_force.placement.host.clone(), ..share };
    let started = site.sharer.as_mut().ok_or_else(none)?.start(Service::Share, json!(share));
    started.map(|_| ())
}

/// Results of the host side.
enum Ran {
    One(Value),
    /// Each program, in order.
    Several(Vec<Value>),
}

/// Runs the workload: once, or a program of it on each agent of the host side at the same time.
fn run_programs(
    site: &mut Site,
    point: &Point,
    workload: &Value,
    about: Duration,
    stop: &Stop,
) -> Result<Ran, AgentError> {
    let name = point.kind.name();
    if point.workload.needs().programs == 0 {
        return site.host.run(name, workload.clone(), about, stop).map(Ran::One);
    }
    let options = workload.get("programs").and_then(Value::as_array).cloned().unwrap_or_default();
    let agents = std::iter::once(&mut site.host).chain(&mut site.others);
    let results = thread::scope(|scope| {
        let run = |(agent, options): (_, Value)| scope.spawn(move || Agent::run(agent, name, options, about, stop));
        let threads: Vec<_> = agents.zip(options).map(run).collect();
        let joined =
            threads.into_iter().map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        // All are waited for: an agent that still runs has no next request.
        joined.collect::<Vec<_>>()
    });
    results.into_iter().collect::<Result<_, _>>().map(Ran::Several)
}

fn begin_alone(site: &mut Site, point: &Point, emulation: EmulationWish) -> Result<(), AgentError> {
    match point.kind.workload().facts().peer {
        Peer::Server => {
            let server = json!(ServeOptions::at(options::target(&site.in_force, point).server()));
            let radio = site.radio.as_mut().ok_or_else(|| AgentError::Failed(options::no_server()))?;
            radio.start(Service::UdpServer, server).map(|_| ())
        }
        Peer::Radio => {
            let beat_us = point.workload.beat_us(site.in_force.emulator_priority.is_some());
            let air = point.workload.air(site.in_force.radio_addr);
            let (air, speed) = air.map(|EmulatedAir { scene, speed }| (scene, speed)).unzip();
            site.start_emulator(&EmulationWish { beat_us, air, speed, ..emulation })
        }
        Peer::Node => {
            let radio = site.radio.as_mut().filter(|_| site.in_force.path != SitePath::Loopback);
            let options = json!(takt_load::nodes::ServeOptions { address: site.in_force.radio_addr });
            let radio = radio.ok_or_else(|| AgentError::Failed(options::no_second_node()))?;
            radio.start(Service::Node, options).map(|_| ())
        }
        Peer::None => Ok(()),
    }
}

fn end(site: &mut Site, peer: Peer) -> Result<Value, AgentError> {
    match peer {
        Peer::Server | Peer::Node => site.radio.as_mut().map_or(Ok(Value::Null), Agent::finish).map(|_| Value::Null),
        Peer::Radio => site.finish_emulator(),
        Peer::None => Ok(Value::Null),
    }
}

/// Counters of both sides, of the hops between them, and of every namespace of the path. Those of a radio that is not
/// ours are `null`.
fn counters(site: &mut Site) -> Result<Value, AgentError> {
    let host = site.host.counters()?;
    let radio = site.radio.as_mut().map(Agent::counters).transpose()?;
    let failed = |error: PathError| AgentError::Failed(Failure::of(&error, None));
    let (hops, nodes) = (site.hops().map_err(failed)?, site.nodes().map_err(failed)?);
    Ok(json!({ "host": host, "radio": radio, "hops": hops, "nodes": nodes }))
}
