//! The UDP ports of the device.

/// Hello, I2C, firmware registers, slow-path registers, SPI, echo: 36-byte packets.
pub const CONTROL: u16 = 49152;
/// Flash update; only image loaders use it.
pub const UPDATE: u16 = 49154;
/// Receive DSP 0: destination packets in, sample packets and inline messages out.
pub const RX0: u16 = 49156;
/// Transmit DSP: destination and sample packets in, flow control and async messages out.
pub const TX: u16 = 49157;
/// Receive DSP 1, like [`RX0`].
pub const RX1: u16 = 49158;
/// Register commands, optionally timed, and their acks.
pub const FIFO: u16 = 49159;
/// Port of the serial line to the GPSDO.
pub const GPSDO: u16 = 49172;

/// The ports of the receive DSPs, by DSP.
pub const RX: [u16; 2] = [RX0, RX1];
