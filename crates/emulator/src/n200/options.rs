//! Settings of an emulated N200 before it is switched on.

use std::net::Ipv4Addr;
use std::str::FromStr;

use serde::de::{self, IntoDeserializer};
use serde::{Deserialize, Serialize};
use takt_base::{Speed, Tick};
use takt_wire::n200::eeprom::{Motherboard, Text, hardware};
use takt_wire::n200::registers::version;

use super::board::Board;
use super::eeprom::EepromImages;
use crate::front_end::Imperfections;
use crate::policy::Destinations;
use crate::shared::OptionsError;

/// Identity, versions and habits. [`N200Options::default`] is an N200r4 with an SBX that UHD 4.3 accepts.
#[derive(Clone, Debug)]
pub struct N200Options {
    /// Serial number, at most 9 printable ASCII characters.
    pub serial: String,
    /// Name, at most 23 printable ASCII characters.
    pub name: String,
    /// Address in the EEPROM and in hello replies; hosts look at the sender's instead.
    pub address: Ipv4Addr,
    pub board: Board,
    pub gpsdo: bool,
    /// Seed of what its boards do wrong: constant and imbalance of I and Q, both ways. At antenna `CAL` its receiver then hears its
    /// transmitter. `None`: they are perfect. Boards without an oscillator always are.
    pub imperfect: Option<u64>,
    /// Hardware word of the motherboard EEPROM; see [`hardware`].
    pub hardware: u16,
    /// Firmware protocol version, the first word of every control reply.
    pub firmware: u32,
    pub firmware_minor: u32,
    /// FPGA compatibility number, major in bits 31:16.
    pub fpga: u32,
    /// Whether it says in its hello that it is a software radio of takt's; without, takt takes it for hardware.
    pub marked: bool,
    /// Policy after the output was blocked.
    pub on_overflow: OverflowPolicy,
    pub destinations: Destinations,
    /// The tick at which it is switched on: device time starts at 0 there.
    pub born: Tick,
    /// UTC at tick 0 of the free-running counter, in whole seconds since 1970: what its GPS says.
    pub utc_at_tick_0_s: u64,
    /// How fast its time passes beside its hosts': a silent host is waited for in the host's seconds.
    pub speed: Speed,
    /// EEPROM contents of an earlier run; they win over serial, name, address, board and hardware.
    pub eeproms: Option<EepromImages>,
}

impl Default for N200Options {
    fn default() -> N200Options {
        N200Options {
            serial: "EMU001".to_owned(),
            name: "n200-emu".to_owned(),
            address: Ipv4Addr::new(192, 168, 10, 2),
            board: Board::Sbx,
            gpsdo: false,
            imperfect: None,
            hardware: hardware::N200_R4,
            firmware: version::FIRMWARE,
            firmware_minor: version::FIRMWARE_MINOR,
            fpga: version::FPGA,
            marked: true,
            on_overflow: OverflowPolicy::Hardware,
            destinations: Destinations::loopback(),
            born: Tick(0),
            utc_at_tick_0_s: 1_700_000_000,
            speed: Speed::WALL,
            eeproms: None,
        }
    }
}

impl N200Options {
    pub(super) fn imperfections(&self) -> Option<Imperfections> {
        self.imperfect
            .filter(|_| self.board.oscillator_ratio().is_some())
            .map(|seed| Imperfections::new(seed, &self.serial, 0))
    }

    /// EEPROM contents: those given, or fresh ones.
    pub(super) fn images(&self) -> Result<EepromImages, OptionsError> {
        if let Some(images) = &self.eeproms {
            return Ok(images.clone());
        }
        let wrong = |what, got: &str| {
            let got = got.to_owned();
            move |source| OptionsError { what, got, source }
        };
        let [a, b, c, d] = self.address.octets();
        let motherboard = Motherboard {
            hardware: self.hardware,
            mac: [0x02, 0x80, a, b, c, d], // locally administered, and its own on each address
            subnet: Ipv4Addr::new(255, 255, 255, 0),
            address: self.address,
            revision: 4,
            product: 30518,
            gpsdo: u8::from(self.gpsdo),
            serial: Text::new(&self.serial).map_err(wrong("serial", &self.serial))?,
            name: Text::new(&self.name).map_err(wrong("name", &self.name))?,
            gateway: Ipv4Addr::new(a, b, c, 1),
        };
        let boards = self.board.eeproms(&self.serial).map_err(wrong("serial", &self.serial))?;
        Ok(EepromImages::new(&motherboard, boards.as_ref().map(|b| &b[0]), boards.as_ref().map(|b| &b[1])))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OverflowPolicy {
    /// As the hardware: an inline message, and the stream stops until it is commanded again.
    #[default]
    Hardware,
    /// Knowingly not as the hardware: an inline message and a gap in time, and the stream goes on.
    Continue,
}

/// Error in the name of an overflow policy.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{got}` is not hardware or continue")]
pub struct OverflowPolicyError {
    pub got: String,
}

impl FromStr for OverflowPolicy {
    type Err = OverflowPolicyError;
    fn from_str(text: &str) -> Result<OverflowPolicy, OverflowPolicyError> {
        let policy = OverflowPolicy::deserialize(text.into_deserializer());
        policy.map_err(|_: de::value::Error| OverflowPolicyError { got: text.to_owned() })
    }
}
