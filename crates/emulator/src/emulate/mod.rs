//! Radios on this host, from options to a summary: what `takt emulate` and the lab run.
//!
//! One thread a radio, one that says over the network how late that was, and a thread of the caller's that waits for the
//! end, keeps EEPROM files and collects the summary.

mod board;
mod broadcast;
mod eeprom_file;
mod error;
mod in_air;
mod lag_port;
mod model;
mod mtu;
mod options;
mod questions;
mod signal_options;
mod station;
mod summary;

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use takt_base::Stop;

use crate::n200::N200;
pub use board::{Board, BoardError};
pub use error::EmulateError;
pub use in_air::{AirDevice, AirSummary, InAir, ModelDevice, run_air};
pub use model::{Model, Site};
use mtu::largest_datagram;
pub use options::Options;
pub(crate) use options::{fpga_version, hardware_word};
use station::{Plan, Station};
pub use summary::{Datagrams, DeviceSummary, Summary};

const LOOK: Duration = Duration::from_millis(50);
/// How often EEPROM files are written, if something has changed.
const KEEP: Duration = Duration::from_millis(500);

/// Running N200s.
pub type Emulator = Radios<N200>;

/// Running radios of one model. Dropping it stops them.
pub struct Radios<M: Model> {
    stations: Vec<Station<M>>,
    stop: Stop,
    started: Instant,
}

impl<M: Model> Radios<M> {
    /// Starts all radios; each listens when this returns.
    ///
    /// # Errors
    /// An option makes no sense, a port is taken, a wish for CPU or priority is refused. Nothing runs then.
    pub fn start(options: &Options) -> Result<Radios<M>, EmulateError> {
        let distinct = options.addrs.iter().collect::<BTreeSet<_>>().len();
        if distinct == 0 || distinct != options.addrs.len() {
            return Err(EmulateError::Addresses { addrs: options.addrs.len(), distinct });
        }
        let plans = (0..distinct).map(|n| Plan::<M>::new(options, n, M::CLOCK, None)).collect::<Result<Vec<_>, _>>()?;
        Radios::of(plans)
    }

    fn of(plans: Vec<Plan<M>>) -> Result<Radios<M>, EmulateError> {
        let mut emulator = Radios { stations: Vec::new(), stop: Stop::new(), started: Instant::now() };
        for plan in plans {
            // An error drops the emulator, which stops those already started.
            emulator.stations.push(plan.start(&emulator.stop)?);
        }
        Ok(emulator)
    }

    pub fn addrs(&self) -> impl Iterator<Item = Ipv4Addr> {
        self.stations.iter().map(Station::addr)
    }

    /// What they have counted so far. Fails if a radio has ended by itself.
    pub fn snapshot(&self) -> Result<Summary<M::Report>, EmulateError> {
        let devices = self.stations.iter().map(Station::snapshot).collect::<Result<Vec<_>, _>>()?;
        Ok(Summary::of(M::NAME, self.started.elapsed().as_secs_f64(), devices))
    }

    /// Lets them run until `stop` is requested, or one ends by itself; keeps EEPROM files meanwhile.
    /// Fails if a radio has ended by itself, or its EEPROM file can't be written.
    pub fn run_until(&mut self, stop: &Stop) -> Result<(), EmulateError> {
        until(stop, |keep| self.look(keep))
    }

    /// Whether all still run; keeps EEPROM files if `keep`.
    fn look(&mut self, keep: bool) -> Result<(), EmulateError> {
        if let Some(station) = self.stations.iter().find(|s| s.has_ended()) {
            return Err(EmulateError::Ended { addr: station.addr() });
        }
        if keep { self.stations.iter_mut().try_for_each(Station::keep_eeprom) } else { Ok(()) }
    }

    /// Stops them, and completes their files.
    /// Fails if a radio had ended by itself, or its EEPROM file can't be written.
    pub fn stop(mut self) -> Result<Summary<M::Report>, EmulateError> {
        self.stations.iter_mut().try_for_each(Station::keep_eeprom)?;
        let summary = self.snapshot();
        self.stop.request();
        let ended: Vec<_> = self.stations.drain(..).map(Station::join).collect();
        let mut summary = summary?;
        for (device, signals) in summary.devices.iter_mut().zip(ended) {
            device.signals = signals?;
        }
        Ok(summary)
    }
}

impl<M: Model> Drop for Radios<M> {
    fn drop(&mut self) {
        self.stop.request();
        for station in self.stations.drain(..) {
            // How it ended has been returned by `stop`, or an error on the way is being returned now.
            let _ = station.join();
        }
    }
}

/// Looks after running radios until `stop` is requested; tells `look` whether it is time to keep EEPROM files.
fn until(stop: &Stop, mut look: impl FnMut(bool) -> Result<(), EmulateError>) -> Result<(), EmulateError> {
    let mut kept = Instant::now();
    while !stop.requested() {
        std::thread::sleep(LOOK);
        let keep = kept.elapsed() >= KEEP;
        look(keep)?;
        if keep {
            kept = Instant::now();
        }
    }
    Ok(())
}

/// Runs N200s until `stop` is requested; `ready` gets each address when all listen.
///
/// # Errors
/// As [`Radios::start`], [`Radios::run_until`] and [`Radios::stop`].
pub fn run(options: &Options, ready: &mut dyn FnMut(Ipv4Addr), stop: &Stop) -> Result<Summary, EmulateError> {
    run_model::<N200>(options, ready, stop)
}

/// Runs radios of a model until `stop` is requested; `ready` gets each address when all listen.
///
/// # Errors
/// As [`Radios::start`], [`Radios::run_until`] and [`Radios::stop`].
pub fn run_model<M: Model>(
    options: &Options,
    ready: &mut dyn FnMut(Ipv4Addr),
    stop: &Stop,
) -> Result<Summary<M::Report>, EmulateError> {
    let mut radios = Radios::<M>::start(options)?;
    radios.addrs().for_each(ready);
    radios.run_until(stop)?;
    radios.stop()
}
