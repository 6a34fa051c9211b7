//! The driver of an N200 or N210.
//!
//! ```text
//!  N200 ── Control ── 49152   EEPROMs, firmware cells, slow-path registers
//!    │  └─ Fifo ───── 49159   settings, timed settings, readback
//!    ├─ Claim ──────── 49152   "I am here" every 1.5 s, on a thread of its own
//!    ├─ RxStreamer ── 49156/8 samples in;  49152 stream commands
//!    └─ TxStreamer ── 49157   samples out, flow control and reports in
//! ```
//!
//! Each part has its own socket and shares no lock with the others while samples flow, so streamers may move to other
//! threads. Dropping the [`N200`] ends their streams: it switches the front end off.

mod claim;
pub(crate) mod control;
mod correction;
mod emission;
mod fifo;
mod frame;
mod front_end;
mod gpsdo;
mod hardware;
mod identity;
mod open;
mod rx;
mod time;
mod tx;

use std::net::IpAddr;
use std::sync::Arc;

use takt_base::{Speed, TickRate};
use takt_packet::{Engine, PortIndex, Wait};
use takt_wire::n200::rate::Factor;
use takt_wire::n200::{Destination, MASTER_CLOCK_HZ};

pub(crate) use claim::other_owner;
pub use emission::{ALLOW_TRANSMIT, Emission, TxWish};
pub use frame::FrameBytes;
pub use gpsdo::GpsReport;
pub use hardware::{ClockSource, TimeSource};
pub(crate) use identity::identify;
pub use identity::{BoardIdentity, Identity};
pub use open::OpenOptions;

use self::control::Control;
use self::fifo::Fifo;
use crate::anchor::Anchor;
use crate::board::{BoardKind, SideState};
use crate::calibration::AppliedCalibration;
use crate::claim::Claim;
pub use crate::clock::ClockReading;
pub use crate::rx::{RxOptions, RxStats, RxStreamer};
pub use crate::tx::{TxOptions, TxStats, TxStreamer};
use crate::{Net, RadioError};

/// The master clock of an N200.
pub const CLOCK: TickRate = TickRate::from_hz(MASTER_CLOCK_HZ).expect("a clock of 100 MHz");

/// A radio that this program owns.
pub struct N200 {
    addr: IpAddr,
    net: Arc<dyn Net>,
    control: Control,
    fifo: Fifo,
    claim: Arc<Claim>,
    anchor: Arc<Anchor>,
    /// As it said when it was opened.
    speed: Option<Speed>,
    identity: Identity,
    frame_bytes: FrameBytes,
    /// Rates of the receive DSPs, for where the tuner puts the oscillator.
    rx_rate_sps: [f64; 2],
    tx_rate_sps: f64,
    board: BoardKind,
    rx_side: SideState,
    tx_side: SideState,
    /// Radio frequency of 0 Hz of what it is sent.
    tx_hz: f64,
    /// Correction of its front end when it is tuned.
    calibration: AppliedCalibration,
    /// The user has stated that it may transmit.
    transmit: bool,
}

impl N200 {
    /// Its address.
    #[must_use]
    pub fn addr(&self) -> IpAddr {
        self.addr
    }

    /// Which radio it is.
    #[must_use]
    pub fn identity(&self) -> &Identity {
        &self.identity
    }

    /// How fast its time passes beside this host's, as it said when it was opened; `None`: hardware, which does not
    /// say. Hardware runs at [`Speed::WALL`].
    #[must_use]
    pub fn speed(&self) -> Option<Speed> {
        self.speed
    }

    /// Asks it again: `takt emulate --speed auto` changes its mind.
    #[must_use]
    pub fn ask_speed(&self) -> Option<Speed> {
        self.speed.and_then(|_| self.net.speed_of(self.addr))
    }

    /// Largest datagrams, as the path was found to carry them.
    #[must_use]
    pub fn frame_bytes(&self) -> FrameBytes {
        self.frame_bytes
    }

    /// The net it is reached by.
    #[must_use]
    pub fn net(&self) -> &Arc<dyn Net> {
        &self.net
    }

    /// Commands that were repeated since nobody answered, or no ack came.
    #[must_use]
    pub fn repeats(&self) -> u64 {
        self.control.retries() + self.fifo.repeats()
    }

    /// Whether the radio is still there and still this program's. Costs nothing; what it reports was found by the keeper,
    /// at most 1.5 s ago.
    ///
    /// # Errors
    /// `TakenOver`, `Restarted`, `Gone`.
    pub fn check(&self) -> Result<(), RadioError> {
        self.claim.touch(self.net.now());
        self.claim.check()
    }
}

/// The factor that gives exactly this rate.
///
/// # Errors
/// `Rate`, with the nearest rates there are.
pub fn exact_rate(rate_sps: f64) -> Result<Factor, RadioError> {
    Factor::exact(rate_sps).ok_or_else(|| {
        let [below, above] = Factor::around(rate_sps);
        let below = below.or(above).unwrap_or(Factor::MAX).rate_sps();
        let above = above.map_or(below, Factor::rate_sps);
        RadioError::Rate { requested_sps: rate_sps, clock_hz: MASTER_CLOCK_HZ, nearest_sps: [below, above] }
    })
}

/// Tells a data port of the device to send to this engine; one packet for each of the engine's ports.
fn announce(engine: &mut dyn Engine, ports: usize, net: &dyn Net) -> Result<(), RadioError> {
    let mut batch = engine.reserve(ports);
    for port in 0..ports {
        batch.push(PortIndex(port as u8), None, |frame| Destination::Sender.write(frame).unwrap_or(0));
    }
    batch.send(Wait::Until(net.now() + std::time::Duration::from_millis(100)))?;
    Ok(())
}
