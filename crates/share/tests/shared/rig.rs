//! Shared radios on a virtual clock, and takt's own driver in front of each.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use takt_base::{Clock, Complex32, MonoNs, Speed, Tick, Ticks};
use takt_emulator::drive::sim::World;
use takt_emulator::n200::CLOCK;
use takt_emulator::policy::Destinations;
use takt_emulator::{Device, Outbox, Port, Sent};
use takt_packet::{Config, Engine, EngineError};
use takt_radio::n200::{N200, OpenOptions};
use takt_radio::{Net, Role};
use takt_share::{CoreSettings, Outboxes, RadioPlan, SharePlan, SharedFrontEnd, WideBurst};

const START: MonoNs = MonoNs(2_345_678_000);
const BORN: Tick = Tick(START.0 / 10);
/// Wide samples that come at a time.
pub const BLOCK: usize = 200;

/// A datagram, and the tick at which it took effect.
#[derive(Clone, Debug, PartialEq)]
pub struct Logged {
    pub at: Tick,
    pub port: Port,
    pub peer: SocketAddr,
    pub bytes: Vec<u8>,
}

/// Signal at the front end's antenna, by tick, beside what was sent.
pub type Antenna = Box<dyn Fn(Tick) -> Complex32 + Send>;

/// The core, and a cable from its transmitter to its receiver.
pub struct Rig {
    pub core: SharedFrontEnd,
    step: u64,
    antenna: Antenna,
    cable: HashMap<u64, Complex32>,
    /// All that the front end has sent, by tick.
    pub sent: HashMap<u64, Complex32>,
    ports: Vec<Port>,
    pending: Vec<Vec<Logged>>,
    /// Datagrams that came for each radio.
    pub received: Vec<Vec<Logged>>,
}

/// Keeps what a radio sends.
pub struct Kept<'a>(pub &'a mut Vec<Logged>);

impl Outbox for Kept<'_> {
    fn send(&mut self, due: Tick, from: Port, to: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent {
        let mut bytes = vec![0; 9000];
        let length = fill(&mut bytes);
        bytes.truncate(length);
        self.0.push(Logged { at: due, port: from, peer: to, bytes });
        Sent::Taken
    }
}

/// Keeps what each radio sends.
pub struct KeptAll(pub Vec<Vec<Logged>>, Option<(usize, Vec<Logged>)>);

impl KeptAll {
    pub fn new(radios: usize) -> KeptAll {
        KeptAll(vec![Vec::new(); radios], None)
    }
}

impl Outboxes for KeptAll {
    fn of(&mut self, radio: usize) -> &mut dyn Outbox {
        // An outbox that lives as long as this.
        self.1 = Some((radio, Vec::new()));
        self
    }
}

impl Outbox for KeptAll {
    fn send(&mut self, due: Tick, from: Port, to: SocketAddr, fill: &mut dyn FnMut(&mut [u8]) -> usize) -> Sent {
        let radio = self.1.as_ref().expect("chosen").0;
        Kept(&mut self.0[radio]).send(due, from, to, fill)
    }
}

pub fn settings(latency: Ticks) -> CoreSettings {
    CoreSettings {
        born: BORN,
        latency,
        block: BLOCK,
        destinations: Destinations::loopback(),
        software: true,
        utc_at_tick_0_s: 1_700_000_000,
        speed: Speed::WALL,
    }
}

impl Rig {
    pub fn new(plan: &SharePlan, latency: Ticks, antenna: Antenna) -> Rig {
        let core = SharedFrontEnd::new(plan, &settings(latency)).expect("a front end");
        let ports = core.device(0).expect("a radio").ports().to_vec();
        let none = vec![Vec::new(); plan.radios.len()];
        let step = (1e8 / plan.front_end.rate_sps).round() as u64;
        Rig {
            core,
            step,
            antenna,
            cable: HashMap::new(),
            sent: HashMap::new(),
            ports,
            pending: none.clone(),
            received: none,
        }
    }

    /// Blocks up to this instant.
    fn reach(&mut self, now: Tick) {
        let mut wide = [Complex32::default(); BLOCK];
        while self.next() <= now {
            let first = self.core.now() + Ticks(self.step);
            for (n, wide) in wide.iter_mut().enumerate() {
                let tick = first + Ticks(n as u64 * self.step);
                *wide = (self.antenna)(tick) + self.cable.remove(&tick.0).unwrap_or_default();
            }
            self.core.receive(first, &wide).expect("time goes on");
            let mut kept = KeptAll::new(self.pending.len());
            self.core.advance(&mut kept);
            self.pending.iter_mut().zip(kept.0).for_each(|(pending, kept)| pending.extend(kept));
            let (cable, sent, step) = (&mut self.cable, &mut self.sent, self.step);
            self.core.transmit(&mut |burst| {
                let WideBurst::Samples { at, samples } = burst else { return };
                for (n, sample) in samples.iter().enumerate() {
                    cable.insert(at.0 + n as u64 * step, *sample);
                    sent.insert(at.0 + n as u64 * step, *sample);
                }
            });
        }
    }

