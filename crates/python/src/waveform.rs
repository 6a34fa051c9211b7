//! Waveforms that Python runs, and single components as functions on arrays.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::json;
use takt_base::Stop;
use takt_graph::{
    Accepts, Catalogue, Graph, GraphError, Latency, Override, OverrideError, Params, Plan, PlanError, Value,
};
use takt_graph::{InputShape, Waveform};
use takt_runtime::{
    Bench, BenchError, OpenError, Registry, Report, Session, SessionOptions, SlotClock, StartError, TickError, Wish,
};

use crate::held::Held;
use crate::line::Line;
use crate::problem::{Class, Problem, of_error};
use crate::stand_in;

/// How long Ctrl-C may wait.
const LOOK: Duration = Duration::from_millis(20);
/// Priority of the workers under a clock, if the host grants it; that of `takt run`.
const USUAL_PRIORITY: u8 = 50;

/// Ends a run from another thread.
#[pyclass(frozen)]
#[derive(Clone, Default)]
pub struct Halt {
    stop: Stop,
}

#[pymethods]
impl Halt {
    #[new]
    fn new() -> Halt {
        Halt::default()
    }

    fn request(&self) {
        self.stop.request();
    }
}

/// How a waveform is run, as Python's keywords.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Options {
    slots: Option<u64>,
    clock: String,
    cores: Vec<usize>,
    /// Worker of each component that is not on worker 0.
    workers: HashMap<String, usize>,
    priority: Option<u8>,
    /// `COMPONENT.PARAM=VALUE`
    changes: Vec<String>,
    slot: Option<f64>,
}

/// Runs a waveform: its file as text, the file's name, options, the ways to its Python components by number, and a flag that ends
/// it. Returns its report as JSON.
#[pyfunction]
pub fn run_waveform(
    py: Python<'_>,
    text: &str,
    file: &str,
    options: &Bound<'_, PyAny>,
    lines: HashMap<i64, PyRef<'_, Line>>,
    halt: &Halt,
) -> PyResult<String> {
    let options: Options = options.extract()?;
    let lines: HashMap<i64, Line> = lines.into_iter().map(|(call, line)| (call, line.clone())).collect();
    let free = options.clock == "free";
    let registry = registry(&lines, free)?;
    let graph = checked(text, file, &options, &registry)?;
    let plan = placed(&graph, &options)?;
    let stop = halt.stop.clone();
    let opened = py.detach(|| Session::open(&graph, &plan, &registry, session_options(&options)));
    let session = opened.map_err(Problem::from)?;
    let started = py.detach(|| session.start(&stop)).map_err(Problem::from)?;
    let mut interrupted = None;
    while !started.ended() {
        py.detach(|| std::thread::sleep(LOOK));
        if let (None, Err(error)) = (&interrupted, py.check_signals()) {
            interrupted = Some(error);
            stop.request();
            // A slot that waits for Python ends.
            lines.values().for_each(|line| line.shared.close());
        }
    }
    let report = py.detach(|| started.join());
    match interrupted {
        Some(error) => Err(error),
        None => Ok(document(&report, &options)?),
    }
}

fn document(report: &Report, options: &Options) -> Result<String, Problem> {
    let refused = |error: serde_json::Error| wrong(error.to_string());
    let mut document = serde_json::to_value(report).map_err(refused)?;
    document["clock"] = json!(options.clock);
    document["clean"] = json!(report.is_clean());
    Ok(document.to_string())
}

fn registry(lines: &HashMap<i64, Line>, waits: bool) -> Result<Registry, Problem> {
    let mut registry = all_types()?;
    registry.add(stand_in::REGISTRATION).map_err(|error| of_error(&error))?;
    let shared = lines.iter().map(|(&call, line)| (call, Arc::clone(&line.shared))).collect();
    registry.equip(stand_in::NAME, stand_in::equipment(shared, waits));
    Ok(registry)
}

/// The types that `takt run` has.
fn all_types() -> Result<Registry, Problem> {
    takt_phy::link();
    takt_lte_waveform::link();
    Registry::of_program().map_err(|error| of_error(&error))
}

