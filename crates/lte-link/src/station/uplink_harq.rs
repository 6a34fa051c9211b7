//! Eight synchronous processes of the uplink of a terminal: TS 36.213 section 8, TS 36.321 section 5.4.2.
//!
//! A grant in subframe n is for PUSCH in n + 4, answered on PHICH in n + 8. A repetition is in n + 12 on the same blocks, unless a
//! grant with the same new-data indicator moves it.

use crate::{PuschShape, REDUNDANCY_VERSIONS, UplinkGrant};

/// The block that a process waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Nothing.
    #[default]
    Idle,
    /// PUSCH in this subframe.
    Due(u64),
    /// A grant that repeats its block: there was no room.
    Parked {
        /// Whether the terminal is known to have its grant.
        has_grant: bool,
    },
}

/// A block of the uplink.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UplinkProcess {
    pub(crate) phase: Phase,
    new_data: bool,
    /// Transmissions so far.
    pub(crate) tries: u8,
    pub(crate) shape: PuschShape,
    /// The subframe of its first transmission.
    pub(crate) begun: u64,
}

impl UplinkProcess {
    /// A new block in subframe `at`: its grant.
    pub(crate) fn begin(&mut self, shape: PuschShape, at: u64, power: u8) -> UplinkGrant {
        self.new_data = !self.new_data;
        *self = UplinkProcess { phase: Phase::Due(at), new_data: self.new_data, tries: 1, shape, begun: at };
        self.grant(shape.mcs, power)
    }

    /// Message 3, granted in an answer to random access, which has no new-data indicator.
    pub(crate) fn begin_message3(&mut self, shape: PuschShape, at: u64) {
        *self = UplinkProcess { phase: Phase::Due(at), new_data: false, tries: 1, shape, begun: at };
    }

    fn grant(&self, mcs: u8, power: u8) -> UplinkGrant {
        let PuschShape { first_block, blocks, cyclic_shift, .. } = self.shape;
        UplinkGrant { first_block, blocks, mcs, new_data: self.new_data, power, cyclic_shift, cqi_request: false }
    }

    /// Repeats the block in subframe `at` on the same resource blocks, at the word of PHICH.
    pub(crate) fn repeat(&mut self, at: u64) {
        let next = REDUNDANCY_VERSIONS.iter().position(|&one| one == self.shape.redundancy_version).unwrap_or(0) + 1;
        self.shape.redundancy_version = REDUNDANCY_VERSIONS[next % 4];
        self.tries += 1;
        self.phase = Phase::Due(at);
    }

    /// Repeats the block in subframe `at` from `first_block` on, at the word of the grant.
    ///
    /// A terminal that has missed the first grant takes this one for it: so it must name the size.
    pub(crate) fn repeat_elsewhere(&mut self, first_block: u8, has_grant: bool, at: u64, power: u8) -> UplinkGrant {
        self.shape.first_block = first_block;
        if has_grant {
            self.repeat(at);
        } else {
            self.shape.redundancy_version = 0;
            self.tries += 1;
            self.phase = Phase::Due(at);
        }
        let mcs = match self.shape.redundancy_version {
            0 => self.shape.mcs,
            version => 28 + version,
        };
        self.grant(mcs, power)
    }

    /// The block has ended, one way or the other.
    pub(crate) fn end(&mut self) {
        self.phase = Phase::Idle;
    }
}
