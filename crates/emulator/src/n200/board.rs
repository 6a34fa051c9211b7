//! The daughterboards an emulated N200 can carry, and what differs between them.

use std::str::FromStr;

use serde::de::{self, IntoDeserializer};
use serde::{Deserialize, Serialize};
use takt_wire::WireError;
use takt_wire::n200::eeprom::{Daughterboard, Text, board};

/// Which pair of daughterboards is fitted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Board {
    /// SBX v3: 400 to 4400 MHz, synthesisers with lock detection, attenuators. The best choice.
    #[default]
    Sbx,
    /// WBX v2: 50 to 2200 MHz.
    Wbx,
    /// Basic RX and TX: no oscillator, the converters' own band.
    Basic,
    /// LFRX and LFTX: as Basic, from 0 Hz.
    Lf,
    /// Nothing fitted: hosts see unknown boards without gain or frequency. Streaming works.
    None,
}

/// Error in the name of a board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not a board; expected: sbx, wbx, basic, lf or none")]
pub struct BoardError {
    pub got: String,
}

impl FromStr for Board {
    type Err = BoardError;
    fn from_str(text: &str) -> Result<Board, BoardError> {
        let board = Board::deserialize(text.into_deserializer());
        board.map_err(|_: de::value::Error| BoardError { got: text.to_owned() })
    }
}

impl Board {
    /// The ids of its halves, transmit and receive.
    pub(super) fn ids(self) -> Option<[u16; 2]> {
        match self {
            Board::Sbx => Some([board::SBX_TX, board::SBX_RX]),
            Board::Wbx => Some([board::WBX_TX, board::WBX_RX]),
            Board::Basic => Some([board::BASIC_TX, board::BASIC_RX]),
            Board::Lf => Some([board::LF_TX, board::LF_RX]),
            Board::None => None,
        }
    }

    /// EEPROM contents of its halves, transmit and receive.
    pub(super) fn eeproms(self, serial: &str) -> Result<Option<[Daughterboard; 2]>, WireError> {
        let serial = Text::new(serial)?;
        Ok(self.ids().map(|ids| ids.map(|id| Daughterboard { id, revision: 0, serial })))
    }

    /// Oscillator over synthesiser frequency: a WBX halves it for quadrature. `None`: no oscillator.
    pub(super) fn oscillator_ratio(self) -> Option<f64> {
        match self {
            Board::Sbx => Some(1.0),
            Board::Wbx => Some(0.5),
            Board::Basic | Board::Lf | Board::None => None,
        }
    }

    /// Whether the transmit board takes I from DAC Q and Q from DAC I, which the host undoes with the TX mux.
    pub(super) fn tx_crossed(self) -> bool {
        self == Board::Sbx
    }

    /// Gain on pins 13:8, half a decibel a step.
    pub(super) fn has_gain(self) -> bool {
        self == Board::Sbx
    }

    /// The receive pin that is low, while both ways run, only where the receiver is connected to the calibration port: LNASW of an
    /// SBX, the antenna switch of a WBX. `None`: the board has no such port.
    pub(super) fn receives_antenna(self) -> Option<u32> {
        match self {
            Board::Sbx => Some(1 << 14),
            Board::Wbx => Some(1 << 15),
            Board::Basic | Board::Lf | Board::None => None,
        }
    }
}
