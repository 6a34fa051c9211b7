//! The register space: settings (write only), readback words, firmware cells, and the bits in them.
//!
//! A setting has an 8-bit index on the FIFO path (port 49159) and a byte address on the slow path (port 49152).
//! "Trigger" means that the write acts, even with an unchanged value.

/// Slow-path byte address of settings register 0.
pub const SETTINGS_BASE: u32 = 0x7000;
/// Slow-path byte address of readback word 0.
pub const READBACK_BASE: u32 = 0x5C00;

/// Slow-path address of a settings register.
#[must_use]
pub const fn settings_address(index: u8) -> u32 {
    SETTINGS_BASE + 4 * index as u32
}

/// The settings register at a slow-path address, if there is one.
#[must_use]
pub const fn settings_index(address: u32) -> Option<u8> {
    index_in(address, SETTINGS_BASE, 256)
}

/// Slow-path address of a readback word.
#[must_use]
pub const fn readback_address(word: u8) -> u32 {
    READBACK_BASE + 4 * word as u32
}

/// The readback word at a slow-path address, if there is one (0 to 15).
#[must_use]
pub const fn readback_word(address: u32) -> Option<u8> {
    index_in(address, READBACK_BASE, 16)
}

const fn index_in(address: u32, base: u32, count: u32) -> Option<u8> {
    if address < base || !address.is_multiple_of(4) || (address - base) / 4 >= count {
        return None;
    }
    Some(((address - base) / 4) as u8)
}

/// Settings registers, by index.
pub mod settings {
    /// Reference clock; slow path only. See [`super::clock_control`].
    pub const CLOCK_CONTROL: u8 = 0;
    /// User register address, and its data.
    pub const USER_ADDRESS: u8 = 8;
    /// See [`USER_ADDRESS`].
    pub const USER_DATA: u8 = 9;
    /// Trigger: new device time, high word; takes the other time registers with it.
    pub const TIME_HIGH: u8 = 10;
    /// New device time, low word.
    pub const TIME_LOW: u8 = 11;
    /// Bit 0: rising edge; bit 1: source.
    pub const PPS_FLAGS: u8 = 12;
    /// 1: the new time holds from now; 0: from the next PPS edge.
    pub const TIME_IMMEDIATE: u8 = 13;
    /// Bit 8: enable; bits 7:0: delay.
    pub const MIMO_SYNC: u8 = 15;
    /// The packet router's word that the host sets (slow path, value [`super::ROUTER_WORD`]).
    pub const ROUTER: u8 = 18;
    /// SPI clock divider.
    pub const SPI_DIVIDER: u8 = 20;
    /// Bits 23:0 slave mask, 29:24 number of bits, 30 input edge rising, 31 output edge falling.
    pub const SPI_CONTROL: u8 = 21;
    /// Trigger: shifts the word out, bit 31 first.
    pub const SPI_DATA: u8 = 22;
    /// Bit 0: swap I and Q of the receive front end.
    pub const RX_SWAP_IQ: u8 = 24;
    /// Signed 18 bit, 2^17 = 1.
    pub const RX_IQ_MAGNITUDE: u8 = 25;
    /// Signed 18 bit, 2^17 = 1.
    pub const RX_IQ_PHASE: u8 = 26;
    /// Bit 31 fixed, bit 30 set; value 2^29 = 1.
    pub const RX_DC_OFFSET_I: u8 = 27;
    /// Like [`RX_DC_OFFSET_I`].
    pub const RX_DC_OFFSET_Q: u8 = 28;
    /// First register of the receive control block, by DSP; see [`super::rx_control`].
    pub const RX_CONTROL: [u8; 2] = [32, 80];
    /// First register of the receive DSP block, by DSP; see [`super::dsp`].
    pub const RX_DSP: [u8; 2] = [48, 96];
    /// Signed 24 bit, 2^23 = 1.
    pub const TX_DC_OFFSET_I: u8 = 128;
    /// Signed 24 bit, 2^23 = 1.
    pub const TX_DC_OFFSET_Q: u8 = 129;
    /// Signed 18 bit, 2^17 = 1.
    pub const TX_IQ_MAGNITUDE: u8 = 130;
    /// Signed 18 bit, 2^17 = 1.
    pub const TX_IQ_PHASE: u8 = 131;
    /// Low nibble: what DAC I plays, high nibble: DAC Q. 0 = I, 1 = Q, 0xF = zero.
    pub const TX_MUX: u8 = 132;
    /// Trigger. 1: flush all that is queued or arrives; 0: normal.
    pub const TX_CLEAR: u8 = 144;
    /// Bit 0: 0 = sc16, 1 = sc8.
    pub const TX_FORMAT: u8 = 145;
    /// Trigger: stream id of the reports; expected sequence numbers become 0.
    pub const TX_REPORT_STREAM_ID: u8 = 146;
    /// Reaction to an error; see [`super::tx_policy`].
    pub const TX_POLICY: u8 = 147;
    /// Ticks between flow-control messages: bit 31 enable, bits 23:0 count.
    pub const TX_CYCLES_PER_UPDATE: u8 = 148;
    /// Packets between flow-control messages: bit 31 enable, bits 15:0 count.
    pub const TX_PACKETS_PER_UPDATE: u8 = 149;
    /// First register of the transmit DSP block; see [`super::dsp`].
    pub const TX_DSP: u8 = 160;
    /// GPIO output while idle. RX board in bits 15:0, TX board in 31:16, as in all five.
    pub const GPIO_IDLE: u8 = 184;
    /// GPIO output while only receiving.
    pub const GPIO_RX: u8 = 185;
    /// GPIO output while only transmitting.
    pub const GPIO_TX: u8 = 186;
    /// GPIO output while doing both.
    pub const GPIO_BOTH: u8 = 187;
    /// 1 = output.
    pub const GPIO_DIRECTION: u8 = 188;
}

