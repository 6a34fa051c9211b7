//! Eight processes of the downlink at the terminal: which block is new, and which was taken already. TS 36.321 section 5.3.2.

use crate::DownlinkGrant;

#[derive(Clone, Copy, Debug, Default)]
struct Process {
    new_data: Option<bool>,
    taken: bool,
}

/// The processes of a terminal.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DownlinkHarq {
    processes: [Process; 8],
}

impl DownlinkHarq {
    /// Whether the assignment is of another block than the last one of its process.
    pub(crate) fn is_new(&self, grant: &DownlinkGrant) -> bool {
        self.processes[usize::from(grant.process & 7)].new_data != Some(grant.new_data)
    }

    /// An assignment was heard, and its block or not: whether to take the block upwards.
    pub(crate) fn heard(&mut self, grant: &DownlinkGrant, arrived: bool) -> Heard {
        let is_new = self.is_new(grant);
        let process = &mut self.processes[usize::from(grant.process & 7)];
        if is_new {
            *process = Process { new_data: Some(grant.new_data), taken: false };
        }
        let take = arrived && !process.taken;
        process.taken |= arrived;
        Heard { take, ack: process.taken }
    }
}

/// The reaction to a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Heard {
    /// It is there for the first time.
    pub(crate) take: bool,
    /// The answer to the base station.
    pub(crate) ack: bool,
}
