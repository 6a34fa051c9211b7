//! Numbers far ahead of all before: a flow goes on after an outage, or a number was damaged on its way.
//!
//! A single damaged number must not make all that come after it too old. So a datagram whose number is more than [`SPAN`]
//! ahead waits for the next one of its flow. If that is not as far behind it, the flow has jumped, and the one that waited
//! counts. Else its number was wrong. At most one datagram a flow waits, whatever comes, and a repetition of it says nothing.

use takt_base::MonoNs;

use super::protocol::data::Data;
use super::window::SPAN;

/// A datagram of load as it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Came {
    pub data: Data,
    pub bytes: usize,
    pub arrived: MonoNs,
}

/// The evidence of a datagram about the one that waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Said {
    /// None waits any more.
    Nothing,
    /// It is the same once more.
    Again,
    /// The flow has jumped: this one counts, and came again this often.
    Jumped(Came, u64),
}

/// The datagram of a flow that waits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Jumps {
    waiting: Option<Came>,
    /// How often it came again.
    again: u64,
    wrong: u64,
}

impl Jumps {
    /// The next datagram of the flow has this number.
    pub fn look(&mut self, sequence: u64) -> Said {
        let Some(waiting) = self.waiting else { return Said::Nothing };
        if sequence == waiting.data.sequence {
            self.again += 1;
            return Said::Again;
        }
        let again = std::mem::take(&mut self.again);
        self.waiting = None;
        if sequence.saturating_add(SPAN) >= waiting.data.sequence {
            return Said::Jumped(waiting, again);
        }
        self.wrong += 1 + again;
        Said::Nothing
    }

    /// This one waits. None does when a datagram was looked at and not the same.
    pub fn wait(&mut self, came: Came) {
        self.waiting = Some(came);
    }

    /// Datagrams whose number was wrong, with one that still waits.
    pub fn wrong(&self) -> u64 {
        self.wrong + self.waiting.map_or(0, |_| 1 + self.again)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: u64 = 1 << 40;

    fn came(sequence: u64) -> Came {
        Came { data: Data { flow: 0, round: 0, sequence, intended: MonoNs(0) }, bytes: 64, arrived: MonoNs(9) }
    }

    #[test]
    fn the_next_datagram_says_whether_the_flow_has_jumped() {
        let mut jumps = Jumps::default();
        assert_eq!(jumps.look(3), Said::Nothing);
        for near in [FAR + 1, FAR - 1, FAR - SPAN, FAR + 5 * SPAN] {
            jumps.wait(came(FAR));
            assert_eq!((jumps.look(near), jumps.wrong()), (Said::Jumped(came(FAR), 0), 0), "{near}");
        }
        jumps.wait(came(FAR));
        assert_eq!((jumps.wrong(), jumps.look(FAR - SPAN - 1), jumps.wrong()), (1, Said::Nothing, 1));
        assert_eq!(jumps.look(FAR), Said::Nothing, "it waits no more");
    }

    #[test]
    fn a_repetition_confirms_nothing_and_counts_with_what_it_repeats() {
        let mut jumps = Jumps::default();
        jumps.wait(came(FAR));
        assert_eq!((jumps.look(FAR), jumps.look(FAR), jumps.wrong()), (Said::Again, Said::Again, 3));
        assert_eq!((jumps.look(FAR + 1), jumps.wrong()), (Said::Jumped(came(FAR), 2), 0));
        jumps.wait(came(FAR));
        jumps.look(FAR);
        assert_eq!((jumps.look(7), jumps.wrong()), (Said::Nothing, 2));
    }
}
