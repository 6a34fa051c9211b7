//! One radio of an emulator: from its options to a thread that drives it, and one that says how late it was.

use std::fs;
use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use takt_base::{Clock, Stop, Tick, WallClock};
use takt_host::policy::{Policy, set_policy};
use takt_packet::{Config, Engine, EngineError, EngineKind, PortSpec};
use takt_wire::n200::ports as wire_ports;

use super::broadcast::broadcast_of;
use super::lag_port::LagPort;
use super::questions::{Questions, Radio};
use super::summary::{Datagrams, DeviceSummary};
use super::{EmulateError, Options};
use crate::drive::wall::{BATCH, Driver, Settings};
use crate::fault::{Fault, Faulty};
use crate::n200::{self, CLOCK, EepromImages, N200, Signals};
use crate::policy::{Cidr, Destinations};
use crate::signals::{self, Setting, SignalReport, SpecError, Watch};
use crate::{Device, Port, sink, source};

/// Buffers asked of the kernel for each port: more than a transmit window takes with the kernel's bookkeeping.
const BUFFER_BYTES: usize = 4 << 20;
/// Largest datagram: hosts may ask for frames up to this.
const FRAME_BYTES: usize = 9000;

pub(super) struct Plan {
    addr: Ipv4Addr,
    engine: EngineKind,
    aggregate: bool,
    device: Radio,
    watch: Watch,
    eeprom: Option<PathBuf>,
    core: Option<usize>,
    priority: Option<u8>,
    settings: Settings,
    rule: Destinations,
}

impl Plan {
    pub(super) fn new(options: &Options, n: usize) -> Result<Plan, EmulateError> {
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
        let rule = Destinations::allowing(allow);
        let fresh = n200::Options::default();
        let identity = n200::Options {
            serial: options.serials.get(n).cloned().unwrap_or_else(|| format!("EMU{:03}", n + 1)),
            name: options.names.get(n).cloned().unwrap_or(fresh.name),
            address: addr,
            board: options.board,
            gpsdo: options.gpsdo,
            hardware: options.hardware.unwrap_or(fresh.hardware),
            firmware: options.firmware.unwrap_or(fresh.firmware),
            firmware_minor: fresh.firmware_minor,
            fpga: options.fpga.unwrap_or(fresh.fpga),
            marked: !options.as_hardware,
            on_overflow: options.overflow,
            destinations: rule.clone(),
            born: Tick(CLOCK.ticks_in_ns(u128::from(WallClock.now().0)).0),
            utc_at_tick_0_s: utc_at_boot_s(),
            eeproms: eeprom.as_deref().map(read_eeprom).transpose()?.flatten(),
        };
        let born = identity.born;
        let faults = options.faults.iter().map(|text| text.parse()).collect::<Result<Vec<Fault>, _>>();
        let faults = faults.map_err(EmulateError::Fault)?;
        let engine = options.engine.parse()?;
        let (signals, watch) = open_signals(options, n, &identity)?;
        let device = N200::new(identity, signals).map_err(|source| EmulateError::Identity { addr, source })?;
        let device = Faulty::new(device, faults, born, CLOCK);
        let usual = Settings::default();
        Ok(Plan {
            addr,
            engine,
            aggregate: options.aggregate,
            device,
            watch,
            eeprom,
            core: (!options.cores.is_empty()).then(|| options.cores[n % options.cores.len()]),
            priority: options.priority,
            settings: options.beat_us.map_or(usual, |us| Settings { beat: Duration::from_micros(us.into()), ..usual }),
            rule,
        })
    }

    /// Opens its ports and starts its threads; returns when its own is where it was wished.
    pub(super) fn start(self, stop: &Stop) -> Result<Station, EmulateError> {
        let Plan { addr, engine, aggregate, device, watch, eeprom, core, priority, settings, rule } = self;
        let ports = |source| EmulateError::Ports { addr, source };
        let (engine, device_ports, receives_broadcast) = open_ports(engine, aggregate, addr, &device).map_err(ports)?;
        let lag_port = LagPort::open(addr, rule).map_err(ports)?;
        let mut driver = Driver::new(device, CLOCK, engine, device_ports, settings);
        let (questions, requests) = Questions::to(addr);
        let (placed, placement) = mpsc::channel();
        let raised = stop.clone();
        let body = move || {
            let place = place(addr, core, priority);
            let placed_well = place.is_ok();
            let _ = placed.send(place);
            if placed_well { driver.run(&raised, &requests) } else { Ok(()) }
        };
        let radio = spawn(addr, format!("n200 {addr}"), body)?;
        if let Err(error) = placement.recv().unwrap_or(Err(EmulateError::Ended { addr })) {
            // The thread owns the ports: whoever is told of the error may use them at once.
            let _ = radio.join();
            return Err(error);
        }
        let (asking, raised) = (questions.clone(), stop.clone());
        let says = spawn(addr, format!("lag {addr}"), move || lag_port.serve(&asking, &raised))?;
        Ok(Station { addr, threads: [radio, says], questions, watch, eeprom, kept_writes: 0, receives_broadcast })
    }
}

