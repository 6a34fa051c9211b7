//! Duties of an agent that a node of a cluster has lent. They are fewer than those of this machine's own, as its lab
//! may be anybody's.
//!
//! Workloads, and the other side of the node's loopback interface, on the cores and within the memory that were granted. Nothing
//! that names a file of the node, acts on other processes or interfaces of it, or sends what a lab makes up to where nobody has
//! agreed. Each workload lists the options that a lab may give it ([`takt_load::lent`]); all others are refused.

mod allowed;

use std::io::{BufRead, Write};
use std::net::IpAddr;

use serde_json::{Value, json};
use takt_agent::{Failure, Handler, ServeError, Service};
use takt_base::Stop;
use takt_load::WorkloadKind;

use crate::duty::Running;

/// Answers requests of a lab elsewhere until `input` ends.
///
/// # Errors
/// Nobody listens any more.
pub fn serve_lent(
    input: impl BufRead + Send + 'static,
    output: impl Write,
    abandon: impl FnOnce() + Send + 'static,
) -> Result<(), ServeError> {
    // Before anything is run that would be elsewhere.
    let _ = allowed::granted();
    takt_agent::serve::<RestrictedAgent>(input, output, abandon)
}

struct RestrictedAgent(Running);

impl Handler for RestrictedAgent {
    fn start(service: Service, options: Value) -> Result<RestrictedAgent, Failure> {
        let options = match service {
            Service::Emulator => emulator(options)?,
            Service::UdpServer => {
                allowed::check("the UDP server", allowed::SERVER, &options)?;
                options
            }
            Service::Hop | Service::Disturbance | Service::Hog | Service::Exchange | Service::Node | Service::Share => {
                return Err(refused("run this service"));
            }
        };
        Running::start(service, options).map(RestrictedAgent)
    }

    fn at(&self) -> Vec<String> {
        self.0.at()
    }

    fn look(&self) -> Result<Value, Failure> {
        self.0.look()
    }

    fn finish(self) -> Result<Value, Failure> {
        self.0.finish()
    }

    fn run(workload: &str, options: Value, stop: &Stop) -> Result<Value, Failure> {
        if let Some(kind) = WorkloadKind::named(workload) {
            may_run(kind, &options)?;
        }
        Running::run(workload, options, stop)
    }
}

fn may_run(kind: WorkloadKind, options: &Value) -> Result<(), Failure> {
    let workload = format!("workload `{}`", kind.name());
    let lent = kind.workload().facts().lent.ok_or_else(|| refused(&format!("run {workload}")))?;
    allowed::check(&workload, lent.options, options)?;
    match lent.waveform_at {
        Some(at) => waveform(options.pointer(at).unwrap_or(&Value::Null)),
        None => Ok(()),
    }
}

/// The lab's own waveform may not do what a tenant's order may not either: open files of the node, or start processes there.
fn waveform(options: &Value) -> Result<(), Failure> {
    let options = serde_json::from_value(options.clone()).map_err(|error| Failure::saying(error.to_string()))?;
    let needs = takt_load::waveform::needs_its_machine(&options);
    match needs.map_err(|error| Failure { fix: error.fix(), ..Failure::saying(error.to_string()) })? {
        Some(component) => {
            Err(refused(&format!("make component `{component}`, which may open files or is a process of its own")))
        }
        None => Ok(()),
    }
}

/// Options that an emulated radio may have. It streams to the loopback interface alone, over the engine that it has by default.
const EMULATOR: [&str; 6] = ["model", "addrs", "allow", "priority", "beat_us", "sources"];

fn emulator(mut options: Value) -> Result<Value, Failure> {
    let all = options.as_object_mut().ok_or_else(|| refused("run an emulator without options"))?;
    if let Some(key) = all.keys().find(|key| !EMULATOR.contains(&key.as_str())) {
        return Err(refused(&format!("take option `{key}` of an emulator")));
    }
    let each = |key: &str| all.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
    let is_here =
        |addr: &Value| addr.as_str().and_then(|text| text.parse::<IpAddr>().ok()).is_some_and(|ip| ip.is_loopback());
    if each("addrs").is_empty() || !each("addrs").iter().all(is_here) {
        return Err(refused("run an emulator that is not on the loopback interface"));
    }
    if each("sources").iter().any(|source| source != "counter") {
        return Err(refused("run an emulator with a source but `counter`"));
    }
    all.insert("allow".into(), json!([]));
    Ok(options)
}

fn refused(what: &str) -> Failure {
    Failure {
        chain: vec![format!("an agent on a node may not {what}")],
        fix: Some("run it on that machine itself, with environment native".into()),
        lasting: true,
    }
}

#[cfg(test)]
mod tests;
