//! One radio of an emulator: from its options to a thread that drives it, and one that says how late it was.

use std::net::Ipv4Addr;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use takt_base::{Clock, Speed, Stop, TickRate, WallClock};
use takt_host::policy::{Policy, set_policy};
use takt_packet::{EngineError, EngineKind};

use super::lag_port::LagPort;
use super::model::{Model, Site};
use super::pacing::{Pacing, Strain};
use super::ports::{PortWish, open_ports};
use super::questions::{Questions, Radio};
use super::summary::{Datagrams, DeviceSummary};
use super::{EmulateError, EmulatorOptions, SpeedChoice};
use crate::Device;
use crate::air::Air;
use crate::drive::wall::{Driver, Settings, Tempo};
use crate::fault::{Fault, Faulty};
use crate::policy::{Cidr, Destinations};
use crate::signals::{SignalReport, Watch};
use crate::sink::Memory;

pub(super) struct Plan<M> {
    addr: Ipv4Addr,
    clock: TickRate,
    tempo: Arc<Tempo>,
    engine: EngineKind,
    aggregate: bool,
    device: Radio<M>,
    watches: Vec<Watch>,
    eeprom: Option<PathBuf>,
    core: Option<usize>,
    priority: Option<u8>,
    settings: Settings,
    rule: Destinations,
}

impl<M: Model> Plan<M> {
    /// Plan of the n-th radio of these options, whose driver counts `clock`; in an air, if there is one.
    pub(super) fn new(
        options: &EmulatorOptions,
        n: usize,
        (clock, pacing): (TickRate, &Pacing),
        air: Option<(&mut Air, usize)>,
    ) -> Result<Plan<M>, EmulateError> {
        let addr = options.addrs[n];
        let devices = options.addrs.len();
        for (what, got) in [
            ("serial", options.serials.len()),
            ("name", options.names.len()),
            ("source", options.sources.len()),
            ("sink", options.sinks.len()),
            ("EEPROM file", options.eeproms.len()),
        ] {
            if got > devices {
                return Err(EmulateError::TooMany { what, got, devices });
            }
        }
        if options.as_hardware && options.speed != SpeedChoice::default() {
            return Err(EmulateError::HardwareSpeed { speed: options.speed });
        }
        let eeprom = options.eeproms.get(n).cloned();
        let allow = options.allow.iter().map(|text| text.parse()).collect::<Result<Vec<Cidr>, _>>()?;
        let rule = Destinations::allowing(allow).with_redirects(options.redirect);
        let faults = options.faults.iter().map(|text| text.parse()).collect::<Result<Vec<Fault>, _>>();
        let faults = faults.map_err(EmulateError::Fault)?;
        if let Some(fault) = faults.iter().find(|fault| M::LACKS.contains(&fault.stream)) {
            return Err(EmulateError::Unfit { model: M::NAME, option: format!("--fault {fault}") });
        }
        let engine = options.engine.parse()?;
        let tempo = Arc::clone(pacing.tempo());
        let born = tempo.time().tick_of(clock, WallClock.now());
        let speed = match options.speed {
            SpeedChoice::Fixed(speed) => speed,
            // The speed to come is not known yet, and a device counts ticks: seconds of hosts become those of the radio.
            SpeedChoice::Auto => Speed::WALL,
        };
        let (utc_at_tick_0_s, keep_samples) = (pacing.utc_at_tick_0_s(), options.keep_samples);
        let site = Site { rule: rule.clone(), born, utc_at_tick_0_s, speed, keep_samples, air };
        let (device, watches) = M::build(options, n, site)?;
        let device = Faulty::new(device, faults, born, clock);
        let usual = Settings::default();
        Ok(Plan {
            addr,
            clock,
            tempo,
            engine,
            aggregate: options.aggregate,
            device,
            watches,
            eeprom,
            core: (!options.cores.is_empty()).then(|| options.cores[n % options.cores.len()]),
            priority: options.priority,
            settings: options.beat_us.map_or(usual, |us| Settings { beat: Duration::from_micros(us.into()), ..usual }),
            rule,
        })
    }

    /// Opens its ports and starts its threads; returns when its own is where it was wished.
    pub(super) fn start(self, stop: &Stop) -> Result<Station<M>, EmulateError> {
        let Plan { addr, clock, tempo, engine, aggregate, device, watches, eeprom, core, priority, settings, rule } =
            self;
        let ports = |source| EmulateError::Ports { addr, source };
        let (engine, device_ports, receives_broadcast) =
            open_ports(engine, aggregate, addr, PortWish::of::<M>(device.ports())).map_err(ports)?;
        let lag_port = LagPort::open(addr, rule).map_err(ports)?;
        let driver = Driver::new(device, clock, engine, device_ports, settings);
        let mut driver = driver.in_tempo(Arc::clone(&tempo));
        let (questions, requests) = Questions::to(addr);
        let (placed, placement) = mpsc::channel();
        let raised = stop.clone();
        let body = move || {
            let place = place(addr, core, priority);
            let placed_well = place.is_ok();
            let _ = placed.send(place);
            if placed_well { driver.run(&raised, &requests) } else { Ok(()) }
        };
        let radio = spawn(addr, format!("{} {addr}", M::NAME), body)?;
        if let Err(error) = placement.recv().unwrap_or(Err(EmulateError::Ended { addr })) {
            // The thread owns the ports: whoever gets the error may use them at once.
            let _ = radio.join();
            return Err(error);
        }
        let (asking, paced, raised) = (questions.clone(), Arc::clone(&tempo), stop.clone());
        let says = spawn(addr, format!("lag {addr}"), move || lag_port.serve(&asking, &paced, &raised))?;
        let threads = [radio, says];
        Ok(Station {
            addr,
            tempo,
            threads,
            questions,
            watches,
            eeprom,
            kept_writes: 0,
            unserved_hosts: 0,
            receives_broadcast,
        })
    }
}

