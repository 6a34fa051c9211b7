//! What every study says of its run, whatever it measured.

use serde::{Deserialize, Serialize};
use takt_lab::About;
use takt_lab::check::{Answer, RoundsSummary, StoredRun};
use takt_lab::experiment::Rules;

use super::record::{left_out, records};
use super::{Claim, RoundRecord};

/// The part of an outcome that all studies share. Its keys stand beside those of the study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyRun {
    /// Version of the study's document.
    pub schema: u32,
    pub study: String,
    /// The run. Its keys stand beside the others.
    #[serde(flatten)]
    pub about: About,
    /// What was fixed before the data were seen; `None` in runs of older files.
    #[serde(default)]
    pub rules: Option<Rules>,
    pub claims: Vec<Claim>,
    /// Over all claims that this study is about: `fails` if one does, `holds` if all do.
    pub answer: Answer,
    pub rounds: RoundsSummary,
    /// What it says, a sentence each.
    pub says: Vec<String>,
    /// What it does not say, a sentence each.
    pub does_not_say: Vec<String>,
    /// What this depth, or this machine, left out, a sentence each.
    pub left_out: Vec<String>,
    /// Every round: where all numbers lead back to.
    pub records: Vec<RoundRecord>,
}

impl StudyRun {
    /// What a run says of itself; claims and sentences are the study's to add.
    pub(super) fn of(stored: &StoredRun, schema: u32) -> StudyRun {
        StudyRun {
            schema,
            study: study_of(stored).to_owned(),
            about: About::of(&stored.run, &stored.file, &stored.rounds),
            rules: stored.file.study.as_ref().and_then(|study| study.rules.clone()),
            claims: Vec::new(),
            answer: Answer::Unknown,
            rounds: stored.summary(),
            says: Vec::new(),
            does_not_say: Vec::new(),
            left_out: left_out(stored),
            records: records(stored),
        }
    }

    /// Limits of the figures that come from the run, and the rules they were measured by; without full stops.
    pub(super) fn limits(&self) -> Vec<String> {
        let mut words: Vec<String> = self.rules.iter().map(Rules::in_words).collect();
        if self.about.host.virtualisation.as_deref().is_some_and(|kind| kind != "none") {
            words.push("this host is virtual: its stalls are the hypervisor's as well as its own".to_owned());
        }
        if !self.about.complete {
            words.push("the run was interrupted: rounds are missing (--resume runs them)".to_owned());
        }
        words
    }
}

/// The name of the study that a run's file says it is; empty if it is none.
pub(super) fn study_of(stored: &StoredRun) -> &str {
    stored.file.study.as_ref().map_or("", |study| &study.name)
}