pub(super) struct Station {
    addr: Ipv4Addr,
    /// Its own, and the one that says how late it was.
    threads: [JoinHandle<Result<(), EngineError>>; 2],
    questions: Questions,
    watch: Watch,
    eeprom: Option<PathBuf>,
    kept_writes: u64,
    receives_broadcast: bool,
}

impl Station {
    pub(super) fn addr(&self) -> Ipv4Addr {
        self.addr
    }

    pub(super) fn has_ended(&self) -> bool {
        self.threads.iter().any(JoinHandle::is_finished)
    }

    pub(super) fn snapshot(&self) -> Result<DeviceSummary, EmulateError> {
        let (addr, receives_broadcast) = (self.addr, self.receives_broadcast);
        let signals = self.watch.report();
        self.questions.ask(move |device, lag, counters| DeviceSummary {
            addr,
            serial: device.device().eeproms().motherboard().serial.as_str().to_owned(),
            receives_broadcast,
            radio: device.device().report(),
            signals,
            faults: device.injected(),
            lag,
            clock_offset_ticks: device.device().clock_offset_ticks(),
            datagrams: Datagrams::from(counters),
        })
    }

    /// Writes the EEPROM file, if there is one and something has changed.
    pub(super) fn keep_eeprom(&mut self) -> Result<(), EmulateError> {
        let Some(path) = &self.eeprom else { return Ok(()) };
        let images = |radio: &Radio, _, _| (radio.device().eeprom_writes(), radio.device().eeproms().clone());
        let (writes, images) = self.questions.ask(images)?;
        if writes != self.kept_writes {
            write_whole(path, &images.to_bytes())
                .map_err(|source| EmulateError::Eeprom { path: path.clone(), source })?;
            self.kept_writes = writes;
        }
        Ok(())
    }

    /// After a stop was requested: when its threads have ended and its files are complete, what became of its signals.
    pub(super) fn join(self) -> Result<SignalReport, EmulateError> {
        let addr = self.addr;
        let ended = self.threads.map(JoinHandle::join);
        let signals = self.watch.finish();
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
fn open_ports(kind: EngineKind, aggregate: bool, addr: Ipv4Addr, device: &Radio) -> Result<OpenPorts, EngineError> {
    let spec = |ip: Ipv4Addr, port: u16| PortSpec { bind: SocketAddr::new(IpAddr::V4(ip), port), peer: None };
    let mut ports = device.ports().to_vec();
    let mut config = Config::new(ports.iter().map(|port| spec(addr, port.0)).collect());
    config.batch = BATCH;
    config.aggregate = aggregate;
    config.max_payload_bytes = FRAME_BYTES;
    config.recv_buffer_bytes = BUFFER_BYTES;
    config.send_buffer_bytes = BUFFER_BYTES;
    // A radio has its own memory, whatever this host grants to programs.
    config.force_buffers = true;
    if let Some(broadcast) = broadcast_of(addr) {
        let mut both = config.clone();
        both.ports.push(spec(broadcast, wire_ports::CONTROL));
        match takt_packet::open(kind, &both) {
            Ok(engine) => {
                ports.push(Port(wire_ports::CONTROL));
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

/// UTC, in whole seconds, when the monotonic clock stood at 0. The monotonic second is what PPS edges follow; that of UTC
/// starts up to half a second away from it.
fn utc_at_boot_s() -> u64 {
    let utc = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    utc.saturating_sub(Duration::from_nanos(WallClock.now().0)).as_secs_f64().round() as u64
}

/// What an earlier run left; `None` if there was none.
fn read_eeprom(path: &Path) -> Result<Option<EepromImages>, EmulateError> {
    match fs::read(path) {
        Ok(bytes) => match EepromImages::from_bytes(&bytes) {
            Some(images) => Ok(Some(images)),
            None => Err(EmulateError::ForeignEeprom {
                path: path.to_owned(),
                bytes: bytes.len(),
                want: EepromImages::BYTES,
            }),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(EmulateError::Eeprom { path: path.to_owned(), source }),
    }
}

/// Replaces a file, so that a reader or a crash sees the old bytes or the new ones.
fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let beside = path.with_extension("partial");
    let mut file = fs::File::create(&beside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

/// What the n-th radio hears and where its signal goes: its own source and sink, or the only ones, or the usual ones.
fn open_signals(options: &Options, n: usize, identity: &n200::Options) -> Result<(Signals, Watch), EmulateError> {
    fn pick<S: FromStr<Err = SpecError> + Default>(texts: &[String], n: usize) -> Result<S, SpecError> {
        let only = texts.first().filter(|_| texts.len() == 1);
        texts.get(n).or(only).map_or_else(|| Ok(S::default()), |text| text.parse())
    }
    let addr = options.addrs[n];
    let source: source::Spec = pick(&options.sources, n)?;
    let sink: sink::Spec = pick(&options.sinks, n)?;
    if sink != sink::Spec::Null && options.sinks.len() < options.addrs.len() {
        return Err(EmulateError::SharedSink { sink: sink.to_string(), devices: options.addrs.len() });
    }
    let setting = Setting {
        clock: CLOCK,
        hw: format!("N200 {}", identity.serial),
        utc_at_tick_0_ns: identity.utc_at_tick_0_s.checked_mul(1_000_000_000),
    };
    signals::open(&source, &sink, &setting).map_err(|source| EmulateError::Signals { addr, source })
}
