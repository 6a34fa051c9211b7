//! The driver of an X310.
//!
//! ```text
//!  X310 ── Firmware ── 49152  versions, EEPROM, clocks, time
//!    │  ├─ Registers ─ 49153  CHDR: the graph, registers of blocks
//!    ├─ Claim ──────── 49152  "I am here" every second, on a thread of its own
//!    ├─ RxStreamer ─── 49153  samples in, credit out; commands over registers of its own
//!    └─ TxStreamer ─── 49153  samples out, credit and messages in
//! ```
//!
//! Each channel of a stream is a port of this host with an endpoint id of its own. The streamers handle samples as for
//! an N200, in `rx` and `tx` of this crate.
//!
//! The driver sets up what takt's software radio has. A real X310 needs its clock chip, converters and daughterboards
//! programmed before; this driver does none of that, and so refuses any other radio than takt's own.

mod claim;
mod credit;
pub(crate) mod firmware;
mod frame;
mod graph;
mod identity;
mod lane;
mod line;
mod master_clock;
mod open;
mod rx;
mod silence;
mod time;
mod tx;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use takt_base::{Speed, TickRate};
use takt_wire::x310::ports;
use takt_wire::x310::rate::Factor;

pub(crate) use claim::owner;
pub use identity::Identity;
pub(crate) use identity::identify;
pub use master_clock::MasterClock;
pub use open::OpenOptions;

use self::firmware::Firmware;
use self::graph::{Channel, Endpoint, Network};
use self::line::Registers;
use crate::anchor::Anchor;
use crate::claim::Claim;
use crate::{Net, RadioError};

/// The master clock, unless another one is requested.
pub const CLOCK: TickRate = MasterClock::Mhz200.rate();

/// Endpoint ids: of this host's control, of the radio's, and the first of a stream.
const HOST_CONTROL: u16 = 1;
const RADIO_CONTROL: u16 = 2;
const FIRST_STREAM: u16 = 3;

/// A radio that this program owns.
pub struct X310 {
    addr: IpAddr,
    net: Arc<dyn Net>,
    firmware: Firmware,
    registers: Registers,
    claim: Arc<Claim>,
    anchor: Arc<Anchor>,
    /// As it said when it was opened.
    speed: Option<Speed>,
    identity: Identity,
    clock: MasterClock,
    frame_bytes: usize,
    network: Network,
    channels: Vec<Channel>,
    /// Ids of the radio's endpoints that have one, by instance.
    endpoint_ids: Vec<(u16, u16)>,
    next_id: u16,
}

impl X310 {
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

    /// The master clock that was set.
    #[must_use]
    pub fn clock(&self) -> TickRate {
        self.clock.rate()
    }

    /// The same clock, as one of those that takt sets.
    #[must_use]
    pub fn master_clock(&self) -> MasterClock {
        self.clock
    }

    /// How fast its time passes beside this host's, as it said when it was opened; `None`: it did not say.
    #[must_use]
    pub fn speed(&self) -> Option<Speed> {
        self.speed
    }

    /// Asks it again: `takt emulate --speed auto` changes its mind.
    #[must_use]
    pub fn ask_speed(&self) -> Option<Speed> {
        self.speed.and_then(|_| self.net.speed_of(self.addr))
    }

    /// The wall's, unless it says something else.
    fn seen_speed(&self) -> Speed {
        self.speed.unwrap_or_default()
    }

    /// Largest datagram, as the path was found to carry it.
    #[must_use]
    pub fn frame_bytes(&self) -> usize {
        self.frame_bytes
    }

    /// Channels, each way: one a daughterboard.
    #[must_use]
    pub fn channels(&self) -> usize {
        self.channels.len()
    }

    /// The net it is reached by.
    #[must_use]
    pub fn net(&self) -> &Arc<dyn Net> {
        &self.net
    }

    /// Requests that were repeated since nobody answered.
    #[must_use]
    pub fn repeats(&self) -> u64 {
        self.firmware.retries() + self.registers.retries
    }

    /// Whether the radio is still there and still this program's. Costs nothing; what it reports was found by the keeper, at
    /// most a second ago.
    ///
    /// # Errors
    /// `TakenOver`, `Restarted`, `Gone`.
    pub fn check(&self) -> Result<(), RadioError> {
        self.claim.touch(self.net.now());
        self.claim.check()
    }

    fn peer(&self) -> SocketAddr {
        SocketAddr::new(self.addr, ports::CHDR)
    }

    /// An endpoint by its instance.
    fn endpoint(&self, instance: u16) -> Result<Endpoint, RadioError> {
        let unknown = || RadioError::Answer { addr: self.peer(), what: "what endpoints it has" };
        self.network.endpoint(instance).ok_or_else(unknown)
    }

    /// An endpoint id that nobody has.
    fn new_id(&mut self) -> u16 {
        self.next_id = self.next_id.wrapping_add(1).max(FIRST_STREAM);
        self.next_id
    }

    /// The channels by number, each once.
    ///
    /// # Errors
    /// `Range` for one that it has not, or none.
    fn channels_of(&self, wanted: &[u8], what: &'static str) -> Result<Vec<Channel>, RadioError> {
        let high = self.channels.len();
        let out_of_range = |got: f64, low: f64, high: usize| RadioError::Range { what, got, low, high: high as f64 };
        if wanted.is_empty() || wanted.len() > high {
            return Err(out_of_range(wanted.len() as f64, 1.0, high));
        }
        let twice = |n: usize| wanted[..n].contains(&wanted[n]);
        (0..wanted.len())
            .map(|n| {
                let channel = self.channels.get(usize::from(wanted[n])).filter(|_| !twice(n));
                channel.copied().ok_or_else(|| out_of_range(wanted[n].into(), 0.0, high - 1))
            })
            .collect()
    }
}

/// The factor of exactly this rate, by whichever master clock makes it.
///
/// # Errors
/// `Rate`, with the nearest rates of the usual clock.
pub fn exact_rate(rate_sps: f64) -> Result<(MasterClock, Factor), RadioError> {
    MasterClock::making(rate_sps)
        .map_or_else(|| MasterClock::default().exact_rate(rate_sps).map(|factor| (MasterClock::default(), factor)), Ok)
}
