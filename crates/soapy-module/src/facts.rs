//! A side of a radio, as SoapySDR asks for it.

use takt_radio::Radio;
use takt_radio::board::{Range, Side};
use takt_wire::n200::rate::Factor;
use takt_wire::x310::rate::Factor as WideFactor;

/// Facts of one side of a radio.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SideFacts {
    /// Its channels.
    pub channels: usize,
    /// Frequencies, Hz; `None`: takt does not tune it.
    pub frequency_hz: Option<Range>,
    /// Gains, dB; `None`: takt sets none.
    pub gain_db: Option<Range>,
    /// Width of the analogue band, Hz; `None`: takt does not know it.
    pub bandwidth_hz: Option<f64>,
    /// Antennas by name, the first is the one it starts with.
    pub antennas: &'static [&'static str],
}

pub(crate) fn side(radio: &Radio, side: Side) -> SideFacts {
    match radio {
        Radio::N200(radio) => {
            let board = radio.board();
            SideFacts {
                channels: if side == Side::Rx { 2 } else { 1 },
                frequency_hz: board.frequencies_hz(side),
                gain_db: board.gains_db(side),
                bandwidth_hz: board.frequencies_hz(side).map(|_| board.bandwidth_hz()),
                antennas: board.antennas(side),
            }
        }
        Radio::X310(radio) => SideFacts {
            channels: radio.channels(),
            frequency_hz: None,
            gain_db: None,
            bandwidth_hz: None,
            antennas: &[],
        },
    }
}

/// All rates, the lowest first, samples a second.
pub(crate) fn rates_sps(radio: &Radio) -> Vec<f64> {
    let mut rates: Vec<f64> = match radio {
        Radio::N200(_) => Factor::all().map(Factor::rate_sps).collect(),
        Radio::X310(radio) => {
            let clock_hz = f64::from(radio.clock().hz());
            WideFactor::all().map(|factor| factor.rate_sps(clock_hz)).collect()
        }
    };
    rates.sort_by(f64::total_cmp);
    rates
}
