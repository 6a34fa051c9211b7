//! One end of a link on a radio of its own, from settings to a report.

use std::sync::Arc;

use serde::Serialize;
use takt_base::Stop;
use takt_lte::{Bandwidth, Cell, Numerology, UplinkConfig, control_elements};
use takt_lte_link::{
    BaseStation, BearerMode, Identity, LinkCounters, LinkState, Policy, StationConfig, SystemInformation, Terminal,
    TerminalConfig, TerminalReport as PeerReport,
};
use takt_radio::calibration::AppliedTable;

use crate::demo::AMPLITUDE;
use crate::watched::ReceivedBytes;
use crate::{
    AirError, AirSettings, CellSizes, CellStage, EndCounts, EndProbe, EndRadio, EndStreams, PacketPort, RadioWish,
    StationCore, TerminalCore, TerminalCounts, TerminalSettings, ThreadUse, TunCounts, TunPort, usual_cfi,
};

/// A base station to run.
#[derive(Clone, Debug)]
pub struct StationEnd {
    /// Its cell.
    pub cell: Cell,
    /// How a subframe lies in samples.
    pub numerology: Numerology,
    /// Iterations of the turbo decoder.
    pub iterations: usize,
    /// Name of the network.
    pub name: String,
    /// Bearers.
    pub mode: BearerMode,
    /// Order in which terminals are served.
    pub policy: Policy,
    /// Its radio.
    pub radio: RadioWish,
    /// The side of who watches; `None`: nobody may.
    pub probe: Option<EndProbe>,
}

/// The account of a base station's run.
#[derive(Clone, Debug, Serialize)]
pub struct StationReport {
    /// The identity of its cell.
    pub cell: u16,
    /// The terminals that it knew.
    pub terminals: Vec<PeerReport>,
    /// Events that belong to none of them.
    pub counters: LinkCounters,
    /// Its interface.
    pub packets: TunCounts,
    /// Its samples.
    pub samples: EndCounts,
    /// Its threads.
    pub threads: Vec<ThreadUse>,
}

/// A terminal to run.
#[derive(Clone, Debug)]
pub struct TerminalEnd {
    /// Expected of the cell.
    pub bandwidth: Bandwidth,
    /// How a subframe lies in samples.
    pub numerology: Numerology,
    /// Iterations of the turbo decoder.
    pub iterations: usize,
    /// Its identity.
    pub identity: u64,
    /// The uplink's frequency over the downlink's.
    pub frequency_ratio: f64,
    /// Its radio.
    pub radio: RadioWish,
    /// The side of who watches; `None`: nobody may.
    pub probe: Option<EndProbe>,
}

/// The account of a terminal's run.
#[derive(Clone, Debug, Serialize)]
pub struct TerminalReport {
    /// How far it had got in finding its cell when it ended.
    pub cell: CellStage,
    /// How far the link had got when it ended.
    pub state: LinkState,
    /// Its link layer.
    pub counters: LinkCounters,
    /// Its physical layer.
    pub physical: TerminalCounts,
    /// Files of corrections that its radio was tuned by, or that were found and could not be used.
    pub calibration: Vec<AppliedTable>,
    /// Its interface.
    pub packets: TunCounts,
    /// Its samples.
    pub samples: EndCounts,
    /// Its threads.
    pub threads: Vec<ThreadUse>,
}

impl StationEnd {
    /// Runs until `stop` is requested. `notify` gets a line for people when something changes.
    ///
    /// # Errors
    /// The radio or the interface is gone, or a setting is beyond the standard's.
    pub fn run(self, port: &mut TunPort, notify: &dyn Fn(String), stop: &Stop) -> Result<StationReport, AirError> {
        let StationEnd { cell, numerology, iterations, name, mode, policy, radio: wish, probe } = self;
        let cfi = usual_cfi(&cell);
        let information = SystemInformation { name, ..SystemInformation::for_bandwidth(cell.bandwidth) };
        let settings = AirSettings {
            cell,
            numerology,
            cfi,
            uplink: UplinkConfig::new(cell),
            prach: information.prach,
            amplitude: AMPLITUDE,
            iterations,
        };
        let config = StationConfig {
            information,
            mode,
            policy,
            control_elements: control_elements(&cell, cfi) as u8,
            ..StationConfig::new(cell.bandwidth, seed())
        };
        let link = BaseStation::new(config, Arc::new(CellSizes { cell, cfi }))?;
        let mut station = StationCore::new(&settings, link)?;
        let mut radio = EndRadio::open(&wish, &numerology)?;
        radio.on_air().into_iter().for_each(|emission| notify(format!("on air    {emission:?}")));
        let mut told = Told { port, notify, last: String::new() };
        let (samples, threads) = on_radio(&mut radio, &wish, probe.as_ref(), |streams| match &probe {
            Some(probe) => streams.run_station(&mut station, &mut probe.port(&mut told), stop),
            None => streams.run_station(&mut station, &mut told, stop),
        })?;
        Ok(StationReport {
            cell: cell.id.get(),
            terminals: station.link().terminals().collect(),
            counters: *station.link().counters(),
            packets: told.port.counts(),
            samples,
            threads,
        })
    }
}

