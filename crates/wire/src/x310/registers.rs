//! Registers: where they are, and what their bits mean. Clauses are those of `docs/internals/x310.md`.

/// Shared memory of the board's processor: word n at `BASE + 4 * n` (2.2, block A).
pub mod shared {
    /// Byte address of word 0.
    pub const BASE: u32 = 0x6000;
    /// Number of words.
    pub const COUNT: u32 = 64;
    /// Firmware version: major in bits 31:16, which must be 6.
    pub const COMPAT: u32 = 0;
    /// The firmware's knowledge of a GPSDO.
    pub const GPSDO_STATUS: u32 = 1;
    /// [`GPSDO_STATUS`]: don't look for one.
    pub const NO_GPSDO: u32 = 0x1234_ABCD;
    /// 1 while a host claims the device.
    pub const CLAIM_STATUS: u32 = 5;
    /// When the host renewed its claim, as it counts; 0 releases it.
    pub const CLAIM_TIME: u32 = 6;
    /// Mark of the claimer.
    pub const CLAIM_SOURCE: u32 = 7;
    /// First word of the EEPROM's mirror.
    pub const EEPROM: u32 = 13;
    /// A word that the board's firmware does not use, and takt's software radio says what it is in.
    pub const SOFTWARE: u32 = 63;
    /// [`SOFTWARE`]: "TAKT".
    pub const SOFTWARE_MARK: u32 = 0x5441_4B54;
}

/// Settings and readback of the board: word n at `BASE + 4 * n`; the same n is another register to read than to write
/// (2.2, block B).
pub mod board {
    /// Byte address of word 0.
    pub const BASE: u32 = 0xA000;
    /// Number of words.
    pub const COUNT: u32 = 192;

    /// Read: bits of the clocks.
    pub const CLOCK_STATUS: u32 = 3;
    /// [`CLOCK_STATUS`]: the clock chip is locked.
    pub const LMK_LOCKED: u32 = 1 << 2;
    /// [`CLOCK_STATUS`]: toggles with each PPS.
    pub const PPS_TOGGLE: u32 = 1 << 4;
    /// [`CLOCK_STATUS`]: the radio clock is locked.
    pub const RADIO_CLOCK_LOCKED: u32 = 1 << 5;
    /// [`CLOCK_STATUS`]: the ADC's delay elements are ready.
    pub const IDELAY_READY: u32 = 1 << 6;
    /// Read: what is plugged into port 0; the next word, port 1.
    pub const SFP_TYPES: [u32; 2] = [4, 5];
    /// [`SFP_TYPES`]: 10 gigabit Ethernet.
    pub const TEN_GIGABIT: u32 = 1;
    /// Read: FPGA version, major in bits 31:16, which must be 0x27; the minor is that of the image (18.1).
    pub const FPGA_COMPAT: u32 = 6;
    /// Read: RFNoC protocol in bits 15:0, width of CHDR in bits 31:16.
    pub const RFNOC_INFO: u32 = 7;
    /// Read: hash of the FPGA's sources.
    pub const GIT_HASH: u32 = 10;
    /// Read: temperature of the FPGA, in bits 11:0 as (degrees Celsius + 273.15) * 4096 / 503.975. UHD reads it from 4.9 on.
    pub const TEMPERATURE: u32 = 11;
    /// Read: number of timekeepers.
    pub const TIMEKEEPERS: u32 = 12;
    /// Read: what drives the pins of the front panel.
    pub const GPIO_SOURCE_READ: u32 = 13;
    /// Read: [`DEVICE_ID`].
    pub const DEVICE_ID_READ: u32 = 14;

    /// Write: reference and PPS source.
    pub const CLOCK_CONTROL: u32 = 2;
    /// Write: the id by which management names this device.
    pub const DEVICE_ID: u32 = 3;
    /// Write: SPI of the clock chip: divider, control, data.
    pub const SPI: [u32; 3] = [32, 33, 34];
    /// Write: UDP port that carries CHDR, of either Ethernet port.
    pub const CHDR_PORTS: [u32; 2] = [51, 67];
    /// Write: what drives the pins of the front panel.
    pub const GPIO_SOURCE: u32 = 72;

    /// First word of the timekeeper (2.2).
    pub const TIMEKEEPER: u32 = 100;
}

/// The timekeeper's words, from [`board::TIMEKEEPER`] on.
pub mod timekeeper {
    /// Read: time now, low word; reading it keeps the high word.
    pub const NOW_LOW: u32 = 0x00;
    /// Read: time now, high word.
    pub const NOW_HIGH: u32 = 0x04;
    /// Write: a new time, low word.
    pub const NEW_LOW: u32 = 0x08;
    /// Write: a new time, high word.
    pub const NEW_HIGH: u32 = 0x0C;
    /// Write: when the new time holds.
    pub const CONTROL: u32 = 0x10;
    /// [`CONTROL`]: at once.
    pub const SET_NOW: u32 = 1;
    /// [`CONTROL`]: from the next PPS edge on.
    pub const SET_AT_PPS: u32 = 2;
    /// Read: time at the last PPS edge, low word.
    pub const PPS_LOW: u32 = 0x14;
    /// Read: time at the last PPS edge, high word.
    pub const PPS_HIGH: u32 = 0x18;
}