fn checked(text: &str, file: &str, options: &Options, registry: &Registry) -> Result<Graph, Problem> {
    let mut waveform = Waveform::parse(file, text).map_err(Problem::from)?;
    if let Some(slot_s) = options.slot {
        let slot = Duration::try_from_secs_f64(slot_s)
            .map_err(|_| wrong(format!("slot: {slot_s} is not a time in seconds")))?;
        waveform.slot_ns = u64::try_from(slot.as_nanos()).unwrap_or(u64::MAX);
    }
    for change in &options.changes {
        let change: Override = change.parse().map_err(|expected: &str| wrong(format!("{change}: {expected}")))?;
        change.apply(&mut waveform, registry).map_err(Problem::from)?;
    }
    let graph = Graph::check(&waveform, registry).map_err(Problem::from)?;
    match graph.components().iter().find(|component| component.isolated) {
        Some(component) => Err(Problem {
            reason: Some("its process would be the program takt started again, and this program is Python".into()),
            fix: Some("omit isolated, or run the file with takt run".to_owned()),
            ..wrong(format!("component {} can't be isolated here", component.name))
        }),
        None => Ok(graph),
    }
}

/// One worker, or those that the options name.
fn placed(graph: &Graph, options: &Options) -> Result<Plan, Problem> {
    if options.workers.is_empty() {
        return Ok(Plan::single(graph, Latency::Compact));
    }
    let names: Vec<&str> = graph.components().iter().map(|component| component.name.as_str()).collect();
    if let Some(unknown) = options.workers.keys().find(|name| !names.contains(&name.as_str())) {
        let fix = Some(format!("use one of its components: {}", names.join(", ")));
        return Err(Problem { fix, ..wrong(format!("the waveform has no component {unknown}")) });
    }
    let worker_of: Vec<usize> = names.iter().map(|&name| options.workers.get(name).copied().unwrap_or(0)).collect();
    Ok(Plan::assign(graph, &worker_of, Latency::Compact)?)
}

fn session_options(options: &Options) -> SessionOptions {
    let free = options.clock == "free";
    let (fifo_priority, priority) = match options.priority {
        Some(0) => (None, Wish::No),
        Some(priority) => (Some(priority), Wish::Require),
        None if free => (None, Wish::No),
        None => (Some(USUAL_PRIORITY), Wish::Try),
    };
    SessionOptions {
        slots: options.slots,
        clock: if free { SlotClock::Free } else { SlotClock::Wall },
        cores: options.cores.clone(),
        fifo_priority,
        priority,
        ..SessionOptions::default()
    }
}

/// All component types, as JSON.
#[pyfunction]
pub fn component_types() -> PyResult<String> {
    let registry = all_types()?;
    Ok(serde_json::to_string(&registry.kinds()).map_err(|error| wrong(error.to_string()))?)
}

/// A component that is fed by hand.
#[pyclass(frozen)]
pub struct SingleComponent {
    held: Held<Bench>,
    longest: usize,
}

