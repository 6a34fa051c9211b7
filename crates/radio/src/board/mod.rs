//! Daughterboards: what lies between the antenna and the converters.
//!
//! Pure: from what is wanted (frequency, gain, antenna) to the words that the motherboard writes. The words of an SBX and
//! a WBX are those that UHD was seen to write; none of them has been tried on hardware by us.

mod adf4350;
mod sbx;
mod wbx;

pub use adf4350::{OutOfRange, Synthesis, synthesise};

use takt_wire::n200::eeprom::board;

/// The daughterboards this driver knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum BoardKind {
    /// SBX v3: 400 to 4400 MHz.
    Sbx,
    /// WBX v2: 68.75 to 2200 MHz.
    Wbx,
    /// Basic RX and TX: the converters' own band.
    Basic,
    /// LFRX and LFTX: as Basic, from 0 Hz.
    Lf,
    /// None, or one without a driver: streams, but neither frequency nor gain.
    Unknown,
}

/// Direction of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// Receive.
    Rx,
    /// Transmit.
    Tx,
}

/// An interval of values.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Range {
    /// Lowest.
    pub low: f64,
    /// Highest.
    pub high: f64,
    /// From one to the next; 0 = continuous.
    pub step: f64,
}

impl Range {
    const fn new(low: f64, high: f64, step: f64) -> Range {
        Range { low, high, step }
    }

    /// Whether a value lies within.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}

/// State of one side of a board.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SideState {
    /// Place in [`BoardKind::antennas`].
    pub antenna: usize,
    /// Gain, dB, one of the range.
    pub gain_db: f64,
    /// Oscillator, Hz; 0 before the first tuning.
    pub lo_hz: f64,
    /// The synthesiser has been seen locked.
    pub locked: bool,
}

/// Output pins by run state: idle, receiving, transmitting, both. Receive board in bits 15:0, transmit board in 31:16.
pub type Pins = [u32; 4];

/// Run states of the pins, in the order of their registers.
pub(crate) const STATES: [(bool, bool); 4] = [(false, false), (true, false), (false, true), (true, true)];

impl BoardKind {
    /// The pair of boards with these EEPROM ids.
    #[must_use]
    pub fn of(rx: Option<u16>, tx: Option<u16>) -> BoardKind {
        match (rx, tx) {
            (Some(board::SBX_RX), Some(board::SBX_TX)) => BoardKind::Sbx,
            (Some(board::WBX_RX), Some(board::WBX_TX)) => BoardKind::Wbx,
            (Some(board::BASIC_RX), Some(board::BASIC_TX)) => BoardKind::Basic,
            (Some(board::LF_RX), Some(board::LF_TX)) => BoardKind::Lf,
            _ => BoardKind::Unknown,
        }
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            BoardKind::Sbx => "SBX",
            BoardKind::Wbx => "WBX",
            BoardKind::Basic => "Basic",
            BoardKind::Lf => "LF",
            BoardKind::Unknown => "unknown board",
        }
    }

    /// Antennas by name; the first is the one it starts with.
    #[must_use]
    pub fn antennas(self, side: Side) -> &'static [&'static str] {
        match (self, side) {
            (BoardKind::Sbx, Side::Rx) => &sbx::RX_ANTENNAS,
            (BoardKind::Sbx, Side::Tx) => &sbx::TX_ANTENNAS,
            (BoardKind::Wbx, Side::Rx) => &wbx::RX_ANTENNAS,
            (BoardKind::Wbx, Side::Tx) => &wbx::TX_ANTENNAS,
            _ => &[],
        }
    }

    /// Gains, dB.
    #[must_use]
    pub fn gains_db(self, side: Side) -> Option<Range> {
        match (self, side) {
            (BoardKind::Sbx, _) | (BoardKind::Wbx, Side::Rx) => Some(Range::new(0.0, 31.5, 0.5)),
            (BoardKind::Wbx, Side::Tx) => Some(Range::new(0.0, 25.0, 0.05)),
            _ => None,
        }
    }

    /// Frequencies it can be tuned to, Hz.
    #[must_use]
    pub fn frequencies_hz(self, side: Side) -> Option<Range> {
        match (self, side) {
            (BoardKind::Sbx, _) => Some(Range::new(400e6, 4400e6, 0.0)),
            (BoardKind::Wbx, _) => Some(Range::new(68.75e6, 2200e6, 0.0)),
            // The receive converter undersamples; the transmit one does not reach beyond its clock.
            (BoardKind::Basic, Side::Rx) => Some(Range::new(-250e6, 250e6, 0.0)),
            (BoardKind::Basic, Side::Tx) => Some(Range::new(-50e6, 50e6, 0.0)),
            (BoardKind::Lf, _) => Some(Range::new(-30e6, 30e6, 0.0)),
            (BoardKind::Unknown, _) => None,
        }
    }

    /// Width of the band around the oscillator that reaches the converters, Hz.
    #[must_use]
    pub fn bandwidth_hz(self) -> f64 {
        match self {
            BoardKind::Sbx | BoardKind::Wbx => 40e6,
            _ => 100e6,
        }
    }

    /// The synthesiser's words for an oscillator near `hz`, and the oscillator they give; `None`: the board has none.
    ///
    /// # Errors
    /// The synthesiser can't make it.
    pub fn oscillator(self, hz: f64) -> Result<Option<Synthesis>, OutOfRange> {
        match self {
            BoardKind::Sbx => synthesise(hz, REFERENCE_HZ).map(Some),
            // It runs at twice the oscillator, and is divided into quadrature.
            BoardKind::Wbx => {
                let double = synthesise(2.0 * hz, REFERENCE_HZ)?;
                Ok(Some(Synthesis { actual_hz: double.actual_hz / 2.0, ..double }))
            }
            _ => Ok(None),
        }
    }

    /// Output pins.
    #[must_use]
    pub fn pins(self, rx: &SideState, tx: &SideState) -> Pins {
        match self {
            BoardKind::Sbx => sbx::pins(rx, tx),
            BoardKind::Wbx => wbx::pins(rx, tx),
            _ => [0; 4],
        }
    }

    /// Which pins are outputs.
    #[must_use]
    pub fn directions(self) -> u32 {
        match self {
            BoardKind::Sbx => sbx::DIRECTIONS,
            BoardKind::Wbx => wbx::DIRECTIONS,
            _ => 0,
        }
    }

    /// The transmit multiplexer: which converter plays I and Q.
    #[must_use]
    pub fn tx_mux(self) -> u32 {
        match self {
            BoardKind::Sbx => 0x01, // wired Q, I
            _ => 0x10,
        }
    }

    /// The word for the transmit board's auxiliary converter that sets a gain, where that is how it is set.
    #[must_use]
    pub fn tx_gain_word(self, gain_db: f64) -> Option<u32> {
        (self == BoardKind::Wbx).then(|| wbx::tx_gain_word(gain_db))
    }

    /// Whether it has a synthesiser that says when it is locked.
    #[must_use]
    pub fn has_oscillator(self) -> bool {
        matches!(self, BoardKind::Sbx | BoardKind::Wbx)
    }
}

/// Clock that the motherboard gives the synthesisers.
const REFERENCE_HZ: f64 = 100e6;

impl SideState {
    /// As after power-up.
    pub(crate) const INITIAL: SideState = SideState { antenna: 0, gain_db: 0.0, lo_hz: 0.0, locked: false };

    /// The attenuator's six bits: half decibels of gain.
    fn gain_bits(&self) -> u32 {
        ((self.gain_db * 2.0).round() as u32 & 63) << 8
    }
}
