//! The stages of an answer: differences of one row of time stamps, so that they add up to the total.

use serde::{Deserialize, Serialize};

/// A stage of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The four downlink slots on the air: 2.7 ms by definition.
    Air,
    /// Until the last samples are in this host's kernel.
    Transfer,
    /// Until the interface runs and has them.
    WakeInterface,
    /// Until it has handed them over.
    Interface,
    /// Until the physical layer runs.
    WakePhysical,
    /// Until it has decoded them.
    Physical,
    /// Until the higher layer runs.
    WakeHigher,
    /// Until it has decided.
    Higher,
    /// Until the sending thread of the interface runs.
    WakeAnswer,
    /// Until the answer is handed to the kernel.
    Answer,
}

/// All, in order.
pub const STAGES: [Stage; 10] = [
    Stage::Air,
    Stage::Transfer,
    Stage::WakeInterface,
    Stage::Interface,
    Stage::WakePhysical,
    Stage::Physical,
    Stage::WakeHigher,
    Stage::Higher,
    Stage::WakeAnswer,
    Stage::Answer,
];

impl Stage {
    /// As in records.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Stage::Air => "air",
            Stage::Transfer => "transfer",
            Stage::WakeInterface => "wake_interface",
            Stage::Interface => "interface",
            Stage::WakePhysical => "wake_physical",
            Stage::Physical => "physical",
            Stage::WakeHigher => "wake_higher",
            Stage::Higher => "higher",
            Stage::WakeAnswer => "wake_answer",
            Stage::Answer => "answer",
        }
    }
}

/// The instants between the stages, nanoseconds of this host: the intended beginning of the first downlink slot, the
/// intended end of the last, and then what was noted.
pub(super) type Row = [i64; STAGES.len() + 1];

/// How long each stage took.
pub(super) fn of(row: &Row) -> [i64; STAGES.len()] {
    let mut stages = [0; STAGES.len()];
    for (stage, pair) in stages.iter_mut().zip(row.windows(2)) {
        if let [from, to] = pair {
            *stage = to - from;
        }
    }
    stages
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
    fn every_stage_has_a_name_of_its_own() {
        let mut names = STAGES.map(Stage::name).to_vec();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STAGES.len());
        assert!(STAGES.iter().all(|stage| serde_json::json!(stage) == stage.name()));
    }
}
