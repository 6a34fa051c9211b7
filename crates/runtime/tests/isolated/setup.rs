//! Waveforms, sessions, and the processes that this one has.

use std::time::Duration;

use takt_graph::{Graph, Plan, Waveform};
use takt_runtime::{Isolation, Registry, Session, SessionOptions};
use takt_testing::HANG;

pub(super) use super::common::{assign, chain, of, spec, waveform};

pub(super) fn registry() -> Registry {
    Registry::of_program().expect("one name each")
}

pub(super) fn check(waveform: &Waveform) -> Graph {
    Graph::check(waveform, &registry()).unwrap_or_else(|error| panic!("{error}; {}", error.fix()))
}

pub(super) fn options(slots: u64) -> SessionOptions {
    // Starting, and a panic that prints its backtrace, take a busy machine seconds: that is no hang.
    let isolation = Isolation { start: HANG, hang: HANG, ..Isolation::default() };
    SessionOptions { slots: Some(slots), isolation, ..SessionOptions::default() }
}

/// [`options`] where a process does hang.
pub(super) fn impatient(slots: Option<u64>) -> SessionOptions {
    let isolation = Isolation { hang: Duration::from_secs(3), ..options(0).isolation };
    SessionOptions { slots, isolation, ..SessionOptions::default() }
}

pub(super) fn open(graph: &Graph, plan: &Plan, options: SessionOptions) -> Session {
    Session::open(graph, plan, &registry(), options)
        .unwrap_or_else(|error| panic!("{error}: {}", std::error::Error::source(&error).expect("a cause")))
}

/// A source of varying packets, a history, an in-place component, messages on a cycle, a variable; `isolated` are so.
pub(super) fn all_sorts(isolated: &[&str]) -> Graph {
    let specs = [
        spec("source", "float-source").param("items", 100),
        spec("average", "float-average").param("window", 5).param("panic_in", 60),
        spec("negate", "float-negate"),
        spec("meter", "meter"),
        spec("other", "meter"),
        spec("sink", "float-sink"),
    ];
    let mut made = chain(waveform(), specs).message("meter", "other", 1).message("other", "meter", 6);
    for component in &mut made.components {
        component.isolated = isolated.contains(&component.name.as_str());
    }
    check(&made)
}

/// Processes of isolated components that this one has: id, name of the component.
pub(super) fn children() -> Vec<(u32, String)> {
    children_of(std::process::id())
}

pub(super) fn children_of(parent: u32) -> Vec<(u32, String)> {
    let processes = std::fs::read_dir("/proc").expect("Linux");
    let processes = processes.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let serving = |&id: &u32| {
        let command = std::fs::read_to_string(format!("/proc/{id}/cmdline")).ok()?;
        // Its first argument, or one further back where an emulator executes it.
        let mut arguments = command.split('\0').skip_while(|argument| *argument != "--takt-isolated-component").skip(1);
        let name = arguments.next()?.to_owned();
        (arguments.next()?.parse() == Ok(parent)).then_some((id, name))
    };
    processes.filter_map(|id| serving(&id)).collect()
}
