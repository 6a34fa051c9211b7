//! A software radio on loopback, for a waveform that has no other.
//!
//! Its source may be another waveform. That one's components are run beforehand, each slot following the last. Its
//! file-sink writes to memory that the radio then plays over and over. Nothing is left behind, whatever ends the
//! program.

use std::io::{self, Read};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use rustix::fs::{MemfdFlags, memfd_create};
use takt_base::Stop;
use takt_emulator::drive::wall::LagReport;
use takt_emulator::emulate::{self, EmulateError, Emulator, EmulatorOptions, Radios};
use takt_emulator::x310::X310;
use takt_graph::{Graph, GraphError, Latency, Plan, Waveform, limits};
use takt_radio::Model;
use takt_runtime::{OpenError, Registry, Session, StartError};

/// Slots of the other waveform, after which it begins again.
const SLOTS: u64 = 64;

/// Why there is no software radio.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the names say it")]
pub enum SoftwareError {
    #[error("takt can't read the waveform {name}")]
    Read { name: String, source: io::Error },
    /// That waveform is wrong.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// It gives nothing that a radio can receive.
    #[error("{why}")]
    NotReceived { name: String, why: &'static str, fix: &'static str },
    /// It was not opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// It was not run.
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("takt can't allocate memory for the samples")]
    Memory(#[source] io::Error),
    /// The radio can't run.
    #[error(transparent)]
    Emulate(#[from] EmulateError),
}

pub(crate) struct Software {
    emulator: Emulated,
    pub(crate) addr: Ipv4Addr,
    /// Samples that it plays, where they are not a file.
    _samples: Option<OwnedFd>,
}

/// An emulator of either model.
enum Emulated {
    N200(Emulator),
    X310(Radios<X310>),
}

impl Software {
    /// Starts one of this model that receives `source`, of the waveform in `file`; above the workers' priority, where they have one and the host
    /// grants it, as a radio waits for nobody.
    pub(crate) fn start(
        model: Model,
        source: &str,
        file: &Path,
        registry: &Registry,
        workers: Option<u8>,
    ) -> Result<Software, SoftwareError> {
        let (source, samples) = if Path::new(source).extension().is_some_and(|extension| extension == "toml") {
            let (source, samples) = played(&file.with_file_name(source), registry)?;
            (source, Some(samples))
        } else {
            (source.to_owned(), None)
        };
        let addr = own_loopback();
        let priority = workers.map(|priority| priority.saturating_add(1).min(99));
        let options =
            EmulatorOptions { addrs: vec![addr], sources: vec![source], priority, ..EmulatorOptions::default() };
        let emulator = match model {
            Model::N200 => Emulated::N200(started(options)?),
            Model::X310 => Emulated::X310(started(options)?),
        };
        Ok(Software { emulator, addr, _samples: samples })
    }

    /// Ends it; answers how late its own datagrams left.
    pub(crate) fn stop(self) -> Result<LagReport, SoftwareError> {
        Ok(match self.emulator {
            Emulated::N200(emulator) => emulator.stop()?.lag,
            Emulated::X310(emulator) => emulator.stop()?.lag,
        })
    }
}

/// With the wished priority, or without it where the host refuses.
fn started<M: emulate::Model>(options: EmulatorOptions) -> Result<Radios<M>, EmulateError> {
    match Radios::start(&options) {
        Err(EmulateError::Priority { .. }) => Radios::start(&EmulatorOptions { priority: None, ..options }),
        started => started,
    }
}

/// An address that no other process of this machine takes for the same reason.
fn own_loopback() -> Ipv4Addr {
    let [.., high, low] = std::process::id().to_be_bytes();
    Ipv4Addr::new(127, 85, high, low.clamp(1, 254))
}

/// Runs a waveform whose file-sink writes to memory; answers that memory, and the option by which a radio plays it.
fn played(file: &Path, registry: &Registry) -> Result<(String, OwnedFd), SoftwareError> {
    let samples =
        memfd_create("takt-samples", MemfdFlags::CLOEXEC).map_err(|error| SoftwareError::Memory(error.into()))?;
    let path = format!("/proc/self/fd/{}", samples.as_raw_fd());
    let name = file.display().to_string();
    let mut waveform = read(file, &name)?;
    let (sink, format) = sink(&Graph::check(&waveform, registry)?, &name)?;
    waveform.components[sink].params.set("path", path.as_str().into());
    let graph = Graph::check(&waveform, registry)?;
    let options =
        takt_runtime::SessionOptions { slots: Some(SLOTS), hash: false, ..takt_runtime::SessionOptions::default() };
    let plan = Plan::single(&graph, Latency::Compact);
    Session::open(&graph, &plan, registry, options)?.run(&Stop::new())?;
    Ok((format!("file:path={path},format={format},loop"), samples))
}

fn read(file: &Path, name: &str) -> Result<Waveform, SoftwareError> {
    let mut text = String::new();
    // One byte more than may be, so that a longer one is refused.
    std::fs::File::open(file)
        .and_then(|file| file.take(limits::FILE_BYTES as u64 + 1).read_to_string(&mut text))
        .map_err(|source| SoftwareError::Read { name: name.to_owned(), source })?;
    Ok(Waveform::parse(name, &text)?)
}

/// The one file-sink of a waveform, and what a radio calls its items.
fn sink(graph: &Graph, name: &str) -> Result<(usize, &'static str), SoftwareError> {
    let wrong = |why, fix| SoftwareError::NotReceived { name: name.to_owned(), why, fix };
    let mut sinks = graph.components().iter().enumerate().filter(|(_, component)| component.kind == "file-sink");
    let (Some((index, sink)), None) = (sinks.next(), sinks.next()) else {
        return Err(wrong("it does not have exactly one file-sink", "one component of type file-sink"));
    };
    let format = match sink.params.text("item") {
        Some("c32") => "fc32",
        Some("c16") => "sc16",
        _ => return Err(wrong("its file-sink writes no complex samples", "item = \"c32\" or \"c16\"")),
    };
    Ok((index, format))
}
