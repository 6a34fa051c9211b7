//! Findings of the study, as data: `takt paper linux-rt --json` prints them.

use serde::{Deserialize, Serialize};

use super::{Case, EffectFacts, TraceFacts};
use crate::study::StudyRun;
use crate::sweep::{Chart, Facts, SiteFacts};

/// Version of the document; raised when a key changes its meaning.
pub const SCHEMA: u32 = 2;

/// Everything the study found: what `takt paper linux-rt --json` prints. Keys are stable and carry their units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinuxRtOutcome {
    #[serde(flatten)]
    pub of: StudyRun,
    /// Sites of rounds, and what was in force there.
    pub sites: Vec<SiteFacts>,
    pub paper: Facts,
    /// Every point of every part.
    pub cases: Vec<Case>,
    pub figure_6: Chart,
    /// Gain from each measure, alone and together; empty without two whole blocks.
    pub effects: Vec<EffectFacts>,
    /// Measures of these that this host can't have.
    #[serde(default)]
    pub measures_not_had: Vec<String>,
    /// Threads that ran while the worst answers waited.
    pub traces: Vec<TraceFacts>,
    /// Whether the paper's best figure was reached under the load named, by the bounds of both accounts: the first thing to know.
    #[serde(default)]
    pub goal: String,
    pub warnings: Vec<String>,
}

impl LinuxRtOutcome {
    /// The case of a part with these settings; those not named are as they may be.
    #[must_use]
    pub fn case(&self, part: &str, settings: &[(&str, &str)]) -> Option<&Case> {
        let fits = |case: &&Case| {
            case.part == part && settings.iter().all(|(name, level)| case.level(name).as_deref() == Some(level))
        };
        self.cases.iter().find(fits)
    }
}
