//! A host in a world on a virtual clock, and a network between the two that does as it is told.
#![allow(dead_code)] // each test file uses a part

mod tampered;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use takt_base::{Clock, Complex32, MonoNs, Tick};
use takt_emulator::drive::sim::World;
use takt_emulator::fault::Faulty;
use takt_emulator::n200::{CLOCK, N200 as Device, N200Report, Options, Signals};
use takt_emulator::sink::{BurstEdges, Sink};
use takt_emulator::source::Source;
use takt_packet::{Config, Engine, EngineError};
use takt_radio::n200::{N200, OpenOptions};
use takt_radio::{Net, Role};

pub use tampered::{Action, Script, Tampered, Way};

/// Where the first radio is.
pub const ADDR: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 4, 1));
/// Where a second one is.
pub const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 4, 2));
/// One way through the network.
pub const LATENCY: Duration = Duration::from_micros(20);

/// What a host sees of a world.
#[derive(Clone)]
pub struct SimNet {
    pub world: World,
    pub script: Arc<Mutex<Script>>,
}

impl Clock for SimNet {
    fn now(&self) -> MonoNs {
        self.world.now()
    }
}

impl Net for SimNet {
    fn open(&self, _role: Role, config: &Config) -> Result<Box<dyn Engine>, EngineError> {
        Ok(Box::new(Tampered::new(self.world.engine(config)?, config, Arc::clone(&self.script))))
    }

    fn sleep_until(&self, instant: MonoNs) {
        self.world.run_until(instant);
    }

    fn threads(&self) -> bool {
        false
    }
}

/// Host time at which every world begins and its radio is switched on.
const START: MonoNs = MonoNs(1_234_567_000);
/// The same on the radio's free-running counter.
pub const BORN_TICK: u64 = START.0 / 10;

/// Whether a datagram of a receive port carries samples.
pub fn is_samples(bytes: &[u8]) -> bool {
    bytes.first() == Some(&0x14)
}

/// A world with one N200 that hears `source`.
pub fn world_with(options: Options, signals: Signals) -> Arc<SimNet> {
    world_faulty(options, signals, &[])
}

/// The same with faults around the radio. Times of faults count from the beginning of the world.
pub fn world_faulty(options: Options, signals: Signals, faults: &[&str]) -> Arc<SimNet> {
    let world = World::starting_at(START, LATENCY);
    let net = SimNet { world, script: Arc::default() };
    net.add(ADDR, options, signals, faults);
    Arc::new(net)
}

/// Hears a ramp on both DSPs and plays to nobody.
pub fn ramps() -> Signals {
    Signals { sources: [Box::new(Ramp), Box::new(Ramp)], sink: Box::new(Recorder::default()) }
}

/// A world with one N200 that hears a ramp, and faults.
pub fn faulty(faults: &[&str]) -> Arc<SimNet> {
    world_faulty(Options::default(), ramps(), faults)
}

/// A world with one N200 as it comes, hearing a ramp.
pub fn world() -> Arc<SimNet> {
    faulty(&[])
}

impl SimNet {
    /// Puts another radio into the world.
    pub fn add(&self, addr: IpAddr, options: Options, signals: Signals, faults: &[&str]) {
        let device = Device::new(Options { born: Tick(BORN_TICK), ..options }, signals).expect("an N200");
        let faults = faults.iter().map(|text| text.parse().expect("a fault")).collect();
        self.world.add(addr, CLOCK, Faulty::new(device, faults, Tick(BORN_TICK), CLOCK));
    }

    /// Looks into the radio at `ADDR`.
    pub fn device<R>(&self, look: impl FnOnce(&mut Faulty<Device>) -> R) -> R {
        self.world.device(ADDR, look)
    }

    /// How often faults struck, all together.
    pub fn injected(&self) -> u64 {
        self.device(|device| device.injected().values().sum())
    }

    pub fn radio(self: &Arc<Self>) -> N200 {
        N200::open(self.clone(), ADDR, &OpenOptions::default()).expect("a radio that opens")
    }

    pub fn report(&self) -> N200Report {
        self.device(|device| device.device().report())
    }

    pub fn now_ns(&self) -> u64 {
        self.now().0
    }

    pub fn after(&self, span: Duration) -> MonoNs {
        self.now() + span
    }

    /// From now on the network does `action` with what `which` says yes to.
    pub fn tamper(&self, rule: impl FnMut(Way, u16, &[u8]) -> Action + Send + 'static) {
        self.script.lock().unwrap().rule = Some(Box::new(rule));
    }

    pub fn stop_tampering(&self) {
        self.script.lock().unwrap().rule = None;
    }
}

/// A signal whose value tells its tick: the low 15 bits of the tick in microseconds, as exact 16-bit patterns.
pub struct Ramp;

impl Ramp {
    pub fn at(tick: u64) -> Complex32 {
        let n = (tick / 100 % 32768) as f32 / 32768.0;
        Complex32::new(n, -n)
    }
}

impl Source for Ramp {
    fn raw(&self) -> bool {
        true
    }

    fn fill(&mut self, first: Tick, step: u32, out: &mut [Complex32]) {
        for (n, sample) in out.iter_mut().enumerate() {
            *sample = Ramp::at(first.0 + n as u64 * u64::from(step));
        }
    }
}

/// What a radio played: first tick, ticks a sample, samples.
pub type Played = (Tick, u32, Vec<Complex32>);

/// Keeps what it is played.
#[derive(Clone, Default)]
pub struct Recorder(pub Arc<Mutex<Vec<Played>>>);

impl Sink for Recorder {
    fn take(&mut self, first: Tick, step: u32, samples: &[Complex32], _edges: BurstEdges) {
        self.0.lock().unwrap().push((first, step, samples.to_vec()));
    }
}

pub const fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}
