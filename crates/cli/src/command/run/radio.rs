//! `takt run --clock radio`: the radio that sets the beat, and a software radio of takt's own where none is named.

mod software;

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;

use miette::Result;
use serde::Serialize;
use takt_base::Stop;
use takt_emulator::drive::wall::LagReport;
use takt_graph::{Graph, Value};
use takt_packet::EngineKind;
use takt_radio::WallNet;
use takt_radio::n200::{OpenOptions, RxStats};
use takt_radio::waveform::{RadioClock, Wanted, WantedError, wants_a_radio};
use takt_runtime::{Registry, Report, SlotClock};

use self::software::Software;
use crate::radio_problem::{on_air, problem};
use crate::{Output, Problem};

pub struct Radio {
    clock: RadioClock,
    addr: IpAddr,
    software: Option<Software>,
}

#[derive(Serialize)]
pub struct RadioDocument {
    addr: IpAddr,
    software: bool,
    /// How late that one's datagrams left by its own clock: it works in beats of 200 us, and is in `transfer_us`.
    #[serde(skip_serializing_if = "Option::is_none")]
    lag: Option<LagReport>,
    receive: RxStats,
}

/// Refuses a waveform and a clock that do not go together.
pub fn suits(graph: &Graph, clock: &str, addr: Option<IpAddr>) -> Result<()> {
    if clock == "radio" || (!wants_a_radio(graph) && addr.is_none()) {
        return Ok(());
    }
    let why = if addr.is_some() { "--addr names a radio" } else { "components of the waveform belong to a radio" };
    Err(Problem::new(format!("the {clock} clock knows no radio")).why(why).fix("--clock radio").into())
}

impl Radio {
    /// Opens the radio that a waveform wants, and lets `registry` make its components. `file`: the waveform's. `transmit`: it
    /// may, even if it is not takt's own.
    pub fn open(
        graph: &Graph,
        file: &Path,
        addr: Option<IpAddr>,
        registry: &mut Registry,
        (priority, transmit, output): (Option<u8>, bool, &Output),
    ) -> Result<Radio> {
        let wanted = Wanted::of(graph)
            .map_err(|error| Problem::caused("the waveform can't run on a radio's clock", error, WantedError::fix))?;
        let software = match addr.or(wanted.addr) {
            Some(_) => None,
            None => Some(Software::start(&wanted.hears, file, registry, priority)?),
        };
        let addr = addr.or(wanted.addr).or(software.as_ref().map(|software| software.addr.into()));
        let addr = addr.ok_or_else(|| Problem::new("there is no radio"))?;
        if let Some(software) = &software {
            output.note(format!(
                "radio     a software N200 of takt's own at {addr}, hearing {}; --addr names another",
                software.hears
            ));
        }
        let net = Arc::new(WallNet::new(EngineKind::Mmsg));
        let refused = |error| problem("use the radio", error, "items for");
        let options = OpenOptions { transmit, ..OpenOptions::default() };
        let clock = RadioClock::open(net, addr, &wanted, &options).map_err(refused)?;
        if let Some(emission) = clock.on_air().map_err(refused)? {
            output.note(on_air(&emission));
        }
        clock.equip(registry);
        Ok(Radio { clock, addr, software })
    }

    pub fn slot_clock(&self) -> SlotClock {
        SlotClock::Edges(self.clock.edges())
    }

    /// Begins; asks `stop` for an end when the stream breaks.
    pub fn start(&mut self, fifo_priority: Option<u8>, stop: &Stop) -> Result<()> {
        Ok(self.clock.start(fifo_priority, stop).map_err(|error| problem("stream", error, "items for"))?)
    }

    pub fn finish(self) -> Result<RadioDocument> {
        let Radio { clock, addr, software } = self;
        let receive = clock.finish().map_err(|error| problem("stream", error, "items for"))?;
        let lag = software.map(Software::stop).transpose()?;
        Ok(RadioDocument { addr, software: lag.is_some(), lag, receive })
    }
}

/// What is said of the radio and its answers in the end; nothing without them.
pub fn sentence(report: &Report, radio: Option<&RadioDocument>) -> String {
    let lag = radio.and_then(|radio| radio.lag.as_ref()).map_or_else(String::new, |lag| {
        let (half, most) = (lag.p50_us, lag.p99_9_us);
        format!("radio     of the software radio's datagrams half left within {half} us, 99.9 % within {most} us\n")
    });
    match late_answers(report) {
        0 => lag,
        late => format!("{lag}{late} answers came too late for the radio.\n"),
    }
}

/// Answers that the radio, or the host's clock, says were too late.
pub fn late_answers(report: &Report) -> i64 {
    let count = |results: &std::collections::BTreeMap<String, Value>, name: &str| match results.get(name) {
        Some(Value::Int(count)) => *count,
        _ => 0,
    };
    let transmit = report.components.iter().filter(|component| component.kind == "radio-transmit");
    transmit.map(|component| count(&component.results, "late").max(count(&component.results, "radio_late"))).sum()
}
