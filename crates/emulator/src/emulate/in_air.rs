//! Radios of one air, of both models: one process, a thread for each, and what they send received by the others.

use std::net::Ipv4Addr;
use std::time::Instant;

use serde::Serialize;
use takt_base::Stop;

use super::model::Model;
use super::pacing::Pacing;
use super::station::Plan;
use super::summary::DeviceSummary;
use super::{EmulateError, EmulatorOptions, Look, Notice, Radios, strain, until};
use crate::air::{Air, ModelName, Radio, Scene};
use crate::drive::wall::LagReport;
use crate::n200::{N200, N200Report};
use crate::sink::Memory;
use crate::x310::{X310, X310Report};

/// Running radios of one air. Dropping it stops them.
pub struct InAir {
    radios: Vec<Running>,
    /// The pacing of all of them: a signal that one sends is received at its time.
    pacing: Pacing,
    started: Instant,
}

struct Running {
    name: String,
    addr: Ipv4Addr,
    radio: OfModel,
}

enum OfModel {
    N200(Radios<N200>),
    X310(Radios<X310>),
}

/// Counts of all radios and of the air.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AirSummary {
    pub duration_s: f64,
    /// Seconds of the radios in a second of this host; of `--speed auto`, the last.
    pub speed: f64,
    /// How late the emulator itself was, all radios together.
    pub lag: LagReport,
    pub devices: Vec<AirDevice>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AirDevice {
    /// By which links know it.
    pub name: String,
    #[serde(flatten)]
    pub device: ModelDevice,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "model", rename_all = "lowercase")]
pub enum ModelDevice {
    N200(Box<DeviceSummary<N200Report>>),
    X310(Box<DeviceSummary<X310Report>>),
}

impl InAir {
    /// Starts all radios; each listens when this returns.
    ///
    /// # Errors
    /// An option makes no sense, a port is taken, a wish for CPU or priority is refused. Nothing runs then.
    pub fn start(scene: &Scene) -> Result<InAir, EmulateError> {
        let mut air = Air::new(scene);
        // A file has none, and the command line one for all.
        let speed = scene.radios.first().map(|radio| radio.options.speed).unwrap_or_default();
        let mut in_air = InAir { radios: Vec::new(), pacing: Pacing::of(speed), started: Instant::now() };
        for (number, radio) in scene.radios.iter().enumerate() {
            let running = match radio.model {
                ModelName::N200 => OfModel::N200(start(&mut air, number, radio, &in_air.pacing)?),
                ModelName::X310 => OfModel::X310(start(&mut air, number, radio, &in_air.pacing)?),
            };
            // An error drops what was started so far, which stops it.
            in_air.radios.push(Running { name: radio.name.clone(), addr: radio.addr, radio: running });
        }
        Ok(in_air)
    }

    /// The model of each, and where it listens.
    pub fn addrs(&self) -> impl Iterator<Item = (ModelName, Ipv4Addr)> {
        self.radios.iter().map(|running| {
            let model = match running.radio {
                OfModel::N200(_) => ModelName::N200,
                OfModel::X310(_) => ModelName::X310,
            };
            (model, running.addr)
        })
    }

    /// Lets them run until `stop` is requested, or one ends by itself; keeps EEPROM files and looks for the speed meanwhile.
    /// Fails if a radio has ended by itself, or its EEPROM file can't be written.
    pub fn run_until(
        &mut self,
        notify: &mut dyn FnMut(Notice),
        look: Look<'_, AirSummary>,
        stop: &Stop,
    ) -> Result<(), EmulateError> {
        until(stop, |keep| {
            self.tend(keep, notify)?;
            look(&|| self.snapshot());
            Ok(())
        })
    }

    /// As [`Radios::tend`].
    ///
    /// # Errors
    /// As [`InAir::run_until`].
    pub fn tend(&mut self, keep: bool, notify: &mut dyn FnMut(Notice)) -> Result<(), EmulateError> {
        self.radios.iter_mut().try_for_each(|running| match &mut running.radio {
            OfModel::N200(radio) => radio.look(keep, notify),
            OfModel::X310(radio) => radio.look(keep, notify),
        })?;
        let of = |running: &Running| match &running.radio {
            OfModel::N200(radio) => strain(&radio.stations),
            OfModel::X310(radio) => strain(&radio.stations),
        };
        self.pacing.follow(|| self.radios.iter().map(of).sum(), notify)
    }

    /// As [`Radios::memories`], in the order of the scene.
    #[must_use]
    pub fn memories(&self) -> Vec<Vec<Memory>> {
        let of = |running: &Running| match &running.radio {
            OfModel::N200(radio) => radio.memories(),
            OfModel::X310(radio) => radio.memories(),
        };
        self.radios.iter().flat_map(of).collect()
    }

