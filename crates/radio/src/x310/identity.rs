//! Which radio it is, as its EEPROM and version words tell.

use takt_wire::x310::eeprom::{Motherboard, product};
use takt_wire::x310::registers::{board, shared};

use super::firmware::Firmware;
use crate::RadioError;

/// Versions that the protocol is of (x310.md 2.2).
const FIRMWARE: u32 = 6;
const FPGA: u16 = 0x27;
/// UHD's name for this kind of device.
const KIND: &str = "x300";

/// Which radio it is.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Identity {
    /// `X310`, `X300`, or `X3xx` for a product code without a name.
    pub model: &'static str,
    /// Serial number.
    pub serial: String,
    /// Name a user gave it; may be empty.
    pub name: String,
    /// Firmware version, `6.0`.
    pub firmware: String,
    /// FPGA version, `39.0`.
    pub fpga: String,
    /// It is a software radio of takt's own. Its samples reach no antenna.
    pub software: bool,
}

impl Identity {
    /// As a person names it: `X310 serial F5A1B2`.
    #[must_use]
    pub fn words(&self) -> String {
        format!("{} serial {}", self.model, self.serial)
    }
}

/// Asks the radio what it is.
///
/// # Errors
/// `NothingThere`; `Firmware` and `Fpga` for versions of another protocol.
pub(crate) fn identify(firmware: &mut Firmware) -> Result<Identity, RadioError> {
    let addr = firmware.addr();
    if !firmware.hello()? {
        return Err(RadioError::NothingThere { addr, waited: crate::ports::Patience::USUAL.each * 3 });
    }
    let version = firmware.shared(shared::COMPAT)?;
    if version >> 16 != FIRMWARE {
        return Err(RadioError::Firmware { addr, got: version >> 16, low: FIRMWARE, high: FIRMWARE, kind: KIND });
    }
    let fpga = firmware.board(board::FPGA_COMPAT)?;
    let (major, minor) = ((fpga >> 16) as u16, fpga as u16);
    if major != FPGA {
        return Err(RadioError::Fpga { addr, major, minor, want_major: FPGA, kind: KIND });
    }
    let mut image = [0; Motherboard::IMAGE_BYTES];
    for (word, bytes) in image.chunks_exact_mut(4).enumerate() {
        bytes.copy_from_slice(&firmware.shared(shared::EEPROM + word as u32)?.to_be_bytes());
    }
    let eeprom = Motherboard::parse(&image)?;
    Ok(Identity {
        model: match eeprom.product {
            product::X310 | product::X310_OLD => "X310",
            product::X300 => "X300",
            _ => "X3xx",
        },
        serial: eeprom.serial.to_string(),
        name: eeprom.name.to_string(),
        firmware: format!("{}.{}", version >> 16, version & 0xFFFF),
        fpga: format!("{major}.{minor}"),
        software: firmware.shared(shared::SOFTWARE)? == shared::SOFTWARE_MARK,
    })
}
