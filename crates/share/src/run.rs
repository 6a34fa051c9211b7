//! Sharing on this host: one thread between a radio and the ports of those that share it.
//!
//! ```text
//!  loop:  receive a block ── advance the radios ── what their hosts have sent ── send ── the sum to the radio
//! ```
//!
//! The block that comes is the clock. A thread that falls behind looks at its hosts' datagrams less often, so that the wide
//! samples go first.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use takt_base::{Clock, Complex32, Stop, Ticks, WallClock};
use takt_emulator::emulate::Datagrams;
use takt_emulator::n200::CLOCK;
use takt_emulator::policy::{Cidr, Destinations};
use takt_packet::EngineKind;
use takt_radio::n200::Emission;
use takt_radio::{Net, RxEvent, WallNet};

use crate::cost::{HostMeter, admit};
use crate::error::ShareError;
use crate::file::SharePlan;
use crate::front_end::{CoreSettings, SharedFrontEnd};
use crate::physical::{Physical, PhysicalWish};
use crate::ports::{AllPorts, HostPorts};
use crate::report::{FrontEndReport, ShareReport, SharedRadioSummary};
use crate::{AnalogWish, Band};

/// Longest wait for samples: how soon a stop is seen.
const LONGEST_WAIT: Duration = Duration::from_millis(20);
/// How often the policy is asked, and a person told.
const LOOK: Duration = Duration::from_millis(20);
/// A call that returned so soon found its samples waiting.
const AT_ONCE: Duration = Duration::from_micros(10);
/// How many blocks a thread that is behind receives for one look at its hosts' datagrams.
const BEHIND: u32 = 4;
/// Longest block, samples: 1 ms at 25 MS/s.
const MOST_BLOCK: usize = 25_000;

/// How a front end is shared.
#[derive(Clone, Debug)]
pub struct ShareOptions {
    /// The physical radio's address.
    pub addr: IpAddr,
    /// Packet engine of both sides.
    pub engine: EngineKind,
    /// Transmit, even if it is not takt's own.
    pub transmit: bool,
    /// Take it from another host.
    pub force: bool,
    /// Length of the blocks in which received samples are handled.
    pub block: Duration,
    /// Delay of every sample sent.
    pub latency: Duration,
    /// Networks beside loopback to which the radios may send.
    pub allow: Vec<Cidr>,
    /// Cores that the radios may need.
    pub cores: f64,
}

/// A report while it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum ShareNotice {
    /// Cores that the radios need at their highest rates, as measured.
    Cost {
        /// Cores of this host.
        cores: f64,
    },
    /// The front end is hardware, and transmits.
    Transmits(Box<Emission>),
    /// A radio listens.
    Ready {
        /// Its name.
        name: String,
        /// Its address.
        addr: Ipv4Addr,
    },
    /// A radio receives a band that is not all in the front end's.
    OutOfBand {
        /// Its name.
        name: String,
        /// The band that it receives.
        band: Band,
        /// The band of the front end.
        wide: Band,
    },
    /// The policy has moved the oscillator.
    Moved {
        /// The radio that decided; `None`: all together.
        by: Option<String>,
        /// The middle of the front end's band now, Hz.
        centre_hz: f64,
    },
}

/// Shares a radio until `stop` is requested.
///
/// # Errors
/// The plan does not fit, the radio can't be had or is gone, an address is taken.
pub fn run(
    plan: &SharePlan,
    options: &ShareOptions,
    notify: &mut dyn FnMut(ShareNotice),
    stop: &Stop,
) -> Result<ShareReport, ShareError> {
    if let Some(own) = plan.radios.iter().find(|radio| IpAddr::V4(radio.addr) == options.addr) {
        return Err(ShareError::OwnAddress { name: own.name.clone(), addr: own.addr });
    }
    notify(ShareNotice::Cost { cores: admit(plan, options.block, options.cores, &mut HostMeter)? });
    let rate_sps = plan.front_end.rate_sps;
    let block = ((options.block.as_secs_f64() * rate_sps).round() as usize).clamp(16, MOST_BLOCK);
    let net: Arc<dyn Net> = Arc::new(WallNet::new(options.engine));
    let wish = PhysicalWish { addr: options.addr, transmit: options.transmit, force: options.force, block };
    let mut physical = Physical::open(net, plan, &wish)?;
    physical.emission.take().into_iter().for_each(|emission| notify(ShareNotice::Transmits(Box::new(emission))));
    let born = physical.start()?;
    let step = (f64::from(CLOCK.hz()) / rate_sps).round() as u64;
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    let settings = CoreSettings {
        born,
        // A whole number of wide samples: what loops back then has the samples that were sent.
        latency: Ticks(CLOCK.ticks_in(options.latency).0.next_multiple_of(step)),
        block,
        destinations: Destinations::allowing(options.allow.iter().copied()),
        software: physical.is_software(),
        utc_at_tick_0_s: now_s.saturating_sub(born.0 / u64::from(CLOCK.hz())),
        speed: physical.speed(),
    };
    let core = SharedFrontEnd::new(plan, &settings)?;
    let mut ports = Vec::new();
    for (radio, at) in plan.radios.iter().enumerate() {
        let Some(device) = core.device(radio) else { continue };
        let opened = HostPorts::open(options.engine, at.addr, device);
        ports.push(opened.map_err(|source| ShareError::Ports { addr: at.addr, source })?);
    }
    for radio in &plan.radios {
        notify(ShareNotice::Ready { name: radio.name.clone(), addr: radio.addr });
    }
    let mut sharing = Sharing {
        plan,
        physical,
        core,
        ports: AllPorts(ports),
        wide: vec![Complex32::default(); block].into(),
        told: vec![None; plan.radios.len()],
        tally: Tally::default(),
    };
    let begun = WallClock.now();
    sharing.run(notify, stop)?;
    Ok(sharing.report(WallClock.now() - begun, &settings, options.addr))
}

