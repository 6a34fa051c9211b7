//! Errors of configurations that ask for something the standard does not have.

use crate::Bandwidth;

/// A shape that is refused when a plan is built, never in a slot.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No such bandwidth.
    #[error("{blocks} resource blocks are not a bandwidth of LTE; expected: 6, 15, 25, 50, 75 or 100")]
    Bandwidth {
        /// As asked.
        blocks: u8,
    },
    /// No such cell.
    #[error("{id} is not a cell identity; expected: 0 to 503")]
    CellId {
        /// As asked.
        id: u16,
    },
    /// No such rate.
    #[error("three quarters of the sample rate needs at least 25 resource blocks, not {bandwidth}")]
    ThreeQuarters {
        /// As asked.
        bandwidth: Bandwidth,
    },
    /// No such transport block.
    #[error("the bandwidth has no transport block of {bits} bits")]
    TransportBlock {
        /// As asked.
        bits: usize,
    },
    /// A setting of the uplink outside its range.
    #[error("{what} can't be {value}; expected: {least} to {most}")]
    #[allow(missing_docs, reason = "the message says it")]
    Uplink { what: &'static str, value: u8, least: u8, most: u8 },
    /// An allocation of the PUSCH that a carrier lacks.
    #[error(
        "an uplink of {bandwidth} blocks can't carry {blocks} from block {first_block} on: it needs QPSK, 16QAM or \
         64QAM, and a number of blocks without prime factors above 5"
    )]
    #[allow(missing_docs, reason = "the message says it")]
    UplinkBlocks { first_block: u8, blocks: u8, bandwidth: Bandwidth },
    /// No such random access.
    #[error("random access: {setting} is {value}; at most {most} is allowed")]
    RandomAccess {
        /// Which setting.
        setting: &'static str,
        /// As asked.
        value: u16,
        /// The largest that there is.
        most: u16,
    },
    /// The coding has no such shape.
    #[error(transparent)]
    Coding(#[from] takt_dsp::lte::Error),
}
