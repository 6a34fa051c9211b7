//! Soft values of the HARQ processes of a few terminals.

use takt_lte::{Bandwidth, Rnti, SoftBuffer};

/// Processes of a terminal: TS 36.213 sections 7 and 8, FDD.
pub(crate) const PROCESSES: usize = 8;

/// A fixed number of sets of processes. A terminal that has none gets the one that was used least recently.
pub(crate) struct ProcessSets {
    /// The one used last is the first.
    sets: Vec<(Option<Rnti>, [SoftBuffer; PROCESSES])>,
}

impl ProcessSets {
    pub(crate) fn new(bandwidth: Bandwidth, terminals: usize) -> ProcessSets {
        let set = || (None, std::array::from_fn(|_| SoftBuffer::new(bandwidth)));
        ProcessSets { sets: std::iter::repeat_with(set).take(terminals).collect() }
    }

    /// The process of a terminal; its number counts modulo 8.
    pub(crate) fn of(&mut self, rnti: Rnti, process: u8) -> &mut SoftBuffer {
        let known = self.sets.iter().position(|(owner, _)| *owner == Some(rnti));
        let at = known.unwrap_or(self.sets.len() - 1);
        self.sets[..=at].rotate_right(1);
        let (owner, set) = &mut self.sets[0];
        if known.is_none() {
            *owner = Some(rnti);
            set.iter_mut().for_each(SoftBuffer::clear);
        }
        &mut set[usize::from(process) % PROCESSES]
    }
}
