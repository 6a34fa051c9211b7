//! Sharing on this host: one thread streams, and the calling one attends to people and to the control socket.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use takt_base::{Stop, Ticks};
use takt_emulator::n200::CLOCK;
use takt_emulator::policy::{Cidr, Destinations};
use takt_host::placement::{Placement, PlacementError};
use takt_live::Board;
use takt_live::tap::{TapWriter, tap};
use takt_packet::EngineKind;
use takt_radio::calibration::{AppliedTable, CalibrationUse};
use takt_radio::n200::Emission;
use takt_radio::{Net, RadioError, WallNet};

use crate::Band;
use crate::attend::{Attendant, Live};
use crate::cost::{Admission, HostMeter};
use crate::error::ShareError;
use crate::file::SharePlan;
use crate::front_end::{CoreSettings, SharedFrontEnd};
use crate::handover::{Note, StreamingEnd, handover};
use crate::physical::{Physical, PhysicalWish};
use crate::ports::HostPorts;
use crate::report::ShareReport;
use crate::streaming::Streaming;

/// Longest block, samples: 1 ms at 25 MS/s.
const MOST_BLOCK: usize = 25_000;
/// How often the attending thread looks: at notes, at the control socket, whether the other has ended.
const LOOK: Duration = Duration::from_millis(10);

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
    /// Files of corrections that its front end is tuned by.
    pub calibration: CalibrationUse,
    /// Length of the blocks in which received samples are handled.
    pub block: Duration,
    /// Delay of every sample sent.
    pub latency: Duration,
    /// Networks beside loopback to which the radios may send.
    pub allow: Vec<Cidr>,
    /// Cores that front end and radios may need.
    pub cores: f64,
    /// Place and policy of the streaming thread.
    pub placement: Placement,
    /// Open a control socket for `takt share status`, `add` and `remove`.
    pub control: bool,
    /// The board of who watches; `None`: nobody may.
    pub watched: Option<Board>,
}

/// A report while it runs.
#[derive(Clone, Debug, PartialEq)]
pub enum ShareNotice {
    /// Cores that the front end and the radios need, these at their highest rates, as measured.
    Cost {
        /// Cores of this host.
        cores: f64,
    },
    /// The front end is hardware, and transmits.
    Transmits(Box<Emission>),
    /// Files of corrections that the front end is tuned by, or that were found and can't be.
    Calibrated(Vec<AppliedTable>),
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
    /// A radio was removed.
    Removed {
        /// Its name.
        name: String,
    },
    /// takt's own driver can't ask how fast the radios' time passes: their ports for that can't be had.
    NoLagPorts {
        /// Why.
        why: String,
    },
    /// Nobody can ask this share: it has no control socket.
    NoControl {
        /// Why.
        why: String,
    },
}

/// Shares a radio until `stop` is requested.
///
/// # Errors
/// The plan does not fit, the radio can't be had or is gone, an address is taken, the thread can't be placed.
pub fn run(
    plan: &SharePlan,
    options: &ShareOptions,
    notify: &mut dyn FnMut(ShareNotice),
    stop: &Stop,
) -> Result<ShareReport, ShareError> {
    if let Some(own) = plan.radios.iter().find(|radio| IpAddr::V4(radio.addr) == options.addr) {
        return Err(ShareError::OwnAddress { name: own.name.clone(), addr: own.addr });
    }
    options.placement.attempt().map_err(RadioError::Placement)?;
    let (streaming, attending) = handover();
    let (tap, look) = tap();
    let attendant = Attendant::new(plan, options, attending, look);
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("takt-share".to_owned());
        let streams = || stream(plan, options, (streaming, tap), stop);
        let failed = |source| RadioError::Placement(PlacementError::Thread(source));
        let thread = thread.spawn_scoped(scope, streams).map_err(failed)?;
        let mut attendant = attendant;
        while !thread.is_finished() {
            attendant.attend(notify);
            thread::sleep(LOOK);
        }
        let report = thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        attendant.tell(notify);
        report.map(|report| attendant.ended(report))
    })
}

/// The streaming thread, from the opening of the radio to the report.
fn stream(
    plan: &SharePlan,
    options: &ShareOptions,
    (end, tap): (StreamingEnd, TapWriter),
    stop: &Stop,
) -> Result<ShareReport, ShareError> {
    options.placement.place_self().map_err(RadioError::Placement)?;
    let rate_sps = plan.front_end.rate_sps;
    let block = ((options.block.as_secs_f64() * rate_sps).round() as usize).clamp(16, MOST_BLOCK);
    let net: Arc<dyn Net> = Arc::new(WallNet::new(options.engine));
    let ShareOptions { addr, transmit, force, calibration, .. } = *options;
    let wish = PhysicalWish { addr, transmit, force, calibration, block };
    let mut physical = Physical::open(net, plan, &wish)?;
    let meter = HostMeter::new(options.engine)?;
    let mut admission = Admission::new(options.block, options.cores, physical.speed().seconds(), meter);
    let cores = admission.begin(plan)?;
    physical.emission.take().into_iter().for_each(|emission| {
        end.note(Note::Transmits(Box::new(emission)));
    });
    let tables = physical.calibration();
    if !tables.is_empty() {
        end.note(Note::Calibrated(tables));
    }
    let settings = settings(options, rate_sps, block, &mut physical)?;
    let core = SharedFrontEnd::new(plan, &settings)?;
    let live = Live {
        maker: core.maker(),
        shared: core.band_plan().cloned(),
        sends: core.send_plan().cloned(),
        radio: physical.words(options.addr),
        latency_us: CLOCK.ns_of(settings.latency) as f64 / 1e3,
        admission,
        cores,
    };
    let (radio, latency_us) = (live.radio.clone(), live.latency_us);
    let mut streaming = Streaming::new(physical, core, block, (end, tap));
    streaming.open_ports(plan, options.engine)?;
    streaming.live(live);
    streaming.run(stop)?;
    let ran = streaming.ran();
    let waited_s = streaming.tally.waited.as_secs_f64();
    Ok(ShareReport {
        duration_s: ran.as_secs_f64(),
        latency_us,
        busy: 1.0 - (waited_s / ran.as_secs_f64().max(1e-9)).min(1.0),
        front_end: streaming.front_end_report(radio, plan.front_end.policy),
        radios: streaming.radio_reports(),
    })
}

fn settings(
    options: &ShareOptions,
    rate_sps: f64,
    block: usize,
    physical: &mut Physical,
) -> Result<CoreSettings, ShareError> {
    let born = physical.start()?;
    let step = (f64::from(CLOCK.hz()) / rate_sps).round() as u64;
    let now_s = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    Ok(CoreSettings {
        born,
        // A whole number of wide samples: what loops back then has the samples that were sent.
        latency: Ticks(CLOCK.ticks_in(options.latency).0.next_multiple_of(step)),
        block,
        destinations: Destinations::allowing(options.allow.iter().copied()),
        software: physical.is_software(),
        utc_at_tick_0_s: now_s.saturating_sub(born.0 / u64::from(CLOCK.hz())),
        speed: physical.speed(),
    })
}

impl Streaming {
    fn open_ports(&mut self, plan: &SharePlan, engine: EngineKind) -> Result<(), ShareError> {
        for (number, radio) in plan.radios.iter().enumerate() {
            let Some(device) = self.core.device(number) else { continue };
            let ports = HostPorts::open(engine, radio.addr, device)?;
            let _none_before = self.ports.put(number, Some(Box::new(ports)));
        }
        Ok(())
    }
}
