//! The uplink, sent by a terminal and received by the base station: TS 36.211 section 5, TS 36.212 section 5.2, TS 36.213 sections 8
//! and 10.
//!
//! | channel | sent by | received by | carries |
//! | --- | --- | --- | --- |
//! | PUSCH | [`PuschTransmitter`] | [`PuschReceiver`] | a code word, and with it one acknowledgement |
//! | PUCCH 1 | [`PucchTransmitter::request`] | [`PucchReceiver::request`] | a scheduling request |
//! | PUCCH 1a | [`PucchTransmitter::acknowledge`] | [`PucchReceiver::acknowledgement`] | one acknowledgement |
//! | PUCCH 2 | [`PucchTransmitter::report`] | [`PucchReceiver::report`] | a wide-band CQI of 4 bits |
//!
//! Transmitters write elements of power 1. Receivers take grids of any scale, and any values: what is no signal gives soft values
//! of 0 or "nothing found".
//!
//! Left out: hopping of groups, of sequences and of the PUSCH, sounding, formats 1b, 2a and 2b, CQI on the PUSCH, and PUCCH blocks
//! that formats 1 and 2 share (N_cs^(1) is 0).

mod ack;
mod block_code;
mod config;
mod interleaver;
mod pucch_receiver;
mod pucch_resource;
mod pucch_transmitter;
mod pusch_channel;
mod pusch_receiver;
mod pusch_transmitter;
mod reference;
mod sequence;
mod short_sequences;
mod sums;
mod transforms;

pub use config::{PucchConfig, PuschAllocation, UplinkConfig, valid_uplink_blocks};
pub use pucch_receiver::{PucchQuality, PucchReceiver};
pub use pucch_transmitter::PucchTransmitter;
pub use pusch_receiver::{PuschQuality, PuschReceiver};
pub use pusch_transmitter::PuschTransmitter;
