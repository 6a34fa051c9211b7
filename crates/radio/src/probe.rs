//! A radio described: what it is, what it can do, what its sensors say.

use std::net::IpAddr;
use std::time::Duration;

use takt_base::Speed;
use takt_wire::n200::MASTER_CLOCK_HZ;
use takt_wire::n200::rate::Factor;
use takt_wire::x310::rate::Factor as WideFactor;

use crate::RadioError;
use crate::board::{BoardKind, Range, Side};
use crate::n200::{FrameBytes, GpsReport, Identity, N200};
use crate::x310::{self, X310};

/// How long a GPSDO is listened to: it says everything once a second.
const GPS_LISTEN: Duration = Duration::from_millis(1200);

/// A radio described.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Probe {
    pub addr: IpAddr,
    #[serde(flatten)]
    pub identity: Identity,
    /// Largest datagrams that the path carries.
    pub frame_bytes: FrameBytes,
    pub rates: Rates,
    /// The daughterboards.
    pub board: BoardKind,
    pub rx: SideReport,
    pub tx: SideReport,
    pub time: Time,
    /// Seconds of the radio in a second of this host; `None`: hardware, which does not say.
    pub radio_speed: Option<f64>,
    /// The master clock follows its reference.
    pub reference_locked: bool,
    /// Another radio is there at the MIMO cable.
    pub mimo_link: bool,
    /// Its GPSDO, if there is one.
    pub gps: Option<GpsReport>,
}

/// Sample rates.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Rates {
    /// The clock that all of them divide, Hz.
    pub master_clock_hz: u32,
    /// Lowest, samples a second.
    pub lowest_sps: f64,
    /// Highest.
    pub highest_sps: f64,
    /// How many there are.
    pub count: usize,
}

/// One side of the front end.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct SideReport {
    /// DSPs.
    pub channels: usize,
    /// Antennas by name, the first is the one it starts with.
    pub antennas: &'static [&'static str],
    /// Frequencies, Hz.
    pub frequency_hz: Option<Range>,
    /// Gains, dB.
    pub gain_db: Option<Range>,
    /// Width of the analogue band, Hz.
    pub bandwidth_hz: f64,
    /// Its oscillator is locked; `None` = it has none.
    pub lo_locked: Option<bool>,
}

/// A radio's clock.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Time {
    /// Now, ticks of the master clock.
    pub now_ticks: u64,
    /// At the last PPS edge.
    pub last_pps_ticks: u64,
}

/// Describes a radio that has been opened. With a GPSDO, or where its absence is not known, this takes about a second of the radio.
/// Fails if the radio does not answer.
pub fn probe(radio: &mut N200) -> Result<Probe, RadioError> {
    let now = radio.time()?;
    Ok(Probe {
        addr: radio.addr(),
        identity: radio.identity().clone(),
        frame_bytes: radio.frame_bytes(),
        rates: Rates {
            master_clock_hz: MASTER_CLOCK_HZ,
            lowest_sps: Factor::MAX.rate_sps(),
            highest_sps: Factor::MIN.rate_sps(),
            count: Factor::all().count(),
        },
        board: radio.board(),
        rx: side(radio, Side::Rx)?,
        tx: side(radio, Side::Tx)?,
        time: Time { now_ticks: now.0, last_pps_ticks: radio.time_at_last_pps()?.0 },
        radio_speed: radio.speed().map(Speed::seconds),
        reference_locked: radio.reference_locked()?,
        mimo_link: radio.mimo_link()?,
        gps: radio.gps(radio.speed().unwrap_or_default().patience(GPS_LISTEN))?,
    })
}

/// An X310 described.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct X310Probe {
    pub addr: IpAddr,
    #[serde(flatten)]
    pub identity: x310::Identity,
    /// Largest datagrams that the path carries.
    pub frame_bytes: FrameBytes,
    pub rates: Rates,
    /// Each way.
    pub channels: usize,
    pub time: Time,
    /// Seconds of the radio in a second of this host; `None`: it does not say.
    pub radio_speed: Option<f64>,
}

/// Describes an X310 that has been opened. Fails if the radio does not answer.
pub fn probe_x310(radio: &mut X310) -> Result<X310Probe, RadioError> {
    let now = radio.time()?;
    let clock_hz = f64::from(radio.clock().hz());
    let frame_bytes = FrameBytes { receive: radio.frame_bytes(), send: radio.frame_bytes() };
    Ok(X310Probe {
        addr: radio.addr(),
        identity: radio.identity().clone(),
        frame_bytes,
        rates: Rates {
            master_clock_hz: radio.clock().hz(),
            lowest_sps: WideFactor::MAX.rate_sps(clock_hz),
            highest_sps: WideFactor::MIN.rate_sps(clock_hz),
            count: WideFactor::all().count(),
        },
        channels: radio.channels(),
        time: Time { now_ticks: now.0, last_pps_ticks: radio.time_at_last_pps()?.0 },
        radio_speed: radio.speed().map(Speed::seconds),
    })
}

fn side(radio: &mut N200, side: Side) -> Result<SideReport, RadioError> {
    let board = radio.board();
    Ok(SideReport {
        channels: if side == Side::Rx { 2 } else { 1 },
        antennas: board.antennas(side),
        frequency_hz: board.frequencies_hz(side),
        gain_db: board.gains_db(side),
        bandwidth_hz: board.bandwidth_hz(),
        lo_locked: radio.lo_locked(side)?,
    })
}
