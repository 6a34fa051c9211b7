//! What is set of an emulated X310 before it is switched on.

use std::net::Ipv4Addr;
use std::str::FromStr;

use serde::de::{self, IntoDeserializer};
use serde::{Deserialize, Serialize};
use takt_base::Tick;
use takt_wire::WireError;
use takt_wire::n200::eeprom::{Daughterboard, Text, board};
use takt_wire::x310::FRAME_BYTES;
use takt_wire::x310::eeprom::{Motherboard, board as wide, product};

use super::graph::SLOTS;
use crate::policy::Destinations;
use crate::shared::OptionsError;

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

/// What is wrong with the name of a board.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not a board: ubx, basic, lf or none")]
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
    fn ids(self) -> Option<[u16; 2]> {
        match self {
            Board::Ubx => Some([wide::UBX_RX, wide::UBX_TX]),
            Board::Basic => Some([board::BASIC_RX, board::BASIC_TX]),
            Board::Lf => Some([board::LF_RX, board::LF_TX]),
            Board::None => None,
        }
    }

    /// What its inputs read: a UBX's oscillators are locked (x310.md 8.3).
    pub(super) fn pins(self) -> u32 {
        if self == Board::Ubx { u32::MAX } else { 0 }
    }
}

/// Identity, limits and habits. [`Options::default`] is an X310 with two UBX-160 that UHD 4.3 accepts.
#[derive(Clone, Debug)]
pub struct Options {
    /// Serial number, at most 9 printable ASCII characters.
    pub serial: String,
    /// Name, at most 23 printable ASCII characters.
    pub name: String,
    /// Where hosts reach it; UHD takes it by no other address.
    pub address: Ipv4Addr,
    pub board: Board,
    /// FPGA compatibility number, major in bits 31:16: 0x27 is right.
    pub fpga: u32,
    /// Firmware compatibility number, major in bits 31:16: 6 is right.
    pub firmware: u32,
    /// Longest datagram that passes, either way: what the frame size probe finds.
    pub frame_bytes: usize,
    pub destinations: Destinations,
    /// The driver's tick at which it is switched on: device time starts at 0 there.
    pub born: Tick,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            serial: "EMU001".to_owned(),
            name: "x310-emu".to_owned(),
            address: Ipv4Addr::new(192, 168, 10, 2),
            board: Board::Ubx,
            fpga: 0x0027_0000,
            firmware: 0x0006_0000,
            frame_bytes: FRAME_BYTES,
            destinations: Destinations::loopback(),
            born: Tick(0),
        }
    }
}

impl Options {
    pub(super) fn motherboard(&self) -> Result<Motherboard, OptionsError> {
        let [a, b, c, d] = self.address.octets();
        // Its other ports lie in networks beside this one, so that no two addresses are alike (x310.md 3).
        let addresses = [0, 1, 2, 3].map(|n: u8| Ipv4Addr::new(a, b, c.wrapping_add(n), d));
        let mac = |port: u8| [0x02, 0x90 | port, a, b, c, d]; // locally administered, and its own on each address
        Ok(Motherboard {
            revision: 11,
            product: product::X310,
            revision_compat: 7,
            macs: [mac(0), mac(1)],
            gateway: Ipv4Addr::new(a, b, c, 1),
            netmasks: [Ipv4Addr::new(255, 255, 255, 0); 4],
            addresses,
            name: self.text("name", &self.name)?,
            serial: self.text("serial", &self.serial)?,
        })
    }

    /// What the EEPROMs of each slot say, receive and transmit half.
    pub(super) fn boards(&self) -> Result<[Option<[Daughterboard; 2]>; SLOTS], OptionsError> {
        let serial = self.text("serial", &self.serial)?;
        let halves = self.board.ids().map(|ids| ids.map(|id| Daughterboard { id, revision: 0, serial }));
        Ok([halves; SLOTS])
    }

    fn text<const N: usize>(&self, what: &'static str, got: &str) -> Result<Text<N>, OptionsError> {
        let wrong = |source: WireError| OptionsError { what, got: got.to_owned(), source };
        Text::new(got).map_err(wrong)
    }
}
