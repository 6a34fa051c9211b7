//! The shared channels: transport blocks of downlink and uplink (TS 36.212 sections 5.2.2 and 5.3.2), and the physical shared
//! channel of the downlink (TS 36.211 sections 6.3 and 6.4).
//!
//! ```text
//!   bytes ─▶ SharedChannelEncoder ─▶ bits ─▶ scramble, modulate ─▶ elements of the PDSCH        PdschTransmitter
//!   bytes ◀─ SharedChannelDecoder ◀─ soft values ◀─ demodulate, descramble ◀─ elements          PdschReceiver
//!                    │
//!               SoftBuffer, of a HARQ process: sums of soft values, and code blocks that are right already
//! ```
//!
//! Encoder and decoder hold a plan for each length of a code block that the bandwidth can use. No call allocates.

mod adaptation;
mod allocation;
mod blocks;
mod bytes;
mod decoder;
mod elements;
mod encoder;
mod mcs;
mod pdsch;
mod plans;
mod size;
mod soft_buffer;
mod table;

pub use adaptation::{REFERENCE_ELEMENTS_OF_BLOCK, TARGET_BLOCK_ERROR_RATE};
pub use allocation::PdschAllocation;
pub use blocks::BlockSet;
pub use decoder::SharedChannelDecoder;
pub use elements::{gather_pdsch, map_pdsch, pdsch_elements};
pub use encoder::SharedChannelEncoder;
pub use mcs::Mcs;
pub use pdsch::{PdschReceiver, PdschTransmitter};
pub use size::{transport_block_bits, transport_block_bits_common};
pub use soft_buffer::SoftBuffer;
