//! Taps of the outputs of a waveform that is watched: each worker offers its packets, and a view looks at those that readers ask for.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use takt_base::MonoNs;
use takt_graph::Graph;
use takt_live::tap::TapReader;
use takt_live::{Constellation, Spectrum};

use crate::port::{declared, longest, port_tap};
use crate::table::Table;

/// Outputs that have a tap, at most: each takes 40 KiB.
const MOST: usize = 64;

/// The looking ends, shared by a run and its view.
#[derive(Clone, Default)]
pub(crate) struct Taps(Arc<Mutex<Looks>>);

#[derive(Default)]
struct Looks {
    all: Vec<Tapped>,
    /// Names that readers ask for.
    wanted: Vec<String>,
}

/// An output that has a tap.
struct Tapped {
    /// Id of its component.
    id: usize,
    /// `COMPONENT.OUTPUT`.
    name: String,
    /// Items a second.
    rate_sps: f64,
    reader: TapReader,
}

impl fmt::Debug for Taps {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_list().entries(self.names()).finish()
    }
}

impl Taps {
    fn looks(&self) -> MutexGuard<'_, Looks> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Taps the outputs of the components in these tables whose id is `from` or above. `ids`: those of the graph's components.
    pub(crate) fn attach(&self, tables: &mut [Table], graph: &Graph, ids: &[usize], from: usize) {
        let mut looks = self.looks();
        // A change that was refused has left such taps.
        looks.all.retain(|tapped| tapped.id < from);
        for entry in tables.iter_mut().flat_map(|table| &mut table.entries).filter(|entry| entry.id >= from) {
            let Some(index) = ids.iter().position(|&id| id == entry.id) else { continue };
            let (node, (_, items)) = (&graph.components()[index], longest(graph, index));
            let ports = node.shape.outputs.iter().zip(items).zip(&mut entry.outputs).take(declared(node).1);
            for ((shape, items), output) in ports {
                if looks.all.len() >= MOST {
                    return;
                }
                let Some((tap, reader)) = port_tap(shape.item) else { continue };
                output.tap = Some(tap);
                let rate_sps = items as f64 * 1e9 / graph.slot_ns().max(1) as f64;
                let name = format!("{}.{}", node.name, shape.name);
                looks.all.push(Tapped { id: entry.id, name, rate_sps, reader });
            }
        }
    }

    /// Keeps the taps of these components alone.
    pub(crate) fn keep(&self, ids: &[usize]) {
        self.looks().all.retain(|tapped| ids.contains(&tapped.id));
    }

    /// Outputs that have a tap, as `COMPONENT.OUTPUT`.
    pub(crate) fn names(&self) -> Vec<String> {
        self.looks().all.iter().map(|tapped| tapped.name.clone()).collect()
    }

    /// Readers ask for these from now on.
    pub(crate) fn want(&self, names: &[String]) {
        let mut looks = self.looks();
        if looks.wanted != names {
            looks.wanted = names.to_vec();
        }
    }

    /// Spectrum and points of each output that readers ask for, as far as something came.
    pub(crate) fn look(&self, now: MonoNs) -> (Vec<Spectrum>, Vec<Constellation>) {
        let Looks { all, wanted } = &mut *self.looks();
        let wanted = all.iter_mut().filter(|tapped| wanted.contains(&tapped.name));
        wanted.filter_map(|Tapped { name, rate_sps, reader, .. }| reader.look(name, None, *rate_sps, now)).unzip()
    }
}