    /// Their counts so far. Fails if a radio has ended by itself.
    pub fn snapshot(&self) -> Result<AirSummary, EmulateError> {
        let devices = self.radios.iter().map(|Running { name, radio, .. }| {
            let device = match radio {
                OfModel::N200(radio) => only(radio.snapshot()?.devices).map(ModelDevice::N200),
                OfModel::X310(radio) => only(radio.snapshot()?.devices).map(ModelDevice::X310),
            };
            Ok(device.map(|device| AirDevice { name: name.clone(), device }))
        });
        summary(self.started, &self.pacing, devices)
    }

    /// Stops them, and completes their files.
    /// Fails if a radio had ended by itself, or its EEPROM file can't be written.
    pub fn stop(self) -> Result<AirSummary, EmulateError> {
        let (started, pacing) = (self.started, self.pacing);
        let stopped = self.radios.into_iter().map(|Running { name, radio, .. }| {
            let device = match radio {
                OfModel::N200(radio) => only(radio.stop()?.devices).map(ModelDevice::N200),
                OfModel::X310(radio) => only(radio.stop()?.devices).map(ModelDevice::X310),
            };
            Ok(device.map(|device| AirDevice { name, device }))
        });
        summary(started, &pacing, stopped)
    }
}

fn summary(
    started: Instant,
    pacing: &Pacing,
    devices: impl Iterator<Item = Result<Option<AirDevice>, EmulateError>>,
) -> Result<AirSummary, EmulateError> {
    let (duration_s, speed) = (started.elapsed().as_secs_f64(), pacing.speed().seconds());
    let devices: Vec<AirDevice> = devices.filter_map(Result::transpose).collect::<Result<_, _>>()?;
    let lag = devices.iter().map(|device| device.device.lag()).fold(LagReport::default(), LagReport::merged);
    Ok(AirSummary { duration_s, speed, lag, devices })
}

impl ModelDevice {
    #[must_use]
    pub fn lag(&self) -> &LagReport {
        match self {
            ModelDevice::N200(device) => &device.lag,
            ModelDevice::X310(device) => &device.lag,
        }
    }
}

fn start<M: Model>(air: &mut Air, number: usize, radio: &Radio, pacing: &Pacing) -> Result<Radios<M>, EmulateError> {
    let clock = radio.driver_clock(M::CLOCK);
    let plan = Plan::<M>::new(&radio.options, 0, (clock, pacing), Some((air, number)))?;
    Radios::of(vec![plan], pacing.shared())
}

fn only<R>(devices: Vec<DeviceSummary<R>>) -> Option<Box<DeviceSummary<R>>> {
    devices.into_iter().next().map(Box::new)
}

impl Scene {
    /// Applies what the command line says of all radios together: engine, CPUs (one each, in turn, where the file names none),
    /// policy, beat, speed, networks and redirects.
    ///
    /// # Errors
    /// An option that belongs to a single radio, and so into the file.
    pub fn apply(&mut self, shared: &EmulatorOptions) -> Result<(), EmulateError> {
        let usual = EmulatorOptions::default();
        for (option, given) in [
            ("--addr", shared.addrs != usual.addrs),
            ("--source", !shared.sources.is_empty()),
            ("--sink", !shared.sinks.is_empty()),
            ("--fault", !shared.faults.is_empty()),
            ("--serial", !shared.serials.is_empty()),
            ("--name", !shared.names.is_empty()),
            ("--board", shared.board.is_some()),
            ("--gpsdo", shared.gpsdo),
            ("--imperfect", shared.imperfect.is_some()),
            ("--overflow", shared.overflow != usual.overflow),
            ("--eeprom", !shared.eeproms.is_empty()),
            ("--uhd", shared.uhd.is_some()),
            ("--firmware", shared.firmware.is_some()),
            ("--fpga", shared.fpga.is_some()),
            ("--hardware", shared.hardware.is_some()),
            ("--as-hardware", shared.as_hardware),
        ] {
            if given {
                return Err(EmulateError::NotWithFile { option });
            }
        }
        for (n, radio) in self.radios.iter_mut().enumerate() {
            let options = &mut radio.options;
            if options.cores.is_empty() && !shared.cores.is_empty() {
                options.cores = vec![shared.cores[n % shared.cores.len()]];
            }
            options.engine.clone_from(&shared.engine);
            options.aggregate = shared.aggregate;
            options.priority = shared.priority;
            options.beat_us = shared.beat_us;
            options.speed = shared.speed;
            options.allow.extend(shared.allow.iter().cloned());
            // An X310 sends to whoever asked, and has no such request.
            options.redirect |= shared.redirect && radio.model == ModelName::N200;
        }
        Ok(())
    }
}

/// Runs the radios of an air until `stop` is requested; `notify` gets model and address of each when all listen.
///
/// # Errors
/// As [`InAir::start`], [`InAir::run_until`] and [`InAir::stop`].
pub fn run_air(
    scene: &Scene,
    notify: &mut dyn FnMut(Notice),
    look: Look<'_, AirSummary>,
    stop: &Stop,
) -> Result<AirSummary, EmulateError> {
    let mut radios = InAir::start(scene)?;
    radios.addrs().for_each(|(model, addr)| notify(Notice::Ready { model: model.name(), addr }));
    radios.run_until(notify, look, stop)?;
    radios.stop()
}