pub(super) struct Station<M> {
    addr: Ipv4Addr,
    tempo: Arc<Tempo>,
    /// Its own, and the one that says how late it was.
    threads: [JoinHandle<Result<(), EngineError>>; 2],
    questions: Questions<M>,
    watches: Vec<Watch>,
    eeprom: Option<PathBuf>,
    kept_writes: u64,
    /// The number of unserved hosts that were already reported.
    unserved_hosts: u64,
    receives_broadcast: bool,
}

impl<M: Model> Station<M> {
    pub(super) fn addr(&self) -> Ipv4Addr {
        self.addr
    }

    pub(super) fn has_ended(&self) -> bool {
        self.threads.iter().any(JoinHandle::is_finished)
    }

    pub(super) fn snapshot(&self) -> Result<DeviceSummary<M::Report>, EmulateError> {
        let (addr, receives_broadcast, time) = (self.addr, self.receives_broadcast, self.tempo.time());
        let signals = self.watches.iter().map(Watch::report).fold(SignalReport::default(), SignalReport::joined);
        let spectra: Vec<_> = self.watches.iter().flat_map(Watch::spectra).collect();
        let offset_ticks = move |radio: &M| {
            let clock = TickRate::from(radio.clock_hz());
            radio.clock_offset_ticks().wrapping_add(time.offset_ticks(clock))
        };
        self.questions.ask(move |device, lag, counters| DeviceSummary {
            addr,
            serial: device.device().serial(),
            receives_broadcast,
            radio: device.device().report(),
            signals,
            faults: device.injected(),
            lag,
            clock_hz: device.device().clock_hz().get(),
            clock_offset_ticks: offset_ticks(device.device()),
            speed: time.speed().seconds(),
            datagrams: Datagrams::from(counters),
            spectra,
        })
    }

    /// Bursts of each of its transmitters, if they are kept.
    pub(super) fn memories(&self) -> Vec<Memory> {
        self.watches.iter().filter_map(Watch::memory).collect()
    }

    /// Its counts that say whether its hosts keep up.
    pub(super) fn strain(&self) -> Result<Strain, EmulateError> {
        self.questions.ask(|radio: &Radio<M>, lag, _| {
            let strain = M::strain(&radio.device().report());
            Strain { letters: strain.letters + lag.unsent, ..strain }
        })
    }

    /// Writes the EEPROM file, if there is one and something has changed.
    pub(super) fn keep_eeprom(&mut self) -> Result<(), EmulateError> {
        let Some(path) = &self.eeprom else { return Ok(()) };
        let (writes, images) = self.questions.ask(|radio: &Radio<M>, _, _| radio.device().eeproms())?;
        if writes != self.kept_writes {
            takt_base::replace_file(path, &images)
                .map_err(|source| EmulateError::Eeprom { path: path.clone(), source })?;
            self.kept_writes = writes;
        }
        Ok(())
    }

    /// If hosts have left since the last call because a version was not theirs: what would have served the last of them.
    pub(super) fn newly_unserved(&mut self) -> Result<Option<&'static str>, EmulateError> {
        if !M::MAY_NOT_SERVE {
            return Ok(None);
        }
        let (hosts, advice) = self.questions.ask(|radio: &Radio<M>, _, _| radio.device().unserved())?;
        let told = std::mem::replace(&mut self.unserved_hosts, hosts);
        Ok((hosts > told).then_some(advice))
    }

    /// After a stop was requested: when its threads have ended and its files are complete, what became of its signals.
    pub(super) fn join(self) -> Result<SignalReport, EmulateError> {
        let addr = self.addr;
        let ended = self.threads.map(JoinHandle::join);
        let signals = self.watches.into_iter().map(Watch::finish).fold(SignalReport::default(), SignalReport::joined);
        for ended in ended {
            let ended = ended.map_err(|_| EmulateError::Ended { addr })?;
            ended.map_err(|source| EmulateError::Ports { addr, source })?;
        }
        Ok(signals)
    }
}

fn spawn(
    addr: Ipv4Addr,
    name: String,
    body: impl FnOnce() -> Result<(), EngineError> + Send + 'static,
) -> Result<JoinHandle<Result<(), EngineError>>, EmulateError> {
    thread::Builder::new().name(name).spawn(body).map_err(|source| EmulateError::Thread { addr, source })
}

fn place(addr: Ipv4Addr, core: Option<usize>, priority: Option<u8>) -> Result<(), EmulateError> {
    if let Some(core) = core {
        takt_host::affinity::pin_self(&[core]).map_err(|source| EmulateError::Core { addr, source })?;
    }
    if let Some(priority) = priority {
        set_policy(0, Policy::Fifo { priority }).map_err(|source| EmulateError::Priority { addr, source })?;
    }
    Ok(())
}