/// Offsets in a receive control block ([`settings::RX_CONTROL`]).
pub mod rx_control {
    /// Command word; see [`StreamCommand`](crate::n200::StreamCommand).
    pub const COMMAND: u8 = 0;
    /// High word of the command's time.
    pub const TIME_HIGH: u8 = 1;
    /// Trigger: low word of the time; queues command and time.
    pub const TIME_LOW: u8 = 2;
    /// Bit 0: 0 = sc16, 1 = sc8.
    pub const FORMAT: u8 = 3;
    /// Template of VRT word 0; the host writes [`super::RX_VRT_HEADER`].
    pub const VRT_HEADER: u8 = 4;
    /// Trigger: packet counter becomes 0. The host writes 3 (DSP 0) or 4 (DSP 1).
    pub const STREAM_ID: u8 = 5;
    /// Template of the trailer; the host writes 0.
    pub const VRT_TRAILER: u8 = 6;
    /// Samples per packet, 16 bit. Survives a clear.
    pub const SAMPLES_PER_PACKET: u8 = 7;
    /// Trigger: clear. Drops queue, state and partial packet; packet counter becomes 0.
    pub const CLEAR: u8 = 8;
}

/// Offsets in a DSP block ([`settings::RX_DSP`], [`settings::TX_DSP`]).
pub mod dsp {
    /// Signed; see [`frequency`](crate::n200::frequency).
    pub const FREQUENCY: u8 = 0;
    /// See [`rate`](crate::n200::rate).
    pub const SCALE: u8 = 1;
    /// See [`rate`](crate::n200::rate).
    pub const RATE: u8 = 2;
    /// Receive only: which converter feeds I and Q.
    pub const MUX: u8 = 3;
}

/// Readback words.
pub mod readback {
    /// Last SPI input word.
    pub const SPI: u8 = 0;
    /// Router status (slow path only).
    pub const ROUTER: u8 = 8;
    /// GPIO pins, FIFO path only: RX board in bits 15:0, TX board in 31:16.
    pub const GPIO: u8 = 9;
    /// Device time, high word (FIFO path only).
    pub const TIME_HIGH: u8 = 10;
    /// Device time, low word (both paths).
    pub const TIME_LOW: u8 = 11;
    /// FPGA compatibility number (slow path only).
    pub const COMPAT: u8 = 12;
    /// Status bits; see [`super::status`].
    pub const STATUS: u8 = 13;
    /// Device time at the last PPS, high word (FIFO path only).
    pub const PPS_HIGH: u8 = 14;
    /// Device time at the last PPS, low word (FIFO path only).
    pub const PPS_LOW: u8 = 15;
    /// Value of a word that does not exist.
    pub const ABSENT: u32 = 0xFFFF_FFFF;
}

/// Bits of [`readback::STATUS`].
pub mod status {
    /// A MIMO cable is up.
    pub const MIMO_LINK: u32 = 1 << 10;
    /// The reference clock is locked.
    pub const REFERENCE_LOCKED: u32 = 1 << 11;
    /// The SPI core is idle.
    pub const SPI_READY: u32 = 1 << 12;
    /// The safe-image button is pressed.
    pub const SAFE_BUTTON: u32 = 1 << 13;
}

/// Bits of [`readback::GPIO`] for an SBX.
pub mod gpio {
    /// Receive synthesiser locked.
    pub const RX_LO_LOCKED: u32 = 1 << 0;
    /// Transmit synthesiser locked.
    pub const TX_LO_LOCKED: u32 = 1 << 16;
}

