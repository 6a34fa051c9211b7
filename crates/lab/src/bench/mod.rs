//! Runs rounds for real: brings a site up, hands the workload its options, reads every counter before and after.
//!
//! ```text
//!   counters, CPU --> [ emulator or server up --> workload on the host side --> summary ] --> counters, CPU
//! ```
//!
//! A round has a fresh emulator (or server), so what it counts belongs to that round. What else ran on the machine
//! meanwhile is in the record, and the runner judges by it.

mod conditions;
mod options;

pub(crate) use options::about;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Duration;

use serde_json::{Value, json};
use takt_base::Stop;
use takt_host::accounting::Snapshot;
use takt_host::leftovers::Run;

use crate::agent::{Agent, AgentError, Failure, Service};
use crate::environment::{Environment, Site, SiteError, SiteOptions};
use crate::experiment::Point;
use crate::experiment::settings::Kind;
use crate::run::{Bench, Measured};
use crate::store::Record;

/// Sites of one run, brought up when the first round needs them, taken away when this is dropped.
pub struct LabBench<'a> {
    environment: &'a dyn Environment,
    run: &'a Run,
    addr: Option<Ipv4Addr>,
    sites: BTreeMap<Where, Site>,
}

/// Which site a point needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Where {
    /// Two sides, with the best path there is between them.
    Direct,
    /// Two sides on loopback.
    Loopback,
    /// The host side alone: all cores are its own.
    Alone,
}

impl Where {
    fn of(point: &Point) -> Where {
        match (point.kind.has_path(), point.settings.word("path")) {
            (false, _) => Where::Alone,
            (true, "loopback") => Where::Loopback,
            (true, _) => Where::Direct,
        }
    }
}

impl<'a> LabBench<'a> {
    /// `addr`: a radio that is there already; `None`: one is emulated on this machine.
    #[must_use]
    pub fn new(environment: &'a dyn Environment, run: &'a Run, addr: Option<Ipv4Addr>) -> LabBench<'a> {
        LabBench { environment, run, addr, sites: BTreeMap::new() }
    }

    /// The site of that kind.
    ///
    /// # Errors
    /// It can't be brought up.
    pub fn site(&mut self, wanted: Where) -> Result<&mut Site, SiteError> {
        let site = match self.sites.remove(&wanted) {
            Some(site) => site,
            None => {
                let (loopback, alone) = (wanted == Where::Loopback, wanted == Where::Alone);
                let options = SiteOptions { addr: self.addr, loopback, alone };
                let label = match wanted {
                    Where::Direct => "direct",
                    Where::Loopback => "loopback",
                    Where::Alone => "alone",
                };
                Site::bring_up(&options, self.environment, self.run, label)?
            }
        };
        Ok(self.sites.entry(wanted).or_insert(site))
    }
}

impl Bench for LabBench<'_> {
    fn round(&mut self, point: &Point, stop: &Stop) -> Result<Option<Measured>, Failure> {
        let wanted = Where::of(point);
        if point.settings.word("process") == "fresh" {
            self.sites.remove(&wanted);
        }
        let site = self.site(wanted).map_err(|error| Failure::of(&error, error.fix()))?;
        match round(site, point, stop) {
            Ok(measured) => Ok(Some(measured)),
            Err(AgentError::Stopped) => {
                // Whatever state the agents are in: the next sitting has new ones.
                self.sites.remove(&wanted);
                Ok(None)
            }
            Err(error) => {
                self.sites.remove(&wanted);
                Err(match error {
                    AgentError::Failed(failure) => failure,
                    other => Failure::of(&other, None),
                })
            }
        }
    }

    fn lost_share(&self, point: &Point, result: &Value) -> Option<f64> {
        options::lost_share(point.kind, result)
    }
}

fn round(site: &mut Site, point: &Point, stop: &Stop) -> Result<Measured, AgentError> {
    let companions = site.companions();
    let snapshot = || Snapshot::take_with(&companions).map_err(|error| AgentError::Failed(Failure::of(&error, None)));
    let before = counters(site)?;
    let workload = options::workload(point, &site.in_force).map_err(AgentError::Failed)?;
    begin(site, point.kind)?;
    let earlier = snapshot()?;
    let about = options::about(point) + SETTLING;
    let result = site.host.run(point.kind, workload.clone(), about, stop);
    let usage = snapshot()?.since(&earlier);
    // The other side is ended whatever became of the workload, so that the next round finds it idle.
    let summary = end(site, point.kind);
    let (result, emulator) = (result?, summary?);
    let after = counters(site)?;
    let clean = options::clean(point.kind, &result);
    let conditions = conditions::of(&usage, &emulator, &site.in_force.placement, clean);
    let settings = json!({ "point": point.settings, "workload": workload });
    let in_force = serde_json::to_value(&site.in_force).unwrap_or_default();
    let pid = |agent: &Agent| agent.hello().pid;
    let sides = json!({ "host": [pid(&site.host)], "radio": site.radio.iter().map(pid).collect::<Vec<_>>() });
    let machine = json!({ "conditions": conditions, "usage": usage, "sides": sides });
    let record = Record { settings, result, before, after, in_force, emulator, machine };
    Ok(Measured { record, conditions })
}

/// Opening a session, tuning and closing take this much at most, beside what is measured.
const SETTLING: Duration = Duration::from_secs(5);

fn begin(site: &mut Site, kind: Kind) -> Result<(), AgentError> {
    match kind {
        Kind::Udp => {
            let server = options::udp_server(&site.in_force);
            let radio = site.radio.as_mut().ok_or_else(|| AgentError::Failed(options::no_server()))?;
            radio.start(Service::UdpServer, server).map(|_| ())
        }
        Kind::Rate | Kind::RoundTrip => site.start_emulator(),
        Kind::Waveform | Kind::LongestPacket | Kind::Interface | Kind::Roles => Ok(()),
    }
}

fn end(site: &mut Site, kind: Kind) -> Result<Value, AgentError> {
    match kind {
        Kind::Udp => site.radio.as_mut().map_or(Ok(Value::Null), Agent::finish).map(|_| Value::Null),
        Kind::Rate | Kind::RoundTrip => site.finish_emulator(),
        Kind::Waveform | Kind::LongestPacket | Kind::Interface | Kind::Roles => Ok(Value::Null),
    }
}

/// Of both sides; one of a radio that is not ours is `null`.
fn counters(site: &mut Site) -> Result<Value, AgentError> {
    let host = site.host.counters()?;
    let radio = site.radio.as_mut().map(Agent::counters).transpose()?;
    Ok(json!({ "host": host, "radio": radio }))
}
