//! Eight synchronous processes of the uplink at the terminal: TS 36.321 section 5.4.2.

use crate::{PuschShape, REDUNDANCY_VERSIONS, UplinkGrant};

/// A block that was sent, until it is replaced or given up.
#[derive(Clone, Debug, Default)]
struct Process {
    /// None: the buffer is empty.
    bytes: Vec<u8>,
    new_data: Option<bool>,
    shape: PuschShape,
    tries: u8,
    most: u8,
    sent_at: u64,
}

/// The transmission that a grant asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asked {
    /// A new block of this many bytes.
    New(usize),
    /// The block that was sent before.
    Repetition,
    /// Nothing that can be sent.
    Nothing,
}

/// The processes of a terminal.
#[derive(Clone, Debug, Default)]
pub(crate) struct UplinkHarq {
    processes: [Process; 8],
}

impl UplinkHarq {
    fn process(&mut self, at: u64) -> &mut Process {
        &mut self.processes[(at % 8) as usize]
    }

    /// The transmission that a grant for PUSCH in subframe `at` asks for; `bytes` is the size that it names.
    pub(crate) fn asked(&mut self, grant: &UplinkGrant, at: u64, bytes: Option<usize>) -> Asked {
        let process = self.process(at);
        let is_same = !process.bytes.is_empty() && process.new_data == Some(grant.new_data);
        match bytes {
            // A size that differs is another block, whose indicator toggled twice.
            Some(bytes) if is_same && process.bytes.len() == bytes => Asked::Repetition,
            Some(bytes) if bytes > 0 => Asked::New(bytes),
            None if is_same => Asked::Repetition,
            _ => Asked::Nothing,
        }
    }

    /// Sends a new block in subframe `at`.
    pub(crate) fn begin(&mut self, new_data: bool, shape: PuschShape, bytes: Vec<u8>, most: u8, at: u64) {
        *self.process(at) = Process { bytes, new_data: Some(new_data), shape, tries: 1, most, sent_at: at };
    }

    /// Sends a block again where the grant says.
    pub(crate) fn repeat_at_grant(&mut self, grant: &UplinkGrant, at: u64) {
        let process = self.process(at);
        let version = grant.mcs.saturating_sub(28);
        let (first_block, blocks) = (grant.first_block, grant.blocks);
        let (mcs, cyclic_shift) = (process.shape.mcs, grant.cyclic_shift);
        process.shape = PuschShape { first_block, blocks, mcs, redundancy_version: version, cyclic_shift };
        process.tries += 1;
        process.sent_at = at;
    }

    /// Takes the PHICH of subframe `now`, about the block sent four subframes before. Answers whether to send it again.
    pub(crate) fn answered(&mut self, now: u64, acknowledgement: Option<bool>) -> bool {
        let at = now + 4;
        let process = self.process(at);
        // Without an answer it stays quiet: another terminal may have these blocks.
        let refused = acknowledgement == Some(false) && process.sent_at + 4 == now && !process.bytes.is_empty();
        if !refused {
            return false;
        }
        if process.tries >= process.most {
            process.bytes.clear();
            return false;
        }
        let next = REDUNDANCY_VERSIONS.iter().position(|&one| one == process.shape.redundancy_version).unwrap_or(0) + 1;
        process.shape.redundancy_version = REDUNDANCY_VERSIONS[next % 4];
        process.tries += 1;
        process.sent_at = at;
        true
    }

    /// The block to send in subframe `at`.
    pub(crate) fn sent_in(&self, at: u64) -> Option<(PuschShape, &[u8])> {
        let process = &self.processes[(at % 8) as usize];
        (process.sent_at == at && !process.bytes.is_empty()).then_some((process.shape, &process.bytes))
    }

    /// Forgets all blocks.
    pub(crate) fn clear(&mut self) {
        *self = UplinkHarq::default();
    }
}
