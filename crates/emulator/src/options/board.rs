//! Names of daughterboards, and which radio can carry which.

use std::fmt;
use std::str::FromStr;

use serde::de::{self, IntoDeserializer};
use serde::{Deserialize, Serialize};

use crate::{n200, x310};

/// A pair of daughterboards; an X310 has two alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Board {
    /// N200: 400 to 4400 MHz.
    Sbx,
    /// N200: 50 to 2200 MHz.
    Wbx,
    /// X310: 10 to 6000 MHz.
    Ubx,
    /// The converters' own band.
    Basic,
    /// The same from 0 Hz.
    Lf,
    /// Nothing fitted.
    None,
}

/// Error in the name of a board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not a board; expected: sbx, wbx, ubx, basic, lf or none")]
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

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.serialize(f)
    }
}

impl Board {
    pub(crate) const ALL: [Board; 6] = [Board::Sbx, Board::Wbx, Board::Ubx, Board::Basic, Board::Lf, Board::None];

    /// As an N200 has it; `None`: it can't carry it.
    pub(crate) fn of_n200(self) -> Option<n200::Board> {
        Some(match self {
            Board::Sbx => n200::Board::Sbx,
            Board::Wbx => n200::Board::Wbx,
            Board::Basic => n200::Board::Basic,
            Board::Lf => n200::Board::Lf,
            Board::None => n200::Board::None,
            Board::Ubx => return None,
        })
    }

    /// As an X310 has it; `None`: it can't carry it.
    pub(crate) fn of_x310(self) -> Option<x310::Board> {
        Some(match self {
            Board::Ubx => x310::Board::Ubx,
            Board::Basic => x310::Board::Basic,
            Board::Lf => x310::Board::Lf,
            Board::None => x310::Board::None,
            Board::Sbx | Board::Wbx => return None,
        })
    }
}
