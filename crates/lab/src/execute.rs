//! From an order to rounds in the store: everything between a command and the runner.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use takt_base::Stop;
use takt_host::fingerprint::Fingerprint;
use takt_host::leftovers::{LeftoversError, Registry};
use takt_soapy::DeviceSpec;
use takt_testbed::environment::Nodes;

use crate::bench::{
    LabBench, NodesError, OnAirError, OwnRadioError, RunRadio, answers_to, can_go_there, device, on_air,
};
use crate::experiment::{Depth, Experiment, Point};
use crate::run::{self, Event, Pace, Progress, Ran, Report, RunError, RunPlan};
use crate::store::{Store, StoreError};

#[derive(Clone, Debug)]
pub struct Order {
    pub runs: PathBuf,
    pub experiment: Experiment,
    pub depth: Depth,
    /// A radio that is there already; `None`: one is emulated.
    pub addr: Option<Ipv4Addr>,
    /// That radio may be sent samples even if it is not takt's own.
    pub transmit: bool,
    /// A device of SoapySDR instead; then `addr` is what sites know it by.
    pub device: Option<DeviceSpec>,
    /// Continue the newest unfinished run of the same order.
    pub resume: bool,
    /// Further options that change what is run or how it is judged; kept with the run.
    pub options: Value,
    /// Facts of the host besides its fingerprint (the doctor's findings); kept with the run.
    pub observed: Value,
    pub program: PathBuf,
    pub takt_version: String,
    /// Connection to the nodes of a cluster; `None`: none is named.
    pub nodes: Option<Arc<dyn Nodes>>,
    /// Stops of the host side's cores are looked for while samples stream.
    pub watch_stops: bool,
}

/// Size of an order, before anything was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    pub points: usize,
    /// Rounds in all, none of them repeated.
    pub rounds: usize,
    /// About how long; repeats come on top.
    pub time: Duration,
}

impl Order {
    /// Its expected size. A resumed run takes less.
    #[must_use]
    pub fn expected(&self) -> Expected {
        let points = self.experiment.points(self.depth);
        let rounds = self.experiment.round_count(self.depth);
        let each: Duration = points.iter().map(Point::about).sum();
        Expected {
            points: points.len(),
            rounds: points.len() * rounds as usize,
            time: Pace::default().expect(each * rounds),
        }
    }
}

/// Why an order could not be carried out. The rounds that had ended are in the store.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExecuteError {
    /// Some points can't be measured with a radio that is there already; nothing was run.
    #[error(transparent)]
    OwnRadio(#[from] OwnRadioError),
    /// That radio would transmit, and it was not allowed to; nothing was run.
    #[error(transparent)]
    OnAir(#[from] OnAirError),
    /// Points on nodes can't be measured; nothing was run.
    #[error(transparent)]
    Nodes(#[from] NodesError),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The things that the run creates can't be recorded, so nothing was created.
    #[error("takt can't record the things that this run creates")]
    Leftovers(#[from] LeftoversError),
    #[error(transparent)]
    Run(#[from] RunError),
}

impl ExecuteError {
    /// The fix; lines are alternatives.
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            ExecuteError::OwnRadio(error) => Some(error.fix()),
            ExecuteError::OnAir(error) => error.fix(),
            ExecuteError::Nodes(error) => Some(error.fix().into()),
            ExecuteError::Store(error) | ExecuteError::Run(RunError::Store(error)) => error.fix(),
            ExecuteError::Run(RunError::First { failure, .. }) => failure.fix.clone(),
            ExecuteError::Run(RunError::OtherHost { .. }) => {
                Some("run it again, without --resume\ngive --runs DIR, to keep the runs of each host apart".into())
            }
            ExecuteError::Leftovers(error) => Some(error.fix()),
        }
    }
}

/// Carries an order out until it is done or `stop` is raised; what it created is gone when this returns.
///
/// # Errors
/// Points can't be measured with the radio, or it may not transmit, the store can't be used, or the first round can't be run.
pub fn execute(order: &Order, report: Report<'_>, stop: &Stop) -> Result<Ran, ExecuteError> {
    let points = order.experiment.points(order.depth);
    can_go_there(&points, order.addr, order.transmit, order.nodes.is_some())?;
    if let Some(addr) = order.addr {
        answers_to(addr, &points)?;
        let emission = match &order.device {
            Some(device) => device::permitted(device, &points, order.transmit)?,
            None => on_air::permitted(addr, &points, order.transmit)?,
        };
        if let Some(emission) = emission {
            report(&Event::OnAir(emission), &Progress::default());
        }
    }
    let store = Store::open(&order.runs)?;
    let created = Registry::system().begin(&order.experiment.name)?;
    // A driver of SoapySDR's does not know takt's emulator: what was permitted here it has to be told.
    let radio = RunRadio {
        addr: order.addr,
        transmit: order.transmit || order.device.is_some(),
        device: order.device.as_ref().map(ToString::to_string),
    };
    let mut bench =
        LabBench::new(order.program.clone(), &created, radio, order.nodes.as_deref()).watching_stops(order.watch_stops);
    let fingerprint = Fingerprint::read();
    let plan = RunPlan {
        experiment: &order.experiment,
        depth: order.depth,
        options: json!({ "addr": order.addr, "more": order.options }),
        host: json!({
            "hostname": fingerprint.hostname,
            "kernel": fingerprint.kernel,
            "fingerprint": fingerprint,
            "observed": order.observed,
        }),
        takt_version: order.takt_version.clone(),
        resume: order.resume,
    };
    Ok(run::run(&store, &plan, &mut bench, report, stop)?)
}
