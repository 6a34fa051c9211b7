//! A software radio on loopback, for a waveform that has no other.
//!
//! What it hears may be another waveform's: its components are run beforehand, each slot following the last, and its
//! file-sink writes to memory that the radio then plays over and over. Nothing is left behind, whatever ends the program.

use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use miette::{IntoDiagnostic, Result};
use rustix::fs::{MemfdFlags, memfd_create};
use takt_base::Stop;
use takt_emulator::drive::wall::LagReport;
use takt_emulator::emulate::{EmulateError, Emulator, Options};
use takt_graph::{Graph, Latency, Plan};
use takt_runtime::{Registry, Session};

use crate::Problem;
use crate::command::emulate;
use crate::command::run::{unopened, unstarted};
use crate::waveform::{self, Override};

/// Slots of the other waveform, after which it begins again.
const SLOTS: u64 = 64;

pub struct Software {
    emulator: Emulator,
    pub addr: Ipv4Addr,
    /// As the waveform says it.
    pub hears: String,
    /// What it plays, where that is not a file.
    _samples: Option<OwnedFd>,
}

impl Software {
    /// Starts one that hears `hears`, of the waveform in `file`; above the workers' priority, where they have one and the host
    /// grants it, as a radio waits for nobody.
    pub fn start(hears: &str, file: &Path, registry: &Registry, workers: Option<u8>) -> Result<Software> {
        let (source, samples) = if Path::new(hears).extension().is_some_and(|extension| extension == "toml") {
            let (source, samples) = played(&file.with_file_name(hears), registry)?;
            (source, Some(samples))
        } else {
            (hears.to_owned(), None)
        };
        let addr = own_loopback();
        let priority = workers.map(|priority| priority.saturating_add(1).min(99));
        let options = Options { addrs: vec![addr], sources: vec![source], priority, ..Options::default() };
        let emulator = match Emulator::start(&options) {
            Err(EmulateError::Priority { .. }) => Emulator::start(&Options { priority: None, ..options }),
            started => started,
        };
        let emulator = emulator.map_err(emulate::problem)?;
        Ok(Software { emulator, addr, hears: hears.to_owned(), _samples: samples })
    }

    /// Ends it; answers how late its own datagrams left.
    pub fn stop(self) -> Result<LagReport> {
        Ok(self.emulator.stop().map_err(emulate::problem)?.lag)
    }
}

/// An address that no other process of this machine takes for the same reason.
fn own_loopback() -> Ipv4Addr {
    let [.., high, low] = std::process::id().to_be_bytes();
    Ipv4Addr::new(127, 85, high, low.clamp(1, 254))
}

/// Runs a waveform whose file-sink writes to memory; answers that memory, and how a radio is told to play it.
fn played(file: &Path, registry: &Registry) -> Result<(String, OwnedFd)> {
    let samples = memfd_create("takt-samples", MemfdFlags::CLOEXEC).into_diagnostic()?;
    let path = format!("/proc/self/fd/{}", samples.as_raw_fd());
    let (sink, format) = sink(&waveform::open(file, None, &[], registry)?, file)?;
    let to_memory = Override { component: sink, param: "path".to_owned(), value: path.clone() };
    let graph = waveform::open(file, None, &[to_memory], registry)?;
    let options = takt_runtime::Options { slots: Some(SLOTS), hash: false, ..takt_runtime::Options::default() };
    let plan = Plan::single(&graph, Latency::Compact);
    let session = Session::open(&graph, &plan, registry, options).map_err(unopened)?;
    session.run(&Stop::new()).map_err(unstarted)?;
    Ok((format!("file:path={path},format={format},loop"), samples))
}

/// The one file-sink of a waveform, and what a radio calls its items.
fn sink(graph: &Graph, file: &Path) -> Result<(String, &'static str)> {
    let wrong = |why: &str, fix: &str| {
        let what = format!("a software radio can't hear {}", file.display());
        miette::Report::from(Problem::new(what).why(why).fix(fix))
    };
    let mut sinks = graph.components().iter().filter(|component| component.kind == "file-sink");
    let (Some(sink), None) = (sinks.next(), sinks.next()) else {
        return Err(wrong("it does not have exactly one file-sink", "one component of type file-sink"));
    };
    let format = match sink.params.text("item") {
        Some("c32") => "fc32",
        Some("c16") => "sc16",
        _ => return Err(wrong("its file-sink writes no complex samples", "item = \"c32\" or \"c16\"")),
    };
    Ok((sink.name.clone(), format))
}
