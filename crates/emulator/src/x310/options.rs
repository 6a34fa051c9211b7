//! Settings of an emulated X310 before it is switched on.

use std::net::Ipv4Addr;

use takt_base::{Speed, Tick};
use takt_wire::WireError;
use takt_wire::n200::eeprom::{Daughterboard, Text};
use takt_wire::x310::FRAME_BYTES;
use takt_wire::x310::eeprom::{Motherboard, product};

use super::board::Board;
use super::eeprom::EepromImages;
use super::graph::SLOTS;
use super::release::Uhd;
use crate::front_end::Imperfections;
use crate::policy::Destinations;
use crate::shared::OptionsError;

/// Identity, limits and habits. [`X310Options::default`] is an X310 with two UBX-160 that UHD 4.3 to 4.9 accept.
#[derive(Clone, Debug)]
pub struct X310Options {
    /// Serial number, at most 9 printable ASCII characters.
    pub serial: String,
    /// Name, at most 23 printable ASCII characters.
    pub name: String,
    /// Address at which hosts reach it; UHD takes it by no other address.
    pub address: Ipv4Addr,
    pub board: Board,
    /// Seed of what its boards do wrong: constant and imbalance of I and Q, both ways. At antenna `CAL` a receiver then hears the
    /// transmitter of its slot. `None`: they are perfect. Boards without an oscillator always are.
    pub imperfect: Option<u64>,
    /// The release of UHD that it serves: protocol, and the registers of its radio blocks.
    pub uhd: Uhd,
    /// FPGA compatibility number, major in bits 31:16: 0x27 is right.
    pub fpga: u32,
    /// Firmware compatibility number, major in bits 31:16: 6 is right.
    pub firmware: u32,
    /// Longest datagram that passes, either way: what the frame size probe finds.
    pub frame_bytes: usize,
    pub destinations: Destinations,
    /// The driver's tick at which it is switched on: device time starts at 0 there.
    pub born: Tick,
    /// How fast its time passes beside its hosts': a claim lapses after seconds of the hosts.
    pub speed: Speed,
    /// EEPROM contents of an earlier run; they win over serial, name, address, and what is fitted says of itself.
    pub eeproms: Option<EepromImages>,
}

impl Default for X310Options {
    fn default() -> X310Options {
        X310Options::serving(Uhd::default())
    }
}

impl X310Options {
    /// The usual radio, with the image of this release: its versions, protocol and registers.
    #[must_use]
    pub fn serving(uhd: Uhd) -> X310Options {
        X310Options {
            serial: "EMU001".to_owned(),
            name: "x310-emu".to_owned(),
            address: Ipv4Addr::new(192, 168, 10, 2),
            board: Board::Ubx,
            imperfect: None,
            uhd,
            fpga: uhd.image().fpga(),
            firmware: uhd.image().firmware(),
            frame_bytes: FRAME_BYTES,
            destinations: Destinations::loopback(),
            born: Tick(0),
            speed: Speed::WALL,
            eeproms: None,
        }
    }

    pub(super) fn imperfections(&self, slot: usize) -> Option<Imperfections> {
        self.imperfect.filter(|_| self.board == Board::Ubx).map(|seed| Imperfections::new(seed, &self.serial, slot))
    }

    /// EEPROM contents: those given, or fresh ones of boards and names that are checked either way.
    pub(super) fn images(&self) -> Result<EepromImages, OptionsError> {
        let fresh = EepromImages::new(&self.motherboard()?, &self.boards()?);
        Ok(self.eeproms.clone().unwrap_or(fresh))
    }

    fn motherboard(&self) -> Result<Motherboard, OptionsError> {
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

    /// EEPROM contents of each slot, receive and transmit half.
    fn boards(&self) -> Result<[Option<[Daughterboard; 2]>; SLOTS], OptionsError> {
        let serial = self.text("serial", &self.serial)?;
        let halves = self.board.ids().map(|ids| ids.map(|id| Daughterboard { id, revision: 0, serial }));
        Ok([halves; SLOTS])
    }

    fn text<const N: usize>(&self, what: &'static str, got: &str) -> Result<Text<N>, OptionsError> {
        let wrong = |source: WireError| OptionsError { what, got: got.to_owned(), source };
        Text::new(got).map_err(wrong)
    }
}
