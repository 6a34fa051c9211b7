//! Actions of a control packet on a register.

use crate::words::codes;

/// Action on a register. Hosts of an N200 use only the 32-bit and firmware actions.
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

codes!(RegisterAction: u8 { Peek32 = 1, Peek16 = 2, Poke32 = 3, Poke16 = 4, FirmwarePeek = 5, FirmwarePoke = 6 });
