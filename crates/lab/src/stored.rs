//! [`StoredRun`]: a run as the store has it, and its file as this version reads it.

use serde::{Deserialize, Serialize};

use crate::experiment::{Depth, Experiment, FileError, Part};
use crate::store::{PointRow, RoundRow, RunRow, Store, StoreError};
use crate::summary::RoundCounts;

#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AssembleError {
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The file it was made from is one that this version can't read.
    #[error("this takt can't read the experiment of run {run}")]
    File {
        run: String,
        #[source]
        source: FileError,
    },
}

impl AssembleError {
    #[must_use]
    pub fn fix(&self) -> Option<String> {
        match self {
            AssembleError::Store(error) => error.fix(),
            AssembleError::File { .. } => Some("use the version of takt that measured the run".to_owned()),
        }
    }
}

/// A run as the store has it, and its file as this version reads it.
#[derive(Debug)]
pub struct StoredRun {
    pub run: RunRow,
    pub file: Experiment,
    pub depth: Depth,
    /// In the order of their numbers.
    pub points: Vec<PointRow>,
    /// In the order in which they were run.
    pub rounds: Vec<RoundRow>,
}

impl StoredRun {
    /// # Errors
    /// There is no such run, or it can't be read.
    pub fn read(store: &Store, run: &str) -> Result<StoredRun, AssembleError> {
        let run = store.run(run)?;
        let file = Experiment::recorded(&run.experiment, &run.file);
        let file = file.map_err(|source| AssembleError::File { run: run.id.clone(), source })?;
        let depth = if run.depth == Depth::Quick.name() { Depth::Quick } else { Depth::Full };
        let (points, rounds) = (store.points(&run.id)?, store.rounds(&run.id)?);
        Ok(StoredRun { run, file, depth, points, rounds })
    }

    /// Each point of a part that the file has, with its rounds.
    pub fn by_point(&self) -> impl Iterator<Item = (&Part, &PointRow, Vec<&RoundRow>)> {
        (0_u32..).zip(&self.points).filter_map(|(number, point)| {
            let part = self.file.parts.iter().find(|part| part.name == point.part)?;
            Some((part, point, self.rounds.iter().filter(|round| round.point == number).collect()))
        })
    }

    /// How many rounds there are, how many of them count, and why others do not.
    #[must_use]
    pub fn summary(&self) -> RoundsSummary {
        let RoundCounts { valid, disturbed, emulator_late, failed, skipped } = RoundCounts::of(&self.rounds);
        let planned = self.points.len() * self.file.round_count(self.depth) as usize;
        let repeated = self.rounds.iter().filter(|round| round.attempt > 0).count();
        RoundsSummary { planned, valid, disturbed, emulator_late, failed, skipped, repeated }
    }
}

/// How many rounds went where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RoundsSummary {
    /// Points times rounds.
    pub planned: usize,
    pub valid: usize,
    /// Run, disturbed by other load, not counted.
    pub disturbed: usize,
    /// Run, emulator late, not counted.
    pub emulator_late: usize,
    pub failed: usize,
    /// Not run, since a lower rate had failed clearly.
    pub skipped: usize,
    /// Run again in place of one that did not count.
    pub repeated: usize,
}
