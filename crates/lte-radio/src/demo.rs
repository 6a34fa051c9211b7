//! A whole link in one process: two software radios, the air between them, a base station and a terminal.

use std::net::Ipv4Addr;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use takt_base::Stop;
use takt_emulator::air::Scene;
use takt_emulator::emulate::{AirSummary, EmulateError, EmulatorOptions, InAir, Notice, SpeedChoice};
use takt_host::placement::Placement;
use takt_lte::{Cell, Numerology, UplinkConfig, control_elements};
use takt_lte_link::{
    BaseStation, BearerMode, Identity, LinkCounters, LinkState, Policy, StationConfig, SystemInformation, Terminal,
    TerminalConfig,
};
use takt_packet::EngineKind;
use takt_radio::FrontEnd;
use takt_radio::calibration::CalibrationUse;

use crate::ports::{StationTraffic, TerminalTraffic, TrafficPlan};
use crate::traffic::LoadFigures;
use crate::{
    AirError, AirSettings, CellSizes, CellStage, EndCounts, EndRadio, LinkProbe, RadioWish, StationCore, TerminalCore,
    TerminalCounts, TerminalSettings, ThreadUse, usual_cfi,
};

/// Root mean square of a full carrier's samples: 14 dB below full scale, which an OFDM signal's peaks want.
pub const AMPLITUDE: f32 = 0.2;
/// Stands for the identity of the only terminal.
const SEED: u64 = 1;

/// How long samples wait in the air, so that what is sent meanwhile is in. An answer has 3 ms from the last sample of a subframe.
const LATENCY_US: u32 = 500;

/// A demonstration to run.
#[derive(Clone, Debug)]
pub struct DemoOptions {
    /// The cell.
    pub cell: Cell,
    /// How a subframe lies in samples.
    pub numerology: Numerology,
    /// Seconds of the radios in a second of this host.
    pub speed: SpeedChoice,
    /// Pings and loads.
    pub traffic: TrafficPlan,
    /// Acknowledged or not.
    pub mode: BearerMode,
    /// Packet engine of the ends.
    pub engine: EngineKind,
    /// Iterations of the turbo decoder.
    pub iterations: usize,
    /// Noise at each receiver, against a full-scale tone; a full carrier arrives at -34 dBFS.
    pub noise_dbfs: f64,
    /// Fading of each path, such as `EPA 5`.
    pub fading: Option<String>,
    /// Offset of the terminal's oscillator.
    pub clock_offset_ppm: f64,
    /// Priority of both ends under `SCHED_FIFO`, where the host grants it; the radios get one more.
    pub fifo_priority: Option<u8>,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Shows the link to who watches, if somebody may.
    pub probe: Option<LinkProbe>,
}

/// The findings of a demonstration. Times are the radios'.
#[derive(Clone, Debug, Serialize)]
pub struct DemoReport {
    /// Resource blocks.
    pub prb: usize,
    /// Samples a second.
    pub rate_sps: f64,
    /// Seconds of the radios in a second of this host.
    pub speed: f64,
    /// Priority of both ends under `SCHED_FIFO`; `None`: ordinary scheduling, by wish or since the host refused.
    pub fifo_priority: Option<u8>,
    /// From the terminal's first sample to the link; `None`: it did not come up.
    pub attach_s: Option<f64>,
    /// How far the terminal got in finding its cell.
    pub cell: CellStage,
    /// How far the link got.
    pub link: LinkState,
    /// Round trips of pings; `None`: no answer.
    pub pings_ms: Vec<Option<u64>>,
    /// The load to the terminal.
    pub down: LoadFigures,
    /// The load to the base station.
    pub up: LoadFigures,
    /// The base station's samples.
    pub station: EndCounts,
    /// The terminal's samples.
    pub terminal: EndCounts,
    /// The terminal's physical layer.
    pub terminal_phy: TerminalCounts,
    /// The terminal's link layer.
    pub terminal_link: LinkCounters,
    /// The base station's link layer, of its only terminal.
    pub station_link: LinkCounters,
    /// Grants and blocks for which the control region had no room.
    pub crowded_out: u64,
    /// The threads of both ends, without those of the software radios.
    pub threads: Vec<ThreadUse>,
    /// The software radios.
    pub air: AirSummary,
}

