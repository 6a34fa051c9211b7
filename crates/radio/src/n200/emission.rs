//! Emission at a radio's connector when it is sent samples, and whether it may.
//!
//! A software radio of takt's own may be sent anything. Every other is sent nothing before the user has stated so
//! ([`OpenOptions::transmit`](super::OpenOptions)): [`N200::tx_streamer`] refuses, so that no program can forget to ask.

use std::fmt;
use std::net::IpAddr;

use super::front_end::first_hz;
use super::{Identity, N200};
use crate::RadioError;
use crate::board::{BoardKind, Side};

/// How a user states that a radio may transmit, and what to do before.
pub const ALLOW_TRANSMIT: &str =
    "put an attenuator or a dummy load on the connector, unless you may use the frequency; then add --transmit";

/// Emission of a radio.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Emission {
    /// Which radio: `N200r4 serial F5A1B2 at 192.168.10.2`.
    pub radio: String,
    /// Its daughterboards.
    pub boards: String,
    /// Radio frequency of 0 Hz; `None`: takt has no model of the boards.
    pub frequency_hz: Option<f64>,
    /// Gain, dB; `None`: the boards have none, or takt has no model of them.
    pub gain_db: Option<f64>,
    /// Connector; `None`: the boards have no choice, or takt has no model of them.
    pub antenna: Option<String>,
}

/// Settings of the transmit side that are about to be made; `None`: it stays as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TxWish<'a> {
    /// Radio frequency of 0 Hz.
    pub frequency_hz: Option<f64>,
    /// Gain, dB.
    pub gain_db: Option<f64>,
    /// Connector, by name.
    pub antenna: Option<&'a str>,
}

impl Emission {
    /// Emission of a radio as [`N200::open`] leaves it.
    #[must_use]
    pub fn as_opened(addr: IpAddr, identity: &Identity) -> Emission {
        let board = BoardKind::of(identity.rx_board.id, identity.tx_board.id);
        Emission {
            radio: format!("{} at {addr}", identity.words()),
            boards: identity.boards(),
            frequency_hz: board.frequencies_hz(Side::Tx).map(|_| first_hz(board).unwrap_or(0.0)),
            gain_db: board.gains_db(Side::Tx).map(|range| range.low),
            antenna: board.antennas(Side::Tx).first().map(|&name| name.to_owned()),
        }
    }
}

impl fmt::Display for Emission {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.frequency_hz {
            Some(hz) => write!(f, "at {} MHz", hz.round() / 1e6)?,
            None => write!(f, "at a frequency that takt does not know")?,
        }
        match self.gain_db {
            Some(gain_db) => write!(f, ", gain {gain_db} dB")?,
            None => write!(f, ", gain not set by takt")?,
        }
        match &self.antenna {
            Some(antenna) => write!(f, ", antenna {antenna}")?,
            None => write!(f, ", antenna not chosen by takt")?,
        }
        write!(f, "; boards: {}", self.boards)
    }
}

impl N200 {
    /// Its emission once `wish` is set; `None` for a software radio of takt's own, which has no antenna.
    ///
    /// # Errors
    /// `Transmit` for any other radio that was opened without [`OpenOptions::transmit`](super::OpenOptions).
    pub fn may_transmit(&self, wish: TxWish<'_>) -> Result<Option<Emission>, RadioError> {
        if self.identity.software {
            return Ok(None);
        }
        let emission = self.emission(wish);
        if self.transmit { Ok(Some(emission)) } else { Err(RadioError::Transmit { emission: Box::new(emission) }) }
    }

    fn emission(&self, wish: TxWish<'_>) -> Emission {
        let opened = Emission::as_opened(self.addr, &self.identity);
        let antenna = self.board.antennas(Side::Tx).get(self.tx_side.antenna).copied();
        Emission {
            frequency_hz: wish.frequency_hz.or(opened.frequency_hz.map(|_| self.tx_hz)),
            gain_db: wish.gain_db.or(opened.gain_db.map(|_| self.tx_side.gain_db)),
            antenna: wish.antenna.or(antenna).map(str::to_owned),
            ..opened
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::BoardIdentity;
    use super::*;

    fn identity(rx: u16, tx: u16) -> Identity {
        let board = |id| BoardIdentity { id: Some(id), revision: 0, serial: String::new() };
        Identity {
            model: "N210r4",
            hardware: 0x0A11,
            serial: "F5A1B2".to_owned(),
            name: String::new(),
            mac: "00:80:2f:0a:0b:0c".to_owned(),
            firmware: "12.4".to_owned(),
            fpga: "11.1".to_owned(),
            software: false,
            rx_board: board(rx),
            tx_board: board(tx),
        }
    }

    #[test]
    fn frequency_gain_and_antenna_are_named_as_they_are_when_a_radio_was_opened() {
        let said = |rx, tx| Emission::as_opened([192, 168, 10, 2].into(), &identity(rx, tx)).to_string();
        assert_eq!(said(0x0054, 0x0055), "at 2400 MHz, gain 0 dB, antenna TX/RX; boards: SBX (0x0054, 0x0055)");
        assert_eq!(
            said(0x0001, 0x0000),
            "at 0 MHz, gain not set by takt, antenna not chosen by takt; boards: Basic (0x0001, 0x0000)"
        );
        let unknown =
            "at a frequency that takt does not know, gain not set by takt, antenna not chosen by takt; boards: ";
        assert_eq!(said(0x0069, 0x0068), format!("{unknown}SBX v5 (0x0069, 0x0068)"));
        let mixed = "receive SBX (0x0054), transmit a board without a name (0x7777)";
        assert_eq!(said(0x0054, 0x7777), format!("{unknown}{mixed}"));
        let radio = Emission::as_opened([192, 168, 10, 2].into(), &identity(0, 0)).radio;
        assert_eq!(radio, "N210r4 serial F5A1B2 at 192.168.10.2");
    }
}
