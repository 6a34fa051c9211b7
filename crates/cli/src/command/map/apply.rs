//! `takt map --apply`: the mapping in force in a waveform while it runs.

use miette::Result;
use serde_json::Value as Json;
use takt_graph::Graph;
use takt_host::call;
use takt_mapper::Mapping;
use takt_runtime::control::Request;

use crate::Problem;
use crate::command::variable::ask;

/// The core of each worker of the waveform that runs, and its latency by name.
pub(super) fn in_force(process: Option<u32>) -> Result<(Vec<u32>, String)> {
    let running = ask(process, &Request::Execinfo)?;
    let cores = running["cores"].as_array().map(Vec::as_slice).unwrap_or_default();
    let cores: Vec<u32> = cores.iter().filter_map(|core| u32::try_from(core.as_u64()?).ok()).collect();
    if cores.is_empty() {
        let fix = call::takt("run WAVEFORM --cores 0,1");
        let why = "its workers run wherever the kernel likes";
        return Err(Problem::new("no mapping suits the waveform that runs").why(why).fix(fix).into());
    }
    let latency = running["latency"].as_str().map_or_else(|| "compact".to_owned(), str::to_lowercase);
    Ok((cores, latency))
}

/// Has the waveform go over to a mapping onto so many cores, those of its workers in their order.
pub(super) fn put(process: Option<u32>, graph: &Graph, mapping: &Mapping, cores: usize) -> Result<Json> {
    let mut workers = vec![Vec::new(); cores];
    for (components, &core) in mapping.plan.workers().iter().zip(&mapping.cores) {
        if let Some(worker) = workers.get_mut(core) {
            worker.extend(components.iter().map(|&component| graph.components()[component].name.clone()));
        }
    }
    ask(process, &Request::Place { workers })
}
