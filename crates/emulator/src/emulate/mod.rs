//! Radios on this host, from options to a summary: what `takt emulate` and the lab run.
//!
//! One thread a radio, one that says over the network how late that was, and a thread of the caller's that waits for the
//! end, keeps EEPROM files and collects the summary.

mod broadcast;
mod eeprom_file;
mod error;
mod in_air;
mod lag_port;
mod model;
mod mtu;
mod pacing;
mod ports;
mod questions;
pub mod screen;
mod signal_options;
mod station;
mod summary;

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::time::{Duration, Instant};

use takt_base::{Speed, Stop};

use crate::n200::N200;
pub use crate::options::{Board, BoardError, EmulatorOptions, SpeedChoice, SpeedChoiceError, fpga_version};
use crate::sink::Memory;
pub use error::EmulateError;
pub use in_air::{AirDevice, AirSummary, InAir, ModelDevice, run_air};
pub use model::{Model, Site};
use mtu::largest_datagram;
use pacing::Pacing;
pub use pacing::Strain;
pub use ports::{OpenPorts, PortWish, open_ports};
use station::{Plan, Station};
pub use summary::{Datagrams, DeviceSummary, Summary};

const LOOK: Duration = Duration::from_millis(50);
/// How often EEPROM files are written, if something has changed.
const KEEP: Duration = Duration::from_millis(500);

/// Running N200s.
pub type Emulator = Radios<N200>;

/// Looks at the counts while radios run. It is called every 50 ms with a way to take them, which asks the radios' threads.
pub type Look<'a, S> = &'a mut dyn FnMut(&dyn Fn() -> Result<S, EmulateError>);

/// Running radios of one model. Dropping it stops them.
pub struct Radios<M: Model> {
    stations: Vec<Station<M>>,
    pacing: Pacing,
    stop: Stop,
    started: Instant,
}

/// A report from radios while they run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Notice {
    /// Once all of them listen, of each.
    Ready {
        /// As users write it: `n200`.
        model: &'static str,
        addr: Ipv4Addr,
    },
    /// `--speed auto` has them go so fast from now on.
    Speed(Speed),
    /// A host has read a version that is not its own, and left.
    Unserved {
        addr: Ipv4Addr,
        /// A sentence that names the option by which the radio serves such a host.
        advice: &'static str,
    },
}

impl<M: Model> Radios<M> {
    /// Starts all radios; each listens when this returns.
    ///
    /// # Errors
    /// An option makes no sense, a port is taken, a wish for CPU or priority is refused. Nothing runs then.
    pub fn start(options: &EmulatorOptions) -> Result<Radios<M>, EmulateError> {
        let distinct = options.addrs.iter().collect::<BTreeSet<_>>().len();
        if distinct == 0 || distinct != options.addrs.len() {
            return Err(EmulateError::Addresses { addrs: options.addrs.len(), distinct });
        }
        let pacing = Pacing::of(options.speed);
        let plan = |n| Plan::<M>::new(options, n, (M::CLOCK, &pacing), None);
        let plans = (0..distinct).map(plan).collect::<Result<Vec<_>, _>>()?;
        Radios::of(plans, pacing)
    }

    fn of(plans: Vec<Plan<M>>, pacing: Pacing) -> Result<Radios<M>, EmulateError> {
        let mut emulator = Radios { stations: Vec::new(), pacing, stop: Stop::new(), started: Instant::now() };
        for plan in plans {
            // An error drops the emulator, which stops those already started.
            emulator.stations.push(plan.start(&emulator.stop)?);
        }
        Ok(emulator)
    }

    pub fn addrs(&self) -> impl Iterator<Item = Ipv4Addr> {
        self.stations.iter().map(Station::addr)
    }

    /// Counts so far. Fails if a radio has ended by itself.
    pub fn snapshot(&self) -> Result<Summary<M::Report>, EmulateError> {
        let devices = self.stations.iter().map(Station::snapshot).collect::<Result<Vec<_>, _>>()?;
        Ok(Summary::of(M::NAME, self.started.elapsed().as_secs_f64(), self.pacing.speed(), devices))
    }

    /// Lets them run until `stop` is requested, or one ends by itself; keeps EEPROM files and looks for the speed meanwhile.
    ///
    /// # Errors
    /// A radio has ended by itself, or its EEPROM file can't be written.
    pub fn run_until(
        &mut self,
        notify: &mut dyn FnMut(Notice),
        look: Look<'_, Summary<M::Report>>,
        stop: &Stop,
    ) -> Result<(), EmulateError> {
        until(stop, |keep| {
            self.tend(keep, notify)?;
            look(&|| self.snapshot());
            Ok(())
        })
    }

    /// Looks whether all still run, and for the speed. [`Radios::run_until`] calls it every 50 ms; others call it themselves.
    /// If `keep`, also keeps EEPROM files, and tells of hosts that were not served.
    ///
    /// # Errors
    /// As [`Radios::run_until`].
    pub fn tend(&mut self, keep: bool, notify: &mut dyn FnMut(Notice)) -> Result<(), EmulateError> {
        self.look(keep, notify)?;
        self.pacing.follow(|| strain(&self.stations), notify)
    }

    /// Bursts of each radio's transmitters, if [`EmulatorOptions::keep_samples`] says so. They outlive the radios.
    #[must_use]
    pub fn memories(&self) -> Vec<Vec<Memory>> {
        self.stations.iter().map(Station::memories).collect()
    }

    /// Whether all still run; if `keep`, keeps EEPROM files and tells of hosts that were not served.
    fn look(&mut self, keep: bool, notify: &mut dyn FnMut(Notice)) -> Result<(), EmulateError> {
        if let Some(station) = self.stations.iter().find(|s| s.has_ended()) {
            return Err(EmulateError::Ended { addr: station.addr() });
        }
        if !keep {
            return Ok(());
        }
        for station in &mut self.stations {
            station.keep_eeprom()?;
            let addr = station.addr();
            station.newly_unserved()?.into_iter().for_each(|advice| notify(Notice::Unserved { addr, advice }));
        }
        Ok(())
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

/// The sum of all radios' counts that say whether their hosts keep up.
fn strain<M: Model>(stations: &[Station<M>]) -> Result<Strain, EmulateError> {
    stations.iter().map(Station::strain).sum()
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

/// Runs radios of a model until `stop` is requested; `notify` gets each address when all listen.
///
/// # Errors
/// As [`Radios::start`], [`Radios::run_until`] and [`Radios::stop`].
pub fn run_model<M: Model>(
    options: &EmulatorOptions,
    notify: &mut dyn FnMut(Notice),
    look: Look<'_, Summary<M::Report>>,
    stop: &Stop,
) -> Result<Summary<M::Report>, EmulateError> {
    let mut radios = Radios::<M>::start(options)?;
    radios.addrs().for_each(|addr| notify(Notice::Ready { model: M::NAME, addr }));
    radios.run_until(notify, look, stop)?;
    radios.stop()
}
