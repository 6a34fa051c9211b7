//! The stages of an answer: differences of one row of time stamps, so that they add up to the total.

use std::array;

/// A stage of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    name: &'static str,
    /// The thread that waits, or works, in it.
    pub(super) thread: &'static str,
}

/// All, in order; the comment beside each says what ends it.
pub const STAGES: [Stage; 10] = [
    Stage { name: "air", thread: "takt-interface" }, // the four downlink slots are over: 2.7 ms by definition
    Stage { name: "transfer", thread: "takt-interface" }, // the last samples are in this host's kernel
    Stage { name: "wake_interface", thread: "takt-interface" }, // the interface runs and has them
    Stage { name: "interface", thread: "takt-interface" }, // it has handed them over
    Stage { name: "wake_physical", thread: "takt-physical" }, // the physical layer runs
    Stage { name: "physical", thread: "takt-physical" }, // it has decoded them
    Stage { name: "wake_higher", thread: "takt-higher" }, // the higher layer runs
    Stage { name: "higher", thread: "takt-higher" }, // it has decided
    Stage { name: "wake_answer", thread: "takt-answer" }, // the sending thread of the interface runs
    Stage { name: "answer", thread: "takt-answer" }, // the answer is handed to the kernel
];

impl Stage {
    /// As in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.name
    }
}

/// The instants between the stages, nanoseconds of this host: the intended beginning of the first downlink slot, the
/// intended end of the last, and then what was noted.
pub(super) type Row = [i64; STAGES.len() + 1];

/// How long each stage took.
pub(super) fn of(row: &Row) -> [i64; STAGES.len()] {
    array::from_fn(|stage| row[stage + 1] - row[stage])
}

/// From the first instant to the last.
pub(super) fn total(row: &Row) -> i64 {
    row[STAGES.len()] - row[0]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Whatever the stamps are, in whatever order.
        #[test]
        fn stages_add_up_to_the_total(row in proptest::array::uniform11(-1_000_000_000_i64..1_000_000_000)) {
            prop_assert_eq!(of(&row).iter().sum::<i64>(), total(&row));
        }
    }

    #[test]
    fn every_stage_has_the_name_that_records_have() {
        let names =
            "air transfer wake_interface interface wake_physical physical wake_higher higher wake_answer answer";
        assert!(STAGES.map(Stage::name).into_iter().eq(names.split(' ')));
    }
}
