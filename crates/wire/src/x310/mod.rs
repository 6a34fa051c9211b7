//! USRP X310 over UDP: what is not CHDR, that is registers of the board's processor, the frame size probe, and the EEPROM.
//!
//! Big-endian 32-bit words, as `docs/internals/x310.md` lays them out; samples and registers of blocks are in
//! [`chdr`](crate::chdr).

pub mod eeprom;
mod firmware;
mod frame_probe;
mod radio_layout;
pub mod rate;
pub mod registers;

pub use firmware::{Firmware, FirmwareAction};
pub use frame_probe::FrameProbe;
pub use radio_layout::RadioLayout;

/// UDP ports of the device (x310.md 1).
pub mod ports {
    /// Registers of the board's processor, and discovery.
    pub const FIRMWARE: u16 = 49152;
    /// CHDR, both ways.
    pub const CHDR: u16 = 49153;
    /// Frame size probe.
    pub const FRAME_PROBE: u16 = 49158;
}

/// The fastest master clock, and what a device starts with.
pub const MASTER_CLOCK_HZ: u32 = 200_000_000;
/// Largest datagram that UHD asks for, bytes.
pub const FRAME_BYTES: usize = 8000;
