//! Addresses and grants: the fields of downlink control information that the link layer decides. TS 36.212 section 5.3.3.1.

use takt_lte::valid_uplink_blocks;
pub use takt_lte::{DownlinkGrant, Rnti, SearchSpace, UplinkGrant};

/// Redundancy versions of a block's transmissions, in order: TS 36.321 section 5.4.2.2.
pub const REDUNDANCY_VERSIONS: [u8; 4] = [0, 2, 3, 1];

/// Transmissions of a block before HARQ gives it up.
pub const TRANSMISSIONS: u8 = 4;

/// Subframes between what was heard and what is sent because of it.
///
/// An end that is told what subframe n brought says what it sends in subframe n + 4: TS 36.213 sections 8, 9.1.2 and 10.2.
pub const AHEAD: u32 = 4;

/// How one transmission on PUSCH looks; both ends compute it alike.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PuschShape {
    /// The lowest resource block.
    pub first_block: u8,
    /// Resource blocks.
    pub blocks: u8,
    /// Modulation and coding of the block's first transmission, 0 to 28: gives its size and modulation.
    pub mcs: u8,
    /// 0 to 3.
    pub redundancy_version: u8,
    /// Cyclic shift of the reference signal, 0 to 7.
    pub cyclic_shift: u8,
}

/// The largest number of uplink blocks up to `most` that a transform takes: 2^a 3^b 5^c, TS 36.211 section 5.3.3.
#[must_use]
pub fn uplink_blocks_within(most: u8) -> u8 {
    (1..=most).rev().find(|&n| valid_uplink_blocks(n.into())).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn transforms_have_small_factors() {
        assert_eq!([7, 11, 23, 100, 97].map(uplink_blocks_within), [6, 10, 20, 100, 96]);
        assert_eq!(uplink_blocks_within(0), 0);
        assert!(!valid_uplink_blocks(0));
    }
}
