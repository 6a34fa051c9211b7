//! Both ends of a link on two radios that are there already, with a port of the caller's at each.

use std::sync::Arc;
use std::thread;
use std::time::Duration;

use takt_base::Stop;
use takt_lte::{Cell, Numerology, UplinkConfig, control_elements};
use takt_lte_link::{
    BaseStation, BearerMode, Identity, LinkCounters, Policy, StationConfig, SystemInformation, Terminal, TerminalConfig,
};

use crate::demo::AMPLITUDE;
use crate::{
    AirError, AirSettings, CellSizes, CellStage, EndCounts, EndRadio, PacketPort, RadioWish, StationCore, TerminalCore,
    TerminalSettings, usual_cfi,
};

/// Stands for the identity of the only terminal.
const IDENTITY: u64 = 1;
/// How often the calling thread looks whether an end has ended.
const LOOK: Duration = Duration::from_millis(5);

/// A link to run on two radios.
#[derive(Clone, Debug)]
pub struct PairOptions {
    /// The cell.
    pub cell: Cell,
    /// How a subframe lies in samples.
    pub numerology: Numerology,
    /// Acknowledged or not.
    pub mode: BearerMode,
    /// Iterations of the turbo decoder.
    pub iterations: usize,
    /// Seed of all random numbers.
    pub seed: u64,
    /// The base station's radio.
    pub station: RadioWish,
    /// The terminal's radio.
    pub terminal: RadioWish,
}

/// The account of a link on two radios.
#[derive(Clone, Copy, Debug)]
pub struct PairReport {
    /// How far the terminal was in finding its cell when it ended.
    pub cell: CellStage,
    /// The base station's samples.
    pub station: EndCounts,
    /// The terminal's samples.
    pub terminal: EndCounts,
    /// The terminal's link layer.
    pub terminal_link: LinkCounters,
}

/// An end does not run.
#[derive(Debug, thiserror::Error)]
#[error("the {end} can't run")]
pub struct PairError {
    /// The end, in words.
    pub end: &'static str,
    /// The reason.
    pub source: Box<AirError>,
}

/// Runs both ends until a port ends one of them, or `stop` is requested. `look` is called every few milliseconds meanwhile.
///
/// # Errors
/// A radio can't be opened, or a stream is gone.
pub fn run_pair<S, T>(
    options: &PairOptions,
    station_port: &mut S,
    terminal_port: &mut T,
    look: &mut dyn FnMut(),
    stop: &Stop,
) -> Result<PairReport, PairError>
where
    S: PacketPort<StationCore> + Send,
    T: PacketPort<TerminalCore> + Send,
{
    let ended = Stop::new();
    let (station, terminal) = thread::scope(|scope| {
        let station = thread::Builder::new().name("enb".to_owned()).spawn_scoped(scope, || {
            let counts = options.run_station(station_port, &ended);
            ended.request();
            counts
        });
        let terminal = thread::Builder::new().name("ue".to_owned()).spawn_scoped(scope, || {
            let account = options.run_terminal(terminal_port, &ended);
            ended.request();
            account
        });
        while !ended.requested() && station.is_ok() && terminal.is_ok() {
            thread::sleep(LOOK);
            look();
            if stop.requested() {
                ended.request();
            }
        }
        ended.request();
        // A thread that could not start has no result; one that panicked passes that on.
        (station.map(join), terminal.map(join))
    });
    let station = of("base station", station)?;
    let (cell, terminal_link, terminal) = of("terminal", terminal)?;
    Ok(PairReport { cell, station, terminal, terminal_link })
}

/// An end's account, unless its thread could not start or it could not run.
fn of<R>(end: &'static str, ended: std::io::Result<Result<R, AirError>>) -> Result<R, PairError> {
    let ended = ended.map_err(|error| takt_radio::RadioError::Thread(error).into()).flatten();
    ended.map_err(|error| PairError { end, source: Box::new(error) })
}

fn join<R>(thread: thread::ScopedJoinHandle<'_, R>) -> R {
    thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

impl PairOptions {
    fn run_station(&self, port: &mut dyn PacketPort<StationCore>, stop: &Stop) -> Result<EndCounts, AirError> {
        let PairOptions { cell, numerology, mode, iterations, seed, .. } = *self;
        let cfi = usual_cfi(&cell);
        let settings = AirSettings {
            cell,
            numerology,
            cfi,
            uplink: UplinkConfig::new(cell),
            prach: SystemInformation::for_bandwidth(cell.bandwidth).prach,
            amplitude: AMPLITUDE,
            iterations,
        };
        let config = StationConfig {
            mode,
            policy: Policy::RoundRobin,
            control_elements: control_elements(&cell, cfi) as u8,
            ..StationConfig::new(cell.bandwidth, seed)
        };
        let link = BaseStation::new(config, Arc::new(CellSizes { cell, cfi }))?;
        let mut station = StationCore::new(&settings, link)?;
        let mut radio = EndRadio::open(&self.station, &numerology)?;
        radio.start()?.run_station(&mut station, port, stop)
    }

    fn run_terminal(
        &self,
        port: &mut dyn PacketPort<TerminalCore>,
        stop: &Stop,
    ) -> Result<(CellStage, LinkCounters, EndCounts), AirError> {
        let PairOptions { cell, numerology, iterations, seed, .. } = *self;
        let bandwidth = cell.bandwidth;
        let settings =
            TerminalSettings { bandwidth, numerology, amplitude: AMPLITUDE, iterations, frequency_ratio: 1.0 };
        let sizes = CellSizes { cell, cfi: usual_cfi(&cell) };
        let config = TerminalConfig::new(bandwidth, Identity::new(IDENTITY)?, seed.wrapping_add(1));
        let link = Terminal::new(config, Arc::new(sizes))?;
        let mut terminal = TerminalCore::new(&settings, link);
        let mut radio = EndRadio::open(&self.terminal, &numerology)?;
        let counts = radio.start()?.run_terminal(&mut terminal, port, stop)?;
        Ok((terminal.stage(), *terminal.link().counters(), counts))
    }
}