#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    samples: u64,
    lost_samples: u64,
    overflows: u64,
    moves: u64,
    waited: Duration,
}

struct Sharing<'a> {
    plan: &'a SharePlan,
    physical: Physical,
    core: SharedFrontEnd,
    ports: AllPorts,
    wide: Box<[Complex32]>,
    /// The band out of the front end's of which a person was told, of each radio.
    told: Vec<Option<Band>>,
    tally: Tally,
}

impl Sharing<'_> {
    fn run(&mut self, notify: &mut dyn FnMut(ShareNotice), stop: &Stop) -> Result<(), ShareError> {
        let (mut behind, mut looked) = (0, WallClock.now());
        while !stop.requested() {
            let asked = WallClock.now();
            let received = self.physical.recv(&mut self.wide, asked + LONGEST_WAIT)?;
            let got = WallClock.now();
            let waited = got - asked;
            self.tally.waited += waited;
            self.tally.samples += received.samples as u64;
            self.note(received.event);
            let samples = self.wide.get(..received.samples).unwrap_or_default();
            self.core.receive(received.first, samples)?;
            self.core.advance(&mut self.ports);
            behind = if waited < AT_ONCE { (behind + 1) % BEHIND } else { 0 };
            if behind == 0 {
                self.serve()?;
            }
            self.flush()?;
            self.transmit()?;
            if got - looked >= LOOK {
                looked = got;
                self.physical.look()?;
                self.follow(notify)?;
                self.tell(notify);
            }
        }
        Ok(())
    }

    fn note(&mut self, event: Option<RxEvent>) {
        match event {
            Some(RxEvent::Overflow { lost, .. }) => {
                self.tally.overflows += 1;
                self.tally.lost_samples += lost;
            }
            Some(RxEvent::Dropped { lost, .. }) => self.tally.lost_samples += lost,
            _ => {}
        }
    }

    fn serve(&mut self) -> Result<(), ShareError> {
        for (radio, ports) in self.ports.0.iter_mut().enumerate() {
            ports.serve(radio, &mut self.core).map_err(|source| lost(self.plan, radio, source))?;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), ShareError> {
        for (radio, ports) in self.ports.0.iter_mut().enumerate() {
            ports.flush().map_err(|source| lost(self.plan, radio, source))?;
        }
        Ok(())
    }

    fn transmit(&mut self) -> Result<(), ShareError> {
        let (physical, mut sent) = (&mut self.physical, Ok(()));
        self.core.transmit(&mut |burst| {
            if sent.is_ok() {
                sent = physical.send(burst);
            }
        });
        sent
    }

    /// Moves oscillator and gain as the policy says.
    fn follow(&mut self, notify: &mut dyn FnMut(ShareNotice)) -> Result<(), ShareError> {
        let Some(AnalogWish { centre_hz, gain_db, radio }) = self.core.wish() else { return Ok(()) };
        let gain_db = gain_db.filter(|gain_db| Some(*gain_db) != self.physical.gain_db());
        if centre_hz.is_none() && gain_db.is_none() {
            return Ok(());
        }
        let from = self.physical.set(centre_hz, gain_db)?;
        if let Some(centre_hz) = centre_hz {
            self.core.moved(from, centre_hz);
            self.tally.moves += 1;
            let by = radio.and_then(|radio| Some(self.plan.radios.get(radio)?.name.clone()));
            notify(ShareNotice::Moved { by, centre_hz });
        }
        Ok(())
    }

    fn tell(&mut self, notify: &mut dyn FnMut(ShareNotice)) {
        for (radio, (told, plan)) in self.told.iter_mut().zip(&self.plan.radios).enumerate() {
            let out = self.core.out_of_band(radio);
            if out != *told {
                *told = out;
                let wide = self.core.band();
                out.into_iter().for_each(|band| {
                    notify(ShareNotice::OutOfBand { name: plan.name.clone(), band, wide });
                });
            }
        }
    }

    fn report(&self, ran: Duration, settings: &CoreSettings, addr: IpAddr) -> ShareReport {
        let (tally, physical) = (self.tally, &self.physical.tally);
        let radios = self.core.report().into_iter().zip(&self.ports.0).map(|(shared, ports)| SharedRadioSummary {
            shared,
            datagrams: Datagrams::from(ports.counters()),
            unsent_datagrams: ports.unsent(),
        });
        ShareReport {
            duration_s: ran.as_secs_f64(),
            latency_us: CLOCK.ns_of(settings.latency) as f64 / 1e3,
            busy: 1.0 - (tally.waited.as_secs_f64() / ran.as_secs_f64().max(1e-9)).min(1.0),
            front_end: FrontEndReport {
                radio: self.physical.words(addr),
                band: self.core.band(),
                policy: self.plan.front_end.policy,
                moves: tally.moves,
                samples: tally.samples,
                lost_samples: tally.lost_samples,
                overflows: tally.overflows,
                sum: self.core.sum_report(),
                unsent_samples: physical.unsent_samples,
                underflows: physical.underflows,
                late: physical.late,
                sequence_errors: physical.sequence_errors,
            },
            radios: radios.collect(),
        }
    }
}

fn lost(plan: &SharePlan, radio: usize, source: takt_packet::EngineError) -> ShareError {
    let addr = plan.radios.get(radio).map_or(Ipv4Addr::UNSPECIFIED, |radio| radio.addr);
    ShareError::Ports { addr, source }
}