/// The I2C core, where the EEPROMs are (2.2, block C, 3 and 4).
pub mod i2c {
    /// Byte address of its first register; a register is 4 bytes from the next.
    pub const BASE: u32 = 0xFF00;
    /// Number of registers.
    pub const COUNT: u32 = 5;
    /// Register: byte to send, or received.
    pub const DATA: u32 = 3;
    /// Register: command to write, status to read.
    pub const COMMAND: u32 = 4;
    /// [`COMMAND`]: begin with an address.
    pub const START: u32 = 0x80;
    /// [`COMMAND`]: receive a byte.
    pub const READ: u32 = 0x20;
    /// [`COMMAND`]: send a byte.
    pub const WRITE: u32 = 0x10;
    /// Status: nobody acknowledged.
    pub const NO_ACK: u32 = 0x80;
    /// 7-bit address of the motherboard's EEPROM, whose offsets have two bytes, the first the high one.
    pub const MOTHERBOARD: u8 = 0x50;
    /// 7-bit addresses of the EEPROMs of slot A and B, whose offsets have one: receive board, transmit board.
    pub const BOARDS: [[u8; 2]; 2] = [[0x55, 0x54], [0x57, 0x56]];
}

/// Registers of a stream endpoint, in the space of management (6.4).
pub mod endpoint {
    /// Its endpoint id.
    pub const ID: u16 = 0x00;
    /// Write: bit 0 resets what leaves, bit 1 what arrives, bit 2 control.
    pub const RESET: u16 = 0x04;
    /// Status of what leaves; writing bit 0 sets it up.
    pub const OUTPUT: u16 = 0x08;
    /// [`OUTPUT`], write: set up.
    pub const OUTPUT_CONFIGURE: u32 = 1;
    /// [`OUTPUT`], write: what is lost stays lost.
    pub const OUTPUT_LOSSY: u32 = 2;
    /// [`OUTPUT`], read: the receiver has not answered yet.
    pub const OUTPUT_PENDING: u32 = 1 << 29;
    /// [`OUTPUT`], read: the receiver refused.
    pub const OUTPUT_FAILED: u32 = 1 << 30;
    /// [`OUTPUT`], read: the receiver gives credit.
    pub const OUTPUT_FLOW_CONTROL: u32 = 1 << 31;
    /// To which endpoint id samples go.
    pub const OUTPUT_DESTINATION: u16 = 0x0C;
    /// Wanted interval between statuses in bytes: low word, high word.
    pub const INTERVAL_BYTES: [u16; 2] = [0x10, 0x14];
    /// Wanted interval between statuses in packets.
    pub const INTERVAL_PACKETS: u16 = 0x18;
    /// Read: the receiver's capacity in bytes: low word, high word.
    pub const CAPACITY_BYTES: [u16; 2] = [0x20, 0x24];
    /// Read: the receiver's capacity in packets.
    pub const CAPACITY_PACKETS: u16 = 0x28;
    /// Form of the samples that arrive.
    pub const INPUT: u16 = 0x38;
}

/// Registers of client zero, by which a host learns what blocks there are (7.1).
pub mod client_zero {
    /// RFNoC protocol in bits 15:0, a mark in 31:16.
    pub const PROTOCOL: u32 = 0x00;
    /// Numbers of endpoints, blocks, transports; bit 31: there is a crossbar.
    pub const COUNTS: u32 = 0x04;
    /// Number of edges.
    pub const EDGES: u32 = 0x08;
    /// Kind of device in bits 31:16, its id in 15:0.
    pub const DEVICE: u32 = 0x0C;
    /// Number of endpoints with control.
    pub const CONTROL_ENDPOINTS: u32 = 0x10;
    /// Number of edges again, then a word an edge.
    pub const ADJACENCY: u32 = 0x1_0000;
    /// Registers of one endpoint or block, in bytes.
    pub const STRIDE: u32 = 64;
}

/// Registers of a down-converter; a channel is 2048 bytes (8.1).
pub mod ddc {
    /// Channel n begins at `n * STRIDE`.
    pub const STRIDE: u32 = 2048;
    /// Read: version.
    pub const COMPAT: u32 = 0x000;
    /// Read: number of half-bands.
    pub const HALF_BANDS: u32 = 0x008;
    /// Read: largest rate of the CIC.
    pub const CIC_MAX: u32 = 0x010;
    /// Decimation of a DDC.
    pub const N: u32 = 0x400;
    /// Interpolation of a DUC.
    pub const M: u32 = 0x408;
    /// Frequency word.
    pub const FREQUENCY: u32 = 0x420;
    /// Scale of the samples; 1.0 is [`super::ONE`].
    pub const SCALE: u32 = 0x428;
    /// Filters of a DDC: half-bands in bits 15:8, CIC in 7:0.
    pub const DDC_STAGES: u32 = 0x430;
    /// Filters of a DUC, likewise (8.2).
    pub const DUC_STAGES: u32 = 0x418;
}

