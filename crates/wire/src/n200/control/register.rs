//! What a control packet can do to a register.

/// What to do with a register. Hosts of an N200 use only the 32-bit and firmware actions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegisterAction {
    /// Read 32 bits from the FPGA.
    Peek32,
    /// Read 16 bits from the FPGA.
    Peek16,
    /// Write 32 bits to the FPGA.
    Poke32,
    /// Write 16 bits to the FPGA.
    Poke16,
    /// Read a firmware cell.
    FirmwarePeek,
    /// Write a firmware cell.
    FirmwarePoke,
    /// Any other code.
    Other(u8),
}

impl RegisterAction {
    /// The action of a code; codes with a name never become [`RegisterAction::Other`].
    #[must_use]
    pub fn from_code(code: u8) -> Self {
        match code {
            1 => Self::Peek32,
            2 => Self::Peek16,
            3 => Self::Poke32,
            4 => Self::Poke16,
            5 => Self::FirmwarePeek,
            6 => Self::FirmwarePoke,
            other => Self::Other(other),
        }
    }

    /// The code on the wire.
    #[must_use]
    pub fn code(self) -> u8 {
        match self {
            Self::Peek32 => 1,
            Self::Peek16 => 2,
            Self::Poke32 => 3,
            Self::Poke16 => 4,
            Self::FirmwarePeek => 5,
            Self::FirmwarePoke => 6,
            Self::Other(code) => code,
        }
    }
}
