//! The mapping in force in a waveform that runs, and another one in its place.

use serde::Deserialize;
use takt_graph::{Graph, Latency};
use takt_mapper::Mapping;

use super::{Request, RequestAnswer, ask};

/// Constraints on a mapping of the waveform that runs.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct InForce {
    /// The process that runs it.
    #[serde(skip)]
    process: u32,
    /// Core of each worker; none: they run wherever the kernel likes.
    pub cores: Vec<u32>,
    /// Slots that a hop takes.
    pub latency: Latency,
}

/// Why a running waveform gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum UnansweredError {
    /// The process runs no waveform of this user, or does not answer.
    #[error("process {process} can't be reached")]
    Unreachable {
        /// The process.
        process: u32,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It says no.
    #[error("{why}")]
    Refused {
        /// Its reason.
        why: String,
        /// Its fix.
        fix: String,
    },
    /// It says something else, as another version of takt may.
    #[error(transparent)]
    Unexpected(serde_json::Error),
}

/// The answer of the waveform that a process runs.
///
/// # Errors
/// There is none, or it says no.
pub fn answer_of(process: u32, request: &Request) -> Result<serde_json::Value, UnansweredError> {
    match ask(process, request).map_err(|source| UnansweredError::Unreachable { process, source })? {
        RequestAnswer::Good(answer) => Ok(answer),
        RequestAnswer::Refused { why, fix } => Err(UnansweredError::Refused { why, fix }),
    }
}

impl InForce {
    /// Asks the waveform that a process runs.
    ///
    /// # Errors
    /// It gives no answer.
    pub fn of(process: u32) -> Result<InForce, UnansweredError> {
        let answer = answer_of(process, &Request::Execinfo)?;
        let in_force = InForce::deserialize(answer).map_err(UnansweredError::Unexpected)?;
        Ok(InForce { process, ..in_force })
    }

    /// Has the waveform go over to a mapping onto its cores.
    ///
    /// # Errors
    /// It has ended, or says no.
    pub fn go_over(&self, graph: &Graph, mapping: &Mapping) -> Result<(), UnansweredError> {
        let mut workers = vec![Vec::new(); self.cores.len()];
        for (components, &core) in mapping.plan.workers().iter().zip(&mapping.cores) {
            workers[core].extend(components.iter().map(|&component| graph.components()[component].name.clone()));
        }
        answer_of(self.process, &Request::Place { workers }).map(drop)
    }
}