impl TerminalEnd {
    /// Runs until `stop` is requested. `notify` gets a line for people when something changes.
    ///
    /// # Errors
    /// The radio or the interface is gone, or a setting is beyond the standard's.
    pub fn run(self, port: &mut TunPort, notify: &dyn Fn(String), stop: &Stop) -> Result<TerminalReport, AirError> {
        let TerminalEnd { bandwidth, numerology, iterations, identity, frequency_ratio, radio: wish, probe } = self;
        let settings = TerminalSettings { bandwidth, numerology, amplitude: AMPLITUDE, iterations, frequency_ratio };
        let config = TerminalConfig::new(bandwidth, Identity::new(identity)?, seed());
        // The shape of the control region is read from each subframe; sizes do not depend on the cell's identity.
        let cell = Cell { id: takt_lte::CellId::new(0)?, bandwidth, phich: takt_lte::PhichResource::default() };
        let link = Terminal::new(config, Arc::new(CellSizes { cell, cfi: usual_cfi(&cell) }))?;
        let mut terminal = TerminalCore::new(&settings, link);
        let mut radio = EndRadio::open(&wish, &numerology)?;
        radio.on_air().into_iter().for_each(|emission| notify(format!("on air    {emission:?}")));
        let mut told = Told { port, notify, last: String::new() };
        let (samples, threads) = on_radio(&mut radio, &wish, probe.as_ref(), |streams| match &probe {
            Some(probe) => streams.run_terminal(&mut terminal, &mut probe.port(&mut told), stop),
            None => streams.run_terminal(&mut terminal, &mut told, stop),
        })?;
        Ok(TerminalReport {
            cell: terminal.stage(),
            state: terminal.link().state(),
            counters: *terminal.link().counters(),
            physical: terminal.counts(),
            calibration: radio.calibration().to_vec(),
            packets: told.port.counts(),
            samples,
            threads,
        })
    }
}

/// Runs an end on the streams of its radio, which are shown if somebody may watch.
fn on_radio(
    radio: &mut EndRadio,
    wish: &RadioWish,
    probe: Option<&EndProbe>,
    run: impl FnOnce(&mut EndStreams<'_>) -> Result<EndCounts, AirError>,
) -> Result<(EndCounts, Vec<ThreadUse>), AirError> {
    let name = radio.name().to_owned();
    let mut streams = radio.start()?;
    let Some(probe) = probe else {
        let counts = run(&mut streams)?;
        return Ok((counts, streams.threads));
    };
    let EndStreams { rx, tx, clock, host, threads } = streams;
    let mut rx = probe.rx.rx(&name, wish.rx.frequency_hz, rx);
    let mut tx = probe.tx.tx(&name, wish.tx.frequency_hz, tx);
    let mut streams = EndStreams { rx: &mut rx, tx: &mut tx, clock, host, threads };
    let counts = run(&mut streams)?;
    Ok((counts, streams.threads))
}

/// A port that says when the link changes.
struct Told<'a> {
    port: &'a mut TunPort,
    notify: &'a dyn Fn(String),
    last: String,
}

impl Told<'_> {
    fn tell(&mut self, now: String) {
        if now != self.last {
            (self.notify)(now.clone());
            self.last = now;
        }
    }
}

impl ReceivedBytes for Told<'_> {
    fn received_bytes(&self, from: Option<Identity>) -> u64 {
        self.port.received_bytes(from)
    }
}

impl PacketPort<StationCore> for Told<'_> {
    fn exchange(&mut self, subframe: u64, station: &mut StationCore) -> Result<bool, AirError> {
        if subframe.is_multiple_of(100) {
            let terminals = station.link().terminals();
            let states: Vec<String> =
                terminals.map(|one| format!("terminal {}: {}", one.identity.get(), one.state)).collect();
            self.tell(if states.is_empty() { "no terminal".to_owned() } else { states.join(", ") });
        }
        self.port.exchange(subframe, station)
    }
}

impl PacketPort<TerminalCore> for Told<'_> {
    fn exchange(&mut self, subframe: u64, terminal: &mut TerminalCore) -> Result<bool, AirError> {
        if subframe.is_multiple_of(100) {
            let stage = match terminal.stage() {
                CellStage::Follow { id, .. } => format!("cell {id}: {}", terminal.link().state()),
                CellStage::Broadcast { id, .. } => format!("cell {id}: no master information yet"),
                CellStage::OtherBandwidth { id, blocks } => {
                    format!("cell {id} has {blocks} resource blocks: --prb {blocks}")
                }
                CellStage::Search => "no cell".to_owned(),
            };
            self.tell(stage);
        }
        self.port.exchange(subframe, terminal)
    }
}

/// Differs from start to start.
fn seed() -> u64 {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    now.map_or(1, |since| since.as_nanos() as u64) ^ u64::from(std::process::id())
}
