//! The exchange of TD-SCDMA that a host must answer in time, 3GPP TS 25.221 to 25.223 at 1.28 Mcps: a block of four downlink
//! slots in, an acknowledgement of it out.
//!
//! ```text
//!  subframe n, 6400 chips, 5 ms                                                    subframe n + 1
//! | TS0 |DwPTS GP UpPTS| TS1 | TS2 | TS3 | TS4 | TS5 | TS6 | TS0 |DwPTS GP UpPTS| TS1 |
//!                                  |<------- the block ----->|                  |answer|
//!                                  |<------- 3.45 ms, the answer is ready ---->|
//!  burst of a slot: 352 data | 144 midamble | 352 data | 16 guard, 864 chips
//! ```
//!
//! A block is its payload and a CRC of 24 bits, scrambled, turbo coded at rate 1/3, and spread with up to 16 codes of 16 chips.
//! The receiver estimates the channel from each slot's midamble, combines what arrives within 16 chips, despreads, decodes,
//! and answers what the CRC says. Each step is a plan that is built once and then called on slices without allocating.
//!
//! | for | use |
//! | --- | --- |
//! | where things lie | [`traffic_slot`], [`DOWNLINK_SLOTS`], [`ANSWER_SLOT`], [`ANSWER_DEADLINE_NS`] |
//! | a base station's downlink | [`Downlink`] |
//! | a terminal's receiver, and its answer | [`Receiver`], [`AnswerBurst`] |
//! | the rate of an N200, 1.25 MS/s | [`Converter`] |
//!
//! How near the standard: layout, bursts, modulation, spreading and the midamble are the standard's; the scrambling code is a
//! value of [`Cell`]. The code specific multipliers are 1, coded bits are mapped slot by slot, symbol by symbol, code by code
//! without interleaving, and TS0, DwPTS, UpPTS and the other uplink slots are silent: time comes from the radio. The answer has the
//! 36 repetitions of an HS-SICH's acknowledgement and says which subframe it answers, which that channel does not.
mod answer;
mod burst;
mod cell;
mod channel;
mod codes;
mod convert;
mod downlink;
mod error;
mod layout;
mod parts;
mod receiver;
#[cfg(test)]
mod tests;

pub use answer::{AnswerBurst, BlockAnswer};
pub use cell::Cell;
pub use convert::{Converter, slot_samples};
pub use downlink::Downlink;
pub use error::Error;
pub use layout::{
    ANSWER_DEADLINE_NS, ANSWER_SAMPLES, ANSWER_SLOT, CHIP_RATE_HZ, CHIPS, DOWNLINK_SLOTS, FIRST_DOWNLINK_NS,
    SAMPLE_RATE_HZ, SAMPLES, SLOT_CHIPS, traffic_slot,
};
pub use receiver::{Receiver, Reception};