/// Names and items of ports.
type Ports = Vec<(String, &'static str)>;
/// A packet of an output; `None`: it is lost.
type Packet<'py> = Option<Bound<'py, PyArray1<u8>>>;

#[pymethods]
impl SingleComponent {
    #[new]
    fn new(kind: &str, params: &Bound<'_, PyDict>, longest: usize) -> PyResult<SingleComponent> {
        let mut given = Params::new();
        for (name, value) in params {
            given.set(&name.extract::<String>()?, value_of(&value)?);
        }
        let bench = Bench::sized(&all_types()?, kind, &given, longest).map_err(Problem::from)?;
        Ok(SingleComponent { held: Held::new("component", Class::Waveform, bench), longest })
    }

    /// Names and items of its inputs, and of its outputs.
    fn ports(&self, py: Python<'_>) -> PyResult<(Ports, Ports)> {
        let shape = self.held.with(py, |bench| bench.shape().clone())?;
        let inputs = shape.inputs.iter().map(|port| (port.name.clone(), port.item.name())).collect();
        Ok((inputs, shape.outputs.iter().map(|port| (port.name.clone(), port.item.name())).collect()))
    }

    /// Executes a slot: a packet for each input, in bytes. Returns that of each output.
    fn execute<'py>(&self, py: Python<'py>, packets: Vec<PyReadonlyArray1<'_, u8>>) -> PyResult<Vec<Packet<'py>>> {
        let slices = packets.iter().map(|packet| packet.as_slice());
        let slices: Vec<&[u8]> = slices.collect::<Result<_, _>>().map_err(|_| wrong("an array is not contiguous"))?;
        let longest = self.longest;
        let executed = self.held.with(py, |bench| {
            let inputs = bench.shape().inputs.clone();
            for (index, (port, packet)) in inputs.iter().zip(&slices).enumerate() {
                suits(port, packet, longest)?;
                bench.feed_bytes(index, packet);
            }
            bench.try_tick().map_err(Problem::from)?;
            let outputs = bench.shape().outputs.clone();
            let packet = |index: usize, name: &str| (!bench.is_lost(name)).then(|| bench.output_bytes(index).to_vec());
            Ok::<_, Problem>(
                outputs.iter().enumerate().map(|(index, port)| packet(index, &port.name)).collect::<Vec<_>>(),
            )
        })?;
        Ok(executed?.into_iter().map(|bytes| bytes.map(|bytes| PyArray1::from_vec(py, bytes))).collect())
    }

    /// Its results so far, as JSON.
    fn results(&self, py: Python<'_>) -> PyResult<String> {
        let results = self.held.with(py, |bench| bench.results())?;
        Ok(serde_json::to_string(&results).map_err(|error| wrong(error.to_string()))?)
    }
}

/// Whether an input takes a packet.
fn suits(port: &InputShape, packet: &[u8], longest: usize) -> Result<(), Problem> {
    let items = packet.len() / port.item.bytes();
    let (takes, good) = match port.accepts {
        _ if items > longest => (format!("at most {longest} items: longest=..."), false),
        Accepts::Exactly(count) => (format!("exactly {count} items"), items == count as usize),
        Accepts::MultipleOf(count) => (format!("a multiple of {count} items"), items.is_multiple_of(count as usize)),
        _ => return Ok(()),
    };
    let fix = Some(format!("give {takes}"));
    let message = format!("input {} can't take {items} items", port.name);
    if good { Ok(()) } else { Err(Problem { fix, ..wrong(message) }) }
}

fn value_of(value: &Bound<'_, PyAny>) -> PyResult<Value> {
    // Python's True is a whole number, too.
    if let Ok(yes) = value.extract::<bool>() {
        return Ok(Value::Bool(yes));
    }
    if let Ok(number) = value.extract::<i64>() {
        return Ok(Value::Int(number));
    }
    if let Ok(number) = value.extract::<f64>() {
        return Ok(Value::Float(number));
    }
    if let Ok(text) = value.extract::<String>() {
        return Ok(Value::Text(text));
    }
    value.extract::<Vec<f64>>().map(Value::Floats).map_err(|_| {
        let fix = Some("give a number, a text, True, False or a list of numbers".to_owned());
        Problem { fix, ..wrong(format!("{value} is not a value that a parameter can have")) }.into()
    })
}

fn wrong(message: impl Into<String>) -> Problem {
    Problem { message: message.into(), class: Class::Waveform, ..Problem::default() }
}

fn with_fix(error: &(dyn Error + 'static), fix: String) -> Problem {
    Problem { fix: Some(fix), class: Class::Waveform, ..of_error(error) }
}

impl From<GraphError> for Problem {
    fn from(error: GraphError) -> Problem {
        let problem = with_fix(&error, error.fix());
        match &error.place {
            Some(place) => Problem { message: format!("{place}: {}", problem.message), ..problem },
            None => problem,
        }
    }
}

impl From<OverrideError> for Problem {
    fn from(error: OverrideError) -> Problem {
        with_fix(&error, error.fix().replace("--set ", ""))
    }
}

impl From<PlanError> for Problem {
    fn from(error: PlanError) -> Problem {
        with_fix(&error, error.fix())
    }
}

impl From<OpenError> for Problem {
    fn from(error: OpenError) -> Problem {
        with_fix(&error, error.fix())
    }
}

impl From<StartError> for Problem {
    fn from(error: StartError) -> Problem {
        with_fix(&error, error.fix())
    }
}

impl From<TickError> for Problem {
    fn from(error: TickError) -> Problem {
        with_fix(&error, "check the lengths of the arrays".to_owned())
    }
}

impl From<BenchError> for Problem {
    fn from(error: BenchError) -> Problem {
        let fix = match &error {
            BenchError::Param(error) => error.fix(),
            BenchError::Make(error) => error.fix.clone(),
            _ => "see takt.components() for all types".to_owned(),
        };
        with_fix(&error, fix)
    }
}
