//! A host in a world on a virtual clock, and a network between the two that a test controls.
#![allow(dead_code)] // each test file uses a part

mod tampered;

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use num_complex::Complex;
use takt_base::{Clock, Complex32, MonoNs, Tick, Ticks};
use takt_emulator::drive::sim::World;
use takt_emulator::fault::Faulty;
use takt_emulator::n200::{CLOCK, N200 as Device, N200Options, N200Report, Signals};
use takt_emulator::sink::{BurstEdges, Sink};
use takt_emulator::source::Source;
use takt_packet::{Config, Engine, EngineError};
use takt_radio::n200::{N200, OpenOptions, RxOptions, RxStreamer, TxOptions, TxStreamer};
use takt_radio::{Net, Received, Role, RxEvent};
use takt_wire::sample::full_scale;

pub use tampered::{Action, Script, Tampered, Way};

/// Address of the first radio.
pub const ADDR: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 4, 1));
/// Address of a second one.
pub const OTHER: IpAddr = IpAddr::V4(Ipv4Addr::new(127, 0, 4, 2));
/// One way through the network.
pub const LATENCY: Duration = Duration::from_micros(20);

/// A host's view of a world.
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

/// A world with one N200 that receives `source`.
pub fn world_with(options: N200Options, signals: Signals) -> Arc<SimNet> {
    world_faulty(options, signals, &[])
}

/// The same with faults around the radio. Times of faults count from the beginning of the world.
pub fn world_faulty(options: N200Options, signals: Signals, faults: &[&str]) -> Arc<SimNet> {
    let world = World::starting_at(START, LATENCY);
    let net = SimNet { world, script: Arc::default() };
    net.add(ADDR, options, signals, faults);
    Arc::new(net)
}

/// Receives a ramp on both DSPs and plays to nobody.
pub fn ramps() -> Signals {
    Signals { sources: [Box::new(Ramp), Box::new(Ramp)], sink: Box::new(Recorder::default()) }
}

/// A world with one N200 that receives a ramp, and faults.
pub fn faulty(faults: &[&str]) -> Arc<SimNet> {
    world_faulty(N200Options::default(), ramps(), faults)
}

/// A world with one N200 as it comes, hearing a ramp.
pub fn world() -> Arc<SimNet> {
    faulty(&[])
}

impl SimNet {
    /// Puts another radio into the world.
    pub fn add(&self, addr: IpAddr, options: N200Options, signals: Signals, faults: &[&str]) {
        let device = Device::new(N200Options { born: Tick(BORN_TICK), ..options }, signals).expect("an N200");
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

    pub fn receiver(self: &Arc<Self>, rate_sps: f64) -> (N200, RxStreamer) {
        let mut radio = self.radio();
        let rx = radio.rx_streamer(&RxOptions::new(rate_sps)).expect("a receive stream");
        (radio, rx)
    }

    pub fn transmitter(self: &Arc<Self>, rate_sps: f64) -> (N200, TxStreamer) {
        let mut radio = self.radio();
        let tx = radio.tx_streamer(&TxOptions::new(rate_sps)).expect("a transmit stream");
        (radio, tx)
    }

    /// A radio with a receive stream that has not started, and the tick 20 ms from now.
    pub fn opened(self: &Arc<Self>, options: &RxOptions) -> (N200, RxStreamer, Tick) {
        let mut radio = self.radio();
        let rx = radio.rx_streamer(options).expect("a receive stream");
        let start = radio.time().expect("its time") + CLOCK.ticks_in(ms(20));
        (radio, rx, start)
    }

    /// A radio with a receive stream that starts in 20 ms, and when that is.
    pub fn streaming(self: &Arc<Self>, options: &RxOptions) -> (N200, RxStreamer, Tick) {
        let (radio, mut rx, start) = self.opened(options);
        rx.start(Some(start)).expect("it starts");
        (radio, rx, start)
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

/// A signal whose value tells its tick: the low 15 bits of the tick in microseconds, as an integer of the wire.
pub struct Ramp;

impl Ramp {
    /// The integer that is I; Q is its negative.
    pub fn word(tick: u64) -> i16 {
        (tick / 100 % 32768) as i16
    }

    pub fn at(tick: u64) -> Complex32 {
        let n = f32::from(Ramp::word(tick)) / full_scale::SC16;
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

/// Samples that a radio played: first tick, ticks a sample, samples.
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

/// Ticks from sample to sample at 1 MS/s.
pub const STEP: u64 = 100;

/// Receives a ramp at 1 MS/s in calls of `call` samples, until `samples` were received or lost, and checks that between any
/// two calls not a sample goes unaccounted for, and that each is the one its time stamp says. Returns the events.
pub fn receive_ramp(rx: &mut RxStreamer, start: Tick, call: usize, samples: u64, until: MonoNs) -> Vec<RxEvent> {
    let mut buffer = vec![Complex::<i16>::default(); call];
    let (mut events, mut done, mut next) = (Vec::new(), 0, start);
    while done < samples {
        let Received { samples: n, first, event } = rx.recv_integers(&mut [&mut buffer], until).unwrap();
        assert!(n > 0 || event.is_some(), "nothing came: {done} of {samples}");
        assert_eq!(first, next, "after {events:?}");
        for (i, sample) in (0..).zip(&buffer[..n]) {
            let want = Ramp::word(first.0 + i * STEP + BORN_TICK);
            assert_eq!((sample.re, sample.im), (want, -want), "sample {i} after {first}");
        }
        let lost = match event {
            Some(RxEvent::Dropped { lost, .. } | RxEvent::Overflow { lost, .. }) => lost,
            _ => 0,
        };
        events.extend(event);
        done += n as u64 + lost;
        next = first + Ticks((n as u64 + lost) * STEP);
    }
    events
}