/// Scale word that leaves samples as they are (8.1).
pub const ONE: u32 = 0x8000;

/// Identity of a kind of block, in its second register (7.2).
pub mod noc_id {
    /// Up-converter.
    pub const DUC: u32 = 0xD0C0_0000;
    /// Down-converter.
    pub const DDC: u32 = 0xDDC0_0000;
    /// Radio.
    pub const RADIO: u32 = 0x12AD_1000;
}

/// Registers of a radio (8.3): those of a channel as version 0.1 of the block has them.
/// [`RadioLayout`](crate::x310::RadioLayout) says where they are in version 1.0.
pub mod radio {
    /// Read: version.
    pub const COMPAT: u32 = 0x0000;
    /// Read: time, low word; reading it keeps the high word.
    pub const TIME_LOW: u32 = 0x0004;
    /// Read: time, high word.
    pub const TIME_HIGH: u32 = 0x0008;
    /// Channel n begins at `CHANNELS + n * STRIDE`.
    pub const CHANNELS: u32 = 0x1000;
    /// Bytes from channel to channel.
    pub const STRIDE: u32 = 128;
    /// Register of a channel, read: sample width and samples a clock.
    pub const WIDTH: u32 = 0x04;
    /// Register of a channel, write: receive command. Writing it starts it.
    pub const RX_COMMAND: u32 = 0x14;
    /// [`RX_COMMAND`]: at a time.
    pub const RX_TIMED: u32 = 1 << 31;
    /// [`RX_COMMAND`]: when the transmitter runs, which version 1.0 of the block has.
    pub const RX_TRIGGERED: u32 = 1 << 30;
    /// Number of samples before decimation: low word, high word.
    pub const RX_COUNT: [u32; 2] = [0x18, 0x1C];
    /// Start time: low word, high word.
    pub const RX_TIME: [u32; 2] = [0x20, 0x24];
    /// Samples in a packet.
    pub const RX_SAMPLES_PER_PACKET: u32 = 0x28;
    /// Destination of the receiver's messages: control port, endpoint id, address.
    pub const RX_REMOTE: [u32; 3] = [0x30, 0x34, 0x38];
    /// Read: a word of the ADC.
    pub const ADC: u32 = 0x3C;
    /// Reaction to an error of the transmitter: 1 the next packet, 2 the next burst.
    pub const TX_POLICY: u32 = 0x44;
    /// Destination of the transmitter's messages: control port, endpoint id, address.
    pub const TX_REMOTE: [u32; 3] = [0x4C, 0x50, 0x54];

    /// Read: what the ADC's self-test says, high word.
    pub const ADC_STATUS: u32 = 0x8_0084;
    /// Read: what was shifted in over SPI.
    pub const SPI_READBACK: u32 = 0x8_0088;
    /// Read: pins of the daughterboard.
    pub const BOARD_GPIO_READ: u32 = 0x8_0098;
    /// Read: pins of the front panel.
    pub const PANEL_GPIO_READ: u32 = 0x8_00A0;
    /// Write: resets and delays of the converters.
    pub const CONVERTERS: u32 = 0x8_0500;
    /// Write: SPI divider, control, data.
    pub const SPI: [u32; 3] = [0x8_0540, 0x8_0548, 0x8_0550];
    /// Write: six registers of the front panel's pins, 8 bytes apart.
    pub const PANEL_GPIO: u32 = 0x8_05C0;
    /// Write: six registers of the daughterboard's pins, 8 bytes apart.
    pub const BOARD_GPIO: u32 = 0x8_0600;
    /// Write: correction of the transmitter, 8 bytes apart: DC offset of I, of Q, magnitude, phase, mux.
    pub const TX_FRONT_END: u32 = 0x8_0680;
    /// Write: correction of the receiver, 8 bytes apart: magnitude, phase, DC offset of I, of Q, mapping, CORDIC.
    pub const RX_FRONT_END: u32 = 0x8_0700;
    /// From the corrections of a receiver to those of the next.
    pub const FRONT_END_STRIDE: u32 = 0x80;
}

/// Messages of a radio to its host: codes of the message (9).
pub mod message {
    /// Receiver: the time of a command had passed.
    pub const RX_LATE: u32 = 1;
    /// Receiver: what it took could not leave.
    pub const RX_OVERRUN: u32 = 2;
    /// Transmitter: nothing there to send.
    pub const TX_UNDERRUN: u32 = 1;
    /// Transmitter: the time of a packet had passed.
    pub const TX_LATE: u32 = 2;
    /// Transmitter: a burst has ended.
    pub const TX_BURST_ACK: u32 = 3;
}
