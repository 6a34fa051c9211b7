//! Radios of one air, of both models: one process, a thread for each, and what they send received by the others.

use std::net::Ipv4Addr;
use std::time::Instant;

use serde::Serialize;
use takt_base::Stop;

use super::model::Model;
use super::station::Plan;
use super::summary::DeviceSummary;
use super::{EmulateError, Options, Radios, until};
use crate::air::{Air, ModelName, Radio, Scene};
use crate::drive::wall::LagReport;
use crate::n200::{N200, N200Report};
use crate::x310::{X310, X310Report};

/// Running radios of one air. Dropping it stops them.
pub struct InAir {
    radios: Vec<Running>,
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

/// What they counted.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AirSummary {
    pub duration_s: f64,
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
        let mut in_air = InAir { radios: Vec::new(), started: Instant::now() };
        for (number, radio) in scene.radios.iter().enumerate() {
            let running = match radio.model {
                ModelName::N200 => OfModel::N200(start(&mut air, number, radio)?),
                ModelName::X310 => OfModel::X310(start(&mut air, number, radio)?),
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

    /// Lets them run until `stop` is requested, or one ends by itself; keeps EEPROM files meanwhile.
    /// Fails if a radio has ended by itself, or its EEPROM file can't be written.
    pub fn run_until(&mut self, stop: &Stop) -> Result<(), EmulateError> {
        until(stop, |keep| {
            self.radios.iter_mut().try_for_each(|running| match &mut running.radio {
                OfModel::N200(radio) => radio.look(keep),
                OfModel::X310(radio) => radio.look(keep),
            })
        })
    }

    /// Stops them, and completes their files.
    /// Fails if a radio had ended by itself, or its EEPROM file can't be written.
    pub fn stop(self) -> Result<AirSummary, EmulateError> {
        let duration_s = self.started.elapsed().as_secs_f64();
        let stopped = self.radios.into_iter().map(|Running { name, radio, .. }| {
            let device = match radio {
                OfModel::N200(radio) => only(radio.stop()?.devices).map(ModelDevice::N200),
                OfModel::X310(radio) => only(radio.stop()?.devices).map(ModelDevice::X310),
            };
            Ok(device.map(|device| AirDevice { name, device }))
        });
        let devices = stopped.collect::<Result<Vec<_>, EmulateError>>()?;
        let devices: Vec<AirDevice> = devices.into_iter().flatten().collect();
        let lag = devices.iter().map(|device| device.device.lag()).fold(LagReport::default(), LagReport::merged);
        Ok(AirSummary { duration_s, lag, devices })
    }
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

fn start<M: Model>(air: &mut Air, number: usize, radio: &Radio) -> Result<Radios<M>, EmulateError> {
    let plan = Plan::<M>::new(&radio.options, 0, radio.driver_clock(M::CLOCK), Some((air, number)))?;
    Radios::of(vec![plan])
}

fn only<R>(devices: Vec<DeviceSummary<R>>) -> Option<Box<DeviceSummary<R>>> {
    devices.into_iter().next().map(Box::new)
}

impl Scene {
    /// Applies what the command line says of all radios together: engine, CPUs (one each, in turn, where the file names none),
    /// policy, beat, networks and redirects.
    ///
    /// # Errors
    /// An option that belongs to a single radio, and so into the file.
    pub fn apply(&mut self, shared: &Options) -> Result<(), EmulateError> {
        let usual = Options::default();
        for (option, given) in [
            ("--addr", shared.addrs != usual.addrs),
            ("--source", !shared.sources.is_empty()),
            ("--sink", !shared.sinks.is_empty()),
            ("--fault", !shared.faults.is_empty()),
            ("--serial", !shared.serials.is_empty()),
            ("--name", !shared.names.is_empty()),
            ("--board", shared.board.is_some()),
            ("--gpsdo", shared.gpsdo),
            ("--overflow", shared.overflow != usual.overflow),
            ("--eeprom", !shared.eeproms.is_empty()),
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
            options.allow.extend(shared.allow.iter().cloned());
            // An X310 sends to whoever asked, and has no such request.
            options.redirect |= shared.redirect && radio.model == ModelName::N200;
        }
        Ok(())
    }
}

/// Runs the radios of an air until `stop` is requested; `ready` gets model and address of each when all listen.
///
/// # Errors
/// As [`InAir::start`], [`InAir::run_until`] and [`InAir::stop`].
pub fn run_air(
    scene: &Scene,
    ready: &mut dyn FnMut(ModelName, Ipv4Addr),
    stop: &Stop,
) -> Result<AirSummary, EmulateError> {
    let mut radios = InAir::start(scene)?;
    radios.addrs().for_each(|(model, addr)| ready(model, addr));
    radios.run_until(stop)?;
    radios.stop()
}
