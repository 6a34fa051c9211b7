//! The air interface of LTE, FDD, normal prefixes, one antenna port: 3GPP TS 36.211, 36.212 and 36.213.
//!
//! Coding, scrambling and constellations are in [`takt_dsp::lte`]; here they become channels in a grid of a subframe, and
//! samples. Nothing here knows a radio or a clock. Anything with a table is built beforehand, and then works on slices without
//! allocating.

#![warn(missing_docs)]

mod bandwidth;
mod broadcast;
mod cell;
mod control;
mod error;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod grid;
mod ofdm;
mod prach;
mod reference;
mod shared;
mod sync;
mod tti;
mod uplink;

pub use bandwidth::{
    Bandwidth, Numerology, SUBCARRIER_SPACING_HZ, SUBCARRIERS_OF_BLOCK, SYMBOLS, SYMBOLS_OF_SLOT, Sampling,
};
pub use broadcast::{BroadcastDecoder, BroadcastEncoder, Mib};
pub use cell::{Cell, CellId, PhichResource};
pub use control::{
    ControlDecoder, ControlEncoder, Dci, DciFormat, DownlinkGrant, DownlinkGrantBitmap, FoundDci, Rnti, SearchSpace,
    UplinkGrant, control_elements, control_symbols, decode_riv, encode_riv, riv_bits,
};
pub use error::Error;
pub use grid::ResourceGrid;
pub use ofdm::{Demodulator, Direction, Modulator};
pub use prach::{PREAMBLES, PrachConfig, PrachDetector, PrachTransmitter, PreambleFound};
pub use reference::{
    ChannelEstimate, ChannelEstimator, Correction, Cqi, REFERENCE_SYMBOLS, Tracker, cqi_of_snr_db, efficiency,
    equalise, map_cell_reference, match_filter, reference_comb,
};
pub use shared::{
    BlockSet, Mcs, PdschAllocation, PdschReceiver, PdschTransmitter, REFERENCE_ELEMENTS_OF_BLOCK, SharedChannelDecoder,
    SharedChannelEncoder, SoftBuffer, TARGET_BLOCK_ERROR_RATE, gather_pdsch, map_pdsch, pdsch_elements,
    transport_block_bits, transport_block_bits_common,
};
pub use sync::{CellSearch, FoundCell, map_synchronisation};
pub use tti::Tti;
pub use uplink::{
    PucchConfig, PucchQuality, PucchReceiver, PucchTransmitter, PuschAllocation, PuschQuality, PuschReceiver,
    PuschTransmitter, UplinkConfig, valid_uplink_blocks,
};
