//! The whole interface to the air: what the physical layer of each end heard in a subframe, and what the link layer orders.

use takt_lte::Tti;

use crate::{DownlinkGrant, PuschShape, Rnti, SearchSpace, UplinkGrant};

/// An uplink subframe, as the base station heard it.
#[derive(Clone, Copy, Debug, Default)]
pub struct UplinkHeard<'a> {
    /// Preambles of random access.
    pub preambles: &'a [PreambleHeard],
    /// One for each [`PuschExpected`] of this subframe. One that is missing counts as not detected.
    pub pusch: &'a [PuschHeard<'a>],
    /// One for each terminal in [`UplinkPlan::acknowledgements`], from PUSCH or PUCCH. One that is missing counts as `Dtx`.
    pub acknowledgements: &'a [(Rnti, Feedback)],
    /// Terminals that asked to be scheduled.
    pub scheduling_requests: &'a [Rnti],
    /// Channel quality indicators 0 to 15.
    pub cqi: &'a [(Rnti, u8)],
}

/// A preamble that the detector found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreambleHeard {
    /// 0 to 63.
    pub preamble: u8,
    /// How late it came, in units of 16 T_s: 0 to 1282.
    pub timing_advance: u16,
}

/// A PUSCH that was expected.
#[derive(Clone, Copy, Debug)]
pub struct PuschHeard<'a> {
    /// The terminal.
    pub rnti: Rnti,
    /// The transport block if its check was right.
    pub block: Option<&'a [u8]>,
    /// Whether there was a signal at all. Without one, the terminal has missed its grant.
    pub detected: bool,
    /// Signal to noise ratio of its reference symbols.
    pub snr_db: f32,
    /// How late it came, in units of 16 T_s.
    pub late: i16,
}

/// The answer of a terminal to a downlink block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Feedback {
    /// The block arrived.
    Ack,
    /// The assignment arrived, and the block did not.
    Nack,
    /// Nothing was heard.
    Dtx,
}

/// Orders to a base station: what it sends in a downlink subframe, and what it listens for later.
///
/// A grant or assignment for which the control channel has no room may be left out: it counts as one that was not heard.
#[derive(Clone, Debug, Default)]
pub struct DownlinkOrders {
    /// The downlink subframe.
    pub tti: Tti,
    /// Blocks on PDSCH, each with its assignment, the most urgent first.
    pub blocks: Vec<DownlinkBlock>,
    /// Grants, for PUSCH four subframes later.
    pub grants: Vec<GrantOrder>,
    /// Acknowledgements on PHICH for PUSCH of four subframes before.
    pub acknowledgements: Vec<PhichOrder>,
    /// The uplink subframe [`Self::tti`] + 4.
    pub listen: UplinkPlan,
}

/// A block on PDSCH.
#[derive(Clone, Debug)]
pub struct DownlinkBlock {
    /// Whom it addresses.
    pub rnti: Rnti,
    /// Its assignment.
    pub grant: DownlinkGrant,
    /// The search space of the assignment.
    pub space: SearchSpace,
    /// Control channel elements of the assignment: 1, 2, 4 or 8.
    pub aggregation: u8,
    /// The transport block.
    pub bytes: Vec<u8>,
}

/// A grant on PDCCH.
#[derive(Clone, Copy, Debug)]
pub struct GrantOrder {
    /// Whom it addresses.
    pub rnti: Rnti,
    /// The grant.
    pub grant: UplinkGrant,
    /// The search space of the grant.
    pub space: SearchSpace,
    /// Control channel elements: 1, 2, 4 or 8.
    pub aggregation: u8,
}

/// An acknowledgement on PHICH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PhichOrder {
    /// The lowest block of the PUSCH.
    pub first_block: u8,
    /// Cyclic shift of its reference signal.
    pub cyclic_shift: u8,
    /// Whether the block arrived, or shall not be sent again.
    pub ack: bool,
}

/// Plan of a base station for an uplink subframe.
#[derive(Clone, Debug, Default)]
pub struct UplinkPlan {
    /// The uplink subframe.
    pub tti: Tti,
    /// Whether terminals may send preambles in it.
    pub preambles: bool,
    /// Transmissions on PUSCH.
    pub pusch: Vec<PuschExpected>,
    /// Terminals that answer a block, and their resource of PUCCH format 1a. A terminal with PUSCH answers there.
    pub acknowledgements: Vec<(Rnti, u16)>,
    /// Terminals that may ask to be scheduled, and their resource of PUCCH format 1.
    pub scheduling_requests: Vec<(Rnti, u16)>,
    /// Terminals that report their channel, and their resource of PUCCH format 2.
    pub cqi: Vec<(Rnti, u16)>,
}

