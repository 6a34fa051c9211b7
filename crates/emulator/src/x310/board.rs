//! Daughterboards of an X310.

use std::str::FromStr;

use serde::de::{self, IntoDeserializer};
use serde::{Deserialize, Serialize};
use takt_wire::n200::eeprom::board;
use takt_wire::x310::eeprom::board as wide;

/// Which daughterboards are fitted, alike in both slots.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Board {
    /// UBX-160 v2: 10 to 6000 MHz, one channel each way.
    #[default]
    Ubx,
    /// Basic RX and TX: the converters' own band, two receive channels and one to transmit.
    Basic,
    /// LFRX and LFTX: as Basic, from 0 Hz.
    Lf,
    /// Nothing fitted: hosts see unknown boards, and can stream.
    None,
}

/// Error in the name of a board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not a board; expected: ubx, basic, lf or none")]
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
    /// The ids of its halves, receive and transmit.
    pub(super) fn ids(self) -> Option<[u16; 2]> {
        match self {
            Board::Ubx => Some([wide::UBX_RX, wide::UBX_TX]),
            Board::Basic => Some([board::BASIC_RX, board::BASIC_TX]),
            Board::Lf => Some([board::LF_RX, board::LF_TX]),
            Board::None => None,
        }
    }

    /// State of its input pins: a UBX's oscillators are locked (x310.md 8.3).
    pub(super) fn pins(self) -> u32 {
        if self == Board::Ubx { u32::MAX } else { 0 }
    }
}
