//! Eight stop-and-wait processes of the downlink of a terminal: TS 36.213 section 7, TS 36.321 section 5.3.2.
//!
//! A block sent in subframe n is answered in n + 4, and sent again in n + 8 at the earliest, wherever there is room then.

use crate::{DownlinkGrant, Feedback, REDUNDANCY_VERSIONS, TRANSMISSIONS};

/// A block between its first transmission and its end.
#[derive(Clone, Debug, Default)]
struct Process {
    new_data: bool,
    /// Transmissions so far; 0: idle.
    tries: u8,
    /// The subframe whose uplink brings the answer; `None`: to be sent again.
    due: Option<u64>,
    grant: DownlinkGrant,
    bytes: Vec<u8>,
}

/// The outcome of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outcome {
    pub(crate) arrived: bool,
    /// Whether the terminal said so, rather than nothing.
    pub(crate) answered: bool,
    pub(crate) is_first: bool,
    pub(crate) given_up: bool,
}

/// The processes of a terminal.
#[derive(Clone, Debug, Default)]
pub(crate) struct DownlinkHarq {
    processes: [Process; 8],
}

impl DownlinkHarq {
    /// Takes the answer of the block that was sent four subframes before `now`; overdue ones count as unanswered.
    pub(crate) fn answer(&mut self, now: u64, feedback: Feedback) -> Option<Outcome> {
        let mut found = None;
        for process in self.processes.iter_mut().filter(|one| one.tries > 0) {
            let feedback = match process.due {
                Some(due) if due == now => feedback,
                Some(due) if due < now => Feedback::Dtx,
                _ => continue,
            };
            let (arrived, is_first) = (feedback == Feedback::Ack, process.tries == 1);
            let given_up = !arrived && process.tries >= TRANSMISSIONS;
            process.due = None;
            if arrived || given_up {
                process.tries = 0;
            }
            found = Some(Outcome { arrived, answered: feedback != Feedback::Dtx, is_first, given_up });
        }
        found
    }

    /// Whether an answer is due in this subframe.
    pub(crate) fn is_answered_in(&self, subframe: u64) -> bool {
        self.processes.iter().any(|one| one.tries > 0 && one.due == Some(subframe))
    }

    /// Blocks that a repetition needs, of the process that waits for one.
    pub(crate) fn repetition(&self) -> Option<(u8, u8)> {
        let waits = |one: &Process| one.tries > 0 && one.due.is_none();
        let at = self.processes.iter().position(waits)?;
        Some((at as u8, self.processes[at].grant.blocks))
    }

    /// Sends a block again in subframe `at`, from `first_block` on.
    pub(crate) fn repeat(&mut self, process: u8, first_block: u8, at: u64) -> (DownlinkGrant, Vec<u8>) {
        let one = &mut self.processes[usize::from(process)];
        one.grant.first_block = first_block;
        one.grant.redundancy_version = REDUNDANCY_VERSIONS[usize::from(one.tries % 4)];
        one.tries += 1;
        one.due = Some(at + 4);
        (one.grant, one.bytes.clone())
    }

    /// The indicator that tells a new block of the process from its last one.
    pub(crate) fn next_indicator(&self, process: u8) -> bool {
        !self.processes[usize::from(process)].new_data
    }

    /// A process without a block.
    pub(crate) fn idle(&self) -> Option<u8> {
        self.processes.iter().position(|one| one.tries == 0).map(|at| at as u8)
    }

    /// Sends a new block in subframe `at`.
    pub(crate) fn begin(&mut self, process: u8, grant: DownlinkGrant, bytes: &[u8], at: u64) -> DownlinkGrant {
        let one = &mut self.processes[usize::from(process)];
        one.new_data = !one.new_data;
        one.tries = 1;
        one.due = Some(at + 4);
        one.grant = DownlinkGrant { process, new_data: one.new_data, redundancy_version: 0, ..grant };
        one.bytes.clear();
        one.bytes.extend_from_slice(bytes);
        one.grant
    }
}