impl DemoReport {
    /// Whether the link came up and carried all that it was given.
    #[must_use]
    pub fn holds(&self) -> bool {
        let whole = |load: &LoadFigures| load.received == load.sent;
        self.attach_s.is_some() && self.pings_ms.iter().all(Option::is_some) && whole(&self.down) && whole(&self.up)
    }

    /// Whether all samples came and went in time.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.station.is_clean() && self.terminal.is_clean()
    }
}

/// Why there is no demonstration.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DemoError {
    /// The software radios don't run.
    #[error("the emulated radios can't run")]
    Emulate(#[from] EmulateError),
    /// The air can't be what is wished.
    #[error(transparent)]
    Scene(#[from] takt_emulator::air::AirError),
    /// An end does not run.
    #[error("the {end} can't run")]
    End {
        /// Which.
        end: &'static str,
        /// Why.
        source: Box<AirError>,
    },
}

/// Runs a demonstration. `notify` gets a line for people now and then.
///
/// # Errors
/// The radios or an end don't run. That the link does not come up is no error, but an answer.
pub fn demonstrate(
    options: &DemoOptions,
    notify: &(dyn Fn(String) + Sync),
    stop: &Stop,
) -> Result<DemoReport, DemoError> {
    let addrs = own_addresses();
    let options = &options.granted();
    let mut scene = Scene::parse("the air of the demonstration", &options.scene(addrs))?;
    let priority = options.fifo_priority.map(|priority| priority.saturating_add(1).min(99));
    scene.apply(&EmulatorOptions { speed: options.speed, priority, ..EmulatorOptions::default() })?;
    let mut radios = InAir::start(&scene)?;
    let (air_stop, ends_stop) = (Stop::new(), Stop::new());
    let (ends, air) = thread::scope(|scope| {
        let air = scope.spawn(|| {
            let mut tell = |notice| {
                if let Notice::Speed(speed) = notice {
                    notify(format!("speed     {speed} of real time"));
                }
            };
            radios.run_until(&mut tell, &mut |_| {}, &air_stop)?;
            radios.stop()
        });
        let ends = options.run_ends(addrs, notify, stop, &ends_stop);
        air_stop.request();
        (ends, air.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let (station, terminal) = ends?;
    Ok(options.report(station, terminal, air?))
}

/// An end after its run: itself, its traffic, the counts of its streams, its threads.
type Ended<Core, Traffic> = (Core, Traffic, EndCounts, Vec<ThreadUse>);

impl DemoOptions {
    /// The same, without a priority that this process may not have.
    fn granted(&self) -> DemoOptions {
        let may = |priority: &u8| {
            let above = Placement { priority: Some(priority.saturating_add(1).min(99)), ..Placement::default() };
            above.attempt().is_ok()
        };
        DemoOptions { fifo_priority: self.fifo_priority.filter(may), ..self.clone() }
    }

    fn scene(&self, [station, terminal]: [Ipv4Addr; 2]) -> String {
        let DemoOptions { noise_dbfs, clock_offset_ppm, seed, .. } = self;
        let fading = self.fading.as_ref().map_or(String::new(), |fading| format!("fading = \"{fading}\"\n"));
        let radio = |name: &str, addr: Ipv4Addr, more: &str| {
            format!(
                "[[radio]]\nname = \"{name}\"\nmodel = \"x310\"\naddr = \"{addr}\"\n{more}\
                 receive = {{ noise_dbfs = {noise_dbfs:.1} }}\n\n"
            )
        };
        let link = |from: &str, to: &str| {
            format!("[[link]]\nfrom = \"{from}:0\"\nto = \"{to}:0\"\ngain_db = -20.0\ndelay_ns = 1000.0\n{fading}\n")
        };
        let offset = format!("clock_offset_ppm = {clock_offset_ppm:.2}\n");
        [
            format!("seed = {seed}\nlatency_us = {LATENCY_US}\n\n"),
            radio("enb", station, ""),
            radio("ue", terminal, &offset),
            link("enb", "ue"),
            link("ue", "enb"),
        ]
        .concat()
    }

    #[allow(clippy::type_complexity, reason = "two ends, alike")]
    fn run_ends(
        &self,
        [station_addr, terminal_addr]: [Ipv4Addr; 2],
        notify: &(dyn Fn(String) + Sync),
        stop: &Stop,
        ends_stop: &Stop,
    ) -> Result<(Ended<StationCore, StationTraffic>, Ended<TerminalCore, TerminalTraffic>), DemoError> {
        thread::scope(|scope| {
            let builder = thread::Builder::new().name("enb-worker".to_owned());
            let station = builder.spawn_scoped(scope, || self.run_station(station_addr, ends_stop));
            let station =
                station.map_err(|error| of_end("base station")(takt_radio::RadioError::Thread(error).into()))?;
            let builder = thread::Builder::new().name("ue-worker".to_owned());
            let terminal = builder.spawn_scoped(scope, || {
                let ended = self.run_terminal(terminal_addr, ends_stop);
                ends_stop.request();
                ended
            });
            let terminal = match terminal {
                Ok(terminal) => terminal,
                Err(error) => {
                    ends_stop.request();
                    return Err(of_end("terminal")(takt_radio::RadioError::Thread(error).into()));
                }
            };
            while !terminal.is_finished() && !station.is_finished() && !stop.requested() {
                thread::sleep(Duration::from_millis(20));
            }
            if stop.requested() {
                notify("stopped by request".to_owned());
            }
            if stop.requested() || station.is_finished() {
                ends_stop.request();
            }
            let terminal = terminal.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            ends_stop.request();
            let station = station.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok((station.map_err(of_end("base station"))?, terminal.map_err(of_end("terminal"))?))
        })
    }

    fn run_station(&self, addr: Ipv4Addr, stop: &Stop) -> Result<Ended<StationCore, StationTraffic>, AirError> {
        let mut station = StationCore::new(&self.settings(), station_link(self)?)?;
        let mut traffic = StationTraffic::new(self.traffic);
        let mut radio = EndRadio::open(&self.wish(addr), &self.numerology)?;
        let mut streams = radio.start()?;
        let counts = match &self.probe {
            Some(probe) => streams.run_station(&mut station, &mut probe.station(&mut traffic), stop)?,
            None => streams.run_station(&mut station, &mut traffic, stop)?,
        };
        let threads = streams.threads;
        Ok((station, traffic, counts, threads))
    }

    fn run_terminal(&self, addr: Ipv4Addr, stop: &Stop) -> Result<Ended<TerminalCore, TerminalTraffic>, AirError> {
        let settings = TerminalSettings {
            bandwidth: self.cell.bandwidth,
            numerology: self.numerology,
            amplitude: AMPLITUDE,
            iterations: self.iterations,
            frequency_ratio: 1.0,
        };
        let mut terminal = TerminalCore::new(&settings, terminal_link(self)?);
        let mut traffic = TerminalTraffic::new(self.traffic);
        let mut radio = EndRadio::open(&self.wish(addr), &self.numerology)?;
        let mut streams = radio.start()?;
        let counts = match &self.probe {
            Some(probe) => streams.run_terminal(&mut terminal, &mut probe.terminal(&mut traffic), stop)?,
            None => streams.run_terminal(&mut terminal, &mut traffic, stop)?,
        };
        let threads = streams.threads;
        Ok((terminal, traffic, counts, threads))
    }

    fn wish(&self, addr: Ipv4Addr) -> RadioWish {
        RadioWish {
            early: Duration::ZERO,
            resample: false,
            addr: addr.into(),
            engine: self.engine,
            transmit: false,
            force: false,
            calibration: CalibrationUse::Off,
            rx: FrontEnd::default(),
            tx: FrontEnd::default(),
            placement: Placement { priority: self.fifo_priority, ..Placement::default() },
        }
    }

    fn settings(&self) -> AirSettings {
        let information = SystemInformation::for_bandwidth(self.cell.bandwidth);
        AirSettings {
            cell: self.cell,
            numerology: self.numerology,
            cfi: usual_cfi(&self.cell),
            uplink: UplinkConfig::new(self.cell),
            prach: information.prach,
            amplitude: AMPLITUDE,
            iterations: self.iterations,
        }
    }

    fn report(
        &self,
        (mut station, station_traffic, station_counts, station_threads): Ended<StationCore, StationTraffic>,
        (mut terminal, terminal_traffic, terminal_counts, terminal_threads): Ended<TerminalCore, TerminalTraffic>,
        air: AirSummary,
    ) -> DemoReport {
        let reports = station.link().terminals().next();
        DemoReport {
            prb: self.cell.bandwidth.blocks(),
            rate_sps: self.numerology.rate_sps(),
            speed: air.speed,
            fifo_priority: self.fifo_priority,
            attach_s: terminal_traffic.attached_at().map(|subframes| subframes as f64 * 1e-3),
            cell: terminal.stage(),
            link: terminal_traffic.best(),
            pings_ms: terminal_traffic.pings().collect(),
            down: terminal_traffic.received(station_traffic.sent().0),
            up: station_traffic.received(terminal_traffic.sent().0),
            station: station_counts,
            terminal: terminal_counts,
            terminal_phy: terminal.counts(),
            terminal_link: *terminal.link().counters(),
            station_link: reports.map(|report| report.counters).unwrap_or_default(),
            crowded_out: station.phy().crowded_out(),
            threads: station_threads.into_iter().chain(terminal_threads).collect(),
            air,
        }
    }
}

/// How far a link got that did not come up, and the likeliest cause.
#[must_use]
pub fn why_not(report: &DemoReport) -> String {
    match report.cell {
        CellStage::Search => "no synchronisation signal was found: too little power, or another frequency".to_owned(),
        CellStage::Broadcast { id, snr_db, frequency_hz } => format!(
            "cell {id} was found, but its master information could not be read: {snr_db:.1} dB, {frequency_hz:.0} Hz off"
        ),
        CellStage::OtherBandwidth { id, blocks } => {
            format!("cell {id} has {blocks} resource blocks, and the terminal was set to another bandwidth")
        }
        CellStage::Follow { id, snr_db, .. } => {
            let far = match report.link {
                LinkState::OutOfSync => "its signal was lost again",
                LinkState::NoSystemInformation => "its system information could not be read",
                LinkState::BackOff | LinkState::NoResponse => "no answer came to random access",
                LinkState::Refused => "it has no place for another terminal",
                LinkState::Contending => "another terminal won the contention, or message 3 was not heard",
                LinkState::Completing | LinkState::Attached => "the configuration was not confirmed",
            };
            format!("cell {id} was followed at {snr_db:.1} dB, but {far}")
        }
    }
}

fn of_end(end: &'static str) -> impl FnOnce(AirError) -> DemoError {
    move |source| DemoError::End { end, source: Box::new(source) }
}

fn station_link(options: &DemoOptions) -> Result<BaseStation, AirError> {
    let cfi = usual_cfi(&options.cell);
    let sizes = CellSizes { cell: options.cell, cfi };
    let config = StationConfig {
        mode: options.mode,
        policy: Policy::RoundRobin,
        control_elements: control_elements(&options.cell, cfi) as u8,
        ..StationConfig::new(options.cell.bandwidth, options.seed)
    };
    Ok(BaseStation::new(config, std::sync::Arc::new(sizes))?)
}

fn terminal_link(options: &DemoOptions) -> Result<Terminal, AirError> {
    let sizes = CellSizes { cell: options.cell, cfi: usual_cfi(&options.cell) };
    let config = TerminalConfig::new(options.cell.bandwidth, Identity::new(SEED)?, options.seed + 1);
    Ok(Terminal::new(config, std::sync::Arc::new(sizes))?)
}

/// Addresses that no other process of this machine takes for the same reason.
fn own_addresses() -> [Ipv4Addr; 2] {
    let [.., high, low] = std::process::id().to_be_bytes();
    [86, 87].map(|net| Ipv4Addr::new(127, net, high, low.clamp(1, 254)))
}
