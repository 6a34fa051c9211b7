//! Attends to the control socket, and hands over the log, while a waveform runs.

use std::thread;
use std::time::Duration;

use serde_json::json;
use takt_base::Stop;
use takt_graph::{Catalogue, Graph, ParamSpec, Plan};
use takt_host::call;

use super::{ControlSocket, Request, RequestAnswer};
use crate::{Log, Registry, Report, Running, Scalar};

/// How often the socket is polled, and whether the run has ended.
const LOOK: Duration = Duration::from_millis(20);

/// The same while there is a log to be written.
const BUSY: Duration = Duration::from_millis(1);

/// A worker answers at its next slot edge; the longest wait for it.
const ANSWER: Duration = Duration::from_secs(2);

/// Answers requests, and has `write` write the log, until the run has ended. A socket that can't be opened (two runs in one
/// process) is left out.
///
/// # Errors
/// As `write`; the run is stopped in good order then.
pub fn serve<E>(
    mut running: Running,
    graph: &Graph,
    registry: &Registry,
    mut write: Option<impl FnMut(&mut Log) -> Result<(), E>>,
    stop: &Stop,
) -> Result<Report, E> {
    let socket = ControlSocket::open().ok();
    let mut log = running.log();
    let mut failed = None;
    loop {
        // Events from before the end are there after it.
        let ended = running.ended();
        if let (Some(writing), Some(reading)) = (&mut write, &mut log)
            && let Err(why) = writing(reading)
        {
            stop.request();
            (write, log, failed) = (None, None, Some(why));
        }
        if ended {
            break;
        }
        if let Some(socket) = &socket {
            socket.attend(|request| answer(&request, &mut running, graph, registry));
        }
        thread::sleep(if write.is_some() { BUSY } else { LOOK });
    }
    let report = running.join();
    failed.map_or(Ok(report), Err)
}

fn answer(request: &Request, running: &mut Running, graph: &Graph, registry: &Registry) -> RequestAnswer {
    match request {
        Request::Execinfo => RequestAnswer::Good(json!({
            "waveform": graph.name(),
            "slot_ns": graph.slot_ns(),
            "components": running.snapshot().components,
            "workers": running.plan.workers().len(),
            "cores": running.options.cores,
            "latency": running.plan.latency(),
        })),
        Request::Variables => RequestAnswer::Good(variables(running, graph, registry)),
        Request::Set { component, variable, value } => set(running, graph, registry, [component, variable, value]),
        Request::Place { workers } => place(running, graph, workers),
    }
}

fn place(running: &mut Running, graph: &Graph, workers: &[Vec<String>]) -> RequestAnswer {
    let refused = |why: String| RequestAnswer::Refused { why, fix: call::takt("map WAVEFORM --apply") };
    let worker = |name: &str| workers.iter().position(|names| names.iter().any(|other| other == name));
    let worker_of: Option<Vec<usize>> = graph.components().iter().map(|node| worker(&node.name)).collect();
    let named = workers.iter().map(Vec::len).sum::<usize>();
    let Some(worker_of) = worker_of.filter(|all| all.len() == named) else {
        return refused("the workers do not have each of its components once".to_owned());
    };
    let plan = match Plan::assign(graph, &worker_of, running.plan.latency()) {
        Ok(plan) => plan,
        Err(error) => return refused(error.to_string()),
    };
    match running.change_plan(&plan, 0) {
        Ok(()) => {
            RequestAnswer::Good(json!({ "workers": plan.workers().len(), "latency_slots": plan.latency_slots() }))
        }
        Err(error) => refused(error.to_string()),
    }
}

fn set(
    running: &mut Running,
    graph: &Graph,
    registry: &Registry,
    [component, variable, value]: [&str; 3],
) -> RequestAnswer {
    let fix = format!("{}   (lists all)", call::takt("variable"));
    let declared = graph.find(component).and_then(|index| spec(graph, registry, index, variable));
    let Some(declared) = declared else {
        return RequestAnswer::Refused { why: format!("there is no variable {component}.{variable}"), fix };
    };
    let value = match declared.parse(value) {
        Ok(value) => value,
        Err(error) => return RequestAnswer::Refused { why: error.to_string(), fix: error.fix() },
    };
    match running.set(registry, component, variable, &value, 0) {
        Ok(()) => RequestAnswer::Good(json!({ "component": component, "variable": variable, "value": value })),
        Err(error) => RequestAnswer::Refused { why: error.to_string(), fix },
    }
}

fn spec<'a>(graph: &Graph, registry: &'a Registry, component: usize, variable: &str) -> Option<&'a ParamSpec> {
    let kind = registry.kind(&graph.components()[component].kind)?;
    kind.find(variable).filter(|param| param.variable)
}

/// All variables; the values come from the workers, at a slot edge.
fn variables(running: &mut Running, graph: &Graph, registry: &Registry) -> serde_json::Value {
    let mut list = Vec::new();
    for node in graph.components() {
        let params = registry.kind(&node.kind).map(|kind| kind.params.as_slice()).unwrap_or_default();
        for (index, param) in params.iter().enumerate().filter(|(_, param)| param.variable) {
            if running.ask(registry, &node.name, &param.name).is_ok() {
                list.push((node.name.clone(), index, param));
            }
        }
    }
    let mut values = Vec::new();
    let mut waited = Duration::ZERO;
    while values.len() < list.len() && waited < ANSWER && !running.ended() {
        values.extend(running.readings());
        thread::sleep(Duration::from_millis(1));
        waited += Duration::from_millis(1);
    }
    let value = |component: &str, index: usize| {
        values.iter().find(|(name, at, _)| name == component && *at == index).and_then(|(_, _, value)| *value)
    };
    let line = |(component, index, param): &(String, usize, &ParamSpec)| {
        json!({
            "component": component,
            "variable": param.name,
            "value": value(component, *index).map(number),
            "unit": param.unit,
            "expected": param.expected(),
        })
    };
    list.iter().map(line).collect()
}

fn number(value: Scalar) -> serde_json::Value {
    match value {
        Scalar::Bool(yes) => json!(yes),
        Scalar::Int(n) => json!(n),
        Scalar::Float(x) => json!(x),
    }
}
