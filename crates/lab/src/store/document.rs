//! A run as one document: what `takt experiment export --format json` writes.

use serde::Serialize;

use super::{PointRow, RoundRow, RunRow, Store, StoreError};

/// Version of the document; raised when a key changes its meaning.
pub const EXPORT_SCHEMA: u32 = 1;

/// A run, whole: nothing of the store is left out, nothing derived is added. Its shape is published as
/// `docs/reference/experiment-export.schema.json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Document {
    /// [`EXPORT_SCHEMA`] of the program that wrote it.
    pub schema: u32,
    pub run: RunRow,
    pub file: String,
    /// Combinations of factors, in the order of their numbers.
    pub points: Vec<PointRow>,
    /// Rounds in the order in which they were run.
    pub rounds: Vec<RoundRow>,
}

impl Store {
    pub fn document(&self, run: &str) -> Result<Document, StoreError> {
        let run = self.run(run)?;
        let (file, points, rounds) = (run.file.clone(), self.points(&run.id)?, self.rounds(&run.id)?);
        Ok(Document { schema: EXPORT_SCHEMA, run, file, points, rounds })
    }
}
