//! Cost of each role of an operating environment in a slot: the roles of ALOE's daemons, done by one program here.
//!
//! Only roles that work while slots run have a cost a slot. Two of them are measured here, each as a difference between
//! runs in turns A B A B: setting and reading a variable in every slot against doing neither (STATS), and opening a waveform
//! (SWLOAD), which happens outside real time and is one figure, not one a slot. The others follow from other measurements: the
//! base of a slot is the intercept over chains of several lengths (EXEC), a link between cores is the hand-over of a small
//! packet (BRIDGE); control waits in a queue that is looked at once a slot, within the base (FRONTEND).

pub(crate) mod workload;

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use takt_base::Stop;
use takt_graph::{ComponentSpec, Graph, Latency, Plan, Waveform};
use takt_runtime::{Registry, Running, Session, SessionOptions, SlotClock};
use takt_stats::{Histogram, Ns};

use super::waveform::{Floors, WaveformError, floors, median};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RolesOptions {
    pub slot: Duration,
    /// How long each of the runs takes; there are six.
    pub duration: Duration,
    /// Components of the waveform whose opening is timed.
    pub components: usize,
}

impl Default for RolesOptions {
    fn default() -> RolesOptions {
        RolesOptions { slot: Duration::from_micros(500), duration: Duration::from_millis(300), components: 16 }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RolesOutcome {
    pub options: RolesOptions,
    /// Median busy time of a slot in which a variable was set and read, less that of one without, nanoseconds.
    pub variable_ns: f64,
    /// Times a variable was set and read, a slot.
    pub variables_per_slot: f64,
    /// Opening a waveform, per component, nanoseconds; once.
    pub load_ns_per_component: f64,
    /// Time of the component that has the variable in slots without a change, median, nanoseconds.
    pub plain_busy_ns: f64,
    pub load: Histogram<Ns>,
    pub floors: Floors,
    pub complete: bool,
}

const TURNS: usize = 3;
const LOADS: usize = 20;

/// Measures. `stop` ends it early.
pub fn run(options: &RolesOptions, stop: &Stop) -> Result<RolesOutcome, WaveformError> {
    takt_phy::link();
    let registry = Registry::of_program()?;
    let cores = super::waveform::cores(1)?;
    let (mut plain, mut with_variable, mut times) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..TURNS {
        plain.push(busy_ns(options, &registry, &cores, false, stop)?.0);
        let (busy, per_slot) = busy_ns(options, &registry, &cores, true, stop)?;
        with_variable.push(busy);
        times.push(per_slot);
    }
    let mut load = Histogram::with_bound(60_000_000_000);
    for _ in 0..LOADS {
        load.record_saturating(load_ns(options, &registry)?);
    }
    let plain_busy_ns = median(plain);
    let variables_per_slot = median(times);
    let load_ns = load.quantile(0.5).unwrap_or(0) as f64;
    Ok(RolesOutcome {
        options: options.clone(),
        variable_ns: median(with_variable) - plain_busy_ns,
        variables_per_slot,
        load_ns_per_component: load_ns / options.components.max(1) as f64,
        plain_busy_ns,
        load,
        floors: floors(),
        complete: !stop.requested(),
    })
}

/// Median busy time of a slot, and how often a slot the variable was set and read.
fn busy_ns(
    options: &RolesOptions,
    registry: &Registry,
    cores: &[usize],
    set: bool,
    stop: &Stop,
) -> Result<(f64, f64), WaveformError> {
    let slots = (options.duration.as_nanos() / options.slot.as_nanos().max(1)).max(20) as u64;
    let run = SessionOptions {
        slots: Some(slots),
        clock: SlotClock::Wall,
        cores: cores.to_vec(),
        hash: false,
        ..SessionOptions::default()
    };
    let mut running = start(options.slot, registry, run, stop)?;
    let begun = Instant::now();
    let mut done = 0_u64;
    if set {
        for slot in 0..slots {
            let due = options.slot * u32::try_from(slot).unwrap_or(u32::MAX);
            std::thread::sleep(due.saturating_sub(begun.elapsed()));
            let value = takt_graph::Value::Float(1.0 + slot as f64);
            // Full or ended: then it is one less that counts.
            let accepted = running.set(registry, "scale", "a", &value, 0).is_ok();
            done += u64::from(accepted && running.ask(registry, "scale", "a").is_ok());
            if slot % 64 == 0 {
                running.readings();
            }
        }
    }
    let report = running.join();
    let busy = report.workers.first().and_then(|worker| worker.busy?.p50_ns).unwrap_or(0);
    Ok((busy as f64, done as f64 / slots as f64))
}

/// A waveform with a component, `scale`, that has a variable, `a`.
fn start(slot: Duration, registry: &Registry, run: SessionOptions, stop: &Stop) -> Result<Running, WaveformError> {
    let waveform = Waveform::new("variable", slot)
        .with(ComponentSpec::new("source", "null-source").param("items", 1))
        .with(ComponentSpec::new("scale", "saxpy"))
        .with(ComponentSpec::new("sink", "null-sink"))
        .chain(["source", "scale", "sink"]);
    let graph = Graph::check(&waveform, registry)?;
    let plan = Plan::assign(&graph, &[0, 0, 0], Latency::Compact)?;
    Ok(Session::open(&graph, &plan, registry, run)?.start(stop)?)
}

fn load_ns(options: &RolesOptions, registry: &Registry) -> Result<u64, WaveformError> {
    let waveform = super::waveform::library::named("chain", options.components);
    let Some(waveform) = waveform else { return Ok(0) };
    let begun = Instant::now();
    let graph = Graph::check(&waveform?, registry)?;
    let plan = Plan::single(&graph, Latency::Compact);
    let session =
        Session::open(&graph, &plan, registry, SessionOptions { slots: Some(1), ..SessionOptions::default() })?;
    let taken = begun.elapsed();
    drop(session);
    Ok(u64::try_from(taken.as_nanos()).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use takt_runtime::Scalar;

    use super::*;

    #[test]
    fn a_variable_is_set_as_often_as_there_are_slots_and_loading_is_timed() {
        let options =
            RolesOptions { slot: Duration::from_millis(2), duration: Duration::from_millis(60), components: 4 };
        let outcome = run(&options, &Stop::new()).expect("runs");
        // Thirty slots: a command to a worker that stands still waits in its queue.
        assert_eq!(outcome.variables_per_slot, 1.0);
        assert_eq!(outcome.load.len(), LOADS as u64);
        assert!(outcome.load_ns_per_component > 0.0 && outcome.complete);
    }

    #[test]
    fn what_is_set_while_slots_run_is_what_is_read() {
        takt_phy::link();
        let registry = Registry::of_program().expect("a registry");
        let stop = Stop::new();
        let run = SessionOptions { hash: false, ..SessionOptions::default() };
        let mut running = start(Duration::from_micros(500), &registry, run, &stop).expect("it starts");
        for value in [1.0, 2.5, -3.0] {
            running.set(&registry, "scale", "a", &takt_graph::Value::Float(value), 0).expect("room for a command");
            // Read before the slot in which it is set, it is as before.
            takt_testing::wait_for("the value that was set", || {
                running.ask(&registry, "scale", "a").expect("room for a command");
                let (component, _, read) = running.readings().pop()?;
                (component == "scale" && read.map(Scalar::as_f64) == Some(value)).then_some(())
            });
        }
        stop.request();
        let _report = running.join();
    }
}