    /// When the next block is whole.
    fn next(&self) -> Tick {
        self.core.now() + Ticks(BLOCK as u64 * self.step)
    }
}

/// One radio of a rig, as a world sees it.
struct End {
    rig: Arc<Mutex<Rig>>,
    radio: usize,
    ports: Vec<Port>,
}

impl End {
    fn rig(&self) -> MutexGuard<'_, Rig> {
        self.rig.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Device for End {
    fn ports(&self) -> &[Port] {
        &self.ports
    }

    fn datagram(&mut self, now: Tick, port: Port, from: SocketAddr, bytes: &[u8], out: &mut dyn Outbox) {
        let mut rig = self.rig();
        rig.reach(now);
        let at = rig.core.now();
        rig.received[self.radio].push(Logged { at, port, peer: from, bytes: bytes.to_vec() });
        rig.core.datagram(self.radio, port, from, bytes, out);
    }

    fn refused(&mut self, _: Tick, port: Port, by: SocketAddr) {
        let radio = self.radio;
        self.rig().core.refused(radio, port, by);
    }

    fn advance(&mut self, now: Tick, out: &mut dyn Outbox) {
        let mut rig = self.rig();
        rig.reach(now);
        for sent in std::mem::take(&mut rig.pending[self.radio]) {
            out.send(sent.at, sent.port, sent.peer, &mut |frame| {
                frame[..sent.bytes.len()].copy_from_slice(&sent.bytes);
                sent.bytes.len()
            });
        }
    }

    fn deadline(&self) -> Option<Tick> {
        let rig = self.rig();
        // Datagrams that another end's turn has left here are sent at once.
        if rig.pending[self.radio].is_empty() { Some(rig.next()) } else { Some(rig.core.now()) }
    }
}

/// A world with the radios of a plan.
#[derive(Clone)]
pub struct SharedWorld {
    pub world: World,
    pub rig: Arc<Mutex<Rig>>,
}

impl SharedWorld {
    pub fn new(plan: &SharePlan, latency: Ticks, antenna: Antenna) -> Arc<SharedWorld> {
        let rig = Rig::new(plan, latency, antenna);
        let ports = rig.ports.clone();
        let shared =
            SharedWorld { world: World::starting_at(START, Duration::from_micros(10)), rig: Arc::new(Mutex::new(rig)) };
        for (radio, at) in plan.radios.iter().enumerate() {
            let end = End { rig: Arc::clone(&shared.rig), radio, ports: ports.clone() };
            shared.world.add(IpAddr::V4(at.addr), CLOCK, end);
        }
        Arc::new(shared)
    }

    /// Adds a radio while the others go on.
    pub fn add(&self, plan: &RadioPlan) {
        let ports = self.look(|rig| {
            let (number, born) = (rig.pending.len(), rig.core.now());
            let radio = rig.core.maker().make(number, plan, born).expect("a radio");
            assert!(rig.core.put(Box::new(radio)).is_none(), "the place is free");
            rig.pending.push(Vec::new());
            rig.received.push(Vec::new());
            rig.ports.clone()
        });
        let radio = self.look(|rig| rig.pending.len()) - 1;
        self.world.add(IpAddr::V4(plan.addr), CLOCK, End { rig: Arc::clone(&self.rig), radio, ports });
    }

    pub fn radio(self: &Arc<Self>, addr: Ipv4Addr) -> N200 {
        N200::open(self.clone(), addr.into(), &OpenOptions::default()).expect("a radio that opens")
    }

    pub fn look<R>(&self, look: impl FnOnce(&mut Rig) -> R) -> R {
        look(&mut self.rig.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Clock for SharedWorld {
    fn now(&self) -> MonoNs {
        self.world.now()
    }
}

impl Net for SharedWorld {
    fn open(&self, _: Role, config: &Config) -> Result<Box<dyn Engine>, EngineError> {
        Ok(Box::new(self.world.engine(config)?))
    }

    fn sleep_until(&self, instant: MonoNs) {
        self.world.run_until(instant);
    }

    fn threads(&self) -> bool {
        false
    }
}

/// A plan at 10 MS/s around 2400 MHz with these radios, at 127.0.7.1 and on.
pub fn plan(radios: &[&str]) -> SharePlan {
    let mut text = "[front_end]\nrate = 10e6\nfrequency = 2.4e9\n".to_owned();
    for (n, keys) in radios.iter().enumerate() {
        text += &format!("[[radio]]\nname = 'r{n}'\naddr = '127.0.7.{}'\n{keys}\n", n + 1);
    }
    SharePlan::parse("plan", &text).expect("a plan")
}

pub fn addr(radio: u8) -> Ipv4Addr {
    Ipv4Addr::new(127, 0, 7, radio + 1)
}
