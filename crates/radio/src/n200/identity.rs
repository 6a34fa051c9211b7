//! Which radio it is, as its EEPROMs and version words tell.

use std::time::Duration;

use takt_wire::n200::eeprom::{Daughterboard, Motherboard, board, hardware};
use takt_wire::n200::registers::{firmware, i2c, readback, version};

use super::control::{Control, Greeting};
use crate::RadioError;
use crate::foreign;

/// Firmware protocol versions that read and write registers as this driver does.
const FIRMWARE: std::ops::RangeInclusive<u32> = 10..=version::FIRMWARE;
/// UHD's name for this kind of device.
const KIND: &str = "usrp2";
/// Hardware words of the USRP2, which shares ports and hello with the N200.
const USRP2: [u16; 3] = [0x0300, 0x0301, 0x0400];

/// Which radio it is.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Identity {
    /// `N200`, `N200r4`, `N210`, `N210r4`, or `N2xx` for a hardware word without a name.
    pub model: &'static str,
    /// Hardware word of the EEPROM.
    pub hardware: u16,
    /// Serial number; where the EEPROM has none, the Ethernet address.
    pub serial: String,
    /// Name a user gave it; may be empty.
    pub name: String,
    /// Ethernet address.
    pub mac: String,
    /// Firmware version, `12.4`.
    pub firmware: String,
    /// FPGA version, `11.1`.
    pub fpga: String,
    /// It is a software radio of takt's own: its hello says so. Its samples reach no antenna.
    pub software: bool,
    /// Receive daughterboard.
    pub rx_board: BoardIdentity,
    /// Transmit daughterboard.
    pub tx_board: BoardIdentity,
}

impl Identity {
    /// As a person names it: `N200r4 serial F5A1B2`.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{} serial {}", self.model, self.serial)
    }

    /// Serial numbers of the receive board and the transmit board; each may be empty.
    #[must_use]
    pub fn board_serials(&self) -> [&str; 2] {
        [&self.rx_board.serial, &self.tx_board.serial]
    }

    /// The daughterboards, by their names where they have some: `SBX v5 (0x0069, 0x0068)`.
    #[must_use]
    pub fn boards(&self) -> String {
        let [rx, tx] = [&self.rx_board, &self.tx_board].map(BoardIdentity::words);
        match [self.rx_board.id, self.tx_board.id] {
            [None, None] => "none that can be read".to_owned(),
            [Some(a), Some(b)] if self.rx_board.name() == self.tx_board.name() => {
                format!("{} ({a:#06x}, {b:#06x})", self.rx_board.name().unwrap_or("a board without a name"))
            }
            _ => format!("receive {rx}, transmit {tx}"),
        }
    }
}

impl BoardIdentity {
    /// UHD's name for it, if UHD knows it.
    #[must_use]
    pub fn name(&self) -> Option<&'static str> {
        board::name(self.id?)
    }

    /// Its name with its id; without a board, `none`.
    fn words(&self) -> String {
        match (self.id, self.name()) {
            (Some(id), Some(name)) => format!("{name} ({id:#06x})"),
            (Some(id), None) => format!("a board without a name ({id:#06x})"),
            (None, _) => "none".to_owned(),
        }
    }
}

/// Contents of a daughterboard's EEPROM.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BoardIdentity {
    /// `None`: no board, or an EEPROM that is not one.
    pub id: Option<u16>,
    /// Revision, 0 = none.
    pub revision: u16,
    /// Serial number; may be empty.
    pub serial: String,
}

/// Says hello and checks that a radio this driver can work with answers.
///
/// # Errors
/// `NothingThere`, `PortClosed`, `OtherKind`, `Firmware`, `Fpga`: see there.
pub(crate) fn identify(control: &mut Control) -> Result<Identity, RadioError> {
    let addr = control.peer().ip();
    let Some(Greeting { version, software }) = control.hello()? else {
        return Err(match foreign::kind_of(control)? {
            Some(found) => RadioError::OtherKind { addr, found },
            None => RadioError::NothingThere { addr, waited: Duration::from_secs(1) },
        });
    };
    if !FIRMWARE.contains(&version) {
        let (low, high) = (*FIRMWARE.start(), *FIRMWARE.end());
        return Err(RadioError::Firmware { addr, got: version, low, high, kind: KIND });
    }
    let mut image = [0; Motherboard::FIELD_BYTES];
    control.read_eeprom(i2c::MOTHERBOARD, &mut image)?;
    let board = Motherboard::parse(&image)?;
    if USRP2.contains(&board.hardware) {
        return Err(RadioError::OtherKind { addr, found: "a USRP2" });
    }
    let fpga = control.peek(readback::COMPAT)?;
    let (major, minor) = ((fpga >> 16) as u16, fpga as u16);
    let want_major = version::FPGA_MAJOR as u16;
    if major != want_major {
        return Err(RadioError::Fpga { addr, major, minor, want_major, kind: KIND });
    }
    let firmware_minor = control.firmware_peek(firmware::MINOR)?;
    let mac = board.mac.map(|byte| format!("{byte:02x}")).join(":");
    let serial = Some(board.serial.to_string()).filter(|serial| !serial.is_empty());
    Ok(Identity {
        model: hardware::name(board.hardware).unwrap_or("N2xx"),
        hardware: board.hardware,
        serial: serial.unwrap_or_else(|| mac.clone()),
        name: board.name.to_string(),
        mac,
        firmware: format!("{version}.{firmware_minor}"),
        fpga: format!("{major}.{minor}"),
        software,
        rx_board: board_identity(control, i2c::RX_BOARD)?,
        tx_board: board_identity(control, i2c::TX_BOARD)?,
    })
}

fn board_identity(control: &mut Control, address: u8) -> Result<BoardIdentity, RadioError> {
    let mut image = [0; Daughterboard::IMAGE_BYTES];
    control.read_eeprom(address, &mut image)?;
    let board = Daughterboard::parse(&image).ok();
    Ok(BoardIdentity {
        id: board.map(|board| board.id),
        revision: board.map_or(0, |board| board.revision),
        serial: board.map(|board| board.serial.to_string()).unwrap_or_default(),
    })
}
