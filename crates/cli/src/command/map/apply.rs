//! `takt map --apply`: the mapping in force in a waveform while it runs.

use miette::Result;
use serde::Deserialize;
use takt_graph::{Graph, Latency};
use takt_host::call;
use takt_mapper::Mapping;
use takt_runtime::control::Request;

use crate::Problem;
use crate::command::variable::ask;

/// Constraints on a mapping of the waveform that runs.
#[derive(Deserialize)]
pub(super) struct InForce {
    /// The process that runs it.
    #[serde(skip)]
    process: u32,
    /// Core of each worker.
    pub(super) cores: Vec<u32>,
    pub(super) latency: Latency,
}

impl InForce {
    pub(super) fn of(process: u32) -> Result<InForce> {
        let answer = ask(process, &Request::Execinfo)?;
        let no_mapping = || Problem::new("no mapping suits the waveform that runs");
        let in_force = InForce::deserialize(answer)
            .map_err(|error| no_mapping().why(error).fix("takt of the same version on both sides"))?;
        if in_force.cores.is_empty() {
            let fix = call::takt("run WAVEFORM --cores 0,1");
            return Err(no_mapping().why("its workers run wherever the kernel likes").fix(fix).into());
        }
        Ok(InForce { process, ..in_force })
    }

    /// Has the waveform go over to a mapping onto its cores.
    pub(super) fn go_over(&self, graph: &Graph, mapping: &Mapping) -> Result<()> {
        let mut workers = vec![Vec::new(); self.cores.len()];
        for (components, &core) in mapping.plan.workers().iter().zip(&mapping.cores) {
            workers[core].extend(components.iter().map(|&component| graph.components()[component].name.clone()));
        }
        ask(self.process, &Request::Place { workers }).map(|_| ())
    }
}
