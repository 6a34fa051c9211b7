//! What every study says of its run, whatever it measured, and the run as it stands in the store.

use serde::{Deserialize, Serialize};
use takt_lab::About;
use takt_lab::check::{Answer, AssembleError, RoundsSummary, summary};
use takt_lab::experiment::{Depth, Experiment};
use takt_lab::store::{PointRow, RoundRow, RunRow, Store};

use super::part::Part;
use super::record::{left_out, records};
use super::{Claim, PaperError, RoundRecord};

/// The part of an outcome that all studies share. Its keys stand beside those of the study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StudyRun {
    /// Version of the study's document.
    pub schema: u32,
    /// Name of the study.
    pub study: String,
    /// The run. Its keys stand beside the others.
    #[serde(flatten)]
    pub about: About,
    /// The paper's claims and what was seen of them.
    pub claims: Vec<Claim>,
    /// Over all claims that this study is about: `fails` if one does, `holds` if all do.
    pub answer: Answer,
    /// How many rounds went where.
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
    /// Limits of the figures that come from the run and not from the study; without full stops.
    pub(super) fn limits(&self) -> Vec<String> {
        let mut words = Vec::new();
        if self.about.host.virtualisation.as_deref().is_some_and(|kind| kind != "none") {
            words.push("this host is virtual: its stalls are the hypervisor's as well as its own".to_owned());
        }
        if !self.about.complete {
            words.push("the run was interrupted: rounds are missing (--resume runs them)".to_owned());
        }
        words
    }
}

/// A run of a study, as the store has it.
pub(super) struct Stored {
    pub(super) run: RunRow,
    pub(super) file: Experiment,
    pub(super) points: Vec<PointRow>,
    pub(super) rounds: Vec<RoundRow>,
    pub(super) depth: Depth,
}

impl Stored {
    pub(super) fn read(store: &Store, run: &str) -> Result<Stored, PaperError> {
        let run = store.run(run)?;
        let file = Experiment::parse(&run.experiment, &run.file);
        let file = file.map_err(|source| AssembleError::File { run: run.id.clone(), source })?;
        let depth = if run.depth == Depth::Quick.name() { Depth::Quick } else { Depth::Full };
        let (rounds, points) = (store.rounds(&run.id)?, store.points(&run.id)?);
        Ok(Stored { run, file, points, rounds, depth })
    }

    /// The name of the study that the file says it is.
    pub(super) fn study(&self) -> &str {
        self.file.study.as_ref().map_or("", |study| &study.name)
    }

    /// It is not of the study `wanted`.
    pub(super) fn other_than(self, wanted: &'static str) -> PaperError {
        PaperError::OtherStudy { run: self.run.id, experiment: self.run.experiment, study: wanted }
    }

    /// One of its parts.
    pub(super) fn part(&self, name: &str) -> Part<'_> {
        Part::of(&self.file, &self.points, &self.rounds, name, self.depth)
    }

    /// What it says of itself; claims and sentences are the study's to add.
    pub(super) fn about(&self, schema: u32) -> StudyRun {
        StudyRun {
            schema,
            study: self.study().to_owned(),
            about: About::of(&self.run, &self.file, &self.rounds),
            claims: Vec::new(),
            answer: Answer::Unknown,
            rounds: summary(&self.rounds, self.points.len() * self.file.round_count(self.depth) as usize),
            says: Vec::new(),
            does_not_say: Vec::new(),
            left_out: left_out(&self.file, self.depth, &self.points, &self.rounds),
            records: records(&self.file, &self.points, &self.rounds),
        }
    }
}
