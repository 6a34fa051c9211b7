//! USRP N200 and N210 over UDP: every packet, register and word, as `docs/internals/n200.md` lays them out.
//!
//! All fields are big-endian, except three numbers in the motherboard EEPROM and the ids in the daughterboards'.

mod control;
mod destination;
pub mod eeprom;
mod fifo;
pub mod frequency;
pub mod ports;
pub mod rate;
pub mod registers;
mod rx_data;
mod rx_message;
mod stream_command;
pub mod time;
mod tx_data;
mod tx_report;

pub use control::{
    ControlAnswer, ControlAsk, ControlReply, ControlRequest, Edge, I2cBytes, RegisterAction, SpiTransfer,
};
pub use destination::{Destination, DestinationAnswer};
pub use fifo::{FifoAck, FifoAction, FifoCommand};
pub use rx_data::{RxData, RxHead, RxPacking};
pub use rx_message::{RxEvent, RxMessage, RxPacket};
pub use stream_command::{MAX_SAMPLES, StreamAction, StreamCommand};
pub use tx_data::{TxData, TxHead, TxPacket};
pub use tx_report::{TxEvent, TxReport};

use crate::WireError;

/// The master clock, which an N200 cannot change.
pub const MASTER_CLOCK_HZ: u32 = 100_000_000;
/// Bytes of a datagram that fits an Ethernet frame: what a host requests by default.
pub const FRAME_BYTES: usize = 1472;
/// Bytes of the device's transmit buffer; divided by the frame size it is the window of the flow control (712 packets).
pub const TX_BUFFER_BYTES: usize = 1 << 20;

/// The VRT length field of a packet: whole words, 16 bits.
fn length_in_words(payload_bytes: usize, overhead_bytes: usize) -> Result<u16, WireError> {
    let field = |want| WireError::Field { what: "payload bytes", got: payload_bytes as u64, want };
    if !payload_bytes.is_multiple_of(4) {
        return Err(field("a multiple of 4"));
    }
    let words = payload_bytes.saturating_add(overhead_bytes) / 4;
    u16::try_from(words).map_err(|_| field("at most 65535 words with header and trailer"))
}
