//! One radio of an emulator: from its options to a thread that drives it, and one that says how late it was.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use takt_base::{Stop, TickRate};
use takt_host::policy::{Policy, set_policy};
use takt_packet::{Config, Engine, EngineError, EngineKind, PortSpec};

use super::broadcast::broadcast_of;
use super::lag_port::LagPort;
use super::model::{Model, Site, present};
use super::questions::{Questions, Radio};
use super::summary::{Datagrams, DeviceSummary};
use super::{EmulateError, Options};
use crate::air::Air;
use crate::device::FRAME_BYTES;
use crate::drive::wall::{BATCH, Driver, Settings};
use crate::fault::{Fault, Faulty};
use crate::policy::{Cidr, Destinations};
use crate::signals::{SignalReport, Watch};
use crate::{Device, Port};

pub(super) struct Plan<M> {
    addr: Ipv4Addr,
    clock: TickRate,
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
    /// Of the n-th radio of these options, whose driver counts `clock`; in an air, if there is one.
    pub(super) fn new(
        options: &Options,
        n: usize,
        clock: TickRate,
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
        let eeprom = options.eeproms.get(n).cloned();
        let allow = options.allow.iter().map(|text| text.parse()).collect::<Result<Vec<Cidr>, _>>()?;
        let rule = Destinations::allowing(allow).with_redirects(options.redirect);
        let faults = options.faults.iter().map(|text| text.parse()).collect::<Result<Vec<Fault>, _>>();
        let faults = faults.map_err(EmulateError::Fault)?;
        if let Some(fault) = faults.iter().find(|fault| M::LACKS.contains(&fault.stream)) {
            return Err(EmulateError::Unfit { model: M::NAME, option: format!("--fault {fault}") });
        }
        let engine = options.engine.parse()?;
        let (device, watches) = M::build(options, n, Site { rule: rule.clone(), clock, air })?;
        let device = Faulty::new(device, faults, present(clock), clock);
        let usual = Settings::default();
        Ok(Plan {
            addr,
            clock,
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
        let Plan { addr, clock, engine, aggregate, device, watches, eeprom, core, priority, settings, rule } = self;
        let ports = |source| EmulateError::Ports { addr, source };
        let (engine, device_ports, receives_broadcast) = open_ports(engine, aggregate, addr, &device).map_err(ports)?;
        let lag_port = LagPort::open(addr, rule).map_err(ports)?;
        let mut driver = Driver::new(device, clock, engine, device_ports, settings);
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
        let (asking, raised) = (questions.clone(), stop.clone());
        let says = spawn(addr, format!("lag {addr}"), move || lag_port.serve(&asking, &raised))?;
        Ok(Station { addr, threads: [radio, says], questions, watches, eeprom, kept_writes: 0, receives_broadcast })
    }
}

pub(super) struct Station<M> {
    addr: Ipv4Addr,
    /// Its own, and the one that says how late it was.
    threads: [JoinHandle<Result<(), EngineError>>; 2],
    questions: Questions<M>,
    watches: Vec<Watch>,
    eeprom: Option<PathBuf>,
    kept_writes: u64,
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
        let (addr, receives_broadcast) = (self.addr, self.receives_broadcast);
        let signals = self.watches.iter().map(Watch::report).fold(SignalReport::default(), SignalReport::joined);
        self.questions.ask(move |device, lag, counters| DeviceSummary {
            addr,
            serial: device.device().serial(),
            receives_broadcast,
            radio: device.device().report(),
            signals,
            faults: device.injected(),
            lag,
            clock_hz: device.device().clock_hz().get(),
            clock_offset_ticks: device.device().clock_offset_ticks(),
            datagrams: Datagrams::from(counters),
        })
    }

    /// Writes the EEPROM file, if there is one and something has changed.
    pub(super) fn keep_eeprom(&mut self) -> Result<(), EmulateError> {
        let Some(path) = &self.eeprom else { return Ok(()) };
        let Some((writes, images)) = self.questions.ask(|radio: &Radio<M>, _, _| radio.device().eeproms())? else {
            return Ok(());
        };
        if writes != self.kept_writes {
            takt_base::replace_file(path, &images)
                .map_err(|source| EmulateError::Eeprom { path: path.clone(), source })?;
            self.kept_writes = writes;
        }
        Ok(())
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

/// An engine, the device port of each of its ports, and whether the radio receives broadcasts.
type OpenPorts = (Box<dyn Engine>, Vec<Port>, bool);

/// Opens the ports of a radio; the control port also on the broadcast address, where there is one and no other radio of its
/// network has it.
fn open_ports<M: Model>(
    kind: EngineKind,
    aggregate: bool,
    addr: Ipv4Addr,
    device: &Radio<M>,
) -> Result<OpenPorts, EngineError> {
    let spec = |ip: Ipv4Addr, port: u16| PortSpec { bind: SocketAddr::new(IpAddr::V4(ip), port), peer: None };
    let mut ports = device.ports().to_vec();
    let mut config = Config::new(ports.iter().map(|port| spec(addr, port.0)).collect());
    config.batch = BATCH;
    config.aggregate = aggregate;
    // Hosts may ask for all that a device may send. What is longer than the interface's frames is lost.
    config.max_payload_bytes = FRAME_BYTES;
    config.shorter_payloads = true;
    config.recv_buffer_bytes = M::BUFFER_BYTES;
    config.send_buffer_bytes = M::BUFFER_BYTES;
    // A radio has its own memory, whatever this host grants to programs.
    config.force_buffers = true;
    if let Some(broadcast) = broadcast_of(addr) {
        let mut both = config.clone();
        both.ports.push(spec(broadcast, M::DISCOVERY_PORT));
        match takt_packet::open(kind, &both) {
            Ok(engine) => {
                ports.push(Port(M::DISCOVERY_PORT));
                return Ok((engine, ports, true));
            }
            // Another radio of this network listens there already: this one is found by its address only.
            Err(EngineError::PortInUse { addr }) if addr.ip() == broadcast => {}
            Err(error) => return Err(error),
        }
    }
    Ok((takt_packet::open(kind, &config)?, ports, false))
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