/// A PUSCH that the base station will receive.
#[derive(Clone, Copy, Debug)]
pub struct PuschExpected {
    /// The terminal.
    pub rnti: Rnti,
    /// How it looks.
    pub shape: PuschShape,
    /// HARQ process, 0 to 7.
    pub process: u8,
    /// Whether it is the first transmission of its block, so that nothing is to be combined.
    pub new_block: bool,
}

/// A downlink subframe, as a terminal heard it.
#[derive(Clone, Copy, Debug, Default)]
pub struct DownlinkHeard<'a> {
    /// Whether the receiver follows the cell.
    pub in_sync: bool,
    /// The channel quality indicator measured last, 0 to 15.
    pub cqi: u8,
    /// Downlink assignments that were found, each with its block.
    pub blocks: &'a [BlockHeard<'a>],
    /// Grants that were found.
    pub grants: &'a [(Rnti, UplinkGrant)],
    /// The answer on PHICH to what was sent four subframes before; `None` if nothing was sent or nothing recognised.
    pub acknowledgement: Option<bool>,
}

/// A downlink assignment that was found.
#[derive(Clone, Copy, Debug)]
pub struct BlockHeard<'a> {
    /// Whom it addressed.
    pub rnti: Rnti,
    /// The assignment.
    pub grant: DownlinkGrant,
    /// The transport block if its check was right.
    pub block: Option<&'a [u8]>,
}

/// Orders to a terminal: what it sends in an uplink subframe, and what it listens for.
#[derive(Clone, Debug, Default)]
pub struct UplinkOrders {
    /// The uplink subframe.
    pub tti: Tti,
    /// A preamble of random access. There is nothing else then.
    pub preamble: Option<PreambleOrder>,
    /// A block on PUSCH.
    pub pusch: Option<PuschOrder>,
    /// Control information on PUCCH; `None` if there is a PUSCH.
    pub pucch: Option<PucchOrder>,
    /// How much earlier than its reception the terminal sends, in units of 16 T_s. A preamble is sent with 0.
    pub timing_advance: u16,
    /// The plan for the downlink, from the next subframe on if possible, and from [`Self::tti`] on at the latest.
    pub listen: DownlinkPlan,
}

/// A preamble to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PreambleOrder {
    /// 0 to 63.
    pub preamble: u8,
    /// How far above the power of a first attempt.
    pub ramp_db: u16,
}

/// A block to send on PUSCH.
#[derive(Clone, Debug)]
pub struct PuschOrder {
    /// Scrambles it.
    pub rnti: Rnti,
    /// How it looks.
    pub shape: PuschShape,
    /// The answer to a downlink block of four subframes before.
    pub ack: Option<bool>,
    /// Sum of the commands of power control.
    pub power_db: i8,
    /// The transport block.
    pub bytes: Vec<u8>,
}

/// A transmission on PUCCH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PucchOrder {
    /// Format 1a.
    Acknowledgement {
        /// Whether the block arrived.
        ack: bool,
        /// The resource of format 1a.
        resource: u16,
    },
    /// Format 1, or 1a on the same resource with an answer to a block: TS 36.213 section 7.3.
    SchedulingRequest {
        /// The answer to a downlink block.
        ack: Option<bool>,
        /// The resource of format 1.
        resource: u16,
    },
    /// Format 2.
    Cqi {
        /// 0 to 15.
        cqi: u8,
        /// The resource of format 2.
        resource: u16,
    },
}

/// Plan of a terminal for downlink subframes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DownlinkPlan {
    /// Whether to look for [`Rnti::SI`].
    pub system_information: bool,
    /// The answer to random access that it waits for.
    pub random_access: Option<Rnti>,
    /// Its own identifier, also while that is temporary.
    pub own: Option<Rnti>,
    /// Lowest block and cyclic shift of the PUSCH in [`UplinkOrders::tti`]: its PHICH comes four subframes after that.
    pub phich: Option<(u8, u8)>,
}