/// Values of [`settings::CLOCK_CONTROL`].
pub mod clock_control {
    /// Own oscillator.
    pub const INTERNAL: u32 = 0x12;
    /// External 10 MHz or GPSDO.
    pub const EXTERNAL: u32 = 0x1C;
    /// MIMO cable.
    pub const MIMO: u32 = 0x15;
}

/// Bits of [`settings::TX_POLICY`].
pub mod tx_policy {
    /// Stop until cleared.
    pub const WAIT: u32 = 1 << 0;
    /// Go on with the next packet (what the host sets).
    pub const NEXT_PACKET: u32 = 1 << 1;
    /// Go on with the next burst.
    pub const NEXT_BURST: u32 = 1 << 2;
}

/// Enables [`settings::TX_CYCLES_PER_UPDATE`] and [`settings::TX_PACKETS_PER_UPDATE`].
pub const UPDATE_ENABLE: u32 = 1 << 31;
/// The host's value of [`settings::TX_CYCLES_PER_UPDATE`]: 5 000 000 ticks, 20 messages a second.
pub const TX_CYCLES_DEFAULT: u32 = UPDATE_ENABLE | 5_000_000;
/// The host's value of [`settings::TX_PACKETS_PER_UPDATE`] for 1472-byte frames: 89.
pub const TX_PACKETS_DEFAULT: u32 = UPDATE_ENABLE | 89;
/// The host's value of [`rx_control::VRT_HEADER`]: stream id, trailer, fractional time.
pub const RX_VRT_HEADER: u32 = 0x1410_0000;
/// The host's value of [`settings::ROUTER`]: replies of the FIFO and of TX to their ports.
pub const ROUTER_WORD: u32 = (super::ports::FIFO as u32) << 16 | super::ports::TX as u32;
/// Stream ids a host gives to the receive DSPs.
pub const RX_STREAM_IDS: [u32; 2] = [3, 4];
/// Stream id a host gives to the transmit reports.
pub const TX_STREAM_ID: u32 = 2;

/// Firmware register cells (eight, plain memory).
pub mod firmware {
    /// When the lock was last refreshed: low word of device time with bit 0 set; 0 = unlocked.
    pub const LOCK_TIME: u32 = 0;
    /// Holder of the lock: a hash of the host process.
    pub const LOCK_OWNER: u32 = 1;
    /// [`NO_GPSDO`] here means: do not probe for a GPSDO again.
    pub const GPSDO_MEMORY: u32 = 3;
    /// Firmware minor version.
    pub const MINOR: u32 = 7;
    /// See [`GPSDO_MEMORY`].
    pub const NO_GPSDO: u32 = 0x1234_ABCD;
    /// How many cells there are.
    pub const COUNT: u32 = 8;
}

/// Versions that match.
pub mod version {
    /// Firmware protocol version: first word of every control packet.
    pub const FIRMWARE: u32 = 12;
    /// Firmware minor version the hardware shows.
    pub const FIRMWARE_MINOR: u32 = 4;
    /// FPGA compatibility number: major 11 in bits 31:16, minor 1.
    pub const FPGA: u32 = 0x000B_0001;
    /// FPGA major of an N200 or N210.
    pub const FPGA_MAJOR: u32 = 11;
}

/// SPI slaves, as bits of the slave mask.
pub mod spi {
    /// AD9510 clock.
    pub const CLOCK: u32 = 1;
    /// AD9777 DAC.
    pub const DAC: u32 = 2;
    /// Aux DAC of the receive board.
    pub const RX_AUX_DAC: u32 = 4;
    /// Aux ADC of the receive board.
    pub const RX_AUX_ADC: u32 = 8;
    /// Receive daughterboard.
    pub const RX_BOARD: u32 = 16;
    /// Aux DAC of the transmit board.
    pub const TX_AUX_DAC: u32 = 32;
    /// Aux ADC of the transmit board.
    pub const TX_AUX_ADC: u32 = 64;
    /// Transmit daughterboard.
    pub const TX_BOARD: u32 = 128;
    /// ADS62P44 ADC.
    pub const ADC: u32 = 256;
}

/// I2C addresses.
pub mod i2c {
    /// Motherboard EEPROM.
    pub const MOTHERBOARD: u8 = 0x50;
    /// Grand-daughterboard EEPROM.
    pub const GRAND_DAUGHTERBOARD: u8 = 0x51;
    /// Transmit daughterboard EEPROM.
    pub const TX_BOARD: u8 = 0x54;
    /// Receive daughterboard EEPROM.
    pub const RX_BOARD: u8 = 0x55;
}
